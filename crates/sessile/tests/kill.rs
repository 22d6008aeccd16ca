//! A run that is killed at any moment, any number of times, is bit-identical to an uninterrupted
//! one.
//!
//! `SESSILE_KILLS` sets the number of kills; `scripts/kill-200` makes it 200.

use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{RAIN, Scratch, assert_same_results};

/// Kills before a run is let through to its end.
const KILLS_PER_RUN: u32 = 8;
const RUN: [&str; 6] = ["run", "rain.toml", "--no-pictures", "--checkpoint", "0", "--out=killed"];

/// A stream of numbers in [0, 1) that is the same every time (a 64-bit linear congruence, upper
/// bits).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Waits until the program has taken the run up (for the first time, or the next) and has written a
/// checkpoint.
fn wait_for_checkpoint(scratch: &Scratch, child: &mut Child, resumes: u64) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        let taken_up = scratch.run_json("killed").is_some_and(|run| run["resumes"].as_u64() >= Some(resumes));
        // Under its final name: one that is still being written does not count.
        let saved = scratch.path("killed/checkpoint/current").exists();
        if (taken_up && saved) || child.try_wait().expect("a child to ask").is_some() {
            return;
        }
        sleep(Duration::from_millis(1));
    }
    panic!("no checkpoint within a minute");
}

#[test]
fn a_run_killed_at_random_moments_ends_bit_identically() {
    let wanted: u32 = std::env::var("SESSILE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    let scratch = Scratch::with_scene(RAIN);
    let started = Instant::now();
    scratch.run(&["run", "rain.toml", "--no-pictures", "--checkpoint", "0", "--out", "undisturbed"]).expect_code(0);
    let whole = started.elapsed();
    let undisturbed = scratch.results("undisturbed");

    let mut dice = Dice(2026);
    let (mut kills, mut runs, mut too_late) = (0, 0, 0);
    while kills < wanted {
        let (mut kills_here, mut counted) = (0u64, 0u64);
        let this_run = KILLS_PER_RUN.min(wanted - kills);
        while kills_here < u64::from(this_run) {
            let mut child = scratch.start(&RUN);
            // Some kills come while the program is still taking the run up, those are not counted
            // as resumes.
            let wait = kills_here == 0 || dice.roll() < 0.7;
            if wait {
                wait_for_checkpoint(&scratch, &mut child, counted);
            }
            sleep(whole.mul_f64(dice.roll() / f64::from(KILLS_PER_RUN)));
            let _ = child.kill();
            let _ = child.wait();
            // A kill that came too late is none: the run had said that it was done.
            if scratch.run_json("killed").is_some_and(|run| run["status"] == "done") {
                break;
            }
            kills_here += 1;
            counted =
                scratch.run_json("killed").and_then(|run| run["resumes"].as_u64()).map_or(0, |resumes| resumes + 1);
        }
        if kills_here == 0 {
            too_late += 1;
            assert!(too_late < 20, "the run ends before it can be killed");
            std::fs::remove_dir_all(scratch.path("killed")).expect("a folder to remove");
            continue;
        }
        let end = scratch.run(&RUN).expect_code(0);
        let run = scratch.run_json("killed").expect("a run.json");
        let resumes = run["resumes"].as_u64().expect("a count of resumes");
        assert_eq!(run["status"], "done");
        assert!(resumes >= 1 && resumes <= kills_here, "{resumes} resumes after {kills_here} kills: {}", end.stderr);
        assert_same_results(&scratch.results("killed"), &undisturbed, &format!("after {kills_here} kills"));
        kills += kills_here as u32;
        runs += 1;
        println!("{kills} kills in {runs} runs, {resumes} resumes in the last one: bit-identical");
        std::fs::remove_dir_all(scratch.path("killed")).expect("a folder to remove");
    }
}

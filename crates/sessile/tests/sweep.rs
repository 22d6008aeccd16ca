//! `sessile sweep`: many runs of one scene.

use crate::common::Scratch;

/// A drop on a vertical pane.
const WALL: &str = r#"
model = "pane"

[time]
duration = "0.3 s"
frame = "10 ms"

[materials.wall]
advancing = "90 deg"
receding = "60 deg"

[[solids]]
name = "wall"
material = "wall"
shape = "plane"
normal = [0, 0, 1]
size = "20 80 mm"

[[drops]]
shape = "cap"
on = "wall"
center = "0 30 0 mm"
volume = "5 uL"
"#;

fn rows(scratch: &Scratch, folder: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(scratch.path(folder).join("results.csv")).expect("a table");
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn column(rows: &[Vec<String>], name: &str) -> Vec<String> {
    let at = rows[0].iter().position(|column| column == name).unwrap_or_else(|| panic!("no column {name}"));
    rows[1..].iter().map(|row| row[at].clone()).collect()
}

const OVER: [&str; 4] = ["--over", "drops.0.volume=4,6 uL", "--over", "materials.wall.receding=50..70 deg / 2"];

#[test]
fn all_combinations_run_once_and_their_measures_are_gathered() {
    let scratch = Scratch::with_scene(WALL);
    let sweep = || scratch.run(&[&["sweep", "rain.toml", "--out", "s", "--jobs", "2"][..], &OVER].concat());
    let output = sweep();
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(output.stdout.trim(), "s/results.csv");
    let table = rows(&scratch, "s");
    assert_eq!(column(&table, "drops.0.volume"), ["4 uL", "4 uL", "6 uL", "6 uL"]);
    assert_eq!(column(&table, "materials.wall.receding"), ["50 deg", "70 deg", "50 deg", "70 deg"]);
    assert_eq!(column(&table, "status"), ["done"; 4]);
    for (row, volume) in column(&table, "final.total_volume").iter().zip([4e-9, 4e-9, 6e-9, 6e-9]) {
        let found: f64 = row.parse().expect("a number");
        assert!((found / volume - 1.0).abs() < 1e-6, "{found} instead of {volume}");
    }
    let bytes = |name: &str| std::fs::read(scratch.path("s").join(name)).expect("a file");
    let (csv, parquet) = (bytes("results.csv"), bytes("results.parquet"));
    let log = || {
        let path = scratch.path("s/jobs/simulate/00003.log");
        std::fs::metadata(path).expect("a log").modified().expect("a time")
    };
    let before = log();
    assert_eq!(sweep().code, 0);
    assert_eq!((bytes("results.csv"), bytes("results.parquet")), (csv, parquet));
    assert_eq!(before, log(), "finished runs are not repeated");
    let jobs = scratch.run(&["jobs", "s", "--json"]);
    let expected = r#"{"total":4,"done":4,"running":0,"waiting":0,"failed":0,"#;
    assert!(jobs.stdout.starts_with(expected), "{}", jobs.stdout);
    let timings = std::fs::read_to_string(scratch.path("s/timings.csv")).expect("a table");
    assert!(
        timings.starts_with("run,cpu_seconds,wall_seconds,resumes\n0,") && timings.lines().count() == 5,
        "{timings}"
    );
}

#[test]
fn a_failed_run_does_not_stop_the_others_and_can_be_retried() {
    let scratch = Scratch::with_scene(WALL);
    std::fs::create_dir_all(scratch.path("s/runs/00001")).expect("a folder");
    scratch.write("s/runs/00001/letter.txt", "not a run");
    let sweep = |more: &[&str]| {
        let arguments = ["sweep", "rain.toml", "--out", "s", "--over", "drops.0.volume=4,5,6 uL"];
        scratch.run(&[&arguments[..], more].concat())
    };
    let output = sweep(&[]);
    let message = &output.stderr;
    assert_eq!(output.code, 1, "{message}");
    assert!(message.contains("1 of 3 runs failed") && message.contains("letter.txt"), "{message}");
    assert_eq!(column(&rows(&scratch, "s"), "status"), ["done", "failed", "done"]);
    std::fs::remove_file(scratch.path("s/runs/00001/letter.txt")).expect("removed");
    assert_eq!(sweep(&[]).code, 1, "without `--retry` it stays failed");
    assert_eq!(sweep(&["--retry", "failed"]).code, 0);
    assert_eq!(column(&rows(&scratch, "s"), "status"), ["done"; 3]);
}

#[test]
fn invalid_combinations_are_refused_before_the_first_run() {
    let scratch = Scratch::with_scene(WALL);
    let invalid = scratch.run(&["sweep", "rain.toml", "--out", "s", "--over", "materials.wall.receding=50,120 deg"]);
    let message = &invalid.stderr;
    assert_eq!(invalid.code, 2, "{message}");
    assert!(message.contains("120 deg"), "{message}");
    assert!(!scratch.path("s").exists());
    let dry = scratch.run(&["sweep", "rain.toml", "--dry-run", "--seeds", "3", "--over", "drops.0.volume=1..9 uL / 5"]);
    assert_eq!(dry.stdout.lines().next(), Some("15 runs"));
    let other = scratch.run(&["sweep", "rain.toml", "--out", "t", "--over", "drops.0.volume=4 uL"]);
    assert_eq!(other.code, 0, "{}", other.stderr);
    let other = scratch.run(&["sweep", "rain.toml", "--out", "t", "--over", "drops.0.volume=5 uL"]);
    assert_eq!(other.code, 2, "the folder holds another sweep");
}

/// The volume at which the drop starts to slide is Furmidge's, to a tenth.
#[test]
fn the_volume_that_slides_is_found() {
    let scratch = Scratch::with_scene(WALL);
    let find = ["sweep", "rain.toml", "--out", "s", "--find", "slides", "--between", "drops.0.volume=2..34 uL"];
    let output = scratch.run(&find);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let found = std::fs::read_to_string(scratch.path("s/found.json")).expect("a result");
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    let (low, high) = (found["low"].as_f64().expect("a number"), found["high"].as_f64().expect("a number"));
    assert_eq!((found["key"].as_str(), found["unit"].as_str()), (Some("drops.0.volume"), Some("uL")));
    assert!((high - low - 0.25).abs() < 1e-9, "{low}..{high}");
    let wetting = sessile_wetting::Wetting::smooth(90_f64.to_radians(), 60_f64.to_radians());
    let tilt = std::f64::consts::FRAC_PI_2;
    let water = sessile_wetting::Liquid::water();
    let expected = 1e9 * sessile_wetting::retention::critical_volume(&water, &wetting, 9.81, tilt);
    let middle = 0.5 * (low + high);
    assert!((middle / expected - 1.0).abs() < 0.1, "{middle} µL, Furmidge: {expected} µL");
    assert_eq!(column(&rows(&scratch, "s"), "status"), ["done"; 12]);
    // The search continues from the runs that are done, to the same bracket.
    let again = scratch.run(&find);
    assert_eq!(again.stdout, output.stdout);
    let last = scratch.path("s/runs/00011");
    std::fs::remove_dir_all(&last).expect("removed");
    assert_eq!(scratch.run(&find).stdout, output.stdout);
    assert!(last.join("run.json").is_file(), "the missing run is repeated");
    let expression = "final.height / final.base_radius > 2 or final.drops > 1";
    let nowhere = ["sweep", "rain.toml", "--out", "t", "--find", expression, "--between", "drops.0.volume=2..3 uL"];
    let output = scratch.run(&nowhere);
    assert_eq!(output.code, 1, "{}", output.stderr);
    assert!(output.stderr.contains("is false at both 2 uL and 3 uL"), "{}", output.stderr);
}

#[test]
fn runs_of_a_changed_scene_are_refused() {
    let scratch = Scratch::with_scene(WALL);
    let sweep = || scratch.run(&["sweep", "rain.toml", "--out", "s", "--over", "drops.0.volume=4,5 uL"]);
    assert_eq!(sweep().code, 0);
    std::fs::remove_dir_all(scratch.path("s/runs/00001")).expect("removed");
    std::fs::write(scratch.path("rain.toml"), format!("{WALL}\n[liquid]\npreset = \"glycerol\"\n")).expect("written");
    let refused = sweep();
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("rain.toml has changed since the sweep was planned"), "{}", refused.stderr);
    // So are runs that a cluster starts later.
    let part = scratch.run(&["sweep-part", "s", "run", "1"]);
    assert!(part.code == 2 && part.stderr.contains("has changed"), "{}", part.stderr);
    assert!(!scratch.path("s/runs/00001").exists());
}

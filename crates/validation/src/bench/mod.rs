//! The same fixed work on any machine: what a simulated second costs.
//!
//! A model adds a file here with `benches()`, and a line in [`benches`]. A bench builds its state first, then times a fixed number of
//! steps through [`BenchContext::time`]; nothing is written to disk.

mod droplet;
mod memory;
mod pane;
mod surface;
mod volume;

use std::fmt::Write;
use std::time::Instant;

use cpu_time::ProcessTime;
use serde::Serialize;

pub use memory::peak_memory;
pub use sessile_model::StageTimer;

use crate::validate::CaseError;
use sessile_sim::suggest;
use sessile_sim::{StageClock, StageTime};

/// A fixed piece of work.
#[derive(Clone, Copy)]
pub struct Bench {
    /// Unique.
    pub name: &'static str,
    /// What is done; one line.
    pub about: &'static str,
    /// Does it.
    pub run: fn(&mut BenchContext) -> Result<(), CaseError>,
}

/// Every bench there is, by model.
pub fn benches() -> Vec<Bench> {
    [pane::benches(), droplet::benches(), surface::benches(), volume::benches()].concat()
}

/// A name that no bench has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no bench `{wanted}`; {hint}")]
pub struct UnknownBench {
    wanted: String,
    hint: String,
}

/// The benches with these names, in the order asked for; all without any. A name also stands for those that begin with it and a dash:
/// `pane` for `pane-rain`.
pub fn choose(all: &[Bench], names: &[String]) -> Result<Vec<Bench>, UnknownBench> {
    if names.is_empty() {
        return Ok(all.to_vec());
    }
    let mut chosen: Vec<Bench> = Vec::new();
    for wanted in names {
        let family = format!("{wanted}-");
        let found: Vec<Bench> =
            all.iter().filter(|bench| bench.name == wanted || bench.name.starts_with(&family)).copied().collect();
        if found.is_empty() {
            let hint = suggest(wanted, all.iter().map(|bench| bench.name), "benches");
            return Err(UnknownBench { wanted: wanted.clone(), hint });
        }
        chosen.extend(found);
    }
    Ok(chosen)
}

/// What a bench reports to as it works.
pub struct BenchContext<'a> {
    /// Told what the bench is doing, for people who wait.
    pub say: &'a dyn Fn(&str),
    simulated: f64,
    wall: f64,
    cpu: f64,
    clock: StageClock,
    figures: Vec<Figure>,
}

/// A number that says how large the work was, or how fast it went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// What it counts.
    pub name: String,
    /// How much.
    pub value: f64,
    /// Its unit; empty for pure numbers.
    pub unit: String,
}

impl BenchContext<'_> {
    /// Times `work`, which advances by `simulated` seconds; may be called several times, and adds up.
    pub fn time<T>(&mut self, simulated: f64, work: impl FnOnce(&mut StageClock) -> T) -> T {
        let (wall, cpu) = (Instant::now(), ProcessTime::try_now().ok());
        let result = work(&mut self.clock);
        self.clock.pause();
        self.wall += wall.elapsed().as_secs_f64();
        self.cpu += cpu.and_then(|since| since.try_elapsed().ok()).map_or(0.0, |spent| spent.as_secs_f64());
        self.simulated += simulated;
        result
    }

    /// Wall time of everything timed so far, in s.
    pub fn wall_seconds(&self) -> f64 {
        self.wall
    }

    /// CPU time of everything timed so far, in s.
    pub fn cpu_seconds(&self) -> f64 {
        self.cpu
    }

    /// Adds a number to the report.
    pub fn figure(&mut self, name: impl Into<String>, value: f64, unit: impl Into<String>) {
        self.figures.push(Figure { name: name.into(), value, unit: unit.into() });
    }
}

/// What a bench found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchReport {
    /// The bench.
    pub name: &'static str,
    /// What it did.
    pub about: &'static str,
    /// Threads of the pool that it ran on.
    pub threads: usize,
    /// Simulated time, in s.
    pub simulated_seconds: f64,
    /// Wall time, in s.
    pub wall_seconds: f64,
    /// CPU time of all threads, in s.
    pub cpu_seconds: f64,
    /// Wall time per simulated time.
    pub wall_per_simulated_second: f64,
    /// CPU time per simulated time.
    pub cpu_per_simulated_second: f64,
    /// The most memory held at once, set-up included, in bytes; `None` where the system does not say.
    pub peak_memory_bytes: Option<u64>,
    /// Per stage.
    pub stages: Vec<StageTime>,
    /// Sizes and rates.
    pub figures: Vec<Figure>,
}

/// Runs one bench on the caller's thread pool.
pub fn run(bench: &Bench, say: &dyn Fn(&str)) -> Result<BenchReport, CaseError> {
    memory::forget_peak();
    let mut context =
        BenchContext { say, simulated: 0.0, wall: 0.0, cpu: 0.0, clock: StageClock::default(), figures: Vec::new() };
    (bench.run)(&mut context)?;
    let per_simulated = |seconds: f64| if context.simulated > 0.0 { seconds / context.simulated } else { 0.0 };
    Ok(BenchReport {
        name: bench.name,
        about: bench.about,
        threads: rayon::current_num_threads(),
        simulated_seconds: context.simulated,
        wall_seconds: context.wall,
        cpu_seconds: context.cpu,
        wall_per_simulated_second: per_simulated(context.wall),
        cpu_per_simulated_second: per_simulated(context.cpu),
        peak_memory_bytes: peak_memory(),
        stages: context.clock.totals().to_vec(),
        figures: context.figures,
    })
}

/// A report for the terminal.
pub fn text(report: &BenchReport) -> String {
    let memory = report.peak_memory_bytes.map_or("unknown".to_owned(), |bytes| format!("{:.0} MB", bytes as f64 / 1e6));
    let mut text = format!("{}: {}\n", report.name, report.about);
    let _ = if report.simulated_seconds > 0.0 {
        writeln!(
            text,
            "  {:.3} s wall, {:.3} s CPU per simulated second ({:.2} s simulated, {} threads), peak memory {memory}",
            report.wall_per_simulated_second, report.cpu_per_simulated_second, report.simulated_seconds, report.threads
        )
    } else {
        writeln!(
            text,
            "  {:.3} s wall, {:.3} s CPU ({} threads), peak memory {memory}",
            report.wall_seconds, report.cpu_seconds, report.threads
        )
    };
    for figure in &report.figures {
        let unit = if figure.unit.is_empty() { String::new() } else { format!(" {}", figure.unit) };
        let _ = writeln!(text, "  {}: {}{unit}", figure.name, crate::validate::number(figure.value));
    }
    let width = report.stages.iter().map(|stage| stage.name.chars().count()).max().unwrap_or(0);
    for stage in &report.stages {
        let share = if report.wall_seconds > 0.0 { 100.0 * stage.wall_seconds / report.wall_seconds } else { 0.0 };
        let _ = writeln!(
            text,
            "  {:width$}  {share:5.1} %  {:9.4} s wall  {:9.4} s CPU",
            stage.name, stage.wall_seconds, stage.cpu_seconds
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use sessile_model::StageTimer;

    use super::*;

    const SPIN: Bench = Bench {
        name: "pane-spin",
        about: "Turns in place.",
        run: |context| {
            context.figure("turns", 3.0, "");
            for _ in 0..3 {
                context.time(0.5, |clock| {
                    clock.enter("turn");
                    std::thread::sleep(std::time::Duration::from_millis(2));
                });
            }
            Ok(())
        },
    };

    #[test]
    fn timed_pieces_add_up() {
        let report = run(&SPIN, &|_| {}).unwrap();
        assert_eq!(report.simulated_seconds, 1.5);
        assert!(report.wall_seconds >= 0.006, "{} s", report.wall_seconds);
        assert!((report.wall_per_simulated_second * 1.5 - report.wall_seconds).abs() < 1e-12);
        assert_eq!(report.stages.len(), 1);
        assert!(text(&report).contains("turns: 3\n"));
    }

    #[test]
    fn benches_are_found_by_name_and_by_family() {
        let names = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|&name| name.to_owned()).collect();
            choose(&[SPIN], &wanted).map(|found| found.len())
        };
        assert_eq!(names(&[]), Ok(1));
        assert_eq!(names(&["pane"]), Ok(1));
        assert_eq!(names(&["pane-spin"]), Ok(1));
        assert_eq!(
            names(&["pane-spim"]).unwrap_err().to_string(),
            "there is no bench `pane-spim`; did you mean pane-spin?"
        );
    }
}

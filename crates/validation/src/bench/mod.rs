//! Benchmarks: fixed work on any machine, and its cost per simulated second.
//!
//! A model adds a file here with `benches()`, and an entry in [`benches`]. A bench builds its state
//! first, then times a fixed number of steps with [`BenchContext::time`]; nothing is written to
//! disk.

mod droplet;
mod droplet_tables;
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

/// A benchmark.
#[derive(Clone, Copy)]
pub struct Bench {
    /// Unique name.
    pub name: &'static str,
    /// Description, one line.
    pub about: &'static str,
    /// Runs it.
    pub run: fn(&mut BenchContext) -> Result<(), CaseError>,
}

/// All benches, by model.
pub fn benches() -> Vec<Bench> {
    [pane::benches(), droplet::benches(), droplet_tables::benches(), surface::benches(), volume::benches()].concat()
}

/// Error for a name that no bench has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown benchmark `{wanted}`; {hint}")]
pub struct UnknownBench {
    wanted: String,
    hint: String,
}

/// The benches with these names, in that order, or all benches for no names. A name also selects
/// the benches whose names start with it and a dash: `pane` selects `pane-4x-cells`.
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

/// Timer and report of a running bench.
pub struct BenchContext<'a> {
    /// Receives progress messages.
    pub report: &'a dyn Fn(&str),
    simulated: f64,
    wall: f64,
    cpu: f64,
    clock: StageClock,
    figures: Vec<Figure>,
}

/// A size or rate of the work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Name.
    pub name: String,
    /// Value.
    pub value: f64,
    /// Unit; empty for dimensionless values.
    pub unit: String,
}

impl BenchContext<'_> {
    /// Times `work`, which simulates `simulated` seconds; several calls add up.
    pub fn time<T>(&mut self, simulated: f64, work: impl FnOnce(&mut StageClock) -> T) -> T {
        let (wall, cpu) = (Instant::now(), ProcessTime::try_now().ok());
        let result = work(&mut self.clock);
        self.clock.pause();
        self.wall += wall.elapsed().as_secs_f64();
        self.cpu += cpu.and_then(|since| since.try_elapsed().ok()).map_or(0.0, |spent| spent.as_secs_f64());
        self.simulated += simulated;
        result
    }

    /// Wall time so far, in s.
    pub fn wall_seconds(&self) -> f64 {
        self.wall
    }

    /// CPU time so far, in s.
    pub fn cpu_seconds(&self) -> f64 {
        self.cpu
    }

    /// Adds a size or rate to the report.
    pub fn figure(&mut self, name: impl Into<String>, value: f64, unit: impl Into<String>) {
        self.figures.push(Figure { name: name.into(), value, unit: unit.into() });
    }
}

/// Result of a bench.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchReport {
    /// Name of the bench.
    pub name: &'static str,
    /// Description.
    pub about: &'static str,
    /// Number of threads.
    pub threads: usize,
    /// Simulated time, in s.
    pub simulated_seconds: f64,
    /// Wall time, in s.
    pub wall_seconds: f64,
    /// CPU time of all threads, in s.
    pub cpu_seconds: f64,
    /// Wall time per simulated second.
    pub wall_per_simulated_second: f64,
    /// CPU time per simulated second.
    pub cpu_per_simulated_second: f64,
    /// Peak memory including setup, in bytes; `None` where the system does not report it.
    pub peak_memory_bytes: Option<u64>,
    /// Time per stage.
    pub stages: Vec<StageTime>,
    /// Sizes and rates.
    pub figures: Vec<Figure>,
}

/// Runs one bench on the caller's thread pool.
pub fn run(bench: &Bench, report: &dyn Fn(&str)) -> Result<BenchReport, CaseError> {
    memory::reset_peak();
    let mut context =
        BenchContext { report, simulated: 0.0, wall: 0.0, cpu: 0.0, clock: StageClock::default(), figures: Vec::new() };
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

/// The result as text for the terminal.
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
    fn timed_parts_add_up() {
        let report = run(&SPIN, &|_| {}).unwrap();
        assert_eq!(report.simulated_seconds, 1.5);
        assert!(report.wall_seconds >= 0.006, "{} s", report.wall_seconds);
        assert!((report.wall_per_simulated_second * 1.5 - report.wall_seconds).abs() < 1e-12);
        assert_eq!(report.stages.len(), 1);
        assert!(text(&report).contains("turns: 3\n"));
    }

    #[test]
    fn benches_are_selected_by_name_and_by_prefix() {
        let names = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|&name| name.to_owned()).collect();
            choose(&[SPIN], &wanted).map(|found| found.len())
        };
        assert_eq!(names(&[]), Ok(1));
        assert_eq!(names(&["pane"]), Ok(1));
        assert_eq!(names(&["pane-spin"]), Ok(1));
        assert_eq!(
            names(&["pane-spim"]).unwrap_err().to_string(),
            "unknown benchmark `pane-spim`; did you mean pane-spin?"
        );
    }
}

//! Wall and CPU time per stage.

use std::time::Instant;

use cpu_time::ProcessTime;
use serde::Serialize;
use sessile_model::StageTimer;

/// Accumulated time of a stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageTime {
    /// Name of the stage.
    pub name: String,
    /// Wall time, in s.
    pub wall_seconds: f64,
    /// CPU time of all threads, in s.
    pub cpu_seconds: f64,
}

/// Accumulates the time of each stage, in the order in which stages first begin.
///
/// CPU time is that of the whole process, so two clocks running at once both count all of it.
#[derive(Default)]
pub struct StageClock {
    totals: Vec<StageTime>,
    running: Option<RunningStage>,
}

struct RunningStage {
    index: usize,
    wall: Instant,
    cpu: Option<ProcessTime>,
}

impl StageClock {
    /// Continues from the totals of an earlier part of the run.
    pub fn starting_from(totals: Vec<StageTime>) -> Self {
        Self { totals, running: None }
    }

    /// Ends the running stage, if any.
    pub fn pause(&mut self) {
        if let Some(running) = self.running.take() {
            let total = &mut self.totals[running.index];
            total.wall_seconds += running.wall.elapsed().as_secs_f64();
            total.cpu_seconds +=
                running.cpu.and_then(|since| since.try_elapsed().ok()).map_or(0.0, |spent| spent.as_secs_f64());
        }
    }

    /// Totals so far; a running stage counts up to its last pause.
    pub fn totals(&self) -> &[StageTime] {
        &self.totals
    }
}

impl StageTimer for StageClock {
    fn enter(&mut self, stage: &'static str) {
        self.pause();
        let index = self.totals.iter().position(|total| total.name == stage).unwrap_or_else(|| {
            self.totals.push(StageTime { name: stage.to_owned(), wall_seconds: 0.0, cpu_seconds: 0.0 });
            self.totals.len() - 1
        });
        self.running = Some(RunningStage { index, wall: Instant::now(), cpu: ProcessTime::try_now().ok() });
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    #[test]
    fn time_counts_to_the_running_stage() {
        let mut clock = StageClock::default();
        clock.enter("wait");
        sleep(Duration::from_millis(30));
        clock.enter("work");
        black_box((0..3_000_000u64).fold(0, |sum, i| black_box(sum ^ i)));
        clock.pause();
        sleep(Duration::from_millis(30));
        clock.enter("wait");
        clock.pause();

        let totals = clock.totals();
        assert_eq!([totals[0].name.as_str(), totals[1].name.as_str()], ["wait", "work"]);
        assert!(totals[0].wall_seconds >= 0.03, "waited {} s", totals[0].wall_seconds);
        assert!(totals[1].cpu_seconds > 0.0 && totals[1].wall_seconds > 0.0, "worked {} s", totals[1].cpu_seconds);
    }
}

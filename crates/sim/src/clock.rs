//! Where the time goes: wall and CPU seconds per stage.

use std::time::Instant;

use cpu_time::ProcessTime;
use serde::Serialize;
use sessile_model::StageTimer;

/// What a stage has cost so far.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageTime {
    /// The stage.
    pub name: String,
    /// Wall time, in s.
    pub wall_seconds: f64,
    /// CPU time of all threads, in s.
    pub cpu_seconds: f64,
}

/// Adds up what each stage costs, in the order in which stages first begin.
///
/// CPU time is the whole process's, so two clocks that run at once both count all of it.
#[derive(Default)]
pub struct StageClock {
    totals: Vec<StageTime>,
    running: Option<Running>,
}

struct Running {
    stage: usize,
    wall: Instant,
    cpu: Option<ProcessTime>,
}

impl StageClock {
    /// Goes on from what an earlier run cost.
    pub fn starting_from(totals: Vec<StageTime>) -> Self {
        Self { totals, running: None }
    }

    /// Ends the stage that runs, if one does.
    pub fn pause(&mut self) {
        if let Some(running) = self.running.take() {
            let total = &mut self.totals[running.stage];
            total.wall_seconds += running.wall.elapsed().as_secs_f64();
            total.cpu_seconds +=
                running.cpu.and_then(|since| since.try_elapsed().ok()).map_or(0.0, |spent| spent.as_secs_f64());
        }
    }

    /// StageTimer so far; the one that runs counts up to its last pause.
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
        self.running = Some(Running { stage: index, wall: Instant::now(), cpu: ProcessTime::try_now().ok() });
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    #[test]
    fn time_goes_to_the_stage_that_runs() {
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

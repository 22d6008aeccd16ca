//! What a user should be told: where the model does less than the scene asks for, and goes on.

use crate::merging::{MOST_STITCHED, Merged};

/// A step this many times longer than the usual one is worth a word.
const LONG_STEP: f64 = 4.0;

/// Lines that wait to be shown. Each kind is said once, and again when there is ten times as much of it.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    waiting: Vec<String>,
    healed: u64,
    fallen_back: u64,
    largest: u64,
    small_drops: u64,
}

impl Notices {
    /// What is new since the last call.
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.waiting)
    }

    /// About the step that the scene asks for, in s, beside the usual one.
    pub fn about_step(&mut self, asked: Option<f64>, usual: f64) {
        if let Some(dt) = asked.filter(|dt| *dt > LONG_STEP * usual) {
            self.waiting.push(format!(
                "surface.dt = {dt:.3e} s is {:.0} times the usual {usual:.3e} s: drops come to rest as they should, but waves die, fast drops are cut into shorter \
                 turns, and surfaces that come out wrong are made anew",
                dt / usual
            ));
        }
    }

    /// About a drop of the scene whose ball has this radius, in m, where edges should be `edge` long.
    pub fn about_size(&mut self, index: usize, radius: f64, edge: f64) {
        if radius < edge {
            self.small_drops += 1;
            if self.small_drops == 1 {
                self.waiting.push(format!(
                    "drops[{index}], {radius:.3e} m in radius, is smaller than resolution.edge = {edge:.3e} m: it and all others like it get edges of 0.35 of their radius"
                ));
            }
        }
    }

    /// About what has happened up to a time, in s.
    pub fn after_step(&mut self, time: f64, merged: &Merged, healed: u64) {
        if due(&mut self.healed, healed) {
            self.waiting.push(format!(
                "at {time:.4} s {healed} surfaces so far came out of a step torn, crossed or too fast and were made anew: they keep volume and velocity and lose their waves; \
                 a shorter surface.dt or a finer resolution.edge makes that rarer"
            ));
        }
        if due(&mut self.fallen_back, merged.fallen_back) {
            self.waiting.push(format!(
                "at {time:.4} s {} merges so far had a seam that did not pass the checks and went through a distance field: these drops lost their waves",
                merged.fallen_back
            ));
        }
        if merged.largest > MOST_STITCHED as u64 && due(&mut self.largest, merged.largest) {
            self.waiting.push(format!(
                "at {time:.4} s {} drops became one in a single step, through a distance field: they lost their waves",
                merged.largest
            ));
        }
    }
}

/// Whether a count has become ten times what was said last.
fn due(said: &mut u64, count: u64) -> bool {
    let now = count >= 10 * (*said).max(1) || (*said == 0 && count > 0);
    if now {
        *said = count;
    }
    now
}

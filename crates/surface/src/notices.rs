//! Notices for the user where the model does less than the scene asks for, and continues.

use glam::DVec3;

use crate::merging::MergeCounts;
use crate::substrate::Outlet;

/// A step this many times longer than the usual one is reported.
const LONG_STEP: f64 = 4.0;
/// Depth of an outlet in a solid, in its radii, beyond which it is reported.
const MAX_OUTLET_DEPTH: f64 = 0.1;

/// Notices that wait to be shown; each kind is shown once, and again at ten times the count.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    waiting: Vec<String>,
    rebuilt: u64,
    boolean_failed: u64,
    largest_group: u64,
    small_drops: u64,
    blocked: u64,
}

impl Notices {
    /// Notices since the last call.
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.waiting)
    }

    /// Checks the step that the scene asks for against the usual one, both in s.
    pub fn check_step(&mut self, requested: Option<f64>, usual: f64) {
        if let Some(dt) = requested.filter(|dt| *dt > LONG_STEP * usual) {
            self.waiting.push(format!(
                "surface.dt = {dt:.3e} s is {:.0} times the usual {usual:.3e} s: rest shapes stay correct, but waves are \
                 damped, fast drops take substeps, and surfaces that come out invalid are rebuilt",
                dt / usual
            ));
        }
    }

    /// Checks a drop of the scene, by the radius of its sphere, against the edge length, both in m.
    pub fn check_size(&mut self, index: usize, radius: f64, edge: f64) {
        if radius < edge {
            self.small_drops += 1;
            if self.small_drops == 1 {
                self.waiting.push(format!(
                    "drops.{index} has a radius of {radius:.3e} m, smaller than resolution.edge = {edge:.3e} m: it and \
                     all others like it get edges of 0.35 of their radius"
                ));
            }
        }
    }

    /// Checks how deep the rim of a tap's outlet reaches into a solid, in m.
    pub fn check_outlet(&mut self, outlet: &Outlet, depth: f64, solid: &str) {
        if depth > MAX_OUTLET_DEPTH * outlet.radius {
            let [x, y, z] = (1e3 * outlet.at).to_array();
            self.waiting.push(format!(
                "the outlet of the tap at {x:.3} {y:.3} {z:.3} mm reaches {:.3} mm into `{solid}`: liquid comes out inside \
                 it; move the tap, or reduce its radius",
                1e3 * depth
            ));
        }
    }

    /// Reports a drop of the scene that solids leave no room for.
    pub fn report_lack_of_room(&mut self, index: usize) {
        self.waiting.push(format!(
            "drops.{index}: most of it is inside solids: it starts as a sphere at the nearest place with room; move it"
        ));
    }

    /// Reports, once, that there is no room for the liquid of an emitter at a place, in m, at a
    /// time, in s.
    pub fn report_blocked_emitter(&mut self, time: f64, at: DVec3) {
        self.blocked += 1;
        if self.blocked == 1 {
            let [x, y, z] = (1e3 * at).to_array();
            self.waiting.push(format!(
                "at {time:.4} s an emitter at {x:.3} {y:.3} {z:.3} mm is inside a solid: nothing comes out there; move it"
            ));
        }
    }

    /// Checks the counts of the run at a time, in s.
    pub fn check_counts(&mut self, time: f64, merges: &MergeCounts, rebuilt: u64, max_boolean_group: usize) {
        if is_due(&mut self.rebuilt, rebuilt) {
            self.waiting.push(format!(
                "at {time:.4} s {rebuilt} surfaces so far came out of a step degenerate, self-intersecting or too fast \
                 and were rebuilt: they keep volume and velocity and lose their waves; a shorter surface.dt or a finer \
                 resolution.edge makes that rarer"
            ));
        }
        if is_due(&mut self.boolean_failed, merges.boolean_failed) {
            self.waiting.push(format!(
                "at {time:.4} s {} mesh Booleans so far failed the checks and the drops were merged through a distance \
                 field: these drops lost their waves",
                merges.boolean_failed
            ));
        }
        let large = merges.largest_group > max_boolean_group as u64;
        if large && is_due(&mut self.largest_group, merges.largest_group) {
            self.waiting.push(format!(
                "at {time:.4} s {} drops became one in a single step, through a distance field: they lost their waves",
                merges.largest_group
            ));
        }
    }
}

/// Whether a count has reached ten times the last one shown.
fn is_due(shown: &mut u64, count: u64) -> bool {
    let due = count >= 10 * (*shown).max(1) || (*shown == 0 && count > 0);
    if due {
        *shown = count;
    }
    due
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_repeats_at_every_tenfold_count() {
        let mut notices = Notices::default();
        let shown: Vec<u64> = (0..200)
            .filter(|&rebuilt| {
                notices.check_counts(0.0, &MergeCounts::default(), rebuilt, 8);
                !notices.take().is_empty()
            })
            .collect();
        assert_eq!(shown, [1, 10, 100]);
    }
}

//! Momentum balance of free drops: body forces alone change the mean velocity of a drop that
//! touches nothing.
//!
//! ```text
//! d/dt ∫ ρu dV = ∫ ρg dV          over a drop whose pressure at the interface is γκ, ∮ κ n dA = 0
//! ```
//!
//! The step does not conserve it exactly: velocity is advected by interpolation and the interface
//! by its own scheme, so that the momentum which one moves across a face differs from the volume
//! that the other moves. Where both are large, in drops that have just merged, the mean velocity
//! errs by some mm/s in a few milliseconds, and the merged drop drifts away. So each free drop's
//! mean velocity U, weighted by liquid fractions, is kept from step to step: it grows by gΔt, and
//! is the mean by volume where drops merge. What the grid's velocity differs from it,
//!
//! ```text
//! u ← u + (U − Σ F u / Σ F)          on all faces of the drop
//! ```
//!
//! is corrected before the projection; a uniform velocity has no divergence. Drops on walls, parts
//! of drops that have split, and drops whose liquid was changed by emitters, sides of the domain or
//! spray begin anew with the velocity that they have. With wind, or while a run settles, nothing is
//! corrected.

use std::collections::BTreeMap;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_frames::DropId;
use sessile_model::StageReports;

use crate::drops::{Drops, Label};
use crate::fluid::StepContext;
use crate::net_capillary_force::shift_components;
use crate::parameters::Parameters;
use crate::scratch::Scratch;
use crate::state::{State, velocity_at_center};

/// Mean velocity that a free drop should have, in m/s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FreeDrop {
    /// The drop.
    pub id: DropId,
    /// Its mean velocity at the start of the next step.
    pub velocity: DVec3,
}

/// What the correction did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MomentumReport {
    /// Largest correction of a drop's velocity, in m/s.
    pub correction: f64,
}

impl MomentumReport {
    /// Writes the report under its public name.
    pub fn record(&self, reports: &mut StageReports) {
        reports.keep_largest("momentum.correction", self.correction);
    }
}

/// Gives each free drop the mean velocity that body forces alone have given it.
pub fn conserve_momentum<L>(
    state: &mut State,
    scratch: &mut Scratch,
    params: &Parameters,
    step: &StepContext<'_, L>,
) -> MomentumReport {
    let State { grid, velocity, drops, free_drops, .. } = state;
    let is_driven = params.drag > 0.0 || step.world.wind() != DVec3::ZERO || !step.needles.is_empty();
    if is_driven || drops.components.iter().all(|component| component.on_wall) {
        free_drops.clear();
        return MomentumReport::default();
    }
    let Scratch { face_flags, previous_velocity, projection, .. } = scratch;
    let mut sums = vec![(DVec3::ZERO, 0.0); drops.components.len()];
    for (index, fraction, component) in drops.liquid_cells(&grid.tiles, &projection.unknown_of) {
        let sum: &mut (DVec3, f64) = &mut sums[component];
        sum.0 += fraction * velocity_at_center(&grid.tiles, previous_velocity, index);
        sum.1 += fraction;
    }
    let expected = expected_velocities(drops, free_drops);
    let mut report = MomentumReport::default();
    let mut shifts = vec![DVec3::ZERO; sums.len()];
    free_drops.clear();
    for (number, component) in drops.components.iter().enumerate().filter(|(_, component)| !component.on_wall) {
        let Some(id) = component.label.id() else { continue };
        let measured = sums[number].0 / f64::max(sums[number].1, 1.0);
        // The solve reports the cell of a velocity that is not finite.
        if !measured.is_finite() {
            continue;
        }
        let velocity = expected[number].unwrap_or(measured);
        shifts[number] = velocity - measured;
        report.correction = report.correction.max(shifts[number].length());
        free_drops.push(FreeDrop { id, velocity: velocity + step.gravity * step.dt });
    }
    free_drops.sort_unstable_by_key(|drop| drop.id);
    let (unknown_of, component_of) = (&projection.unknown_of, &drops.component_of);
    shift_components(&grid.tiles, face_flags, unknown_of, component_of, velocity, |component| shifts[component]);
    report
}

/// Assigns the mean velocities to drops that were labeled again.
pub fn follow_labels(drops: &Drops, free_drops: &mut Vec<FreeDrop>) {
    let expected = expected_velocities(drops, free_drops);
    let labeled = drops.components.iter().zip(expected);
    *free_drops = labeled
        .filter_map(|(component, velocity)| Some(FreeDrop { id: component.label.id()?, velocity: velocity? }))
        .collect();
    free_drops.sort_unstable_by_key(|drop| drop.id);
}

/// The mean velocity of each component's drops in the previous step, by volume; none if one of them
/// was not free, or has split.
fn expected_velocities(drops: &Drops, free_drops: &[FreeDrop]) -> Vec<Option<DVec3>> {
    let is_drop = |component: u32| drops.components[component as usize].label != Label::FRAGMENT;
    let mut num_parts: BTreeMap<DropId, u32> = BTreeMap::new();
    let overlaps = || drops.overlaps().iter().filter(|overlap| is_drop(overlap.component));
    for overlap in overlaps() {
        *num_parts.entry(overlap.id).or_default() += 1;
    }
    // Sums of volume times velocity and of volume; none once a drop's velocity is not known.
    let mut sums: Vec<Option<(DVec3, f64)>> = vec![Some((DVec3::ZERO, 0.0)); drops.components.len()];
    for overlap in overlaps() {
        let known = free_drops.binary_search_by_key(&overlap.id, |drop| drop.id).ok();
        let known = known.filter(|_| num_parts[&overlap.id] == 1).map(|at| free_drops[at].velocity);
        let sum = &mut sums[overlap.component as usize];
        *sum = sum.zip(known).map(|((momentum, volume), velocity)| {
            let own = drops.previous_volume(overlap.id);
            (momentum + own * velocity, volume + own)
        });
    }
    sums.into_iter().map(|sum| sum.filter(|sum| sum.1 > 0.0).map(|(momentum, volume)| momentum / volume)).collect()
}

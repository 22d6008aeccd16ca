//! One step of the model.

use glam::DVec3;
use rayon::prelude::*;
use sessile_frames::Event;
use sessile_model::{StageReports, StageTimer, StepError, StepReport};

use crate::drop::{Drop, DropIndex, Scratch, StepContext};
use crate::drop_step::{DropStepReport, Outcome, step_drop};
use crate::emission::emit;
use crate::evaporation::evaporate;
use crate::merging::{MergeContext, MergeCounts, merge};
use crate::model::SurfaceModel;
use crate::parameters::Parameters;
use crate::splitting::split_components;
use crate::state::State;
use crate::substrate::Substrate;
use crate::time_step::{choose_step, schedule_drops};

/// Memory that a step reuses.
#[derive(Debug, Default)]
pub struct ModelScratch {
    /// One per drop.
    pub per_drop: Vec<Scratch>,
    /// For everything between the steps of single drops.
    pub shared: Scratch,
}

impl SurfaceModel {
    /// Advances by one step of at most `limit` seconds.
    pub(crate) fn advance(&mut self, limit: f64, timer: &mut dyn StageTimer) -> Result<StepReport, StepError> {
        let Self { params, state, scratch, notices } = self;
        let mut report = StepReport { dt: choose_step(state, params, limit), ..StepReport::default() };
        let until = state.run.time + report.dt;
        let mut start = state.substrate.clone();
        state.substrate.world.advance_to(until);
        start.world.average_velocities(&state.substrate.world, report.dt);
        let gravity = 0.5 * (start.world.gravity() + state.substrate.world.gravity());
        check_gravity(state, params, gravity)?;
        timer.enter("emission");
        emit(state, params, until, &mut scratch.shared, notices);
        if let Some(coefficients) = &params.evaporation {
            evaporate(state, coefficients, params.edge, report.dt);
        }
        start.outlets.clone_from(&state.substrate.outlets);
        state.wake_disturbed(gravity);
        schedule_drops(&mut state.drops, params, report.dt, limit);
        timer.enter("drops");
        let self_merges = advance_drops(state, params, &start, gravity, scratch, &mut report);
        check_finite(&state.drops, until)?;
        drop(start);
        state.mark_wet(&mut scratch.per_drop, Some(params.numerics.wet_mark_interval));
        timer.enter("merging");
        merge_drops(state, params, self_merges, &mut scratch.shared, &mut report);
        state.remove_departed(gravity, params.domain, params.numerics.removal_distance);
        state.run.time = until;
        notices.check_counts(until, &state.run.merges, state.run.rebuilt, params.numerics.max_boolean_group);
        Ok(report)
    }
}

/// Advances every drop that is awake through the step; returns the number of self-merges.
///
/// Most drops take one substep; rounds are repeated for those that take more.
fn advance_drops(
    state: &mut State,
    params: &Parameters,
    start: &Substrate,
    gravity: DVec3,
    scratch: &mut ModelScratch,
    report: &mut StepReport,
) -> u64 {
    let dt = report.dt;
    let mut self_merges = 0;
    loop {
        let State { drops, substrate, .. } = &mut *state;
        let context = StepContext { start, end: substrate, gravity, dt, min_dt: dt, params };
        let stepped = step_pending(drops, &context, &mut scratch.per_drop);
        if stepped.is_empty() {
            return self_merges;
        }
        for (_, step) in &stepped {
            add_report(&mut report.stages, step);
            state.run.rebuilt += u64::from(step.outcome == Outcome::Rebuilt);
            self_merges += u64::from(step.outcome == Outcome::SelfMerged);
        }
        split_cut_drops(state, params, &stepped, &mut scratch.shared, &mut report.events);
    }
}

/// Advances all drops with substeps left by one substep, in parallel.
///
/// Large drops start first, so that none remains alone at the end.
fn step_pending(
    drops: &mut [Drop],
    context: &StepContext<'_>,
    scratches: &mut Vec<Scratch>,
) -> Vec<(DropIndex, DropStepReport)> {
    scratches.resize_with(drops.len().max(scratches.len()), Scratch::default);
    let mut pending: Vec<(DropIndex, &mut Drop, &mut Scratch)> = drops
        .iter_mut()
        .zip(scratches)
        .enumerate()
        .filter(|(_, (drop, _))| !drop.asleep && drop.substeps.remaining > 0)
        .map(|(index, (drop, scratch))| (DropIndex::new(index), drop, scratch))
        .collect();
    pending.sort_by_key(|(index, drop, _)| (std::cmp::Reverse(drop.mesh.triangles.len()), *index));
    pending
        .into_par_iter()
        .with_max_len(1)
        .map(|(index, drop, scratch)| {
            drop.substeps.remaining -= 1;
            let context = StepContext { dt: drop.substeps.dt, min_dt: drop.substeps.min_dt, ..*context };
            let report = step_drop(drop, &context, scratch);
            drop.update_bounds();
            (index, report)
        })
        .collect()
}

/// Replaces the drops whose surface may have several components by these components.
fn split_cut_drops(
    state: &mut State,
    params: &Parameters,
    stepped: &[(DropIndex, DropStepReport)],
    scratch: &mut Scratch,
    events: &mut Vec<Event>,
) {
    let may_be_split = stepped.iter().filter(|(_, step)| step.outcome.may_be_split());
    let mut indices: Vec<DropIndex> = may_be_split.map(|(index, _)| *index).collect();
    indices.sort_unstable();
    for index in indices.into_iter().rev() {
        let drop = state.drops.remove(index.to_usize());
        let components = split_components(drop, &state.substrate, params, scratch);
        state.insert_components(components, events);
    }
}

/// Merges the drops that touch after the step.
fn merge_drops(
    state: &mut State,
    params: &Parameters,
    self_merges: u64,
    scratch: &mut Scratch,
    report: &mut StepReport,
) {
    let State { drops, substrate, run } = state;
    let mut context = MergeContext { substrate, params, scratch };
    let counts = merge(drops, report.dt, &mut context, &mut report.events);
    let counts = MergeCounts { self_merges, ..counts };
    run.merges.add(&counts);
    let stages = &mut report.stages;
    stages.add("merging.boolean", counts.boolean);
    stages.add("merging.boolean_failed", counts.boolean_failed);
    stages.add("merging.distance_field", counts.sdf);
    stages.add("merging.absorbed", counts.absorbed);
    stages.add("merging.self_merges", counts.self_merges);
}

/// Adds the report of a substep of one drop.
fn add_report(stages: &mut StageReports, step: &DropStepReport) {
    let DropStepReport { advanced, contact, remeshed, outcome } = step;
    stages.add("drops.substeps", 1);
    stages.add("drops.retries", u64::from(*outcome == Outcome::Retried));
    stages.add("drops.rebuilt", u64::from(*outcome == Outcome::Rebuilt));
    stages.add("solve.solves", advanced.solves as u64);
    stages.add("solve.iterations", advanced.solve.iterations as u64);
    stages.add("solve.unconverged", u64::from(advanced.solve.unconverged));
    stages.keep_largest("solve.residual", advanced.solve.residual);
    stages.add("contact.wetted", contact.wetted as u64);
    stages.add("contact.detached", contact.detached as u64);
    stages.add("remesh.splits", remeshed.splits as u64);
    stages.add("remesh.collapses", remeshed.collapses as u64);
    stages.add("remesh.flips", remeshed.flips as u64);
    stages.add("remesh.cuts", remeshed.cuts as u64);
}

/// Fails if gravity, in m/s², moves liquid at rest farther in the shortest part of a step than it
/// may approach a solid: every substep would be rejected and every surface rebuilt.
fn check_gravity(state: &State, params: &Parameters, gravity: DVec3) -> Result<(), StepError> {
    let numerics = &params.numerics;
    let shortest = numerics.max_step / f64::from(numerics.max_substeps);
    let largest = 2.0 * numerics.max_approach * 2.0 * params.edge / (shortest * shortest);
    let found = gravity.length();
    if found <= largest || state.drops.iter().all(|drop| drop.asleep) {
        return Ok(());
    }
    let advice = format!(
        "gravity of {found:.3e} m/s² adds this in {:.0} ms, and edges of {:.3} mm resolve at most {largest:.1e} m/s²: \
         lower gravity, or check its unit",
        1e3 * numerics.max_step,
        1e3 * params.edge
    );
    Err(StepError::Runaway { speed: found * numerics.max_step, time: state.run.time, advice })
}

/// Fails if a drop has a position that is not finite; reports a finite vertex of it.
fn check_finite(drops: &[Drop], time: f64) -> Result<(), StepError> {
    let mut moved = drops.iter().filter(|drop| drop.advanced > 0.0);
    let Some(drop) = moved.find(|drop| !drop.mesh.positions.iter().all(|p| p.is_finite())) else {
        return Ok(());
    };
    let position = drop.mesh.positions.iter().copied().find(|p| p.is_finite()).unwrap_or_default();
    Err(StepError::NonFinite {
        what: format!("the surface of drop {}", drop.id),
        time,
        position: position.to_array(),
        advice: "look for units that are off by orders of magnitude in the scene, or for a resolution.edge far larger than the drops".into(),
    })
}

#[cfg(test)]
mod tests {
    use sessile_frames::DropId;
    use sessile_model::{Model, NoTimer, StageValue};

    use super::*;
    use crate::mesh::primitives::sphere;
    use crate::tests::common::{build, cap, plane, run};

    #[test]
    fn a_non_finite_position_is_reported_where_the_drop_is() {
        let center = DVec3::new(0.5, 0.0, 0.0);
        let mesh = sphere(center, 1e-3, 0.3e-3, |_| 1e-3).unwrap();
        let mut drop = Drop::new(DropId::new(7).unwrap(), mesh, 4e-9, DVec3::new(3.0, 0.0, 0.0));
        assert!(check_finite(std::slice::from_ref(&drop), 0.1).is_ok());
        drop.mesh.positions[0].x = f64::NAN;
        drop.advanced = 1e-3;
        let Err(StepError::NonFinite { what, position, .. }) = check_finite(&[drop], 0.1) else {
            panic!("a NaN position is an error");
        };
        assert!(what.contains("drop 7"), "{what}");
        assert!(DVec3::from(position).distance(center) < 2e-3, "{position:?} is not on the drop");
    }

    #[test]
    fn gravity_that_no_substep_resolves_is_an_error_at_once() {
        let under = |gravity: &str| {
            let world = format!("[world]\ngravity = \"0 -{gravity} 0 m/s^2\"\n");
            build(&(world + &plane([0.0, 1.0, 0.0], 90.0, 60.0) + &cap(4.0, 75.0, [0.0; 3])))
        };
        let Err(StepError::Runaway { speed, advice, .. }) = under("1e9").step(1e-3, &mut NoTimer) else {
            panic!("gravity of 1e9 m/s² is an error");
        };
        assert!(speed > 1e5 && advice.contains("1.000e9"), "{speed} m/s, {advice}");
        under("1e3").step(1e-3, &mut NoTimer).unwrap();
    }

    #[test]
    fn a_drop_that_wakes_takes_a_substep_of_the_current_length() {
        let mut model = build(&format!("{}{}", plane([0.0, 1.0, 0.0], 90.0, 60.0), cap(4.0, 75.0, [0.0; 3])));
        run(&mut model, 0.01);
        model.state.drops[0].asleep = true;
        model.step(1e-3, &mut NoTimer).unwrap();
        assert_eq!(model.state.drops[0].substeps.remaining, 0, "a sleeping drop has no substeps to take");
        // A change of gravity wakes all drops.
        model.state.run.gravity = DVec3::ZERO;
        model.step(0.4e-3, &mut NoTimer).unwrap();
        assert!(!model.state.drops[0].asleep);
        let substeps = model.state.drops[0].substeps;
        assert_eq!((substeps.remaining, substeps.dt), (0, 0.4e-3));
    }

    #[test]
    fn a_step_reports_solver_and_mesh_counts() {
        let mut model = build(&format!("{}{}", plane([0.0, 1.0, 0.0], 90.0, 60.0), cap(4.0, 75.0, [0.0; 3])));
        let report = model.step(1e-3, &mut NoTimer).unwrap();
        assert_eq!(report.stages.get("drops.substeps"), Some(StageValue::Total(1)));
        let Some(StageValue::Total(iterations)) = report.stages.get("solve.iterations") else {
            panic!("no iterations")
        };
        assert!(iterations > 0, "the solve iterates");
        let Some(StageValue::Largest(residual)) = report.stages.get("solve.residual") else { panic!("no residual") };
        assert!(residual < 1e-3, "residual {residual}");
    }
}

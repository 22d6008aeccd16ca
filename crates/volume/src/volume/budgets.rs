//! Momentum after every operator of a step.

use glam::DVec3;
use sessile_model::{Model, NoTimer};

use super::HysteresisLaw;
use super::tests::{WATER, build};
use crate::advection::{advect_velocity, begin_velocity_update};
use crate::contact_angle::impose_contact_angle;
use crate::curvature::compute_curvature;
use crate::drops::label_drops;
use crate::extrapolation::extrapolate_velocity;
use crate::fluid::StepContext;
use crate::free_motion::conserve_momentum;
use crate::interface_advection::advect_interface;
use crate::parasitic_currents::damp_parasitic_currents;
use crate::projection::{Pass, project};
use crate::redistance::redistance_if_due;
use crate::state::State;
use crate::viscosity::diffuse_velocity;
use crate::volume::Volume;
use crate::volume_fraction::liquid_fraction;

/// Volume in cells, first moment in cells · m, and momentum in cells · m/s.
#[derive(Clone, Copy, Debug, Default)]
struct Budget {
    volume: f64,
    moment: DVec3,
    momentum: DVec3,
}

fn budget(state: &State) -> Budget {
    let (tiles, mut sum) = (&state.grid.tiles, Budget::default());
    for index in tiles.indices().filter(|index| index.local() < tiles.cells_in_use()) {
        let fraction = liquid_fraction(tiles, &state.solids, &state.phi, index);
        if fraction > 0.0 {
            sum.volume += fraction;
            sum.moment += fraction * state.grid.center(index);
            sum.momentum += fraction * state.velocity_at_center(index);
        }
    }
    sum
}

const OPERATORS: [&str; 8] =
    ["advection", "viscosity", "balance", "pressure", "parasitic currents", "extrapolation", "interface", "redistance"];

/// Advances by one step; returns the momentum that each operator adds.
fn step(volume: &mut Volume) -> [DVec3; 8] {
    let mut changes = [DVec3::ZERO; 8];
    let dt = volume.fluid.time_step_limit();
    volume.totals.time += dt;
    let until = volume.totals.time;
    let needles = volume.emit_and_adapt(until, &mut Vec::new(), &mut NoTimer, &mut Default::default());
    let Volume { fluid, world, history, .. } = volume;
    let angles = &HysteresisLaw::new(&fluid.params, world, history);
    let context = StepContext { dt, world, gravity: world.gravity(), angles, needles: &needles };
    let (state, scratch, params) = (&mut fluid.state, &mut fluid.scratch, &fluid.params);
    let mut last = budget(state).momentum;
    let mut record = |number: usize, state: &State| {
        let now = budget(state).momentum;
        changes[number] = now - last;
        last = now;
    };
    begin_velocity_update(state, scratch, params);
    advect_velocity(state, scratch, params, &context, context.gravity * context.dt);
    record(0, state);
    diffuse_velocity(state, scratch, params, &context).unwrap();
    record(1, state);
    compute_curvature(state, scratch, params, &context);
    label_drops(state, scratch, params, &context, &mut Vec::new());
    conserve_momentum(state, scratch, params, &context);
    record(2, state);
    project(state, scratch, params, &context, Pass::WithSurfaceTension).unwrap();
    record(3, state);
    damp_parasitic_currents(state, scratch, params, dt);
    record(4, state);
    extrapolate_velocity(state, scratch, params, &context);
    record(5, state);
    advect_interface(state, scratch, params, &context);
    record(6, state);
    impose_contact_angle(state, scratch, angles);
    redistance_if_due(state, scratch, params, angles);
    record(7, state);
    changes
}

/// Two unequal drops merge without gravity. Advection of the velocity and of the interface together
/// do not conserve momentum, nor do extrapolation and damping; the balance makes up for them.
#[test]
fn merging_drops_do_not_drift_v8() {
    let mut volume = build(&format!(
        "{WATER}\
         [world]\nplanar = true\ngravity = \"0 0 0 m/s^2\"\n[resolution]\ncell = \"0.16 mm\"\n\
         [[drops]]\ncenter = \"0.01 0 0.02 mm\"\nradius = \"1.3 mm\"\n\
         [[drops]]\ncenter = \"0.01 2.18 0.02 mm\"\nradius = \"0.9 mm\"\n",
    ));
    let first = budget(&volume.fluid.state);
    let mut sums = [DVec3::ZERO; 8];
    for number in 0..400 {
        for (sum, change) in sums.iter_mut().zip(step(&mut volume)) {
            *sum += change / first.volume;
        }
        // While the neck opens, the momentum of its few fast cells is not measured this accurately.
        let net: DVec3 = sums.iter().sum();
        assert!(
            number < 100 || net.length() < 5e-4,
            "{:.2} ms: {net} m/s, by {OPERATORS:?}: {sums:.4?}",
            1e3 * volume.time()
        );
    }
    let last = budget(&volume.fluid.state);
    let drift = 1e3 * (last.moment / last.volume - first.moment / first.volume);
    assert!(drift.length() < 0.02, "the centroid has moved by {drift} mm in {:.0} ms", 1e3 * volume.time());
}

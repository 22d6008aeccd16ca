//! The order of stages, their reports and errors, and the time-step limit.

use std::f64::consts::PI;

use glam::DVec3;
use sessile_frames::DropId;
use sessile_model::{NoTimer, StageTimer, StageValue};
use sessile_world::World;

use super::{Fluid, StepContext};
use crate::drops::{Label, TargetVolume};
use crate::parameters::Parameters;
use crate::poisson::PoissonError;
use crate::projection::capillary_time_step;
use crate::speed_limit::limit_speed;
use crate::state::State;
use crate::testing::{Advancing, plane_world, test_parameters};
use crate::tiles::{CellIndex, Topology};

/// Side of a cell, in m.
const H: f64 = 1e-4;

/// A planar disc of 8 cells radius in free space, moving at `velocity` (in m/s).
fn disc(params: Parameters, velocity: DVec3) -> (Fluid, World) {
    let world = plane_world(1.0, DVec3::Y, DVec3::new(0.0, -1.0, 0.0));
    let topology = Topology { planar: true, ..Topology::default() };
    let mut fluid = Fluid::new(State::new(H, DVec3::ZERO, topology, Vec::new()), params);
    let tiles: Vec<[i32; 3]> = (0..16).map(|n| [n % 4 - 2, n / 4 - 2, 0]).collect();
    fluid.adapt(&world, &tiles);
    for index in fluid.state.grid.tiles.indices() {
        let from_center = fluid.state.grid.center(index).truncate() / H - DVec3::new(0.3, 0.1, 0.0).truncate();
        fluid.state.phi.values_mut()[index] = from_center.length() - 8.0;
        if from_center.length() < 8.0 {
            fluid.state.drops.labels.values_mut()[index] = Label::drop(DropId::of_initial(0));
        }
        for axis in 0..2 {
            fluid.state.velocity[axis].values_mut()[index] = velocity[axis];
        }
    }
    fluid.redistance();
    fluid.state.drops.insert_target(TargetVolume { id: DropId::of_initial(0), volume: 64.0 * PI });
    fluid.label(&[]);
    (fluid, world)
}

fn context(world: &World, dt: f64, gravity: DVec3) -> StepContext<'_, Advancing> {
    StepContext { dt, world, gravity, angles: &Advancing, needles: &[] }
}

/// Records the stages in the order in which they begin.
#[derive(Default)]
struct Stages(Vec<&'static str>);

impl StageTimer for Stages {
    fn enter(&mut self, stage: &'static str) {
        self.0.push(stage);
    }
}

#[test]
fn stages_run_in_the_order_of_the_method() {
    let (mut fluid, world) = disc(test_parameters(), DVec3::ZERO);
    let mut stages = Stages::default();
    fluid.step(&context(&world, 1e-5, DVec3::ZERO), &mut Vec::new(), &mut stages).unwrap();
    let expected = [
        "advection",
        "viscosity",
        "curvature",
        "drops",
        "pressure",
        "extrapolation",
        "interface",
        "contact_angle",
        "redistance",
    ];
    assert_eq!(stages.0, expected);
}

/// Implicit surface tension adds a viscous stage and a second projection.
#[test]
fn implicit_surface_tension_projects_twice() {
    let params = Parameters { implicit_tension: true, ..test_parameters() };
    let (mut fluid, world) = disc(params, DVec3::ZERO);
    let mut stages = Stages::default();
    let report = fluid.step(&context(&world, 1e-4, DVec3::ZERO), &mut Vec::new(), &mut stages).unwrap();
    assert_eq!(stages.0[4..7], ["pressure", "viscosity", "pressure"]);
    assert_eq!(report.stages.get("pressure.solves"), Some(StageValue::Total(2)));
}

#[test]
fn a_step_reports_its_solves_and_its_courant_number() {
    let (mut fluid, world) = disc(test_parameters(), DVec3::new(0.5, 0.0, 0.0));
    let dt = 4e-5;
    let report = fluid.step(&context(&world, dt, DVec3::ZERO), &mut Vec::new(), &mut NoTimer).unwrap();
    let Some(StageValue::Total(iterations)) = report.stages.get("pressure.iterations") else { panic!("{report:?}") };
    assert_eq!(iterations, report.pressure_iterations as u64);
    let tolerance = fluid.params.numerics.divergence_tolerance * H / dt;
    let Some(StageValue::Largest(residual)) = report.stages.get("pressure.residual") else { panic!("{report:?}") };
    assert!(iterations > 0 && residual <= tolerance, "{iterations} iterations, residual {residual:.1e}");
    let Some(StageValue::Largest(courant)) = report.stages.get("interface.courant") else { panic!("{report:?}") };
    assert!((courant - 0.5 * dt / H).abs() < 0.02, "Courant number {courant}");
}

#[test]
fn the_time_step_is_the_smaller_of_the_capillary_and_the_advective_limit() {
    let params = test_parameters();
    let capillary = 0.9 * capillary_time_step(&params.liquid, H);
    let (slow, _) = disc(params, DVec3::ZERO);
    let is_limit = |fluid: &Fluid, limit: f64| (fluid.time_step_limit() / limit - 1.0).abs() < 1e-12;
    assert!(is_limit(&slow, 2.0 * capillary), "{} s", slow.time_step_limit());
    let (fast, _) = disc(params, DVec3::new(10.0, 0.0, 0.0));
    assert!(is_limit(&fast, 0.8 * H / 10.0), "{} s", fast.time_step_limit());
    let (implicit, _) = disc(Parameters { implicit_tension: true, ..params }, DVec3::ZERO);
    assert!(is_limit(&implicit, 4.0 * capillary), "{} s", implicit.time_step_limit());
    let (fixed, _) = disc(Parameters { dt: Some(1e-6), ..params }, DVec3::ZERO);
    assert_eq!(fixed.time_step_limit(), 1e-6);
}

/// Largest speed in a ball of 6 cells radius at rest in free space after 40 steps, in m/s.
fn speed_of_ball_at_rest(params: Parameters) -> f64 {
    let world = plane_world(1.0, DVec3::Y, DVec3::new(0.0, -1.0, 0.0));
    let mut fluid = Fluid::new(State::new(H, DVec3::ZERO, Topology::default(), Vec::new()), params);
    let tiles: Vec<[i32; 3]> = (0..64).map(|n| [n % 4 - 2, n / 4 % 4 - 2, n / 16 - 2]).collect();
    fluid.adapt(&world, &tiles);
    let drop = DropId::of_initial(0);
    for index in fluid.state.grid.tiles.indices() {
        let from_center = fluid.state.grid.center(index) / H - DVec3::new(0.3, 0.1, 0.2);
        fluid.state.phi.values_mut()[index] = from_center.length() - 6.0;
        if from_center.length() < 6.0 {
            fluid.state.drops.labels.values_mut()[index] = Label::drop(drop);
        }
    }
    fluid.redistance();
    fluid.state.drops.insert_target(TargetVolume { id: drop, volume: 4.0 / 3.0 * PI * 216.0 });
    fluid.label(&[]);
    let dt = fluid.time_step_limit();
    for _ in 0..40 {
        fluid.step(&context(&world, dt, DVec3::ZERO), &mut Vec::new(), &mut NoTimer).unwrap();
    }
    fluid.state.max_speed()
}

/// Twice the step of explicit surface tension: noise of the curvature does not grow, and does
/// without the inertia of short waves.
#[test]
fn short_waves_do_not_grow_in_steps_beyond_the_capillary_limit() {
    let params = test_parameters();
    let mut explicit = params;
    explicit.numerics.capillary_fraction *= params.numerics.inertial_step_factor;
    explicit.numerics.inertial_step_factor = 1.0;
    let [with, without] = [params, explicit].map(speed_of_ball_at_rest);
    println!("{with:.4} m/s with the inertia of short waves, {without:.4} m/s without");
    assert!(with < 0.02 && without > 0.2, "{with} m/s with the inertia of short waves, {without} m/s without");
}

#[test]
fn gravity_accelerates_a_free_drop_by_g_dt() {
    let (mut fluid, world) = disc(test_parameters(), DVec3::ZERO);
    let (dt, steps, gravity) = (2e-5, 200, DVec3::new(0.0, -9.8, 0.0));
    for _ in 0..steps {
        fluid.step(&context(&world, dt, gravity), &mut Vec::new(), &mut NoTimer).unwrap();
    }
    let State { grid, drops, .. } = &fluid.state;
    let labels = grid.tiles.indices().zip(drops.labels.values()).filter(|(_, label)| label.id().is_some());
    let cells: Vec<CellIndex> = labels.map(|(index, _)| index).collect();
    let sum: DVec3 = cells.iter().map(|&index| fluid.state.velocity_at_center(index)).sum();
    let mean = sum / cells.len() as f64;
    let expected = gravity * dt * f64::from(steps);
    // The mean over cells includes the oscillation of a disc that is not exactly at rest on the
    // grid: 0.3 mm/s.
    assert!((mean - expected).length() < 0.03 * expected.length(), "{mean} m/s, expected {expected}");
}

/// 100 m/s on one face beside liquid at 20 m/s: ten times the mean speed, 20 m/s, and that of short
/// waves, √(γ/ρh) = 0.85 m/s, is not reached; 300 m/s are slowed to it.
#[test]
fn only_faces_beyond_all_speeds_of_the_flow_are_slowed_and_counted() {
    let (mut fluid, world) = disc(test_parameters(), DVec3::new(20.0, 0.0, 0.0));
    let cell = fluid.state.grid.tiles.find([2, 1, 0]).unwrap();
    let context = context(&world, 1e-6, DVec3::ZERO);
    for (speed, slowed) in [(-100.0, 0), (-300.0, 1)] {
        fluid.state.velocity[1].values_mut()[cell] = speed;
        let report = limit_speed(&mut fluid.state, &fluid.params, &context);
        let left = fluid.state.velocity[1].values()[cell];
        assert_eq!(report.faces, slowed, "faces slowed at {speed} m/s");
        let expected = if slowed == 0 { speed } else { -10.0 * (20.0 + 0.854) };
        // The face itself raises the mean speed by 6 %.
        assert!((left / expected - 1.0).abs() < 0.1, "{left} m/s are left of {speed}, expected {expected}");
    }
}

/// A velocity that is not a number is reported with its cell by the first solve that meets it.
#[test]
fn a_velocity_that_is_not_finite_fails_the_solve_at_its_cell() {
    let (mut fluid, world) = disc(test_parameters(), DVec3::ZERO);
    let cell = fluid.state.grid.tiles.find([0, 0, 0]).unwrap();
    fluid.state.velocity[0].values_mut()[cell] = f64::NAN;
    let error = fluid.step(&context(&world, 1e-5, DVec3::ZERO), &mut Vec::new(), &mut NoTimer).unwrap_err();
    assert_eq!(error.solver, "pressure solve");
    let PoissonError::InvalidEquation { cell, .. } = error.error else { panic!("{error}") };
    assert!(cell.iter().all(|c| c.abs() < 8), "cell {cell:?}");
}

//! The volume model: a step, a frame, a saved state.

mod by_hand;
mod checkpoint;
mod frame;
mod joined_drops;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_frames::{DropId, Event, Frame, GridFields};
use sessile_model::{
    InteractionError, Model, Region, RestoreError, StageReports, StageTimer, StepError, StepReport, Stroke,
};
use sessile_scene::types::Scene;
use sessile_world::{PlacedSource, Solid, World};

use crate::contact_angle::{AngleLaw, AngleRange};
use crate::drops::{DropsReport, TargetVolume, merge_event};
use crate::error::{SolveError, VolumeError};
use crate::evaporation::Evaporation;
use crate::fluid::{Fluid, StepContext};
use crate::interface_advection::advective_time_step;
use crate::moving_line::MovingLine;
use crate::parameters::Parameters;
use crate::poisson::PoissonError;
use crate::setup::{MemoryEstimate, Setup};
use crate::solids::{Wall, WallMotion};
use crate::sources::{NeedleFlow, Released, Sources};
use crate::spray::Spray;
use crate::spray_transfer::{SprayReport, advance_spray, launch_small_drops, leave_gaps};
use crate::surface_extraction::check_extent;
use crate::wetting_history::WettingHistory;

/// Drops by level set and the Navier–Stokes equations.
#[derive(Debug)]
pub struct Volume {
    fluid: Fluid,
    world: World,
    setup: Setup,
    sources: Sources,
    history: WettingHistory,
    spray: Spray,
    totals: RunTotals,
    evaporation: Option<Evaporation>,
    /// Iterations of the last pressure solve.
    iterations: usize,
    /// Messages that the user has not seen yet.
    notices: Vec<String>,
    /// Whether liquid in thin gaps, and liquid without room, have been reported since the start or
    /// a resume.
    gaps_reported: [bool; 2],
}

/// Relative difference between the liquid on the grid and the volume balance that is tolerated.
const BALANCE_TOLERANCE: f64 = 1e-3;
/// Share of a drop of the scene that may be missing; else the run starts with what is there.
const MAX_INITIAL_ERROR: f64 = 0.1;
/// The same for a single drop, in any step.
const DROP_TOLERANCE: f64 = 1e-2;
/// Steps in a row with a larger difference after which the user is told.
const MAX_UNBALANCED_STEPS: u32 = 20;
/// Time from which no frame may have a larger difference without the user being told, in s: what
/// the start of a scene makes has relaxed.
const BALANCED_FROM: f64 = 0.01;

/// Time and volume balance of a run.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct RunTotals {
    /// Simulated time, in s.
    time: f64,
    /// Volume added, in m³; in planar runs in m².
    added: f64,
    /// Volume lost, in the same unit.
    lost: f64,
    /// Volume evaporated, less what has condensed, in the same unit.
    evaporated: f64,
    /// Steps in a row in which the liquid on the grid has differed from the balance.
    unbalanced_steps: u32,
    /// Whether the user has been told that it differs.
    imbalance_reported: bool,
}

/// Contact angles of the materials: advancing on dry and on wet surface, receding, and the bound on
/// the receding force.
struct HysteresisLaw<'a> {
    /// γ, in N/m.
    surface_tension: f64,
    /// Speed above which a line counts as moving at any angle; with `fidelity = "paper"` only.
    static_speed: Option<f64>,
    moving_line: Option<MovingLine>,
    solids: &'a [Solid],
    history: &'a WettingHistory,
}

impl<'a> HysteresisLaw<'a> {
    fn new(params: &Parameters, world: &'a World, history: &'a WettingHistory) -> Self {
        let surface_tension = params.liquid.surface_tension;
        Self {
            surface_tension,
            static_speed: params.static_speed(),
            moving_line: params.moving_line,
            solids: world.solids(),
            history,
        }
    }
}

impl AngleLaw for HysteresisLaw<'_> {
    fn range(&self, wall: &Wall) -> AngleRange {
        AngleRange {
            receding: wall.receding,
            advancing: wall.advancing,
            receding_pull: wall.receding_limit / self.surface_tension,
            static_speed: self.static_speed,
        }
    }

    fn moving_line(&self) -> Option<MovingLine> {
        self.moving_line
    }

    fn is_wet(&self, wall: &Wall, place: DVec3) -> bool {
        self.history.is_wet(self.solids, wall.solid as usize, place)
    }

    fn wall_velocity(&self, wall: &Wall, place: DVec3) -> DVec3 {
        self.solids.get(wall.solid as usize).map_or(DVec3::ZERO, |solid| solid.mean_velocity_at(place))
    }
}

impl Volume {
    /// The scene's liquid on its grid.
    pub fn new(scene: &Scene, world: World) -> Result<Self, VolumeError> {
        let setup = Setup::new(scene, &world)?;
        let mut history = WettingHistory::new(setup.h, world.solids().len());
        let (mut fluid, unmeasured) = place_drops(&setup, &world)?;
        // A drop that is on no cell had no room; it is not counted.
        fluid.state.drops.unresolved.clear();
        history.mark(&fluid.state, &world, true);
        let mut totals = RunTotals { added: fluid.state.drops.total() * setup.cell_volume(), ..RunTotals::default() };
        let notices = notice_of_overlaps(&world, &unmeasured, totals.added, setup.planar).into_iter().collect();
        if let Some(bounds) = setup.bounds {
            totals.lost = fluid.remove_outside(bounds) * setup.cell_volume();
            if totals.lost > 0.0 {
                fluid.erase_remains_outside(bounds);
                fluid.redistance();
            }
        }
        let (sources, spray) = (Sources::default(), Spray::default());
        let evaporation = world.evaporation_coefficients(scene.liquid.density).map(Evaporation::new);
        let mut volume = Self {
            fluid,
            world,
            setup,
            sources,
            history,
            spray,
            totals,
            evaporation,
            iterations: 0,
            notices,
            gaps_reported: [false; 2],
        };
        // No frame has shown them apart.
        volume.unite_joined_drops(&mut Vec::new());
        Ok(volume)
    }

    /// Memory that a scene's liquid needs at the start; nothing is allocated for it.
    pub fn required_memory(scene: &Scene, world: &World) -> Result<MemoryEstimate, VolumeError> {
        Setup::new(scene, world)?.memory(world)
    }

    /// Longest stable step, in s.
    pub fn time_step_limit(&self) -> f64 {
        self.fluid.time_step_limit()
    }

    /// Number of cells in active tiles.
    pub fn active_cells(&self) -> usize {
        let tiles = &self.fluid.state.grid.tiles;
        tiles.len() * tiles.cells_in_use()
    }

    /// Iterations of the last pressure solve.
    pub fn pressure_iterations(&self) -> usize {
        self.iterations
    }

    /// Inserts what emitters release until `until`, and adapts the tiles; returns the emissions'
    /// needle flows.
    ///
    /// Drops that no cell holds any more leave the grid before their tiles may.
    fn emit_and_adapt(
        &mut self,
        until: f64,
        events: &mut Vec<Event>,
        timer: &mut dyn StageTimer,
        reports: &mut StageReports,
    ) -> Vec<NeedleFlow> {
        let mut unresolved = self.handle_unresolved_drops(events);
        self.world.advance_to(until);
        self.world.set_mean_velocities_since(self.totals.time);
        let emissions = self.world.emissions(self.totals.time, until);
        let Released { inserted, flows } =
            self.sources.emit(&emissions, &self.setup, &self.world, &mut self.fluid, &mut self.spray);
        self.totals.added += inserted * self.setup.cell_volume();
        if inserted != 0.0 {
            self.fluid.state.forget_previous_liquid();
        }
        unresolved += self.handle_unresolved_drops(events);
        self.totals.lost += unresolved * self.setup.cell_volume();
        timer.enter("tiles");
        let changed = self.fluid.adapt(&self.world, &[]);
        reports.add("tiles.changes", u64::from(changed));
        self.fluid.follow_solids(&self.world);
        flows
    }

    /// Removes what has left the domain; then exchanges liquid with the spray. Before a frame, the
    /// drops are labeled as it will show them.
    ///
    /// Spray comes after all that needs the step's unknowns: where a drop returns, tiles change.
    fn remove_lost_liquid(&mut self, dt: f64, ends_frame: bool, events: &mut Vec<Event>) -> SprayReport {
        let mut removed = self.handle_unresolved_drops(events);
        if ends_frame {
            self.fluid.relabel(events);
            removed += self.handle_unresolved_drops(events);
        }
        if let Some(bounds) = self.setup.bounds {
            let outside = self.fluid.remove_outside(bounds);
            if outside > 0.0 {
                self.fluid.state.forget_previous_liquid();
            }
            removed += outside;
        }
        let report = self.advance_spray(dt, events);
        self.report_gaps(&report);
        self.totals.lost += report.lost;
        self.totals.lost += removed * self.setup.cell_volume();
        if ends_frame {
            self.unite_joined_drops(events);
        }
        report
    }

    /// Tells the user once that gaps between solids are thinner than a cell, or leave no room.
    fn report_gaps(&mut self, report: &SprayReport) {
        let time = 1e3 * self.totals.time;
        let what = [
            (report.from_gaps, "is in a gap between solids thinner than a cell; such liquid appears at the gap's rim"),
            (report.without_room, "has no room between solids; such liquid counts as lost"),
        ];
        for (reported, (volume, what)) in self.gaps_reported.iter_mut().zip(what) {
            if volume > 0.0 && !std::mem::replace(reported, true) {
                let volume = amount(volume, self.setup.planar);
                self.notices.push(format!("at {time:.3} ms {volume} {what}. A smaller resolution.cell resolves more"));
            }
        }
    }

    /// Turns drops that no cell holds any more into spray, in planar runs adds them to the largest
    /// drop.
    ///
    /// Returns the volume for which there is no drop, in cells.
    fn handle_unresolved_drops(&mut self, events: &mut Vec<Event>) -> f64 {
        let Self { fluid, setup, spray, .. } = self;
        let mut lost = 0.0;
        for unresolved in std::mem::take(&mut fluid.state.drops.unresolved) {
            let TargetVolume { id, volume } = unresolved.target;
            match unresolved.cell {
                Some(cell) if !setup.planar => {
                    let velocity = fluid.state.velocity_at_center(cell);
                    spray.launch(id, fluid.state.grid.center(cell), velocity, volume * setup.cell_volume());
                }
                _ => match fluid.state.drops.targets.iter_mut().max_by(|a, b| a.volume.total_cmp(&b.volume)) {
                    Some(largest) => {
                        largest.volume += volume;
                        events.push(merge_event(id, largest.id));
                    }
                    None => lost += volume,
                },
            }
        }
        lost
    }

    /// Moves the spray, returns what touches liquid to the grid, and launches drops that are too
    /// small for it.
    fn advance_spray(&mut self, dt: f64, events: &mut Vec<Event>) -> SprayReport {
        if self.setup.planar {
            return SprayReport::default();
        }
        let Self { fluid, world, setup, spray, history, .. } = self;
        let mut report = advance_spray(spray, dt, setup, world, fluid, events);
        launch_small_drops(fluid, spray, setup, world, &mut report);
        if report.launched > 0 {
            leave_gaps(spray, setup, world, fluid, &mut report);
        }
        if report.changed_phi() {
            let angles = HysteresisLaw::new(&setup.parameters, world, history);
            fluid.redistance();
            if report.changed_drops() {
                fluid.converge_contact_angle(&angles);
            } else {
                fluid.impose_contact_angle(&angles);
            }
            fluid.state.forget_previous_liquid();
        }
        report
    }

    fn step_error(&self, SolveError { solver, error }: SolveError) -> StepError {
        let time = self.totals.time;
        let advice = "set a smaller resolution.cell, or a volume.dt below the step that was taken".into();
        match error {
            PoissonError::NotConverged { residual, iterations, tolerance } => {
                StepError::NotConverged { solver, residual, iterations, tolerance, time, advice }
            }
            PoissonError::InvalidEquation { cell, .. } => {
                let grid = &self.fluid.state.grid;
                let position = grid.origin + grid.h * (DVec3::from(cell.map(f64::from)) + 0.5);
                StepError::NonFinite {
                    what: format!("the {solver} ({error})"),
                    time,
                    position: position.to_array(),
                    advice,
                }
            }
        }
    }

    /// Length of the next step: stable, and short enough for the walls near the liquid, too.
    fn step_length(&mut self, limit: f64) -> f64 {
        let longest = self.fluid.time_step_limit();
        if !self.world.solids().iter().any(Solid::moves) {
            return equal_substep(limit, longest);
        }
        self.world.advance_to(self.totals.time + equal_substep(limit, longest));
        let Fluid { state, params, .. } = &self.fluid;
        let walls = WallMotion::new(&self.world, &state.sides, &state.grid);
        let fastest = walls.fastest(&state.solids, &state.phi);
        equal_substep(limit, longest.min(advective_time_step(params.numerics.courant, state.grid.h, fastest)))
    }

    /// Tells the user once if the liquid on the grid differs from the volume balance in a frame
    /// after the start or for longer than the relaxation of volumes takes, or a drop differs much
    /// from its volume.
    fn compare_with_balance(&mut self, drops: &DropsReport, ends_frame: bool, reports: &mut StageReports) {
        let totals = &mut self.totals;
        let difference = (drops.held - drops.target).abs();
        let differs = difference > BALANCE_TOLERANCE * drops.target;
        let is_shown = ends_frame && totals.time > BALANCED_FROM;
        if is_shown && drops.target > 0.0 {
            reports.keep_largest("drops.difference_in_frames", difference / drops.target);
        }
        totals.unbalanced_steps = if differs { totals.unbalanced_steps.saturating_add(1) } else { 0 };
        let lasts = totals.unbalanced_steps > MAX_UNBALANCED_STEPS || (differs && is_shown);
        let worst = drops.worst.filter(|drop| drop.volume_error() > DROP_TOLERANCE);
        if totals.imbalance_reported || !(lasts || worst.is_some()) {
            return;
        }
        totals.imbalance_reported = true;
        let (which, [held, target]) = match worst.and_then(|drop| Some((drop.label.id()?, drop))) {
            Some((id, drop)) => (format!("drop {id}"), [drop.volume, drop.target]),
            None => ("the liquid".into(), [drops.held, drops.target]),
        };
        let scale = self.setup.cell_volume();
        let [held, target] = [held, target].map(|volume| amount(volume * scale, self.setup.planar));
        let time = 1e3 * totals.time;
        self.notices.push(format!(
            "at {time:.3} ms {which} on the grid has {held}, in the volume balance {target}; the difference is \
             corrected gradually. A smaller resolution.cell reduces it"
        ));
    }

    fn check_speed(&self) -> Result<(), StepError> {
        let speed = self.fluid.state.max_speed();
        if speed.is_nan() || speed > self.fluid.params.numerics.max_speed {
            let advice = "set a smaller resolution.cell or volume.dt, or a slower start".into();
            return Err(StepError::Runaway { speed, time: self.totals.time, advice });
        }
        Ok(())
    }

    /// An error if the liquid has spread so far that its surface could not be extracted for a
    /// frame.
    fn check_extent(&self) -> Result<(), StepError> {
        let grid = &self.fluid.state.grid;
        check_extent(&grid.tiles).map_err(|error| StepError::TooSpread {
            extent: error.cells as f64 * grid.h,
            limit: error.max as f64 * grid.h,
            time: self.totals.time,
            advice: "give the scene a domain, so that liquid that leaves it is removed".into(),
        })
    }
}

impl Model for Volume {
    fn time(&self) -> f64 {
        self.totals.time
    }

    fn step(&mut self, limit: f64, timer: &mut dyn StageTimer) -> Result<StepReport, StepError> {
        timer.enter("sources");
        self.check_speed()?;
        let (mut reports, mut events) = (StageReports::default(), Vec::<Event>::new());
        if self.totals.time == 0.0 {
            let Self { fluid, world, history, .. } = self;
            let angles = HysteresisLaw::new(&self.setup.parameters, world, history);
            fluid.converge_contact_angle(&angles);
            fluid.restore_volumes(&mut events, |fluid| fluid.converge_contact_angle(&angles));
        }
        let dt = self.step_length(limit);
        let until = self.totals.time + dt;
        let needles = self.emit_and_adapt(until, &mut events, timer, &mut reports);
        if let Some(evaporation) = &mut self.evaporation {
            timer.enter("evaporation");
            let evaporated = evaporation.evaporate(&mut self.fluid.state, dt);
            self.totals.evaporated += evaporated * self.setup.cell_volume();
        }
        let Self { fluid, world, history, .. } = self;
        let angles = &HysteresisLaw::new(&fluid.params, world, history);
        let context = StepContext { dt, world, gravity: world.gravity(), angles, needles: &needles };
        let done = fluid.step(&context, &mut events, timer);
        let done = done.map_err(|error| self.step_error(error))?;
        reports.accumulate(&done.stages);
        self.iterations = done.pressure_iterations;
        self.totals.added += done.drops.fed * self.setup.cell_volume();
        self.compare_with_balance(&done.drops, dt >= limit, &mut reports);
        self.history.mark(&self.fluid.state, &self.world, false);
        timer.enter("spray");
        self.remove_lost_liquid(dt, dt >= limit, &mut events).record(&mut reports);
        self.totals.time = until;
        self.check_extent()?;
        Ok(StepReport { dt, events, stages: reports })
    }

    fn notices(&mut self) -> Vec<String> {
        let mut notices = std::mem::take(&mut self.notices);
        notices.append(&mut self.sources.notices());
        notices
    }

    fn frame(&self) -> Frame {
        self.make_frame()
    }

    fn fields(&self) -> Option<GridFields> {
        Some(self.grid_fields())
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    fn add(&mut self, at: DVec3, velocity: DVec3, volume: f64) -> Result<(), InteractionError> {
        self.add_by_hand(at, velocity, volume)
    }

    fn take(&mut self, region: &Region, share: f64) -> Result<f64, InteractionError> {
        Ok(self.take_by_hand(region, share))
    }

    fn wipe(&mut self, stroke: &Stroke) -> Result<f64, InteractionError> {
        Ok(self.wipe_by_hand(stroke))
    }

    fn place_source(&mut self, source: PlacedSource) -> Result<u32, InteractionError> {
        self.place_by_hand(source)
    }

    fn save(&self) -> Vec<u8> {
        self.save_state()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        self.restore_state(state)
    }
}

/// The scene's drops on the grid, and the ids of those whose volume had to be measured.
///
/// Inside solids φ continues the drops' own shapes, so that the first frame shows their contact
/// angles; the first step begins with those of the materials.
fn place_drops(setup: &Setup, world: &World) -> Result<(Fluid, Vec<DropId>), VolumeError> {
    let (mut fluid, mut unmeasured) = setup.fill(world)?;
    check_extent(&fluid.state.grid.tiles).map_err(|error| VolumeError::Extent(error.to_string()))?;
    fluid.redistance();
    fluid.label(&unmeasured);
    // Part of a drop may be deep in a solid on the other side of the domain.
    let short = fluid.state.drops.short_of_target(MAX_INITIAL_ERROR);
    let num_overlaps = unmeasured.len();
    unmeasured.extend(short.filter(|&id| world.initial_drops().iter().any(|drop| setup.should_hold(drop, id))));
    unmeasured.sort_unstable();
    unmeasured.dedup();
    if unmeasured.len() > num_overlaps {
        fluid.label(&unmeasured);
    }
    fluid.restore_volumes(&mut Vec::new(), |_| ());
    Ok((fluid, unmeasured))
}

/// A volume in µL, in planar runs an area in mm².
fn amount(volume: f64, planar: bool) -> String {
    if planar { format!("{:.4} mm^2", 1e6 * volume) } else { format!("{:.4} uL", 1e9 * volume) }
}

/// Tells how much of the initial drops exists if some of them overlap.
fn notice_of_overlaps(world: &World, unmeasured: &[DropId], present: f64, planar: bool) -> Option<String> {
    let requested: f64 = world.initial_drops().iter().map(sessile_world::InitialDrop::volume).sum();
    if unmeasured.is_empty() || (present - requested).abs() <= BALANCE_TOLERANCE * requested {
        return None;
    }
    let names: Vec<String> = unmeasured.iter().map(|id| format!("drops.{}", id.get() - 1)).collect();
    let (names, verb) = (names.join(", "), if names.len() == 1 { "overlaps" } else { "overlap" });
    let (present, requested) = (amount(present, planar), amount(requested, planar));
    Some(format!(
        "{names} {verb} other drops, a solid or a side of the domain: the run starts with {present} of liquid, \
         not {requested}"
    ))
}

/// A step of at most `longest` such that equal steps end at `limit`, so that none is much shorter
/// than the others.
fn equal_substep(limit: f64, longest: f64) -> f64 {
    limit / (limit / longest).ceil().max(1.0)
}

#[cfg(test)]
mod budgets;
#[cfg(test)]
mod convergence;
#[cfg(test)]
mod mirrors;
#[cfg(test)]
mod overlaps;
#[cfg(test)]
mod paper;
#[cfg(test)]
mod robustness;
#[cfg(test)]
mod tests;

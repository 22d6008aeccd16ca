//! The pane in a window: what is shown, and what a hand changes.

use glam::{DVec2, DVec3};
use sessile_frames::{VolumeBalance, WetMap};
use sessile_model::{DropView, InteractionError, Region, Stroke, View, check_added};
use sessile_numerics::math;
use sessile_sliding::{Ball, DropId, EmissionTarget as _, Projectile, ball_radius};
use sessile_wetting::{SlidingLaw, Wetting};
use sessile_world::{PlacedSource, Pose};

use super::{Pane, PaperSolver, Solver};
use crate::drops::PaneDrop;
use crate::frame::PaneFrame;
use crate::motion::StepContext;
use crate::parameters::PARAMETERS;
use crate::sources::Target;
use crate::substrate::{CellIndex, Substrate};
use crate::wet_map::wet_map;

impl Pane {
    /// Shows all drops; a drop that has merged recently as its parts.
    pub(super) fn show(&self, into: &mut View) {
        into.clear(self.state.time);
        let frame = self.frame_now();
        let context = self.context(&frame);
        let on_pane = Shown { frame: &frame, context: &context, solid: self.setup.solid as u32 };
        match &self.solver {
            Solver::Physical(physical) => {
                for (slot, drop) in physical.drops.iter() {
                    let view = on_pane.drop(drop, &physical.substrate);
                    let Some(parts) = physical.necks.get(slot) else {
                        into.push(&view);
                        continue;
                    };
                    for part in parts.as_slice() {
                        let place = view.place + frame.lift(part.offset.truncate());
                        let (radius, volume) = (view.radius * math::cbrt(part.share), view.volume * part.share);
                        into.push(&DropView { place, radius, volume, ..view });
                    }
                }
            }
            Solver::Paper(paper) => {
                let bodies = paper.bodies(self.setup.pass_interval, &context);
                bodies.drops.iter().for_each(|(_, drop)| into.push(&on_pane.drop(drop, &paper.substrate)));
            }
        }
        for Ball { id, body, .. } in &self.state.balls {
            into.push(&DropView::in_flight(id.get(), body.center, body.velocity, body.volume, body.radius()));
        }
    }

    /// The present volume balance.
    pub(super) fn present_balance(&self) -> VolumeBalance {
        VolumeBalance {
            added: self.state.added,
            lost: self.state.lost + self.solver.lost(),
            film: self.solver.substrate().film_volume(),
            evaporated: self.state.evaporated,
        }
    }

    /// The present wetness of the pane.
    pub(super) fn present_wetness(&self) -> WetMap {
        wet_map(self.solver.substrate(), self.setup.solid)
    }

    /// Adds liquid: to the pane where a ball of its volume touches it, else in flight.
    pub(super) fn add_by_hand(&mut self, at: DVec3, velocity: DVec3, volume: f64) -> Result<(), InteractionError> {
        check_added(at, velocity, volume)?;
        let frame = self.frame_now();
        let context = self.context(&frame);
        let height = (at - frame.corner).dot(frame.normal());
        let position = frame.position_of(at);
        if height.abs() <= 1.001 * ball_radius(volume) && frame.contains(position) {
            let Self { world, setup, solver, state, .. } = self;
            let mut target = Target { solver, setup, frame: &frame, context: &context, gravity: world.gravity() };
            state.added += target.pour(position, volume, &mut state.ids);
            self.release_detached(&frame);
        } else {
            self.state.add_ball(Projectile { center: at, velocity, volume }, 0.0);
        }
        Ok(())
    }

    /// Places a source; dew condenses on the pane only.
    pub(super) fn place_by_hand(&mut self, source: PlacedSource) -> Result<u32, InteractionError> {
        if matches!(source, PlacedSource::Dew { on, .. } if on != self.setup.solid) {
            return Err(InteractionError::Unsupported { what: "dew on another solid than the pane" });
        }
        Ok(self.world.place_source(source)?)
    }

    /// Takes liquid of a region away.
    pub(super) fn take_by_hand(&mut self, region: &Region, share: f64) -> Result<f64, InteractionError> {
        let frame = self.frame_now();
        let context = self.context(&frame);
        let taken = match &mut self.solver {
            Solver::Physical(physical) => physical.take(region, share, &frame, &context),
            Solver::Paper(paper) => {
                paper.take(&frame, |at, _| if at.distance(region.center) <= region.radius { share } else { 0.0 })
            }
        };
        self.state.added -= taken;
        self.release_detached(&frame);
        Ok(taken)
    }

    /// Wipes the pane.
    pub(super) fn wipe_by_hand(&mut self, stroke: &Stroke) -> Result<f64, InteractionError> {
        let frame = self.frame_now();
        let context = self.context(&frame);
        let taken = match &mut self.solver {
            Solver::Physical(physical) => physical.wipe(stroke, &frame, &context),
            // The paper's cells have no films, and a finger leaves none.
            Solver::Paper(paper) => {
                paper.take(&frame, |at, half| stroke.bite(at, half).map_or(0.0, |(share, _)| share))
            }
        };
        self.state.added -= taken;
        self.release_detached(&frame);
        Ok(taken)
    }

    /// Changes the wetting of a solid.
    pub(super) fn set_material_by_hand(
        &mut self,
        solid: usize,
        wetting: Option<Wetting>,
    ) -> Result<(), InteractionError> {
        self.world.set_material(solid, wetting)?;
        self.refresh_laws();
        if let Solver::Physical(physical) = &mut self.solver {
            physical.forget_context();
        }
        Ok(())
    }

    /// Derives the laws of the cells from the world again.
    pub(super) fn refresh_laws(&mut self) {
        let wetting = self.world.solids()[self.setup.solid].wetting_at(DVec2::splat(0.5));
        self.setup.set_law(SlidingLaw::new(&self.setup.liquid, &wetting));
        let fresh = self.setup.substrate(&self.world);
        match &mut self.solver {
            Solver::Physical(physical) => physical.substrate.take_laws(fresh),
            Solver::Paper(paper) => paper.substrate.take_laws(fresh),
        }
    }

    /// Poses of all solids.
    pub(super) fn poses(&self) -> Vec<Pose> {
        self.world.solids().iter().map(|solid| *solid.world_from_rest()).collect()
    }

    /// Lets solids that have moved since they had the poses `before` push the drops of the physical
    /// mode; returns the number of those.
    pub(super) fn push_drops(&mut self, before: &[Pose], frame: &PaneFrame, context: &StepContext) -> u64 {
        let Self { world, setup, solver, .. } = self;
        let Solver::Physical(physical) = solver else { return 0 };
        let (solids, pane) = (world.solids(), setup.solid);
        let displacement = |solid: usize, point: DVec3| {
            let rest = solids[solid].world_from_rest().apply_inverse(point);
            point - before[solid].apply(rest)
        };
        let mut pushed = 0;
        for solid in solids.iter().filter(|solid| solid.index() != pane) {
            if [solid.index(), pane].iter().all(|&k| before[k] == *solids[k].world_from_rest()) {
                continue;
            }
            let moved = |point: DVec3| displacement(solid.index(), point) - displacement(pane, point);
            pushed += physical.push_by(solid, moved, frame, context);
        }
        pushed
    }
}

impl PaperSolver {
    /// Takes the share of each cell's water that `share` returns for the cell's center and half
    /// width (in m) away; returns the volume, in m³.
    fn take(&mut self, frame: &PaneFrame, share: impl Fn(DVec3, f64) -> f64) -> f64 {
        let Self { substrate, automaton, .. } = self;
        let half = 0.5 * substrate.cell_size;
        let mut taken = 0.0;
        for cell in (0..substrate.num_cells() as u32).map(CellIndex) {
            let volume = automaton.cells[cell.get()].volume;
            if volume > 0.0 {
                let share = share(frame.point_at(substrate.center_of(cell)), half).clamp(0.0, 1.0);
                taken -= if share > 0.0 { automaton.change(cell, -share * volume) } else { 0.0 };
            }
        }
        taken
    }
}

/// What drops on the pane are shown with.
struct Shown<'a> {
    frame: &'a PaneFrame,
    context: &'a StepContext,
    solid: u32,
}

impl Shown<'_> {
    /// A drop on the pane, with the sag and stretch of a frame's shapes.
    fn drop(&self, drop: &PaneDrop, substrate: &Substrate) -> DropView {
        let (context, law) = (self.context, substrate.law_at(drop.position));
        let force = context.force((drop.position, DVec2::ZERO), drop.volume, drop.radius, law);
        let bond = force.length() / drop.volume * drop.radius * drop.radius / context.liquid.surface_tension;
        let last = drop.heading.as_dvec2();
        let heading = if drop.sliding { last } else { force.normalize_or(last) };
        let half_speed = law.shedding_speed.clamp(0.02, PARAMETERS.stretch_speed);
        let speed = f64::from(drop.speed);
        DropView {
            id: drop.id.map_or(0, DropId::get),
            place: self.frame.point_at(drop.position),
            on: Some((self.solid, self.frame.normal())),
            heading: self.frame.lift(heading),
            radius: drop.radius,
            volume: drop.volume,
            sag: (bond * law.sag_per_bond).min(PARAMETERS.max_sag),
            stretch: PARAMETERS.max_stretch * speed / (speed + half_speed),
            velocity: self.frame.lift(drop.velocity()),
            sliding: drop.sliding,
        }
    }
}

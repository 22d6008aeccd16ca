//! Wiping, taking liquid away, and drops pushed by moving solids.
//!
//! A solid that moves along the pane carries the drops that it meets: in its own frame a drop comes
//! from x + Δ, with Δ the solid's displacement in the step, and is held where its rim first touches
//! the solid, on the side from which it came.

use std::f64::consts::SQRT_2;

use glam::{DVec2, DVec3};
use sessile_model::{BLADE_FILM, Region, Stroke, Tool};
use sessile_numerics::math;
use sessile_sliding::SlotIndex;
use sessile_wetting::film::landau_levich_thickness;
use sessile_world::Solid;

use super::{Physical, is_outside};
use crate::frame::PaneFrame;
use crate::motion::StepContext;
use crate::substrate::CellIndex;

/// Tangential part of a solid's normal above which it is a wall that pushes.
const WALL: f64 = 0.3;
/// Distance between two tests along the path of a solid, in base radii.
const TEST_SPACING: f64 = 0.5;
/// Largest number of tests along the path of a step.
const MAX_TESTS: f64 = 64.0;
/// Height of the largest drops, in m: solids farther from the pane touch none.
const TALLEST: f64 = 0.02;

impl Physical {
    /// Wipes the pane; returns the volume that the tool has taken and not left as film, in m³.
    pub fn wipe(&mut self, stroke: &Stroke, frame: &PaneFrame, context: &StepContext) -> f64 {
        let mut taken = 0.0;
        for slot in self.near(frame.position_of(stroke.middle()), stroke.reach()) {
            let mut drop = *self.drops.get(slot);
            let bite = stroke.bite(frame.point_at(drop.position), f64::from(drop.merge_radius));
            let Some((share, shift)) = bite else { continue };
            let part = if share < 1.0 { share * drop.volume } else { drop.volume };
            taken += part;
            drop.volume -= part;
            drop.position = (drop.position + frame.tangential(shift)).clamp(DVec2::ZERO, self.size);
            drop.has_moved = true;
            self.update(slot, drop, context);
        }
        let cells = self.cells_under(stroke, frame);
        taken += cells.iter().map(|&cell| self.substrate.take_film(cell)).sum::<f64>();
        let speed = stroke.speed();
        let law = self.substrate.law_at(frame.position_of(stroke.to));
        let thickness = match stroke.tool {
            Tool::Blade { .. } => BLADE_FILM,
            // Below the shedding speed the contact line recedes behind the finger.
            Tool::Finger { .. } if speed <= law.shedding_speed => 0.0,
            Tool::Finger { .. } => {
                let gravity = math::hypot(context.gravity.length(), context.normal_acceleration);
                let curvature = SQRT_2 / context.liquid.capillary_length(gravity);
                landau_levich_thickness(&context.liquid, speed, curvature)
            }
        };
        let left = (thickness * stroke.area()).min(taken);
        if left > 0.0 && !cells.is_empty() {
            let share = left / cells.len() as f64;
            cells.iter().for_each(|&cell| self.substrate.add_film(cell, share));
            cells.iter().for_each(|&cell| self.substrate.wet_cell(cell));
            taken -= left;
        }
        taken
    }

    /// Takes a share of all drops and films in a region away; returns their volume, in m³.
    pub fn take(&mut self, region: &Region, share: f64, frame: &PaneFrame, context: &StepContext) -> f64 {
        let share = share.clamp(0.0, 1.0);
        let middle = frame.position_of(region.center);
        let is_inside = |at: DVec2| frame.point_at(at).distance(region.center) <= region.radius;
        let mut taken = 0.0;
        for slot in self.near(middle, region.radius) {
            let mut drop = *self.drops.get(slot);
            if !is_inside(drop.position) {
                continue;
            }
            let part = if share < 1.0 { share * drop.volume } else { drop.volume };
            taken += part;
            drop.volume -= part;
            self.update(slot, drop, context);
        }
        for cell in self.cells_around(middle, region.radius) {
            if is_inside(self.substrate.center_of(cell)) {
                let film = self.substrate.take_film(cell);
                self.substrate.add_film(cell, (1.0 - share) * film);
                taken += share * film;
            }
        }
        taken
    }

    /// Pushes the drops that a solid has met in the last step; `moved` is the displacement of its
    /// points relative to the pane in that step, in m. Returns the number of drops.
    pub fn push_by(
        &mut self,
        solid: &Solid,
        moved: impl Fn(DVec3) -> DVec3,
        frame: &PaneFrame,
        context: &StepContext,
    ) -> u64 {
        let [low, high] = solid.bounds();
        let (center, extent) = (0.5 * (low + high), 0.5 * low.distance(high));
        let travel = [low, high, center].map(|point| moved(point).length()).into_iter().fold(0.0, f64::max);
        if travel == 0.0 {
            return 0;
        }
        if ((center - frame.corner).dot(frame.normal())).abs() > extent + travel + TALLEST {
            return 0;
        }
        let mut pushed = 0;
        for slot in self.near(frame.position_of(center), extent + travel) {
            let drop = *self.drops.get(slot);
            let place = frame.point_at(drop.position);
            let lift = frame.normal() * (0.5 * drop.radius).min(drop.volume / (2.0 * drop.radius * drop.radius));
            let moved = frame.lift(frame.tangential(moved(place)));
            let tests = (moved.length() / (TEST_SPACING * drop.radius)).ceil().clamp(1.0, MAX_TESTS);
            let at = |k: u32| place + lift + moved * (1.0 - f64::from(k) / tests);
            let met = (0..=tests as u32).map(at).find(|&point| solid.signed_distance(point) < drop.radius);
            let Some(point) = met else { continue };
            let near = solid.closest(point);
            let along = frame.tangential(near.normal);
            if along.length() < WALL {
                continue;
            }
            let shift = along.normalize() * ((drop.radius - near.distance) / along.length());
            let position = frame.position_of(point) + shift;
            if position.distance(drop.position) > 0.0 {
                self.shift(slot, position, context);
                pushed += 1;
            }
        }
        pushed
    }

    /// Moves a drop to a position; outside of the pane it is lost.
    fn shift(&mut self, slot: SlotIndex, position: DVec2, context: &StepContext) {
        let mut drop = *self.drops.get(slot);
        if is_outside(position, self.size) {
            self.lost += drop.volume;
            self.remove(slot);
            return;
        }
        drop.heading = (position - drop.position).normalize_or(drop.heading.as_dvec2()).as_vec2();
        (drop.position, drop.has_moved) = (position, true);
        self.update(slot, drop, context);
    }

    /// Reassesses all drops in the next step.
    pub fn forget_context(&mut self) {
        self.last_context = None;
    }

    /// Slots of the drops that a disc touches, ascending.
    fn near(&self, at: DVec2, radius: f64) -> Vec<SlotIndex> {
        let mut slots = Vec::new();
        self.drops.touching(at, radius, None, |slot| slots.push(slot));
        slots.sort_unstable();
        slots
    }

    /// Cells of the pane in the square around a disc, ascending.
    fn cells_around(&self, at: DVec2, radius: f64) -> Vec<CellIndex> {
        let substrate = &self.substrate;
        let corner = |by: f64| substrate.column_and_row(substrate.cell_at((at + by).clamp(DVec2::ZERO, self.size)));
        let ((left, bottom), (right, top)) = (corner(-radius), corner(radius));
        let rows = bottom..=top;
        let cell = |row: usize, column: usize| CellIndex((row * substrate.columns + column) as u32);
        rows.flat_map(|row| (left..=right).map(move |column| cell(row, column))).collect()
    }

    /// Cells that a stroke touches, ascending.
    fn cells_under(&self, stroke: &Stroke, frame: &PaneFrame) -> Vec<CellIndex> {
        let half = 0.5 * self.substrate.cell_size;
        let is_under = |cell: &CellIndex| stroke.bite(frame.point_at(self.substrate.center_of(*cell)), half).is_some();
        let mut cells = self.cells_around(frame.position_of(stroke.middle()), stroke.reach() + half);
        cells.retain(is_under);
        cells
    }
}

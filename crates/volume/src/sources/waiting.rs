//! Spheres that wait for room: emitters do not place liquid where liquid already is.
//!
//! A sphere has room if no cell center in it, or within [`GAP`] of it, lies in liquid. One without
//! room waits until the liquid has moved on; then it is inserted. The part of a sphere in a solid
//! does not exist; one with hardly any part outside waits, too, since solids may move.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_world::World;

use super::{Sources, insert_sphere};
use crate::fluid::Fluid;
use crate::setup::Setup;
use crate::state::State;
use crate::tiles::CellIndex;

/// Width of the air that a sphere needs around it, in cells.
const GAP: f64 = 1.0;
/// Largest number of places at which spheres wait; beyond it they are not emitted.
const MAX_PLACES: usize = 64;
/// Number of places about which the user is told.
const MAX_REPORTED: usize = 4;
/// Distance from a solid below which a sphere's cells show that the solid cuts it, in cells.
const CUT_DISTANCE: f64 = 0.5;
/// Smallest part of a sphere's cells outside solids with which it is inserted.
const MIN_FREE_PART: f64 = 0.05;

/// A sphere to be inserted: center and radius in m, velocity in m/s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sphere {
    pub center: DVec3,
    pub radius: f64,
    pub velocity: DVec3,
}

/// What is in the place of a sphere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Air.
    Air,
    /// Air, and a solid.
    CutBySolid,
    /// Liquid.
    Liquid,
    /// Hardly anything but solids.
    None,
}

/// The spheres that wait, by place, and what the user was told about them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WaitingSpheres {
    /// Spheres and how many of each.
    spheres: Vec<(Sphere, u64)>,
    /// Places that the user has been told about.
    reported: Vec<DVec3>,
    #[serde(skip)]
    notices: Vec<String>,
}

impl WaitingSpheres {
    fn add(&mut self, sphere: Sphere) {
        let has_place = self.spheres.len() < MAX_PLACES;
        match self.spheres.iter_mut().find(|(known, _)| *known == sphere) {
            Some((_, count)) => *count += 1,
            None if has_place => self.spheres.push((sphere, 1)),
            None => {}
        }
    }

    fn is_waiting(&self, sphere: &Sphere) -> bool {
        self.spheres.iter().any(|(known, _)| known == sphere)
    }

    /// Messages for the user since the last call.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Tells the user once per place.
    fn report(&mut self, sphere: &Sphere, what: &str) {
        if self.reported.len() < MAX_REPORTED && !self.reported.contains(&sphere.center) {
            self.reported.push(sphere.center);
            let [x, y, z] = (1e3 * sphere.center).to_array();
            let radius = 1e3 * sphere.radius;
            let more = if self.reported.len() < MAX_REPORTED { "" } else { "; further such places are not reported" };
            self.notices.push(format!(
                "an emitter's drop of {radius:.3} mm radius at ({x:.3}, {y:.3}, {z:.3}) mm {what}{more}"
            ));
        }
    }

    /// Tells the user that a sphere lies in solids.
    pub fn report_blocked(&mut self, sphere: &Sphere) {
        self.report(sphere, "lies in a solid: nothing is emitted there");
    }
}

impl Sources {
    /// Inserts a sphere, or lets it wait if there is no room; returns its volume, in cells.
    pub(super) fn insert_or_wait(&mut self, sphere: Sphere, setup: &Setup, world: &World, fluid: &mut Fluid) -> f64 {
        let room = if self.waiting.is_waiting(&sphere) { Room::Liquid } else { room_for(&sphere, setup, world, fluid) };
        match room {
            Room::Air => return insert_sphere(&sphere, true, setup, world, fluid),
            Room::CutBySolid => {
                self.waiting.report(&sphere, "overlaps a solid: the part in the solid is not emitted");
                return insert_sphere(&sphere, false, setup, world, fluid);
            }
            Room::Liquid => self.waiting.report(&sphere, "waits until the liquid there has moved on"),
            Room::None => self.waiting.report_blocked(&sphere),
        }
        self.waiting.add(sphere);
        0.0
    }

    /// Inserts one sphere of each place that has room now; returns their volume, in cells.
    pub(super) fn release_waiting(&mut self, setup: &Setup, world: &World, fluid: &mut Fluid) -> f64 {
        let mut volume = 0.0;
        for (sphere, count) in &mut self.waiting.spheres {
            let room = room_for(sphere, setup, world, fluid);
            if matches!(room, Room::Air | Room::CutBySolid) {
                volume += insert_sphere(sphere, room == Room::Air, setup, world, fluid);
                *count -= 1;
            }
        }
        self.waiting.spheres.retain(|(_, count)| *count > 0);
        volume
    }
}

/// What is in the place of a sphere; activates its tiles if there is no liquid.
pub(super) fn room_for(sphere: &Sphere, setup: &Setup, world: &World, fluid: &mut Fluid) -> Room {
    let Sphere { center, radius, .. } = *sphere;
    let planar = setup.planar;
    let distance = move |point: DVec3| {
        let offset = if planar { (point - center).with_z(0.0) } else { point - center };
        offset.length() - radius
    };
    let mut wanted = Vec::new();
    setup.tiles_of([center - radius, center + radius], distance, &mut wanted);
    let distance = setup.repeated(distance);
    let is_liquid =
        |state: &State, index: CellIndex| !state.solids.contains_center(index) && state.phi.values()[index] < 0.0;
    if cells_inside(&fluid.state, &wanted, |point| distance(point) - GAP * setup.h)
        .any(|index| is_liquid(&fluid.state, index))
    {
        return Room::Liquid;
    }
    fluid.adapt(world, &wanted);
    let solids = &fluid.state.solids;
    let (mut inside, mut free, mut is_cut) = (0.0, 0.0, false);
    for index in cells_inside(&fluid.state, &wanted, &distance) {
        inside += 1.0;
        free += if solids.contains_center(index) { 0.0 } else { 1.0 };
        is_cut |= solids.distance.values()[index] < CUT_DISTANCE;
    }
    match (is_cut, free <= MIN_FREE_PART * inside) {
        (_, true) => Room::None,
        (true, false) => Room::CutBySolid,
        (false, false) => Room::Air,
    }
}

/// The cells of active tiles among `tiles` whose centers lie in a body.
fn cells_inside(state: &State, tiles: &[[i32; 3]], distance: impl Fn(DVec3) -> f64) -> impl Iterator<Item = CellIndex> {
    let grid = &state.grid;
    let slots = tiles.iter().filter_map(|&tile| grid.tiles.slot(tile));
    let cells = slots.flat_map(|slot| (0..grid.tiles.cells_in_use()).map(move |local| CellIndex::new(slot, local)));
    cells.filter(move |&index| distance(grid.center(index)) < 0.0)
}

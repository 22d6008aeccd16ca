//! What a hand changes in the volume model: added, taken and wiped liquid.
//!
//! *Adding* to a drop raises its target volume, and the relaxation of volumes lets it swell;
//! elsewhere a sphere is united with φ as an emitter's is. *Taking* a share of a drop shifts its
//! surface inward, φ ← φ + δ, with δ such that the rest stays. *Wiping* cuts the space that the
//! tool sweeps out of the liquid, φ ← max(φ, −d) with the tool's distance d; the grid resolves no
//! film, so none is left. What is taken comes off the drops' target volumes.

use glam::DVec3;
use sessile_frames::DropId;
use sessile_model::{InteractionError, Region, Stroke, Tool, check_added};
use sessile_numerics::sphere_radius;
use sessile_world::{Emission, PlacedSource};

use super::{HysteresisLaw, Volume};
use crate::sources::drop_at;

/// Share of a drop above which it is taken as a whole.
const WHOLE: f64 = 0.98;
/// Distances from the center of an added sphere, in radii, at which it finds a drop that it joins.
const PROBES: [f64; 2] = [0.6, 1.1];
/// Gap between an added sphere and a solid, in cells.
const GAP: f64 = 0.1;
/// Height of a wiping tool above the solid, over its half width.
const TOOL_HEIGHT: f64 = 1.0;

impl Volume {
    /// Adds liquid: to a drop that the sphere of this volume touches, else as that sphere.
    pub(super) fn add_by_hand(&mut self, at: DVec3, velocity: DVec3, volume: f64) -> Result<(), InteractionError> {
        check_added(at, velocity, volume)?;
        if self.setup.planar {
            return Err(InteractionError::Unsupported { what: "adding a drop to a planar run" });
        }
        let radius = sphere_radius(volume);
        if let Some(id) = self.drop_near(at, radius)
            && let Some(target) = self.fluid.state.drops.target_mut(id)
        {
            target.volume += volume / self.setup.cell_volume();
            self.totals.added += volume;
            return Ok(());
        }
        let center = match self.world.closest(at) {
            Some((_, near)) if (-radius..radius + GAP * self.setup.h).contains(&near.distance) => {
                at + near.normal * (radius + GAP * self.setup.h - near.distance)
            }
            _ => at,
        };
        if self.world.signed_distance(center) < 0.5 * radius {
            return Err(InteractionError::Invalid(format!("there is no room for a drop at {at} m")));
        }
        let ball = Emission::Ball { time: self.totals.time, center, radius, velocity };
        let released = self.sources.emit(&[ball], &self.setup, &self.world, &mut self.fluid, &mut self.spray);
        self.totals.added += released.inserted * self.setup.cell_volume();
        self.fluid.state.forget_previous_liquid();
        Ok(())
    }

    /// The drop at a point or around it.
    fn drop_near(&self, at: DVec3, radius: f64) -> Option<DropId> {
        let axes = [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y, DVec3::Z, DVec3::NEG_Z];
        let around = PROBES.iter().flat_map(|&share| axes.map(|axis| at + axis * (share * radius)));
        std::iter::once(at).chain(around).find_map(|point| drop_at(&self.fluid.state, point))
    }

    /// Takes a share of all drops whose centers are in a region away; returns the volume, in m³.
    pub(super) fn take_by_hand(&mut self, region: &Region, share: f64) -> f64 {
        let share = share.clamp(0.0, 1.0);
        let is_inside = |at: DVec3| at.distance(region.center) <= region.radius;
        let ids: Vec<DropId> = self.fluid.state.drops.targets.iter().map(|target| target.id).collect();
        let mut taken = 0.0;
        for id in ids {
            if !is_inside(self.center_of_cells(id)) {
                continue;
            }
            taken += if share >= WHOLE { self.fluid.remove_drop(id) } else { self.fluid.shrink_drop(id, share) };
        }
        let volume = taken * self.setup.cell_volume() + self.spray.take(is_inside, share);
        self.account_for_taken(volume, taken > 0.0);
        volume
    }

    /// Cuts what a tool sweeps out of the liquid; returns its volume, in m³.
    pub(super) fn wipe_by_hand(&mut self, stroke: &Stroke) -> f64 {
        let h = self.setup.h;
        let depth = swept_by(stroke);
        let taken = self.fluid.cut(|point| depth(point) / h);
        let volume = taken * self.setup.cell_volume() + self.spray.take(|at| depth(at) > 0.0, 1.0);
        self.account_for_taken(volume, taken > 0.0);
        volume
    }

    /// Books what was taken, and restores φ and the contact angles of what is left.
    fn account_for_taken(&mut self, volume: f64, changed_phi: bool) {
        self.totals.added -= volume;
        if changed_phi {
            let Self { fluid, world, setup, history, .. } = self;
            let angles = HysteresisLaw::new(&setup.parameters, world, history);
            fluid.redistance();
            fluid.converge_contact_angle(&angles);
            fluid.state.forget_previous_liquid();
        }
    }

    /// Places a source; the model has no dew.
    pub(super) fn place_by_hand(&mut self, source: PlacedSource) -> Result<u32, InteractionError> {
        if matches!(source, PlacedSource::Dew { .. }) {
            return Err(InteractionError::Unsupported { what: "dew" });
        }
        Ok(self.world.place_source(source)?)
    }
}

/// Depth of a point in the space that a tool sweeps, in m; negative outside.
fn swept_by(stroke: &Stroke) -> impl Fn(DVec3) -> f64 {
    let Stroke { from, to, tool, .. } = *stroke;
    let path = to - from;
    move |point: DVec3| match tool {
        Tool::Finger { radius } => {
            let along = if path == DVec3::ZERO { 0.0 } else { (point - from).dot(path) / path.length_squared() };
            radius - point.distance(from + path * along.clamp(0.0, 1.0))
        }
        Tool::Blade { half } => {
            let length = half.length();
            let axis = half.normalize_or_zero();
            let forward = (path - axis * path.dot(axis)).normalize_or_zero();
            let swept = path.dot(forward);
            let offset = point - from;
            let ahead = offset.dot(forward);
            let slide = if swept > 0.0 { path.dot(axis) * (ahead / swept).clamp(0.0, 1.0) } else { 0.0 };
            let above = offset.dot(axis.cross(forward)).abs();
            let beside = (offset.dot(axis) - slide).abs();
            (length - beside).min(ahead).min(swept - ahead).min(TOOL_HEIGHT * length - above)
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::{DVec2, DVec3};
    use sessile_frames::Frame;
    use sessile_model::{Model as _, NoTimer, Region, Stroke, Tool};
    use sessile_scene::{NoFiles, parse_str};
    use sessile_wetting::Wetting;
    use sessile_world::{PlacedSource, World};

    use crate::Volume;

    /// A cap of 2 µL on a table, cells of 0.15 mm.
    fn model() -> Volume {
        let text = "model = \"volume\"\nresolution.cell = \"0.15 mm\"\ntime = { duration = \"10 ms\", frame = \"1 ms\" }\n\
            [domain]\nmin = \"-3 -0.5 -2 mm\"\nmax = \"3 2.5 2 mm\"\n\
            [materials.wax]\nadvancing = \"90 deg\"\nreceding = \"90 deg\"\n\
            [[solids]]\nname = \"table\"\nmaterial = \"wax\"\n\
            [[drops]]\nshape = \"cap\"\non = \"table\"\nvolume = \"2 uL\"\ncontact_angle = \"90 deg\"\n";
        let scene = parse_str("cap.toml", text, &[], &NoFiles).unwrap_or_else(|errors| panic!("{errors}")).scene;
        Volume::new(&scene, World::build(&scene).unwrap()).unwrap()
    }

    fn run(model: &mut Volume, time: f64) {
        let until = model.time() + time;
        while until - model.time() > 1e-9 {
            model.step(until - model.time(), &mut NoTimer).unwrap();
        }
    }

    /// Enclosed volume of the drops' surfaces, in m³.
    fn enclosed(frame: &Frame) -> f64 {
        let surface = frame.liquid.clone().into_surface().unwrap();
        let corner = |v: u32| surface.positions[v as usize];
        surface.triangles.iter().map(|t| corner(t[0]).dot(corner(t[1]).cross(corner(t[2]))) / 6.0).sum()
    }

    /// Drops and lost liquid are what was added; the surfaces enclose the drops' volume. Returns
    /// that volume, in m³.
    fn balanced(model: &Volume) -> f64 {
        let frame = model.frame();
        let present: f64 = frame.drops.iter().map(|drop| drop.volume).sum();
        let balance = model.balance();
        assert!((present + balance.lost - balance.added).abs() < 1e-6 * 2e-9, "{present:e}, {balance:?}");
        let shown = enclosed(&frame);
        assert!((shown - present).abs() < 0.03 * present.max(1e-10), "{shown:e} m³ are shown of {present:e}");
        present
    }

    #[test]
    fn another_material_acts_at_once() {
        let mut model = model();
        run(&mut model, 1e-4);
        let wetting = Wetting { advancing: 0.7, receding: 0.6, ..model.world.solids()[0].wetting_at(DVec2::ZERO) };
        model.set_material(0, Some(wetting)).unwrap();
        run(&mut model, 1e-4);
        let solids = &model.fluid.state.solids;
        let near = solids.distance.values().iter().zip(solids.wall.values()).filter(|(s, _)| s.abs() < 2.0);
        let angles: Vec<[f64; 2]> = near.map(|(_, wall)| [wall.advancing, wall.receding]).collect();
        assert!(!angles.is_empty() && angles.iter().all(|angles| *angles == [0.7, 0.6]), "{:?}", &angles[..4]);
    }

    #[test]
    fn a_finger_takes_the_half_of_a_drop_that_it_sweeps() {
        let mut model = model();
        run(&mut model, 1e-3);
        let before = balanced(&model);
        // The finger's edge passes over the middle of the drop.
        let [from, to] = [-1.0, 1.0].map(|z| DVec3::new(2e-3, 0.0, z * 3e-3));
        let stroke = Stroke { from, to, duration: 0.1, tool: Tool::Finger { radius: 2e-3 } };
        let taken = model.wipe(&stroke).unwrap();
        // A cylinder of 2 mm radius and a cap of 0.99 mm share a bit less than half of the cap.
        assert!((0.38..0.5).contains(&(taken / before)), "{} of the drop", taken / before);
        let after = balanced(&model);
        assert!((after + taken - before).abs() < 1e-6 * before, "{after:e} + {taken:e} of {before:e}");
        run(&mut model, 2e-3);
        assert!((balanced(&model) - after).abs() < 1e-6 * before);
    }

    #[test]
    fn a_blade_takes_what_it_passes_and_a_region_the_rest() {
        let mut model = model();
        run(&mut model, 1e-3);
        let before = balanced(&model);
        let stroke = Stroke {
            from: DVec3::new(-2e-3, 0.0, 0.0),
            to: DVec3::ZERO,
            duration: 0.05,
            tool: Tool::Blade { half: DVec3::Z * 3e-3 },
        };
        let taken = model.wipe(&stroke).unwrap();
        assert!((taken / before - 0.5).abs() < 0.02, "{} of the drop", taken / before);
        let region = Region { center: DVec3::new(0.4e-3, 0.3e-3, 0.0), radius: 1e-3 };
        let part = model.take(&region, 0.3).unwrap();
        assert!((part / (before - taken) - 0.3).abs() < 1e-9, "{part:e} of {:e}", before - taken);
        balanced(&model);
        let rest = model.take(&region, 1.0).unwrap();
        assert!((taken + part + rest - before).abs() < 1e-6 * before);
        assert!(model.frame().drops.is_empty() && model.balance().added.abs() < 1e-15);
        run(&mut model, 1e-3);
        assert!(model.frame().drops.is_empty());
    }

    #[test]
    fn added_liquid_joins_the_drop_there_or_becomes_one() {
        let mut model = model();
        run(&mut model, 0.5e-3);
        let before = balanced(&model);
        model.add(DVec3::new(0.0, 0.5e-3, 0.0), DVec3::ZERO, 0.1e-9).unwrap();
        model.add(DVec3::new(2.2e-3, 0.3e-3, 0.0), DVec3::ZERO, 0.4e-9).unwrap();
        run(&mut model, 2e-3);
        let after = balanced(&model);
        assert_eq!(model.frame().drops.len(), 2);
        assert!((after - before - 0.5e-9).abs() < 0.01e-9, "{before:e} then {after:e}");
        assert!(model.add(DVec3::NEG_Y * 0.1, DVec3::ZERO, 1e-9).is_err(), "in the table");
        assert!(model.place_source(PlacedSource::Dew { on: 0, rate: 1e-9 }).is_err());
        model.place_source(PlacedSource::Feed { at: DVec3::new(0.0, 0.5e-3, 0.0), rate: 50e-9 }).unwrap();
        run(&mut model, 2e-3);
        assert!((balanced(&model) - after - 0.1e-9).abs() < 0.02e-9);
    }
}

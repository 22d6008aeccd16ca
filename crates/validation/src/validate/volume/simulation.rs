//! Scene text and measurements for the cases.

use glam::DVec3;
use sessile_frames::{DropMeasures, Event, FrameMeasures, Surface};
use sessile_model::Model;
use sessile_scene::text;
use sessile_scene::types::Scene;
use sessile_sim::{DropPose, Settling, build, measure_frame};

use super::CaseError;
use crate::validate::common;
pub(in crate::validate) use crate::validate::common::{GRAVITY, WATER, material};

/// Capillary length of water, in m.
pub(in crate::validate) fn capillary_length() -> f64 {
    WATER.capillary_length(GRAVITY)
}

/// Inertial-capillary time √(ρR³/γ) of a drop of radius R (in m), in s.
pub(in crate::validate) fn inertial_time(radius: f64) -> f64 {
    (WATER.density * radius.powi(3) / WATER.surface_tension).sqrt()
}

/// Settings of a scene, except its solids and drops.
#[derive(Clone, Copy)]
pub(in crate::validate) struct Basics {
    /// Cell size, in m.
    pub cell: f64,
    /// Drag that brings drops to rest.
    pub settle: bool,
    /// Two-dimensional.
    pub planar: bool,
    /// The paper's own operators.
    pub reproduction: bool,
    /// Gravity, in m/s².
    pub gravity: DVec3,
}

impl Basics {
    /// Three-dimensional, undamped, with standard gravity.
    pub fn new(cell: f64) -> Self {
        let gravity = DVec3::new(0.0, -GRAVITY, 0.0);
        Self { cell, settle: false, planar: false, reproduction: false, gravity }
    }

    pub fn settling(self) -> Self {
        Self { settle: true, ..self }
    }

    pub fn planar(self) -> Self {
        Self { planar: true, ..self }
    }

    pub fn reproduction(self) -> Self {
        Self { reproduction: true, ..self }
    }

    pub fn gravity(self, gravity: DVec3) -> Self {
        Self { gravity, ..self }
    }

    /// Scene text without solids and drops.
    fn text(&self) -> String {
        let g = self.gravity;
        format!(
            "model = \"volume\"\nfidelity = \"{}\"\n[time]\nduration = \"100 s\"\nframe = \"1 ms\"\nsettle = {}\n[resolution]\ncell = \"{} m\"\n\
             [world]\nplanar = {}\ngravity = \"{} {} {} m/s^2\"\n",
            if self.reproduction { "paper" } else { "physical" },
            self.settle,
            self.cell,
            self.planar,
            g.x,
            g.y,
            g.z
        )
    }

    /// Simulation of a scene with these solids and drops.
    pub fn simulation(&self, rest: &str) -> Result<Simulation, CaseError> {
        Simulation::new(&format!("{}{rest}", self.text()))
    }
}

/// A plane `s` of it through a point near the origin, with this normal.
pub(in crate::validate) fn plane(normal: DVec3) -> String {
    format!(
        "[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\npoint = \"{} {} {} mm\"\nnormal = [{}, {}, {}]\n",
        GRID_OFFSET.x, GRID_OFFSET.y, GRID_OFFSET.z, normal.x, normal.y, normal.z
    )
}

/// Position of planes and drops, in mm: an irregular offset from the grid.
const GRID_OFFSET: DVec3 = DVec3::new(0.013, 0.017, 0.031);

/// A cap on `s`; volume in m³ (in planar runs area in m²), angle in degrees.
pub(in crate::validate) fn cap(amount: f64, planar: bool, angle: f64) -> String {
    let (key, unit) = if planar { ("area", "m^2") } else { ("volume", "m^3") };
    let center = if planar { GRID_OFFSET.with_z(0.0) } else { GRID_OFFSET };
    text::cap("s", center.into(), &format!("{key} = \"{amount} {unit}\""), angle)
}

/// A running model.
pub(in crate::validate) struct Simulation {
    model: Box<dyn Model>,
    scene: Scene,
}

impl Simulation {
    /// Builds a scene's model.
    pub fn new(text: &str) -> Result<Self, CaseError> {
        let scene = common::parse(text)?;
        Ok(Self { model: build(&scene)?.model, scene })
    }

    /// Simulated time, in s.
    pub fn time(&self) -> f64 {
        self.model.time()
    }

    /// Simulates `seconds` and returns the events.
    pub fn run(&mut self, seconds: f64) -> Result<Vec<Event>, CaseError> {
        common::advance(&mut *self.model, seconds, f64::INFINITY)
    }

    /// Simulates until the drops are at rest, as a run with `settle`, with frames of `frame`
    /// seconds, at most `limit` seconds.
    pub fn rest(&mut self, frame: f64, limit: f64) -> Result<(), CaseError> {
        let end = self.time() + limit;
        let mut settling = Settling::default();
        while self.time() < end - 1e-9 * frame {
            self.run(frame)?;
            let drops = self.measures()?.drops.iter().map(DropPose::from).collect();
            settling.observe(self.time(), drops, &self.scene.liquid, self.scene.world.planar);
            if settling.at_rest(&self.scene) {
                break;
            }
        }
        Ok(())
    }

    /// Continues from the state of another simulation of the same liquid and solids.
    pub fn restore_from(&mut self, other: &Self) -> Result<(), CaseError> {
        Ok(self.model.restore(&other.model.save())?)
    }

    /// Measures of the frame, as `sessile measure` reports them.
    pub fn measures(&self) -> Result<FrameMeasures, CaseError> {
        let planar = if self.scene.world.planar { self.scene.resolution.cell } else { None };
        Ok(measure_frame(&self.model.frame(), 0, &[], self.model.world(), planar)?)
    }

    /// Measures of the only drop; an error if there are several.
    pub fn only_drop(&self) -> Result<DropMeasures, CaseError> {
        common::only(self.measures()?.drops)
    }

    /// Measures of the largest drop.
    pub fn largest_drop(&self) -> Result<DropMeasures, CaseError> {
        let drops = self.measures()?.drops;
        drops
            .into_iter()
            .max_by(|a, b| a.volume.total_cmp(&b.volume))
            .ok_or_else(|| format!("there is no drop at t = {:.4} s", self.time()).into())
    }

    /// Surfaces of the liquid.
    pub fn surface(&self) -> Result<Surface, CaseError> {
        Ok(self.model.frame().liquid.into_surface()?)
    }

    /// Extent along a direction of the liquid's cut by the plane of all points whose coordinate
    /// along `normal` is `at` (in m), in m.
    pub fn width_at(&self, normal: DVec3, at: f64, along: DVec3) -> Result<f64, CaseError> {
        let surface = self.surface()?;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &[a, b, c] in &surface.triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let [from, to] = [from, to].map(|vertex| surface.positions[vertex as usize]);
                let [before, after] = [from, to].map(|point| point.dot(normal) - at);
                if before * after <= 0.0 && before != after {
                    let place = from.lerp(to, before / (before - after)).dot(along);
                    (low, high) = (low.min(place), high.max(place));
                }
            }
        }
        if low <= high { Ok(high - low) } else { Err("no liquid is cut by the plane".into()) }
    }

    /// Smallest and largest coordinate of the wetted part of drop `id` along a direction, in m.
    pub fn wetted_extent(&self, id: u32, along: DVec3) -> Result<[f64; 2], CaseError> {
        let surface = self.surface()?;
        let mut extent = [f64::INFINITY, f64::NEG_INFINITY];
        let on_solids = surface.triangles.iter().zip(&surface.solids).filter(|(_, solid)| **solid >= 0);
        for &vertex in on_solids.flat_map(|(triangle, _)| triangle) {
            if surface.drops[vertex as usize] == id {
                let place = surface.positions[vertex as usize].dot(along);
                extent = [extent[0].min(place), extent[1].max(place)];
            }
        }
        if extent[0] <= extent[1] { Ok(extent) } else { Err(format!("drop {id} touches no solid").into()) }
    }
}

/// Volume enclosed by a closed surface, in m³.
pub(in crate::validate) fn enclosed_volume(surface: &Surface) -> f64 {
    let corner = |vertex: u32| surface.positions[vertex as usize];
    let six = surface.triangles.iter().map(|&[a, b, c]| corner(a).dot(corner(b).cross(corner(c))));
    six.sum::<f64>() / 6.0
}

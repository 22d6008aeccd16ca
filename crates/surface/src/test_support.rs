//! Scenes and drops for tests.

use glam::DVec3;
use sessile_frames::IdCounter;
use sessile_scene::{NoFiles, Scene, parse_str, text};
use sessile_world::World;

use crate::drop::{Drop, Scratch, StepContext};
use crate::drop_step::{DropStepReport, step_drop};
use crate::dynamics::advance::{AdvanceReport, advance};
use crate::initial_mesh::initial_mesh;
use crate::parameters::Parameters;
use crate::substrate::Substrate;

/// The scene of these tables.
pub fn scene(tables: &str) -> Scene {
    let text = text::header("surface", "") + tables;
    match parse_str("test.toml", &text, &[], &NoFiles) {
        Ok(read) => read.scene,
        Err(wrong) => panic!("{wrong}"),
    }
}

/// A floor with these contact angles, in degrees.
pub fn floor(advancing: f64, receding: f64) -> String {
    text::material("m", advancing, receding) + &text::plane("s", "m", [0.0, 1.0, 0.0], [256.0; 2])
}

/// Drops on a substrate, stepped one by one without merging.
pub struct TestDrops {
    pub substrate: Substrate,
    pub drops: Vec<Drop>,
    pub params: Parameters,
    pub scratch: Scratch,
}

impl TestDrops {
    /// The drops of these tables, with shortest edges of `edge` meters and without initial
    /// remeshing.
    pub fn new(tables: &str, edge: f64) -> Self {
        let scene = scene(tables);
        let substrate = Substrate::new(World::build(&scene).unwrap());
        let mut ids = IdCounter::default();
        let initial = substrate.world.initial_drops().iter();
        let drops = initial
            .map(|drop| {
                let mesh = initial_mesh(drop, &substrate, edge).unwrap();
                Drop::new(ids.issue(), mesh, drop.volume(), drop.velocity())
            })
            .collect();
        let params = Parameters { edge, ..Parameters::new(&scene) };
        Self { substrate, drops, params, scratch: Scratch::default() }
    }

    /// The dynamics alone, on a mesh of constant connectivity.
    pub fn advance(&mut self, dt: f64) -> Vec<AdvanceReport> {
        self.each(dt, dt, advance)
    }

    /// A step with contact, remeshing and checks, which is not divided into substeps.
    pub fn step(&mut self, dt: f64) -> Vec<DropStepReport> {
        self.each(dt, dt, step_drop)
    }

    /// A step whose substeps may be as short as `min_dt`.
    pub fn step_with_retries(&mut self, dt: f64, min_dt: f64) -> Vec<DropStepReport> {
        self.each(dt, min_dt, step_drop)
    }

    /// Acts on every drop in the context of a step.
    pub fn each<T>(
        &mut self,
        dt: f64,
        min_dt: f64,
        act: impl Fn(&mut Drop, &StepContext<'_>, &mut Scratch) -> T,
    ) -> Vec<T> {
        let start = self.substrate.clone();
        self.substrate.world.advance_to(start.world.time() + dt);
        let gravity: DVec3 = 0.5 * (start.world.gravity() + self.substrate.world.gravity());
        let Self { substrate, drops, params, scratch } = self;
        let context = StepContext { start: &start, end: substrate, gravity, dt, min_dt, params };
        drops.iter_mut().map(|drop| act(drop, &context, scratch)).collect()
    }
}

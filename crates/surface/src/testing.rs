//! Scenes and drops for tests.

use glam::DVec3;
use sessile_scene::{NoFiles, Scene, parse_str};
use sessile_wetting::Liquid;
use sessile_world::World;

use crate::advance::advance;
use crate::drops::{Drop, Scratch, Setting};
use crate::ground::Ground;
use crate::stepper::step_drop;

/// The scene of these tables.
pub fn scene(tables: &str) -> Scene {
    let text = format!("model = \"surface\"\n[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n{tables}");
    match parse_str("test.toml", &text, &[], &NoFiles) {
        Ok(read) => read.scene,
        Err(wrong) => panic!("{wrong}"),
    }
}

/// A floor with these angles, in degrees.
pub fn floor(advancing: f64, receding: f64) -> String {
    format!(
        "[materials.m]\nadvancing = \"{advancing} deg\"\nreceding = \"{receding} deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\n"
    )
}

/// A world and the drops in it, stepped without remeshing or topology.
pub struct Bare {
    pub world: Ground,
    pub drops: Vec<Drop>,
    pub edge: f64,
    pub settle: bool,
    pub self_merge: bool,
    pub scratch: Scratch,
    pub liquid: Liquid,
}

impl Bare {
    pub fn new(tables: &str, edge: f64) -> Self {
        let scene = scene(tables);
        let world = World::build(&scene).unwrap();
        let drops = world
            .initial_drops()
            .iter()
            .enumerate()
            .map(|(i, drop)| {
                let mesh = crate::initial::surface(drop, &scene.drops[i].shape, &world, edge).unwrap();
                Drop::new(i as u32 + 1, mesh, drop.volume(), drop.velocity())
            })
            .collect();
        let world = Ground::new(world);
        Self {
            world,
            drops,
            edge,
            settle: scene.time.settle,
            self_merge: false,
            scratch: Scratch::default(),
            liquid: scene.liquid,
        }
    }

    pub fn step(&mut self, dt: f64) -> Vec<crate::advance::Advanced> {
        self.each(dt, advance)
    }

    /// A step with contact, remeshing and checks; of those that have to go in shorter turns, none.
    pub fn full_step(&mut self, dt: f64) -> Vec<crate::stepper::Stepped> {
        self.each(dt, step_drop)
    }

    fn each<T>(&mut self, dt: f64, act: impl Fn(&mut Drop, &Setting<'_>, &mut Scratch) -> T) -> Vec<T> {
        let before = self.world.clone();
        self.world.world.advance_to(before.time() + dt);
        let gravity: DVec3 = 0.5 * (before.gravity() + self.world.gravity());
        let setting = Setting {
            before: &before,
            after: &self.world,
            gravity,
            dt,
            shortest_step: dt,
            liquid: &self.liquid,
            edge: self.edge,
            settle: self.settle,
            self_merge: self.self_merge,
            paper: None,
        };
        let scratch = &mut self.scratch;
        self.drops.iter_mut().map(|drop| act(drop, &setting, scratch)).collect()
    }
}

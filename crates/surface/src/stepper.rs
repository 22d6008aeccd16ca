//! One drop's step as a table of contents, and what comes of its necks.

use glam::DVec3;
use sessile_world::World;

use crate::advance::{Advanced, advance, restore_volume};
use crate::contact::touch;
use crate::drops::{Drop, Scratch, Setting};
use crate::mesh::Mesh;
use crate::remesh::remesh;
use crate::shape::{Shape, ball_radius};

/// Passes of the remesher over a surface that comes from elsewhere.
const FRESH_PASSES: usize = 4;
/// A part of a cut drop with fewer triangles than this is no drop: a single tetrahedron.
const LEAST_TRIANGLES: usize = 5;
/// Nor is one whose ball is smaller than this part of the scene's shortest edge; what it held goes to the others.
const LEAST_RADIUS: f64 = 0.25;
/// Speed below which a drop is at rest, over its capillary speed √(σ/ρR).
const CALM: f64 = 1e-4;
/// Simulated time that a drop must be calm before it sleeps, in s.
const CALM_TIME: f64 = 0.05;

/// What a step of one drop did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stepped {
    /// The solve.
    pub advanced: Advanced,
    /// Waists cut: the surface may be in several parts now.
    pub cuts: usize,
}

/// Moves a drop over a step and keeps its contact and its mesh in order.
pub fn step_drop(drop: &mut Drop, setting: &Setting<'_>, scratch: &mut Scratch) -> Stepped {
    let edge = drop.target_edge(setting.edge);
    let advanced = advance(drop, setting, scratch);
    let touched = touch(drop, edge, setting.after, scratch);
    let remeshed = remesh(drop, edge, setting.after, scratch);
    if touched.changed() || remeshed.changed() {
        refit(drop, setting.after, &mut scratch.shape);
    }
    rest(drop, &advanced, setting, touched.changed());
    Stepped { advanced, cuts: remeshed.cuts }
}

/// Gives a drop whose surface was changed its volume again.
pub fn refit(drop: &mut Drop, world: &World, shape: &mut Shape) {
    shape.read(&drop.mesh, world);
    restore_volume(drop, shape);
}

/// Counts the steps at rest, and lets a drop sleep.
fn rest(drop: &mut Drop, advanced: &Advanced, setting: &Setting<'_>, changed: bool) {
    let liquid = setting.liquid;
    let speed = (liquid.surface_tension / (liquid.density * ball_radius(drop.volume))).sqrt();
    let calm = !changed && advanced.stir < CALM * speed && drop.mesh.touches();
    drop.calm = if calm { drop.calm + 1 } else { 0 };
    drop.asleep = f64::from(drop.calm) * setting.dt > CALM_TIME;
}

/// Makes a surface that comes from elsewhere ready for steps: edges of the right length, the right volume.
pub fn make_ready(drop: &mut Drop, world: &World, shortest: f64, scratch: &mut Scratch) {
    let edge = drop.target_edge(shortest);
    for _ in 0..FRESH_PASSES {
        let done = remesh(drop, edge, world, scratch);
        refit(drop, world, &mut scratch.shape);
        if !done.changed() {
            break;
        }
    }
}

/// A drop's connected parts as drops of their own, largest first, with its volume and momentum shared between them; ids are still the drop's. One
/// entry if it is whole.
pub fn parts(drop: Drop, world: &World, shortest: f64, scratch: &mut Scratch) -> Vec<Drop> {
    let lists = drop.mesh.parts();
    if lists.len() < 2 {
        return vec![drop];
    }
    let mut meshes: Vec<Mesh> = lists.iter().map(|list| drop.mesh.extract(list)).collect();
    meshes.sort_by(|a, b| b.volume().total_cmp(&a.volume()));
    let largest = meshes[0].volume();
    meshes.retain(|mesh| {
        let volume = mesh.volume();
        volume == largest || (mesh.triangles.len() >= LEAST_TRIANGLES && ball_radius(volume) > LEAST_RADIUS * shortest)
    });
    let Some(total) = meshes.iter().map(Mesh::volume).reduce(|a, b| a + b) else { return vec![drop] };
    let mut made: Vec<Drop> = meshes
        .into_iter()
        .map(|mesh| {
            scratch.shape.read(&mesh, world);
            let velocity = scratch.shape.rigid_velocity(&mesh.velocities);
            let volume = drop.volume * mesh.volume() / total;
            Drop { id: drop.id, mesh, volume, velocity, pressure: drop.pressure, calm: 0, asleep: false }
        })
        .collect();
    let carried: DVec3 = made.iter().map(|part| part.velocity * part.volume).sum();
    let missing = drop.velocity - carried / drop.volume;
    for part in &mut made {
        part.velocity += missing;
        part.mesh.velocities.iter_mut().for_each(|v| *v += missing);
        refit(part, world, &mut scratch.shape);
    }
    made
}

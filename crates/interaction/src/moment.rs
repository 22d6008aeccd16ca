//! The present moment of a session as a scene: its drops become the drops of the scene, and what
//! was changed by hand its settings.
//!
//! With it a session is saved, and continued with another model or liquid.

use glam::{DMat3, DVec2, DVec3};
use sessile_model::{DROP_STRIDE, Model, View};
use sessile_scene::{Amount, Drop, DropShape, Emitter, EmitterKind, Keyed, Material, Scene, Varying};
use sessile_wetting::SlidingLaw;

/// The scene as it is now.
pub fn scene_of_now(scene: &Scene, model: &dyn Model) -> Scene {
    let mut now = scene.clone();
    let world = model.world();
    now.world.gravity = Keyed { keys: vec![(0.0, world.gravity())] };
    now.world.tilt = Keyed { keys: vec![(0.0, 0.0)] };
    now.world.wind = world.wind();
    for (index, solid) in world.solids().iter().enumerate() {
        let pose = solid.world_from_rest();
        if pose.rotation == DMat3::IDENTITY {
            now.solids[index].shift += pose.translation;
            if solid.is_moved_by_hand() {
                now.solids[index].motion.clear();
            }
        }
        if let Some(wetting) = world.material_by_hand(index) {
            let name = format!("{}-by-hand", now.solids[index].name);
            let base = now.materials.iter().find(|material| material.name == now.solids[index].material).cloned();
            let Some(base) = base else { continue };
            now.materials.retain(|material| material.name != name);
            now.materials.push(Material {
                name: name.clone(),
                advancing: Varying::Uniform(wetting.advancing),
                receding: Varying::Uniform(wetting.receding),
                wet_advancing: wetting.wet_advancing.map(Varying::Uniform),
                ..base
            });
            now.solids[index].material = name;
        }
    }
    if !world.sources_open() {
        now.emitters.clear();
    }
    let time = model.time();
    now.emitters.retain_mut(|emitter| begin_anew(emitter, time));
    now.drops = if model.time() == 0.0 { scene.drops.clone() } else { drops(scene, model) };
    now
}

/// A scene of the present moment with the sources that were placed by hand.
pub fn with_placed(mut scene: Scene, model: &dyn Model) -> Scene {
    for (_, start, source) in model.world().placed_sources() {
        let mut emitter = source.emitter(start);
        if begin_anew(&mut emitter, model.time()) {
            scene.emitters.push(emitter);
        }
    }
    scene
}

/// Counts the times of an emitter from `now` (in s) on, where a drip keeps its rhythm; returns
/// whether it emits anything after that.
fn begin_anew(emitter: &mut Emitter, now: f64) -> bool {
    let mut start = emitter.start - now;
    if let EmitterKind::Drip { every, .. } = emitter.kind
        && start < 0.0
    {
        start += every * (-start / every).ceil();
    }
    (emitter.start, emitter.stop) = (start.max(0.0), emitter.stop - now);
    emitter.stop > emitter.start
}

/// All drops as caps and spheres.
fn drops(scene: &Scene, model: &dyn Model) -> Vec<Drop> {
    let mut view = View::default();
    model.view(&mut view);
    let vector = |v: &[f32]| DVec3::new(f64::from(v[0]), f64::from(v[1]), f64::from(v[2]));
    let mut drops: Vec<Drop> = view
        .drops
        .chunks_exact(DROP_STRIDE)
        .map(|drop| {
            let (center, volume) = (vector(drop), f64::from(drop[16]));
            let on = (drop[18] >= 0.0).then_some(drop[18] as usize);
            let angle = on.map_or(0.0, |on| {
                // The angle at which a cap under gravity has this base radius.
                let world = model.world();
                let law = SlidingLaw::new(&scene.liquid, &world.solids()[on].wetting_at(DVec2::splat(0.5)));
                let normal = -world.gravity().dot(vector(&drop[3..]));
                law.angle_at(&scene.liquid, volume, f64::from(drop[9]), normal, 0.0)
            });
            new_drop(on, center, volume, angle, vector(&drop[13..]))
        })
        .collect();
    let surface = &view.surface;
    for (&id, &volume) in surface.ids.iter().zip(&surface.volumes) {
        let own = (0..surface.drops.len()).filter(|&v| surface.drops[v] == id);
        let [mut sum, mut velocity] = [DVec3::ZERO; 2];
        let mut count = 0.0;
        for vertex in own {
            sum += vector(&surface.positions[3 * vertex..]);
            velocity += vector(&surface.velocities[3 * vertex..]);
            count += 1.0;
        }
        if count == 0.0 {
            continue;
        }
        let wets = |t: &usize| surface.solids[*t] >= 0 && surface.drops[surface.triangles[3 * t] as usize] == id;
        let on = (0..surface.solids.len()).find(wets).map(|t| surface.solids[t] as usize);
        let angle = on.map_or(1.0, |on| model.world().solids()[on].wetting_at(DVec2::splat(0.5)).advancing);
        drops.push(new_drop(on, sum / count, f64::from(volume), angle, velocity / count));
    }
    drops
}

fn new_drop(on: Option<usize>, center: DVec3, volume: f64, angle: f64, velocity: DVec3) -> Drop {
    let amount = Amount::Volume(volume);
    let shape = match on {
        Some(on) => DropShape::Cap { on, center, amount, contact_angle: angle.clamp(0.02, 3.1) },
        None => DropShape::Sphere { center, amount, mode: 0, amplitude: 0.0, axis: DVec3::Y },
    };
    Drop { shape, velocity: if on.is_some() { DVec3::ZERO } else { velocity } }
}

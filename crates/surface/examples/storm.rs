//! Stress test: drops with random velocities collide in a box and on a bunny.
//!
//! ```text
//! cargo run --release -p sessile-surface --example storm -- [SEED] [DROPS] [SECONDS] [STATE]
//! ```
//!
//! The defaults are 1, 2000 and 10; `scripts/storm` runs several seeds. With STATE, a file, the
//! state is saved there every 0.1 s and the run resumes from it. Every surface is checked after
//! every step: the run fails at the first mesh that is not closed, manifold and finite, and where
//! the volume is off by 0.1 %. It reports how many surfaces were rebuilt, and how many intersect
//! themselves at the end.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use glam::DVec3;
use sessile_model::{Model, NoTimer};
use sessile_scene::{Folder, parse_str};
use sessile_surface::SurfaceModel;
use sessile_world::World;
use sessile_world::random::Stream;

/// Edge of the box, in mm.
const SIZE: f64 = 100.0;
/// Height of the bunny, in mm.
const BUNNY: f64 = 40.0;
/// Largest speed along an axis, in m/s.
const SPEED: f64 = 0.5;

/// The walls of the box, with a bunny on the floor.
fn room() -> String {
    let mut text = String::from("[materials.m]\nadvancing = \"100 deg\"\nreceding = \"70 deg\"\n");
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let (mut point, mut normal) = ([0.0; 3], [0.0; 3]);
            (point[axis], normal[axis]) = (side * 0.5 * SIZE, -side);
            if axis == 1 {
                point[1] += 0.5 * SIZE;
            }
            let [x, y, z] = point;
            let _ = writeln!(
                text,
                "[[solids]]\nname = \"s{axis}{side}\"\nmaterial = \"m\"\nshape = \"plane\"\npoint = \"{x} {y} {z} mm\"\nnormal = {normal:?}"
            );
        }
    }
    let _ = writeln!(
        text,
        "[[solids]]\nname = \"bunny\"\nmaterial = \"m\"\nshape = \"mesh\"\nfile = \"bunny.obj\"\nheight = \"{BUNNY} mm\""
    );
    text
}

/// Spheres of 0.5 to 3 mm diameter at random positions above the bunny, without overlap.
fn spheres(seed: u64, count: usize) -> String {
    let mut random = Stream::new(seed, &[7]);
    let mut placed: Vec<(DVec3, f64)> = Vec::new();
    let mut text = String::new();
    let mut tries = 0;
    while placed.len() < count && tries < 200 * count {
        tries += 1;
        let radius = random.uniform_in(0.25, 1.5);
        let reach = 0.5 * SIZE - radius - 0.1;
        let position = DVec3::new(
            random.uniform_in(-reach, reach),
            random.uniform_in(BUNNY + 2.0, SIZE - 2.0),
            random.uniform_in(-reach, reach),
        );
        if placed.iter().any(|(other, r)| other.distance(position) < r + radius + 0.1) {
            continue;
        }
        placed.push((position, radius));
        let [u, v, w] = [0; 3].map(|_| random.uniform_in(-SPEED, SPEED));
        let _ = write!(
            text,
            "[[drops]]\nshape = \"sphere\"\nradius = \"{radius} mm\"\ncenter = \"{} {} {} mm\"\nvelocity = \"{u} {v} {w} m/s\"\n",
            position.x, position.y, position.z
        );
    }
    text
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |default: f64| arguments.next().map_or(Ok(default), |text| text.parse::<f64>());
    let (seed, count, seconds) = (next(1.0)? as u64, next(2000.0)? as usize, next(10.0)?);
    let state_file = arguments.next().map(PathBuf::from);
    let text = format!(
        "model = \"surface\"\n[time]\nduration = \"{seconds} s\"\nframe = \"0.1 s\"\n{}{}",
        room(),
        spheres(seed, count)
    );
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets");
    let scene = parse_str("storm", &text, &[], &Folder::new(&assets)).map_err(|wrong| wrong.to_string())?.scene;
    let mut model = SurfaceModel::new(&scene, World::build(&scene)?)?;
    let volume = model.volume();
    println!("seed {seed}: {} drops, {} triangles", model.num_drops()[0], model.num_triangles()[0]);
    if let Some(state) = state_file.as_ref().and_then(|file| std::fs::read(file).ok()) {
        model.restore(&state)?;
        println!("seed {seed}: resumed at {:.2} s", model.time());
    }
    let (mut steps, mut shown, mut drop_steps) = (0_u64, model.time(), 0_u64);
    while model.time() < seconds - 1e-9 {
        model.step(0.1, &mut NoTimer)?;
        steps += 1;
        drop_steps += model.num_drops()[1] as u64;
        model.check_surfaces().map_err(|defect| format!("{} s: {defect}", model.time()))?;
        let lost = model.balance().lost;
        let off = (model.volume() + lost) / volume - 1.0;
        let apart = model.enclosed_volume() / model.volume() - 1.0;
        if off.abs() > 1e-3 || apart.abs() > 1e-3 || lost > 0.0 {
            return Err(format!(
                "at {} s the volume balance is off by {off:e}, the surfaces by {apart:e}, lost {lost:e}",
                model.time()
            )
            .into());
        }
        if model.time() - shown >= 0.1 {
            shown = model.time();
            if let Some(file) = &state_file {
                std::fs::write(file, model.save())?;
            }
            let [triangles, awake] = model.num_triangles();
            println!(
                "seed {seed}: {shown:.2} s, {} drops, {triangles} triangles, {awake} awake, {steps} steps, {} rebuilt, {:?}, volume off by {off:.1e}",
                model.num_drops()[0],
                model.num_rebuilt(),
                model.merge_counts()
            );
        }
    }
    let crossing = model.num_self_intersecting();
    println!(
        "seed {seed}: done, {} drops, {} of {drop_steps} drop steps rebuilt, {:?}, {crossing} surfaces intersect themselves at the end",
        model.num_drops()[0],
        model.num_rebuilt(),
        model.merge_counts()
    );
    Ok(())
}

//! A storm: drops with random velocities collide in a box and on a bunny, and every surface is checked after every step.
//!
//! `cargo run --release -p sessile-surface --example storm -- [SEED] [DROPS] [SECONDS] [STATE]` (1, 2000 and 10 without); `scripts/storm` runs several seeds. With
//! STATE, a file, the storm is kept there every 0.1 s and goes on from it. Ends with an error at the first surface that is torn, turned inside out or not a number, and where the volume is off by 0.1 %. Says how often surfaces had to be made anew,
//! and how many cross themselves at the end.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use glam::DVec3;
use sessile_model::{Model, NoTimer};
use sessile_scene::{Folder, parse_str};
use sessile_surface::SurfaceModel;
use sessile_surface::validate::{check, check_crossings};
use sessile_world::World;
use sessile_world::random::Stream;

/// Edge of the box, in mm.
const SIZE: f64 = 100.0;
/// Height of the bunny, in mm.
const BUNNY: f64 = 40.0;
/// Largest speed along an axis, in m/s.
const SPEED: f64 = 0.5;

/// The walls of the box, and a bunny on its floor.
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

/// Balls of 0.5 to 3 mm across at random places that are free, above the bunny and around it.
fn balls(seed: u64, count: usize) -> String {
    let mut random = Stream::new(seed, &[7]);
    let mut placed: Vec<(DVec3, f64)> = Vec::new();
    let mut text = String::new();
    let mut tries = 0;
    while placed.len() < count && tries < 200 * count {
        tries += 1;
        let radius = random.uniform_in(0.25, 1.5);
        let reach = 0.5 * SIZE - radius - 0.1;
        let place = DVec3::new(
            random.uniform_in(-reach, reach),
            random.uniform_in(BUNNY + 2.0, SIZE - 2.0),
            random.uniform_in(-reach, reach),
        );
        if placed.iter().any(|(other, r)| other.distance(place) < r + radius + 0.1) {
            continue;
        }
        placed.push((place, radius));
        let [u, v, w] = [0; 3].map(|_| random.uniform_in(-SPEED, SPEED));
        let _ = write!(
            text,
            "[[drops]]\nshape = \"sphere\"\nradius = \"{radius} mm\"\ncenter = \"{} {} {} mm\"\nvelocity = \"{u} {v} {w} m/s\"\n",
            place.x, place.y, place.z
        );
    }
    text
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |default: f64| arguments.next().map_or(Ok(default), |text| text.parse::<f64>());
    let (seed, count, seconds) = (next(1.0)? as u64, next(2000.0)? as usize, next(10.0)?);
    let kept = arguments.next().map(PathBuf::from);
    let text = format!(
        "model = \"surface\"\n[time]\nduration = \"{seconds} s\"\nframe = \"0.1 s\"\n{}{}",
        room(),
        balls(seed, count)
    );
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets");
    let scene = parse_str("storm", &text, &[], &Folder::new(&assets)).map_err(|wrong| wrong.to_string())?.scene;
    let mut model = SurfaceModel::new(&scene, World::build(&scene)?)?;
    let volume = model.volume();
    println!("seed {seed}: {} drops, {} triangles", model.drops().len(), model.num_triangles()[0]);
    if let Some(state) = kept.as_ref().and_then(|file| std::fs::read(file).ok()) {
        model.restore(&state)?;
        println!("seed {seed}: goes on from {:.2} s", model.time());
    }
    let (mut steps, mut shown, mut turns) = (0_u64, model.time(), 0_u64);
    while model.time() < seconds - 1e-9 {
        model.step(0.1, &mut NoTimer)?;
        steps += 1;
        turns += model.drops().iter().filter(|drop| !drop.asleep).count() as u64;
        for drop in model.drops().iter().filter(|drop| !drop.asleep) {
            check(&drop.mesh).map_err(|flaw| format!("drop {} at {} s: {flaw}", drop.id, model.time()))?;
        }
        let lost = model.balance().lost;
        let off = (model.volume() + lost) / volume - 1.0;
        let surfaces: f64 = model.drops().iter().map(|drop| drop.mesh.volume()).sum();
        let apart = surfaces / model.volume() - 1.0;
        if off.abs() > 1e-3 || apart.abs() > 1e-3 || lost > 0.0 {
            return Err(format!(
                "at {} s the books are off by {off:e}, surfaces by {apart:e}, lost {lost:e}",
                model.time()
            )
            .into());
        }
        if model.time() - shown >= 0.1 {
            shown = model.time();
            if let Some(file) = &kept {
                std::fs::write(file, model.save())?;
            }
            let [triangles, awake] = model.num_triangles();
            println!(
                "seed {seed}: {shown:.2} s, {} drops, {triangles} triangles, {awake} awake, {steps} steps, {} made anew, {:?}, volume off by {off:.1e}",
                model.drops().len(),
                model.num_healed(),
                model.merged()
            );
        }
    }
    let crossing = model.drops().iter().filter(|drop| check_crossings(&drop.mesh).is_err()).count();
    println!(
        "seed {seed}: done, {} drops, {} of {turns} turns made anew, {:?}, {crossing} surfaces cross themselves at the end",
        model.drops().len(),
        model.num_healed(),
        model.merged()
    );
    Ok(())
}

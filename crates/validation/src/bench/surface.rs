//! Benchmarks of the surface model.

use std::collections::BTreeMap;

use glam::DVec3;
use sessile_frames::FrameGeometry;
use sessile_model::{Model, NoTimer, StageTimer};
use sessile_scene::{Files, Folder, NoFiles, parse_str};
use sessile_surface::SurfaceModel;
use sessile_world::World;
use sessile_world::random::Stream;

use super::{Bench, BenchContext};
use crate::validate::CaseError;

/// Frame interval, in s.
const FRAME: f64 = 1.0 / 30.0;
/// The paper's operators, one step per frame. Friction retains small drops; larger ones slide
/// slowly.
const PAPER: Settings = Settings {
    head: "fidelity = \"paper\"\n",
    parameters: "[surface]\ndt = \"33.4 ms\"\ngamma = 1\nfriction = \"50 mm/s\"\n",
};
/// The paper's operators with their defaults: drops choose their substeps, and those of more than
/// some 2 µL slide on a vertical pane.
const SLIDING: Settings = Settings { head: "fidelity = \"paper\"\n", parameters: "" };
/// Physical fidelity at four steps per frame: rest, retention and sliding without capillary waves.
const DAMPED: Settings = Settings { head: "", parameters: "[surface]\ndt = \"8.34 ms\"\n" };
/// Physical fidelity with capillary waves.
const WAVES: Settings = Settings { head: "", parameters: "" };

/// Fidelity and model parameters of a scene.
#[derive(Clone, Copy)]
struct Settings {
    head: &'static str,
    parameters: &'static str,
}

/// Benchmarks of the surface model.
pub(super) fn benches() -> Vec<Bench> {
    [growing_benches(), sliding_benches()].concat()
}

/// Benchmarks of drops that needles feed.
fn growing_benches() -> Vec<Bench> {
    vec![
        Bench {
            name: "surface-growing",
            about: "500 drops of 2 to 4 µL on a vertical pane of 90°/60°, each fed by a needle with 0.3 µL/s, all slide, none meets another, by the paper's operators: 30 frames of 1/30 s after the first ten. Target: 30 frames per second.",
            run: |context| growing(context, &APART),
        },
        Bench {
            name: "surface-growing-held",
            about: "As `surface-growing` with drops of 0.3 to 1.2 µL, which the pane holds until the largest begin to slide. Target: 30 frames per second.",
            run: |context| growing(context, &HELD),
        },
        Bench {
            name: "surface-growing-merging",
            about: "500 drops of 1 to 4 µL, 8 mm apart and each fed with 0.3 µL/s, start to slide and merge until 150 are left: 60 frames of 1/30 s from the start. Target: 30 frames per second.",
            run: |context| growing(context, &MERGING),
        },
    ]
}

/// Benchmarks of drops of constant volume.
fn sliding_benches() -> Vec<Bench> {
    vec![
        Bench {
            name: "surface-window",
            about: "180 drops of 5 to 40 µL slide down a vertical pane of 90°/80°, some 50 000 triangles, by the paper's operators: 30 frames of 1/30 s. Target: 30 frames per second.",
            run: |context| frames(context, window(SLIDING, 180)?, 30),
        },
        Bench {
            name: "surface-window-300",
            about: "As `surface-window` with 300 drops, some 80 000 triangles.",
            run: |context| frames(context, window(SLIDING, 300)?, 30),
        },
        Bench {
            name: "surface-window-20000",
            about: "As `surface-window` with 72 drops, some 20 000 triangles. Target: 60 frames per second.",
            run: |context| frames(context, window(SLIDING, 72)?, 30),
        },
        Bench {
            name: "surface-window-physical",
            about: "As `surface-window` with physical fidelity, four steps per frame, 10 frames. Target: 10 frames per second.",
            run: |context| frames(context, window(DAMPED, 180)?, 10),
        },
        Bench {
            name: "surface-leaf",
            about: "140 drops on a leaf of 150°/147°, some 30 000 triangles, by the paper's operators: 30 frames. Target: 35 frames per second.",
            run: |context| frames(context, leaf(SLIDING, 140)?, 30),
        },
        Bench {
            name: "surface-leaf-180",
            about: "As `surface-leaf` with 180 drops, some 40 000 triangles.",
            run: |context| frames(context, leaf(SLIDING, 180)?, 30),
        },
        Bench {
            name: "surface-leaf-physical",
            about: "As `surface-leaf` with physical fidelity, four steps per frame, 10 frames. Target: 10 frames per second.",
            run: |context| frames(context, leaf(DAMPED, 140)?, 10),
        },
        Bench {
            name: "surface-mesh",
            about: "36 drops slide down a lumpy sphere of 14 000 triangles, some 10 000 triangles of water, by the paper's operators: five frames, six times from the start, before they merge at the bottom. Target: 30 frames per second.",
            run: |context| spells(context, lumpy(PAPER)?, 6, 5),
        },
        Bench {
            name: "surface-mesh-physical",
            about: "As `surface-mesh` with physical fidelity, four steps per frame: three frames, four times. Target: 10 frames per second.",
            run: |context| spells(context, lumpy(DAMPED)?, 4, 3),
        },
        Bench {
            name: "surface-waves",
            about: "12 drops of some 3000 triangles slide with capillary waves, for 0.2 s in steps of 1 ms. Target: real time.",
            run: |context| waves(context, 12, 0.2),
        },
        Bench {
            name: "surface-large-drop",
            about: "One drop of 100 µL of some 20 000 triangles settles from a cap of 60° to 90°, for 20 ms in steps of 1 ms.",
            run: large,
        },
        Bench {
            name: "surface-scaling",
            about: "Sliding drops with capillary waves at 1000, 10 000, 100 000 and 1 000 000 triangles, a few steps each: CPU time per step and 1000 triangles, and the exponent of its growth.",
            run: scaling,
        },
        Bench {
            name: "surface-coalescence",
            about: "40 spheres without gravity collide and merge, for 20 ms.",
            run: merges,
        },
    ]
}

fn build(settings: Settings, tables: &str) -> Result<SurfaceModel, CaseError> {
    build_with(settings, tables, &NoFiles)
}

fn build_with(settings: Settings, tables: &str, files: &dyn Files) -> Result<SurfaceModel, CaseError> {
    let Settings { head, parameters } = settings;
    let text =
        format!("model = \"surface\"\n{head}[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n{parameters}{tables}");
    let scene = parse_str("bench.toml", &text, &[], files).map_err(|wrong| wrong.to_string())?.scene;
    Ok(SurfaceModel::new(&scene, World::build(&scene)?)?)
}

/// Simulates `seconds`, timed; returns the number of steps.
fn run(context: &mut BenchContext, model: &mut SurfaceModel, seconds: f64) -> Result<usize, CaseError> {
    let end = model.time() + seconds;
    context.time(seconds, |clock| {
        let mut steps = 0;
        while model.time() < end - 1e-9 {
            model.step(end - model.time(), clock as &mut dyn StageTimer)?;
            steps += 1;
        }
        Ok(steps)
    })
}

/// Adds sizes and rates; `triangles` is the mean number over the timed part.
fn report(context: &mut BenchContext, model: &SurfaceModel, steps: usize, triangles: f64) {
    let [left, awake] = model.num_triangles();
    context.figure("drops at the end", model.num_drops()[0] as f64, "");
    context.figure("triangles, mean", triangles, "");
    context.figure("triangles at the end", left as f64, "");
    context.figure("awake at the end", awake as f64, "");
    context.figure("steps", steps as f64, "");
    let per = context.cpu_seconds() / (steps as f64 * triangles);
    context.figure("CPU time per step and 1000 triangles", 1e6 * per, "ms");
    context.figure("steps per second", steps as f64 / context.wall_seconds(), "1/s");
    context.figure("surfaces made anew", model.num_rebuilt() as f64, "");
}

/// Steps through frames on the clock from the start.
fn frames(context: &mut BenchContext, mut model: SurfaceModel, count: usize) -> Result<(), CaseError> {
    frames_of(context, &mut model, count)
}

/// Steps through so many frames on the clock, then again from the start, so many times.
fn spells(context: &mut BenchContext, mut model: SurfaceModel, times: usize, count: usize) -> Result<(), CaseError> {
    let start = model.save();
    let mut sums = FrameSums::default();
    for _ in 0..times {
        model.restore(&start)?;
        for _ in 0..count {
            sums.step(context, &mut model)?;
        }
    }
    sums.report(context, &model);
    Ok(())
}

/// Steps through frames on the clock.
fn frames_of(context: &mut BenchContext, model: &mut SurfaceModel, count: usize) -> Result<(), CaseError> {
    let mut sums = FrameSums::default();
    for _ in 0..count {
        sums.step(context, model)?;
    }
    sums.report(context, model);
    Ok(())
}

/// Sums over frames.
#[derive(Default)]
struct FrameSums {
    frames: usize,
    steps: usize,
    triangles: usize,
    /// Wall time of the slowest frame, in s.
    slowest: f64,
}

impl FrameSums {
    /// Steps through one frame on the clock.
    fn step(&mut self, context: &mut BenchContext, model: &mut SurfaceModel) -> Result<(), CaseError> {
        let before = context.wall_seconds();
        self.steps += run(context, model, FRAME)?;
        self.slowest = self.slowest.max(context.wall_seconds() - before);
        self.triangles += model.num_triangles()[0];
        self.frames += 1;
        Ok(())
    }

    fn report(&self, context: &mut BenchContext, model: &SurfaceModel) {
        let count = self.frames as f64;
        report(context, model, self.steps, self.triangles as f64 / count);
        context.figure("frames per second", count / context.wall_seconds(), "1/s");
        context.figure("slowest frame", 1e3 * self.slowest, "ms");
        // What a frame takes of cores that others use, too: on cores of its own all but the serial
        // stages is shared between them.
        context.figure("CPU time per frame", 1e3 * context.cpu_seconds() / count, "ms");
    }
}

/// Caps on a plane through the origin that rises along `up`: side by side in rows so far apart that
/// none runs into the next.
fn rows(count: usize, up: DVec3) -> String {
    let across = 5 * (count as f64).sqrt().ceil() as usize;
    let mut random = Stream::new(1, &[5]);
    let mut text = String::new();
    for i in 0..count {
        let place = DVec3::X * (12.0 * (i % across) as f64) + up * (500.0 * (i / across) as f64);
        let volume = random.uniform_in(5.0, 40.0);
        text += &format!(
            "[[drops]]\nshape = \"cap\"\non = \"s\"\ncenter = \"{} {} {} mm\"\nvolume = \"{volume} uL\"\ncontact_angle = \"75 deg\"\n",
            place.x, place.y, place.z
        );
    }
    text
}

fn window(settings: Settings, count: usize) -> Result<SurfaceModel, CaseError> {
    let pane = "[materials.m]\nadvancing = \"90 deg\"\nreceding = \"80 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, 0, 1]\nsize = \"2 2 m\"\n";
    build(settings, &format!("{pane}{}", rows(count, DVec3::Y)))
}

/// Growing drops on a vertical pane of 90°/60°, each fed by a needle.
struct Growing {
    /// Range of their volumes, in µL.
    volumes: [f64; 2],
    /// Number of columns, and the distances between columns and rows, in mm.
    columns: usize,
    spacing: [f64; 2],
    /// Frames before the clock starts, and on the clock.
    frames: [usize; 2],
}

const APART: Growing = Growing { volumes: [2.0, 4.0], columns: 50, spacing: [12.0, 120.0], frames: [10, 30] };
const HELD: Growing = Growing { volumes: [0.3, 1.2], columns: 25, spacing: [8.0, 8.0], frames: [10, 30] };
const MERGING: Growing = Growing { volumes: [1.0, 4.0], columns: 25, spacing: [8.0, 8.0], frames: [0, 60] };

/// Steps 500 growing drops through frames, and reports how far liquid slid on the clock.
fn growing(context: &mut BenchContext, setup: &Growing) -> Result<(), CaseError> {
    let mut tables = String::from(
        "[materials.m]\nadvancing = \"90 deg\"\nreceding = \"60 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, 0, 1]\nsize = \"2 4 m\"\n",
    );
    let mut random = Stream::new(1, &[9]);
    for k in 0..500 {
        let (x, y) = (setup.spacing[0] * (k % setup.columns) as f64, setup.spacing[1] * (k / setup.columns) as f64);
        let volume = random.uniform_in(setup.volumes[0], setup.volumes[1]);
        tables += &format!(
            "[[drops]]\nshape = \"cap\"\non = \"s\"\ncenter = \"{x} {y} 0 mm\"\nvolume = \"{volume} uL\"\ncontact_angle = \"80 deg\"\n\
             [[emitters]]\nkind = \"feed\"\nat = \"{x} {y} 0.3 mm\"\nrate = \"0.3 uL/s\"\n"
        );
    }
    let mut model = build(SLIDING, &tables)?;
    let [before, count] = setup.frames;
    while model.time() < FRAME * before as f64 - 1e-9 {
        model.step(FRAME * before as f64 - model.time(), &mut NoTimer)?;
    }
    let start = mean_height(&model);
    frames_of(context, &mut model, count)?;
    context.figure("mean path", 1e3 * (start - mean_height(&model)), "mm");
    Ok(())
}

/// Mean height of the liquid, in m, each drop at the mean of its vertices.
fn mean_height(model: &SurfaceModel) -> f64 {
    let frame = model.frame();
    let FrameGeometry::Surfaces(surface) = &frame.liquid else { return 0.0 };
    let mut heights: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (position, &drop) in surface.positions.iter().zip(&surface.drops) {
        let sum = heights.entry(drop).or_default();
        *sum = (sum.0 + position.y, sum.1 + 1.0);
    }
    let volume: f64 = frame.drops.iter().map(|drop| drop.volume).sum();
    let weighted = frame.drops.iter().filter_map(|drop| Some((drop.volume, heights.get(&drop.id)?)));
    weighted.map(|(volume, (sum, count))| volume * sum / count).sum::<f64>() / volume
}

/// A long leaf, a shallow valley that falls along its axis, with drops on both its slopes that roll
/// down.
fn leaf(settings: Settings, count: u32) -> Result<SurfaceModel, CaseError> {
    let mut tables = String::from(
        "[materials.m]\nadvancing = \"150 deg\"\nreceding = \"147 deg\"\n\
         [[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"leaf\"\naxis = [1, 0.1, 0]\nangle = \"178 deg\"\nsize = \"1000 60 mm\"\n",
    );
    let mut random = Stream::new(1, &[7]);
    for k in 0..count {
        let (x, z) = (10.0 * f64::from(k / 2) - 450.0, 20.0 * f64::from(k % 2) - 10.0);
        tables += &format!(
            "[[drops]]\nshape = \"cap\"\non = \"s\"\ncenter = \"{x} {} {z} mm\"\nvolume = \"{} uL\"\ncontact_angle = \"145 deg\"\n",
            0.1 * x,
            random.uniform_in(5.0, 20.0)
        );
    }
    build(settings, &tables)
}

/// A ball of 25 mm with lumps, of 14 000 triangles, with drops on its upper half.
fn lumpy(settings: Settings) -> Result<SurfaceModel, CaseError> {
    let rings = 84;
    let place = |i: usize, j: usize| {
        let (polar, turn) =
            (std::f64::consts::PI * i as f64 / rings as f64, std::f64::consts::TAU * j as f64 / rings as f64);
        let radius = 0.025 * (1.0 + 0.005 * (5.0 * turn).sin() * (4.0 * polar).sin());
        DVec3::new(polar.sin() * turn.cos(), polar.cos(), polar.sin() * turn.sin()) * radius
    };
    let mut mesh = String::new();
    for i in 1..rings {
        for j in 0..rings {
            let p = place(i, j);
            mesh += &format!("v {} {} {}\n", p.x, p.y, p.z);
        }
    }
    let (top, bottom) = ((rings - 1) * rings + 1, (rings - 1) * rings + 2);
    mesh += &format!("v 0 {} 0\nv 0 {} 0\n", place(0, 0).y, place(rings, 0).y);
    let vertex = |i: usize, j: usize| (i - 1) * rings + j % rings + 1;
    for j in 0..rings {
        mesh += &format!("f {top} {} {}\n", vertex(1, j + 1), vertex(1, j));
        mesh += &format!("f {bottom} {} {}\n", vertex(rings - 1, j), vertex(rings - 1, j + 1));
        for i in 1..rings - 1 {
            let [a, b, c, d] = [vertex(i, j), vertex(i, j + 1), vertex(i + 1, j + 1), vertex(i + 1, j)];
            mesh += &format!("f {a} {b} {c}\nf {a} {c} {d}\n");
        }
    }
    let mut tables = String::from(
        "[materials.m]\nadvancing = \"92 deg\"\nreceding = \"88 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"mesh\"\nfile = \"ball.obj\"\nscale = 1\n",
    );
    let mut random = Stream::new(1, &[8]);
    for k in 0..36 {
        // Even over the half ball: heights in even steps, turned by the golden angle.
        let height: f64 = 1.0 - 0.9 * (f64::from(k) + 0.5) / 36.0;
        let (turn, across) = (2.399_963 * f64::from(k), (1.0 - height * height).sqrt());
        let p = DVec3::new(across * turn.cos(), height, across * turn.sin()) * 25.0;
        tables += &format!(
            "[[drops]]\nshape = \"cap\"\non = \"s\"\ncenter = \"{} {} {} mm\"\nvolume = \"{} uL\"\ncontact_angle = \"75 deg\"\n",
            p.x,
            p.y,
            p.z,
            random.uniform_in(4.0, 12.0)
        );
    }
    let folder = std::env::temp_dir().join(format!("sessile-bench-surface-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("ball.obj"), mesh)?;
    let model = build_with(settings, &tables, &Folder::new(&folder));
    std::fs::remove_dir_all(&folder)?;
    model
}

/// Drops on a steep slope that hardly holds them.
fn slope(count: usize) -> Result<SurfaceModel, CaseError> {
    let plane = "[materials.m]\nadvancing = \"92 deg\"\nreceding = \"88 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, 1, 1]\nsize = \"2 2 m\"\n";
    build(WAVES, &format!("{plane}{}", rows(count, DVec3::new(0.0, 1.0, -1.0).normalize())))
}

fn waves(context: &mut BenchContext, count: usize, seconds: f64) -> Result<(), CaseError> {
    let mut model = slope(count)?;
    let steps = run(context, &mut model, seconds)?;
    report(context, &model, steps, model.num_triangles()[0] as f64);
    context.figure("simulated seconds per second", seconds / context.wall_seconds(), "");
    Ok(())
}

fn scaling(context: &mut BenchContext) -> Result<(), CaseError> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (drops, steps) in [(4, 60), (40, 20), (400, 6), (4000, 2)] {
        (context.report)(&format!("{drops} drops"));
        let mut model = slope(drops)?;
        // The first step fills memory that all others use.
        model.step(1e-3, &mut NoTimer)?;
        let before = context.cpu_seconds();
        run(context, &mut model, 1e-3 * f64::from(steps))?;
        let [triangles, _] = model.num_triangles();
        let each = (context.cpu_seconds() - before) / f64::from(steps);
        context.figure(
            format!("CPU time per step and 1000 triangles, at {triangles}"),
            1e6 * each / triangles as f64,
            "ms",
        );
        points.push(((triangles as f64).ln(), each.ln()));
    }
    let n = points.len() as f64;
    let (mx, my) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
    let (above, below) =
        points.iter().fold((0.0, 0.0), |(a, b), p| (a + (p.0 - mx) * (p.1 - my), b + (p.0 - mx).powi(2)));
    context.figure("power of the number of triangles", above / below, "");
    Ok(())
}

fn large(context: &mut BenchContext) -> Result<(), CaseError> {
    let tables = "[resolution]\nedge = \"0.06 mm\"\n[materials.m]\nadvancing = \"90 deg\"\nreceding = \"90 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\n\
                  [[drops]]\nshape = \"cap\"\non = \"s\"\nvolume = \"100 uL\"\ncontact_angle = \"60 deg\"\n";
    let mut model = build(WAVES, tables)?;
    let steps = run(context, &mut model, 0.02)?;
    report(context, &model, steps, model.num_triangles()[0] as f64);
    Ok(())
}

fn merges(context: &mut BenchContext) -> Result<(), CaseError> {
    let mut random = Stream::new(1, &[6]);
    let mut places: Vec<DVec3> = Vec::new();
    let mut tables = String::from("[world]\ngravity = \"0 0 0 m/s^2\"\n");
    while places.len() < 40 {
        let place = DVec3::from([0; 3].map(|_| random.uniform_in(-6.0, 6.0)));
        if places.iter().any(|other| other.distance(place) < 2.1) {
            continue;
        }
        let velocity = -0.05 * place;
        tables += &format!(
            "[[drops]]\nshape = \"sphere\"\nradius = \"1 mm\"\ncenter = \"{} {} {} mm\"\nvelocity = \"{} {} {} m/s\"\n",
            place.x, place.y, place.z, velocity.x, velocity.y, velocity.z
        );
        places.push(place);
    }
    let mut model = build(WAVES, &tables)?;
    let steps = run(context, &mut model, 0.02)?;
    report(context, &model, steps, model.num_triangles()[0] as f64);
    Ok(())
}

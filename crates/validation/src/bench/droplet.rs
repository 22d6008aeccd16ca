//! Benchmarks of the droplet model.

use glam::DVec3;
use sessile_droplet::DropletModel;
use sessile_frames::FrameGeometry;
use sessile_frames::instances::surface_with;
use sessile_model::{Model, NoTimer, StageTimer};
use sessile_scene::{Folder, NoFiles, parse_str};
use sessile_shapes::Detail;
use sessile_world::World;
use sessile_world::random::Stream;

use super::{Bench, BenchContext};
use crate::validate::CaseError;

/// Benchmarks of the droplet model.
pub(super) fn benches() -> Vec<Bench> {
    vec![
        Bench {
            name: "droplet-rectangle",
            about: "Table of the paper: 8000 droplets of random size cross a rectangle of 512 polygons by the paper's rules, without shapes, until \
                    the last has left. The paper reports 3.10 s in total.",
            run: rectangle,
        },
        Bench {
            name: "droplet-million",
            about: "A million droplets on a wavy slope of 100 000 triangles, a tenth of them sliding, for 10 frames of 1/30 s, without shapes. \
                    Droplets that merge or leave are replaced between frames, which is not timed.",
            run: |context| slope(context, &Work { droplets: 1_000_000, sliding: 100_000, cells: 224 }),
        },
        Bench {
            name: "droplet-quarter-million",
            about: "As `droplet-million`, with a quarter of the droplets and of the sliding ones: a quarter of the cost.",
            run: |context| slope(context, &Work { droplets: 250_000, sliding: 25_000, cells: 224 }),
        },
        Bench {
            name: "droplet-4x-triangles",
            about: "As `droplet-million`, on 400 000 triangles: about the same cost.",
            run: |context| slope(context, &Work { droplets: 1_000_000, sliding: 100_000, cells: 448 }),
        },
        Bench {
            name: "droplet-scaling",
            about: "As `droplet-million`, with 125 000, 250 000 and 500 000 droplets on 100 000 triangles and 250 000 on 25 000 and 400 000, three frames \
                    each: exponents of the cost in droplets and in triangles.",
            run: scaling,
        },
        Bench {
            name: "droplet-all-sliding",
            about: "A million droplets on the same slope, all of them sliding (a viscous liquid on a solid without retention), for 10 frames.",
            run: all_sliding,
        },
        Bench {
            name: "droplet-shapes",
            about: "20 000 droplets on the same slope, a tenth of them sliding, with the surfaces of all made at each of 10 frames, at the resolution of an image of \
                    the whole slope with 1080 lines.",
            run: |context| shapes(context, Some(1080.0)),
        },
        Bench {
            name: "droplet-shapes-fine",
            about: "As `droplet-shapes`, with edges of 0.2 mm, 10 to 40 around a droplet, as in a close-up image.",
            run: |context| shapes(context, None),
        },
    ]
}

struct Work {
    droplets: usize,
    sliding: usize,
    cells: usize,
}

/// Initial spacing of droplets, in m.
const SPACING: f64 = 8e-3;
/// A negligible time step, in s.
const TINY_STEP: f64 = 1e-6;
/// Frame interval, in s.
const FRAME: f64 = 1.0 / 30.0;
/// Volume of sliding droplets, slightly above the critical volume on acrylic (80°/58°) at 60°, in
/// m³.
const SLIDING_VOLUME: f64 = 14e-9;

/// The paper's rectangle.
fn rectangle(context: &mut BenchContext<'_>) -> Result<(), CaseError> {
    // 16 cuts along each side of the two triangles make 512.
    let text = "model = \"droplet\"\nfidelity = \"paper\"\n[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n[resolution]\nedge = \"7.6 mm\"\n\
         [droplet]\nfriction = \"0.02 g/s\"\n[materials.m]\nadvancing = \"80 deg\"\nreceding = \"58 deg\"\nroughness = \"1 um\"\n\
         [[solids]]\nname = \"rectangle\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, 1, 1]\nsize = \"256 256 mm\"\n";
    let scene = parse_str("bench", text, &[], &NoFiles)?.scene;
    let mut model = DropletModel::new(&scene, World::build(&scene)?)?;
    let mut random = Stream::new(3, &[]);
    for _ in 0..8000 {
        let (x, y) = (random.uniform_in(-0.125, 0.125), random.uniform_in(-0.088, 0.088));
        model.add_droplet(DVec3::new(x, y, -y), DVec3::ZERO, random.uniform_in(0.05e-9, 0.2e-9));
    }
    let polygons = model.num_triangles();
    let (mut frames, mut slowest) = (0_u32, 0.0_f64);
    // Droplets that leave the rectangle fall and are lost; a crossing takes about half a second.
    while model.num_droplets() > model.num_airborne() && frames < 600 {
        let began = std::time::Instant::now();
        context.time(FRAME, |stages| advance(&mut model, stages))?;
        slowest = slowest.max(began.elapsed().as_secs_f64());
        frames += 1;
    }
    context.figure("polygons", polygons as f64, "");
    context.figure("frames", f64::from(frames), "");
    context.figure("total time", context.wall_seconds(), "s");
    context.figure("slowest frame", 1e3 * slowest, "ms");
    context.figure("mean frame", 1e3 * context.wall_seconds() / f64::from(frames.max(1)), "ms");
    Ok(())
}

/// Advances by a frame and returns the number of steps.
fn advance(model: &mut DropletModel, stages: &mut dyn StageTimer) -> Result<u32, CaseError> {
    let end = model.time() + FRAME;
    let mut steps = 0;
    while end - model.time() > 1e-9 {
        model.step(end - model.time(), stages)?;
        steps += 1;
    }
    Ok(steps)
}

/// A wavy slope of 60° with 2·cells² triangles, and an empty model on it; `side` in m.
fn wavy(cells: usize, side: f64, liquid: &str, material: &str) -> Result<DropletModel, CaseError> {
    let folder = std::env::temp_dir().join(format!("sessile-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("slope.obj");
    let (sin, cos) = 60_f64.to_radians().sin_cos();
    let mut text = String::new();
    for j in 0..=cells {
        for i in 0..=cells {
            let [u, v] = [i, j].map(|k| side * (k as f64 / cells as f64 - 0.5));
            // Waves of a fifth of the side, steep by a tenth.
            let wave = std::f64::consts::TAU / (0.2 * side);
            let z = 0.1 / wave * (wave * u).sin() * (wave * v).cos();
            text += &format!("v {} {} {}\n", u, v * sin + z * cos, -v * cos + z * sin);
        }
    }
    let vertex = |i: usize, j: usize| j * (cells + 1) + i + 1;
    for j in 0..cells {
        for i in 0..cells {
            let [a, b, c, d] = [vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)];
            text += &format!("f {a} {b} {c}\nf {a} {c} {d}\n");
        }
    }
    std::fs::write(&file, text)?;
    let scene = format!(
        "model = \"droplet\"\n[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n[liquid]\n{liquid}\n[materials.m]\n{material}\n\
         [[solids]]\nname = \"slope\"\nmaterial = \"m\"\nshape = \"mesh\"\nfile = \"slope.obj\"\nscale = 1\n"
    );
    let scene = parse_str("bench", &scene, &[], &Folder::new(&folder)).map_err(|wrong| wrong.to_string())?.scene;
    let world = World::build(&scene);
    std::fs::remove_dir_all(&folder)?;
    Ok(DropletModel::new(&scene, world?)?)
}

const ACRYLIC: &str = "advancing = \"80 deg\"\nreceding = \"58 deg\"";

/// A point near the slope, by its two coordinates along it, in m; the model projects it onto the
/// slope.
fn near(u: f64, v: f64) -> DVec3 {
    let (sin, cos) = 60_f64.to_radians().sin_cos();
    DVec3::new(u, v * sin, -v * cos)
}

fn filled(context: &BenchContext<'_>, work: &Work, random: &mut Stream) -> Result<(DropletModel, f64), CaseError> {
    let columns = (work.droplets as f64).sqrt().ceil() as usize;
    let spacing = SPACING;
    let side = spacing * columns as f64;
    (context.report)("building the slope");
    let mut model = wavy(work.cells, 1.02 * side, "preset = \"water\"", ACRYLIC)?;
    (context.report)("placing droplets");
    let every = work.droplets / work.sliding;
    for index in 0..work.droplets {
        let (i, j) = (index % columns, index / columns);
        let [u, v] = [i, j].map(|k| (k as f64 + 0.5 + 0.3 * (random.uniform() - 0.5)) * spacing - 0.5 * side);
        let slides = (index + 3 * j).is_multiple_of(every);
        model.add_droplet(
            near(u, v),
            DVec3::ZERO,
            if slides { SLIDING_VOLUME } else { random.uniform_in(0.02e-9, 0.2e-9) },
        );
    }
    // The deposition of a million droplets is not timed.
    model.step(TINY_STEP, &mut NoTimer)?;
    Ok((model, side))
}

/// Replaces missing droplets and sliding droplets at random positions; those that land on others
/// merge here.
fn replenish(model: &mut DropletModel, work: &Work, side: f64, random: &mut Stream) -> Result<(), CaseError> {
    let mut position = || near(side * (random.uniform() - 0.5), side * (random.uniform() - 0.5));
    for _ in model.num_sliding()..work.sliding {
        model.add_droplet(position(), DVec3::ZERO, SLIDING_VOLUME);
    }
    for _ in model.num_droplets()..work.droplets {
        model.add_droplet(position(), DVec3::ZERO, 0.1e-9);
    }
    model.step(TINY_STEP, &mut NoTimer)?;
    Ok(())
}

fn slope(context: &mut BenchContext<'_>, work: &Work) -> Result<(), CaseError> {
    let mut random = Stream::new(1, &[]);
    let (mut model, side) = filled(context, work, &mut random)?;
    let frames = 10_u32;
    let (mut droplets, mut running) = (0, 0);
    let mut steps = 0;
    for frame in 0..frames {
        replenish(&mut model, work, side, &mut random)?;
        droplets += model.num_droplets();
        running += model.num_sliding();
        (context.report)(&format!("frame {frame}: {} droplets, {} sliding", model.num_droplets(), model.num_sliding()));
        steps += context.time(FRAME, |stages| advance(&mut model, stages))?;
    }
    context.figure("triangles", model.num_triangles() as f64, "");
    context.figure("steps per frame", f64::from(steps) / f64::from(frames), "");
    context.figure("droplets, mean", droplets as f64 / f64::from(frames), "");
    context.figure("sliding, mean", running as f64 / f64::from(frames), "");
    context.figure("frames per second", f64::from(frames) / context.wall_seconds(), "1/s");
    Ok(())
}

/// CPU time of frames with several numbers of droplets and of triangles, as powers of both.
fn scaling(context: &mut BenchContext<'_>) -> Result<(), CaseError> {
    let mut cost = |droplets: usize, cells: usize| -> Result<f64, CaseError> {
        let work = Work { droplets, sliding: droplets / 10, cells };
        let mut random = Stream::new(1, &[]);
        let (mut model, side) = filled(context, &work, &mut random)?;
        // The first frame finds everything cold, and all sliding at rest.
        advance(&mut model, &mut NoTimer)?;
        let before = context.cpu_seconds();
        for _ in 0..3 {
            replenish(&mut model, &work, side, &mut random)?;
            context.time(FRAME, |stages| advance(&mut model, stages))?;
        }
        Ok((context.cpu_seconds() - before) / 3.0)
    };
    let (few, some, many) = (cost(125_000, 224)?, cost(250_000, 224)?, cost(500_000, 224)?);
    let (coarse, fine) = (cost(250_000, 112)?, cost(250_000, 448)?);
    for (name, seconds) in [
        ("125 000 droplets", few),
        ("250 000 droplets", some),
        ("500 000 droplets", many),
        ("250 000 on 25 000 triangles", coarse),
        ("250 000 on 400 000 triangles", fine),
    ] {
        context.figure(format!("{name}: CPU per frame"), 1e3 * seconds, "ms");
    }
    context.figure("exponent in droplets", (many / few).ln() / 4_f64.ln(), "");
    context.figure("exponent in triangles", (fine / coarse).ln() / 16_f64.ln(), "");
    Ok(())
}

fn all_sliding(context: &mut BenchContext<'_>) -> Result<(), CaseError> {
    let (count, frames) = (1_000_000, 10_u32);
    let mut random = Stream::new(2, &[]);
    let side = SPACING * 1000.0;
    (context.report)("building the slope");
    let thick = "preset = \"water\"\nviscosity = \"30 mm^2/s\"";
    let mut model = wavy(224, 1.1 * side, thick, "advancing = \"90 deg\"\nreceding = \"89.9 deg\"")?;
    (context.report)("placing droplets");
    for index in 0..count {
        let [u, v] = [index % 1000, index / 1000]
            .map(|k| (f64::from(k) + 0.5 + 0.3 * (random.uniform() - 0.5)) * SPACING - 0.5 * side);
        model.add_droplet(near(u, v), DVec3::ZERO, random.uniform_in(0.3e-9, 0.5e-9));
    }
    model.step(TINY_STEP, &mut NoTimer)?;
    for _ in 0..3 {
        advance(&mut model, &mut NoTimer)?;
    }
    let mut running = 0;
    for frame in 0..frames {
        running += model.num_sliding();
        (context.report)(&format!("frame {frame}: {} droplets, {} sliding", model.num_droplets(), model.num_sliding()));
        context.time(FRAME, |stages| advance(&mut model, stages))?;
    }
    context.figure("triangles", model.num_triangles() as f64, "");
    context.figure("sliding, mean", f64::from(running as u32) / f64::from(frames), "");
    context.figure("frames per second", f64::from(frames) / context.wall_seconds(), "1/s");
    Ok(())
}

/// `lines` are those of a picture that shows the whole slope, for its level of detail.
fn shapes(context: &mut BenchContext<'_>, lines: Option<f64>) -> Result<(), CaseError> {
    let work = Work { droplets: 20_000, sliding: 2000, cells: 224 };
    let mut random = Stream::new(4, &[]);
    let (mut model, side) = filled(context, &work, &mut random)?;
    let frames = 10_u32;
    let mut triangles = 0;
    for _ in 0..frames {
        replenish(&mut model, &work, side, &mut random)?;
        let surface = context.time(FRAME, |stages| {
            advance(&mut model, stages)?;
            stages.enter("shapes");
            let FrameGeometry::Instances(drops) = model.frame().liquid else { return Err("not as many drops".into()) };
            // Edges of three pixels, as pictures have it.
            let detail =
                lines.map_or_else(Detail::default, |lines| Detail { edge: 3.0 * side / lines, fewest: 5, most: 48 });
            surface_with(&drops, &|_| detail).map_err(CaseError::from)
        })?;
        triangles += surface.triangles.len();
    }
    context.figure("triangles of liquid per frame", triangles as f64 / f64::from(frames), "");
    context.figure("frames per second", f64::from(frames) / context.wall_seconds(), "1/s");
    Ok(())
}

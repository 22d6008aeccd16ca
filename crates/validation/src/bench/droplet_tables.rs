//! The two tables of the droplet model's paper (fournier1998), cell by cell.

use glam::DVec3;
use sessile_droplet::DropletModel;
use sessile_model::{Model, StageTimer};
use sessile_scene::{Folder, parse_str};
use sessile_world::World;
use sessile_world::random::Stream;

use super::{Bench, BenchContext};
use crate::validate::CaseError;

/// Polygons of the rectangle, in both tables: 2 n².
const CUTS: [usize; 5] = [1, 2, 4, 8, 16];
/// Droplets of table 1, and the paper's times in s by polygons.
const FEW: [usize; 6] = [10, 20, 40, 60, 80, 100];
const TABLE_1: [[f64; 6]; 5] = [
    [1.0, 2.0, 4.1, 6.1, 8.0, 10.6],
    [0.9, 1.7, 3.8, 6.2, 7.9, 10.1],
    [0.9, 1.6, 4.0, 6.2, 8.1, 10.2],
    [1.0, 2.2, 4.1, 6.5, 8.5, 10.2],
    [1.0, 2.1, 4.2, 6.4, 8.3, 10.1],
];
/// Droplets of table 2, and the paper's times in s by polygons.
const MANY: [usize; 4] = [1000, 2000, 4000, 8000];
const TABLE_2: [[f64; 4]; 5] = [
    [0.63, 2.56, 12.75, 59.37],
    [0.21, 0.80, 3.12, 15.71],
    [0.05, 0.30, 1.28, 5.84],
    [0.05, 0.20, 0.81, 4.18],
    [0.01, 0.10, 0.62, 3.10],
];
/// Frame interval, in s, and the most frames of a crossing, which takes about half a second.
const FRAME: f64 = 1.0 / 30.0;
const MAX_FRAMES: usize = 600;

/// Benchmarks of the two tables.
pub(super) fn benches() -> Vec<Bench> {
    vec![
        Bench {
            name: "droplet-table-1",
            about: "Table 1 of the paper, all 30 cells: droplets of random size cross a rectangle of polygons by the paper's rules, with the shapes of all at \
                    every frame, until the last has left.",
            run: |context| table(context, &FEW, |row, column| TABLE_1[row][column], true),
        },
        Bench {
            name: "droplet-table-2",
            about: "Table 2 of the paper, all 20 cells: the same with more droplets and without shapes.",
            run: |context| table(context, &MANY, |row, column| TABLE_2[row][column], false),
        },
    ]
}

/// Runs all cells of a table and reports each next to the paper's.
fn table(
    context: &mut BenchContext<'_>,
    numbers: &[usize],
    paper: impl Fn(usize, usize) -> f64,
    with_shapes: bool,
) -> Result<(), CaseError> {
    for (row, &cuts) in CUTS.iter().enumerate() {
        for (column, &count) in numbers.iter().enumerate() {
            let before = context.cpu_seconds();
            let polygons = cross(context, cuts, count, with_shapes)?;
            let name = format!("{polygons} polygons, {count} droplets (paper: {} s)", paper(row, column));
            context.figure(name, context.cpu_seconds() - before, "CPU s");
        }
    }
    Ok(())
}

/// Lets droplets cross a rectangle whose edges are cut, and returns its number of polygons.
fn cross(context: &mut BenchContext<'_>, cuts: usize, count: usize, with_shapes: bool) -> Result<usize, CaseError> {
    let mut model = rectangle(cuts)?;
    let mut random = Stream::new(3, &[]);
    for _ in 0..count {
        let (x, y) = (random.uniform_in(-0.125, 0.125), random.uniform_in(-0.088, 0.088));
        model.add_droplet(DVec3::new(x, y, -y), DVec3::ZERO, random.uniform_in(0.05e-9, 0.2e-9));
    }
    let mut frames = 0;
    while model.num_droplets() > model.num_airborne() && frames < MAX_FRAMES {
        context.time(FRAME, |stages| -> Result<(), CaseError> {
            let end = model.time() + FRAME;
            while end - model.time() > 1e-9 {
                model.step(end - model.time(), stages)?;
            }
            if with_shapes {
                stages.enter("shapes");
                model.frame().liquid.into_surface().map_err(|error| error.to_string())?;
            }
            Ok(())
        })?;
        frames += 1;
    }
    Ok(model.num_triangles())
}

/// A rectangle of 2 cuts² triangles at 45°, without roughness.
fn rectangle(cuts: usize) -> Result<DropletModel, CaseError> {
    let folder = std::env::temp_dir().join(format!("sessile-table-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (side, depth) = (0.256, 0.256 * std::f64::consts::FRAC_1_SQRT_2);
    let mut text = String::new();
    for j in 0..=cuts {
        for i in 0..=cuts {
            let [u, v] = [i, j].map(|k| k as f64 / cuts as f64 - 0.5);
            text += &format!("v {} {} {}\n", side * u, depth * v, -depth * v);
        }
    }
    let vertex = |i: usize, j: usize| j * (cuts + 1) + i + 1;
    for (i, j) in (0..cuts * cuts).map(|k| (k % cuts, k / cuts)) {
        let [a, b, c, d] = [vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)];
        text += &format!("f {a} {b} {c}\nf {a} {c} {d}\n");
    }
    std::fs::write(folder.join("rectangle.obj"), text)?;
    let scene = "model = \"droplet\"\nfidelity = \"paper\"\n[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n\
         [droplet]\nfriction = \"0.02 g/s\"\n[materials.m]\nadvancing = \"80 deg\"\n\
         [[solids]]\nname = \"rectangle\"\nmaterial = \"m\"\nshape = \"mesh\"\nfile = \"rectangle.obj\"\nscale = 1\n";
    let scene = parse_str("bench", scene, &[], &Folder::new(&folder)).map_err(|wrong| wrong.to_string())?.scene;
    let world = World::build(&scene);
    std::fs::remove_dir_all(&folder)?;
    Ok(DropletModel::new(&scene, world?)?)
}

//! Models the mask of `scenes/tear.toml`: a face with closed lips as a closed shell with round
//! holes for the eyes.
//!
//! ```text
//! cargo run -p sessile-droplet --example mask > assets/mask.obj
//! ```
//!
//! The face is a height over an oval: a rounded shell, a brow, a nose, cheeks, lips and a chin,
//! each a smooth bump. The grid is bent so that its rim is the oval, and the lowest rows curl back
//! under the chin. Cells in a hole are left out, and the grid is drawn onto the hole's edge. A
//! second sheet behind the first, and strips along all rims, close the shell. Meters, y up,
//! looking to +z.

use std::fmt::Write;

/// Columns and rows of the grid; each cell is two triangles.
const COLUMNS: usize = 56;
const ROWS: usize = 68;
/// Half of the face's width and height, and the thickness of the shell, in m.
const HALF_WIDTH: f64 = 0.075;
const HALF_HEIGHT: f64 = 0.105;
const THICKNESS: f64 = 0.003;
/// Holes: center and half axes, in units of the oval.
const HOLES: [[f64; 4]; 2] = [[0.36, 0.17, 0.15, 0.085], [-0.36, 0.17, 0.15, 0.085]];

/// A smooth bump of height 1 about (cx, cy), as wide as (wx, wy).
fn bump(x: f64, y: f64, cx: f64, cy: f64, wx: f64, wy: f64) -> f64 {
    (-((x - cx) / wx).powi(2) - ((y - cy) / wy).powi(2)).exp()
}

/// Depth of the face at a point of the unit oval, in units of its half-width.
fn relief(x: f64, y: f64) -> f64 {
    let both = |cx: f64, cy: f64, wx: f64, wy: f64| bump(x, y, cx, cy, wx, wy) + bump(x, y, -cx, cy, wx, wy);
    let shell = 0.95 * (1.0 - 0.78 * (x * x + 0.8 * y * y)).max(0.0).sqrt();
    let brow = 0.07 * both(0.32, 0.33, 0.25, 0.10);
    let sockets = -0.13 * both(0.36, 0.17, 0.19, 0.12);
    // The ridge widens and rises towards the tip.
    let nose = 0.30 * bump(x, y, 0.0, -0.10, 0.12, 0.13) + 0.17 * bump(x, y, 0.0, 0.14, 0.09, 0.22);
    let nostrils = 0.09 * both(0.14, -0.16, 0.08, 0.07);
    let cheeks = 0.10 * both(0.46, -0.12, 0.22, 0.22);
    let lips = 0.09 * bump(x, y, 0.0, -0.42, 0.24, 0.06) + 0.10 * bump(x, y, 0.0, -0.54, 0.20, 0.06);
    let chin = 0.14 * bump(x, y, 0.0, -0.80, 0.24, 0.14);
    shell + brow + sockets + nose + nostrils + cheeks + lips + chin
}

/// How far a point is from the center of a hole, in its half axes.
fn radius_in(hole: &[f64; 4], (x, y): (f64, f64)) -> f64 {
    ((x - hole[0]) / hole[2]).hypot((y - hole[1]) / hole[3])
}

/// Point of the grid in units of the oval: a square bent into a disc, whose rim is the oval.
fn grid(i: usize, j: usize) -> (f64, f64) {
    let (a, b) = (2.0 * i as f64 / COLUMNS as f64 - 1.0, 2.0 * j as f64 / ROWS as f64 - 1.0);
    (a * (1.0 - 0.5 * b * b).sqrt(), b * (1.0 - 0.5 * a * a).sqrt())
}

/// Whether a cell is left out: its middle lies in a hole.
fn is_open(i: usize, j: usize) -> bool {
    let middle =
        (0..4).map(|k| grid(i + k % 2, j + k / 2)).fold((0.0, 0.0), |m, p| (m.0 + 0.25 * p.0, m.1 + 0.25 * p.1));
    HOLES.iter().any(|hole| radius_in(hole, middle) < 1.0)
}

/// Whether a point of the grid is on the rim of a hole.
fn is_rim(i: usize, j: usize) -> bool {
    let cells = (0..4).filter(|k| i + k % 2 > 0 && j + k / 2 > 0).map(|k| (i + k % 2 - 1, j + k / 2 - 1));
    let cells: Vec<(usize, usize)> = cells.filter(|&(i, j)| i < COLUMNS && j < ROWS).collect();
    let open = cells.iter().filter(|&&(i, j)| is_open(i, j)).count();
    open > 0 && open < cells.len()
}

/// Point of the grid, drawn onto the edge of a hole if it is on its rim.
fn drawn(i: usize, j: usize) -> (f64, f64) {
    let point = grid(i, j);
    if !is_rim(i, j) {
        return point;
    }
    let hole = HOLES.iter().min_by(|a, b| radius_in(a, point).total_cmp(&radius_in(b, point))).expect("a hole");
    let radius = radius_in(hole, point);
    (hole[0] + (point.0 - hole[0]) / radius, hole[1] + (point.1 - hole[1]) / radius)
}

fn main() {
    let mut text = String::from("# A mask, modeled by crates/droplet/examples/mask.rs\n");
    for behind in [0.0, THICKNESS] {
        for j in 0..=ROWS {
            for i in 0..=COLUMNS {
                let (x, y) = drawn(i, j);
                // Under the chin the face runs back.
                let back = 0.6 * (-y - 0.86).max(0.0) / 0.14 * (1.0 - x * x);
                let z = HALF_WIDTH * (relief(x, y) - back) - behind;
                let _ = writeln!(text, "v {:.6} {:.6} {:.6}", HALF_WIDTH * x, HALF_HEIGHT * y, z);
            }
        }
    }
    let is_solid = |i: i64, j: i64| {
        (0..COLUMNS as i64).contains(&i) && (0..ROWS as i64).contains(&j) && !is_open(i as usize, j as usize)
    };
    let count = (COLUMNS + 1) * (ROWS + 1);
    let vertex = |i: usize, j: usize| j * (COLUMNS + 1) + i + 1;
    for j in 0..ROWS {
        for i in (0..COLUMNS).filter(|&i| is_solid(i as i64, j as i64)) {
            let corners = [vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)];
            // Three corners on the edge of a hole do not make a triangle: it would lie in the hole.
            let turn = usize::from(is_rim(i, j) && is_rim(i + 1, j + 1));
            let [a, b, c, d] = std::array::from_fn(|k| corners[(k + turn) % 4]);
            let _ = writeln!(text, "f {a} {b} {c}\nf {a} {c} {d}");
            let [e, f, g, h] = [a, b, c, d].map(|corner| corner + count);
            let _ = writeln!(text, "f {e} {g} {f}\nf {e} {h} {g}");
            // Strips along rims: below, right, above, left.
            for (k, (di, dj)) in [(0, -1), (1, 0), (0, 1), (-1, 0)].into_iter().enumerate() {
                if !is_solid(i as i64 + di, j as i64 + dj) {
                    let (p, q) = (corners[k], corners[(k + 1) % 4]);
                    let _ = writeln!(text, "f {q} {p} {}\nf {q} {} {}", p + count, p + count, q + count);
                }
            }
        }
    }
    print!("{text}");
}

//! Models the mask of `scenes/tear.toml`: a face as a sheet of about two thousand triangles, with
//! holes for the eyes and the mouth.
//!
//! ```text
//! cargo run -p sessile-droplet --example mask > assets/mask.obj
//! ```
//!
//! The face is a height over an oval: a rounded shell, a brow, a nose, cheeks, lips and a chin,
//! each a smooth bump. The grid is bent so that its rim is the oval, and the lowest rows curl back
//! under the chin. Meters, y up, looking to +z.

use std::fmt::Write;

/// Columns and rows of the grid; each cell is two triangles.
const COLUMNS: usize = 30;
const ROWS: usize = 36;

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

/// Whether a point lies in an eye or between the lips.
fn is_open(x: f64, y: f64) -> bool {
    let eye = |cx: f64| ((x - cx) / 0.13).powi(2) + ((y - 0.17) / 0.05).powi(2) < 1.0;
    eye(0.36) || eye(-0.36) || ((x / 0.20).powi(2) + ((y + 0.48) / 0.022).powi(2) < 1.0)
}

fn main() {
    let (half_width, half_height) = (0.075, 0.105);
    let grid = |i: usize, j: usize| {
        let (a, b) = (2.0 * i as f64 / COLUMNS as f64 - 1.0, 2.0 * j as f64 / ROWS as f64 - 1.0);
        // A square bent into a disc; the rim is the oval.
        (a * (1.0 - 0.5 * b * b).sqrt(), b * (1.0 - 0.5 * a * a).sqrt())
    };
    let mut text = String::from("# A mask, modeled by crates/droplet/examples/mask.rs\n");
    for j in 0..=ROWS {
        for i in 0..=COLUMNS {
            let (x, y) = grid(i, j);
            // Under the chin the face runs back.
            let back = 0.6 * (-y - 0.86).max(0.0) / 0.14 * (1.0 - x * x);
            let z = half_width * (relief(x, y) - back);
            let _ = writeln!(text, "v {:.6} {:.6} {:.6}", half_width * x, half_height * y, z);
        }
    }
    let vertex = |i: usize, j: usize| j * (COLUMNS + 1) + i + 1;
    for j in 0..ROWS {
        for i in 0..COLUMNS {
            let middle = (0..4)
                .map(|k| grid(i + k % 2, j + k / 2))
                .fold((0.0, 0.0), |m, p| (m.0 + 0.25 * p.0, m.1 + 0.25 * p.1));
            if is_open(middle.0, middle.1) {
                continue;
            }
            let [a, b, c, d] = [vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)];
            let _ = writeln!(text, "f {a} {b} {c}\nf {a} {c} {d}");
        }
    }
    print!("{text}");
}

//! Models the figurine of `scenes/figurine.toml`: a little bear that holds its arms out, closed and smooth, some twelve thousand triangles.
//!
//! ```text
//! cargo run --release -p sessile-surface --example figurine > assets/figurine.obj
//! ```
//!
//! Balls, ellipsoids and rods blended into one field; its zero set by marching cubes, whose triangles are then evened out by steps of the umbrella operator, each
//! followed by a step back onto the zero set. Millimeters, y up, looking to +z, feet at y = 0.

use glam::DVec3;
use sessile_geometry::TriMesh;
use sessile_geometry::isosurface::{Grid, extract};
use std::fmt::Write;

/// Side of a cell, in mm.
const CELL: f64 = 0.98;
/// Steps that even the triangles out.
const SMOOTHING: usize = 30;

/// Approximate distance to an ellipsoid: exact to first order at its surface.
fn ellipsoid(p: DVec3, center: DVec3, radii: DVec3) -> f64 {
    let q = (p - center) / radii;
    let (size, slope) = (q.length(), (q / radii).length());
    if slope < 1e-9 { -radii.min_element() } else { size * (size - 1.0) / slope }
}

/// Distance to a rod from `a` to `b` whose radius runs from one value to another.
fn rod(p: DVec3, a: DVec3, b: DVec3, radii: [f64; 2]) -> f64 {
    let along = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
    (p - a.lerp(b, along)).length() - (radii[0] + (radii[1] - radii[0]) * along)
}

/// The lesser of two, rounded where they are within `width` of one another.
fn blend(a: f64, b: f64, width: f64) -> f64 {
    let h = (width - (a - b).abs()).max(0.0) / width;
    a.min(b) - 0.25 * width * h * h
}

/// Negative within the figurine.
fn figurine(p: DVec3) -> f64 {
    // Left and right are the same.
    let m = DVec3::new(p.x.abs(), p.y, p.z);
    let v = DVec3::new;
    let body = blend(
        ellipsoid(p, v(0.0, 15.5, 0.0), v(11.4, 11.0, 10.2)),
        ellipsoid(p, v(0.0, 22.0, 0.0), v(8.2, 7.0, 7.2)),
        4.0,
    );
    let head = ellipsoid(p, v(0.0, 35.0, 0.6), v(9.8, 8.4, 8.4));
    let muzzle = ellipsoid(p, v(0.0, 32.8, 8.0), v(4.0, 3.0, 3.0));
    let nose = ellipsoid(p, v(0.0, 34.4, 10.6), v(1.5, 1.1, 1.1));
    let ear = ellipsoid(m, v(7.6, 42.3, -0.4), v(3.5, 3.7, 2.1));
    let hollow = ellipsoid(m, v(7.7, 42.5, 1.9), v(2.1, 2.2, 1.3));
    let arm = blend(
        rod(m, v(6.4, 23.5, 0.5), v(14.0, 22.0, 2.5), [3.0, 2.9]),
        rod(m, v(14.0, 22.0, 2.5), v(20.5, 24.5, 4.0), [2.9, 3.4]),
        1.5,
    );
    let leg = blend(
        rod(m, v(5.0, 8.0, 0.5), v(6.2, 3.6, 1.5), [4.6, 4.2]),
        ellipsoid(m, v(6.6, 2.9, 4.0), v(3.7, 2.9, 4.8)),
        2.0,
    );
    let tail = ellipsoid(p, v(0.0, 8.5, -10.6), v(2.9, 2.9, 2.6));
    let mut field = blend(body, head, 3.0);
    field = blend(field, muzzle, 1.6);
    field = blend(field, nose, 0.7);
    // Ears are hollowed in front: the lesser of two with signs turned is the greater.
    field = blend(field, -blend(-ear, hollow, 1.2), 1.8);
    field = blend(field, arm, 3.2);
    field = blend(field, leg, 2.4);
    field = blend(field, tail, 1.6);
    // It stands on soles, which turn into the feet over a rounded edge.
    -blend(-field, p.y, 1.2)
}

/// A step along the field's slope onto its zero set.
fn onto(p: DVec3) -> DVec3 {
    let h = 1e-4;
    let slope = |axis: DVec3| (figurine(p + h * axis) - figurine(p - h * axis)) / (2.0 * h);
    let gradient = DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z));
    p - figurine(p) * gradient / gradient.length_squared().max(0.1)
}

/// Moves every vertex halfway to the mean of its neighbors, and back onto the surface.
fn even_out(mesh: &mut TriMesh) {
    let mut sums = vec![(DVec3::ZERO, 0.0); mesh.positions.len()];
    for &triangle in &mesh.triangles {
        for k in 0..3 {
            let (at, next) = (triangle[k] as usize, triangle[(k + 1) % 3] as usize);
            // Every edge is met once in each direction: a vertex hears of every neighbor once.
            sums[at].0 += mesh.positions[next];
            sums[at].1 += 1.0;
        }
    }
    for (position, (sum, count)) in mesh.positions.iter_mut().zip(sums) {
        *position = onto(onto(0.5 * (*position + sum / count)));
    }
}

fn main() {
    let (low, high) = (DVec3::new(-26.0, -1.7, -14.0), DVec3::new(26.0, 48.0, 14.0));
    let size = ((high - low) / CELL).ceil();
    let grid = Grid {
        origin: low,
        cell: DVec3::splat(CELL),
        size: [size.x as usize + 1, size.y as usize + 1, size.z as usize + 1],
    };
    let values = grid.sample(figurine);
    let mut mesh = extract(&grid, &values, false).mesh;
    for _ in 0..SMOOTHING {
        even_out(&mut mesh);
    }
    let mut text = String::from("# A figurine, modeled by crates/surface/examples/figurine.rs\n");
    for p in &mesh.positions {
        let _ = writeln!(text, "v {:.3} {:.3} {:.3}", p.x, p.y, p.z);
    }
    for [a, b, c] in &mesh.triangles {
        let _ = writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1);
    }
    print!("{text}");
}

//! Generates the leaf of `scenes/lotus.toml` and its texture.
//!
//! ```text
//! cargo run --release -p sessile-geometry --example lotus_leaf -- assets
//! ```
//!
//! writes `lotus-leaf.obj` and `lotus-leaf.jpg` into the folder. The leaf is a shallow funnel with
//! radial veins and a wavy rim on a bent stalk, closed, about seven thousand triangles. It consists
//! of rings: from the center of the upper side out to the rim, back along the underside and down
//! the stalk. The number of points of a ring follows its length, so triangles have one size;
//! neighboring rings are connected by angle. Units are millimeters; y points up, the lowest point
//! of the upper side is at the origin. The texture shows the upper side on its left, the underside
//! on its right and the stalk in a strip beside it.

use std::error::Error;
use std::f64::consts::{PI, TAU};
use std::fmt::Write;
use std::path::Path;

use jpeg_encoder::{ColorType, Encoder};

/// Radius of the leaf, in mm.
const RADIUS: f64 = 30.0;
/// Rings of the upper side; ring j has 6 j points.
const RINGS: usize = 24;
/// Thickness at the center, in mm.
const THICKNESS: f64 = 1.4;
/// Number of main veins.
const VEINS: f64 = 14.0;
/// Length and radius of the stalk, in mm.
const STALK: [f64; 2] = [60.0, 1.5];
/// Points around the stalk, and rings along it.
const STALK_POINTS: usize = 12;
const STALK_RINGS: usize = 20;
/// Texture size in pixels: two disks of 1.02 leaf radii and a strip.
const PIXELS: [u16; 2] = [1000, 480];
/// Quality of the JPEG, of 100.
const QUALITY: u8 = 75;
/// Centers of the two disks, position of the strip, and pixels per leaf radius.
const UPPER: [f64; 2] = [240.0, 240.0];
const UNDER: [f64; 2] = [720.0, 240.0];
const STRIP: f64 = 980.0;
const PIXELS_PER_RADIUS: f64 = 234.0;

/// Height of the upper side, in mm.
fn height(radius: f64, angle: f64) -> f64 {
    let part = radius / RADIUS;
    // Flat in the center, steepest at two thirds of the radius.
    let funnel = 7.5 * part * part * (1.6 - 0.6 * part * part);
    let waves =
        part.powi(3) * (1.1 * (5.0 * angle).cos() + 0.6 * (3.0 * angle + 1.0).cos() + 0.4 * (8.0 * angle + 2.0).sin());
    // Veins are furrows outside the center that guide drops.
    let begins = smooth(0.12, 0.27, part);
    let across = radius * (0.5 * VEINS * angle).sin() * 2.0 / VEINS;
    let veins = -0.35 * begins * (1.0 - 0.5 * part) * (-(across / 0.9).powi(2)).exp();
    funnel + waves + veins
}

fn smooth(from: f64, to: f64, x: f64) -> f64 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A ring of points and their texture coordinates.
#[derive(Clone, Copy)]
struct Ring {
    first: usize,
    first_pixel: usize,
    count: usize,
}

/// Writes points, texture coordinates and triangles as OBJ text.
#[derive(Default)]
struct Writer {
    text: String,
    points: usize,
    pixels: usize,
}

impl Writer {
    /// Adds a ring; `place` gives the point and its pixel by angle.
    fn ring(&mut self, count: usize, place: impl Fn(f64) -> ([f64; 3], [f64; 2])) -> Ring {
        let first = self.points + 1;
        for i in 0..count {
            let [x, y, z] = place(angle_of(i, count)).0;
            let _ = writeln!(self.text, "v {x:.3} {y:.3} {z:.3}");
        }
        self.points += count;
        self.painted(Ring { first, first_pixel: 0, count }, |angle| place(angle).1)
    }

    /// The same points at another place of the texture.
    fn painted(&mut self, ring: Ring, pixel: impl Fn(f64) -> [f64; 2]) -> Ring {
        let first_pixel = self.pixels + 1;
        for i in 0..ring.count {
            let [right, down] = pixel(angle_of(i, ring.count));
            let (u, v) = (right / f64::from(PIXELS[0]), 1.0 - down / f64::from(PIXELS[1]));
            let _ = writeln!(self.text, "vt {u:.4} {v:.4}");
        }
        self.pixels += ring.count;
        Ring { first_pixel, ..ring }
    }

    /// Connects two rings by a strip of triangles; they face outward when `a` precedes `b` along
    /// the surface.
    fn connect(&mut self, a: Ring, b: Ring) {
        let (mut i, mut j) = (0, 0);
        let steps = |ring: Ring| if ring.count > 1 { ring.count } else { 0 };
        let corner = |ring: Ring, k: usize| {
            let k = k % ring.count;
            format!("{}/{}", ring.first + k, ring.first_pixel + k)
        };
        while i < steps(a) || j < steps(b) {
            let along_a = j >= steps(b) || (i < steps(a) && (i + 1) * b.count <= (j + 1) * a.count);
            let next = if along_a { corner(a, i + 1) } else { corner(b, j + 1) };
            let _ = writeln!(self.text, "f {} {} {next}", corner(a, i), corner(b, j));
            if along_a { i += 1 } else { j += 1 }
        }
    }
}

fn angle_of(i: usize, count: usize) -> f64 {
    TAU * i as f64 / count as f64
}

/// Pixel of a point on a disk of the texture.
fn pixel(radius: f64, angle: f64, [right, down]: [f64; 2]) -> [f64; 2] {
    let pixels = PIXELS_PER_RADIUS * radius / RADIUS;
    [right + pixels * angle.cos(), down - pixels * angle.sin()]
}

/// The leaf as OBJ text.
fn model() -> String {
    let mut leaf = Writer {
        text: "# A lotus leaf, generated by crates/geometry/examples/lotus_leaf.rs\n".into(),
        ..Writer::default()
    };
    let radius_of = |ring: usize| RADIUS * ring as f64 / RINGS as f64;
    let place = |radius: f64, angle: f64, below: f64, disc: [f64; 2]| {
        ([radius * angle.cos(), height(radius, angle) - below, -radius * angle.sin()], pixel(radius, angle, disc))
    };
    let mut last = leaf.ring(1, |_| place(0.0, 0.0, 0.0, UPPER));
    for ring in 1..=RINGS {
        let next = leaf.ring(6 * ring, |angle| place(radius_of(ring), angle, 0.0, UPPER));
        leaf.connect(last, next);
        last = next;
    }
    // The underside starts just inside the rim, so that the rim is not a knife edge.
    last = leaf.painted(last, |angle| pixel(RADIUS, angle, UNDER));
    for ring in (2..=RINGS).rev() {
        let radius = radius_of(ring) - if ring == RINGS { 0.25 } else { 0.0 };
        let below = THICKNESS * (1.0 - 0.55 * radius / RADIUS);
        let next = leaf.ring(6 * ring, |angle| place(radius, angle, below, UNDER));
        leaf.connect(last, next);
        last = next;
    }
    let on_stalk = |angle: f64, part: f64| [STRIP + 8.0 * (angle - PI) / PI, 10.0 + 450.0 * part];
    last = leaf.painted(last, |angle| on_stalk(angle, -0.01));
    for ring in 0..=STALK_RINGS {
        let part = ring as f64 / STALK_RINGS as f64;
        // The stalk widens below the leaf, and bends.
        let radius = STALK[1] * (1.0 + 0.5 * (-10.0 * part).exp());
        let next = leaf.ring(STALK_POINTS, |angle| {
            let aside = 9.0 * part * part;
            let point = [radius * angle.cos() + aside, -THICKNESS - 0.4 - STALK[0] * part, -radius * angle.sin()];
            (point, on_stalk(angle, part))
        });
        leaf.connect(last, next);
        last = next;
    }
    let foot = leaf.ring(1, |_| ([9.0, -THICKNESS - 0.9 - STALK[0], 0.0], on_stalk(PI, 1.01)));
    leaf.connect(last, foot);
    leaf.text
}

/// 1 on the veins and 0 beside them; main veins fork twice toward the rim.
fn veins(part: f64, angle: f64) -> f64 {
    let from_main = (VEINS * angle / TAU + 0.5).rem_euclid(1.0) - 0.5;
    let first = 0.25 * smooth(0.40, 0.85, part);
    let second = 0.125 * smooth(0.68, 1.05, part);
    let nearest = ((from_main.abs() - first).abs() - second).abs();
    let distance = nearest * TAU / VEINS * part * RADIUS;
    let width = 0.42 - 0.28 * part;
    1.0 - smooth(width, width + 0.28, distance)
}

/// Value noise in [0, 1).
fn clouds(x: f64, y: f64) -> f64 {
    let lattice = |i: f64, j: f64| (43758.5453 * (12.9898 * i + 78.233 * j).sin()).rem_euclid(1.0);
    let (i, j) = (x.floor(), y.floor());
    let (s, t) = (smooth(0.0, 1.0, x - i), smooth(0.0, 1.0, y - j));
    let row = |j: f64| lattice(i, j) + (lattice(i + 1.0, j) - lattice(i, j)) * s;
    row(j) + (row(j + 1.0) - row(j)) * t
}

/// Color of a pixel, from 0 to 1.
fn color(right: f64, down: f64) -> [f64; 3] {
    let mix = |a: [f64; 3], b: [f64; 3], t: f64| [0, 1, 2].map(|k| a[k] + (b[k] - a[k]) * t);
    if right > 0.5 * (UNDER[0] + PIXELS_PER_RADIUS + STRIP) {
        return [0.45, 0.56, 0.27];
    }
    let above = right < 0.5 * (UPPER[0] + UNDER[0]);
    let [x0, y0] = if above { UPPER } else { UNDER };
    let (x, y) = ((right - x0) / PIXELS_PER_RADIUS, (y0 - down) / PIXELS_PER_RADIUS);
    let (part, angle) = (x.hypot(y), y.atan2(x));
    let [blade, vein] =
        if above { [[0.22, 0.46, 0.24], [0.55, 0.70, 0.42]] } else { [[0.42, 0.55, 0.34], [0.60, 0.68, 0.44]] };
    // Green spots, fine grain, a yellow rim and a pale center.
    let spots = 0.6 * clouds(9.0 * x, 9.0 * y) + 0.4 * clouds(31.0 * x, 31.0 * y);
    let mut shade = mix(blade, [0.16, 0.38, 0.16], 0.8 * spots);
    shade = mix(shade, [0.56, 0.60, 0.26], 0.55 * smooth(0.94, 1.0, part));
    mix(shade, vein, veins(part, angle).max(1.0 - smooth(0.06, 0.10, part)) * 0.85)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("expected a folder, e.g. assets")?;
    std::fs::write(Path::new(&folder).join("lotus-leaf.obj"), model())?;
    let [columns, rows] = PIXELS;
    let pixels = (0..rows).flat_map(|down| (0..columns).map(move |right| [right, down].map(|i| f64::from(i) + 0.5)));
    let texture: Vec<u8> = pixels.flat_map(|[x, y]| color(x, y).map(|c| (255.0 * c) as u8)).collect();
    let encoder = Encoder::new_file(Path::new(&folder).join("lotus-leaf.jpg"), QUALITY)?;
    encoder.encode(&texture, columns, rows, ColorType::Rgb)?;
    Ok(())
}

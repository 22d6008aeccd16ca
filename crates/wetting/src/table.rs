//! Tabulated rest shapes: height and base radius of a drop, millions of times per second.
//!
//! A drop at rest on (or under) a level solid is determined by its contact angle θ and v = V/l_c³.
//! The tables store its height and base radius divided by closed forms with the right limits, so
//! that the ratios are smooth and near 1:
//!
//! ```text
//! pressed on the solid   h_ref² = h_cap² / (1 + h_cap² / 4 sin²(θ/2))
//!                        R_ref  = r/2 + √(r²/4 + (2/3) a⁴/(1 + a)),   r = R_cap/(1 + B²/10)
//!                                 B = (v / sin(θ/2))^⅓,   a = (3/4π)^⅓ B
//! pulled off it          h_ref = h_cap + 0.0755 v,   R_ref = R_cap / √(1 + (R_cap/3.83)²)
//! ```
//!
//! h_ref is the cap for small v and the puddle for large v. With a the radius of a nearly free
//! drop, R² − rR = (2/3)a⁴ is the balance near 180°, where gravity presses a base onto a drop whose
//! cap has hardly any; (2/3)a³ = B³/2π is the square of the puddle's radius at any angle. A hanging
//! film at θ → 0 is a Bessel function out to the first zero of J₁, 3.83 l_c, and as high as 0.0755
//! v. Between nodes the tables are interpolated by cubics in both keys. Sessile keys are ln(v /
//! sin(θ/2)), which orders drops by their breadth at any angle, and θ; pendant keys are q = √(1 −
//! (V/V_max)^⅓), in which the fold at the largest volume is smooth, and √θ. Below the sessile
//! table's volumes the ratios fade to 1, above them they stay at its edge and the references carry
//! the limit.
//!
//! Error against [`sessile`](crate::young_laplace::sessile()) and
//! [`pendant`](crate::pendant::pendant()), measured by the tests over random drops from 1° to 179°
//! and v from 1e-6 to 1e3: at most 8e-4 (beyond 176°), half of them below 3e-6. Up to v = 1e5 it
//! stays below 2e-3, up to 1e7 (a puddle of meters) below 5e-3.

mod contact;
mod section;

use std::f64::consts::PI;
use std::sync::OnceLock;

use sessile_numerics::math;

pub use contact::{Contact, Weight};
pub use section::Section;

use crate::cube_root::cube_root;
use crate::liquid::Liquid;
use crate::ode::Accuracy;
use crate::pendant::follow_to_limit;
use crate::pendant_limit::pendant_limit;
use crate::young_laplace::{R, Symmetry, V, Z, states_at};

/// Smallest and largest angle of the nodes, in rad; beyond them the references are taken at the
/// true angle.
const ANGLES: (f64, f64) = (PI / 180.0, 179.0 / 180.0 * PI);
/// No angle is taken closer than this to 0 or π, in rad: a film, or a sphere on a point.
const ANGLE_MARGIN: f64 = 1e-3;
/// Sessile nodes over θ.
const NUM_ANGLES: usize = 48;
/// Pendant nodes over √θ.
const NUM_ROOT_ANGLES: usize = 32;
/// Sessile nodes over ln(v / sin(θ/2)), and its range.
const NUM_BREADTHS: usize = 56;
const BREADTHS: (f64, f64) = (-14.0, 16.0);
/// Pendant nodes over q, and its range; q = 1 is the drop without volume.
const NUM_FILLS: usize = 28;
const FILLS: (f64, f64) = (0.0, 1.0);
/// Below this v a drop is its cap to 1e-6.
const CAP_VOLUME: f64 = 1e-10;
/// First zero of J₁, in capillary lengths.
const WIDEST_HANGING: f64 = 3.831_706;
/// Height over volume of the hanging film there, (1 − J₀)/(π r² J₂) at r = 3.83.
const FILM_HEIGHT: f64 = 0.0755;
/// (3/4π)^⅓: radius over the cube root of the volume of a free drop.
const FREE_RADIUS: f64 = 0.620_350_490_899_400_1;
/// Enough for a table that interpolates to 1e-4.
const COARSE: f64 = 1e-7;
/// The same for hanging drops, whose curves take longer to follow.
const COARSER: f64 = 1e-6;

/// Height and base radius of a drop at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestShape {
    /// Distance of the apex from the solid, in m.
    pub height: f64,
    /// Radius of the wetted disc, in m.
    pub base_radius: f64,
}

/// Tabulated rest shapes; see the [module](self) for keys and errors.
#[derive(Debug)]
pub struct ShapeTable {
    sessile: Grid<NUM_BREADTHS, NUM_ANGLES>,
    pendant: OnceLock<Grid<NUM_FILLS, NUM_ROOT_ANGLES>>,
}

impl ShapeTable {
    /// The table, built at the first call (a few milliseconds; its pendant half, some tens of
    /// milliseconds, at the first hanging drop).
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<ShapeTable> = OnceLock::new();
        SHARED.get_or_init(|| Self { sessile: sessile_grid(), pendant: OnceLock::new() })
    }

    /// Rest shape of a drop of a volume (in m³) at a contact angle (in rad).
    ///
    /// `normal_gravity` (in m/s²) is gravity's component along the solid's normal: positive presses
    /// the drop onto the solid, negative pulls it off, 0 leaves the cap. `None` for a hanging drop
    /// beyond its largest stable volume, and for a volume that is not positive. Angles are taken no
    /// closer than 1e-3 rad to 0 and π.
    pub fn rest_shape(&self, volume: f64, theta: f64, normal_gravity: f64, liquid: &Liquid) -> Option<RestShape> {
        self.shape(volume, &Contact::new(theta), &Weight::new(liquid, normal_gravity))
    }

    /// As [`rest_shape`](Self::rest_shape), with a contact angle and weight that are used several
    /// times.
    pub fn shape(&self, volume: f64, contact: &Contact, weight: &Weight) -> Option<RestShape> {
        self.height_and_radius(volume, contact, weight).map(|[height, base_radius]| RestShape { height, base_radius })
    }

    /// Its base radius alone, in m.
    pub fn base_radius(&self, volume: f64, contact: &Contact, weight: &Weight) -> Option<f64> {
        self.height_and_radius(volume, contact, weight).map(|[_, base_radius]| base_radius)
    }

    // Inlined into both callers, so that the compiler drops the height where it is not used.
    #[inline(always)]
    fn height_and_radius(&self, volume: f64, contact: &Contact, weight: &Weight) -> Option<[f64; 2]> {
        if volume.is_nan() || volume <= 0.0 {
            return None;
        }
        let v = volume * weight.per_volume;
        if v < CAP_VOLUME {
            let cap = Cap::new(volume, contact);
            return Some([cap.height, cap.radius]);
        }
        let shape = if weight.presses { self.pressed(v, contact) } else { self.pulled(v, contact)? };
        Some(shape.map(|length| length * weight.length))
    }

    /// Largest stable volume that hangs at a contact angle (in rad), in m³; infinite without a pull
    /// off the solid.
    pub fn pendant_max_volume(&self, theta: f64, normal_gravity: f64, liquid: &Liquid) -> f64 {
        if normal_gravity >= 0.0 {
            return f64::INFINITY;
        }
        pendant_limit(theta) * liquid.capillary_length(-normal_gravity).powi(3)
    }

    /// Height and base radius of the sessile drop, in capillary lengths.
    #[inline(always)]
    fn pressed(&self, v: f64, contact: &Contact) -> [f64; 2] {
        let cap = Cap::new(v, contact);
        let key = math::ln(v / cap.half_sin);
        let [h, r] = self.sessile.at(key, even_column(contact.angle)).map(|ratio| faded(ratio, key));
        let [h_ref, r_ref] = cap.pressed_reference(v);
        [h * h_ref, r * r_ref]
    }

    /// Height and base radius of the hanging drop, in capillary lengths.
    fn pulled(&self, v: f64, contact: &Contact) -> Option<[f64; 2]> {
        let fill = v / pendant_limit(contact.angle);
        if fill > 1.0 {
            return None;
        }
        let q = (1.0 - cube_root(fill)).max(0.0).sqrt();
        let [h, r] = self.pendant.get_or_init(pendant_grid).at(q, root_column(contact.angle));
        let [h_ref, r_ref] = Cap::new(v, contact).pulled_reference(v);
        Some([h * h_ref, r * r_ref])
    }
}

/// A sessile ratio where ln(v / sin(θ/2)) may lie below the table's.
#[inline(always)]
fn faded(ratio: f64, key: f64) -> f64 {
    if key >= BREADTHS.0 {
        return ratio;
    }
    // What the references leave out falls as the Bond number, B².
    1.0 + (ratio - 1.0) * math::exp(2.0 / 3.0 * (key - BREADTHS.0))
}

/// A cap and the half angle it was made from.
#[derive(Clone, Copy)]
struct Cap {
    half_sin: f64,
    radius: f64,
    height: f64,
}

impl Cap {
    #[inline(always)]
    fn new(v: f64, contact: &Contact) -> Self {
        let half_sin = contact.half_sin;
        let t = half_sin / contact.half_cos;
        let radius = cube_root(6.0 / PI * v / (t * (3.0 + t * t)));
        Self { half_sin, radius, height: radius * t }
    }

    #[inline(always)]
    fn pressed_reference(&self, v: f64) -> [f64; 2] {
        let flattened = 0.5 * self.height / self.half_sin;
        let cube = v / self.half_sin;
        [self.height / (1.0 + flattened * flattened).sqrt(), pressed_radius(self.radius, cube, cube_root(cube))]
    }

    fn pulled_reference(&self, v: f64) -> [f64; 2] {
        let spread = self.radius / WIDEST_HANGING;
        [self.height + FILM_HEIGHT * v, self.radius / (1.0 + spread * spread).sqrt()]
    }
}

/// R_ref of a drop pressed on the solid, from the radius of its cap, B³ and B.
#[inline(always)]
fn pressed_radius(cap_radius: f64, cube: f64, breadth: f64) -> f64 {
    let free = FREE_RADIUS * breadth;
    let puddle = 0.5 / PI * cube * free / (1.0 + free);
    let half = 0.5 * cap_radius / (1.0 + 0.1 * breadth * breadth);
    half + (half * half + puddle).sqrt()
}

/// Ratios (height, radius) on a grid of `N` first keys by `M` angles.
#[derive(Debug)]
struct Grid<const N: usize, const M: usize> {
    first: f64,
    per_key: f64,
    ratios: Box<[[[f64; 2]; M]]>,
}

impl<const N: usize, const M: usize> Grid<N, M> {
    fn new(range: (f64, f64), ratios: Vec<[[f64; 2]; M]>) -> Self {
        Self { first: range.0, per_key: (N - 1) as f64 / (range.1 - range.0), ratios: ratios.into_boxed_slice() }
    }

    /// Bicubic interpolation; keys beyond the grid are taken at its edge.
    #[inline(always)]
    fn at(&self, key: f64, column: f64) -> [f64; 2] {
        let (row, row_weights) = cubic((key - self.first) * self.per_key, N);
        let (column, column_weights) = cubic(column, M);
        let mut out = [0.0; 2];
        for (ratios, row_weight) in self.ratios[row..row + 4].iter().zip(row_weights) {
            let mut sum = [0.0; 2];
            for (ratio, weight) in ratios[column..column + 4].iter().zip(column_weights) {
                sum[0] += weight * ratio[0];
                sum[1] += weight * ratio[1];
            }
            out[0] += row_weight * sum[0];
            out[1] += row_weight * sum[1];
        }
        out
    }
}

/// First of the four nodes round `x` (in node spacings, cut to the grid), and their Lagrange
/// weights.
#[inline]
fn cubic(x: f64, num_nodes: usize) -> (usize, [f64; 4]) {
    const SIXTH: f64 = 1.0 / 6.0;
    let x = x.clamp(0.0, (num_nodes - 1) as f64);
    let first = (x as i32 - 1).clamp(0, num_nodes as i32 - 4);
    let t = x - f64::from(first);
    let (a, b, c, d) = (t, t - 1.0, t - 2.0, t - 3.0);
    let (outer, inner) = (SIXTH * (b * c), 0.5 * (a * d));
    (first as usize, [-outer * d, inner * c, -inner * b, outer * a])
}

/// Coordinate of an angle among the sessile nodes, in node spacings.
fn even_column(theta: f64) -> f64 {
    (theta - ANGLES.0) * ((NUM_ANGLES - 1) as f64 / (ANGLES.1 - ANGLES.0))
}

/// Coordinate of an angle among the pendant nodes, in node spacings.
fn root_column(theta: f64) -> f64 {
    (theta.sqrt() - ANGLES.0.sqrt()) * ((NUM_ROOT_ANGLES - 1) as f64 / (ANGLES.1.sqrt() - ANGLES.0.sqrt()))
}

fn node_key(range: (f64, f64), row: usize, num_rows: usize) -> f64 {
    range.0 + (range.1 - range.0) * row as f64 / (num_rows - 1) as f64
}

/// One integration per apex curvature passes every angle, so a sweep of ln b gives each column its
/// curve of drops.
fn sessile_grid() -> Grid<NUM_BREADTHS, NUM_ANGLES> {
    let angles: Vec<f64> = (0..NUM_ANGLES).map(|column| node_key(ANGLES, column, NUM_ANGLES)).collect();
    let contacts: Vec<Contact> = angles.iter().map(|&theta| Contact::new(theta)).collect();
    let accuracy = Accuracy { relative: COARSE, max_step: f64::INFINITY };
    let mut curves: Vec<Vec<(f64, [f64; 2])>> = vec![Vec::new(); NUM_ANGLES];
    for ln_b in apex_curvatures() {
        states_at(Symmetry::Axial, ln_b, &angles, accuracy, |column, y| {
            let cap = Cap::new(y[V], &contacts[column]);
            let [h, r] = cap.pressed_reference(y[V]);
            curves[column].push((math::ln(y[V] / cap.half_sin), [y[Z] / h, y[R] / r]));
        });
    }
    Grid::new(BREADTHS, resample(BREADTHS, NUM_BREADTHS, &curves))
}

/// Falling ln b: by equal factors while drops are round, then as fast as the puddle's radius (about
/// −ln b) grows.
fn apex_curvatures() -> Vec<f64> {
    let mut all = Vec::new();
    let mut ln_b = 5.5_f64;
    while ln_b > -4000.0 {
        all.push(ln_b);
        ln_b -= 0.1 * (1.0 + (-ln_b).max(0.0));
    }
    all
}

fn pendant_grid() -> Grid<NUM_FILLS, NUM_ROOT_ANGLES> {
    let curves: Vec<Vec<(f64, [f64; 2])>> = (0..NUM_ROOT_ANGLES)
        .map(|column| {
            let theta = node_key((ANGLES.0.sqrt(), ANGLES.1.sqrt()), column, NUM_ROOT_ANGLES).powi(2);
            let contact = Contact::new(theta);
            let mut drops = Vec::new();
            let top = follow_to_limit(theta, COARSER, |drop| drops.push(drop.end));
            drops.push(top.end);
            let point = |y: &crate::pendant::State| {
                let [h, r] = Cap::new(y[V], &contact).pulled_reference(y[V]);
                let q = (1.0 - math::cbrt(y[V] / top.end[V])).max(0.0).sqrt();
                (q, [y[Z] / h, y[R] / r])
            };
            let mut curve: Vec<_> = drops.iter().map(point).collect();
            curve.push((1.0, [1.0, 1.0]));
            curve.sort_by(|a, b| a.0.total_cmp(&b.0));
            curve.dedup_by(|a, b| (a.0 - b.0).abs() < 1e-6);
            curve
        })
        .collect();
    Grid::new(FILLS, resample(FILLS, NUM_FILLS, &curves))
}

/// Ratios at the nodes from each column's curve (rising keys), by the cubic through the four
/// nearest points.
fn resample<const M: usize>(range: (f64, f64), num_rows: usize, curves: &[Vec<(f64, [f64; 2])>]) -> Vec<[[f64; 2]; M]> {
    let mut rows = vec![[[0.0; 2]; M]; num_rows];
    for (row, ratios) in rows.iter_mut().enumerate() {
        let key = node_key(range, row, num_rows);
        for (curve, ratio) in curves.iter().zip(ratios) {
            let above = curve.partition_point(|point| point.0 < key);
            let first = above.saturating_sub(2).min(curve.len() - 4);
            let near = &curve[first..first + 4];
            let key = key.clamp(near[0].0, near[3].0);
            for (i, point) in near.iter().enumerate() {
                let weight: f64 =
                    (0..4).filter(|&j| j != i).map(|j| (key - near[j].0) / (point.0 - near[j].0)).product();
                ratio[0] += weight * point.1[0];
                ratio[1] += weight * point.1[1];
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests;

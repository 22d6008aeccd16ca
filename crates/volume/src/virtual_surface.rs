//! Curvature at the contact line by the virtual surface method (wang2005, §5.1–5.3).
//!
//! Inside the solid, the surface between liquid and solid is replaced by a *virtual surface*: a
//! ruled surface that leaves the contact line at the angle θ. If the interface meets the solid at
//! that angle, the two join without a kink; otherwise the kink's curvature, taken as pressure,
//! drives the line towards it: too large an angle gives a low κ, and the line advances.
//!
//! Everything happens in a stencil of 3 × 3 × 3 nodes around an air cell at the interface, one cell
//! size h apart, in the solid's axes:
//!
//! ```text
//! Y = N_s                         out of the solid; the plane Y = 0 stands for the solid's surface
//! X = N_l − (N_l·N_s) N_s
//!     the liquid's normal along the solid, out of the liquid (normalized)
//! Z = X × Y
//! ```
//!
//! φ there, less its value in the middle, is the distance from the interface's parallel through the
//! middle (§5.3). Then
//!
//! 1. ψ, the distance along the plane Y = 0 from the contact line, from pairs of neighbors there,
//!    the first in water, the second in air (eq. 8): ψ₁ : ψ₂ = φ₁ : φ₂ and ψ₂ − ψ₁ = h if φ₂ > φ
//!    above the second (the liquid overhangs), otherwise ψ₂ = φ₂, ψ₁ = φ₂ − h. A node in several
//!    pairs takes the least |ψ|; the others follow by fast marching.
//! 2. φ_v, the distance from the virtual surface, at depth d = 0 and h below that plane (eqs. 5 and
//!    6, with ψ for x so that they hold off the line's normal plane, too):
//!
//! ```text
//! φ_v = ψ sin θ − d cos θ         where ψ cos θ + d sin θ > 0,
//!       sgn ψ √(ψ² + d²)          elsewhere: there the nearest point is on the line.
//! ```
//!
//! 3. φ_new, the distance from both surfaces together: known at nodes next to them, by fast
//!    marching elsewhere, never farther than either (eq. 7).
//! 4. κ = ∇·(∇φ_new/|∇φ_new|) in the middle, by central differences (eq. 9).
//!
//! φ must be that of the *liquid–air interface*, continued smoothly into the solid, not that of the
//! closed body of liquid. [`Variant::Paper`] does not use it at water nodes on the plane, as the
//! paper does not; [`Variant::Complete`] does, takes ψ₁ : ψ₂ = φ₁ : φ₂ at any angle, and is
//! accurate at small angles where the other is 18° off.
//!
//! # Accuracy and limits
//!
//! On exact spherical caps with R = 16 h: the angle at which the normal-plane curvature vanishes,
//! less the true one, in degrees, over random planes (mean ± standard deviation; φ exact at the
//! nodes; interpolated linearly on the grid it is 0.6 lower, at 150° 2):
//!
//! | θ_c | `Paper` | `Complete` |
//! |---|---|---|
//! | 30 | 18.5 ± 0.1 | 0.6 ± 2.5 |
//! | 60 | −1.2 ± 1.3 | −1.0 ± 1.2 |
//! | 90 | −1.7 ± 1.0 | −1.7 ± 1.0 |
//! | 120 | −2.6 ± 1.2 | −2.8 ± 1.2 |
//! | 150 | −7.2 ± 2.1 | −7.6 ± 1.7 |
//!
//! Two degrees of this are geometric: the stencil compares θ with the liquid's angle half a cell
//! above its middle, which is smaller than that at the wall. κ_n ≈ (θ − θ_c)/h near it, with a
//! slope between 0.85 and 1, but 0.5 with `Complete` at 150°. The solid must be smooth on the scale
//! of h, and θ not extreme: the virtual surface must not intersect itself (1 + s cos θ |L″| > 0
//! with L the line, wang2005, appendix).

use glam::DVec3;
use sessile_numerics::math;

/// Nodes of a stencil.
pub const NODES: usize = 27;
/// The node in the middle.
pub const MIDDLE: usize = 13;
/// Largest φ/h at the node behind the middle, so that the stencil always contains a contact line
/// (wang2005, §5.3).
const EPSILON: f64 = -1e-6;

/// Where φ is used on the plane Y = 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// At air nodes only (wang2005, eq. 7): valid also where φ is the distance of the closed body
    /// of liquid.
    Paper,
    /// At all nodes: φ is that of the liquid–air interface.
    #[default]
    Complete,
}

/// Curvature in the middle of the stencil, in 1/m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Curvature {
    /// ∇·n: the sum of both principal curvatures, 2/R on a sphere.
    pub total: f64,
    /// The part in the contact line's normal plane; 0 at the imposed angle.
    pub normal_plane: f64,
}

/// Index of the node (x, y, z), each −1, 0 or 1.
pub fn node([x, y, z]: [i32; 3]) -> usize {
    (MIDDLE as i32 + x + 3 * y + 9 * z) as usize
}

/// Coordinates of a node, each −1, 0 or 1.
pub fn coordinates(node: usize) -> [i32; 3] {
    [node % 3, node / 3 % 3, node / 9].map(|c| c as i32 - 1)
}

/// The axes X, Y, Z of a stencil; none where the interface is parallel to the solid and has no
/// contact line.
pub fn axes(out_of_liquid: DVec3, out_of_solid: DVec3) -> Option<[DVec3; 3]> {
    let y = out_of_solid.try_normalize()?;
    let along = out_of_liquid - out_of_liquid.dot(y) * y;
    // Below a ten-thousandth the direction would be rounding.
    (along.length_squared() > 1e-8 * out_of_liquid.length_squared())
        .then(|| along.normalize())
        .map(|x| [x, y, x.cross(y)])
}

/// φ at the nodes of the stencil around `middle`, `h` apart.
pub fn sample(middle: DVec3, axes: [DVec3; 3], h: f64, phi: impl Fn(DVec3) -> f64) -> [f64; NODES] {
    std::array::from_fn(|k| {
        let [x, y, z] = coordinates(k).map(f64::from);
        phi(middle + h * (x * axes[0] + y * axes[1] + z * axes[2]))
    })
}

/// Curvature in the middle of a stencil with the virtual surface at the angle `theta`, in rad;
/// `phi` and `h` in m.
pub fn curvature(phi: &[f64; NODES], h: f64, theta: f64, variant: Variant) -> Curvature {
    let mut liquid = phi.map(|value| (value - phi[MIDDLE]) / h);
    let behind = node([-1, 0, 0]);
    liquid[behind] = liquid[behind].min(EPSILON);
    let psi = line_distance(&liquid, variant);
    let merged = merge(&liquid, &virtual_distance(&psi, theta), variant);
    let Curvature { total, normal_plane } = curvature_of(&merged);
    Curvature { total: total / h, normal_plane: normal_plane / h }
}

/// ψ at the nine nodes of the plane Y = 0, by (x, z), in units of h.
fn line_distance(liquid: &[f64; NODES], variant: Variant) -> [f64; 9] {
    let at = |k: usize, y: i32| liquid[node([k as i32 % 3 - 1, y, k as i32 / 3 - 1])];
    let mut psi = FastMarching::<9>::new([3, 3, 1]);
    psi.known(4, 0.0);
    for water in 0..9 {
        for air in neighbors(water, [3, 3, 1]) {
            let (inner, outer) = (at(water, 0), at(air, 0));
            if water == 4 || air == 4 || !(inner < 0.0 && outer > 0.0) {
                continue;
            }
            let in_proportion = variant == Variant::Complete || outer > at(air, 1);
            let [a, b] =
                if in_proportion { [inner / (outer - inner), outer / (outer - inner)] } else { [outer - 1.0, outer] };
            psi.nearer(water, a);
            psi.nearer(air, b);
        }
    }
    psi.march(|k| at(k, 0))
}

/// φ_v at the nodes of the planes Y = 0 (first) and Y = −1, by (x, z), in units of h.
fn virtual_distance(psi: &[f64; 9], theta: f64) -> [[f64; 9]; 2] {
    let (sin, cos) = math::sin_cos(theta);
    [0.0, 1.0].map(|depth| {
        psi.map(|psi| {
            if psi * cos + depth * sin > 0.0 { psi * sin - depth * cos } else { math::hypot(psi, depth).copysign(psi) }
        })
    })
}

/// φ_new, in units of h.
fn merge(liquid: &[f64; NODES], virtual_distance: &[[f64; 9]; 2], variant: Variant) -> [f64; NODES] {
    let virtual_at = |k: usize| {
        let [x, y, z] = coordinates(k);
        (y < 1).then(|| virtual_distance[-y as usize][(x + 1 + 3 * (z + 1)) as usize])
    };
    let trusts_liquid = |k: usize| match coordinates(k)[1] {
        -1 => false,
        0 => liquid[k] >= 0.0 || variant == Variant::Complete,
        _ => true,
    };
    let mut marching = FastMarching::<NODES>::new([3, 3, 3]);
    for (k, &phi) in liquid.iter().enumerate() {
        let on_plane = coordinates(k)[1] == 0;
        let nearest = match (virtual_at(k), trusts_liquid(k)) {
            (Some(v), true) if phi.abs() < v.abs() => phi,
            (Some(v), true) => v,
            (Some(_), false) if on_plane => continue,
            (Some(v), false) => v,
            (None, _) => phi,
        };
        if nearest.abs() < 1.0 {
            marching.known(k, nearest);
        }
    }
    marching.known(MIDDLE, 0.0);
    let mut merged = marching.march(|k| virtual_at(k).filter(|_| coordinates(k)[1] < 0).unwrap_or(liquid[k]));
    for (k, value) in merged.iter_mut().enumerate() {
        let mut bound = f64::INFINITY;
        if let Some(v) = virtual_at(k) {
            bound = v.abs();
        }
        if trusts_liquid(k) && (liquid[k] > 0.0 || variant == Variant::Complete) {
            bound = bound.min(liquid[k].abs());
        }
        *value = value.clamp(-bound, bound);
    }
    merged
}

/// Total and normal-plane curvature in the middle of the stencil, in units of 1/h (wang2005, eq.
/// 9).
fn curvature_of(phi: &[f64; NODES]) -> Curvature {
    let at = |x, y, z| phi[node([x, y, z])];
    let x = 0.5 * (at(1, 0, 0) - at(-1, 0, 0));
    let y = 0.5 * (at(0, 1, 0) - at(0, -1, 0));
    let z = 0.5 * (at(0, 0, 1) - at(0, 0, -1));
    let middle = 2.0 * phi[MIDDLE];
    let xx = at(1, 0, 0) + at(-1, 0, 0) - middle;
    let yy = at(0, 1, 0) + at(0, -1, 0) - middle;
    let zz = at(0, 0, 1) + at(0, 0, -1) - middle;
    let xy = 0.25 * (at(1, 1, 0) + at(-1, -1, 0) - at(1, -1, 0) - at(-1, 1, 0));
    let xz = 0.25 * (at(1, 0, 1) + at(-1, 0, -1) - at(1, 0, -1) - at(-1, 0, 1));
    let yz = 0.25 * (at(0, 1, 1) + at(0, -1, -1) - at(0, 1, -1) - at(0, -1, 1));
    let in_plane = x * x * yy - 2.0 * x * y * xy + y * y * xx;
    let across = x * x * zz - 2.0 * x * z * xz + z * z * xx + y * y * zz - 2.0 * y * z * yz + z * z * yy;
    let slope = |squared: f64| squared.sqrt().max(1e-3).powi(3);
    Curvature {
        total: (in_plane + across) / slope(x * x + y * y + z * z),
        normal_plane: in_plane / slope(x * x + y * y),
    }
}

/// Fast marching on a handful of nodes.
struct FastMarching<const N: usize> {
    size: [usize; 3],
    value: [f64; N],
    is_known: [bool; N],
}

impl<const N: usize> FastMarching<N> {
    fn new(size: [usize; 3]) -> Self {
        Self { size, value: [f64::INFINITY; N], is_known: [false; N] }
    }

    fn known(&mut self, k: usize, value: f64) {
        self.value[k] = value;
        self.is_known[k] = true;
    }

    /// Sets a value unless a smaller one is known.
    fn nearer(&mut self, k: usize, value: f64) {
        if value.abs() < self.value[k].abs() {
            self.known(k, value);
        }
    }

    /// Completes the values, nearest first; unknown ones take the sign of `sign_of`.
    fn march(mut self, sign_of: impl Fn(usize) -> f64) -> [f64; N] {
        loop {
            let mut next: Option<(usize, f64)> = None;
            for k in (0..N).filter(|&k| !self.is_known[k]) {
                let negative = sign_of(k) < 0.0;
                let distance = self.arrival(k, negative);
                if next.is_none_or(|(_, least)| distance < least.abs()) && distance.is_finite() {
                    next = Some((k, if negative { -distance } else { distance }));
                }
            }
            let Some((k, value)) = next else { break };
            self.known(k, value);
        }
        // A node that no known one of its sign can reach is as far as the stencil is wide.
        std::array::from_fn(|k| if self.is_known[k] { self.value[k] } else { 2.0_f64.copysign(sign_of(k)) })
    }

    /// |∇d| = 1 from the known neighbors of the same sign, the nearest along each axis.
    fn arrival(&self, k: usize, negative: bool) -> f64 {
        let mut along = [f64::INFINITY; 3];
        let [w, h, _] = self.size;
        let place = [k % w, k / w % h, k / (w * h)];
        for (axis, stride) in [1, w, w * h].into_iter().enumerate() {
            for up in [false, true] {
                let exists = if up { place[axis] + 1 < self.size[axis] } else { place[axis] > 0 };
                if exists {
                    let other = if up { k + stride } else { k - stride };
                    let value = self.value[other];
                    if self.is_known[other] && (value == 0.0 || (value < 0.0) == negative) {
                        along[axis] = along[axis].min(value.abs());
                    }
                }
            }
        }
        along.sort_unstable_by(f64::total_cmp);
        // With the n nearest: Σ (d − aᵢ)² = 1.
        let mut distance = along[0] + 1.0;
        let (mut sum, mut squares) = (0.0, 0.0);
        for (n, a) in along.into_iter().enumerate() {
            if a >= distance {
                break;
            }
            sum += a;
            squares += a * a;
            let n = (n + 1) as f64;
            distance = (sum + (sum * sum - n * (squares - 1.0)).max(0.0).sqrt()) / n;
        }
        distance
    }
}

/// Face neighbors in a small block of nodes.
fn neighbors(k: usize, size: [usize; 3]) -> impl Iterator<Item = usize> {
    let [w, h, _] = size;
    let place = [k % w, k / w % h, k / (w * h)];
    [1, w, w * h].into_iter().enumerate().flat_map(move |(axis, stride)| {
        let down = (place[axis] > 0).then(|| k - stride);
        let up = (place[axis] + 1 < size[axis]).then(|| k + stride);
        down.into_iter().chain(up)
    })
}

#[cfg(test)]
mod tests;

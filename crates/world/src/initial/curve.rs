//! Distance to smooth plane curves, and quadrature.

use std::f64::consts::PI;

use glam::{DVec2, Vec2Swizzles};
use sessile_numerics::math;

/// A smooth parametric plane curve.
pub(crate) trait Curve {
    /// Point, first and second derivative at `s`.
    fn at(&self, s: f64) -> [DVec2; 3];
}

/// A curve over an interval of its parameter, with a table of points for the initial guess.
#[derive(Clone, Debug)]
pub(crate) struct Tabulated<C> {
    pub curve: C,
    from: f64,
    step: f64,
    points: Vec<DVec2>,
}

impl<C: Curve> Tabulated<C> {
    /// The curve from `from` to `to`, tabulated at `segments` + 1 points.
    pub fn new(curve: C, from: f64, to: f64, segments: usize) -> Self {
        let step = (to - from) / segments as f64;
        let points = (0..=segments).map(|i| curve.at(from + step * i as f64)[0]).collect();
        Self { curve, from, step, points }
    }

    /// Distance from `query` to the curve, in m.
    ///
    /// Starts at the nearest tabulated point; then Newton's method on the derivative of the squared
    /// distance, safeguarded by bisection between the point's neighbors. Segments must be short
    /// compared with the curve's radius of curvature.
    pub fn distance(&self, query: DVec2) -> f64 {
        let (nearest, _) = self.points.iter().enumerate().fold((0, f64::INFINITY), |best, (i, p)| {
            let square = p.distance_squared(query);
            if square < best.1 { (i, square) } else { best }
        });
        let middle = self.from + self.step * nearest as f64;
        let last = self.from + self.step * (self.points.len() - 1) as f64;
        let (mut low, mut high) = ((middle - self.step).max(self.from), (middle + self.step).min(last));
        let mut s = middle;
        for _ in 0..40 {
            let [x, dx, ddx] = self.curve.at(s);
            let slope = (x - query).dot(dx);
            if slope > 0.0 {
                high = s;
            } else {
                low = s;
            }
            let newton = s - slope / (dx.length_squared() + (x - query).dot(ddx));
            // A comparison with NaN is false, so a flat spot bisects as well.
            let next = if newton > low && newton < high { newton } else { (low + high) / 2.0 };
            let done = (next - s).abs() <= 1e-14 * self.step;
            s = next;
            if done {
                break;
            }
        }
        // The nearest point may be an end of the curve, which bisection only approaches.
        let ends = [low, high].map(|end| self.curve.at(end)[0].distance(query));
        self.curve.at(s)[0].distance(query).min(ends[0]).min(ends[1])
    }
}

/// Nodes and weights on [from, to] of 4-point Gauss–Legendre on `panels` panels.
pub(crate) fn gauss_nodes(from: f64, to: f64, panels: usize) -> impl Iterator<Item = (f64, f64)> {
    // Nodes ±√(3/7 ∓ (2/7)√(6/5)), weights (18 ± √30)/36.
    let root = (6.0f64 / 5.0).sqrt() * 2.0 / 7.0;
    let (inner, outer) = ((3.0 / 7.0 - root).sqrt(), (3.0 / 7.0 + root).sqrt());
    let (w_inner, w_outer) = ((18.0 + 30f64.sqrt()) / 36.0, (18.0 - 30f64.sqrt()) / 36.0);
    let half = (to - from) / panels as f64 / 2.0;
    let nodes = [(-outer, w_outer), (-inner, w_inner), (inner, w_inner), (outer, w_outer)];
    (0..panels).flat_map(move |i| nodes.map(|(x, w)| (from + half * ((2 * i + 1) as f64 + x), half * w)))
}

/// ∫ f from `from` to `to`, by 4-point Gauss–Legendre on 128 panels: exact to rounding for
/// integrands that are smooth over a panel.
pub(crate) fn integrate(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    gauss_nodes(from, to, 128).map(|(x, weight)| weight * f(x)).sum()
}

/// The Legendre polynomial P_n and its derivative at `x` ∈ [−1, 1].
///
/// By the three-term recurrence and P'ₖ₊₁ = P'ₖ₋₁ + (2k + 1) Pₖ.
pub(crate) fn legendre(n: u32, x: f64) -> (f64, f64) {
    let ((mut p0, mut p1), (mut d0, mut d1)) = ((1.0, x), (0.0, 1.0));
    if n == 0 {
        return (1.0, 0.0);
    }
    for k in 1..n {
        let k = f64::from(k);
        (p0, p1) = (p1, ((2.0 * k + 1.0) * x * p1 - k * p0) / (k + 1.0));
        // p0 is now P_k.
        (d0, d1) = (d1, d0 + (2.0 * k + 1.0) * p0);
    }
    (p1, d1)
}

/// A sphere perturbed by one mode: r(ψ) = scale (1 + amplitude M(ψ)), ψ ∈ [0, π] the angle from the
/// axis.
///
/// The curve lies in the plane (across, along) of the axis and the query. M is the Legendre mode
/// Pₙ(cos ψ), or in two dimensions cos nψ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerturbedSphere {
    pub scale: f64,
    pub amplitude: f64,
    pub mode: u32,
    pub planar: bool,
}

impl PerturbedSphere {
    /// M, M' and M'' at ψ.
    fn mode_at(&self, psi: f64) -> [f64; 3] {
        let n = f64::from(self.mode);
        let (sin, cos) = math::sin_cos(psi);
        if self.planar {
            let (s, c) = math::sin_cos(n * psi);
            return [c, -n * s, -n * n * c];
        }
        // Legendre's equation gives sin²ψ P'' = 2 cos ψ P' − n(n + 1) P.
        let (p, dp) = legendre(self.mode, cos);
        [p, -sin * dp, cos * dp - n * (n + 1.0) * p]
    }

    /// The radius at ψ, in m.
    pub fn radius(&self, psi: f64) -> f64 {
        self.scale * (1.0 + self.amplitude * self.mode_at(psi)[0])
    }

    /// The curve of this mode and amplitude that encloses `amount`, in m³ or m².
    pub fn of_amount(amount: f64, mode: u32, amplitude: f64, planar: bool) -> Self {
        let unit = Self { scale: 1.0, amplitude, mode, planar };
        let enclosed = unit.moment(0);
        let scale = if planar { (amount / enclosed).sqrt() } else { math::cbrt(amount / enclosed) };
        Self { scale, ..unit }
    }

    /// ∫ zᵏ over the body, z the height along the axis.
    pub fn moment(&self, k: i32) -> f64 {
        integrate(0.0, PI, |psi| {
            let r = self.radius(psi);
            let (sin, cos) = math::sin_cos(psi);
            let height = cos.powi(k);
            if self.planar {
                // Both halves: 2 ∫∫ (r cos ψ)ᵏ r dr dψ.
                2.0 * height * r.powi(k + 2) / f64::from(k + 2)
            } else {
                2.0 * PI * height * r.powi(k + 3) / f64::from(k + 3) * sin
            }
        })
    }
}

impl Curve for PerturbedSphere {
    fn at(&self, psi: f64) -> [DVec2; 3] {
        let [m, dm, ddm] = self.mode_at(psi);
        let (r, dr, ddr) = (
            self.scale * (1.0 + self.amplitude * m),
            self.scale * self.amplitude * dm,
            self.scale * self.amplitude * ddm,
        );
        let (out, side) = (math::direction(psi).yx(), math::direction(psi).yx().perp() * -1.0);
        [out * r, out * dr + side * r, out * (ddr - r) + side * (2.0 * dr)]
    }
}

/// A cylinder with a sinusoidal perturbation: r(x) = scale (1 + amplitude cos kx), in the plane (x,
/// r).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerturbedCylinder {
    pub scale: f64,
    pub amplitude: f64,
    pub wavenumber: f64,
}

impl PerturbedCylinder {
    /// The radius at x, in m.
    pub fn radius(&self, x: f64) -> f64 {
        self.scale * (1.0 + self.amplitude * math::cos(self.wavenumber * x))
    }

    /// Mean of (1 + amplitude cos kx)ᵖ over [0, length], p = 1 or 2.
    pub fn mean_power(&self, length: f64, p: i32) -> f64 {
        let (e, k) = (self.amplitude, self.wavenumber);
        // The limit of sin(q)/q for small q.
        let sinc = |q: f64| if q.abs() < 1e-8 { 1.0 } else { math::sin(q) / q };
        let first = 2.0 * e * sinc(k * length);
        if p == 1 { 1.0 + first / 2.0 } else { 1.0 + first + e * e * (1.0 + sinc(2.0 * k * length)) / 2.0 }
    }
}

impl Curve for PerturbedCylinder {
    fn at(&self, x: f64) -> [DVec2; 3] {
        let (e, k) = (self.scale * self.amplitude, self.wavenumber);
        let (sin, cos) = math::sin_cos(k * x);
        [DVec2::new(x, self.scale + e * cos), DVec2::new(1.0, -e * k * sin), DVec2::new(0.0, -e * k * k * cos)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Derivatives by central differences, h = 1e-5: errors h² and rounding/h².
    fn derivatives_are_right(curve: &dyn Curve, s: f64) {
        let h = 1e-5;
        let [x, dx, ddx] = curve.at(s);
        let (a, b) = (curve.at(s - h)[0], curve.at(s + h)[0]);
        assert!((dx - (b - a) / (2.0 * h)).length() < 1e-8, "first derivative at {s}: {dx}");
        assert!((ddx - (b - 2.0 * x + a) / (h * h)).length() < 1e-4, "second derivative at {s}: {ddx}");
    }

    #[test]
    fn derivatives_of_curves_agree_with_central_differences() {
        for s in [0.2, 1.1, 2.8] {
            for planar in [false, true] {
                derivatives_are_right(&PerturbedSphere { scale: 1.3, amplitude: 0.2, mode: 3, planar }, s);
            }
            derivatives_are_right(&PerturbedCylinder { scale: 0.7, amplitude: 0.3, wavenumber: 2.0 }, s);
        }
    }

    #[test]
    fn legendre_polynomials_are_orthogonal_with_norm_two_over_two_n_plus_one() {
        for (m, n) in [(2, 2), (3, 3), (8, 8), (2, 4), (3, 8)] {
            let product = integrate(-1.0, 1.0, |x| legendre(m, x).0 * legendre(n, x).0);
            let expected = if m == n { 2.0 / (2.0 * f64::from(n) + 1.0) } else { 0.0 };
            // Panels are 1/64 wide; the error of four points each, in the 8th derivative of x¹⁶ at
            // 1, is some 1e-13.
            assert!((product - expected).abs() < 1e-12, "P{m} P{n}: {product}");
        }
    }

    #[test]
    fn a_perturbed_sphere_encloses_the_given_amount() {
        // Volume of a P₂ spheroid by its own expansion: (4π/3) R³ (1 + 3ε²/5 + 2ε³/35).
        let sphere = PerturbedSphere { scale: 1.0, amplitude: 0.3, mode: 2, planar: false };
        let expected = 4.0 / 3.0 * PI * (1.0 + 0.6 * 0.09 + 2.0 / 35.0 * 0.027);
        assert!((sphere.moment(0) / expected - 1.0).abs() < 1e-13, "{} against {expected}", sphere.moment(0));
        let flat = PerturbedSphere { planar: true, ..sphere };
        assert!((flat.moment(0) / (PI * (1.0 + 0.045)) - 1.0).abs() < 1e-13, "{}", flat.moment(0));
        for planar in [false, true] {
            let made = PerturbedSphere::of_amount(4.19e-9, 4, -0.2, planar);
            assert!((made.moment(0) / 4.19e-9 - 1.0).abs() < 1e-13, "{}", made.moment(0));
        }
    }

    #[test]
    fn distance_to_a_curve_is_that_of_brute_force() {
        let sphere = PerturbedSphere { scale: 1.0, amplitude: 0.25, mode: 5, planar: false };
        let table = Tabulated::new(sphere, 0.0, PI, 256);
        for i in 0..200 {
            let f = f64::from(i);
            let query = DVec2::new((0.37 * f).sin().abs() * 1.4, (0.73 * f).cos() * 1.4);
            let brute = (0..=20_000)
                .map(|j| sphere.at(PI * f64::from(j) / 20_000.0)[0].distance_squared(query))
                .fold(f64::INFINITY, f64::min)
                .sqrt();
            let found = table.distance(query);
            // Samples are 3e-4 apart, so brute force is off by up to (1.5e-4)²/(2 d) at distance d,
            // and by 1.5e-4 at most.
            assert!(found <= brute + 1e-12 && brute - found < 2e-4, "at {query}: {found} against {brute}");
        }
    }
}

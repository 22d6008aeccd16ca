//! A moving contact line: how its angle changes between the slip length and a distance that a model
//! resolves.
//!
//! ```text
//! g(θ) = ∫₀^θ (x − sin x cos x)/(2 sin x) dx,      g(θ) ≈ θ³/9 (within 4 % to 100°)
//! g(θ_d) = g(θ_m) + Ca ln(d/2λ),      Ca = ηU/γ, positive while the line advances
//! ```
//!
//! Cox's law for a liquid beside a gas of no viscosity (cox1986), with θ³/9 that of Voinov
//! (voinov1976): θ_m is the advancing or receding angle, θ_d the one at the distance d, λ the slip
//! length. At a grid of cells of side d the velocity nearest to the wall is d/2 above it, hence
//! ln(d/2λ) (afkhami2009, dupont2010, legendre2015). The same law is a force on the liquid beyond
//! d: since dcos θ/dg = −m(θ), the dissipation in a wedge,
//!
//! ```text
//! γ (cos θ_m − cos θ_d) = m η U ln(d/2λ)      per length of line, m = 2 sin²θ/(θ − sin θ cos θ)
//! ```
//!
//! with m at an angle in between. Its power is what the wedge between λ and d dissipates. The three
//! papers on grids, and both coefficients, are from general knowledge and unverified; the integral
//! is computed here.

use std::f64::consts::PI;
use std::sync::LazyLock;

use sessile_numerics::math;

use crate::cap::angle_minus_sin_cos;

/// Slip length λ of a liquid on a solid, in m: nanometers.
pub const SLIP_LENGTH: f64 = 10e-9;

/// Intervals of the table of g.
const INTERVALS: usize = 352;
/// Largest angle of the table, in rad: g is infinite at 180°.
pub const MAX_ANGLE: f64 = 176.0 / 180.0 * PI;
/// Width of an interval, in rad.
const WIDTH: f64 = MAX_ANGLE / INTERVALS as f64;

/// ∛(9g) at equidistant angles. It is θ for small angles, and smooth.
static SCALED: LazyLock<[f64; INTERVALS + 1]> = LazyLock::new(|| {
    let mut table = [0.0; INTERVALS + 1];
    let mut integral = 0.0;
    for k in 0..INTERVALS {
        let from = WIDTH * k as f64;
        let at = |share: f64| wedge_growth(from + share * WIDTH);
        integral += WIDTH / 6.0 * (at(0.0) + 4.0 * at(0.5) + at(1.0));
        table[k + 1] = math::cbrt(9.0 * integral);
    }
    table
});

/// Equal intervals of ∛(9g), and for each the first entry of [`SCALED`] that is not below its lower
/// end, so that an angle is found without a search.
const GUIDES: usize = 1024;
static FIRST: LazyLock<[u16; GUIDES]> = LazyLock::new(|| {
    let mut first = [0; GUIDES];
    for (guide, first) in first.iter_mut().enumerate() {
        let low = guide as f64 * (SCALED[INTERVALS] / GUIDES as f64);
        *first = SCALED.partition_point(|&at| at < low) as u16;
    }
    first
});

/// dg/dθ = (θ − sin θ cos θ)/(2 sin θ); θ²/3 for small angles.
fn wedge_growth(theta: f64) -> f64 {
    if theta == 0.0 { 0.0 } else { angle_minus_sin_cos(theta) / (2.0 * math::sin(theta)) }
}

/// g(θ), for angles up to [`MAX_ANGLE`] (in rad).
pub fn cox_integral(theta: f64) -> f64 {
    let place = (theta / WIDTH).clamp(0.0, INTERVALS as f64);
    let k = (place as usize).min(INTERVALS - 1);
    let (low, high) = (SCALED[k], SCALED[k + 1]);
    (low + (high - low) * (place - k as f64)).powi(3) / 9.0
}

/// The angle at which g is `integral`, in rad; 0 below 0, and at most [`MAX_ANGLE`].
fn angle_of(integral: f64) -> f64 {
    if integral <= 0.0 {
        return 0.0;
    }
    let (scaled, table) = (math::cbrt(9.0 * integral), &*SCALED);
    // Rounding may put `scaled` into the guide above its own: the first entry of the one below is
    // not above it.
    let guide = (scaled * (GUIDES as f64 / table[INTERVALS])) as usize;
    let mut k = usize::from(FIRST[guide.saturating_sub(1).min(GUIDES - 1)]);
    while k < INTERVALS && table[k] < scaled {
        k += 1;
    }
    let k = k.max(1);
    let (low, high) = (table[k - 1], table[k]);
    WIDTH * ((k - 1) as f64 + ((scaled - low) / (high - low)).clamp(0.0, 1.0))
}

/// The angle θ_d of a line whose angle at the slip length is `theta` (in rad), for Ca ln(d/2λ) =
/// `growth`; in rad.
///
/// 0 where a line recedes so fast that it leaves a film, at most [`MAX_ANGLE`] where one advances
/// so fast that it entrains air.
pub fn angle_at_distance(theta: f64, growth: f64) -> f64 {
    if growth == 0.0 { theta } else { angle_of(cox_integral(theta) + growth) }
}

/// A contact angle at the slip length, with what the law needs of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineAngle {
    /// The angle θ_m, in rad.
    pub theta: f64,
    /// cos θ_m.
    pub cosine: f64,
    /// g(θ_m).
    integral: f64,
}

impl LineAngle {
    /// The angle `theta`, in rad.
    pub fn new(theta: f64) -> Self {
        Self { theta, cosine: math::cos(theta), integral: cox_integral(theta) }
    }

    /// [`angle_at_distance`] for this angle.
    #[inline]
    pub fn at_distance(&self, growth: f64) -> f64 {
        if growth == 0.0 { self.theta } else { angle_of(self.integral + growth) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sliding::wedge_dissipation;

    /// Angles at the ends of intervals and of guides, one rounding below and above them, and
    /// between.
    #[test]
    fn guides_find_the_interval_of_an_angle() {
        let largest = SCALED[INTERVALS];
        let ends = (0..=INTERVALS).map(|k| SCALED[k]);
        let guides = (0..=4 * GUIDES).map(|k| k as f64 * largest / (4.0 * GUIDES as f64));
        let mut checked = 0;
        for end in ends.chain(guides) {
            let integral = end.powi(3) / 9.0;
            for integral in [integral.next_down().next_down(), integral, integral.next_up().next_up(), 1.001 * integral]
            {
                let scaled = math::cbrt(9.0 * integral.max(0.0));
                let k = SCALED.partition_point(|&at| at < scaled).clamp(1, INTERVALS);
                let (low, high) = (SCALED[k - 1], SCALED[k]);
                let exact = WIDTH * ((k - 1) as f64 + ((scaled - low) / (high - low)).clamp(0.0, 1.0));
                assert_eq!(angle_of(integral), if integral <= 0.0 { 0.0 } else { exact }, "at {integral:e}");
                checked += 1;
            }
        }
        assert!(checked > 16_000);
        for theta in [0.2, 1.4, 3.0] {
            let line = LineAngle::new(theta);
            assert_eq!(line.at_distance(0.0), theta);
            assert_eq!(line.at_distance(0.07), angle_at_distance(theta, 0.07));
        }
    }

    #[test]
    fn cox_integral_is_voinovs_cube_for_small_angles() {
        for (degrees, tolerance) in [(1.0, 1e-3), (30.0, 0.01), (60.0, 0.02), (100.0, 0.06)] {
            let theta = f64::to_radians(degrees);
            let ratio = cox_integral(theta) / (theta.powi(3) / 9.0);
            assert!((ratio - 1.0).abs() < tolerance, "at {degrees}° g is {ratio} of θ³/9");
        }
        // Beyond 100° it grows faster than the cube.
        let theta = f64::to_radians(170.0);
        assert!(cox_integral(theta) > 1.2 * theta.powi(3) / 9.0);
    }

    #[test]
    fn angle_and_integral_are_inverse() {
        for degrees in [0.3, 5.0, 37.1, 90.0, 133.3, 175.0] {
            let theta = f64::to_radians(degrees);
            let back = angle_of(cox_integral(theta));
            assert!((back - theta).abs() < 1e-9, "{degrees}° returns as {}°", back.to_degrees());
            assert_eq!(angle_at_distance(theta, 0.0), theta);
        }
        assert_eq!(angle_at_distance(1.0, -1.0), 0.0);
        assert!((angle_at_distance(1.0, 1e9) - MAX_ANGLE).abs() < 1e-12);
    }

    /// γ (cos θ_m − cos θ_d) U is the dissipation m η U² ln(d/2λ) of the wedge.
    #[test]
    fn the_force_of_the_law_is_the_dissipation_of_the_wedge() {
        for degrees in [20.0, 60.0, 90.0, 140.0] {
            let (theta, growth) = (f64::to_radians(degrees), 1e-4);
            let force = theta.cos() - angle_at_distance(theta, growth).cos();
            let ratio = force / (growth * wedge_dissipation(theta));
            assert!((ratio - 1.0).abs() < 0.01, "at {degrees}°: {ratio} of the wedge's dissipation");
        }
    }
}

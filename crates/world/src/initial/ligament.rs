//! A ligament, plain or perturbed: r(x) = scale (1 + amplitude cos(2πx/wavelength)), x from the end
//! `from`.
//!
//! `scale` is such that the perturbed ligament has the volume of the plain cylinder. In a planar
//! run the ligament is a strip of half width r. Distances are to the meridian curve and the two
//! flat ends; an end on a side of the domain that is not open (wall, symmetry, periodic) is not an
//! end: the ligament is extended beyond it.

use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};

use super::curve::{Curve, PerturbedCylinder, Tabulated, integrate};

/// A ligament between two points.
#[derive(Clone, Debug)]
pub(crate) struct Ligament {
    from: DVec3,
    axis: DVec3,
    length: f64,
    planar: bool,
    /// Interval of the axis with liquid, including extensions.
    span: [f64; 2],
    /// Whether each end is a free end.
    ends: [bool; 2],
    side: Tabulated<PerturbedCylinder>,
}

impl Ligament {
    /// A ligament of mean `radius`; `continues` marks the ends to extend.
    ///
    /// `None` for zero length, or if the perturbation reaches the axis.
    pub fn new(
        [from, to]: [DVec3; 2],
        radius: f64,
        amplitude: f64,
        wavelength: Option<f64>,
        planar: bool,
        continues: [bool; 2],
    ) -> Option<Self> {
        let length = from.distance(to);
        let axis = (to - from).try_normalize()?;
        let (amplitude, wavenumber) = wavelength.map_or((0.0, 0.0), |wavelength| (amplitude, TAU / wavelength));
        if !(amplitude.abs() < 1.0 && wavenumber.is_finite() && radius > 0.0 && length.is_finite()) {
            return None;
        }
        let unit = PerturbedCylinder { scale: 1.0, amplitude, wavenumber };
        let scale =
            if planar { radius / unit.mean_power(length, 1) } else { radius / unit.mean_power(length, 2).sqrt() };
        let perturbed = PerturbedCylinder { scale, ..unit };
        // Far enough that the extended end does not affect distances inside the domain.
        let beyond = length + 4.0 * radius;
        let start = if continues[0] { -beyond } else { 0.0 };
        let stop = if continues[1] { length + beyond } else { length };
        // 32 segments per wavelength for a good initial guess; a plain cylinder needs one.
        let segments = ((stop - start) * wavenumber / TAU * 32.0).ceil().clamp(1.0, 65_536.0) as usize;
        let side = Tabulated::new(perturbed, start, stop, segments);
        Some(Self { from, axis, length, planar, span: [start, stop], ends: continues.map(|on| !on), side })
    }

    /// Volume between its ends, in m³; in a planar run area, in m².
    pub fn amount(&self) -> f64 {
        let curve = &self.side.curve;
        if self.planar {
            2.0 * curve.scale * curve.mean_power(self.length, 1) * self.length
        } else {
            PI * curve.scale.powi(2) * curve.mean_power(self.length, 2) * self.length
        }
    }

    /// Centroid between its ends, in m.
    pub fn centroid(&self) -> DVec3 {
        let power = if self.planar { 1 } else { 2 };
        let moment = |k: i32| integrate(0.0, self.length, |x| x.powi(k) * self.side.curve.radius(x).powi(power));
        self.from + self.axis * (moment(1) / moment(0))
    }

    /// Largest radius, in m.
    pub fn max_radius(&self) -> f64 {
        self.side.curve.scale * (1.0 + self.side.curve.amplitude.abs())
    }

    /// Signed distance, in m; negative in the liquid.
    pub fn signed_distance(&self, point: DVec3) -> f64 {
        let offset = point - self.from;
        let offset = if self.planar { offset.with_z(0.0) } else { offset };
        let x = offset.dot(self.axis);
        let across = (offset - self.axis * x).length();
        let curve = &self.side.curve;
        let mut nearest = self.side.distance(DVec2::new(x, across));
        for (end, at) in self.ends.iter().zip(self.span) {
            if *end {
                let rim = curve.at(at)[0].y;
                nearest = nearest.min(DVec2::new(x - at, (across - rim).max(0.0)).length());
            }
        }
        let inside = x > self.span[0] && x < self.span[1] && across < curve.radius(x);
        if inside { -nearest } else { nearest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: [DVec3; 2] = [DVec3::ZERO, DVec3::new(0.02, 0.0, 0.0)];

    /// Volume by sampling the midpoints of 0.1 mm cells.
    fn sampled_amount(ligament: &Ligament, planar: bool) -> f64 {
        let cell = 1e-4;
        let count = |low: f64, high: f64| ((high - low) / cell).round() as i32;
        let (nx, ny) = (count(0.0, 0.02), count(-0.002, 0.002));
        let nz = if planar { 1 } else { ny };
        let mut cells = 0u32;
        for i in 0..nx {
            for j in 0..ny {
                for k in 0..nz {
                    let at = |n: i32, low: f64| low + (f64::from(n) + 0.5) * cell;
                    let p = DVec3::new(at(i, 0.0), at(j, -0.002), if planar { 0.0 } else { at(k, -0.002) });
                    cells += u32::from(ligament.signed_distance(p) < 0.0);
                }
            }
        }
        f64::from(cells) * if planar { cell.powi(2) } else { cell.powi(3) }
    }

    #[test]
    fn a_perturbed_ligament_has_the_volume_of_the_plain_one() {
        for (planar, wavelength) in [(false, 0.009), (true, 0.009), (false, 0.005)] {
            let ligament = Ligament::new(ENDS, 1e-3, 0.3, Some(wavelength), planar, [false; 2]).expect("a ligament");
            let plain = if planar { 2.0 * 1e-3 * 0.02 } else { PI * 1e-6 * 0.02 };
            assert!((ligament.amount() / plain - 1.0).abs() < 1e-14, "{} against {plain}", ligament.amount());
            let sampled = sampled_amount(&ligament, planar);
            assert!((sampled / plain - 1.0).abs() < 5e-3, "sampled {sampled} against {plain}");
        }
    }

    #[test]
    fn a_plain_ligament_has_the_distance_of_a_cylinder() {
        let ligament = Ligament::new(ENDS, 1e-3, 0.0, None, false, [false; 2]).expect("a ligament");
        let rod = crate::primitives::cylinder::Cylinder::new(1e-3, None, 0.01);
        for i in 0..500 {
            let f = f64::from(i);
            let p = DVec3::new(0.01 + 0.013 * (1.7 * f).sin(), 0.002 * (0.9 * f).cos(), 0.002 * (2.3 * f).sin());
            let expected = sessile_geometry::Distance::signed_distance(&rod, DVec3::new(p.y, p.x - 0.01, p.z));
            let found = ligament.signed_distance(p);
            assert!((found - expected).abs() < 1e-15, "at {p}: {found} against {expected}");
        }
    }

    #[test]
    fn an_extended_ligament_has_no_end() {
        let ligament = Ligament::new(ENDS, 1e-3, 0.0, None, false, [true, true]).expect("a ligament");
        for x in [-1e-4, 0.0, 0.01, 0.02] {
            let found = ligament.signed_distance(DVec3::new(x, 0.0, 0.0));
            assert!((found + 1e-3).abs() < 1e-15, "on the axis at {x}: {found}");
        }
        assert!((ligament.amount() / (PI * 1e-6 * 0.02) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn the_perturbation_has_a_crest_at_the_first_end() {
        let ligament = Ligament::new(ENDS, 1e-3, 0.1, Some(0.01), false, [true, true]).expect("a ligament");
        let crest = ligament.signed_distance(DVec3::new(0.0, 1e-3, 0.0));
        let trough = ligament.signed_distance(DVec3::new(0.005, 1e-3, 0.0));
        assert!(crest < -0.9e-4 && trough > 0.9e-4, "crest {crest}, trough {trough}");
    }
}

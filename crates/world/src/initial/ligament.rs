//! A thread of liquid, plain or rippled: r(x) = scale (1 + amplitude cos(2πx/wavelength)), x from the end `from`.
//!
//! `scale` is such that the ripple holds what the plain cylinder holds. In a planar run the thread is a strip of half width r.
//! The distance is to the meridian curve and the two flat ends; an end that lies on a side of the domain which continues space
//! (wall, symmetry, periodic) is no end, and the thread goes on beyond it.

use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};

use super::curve::{Curve, Ripple, Tabulated, integrate};

/// A thread from one end to another.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    from: DVec3,
    axis: DVec3,
    length: f64,
    planar: bool,
    /// Stretch of the axis that holds liquid, ends that go on included.
    span: [f64; 2],
    /// Whether each end is one.
    ends: [bool; 2],
    side: Tabulated<Ripple>,
}

impl Thread {
    /// A thread of mean `radius`; `continues` says which ends go on. `None` where it has no length or the ripple closes it.
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
        let unit = Ripple { scale: 1.0, amplitude, wavenumber };
        let scale =
            if planar { radius / unit.mean_power(length, 1) } else { radius / unit.mean_power(length, 2).sqrt() };
        let ripple = Ripple { scale, ..unit };
        // Beyond an end that goes on, so much that the new end is never nearest inside the domain's first few cells.
        let beyond = length + 4.0 * radius;
        let start = if continues[0] { -beyond } else { 0.0 };
        let stop = if continues[1] { length + beyond } else { length };
        // 32 stretches a wave find the right one; a plain side needs one.
        let stretches = ((stop - start) * wavenumber / TAU * 32.0).ceil().clamp(1.0, 65_536.0) as usize;
        let side = Tabulated::new(ripple, start, stop, stretches);
        Some(Self { from, axis, length, planar, span: [start, stop], ends: continues.map(|on| !on), side })
    }

    /// What it holds between its ends, in m³ or m².
    pub fn amount(&self) -> f64 {
        let ripple = &self.side.curve;
        if self.planar {
            2.0 * ripple.scale * ripple.mean_power(self.length, 1) * self.length
        } else {
            PI * ripple.scale.powi(2) * ripple.mean_power(self.length, 2) * self.length
        }
    }

    /// Centroid between its ends, in m.
    pub fn centroid(&self) -> DVec3 {
        let power = if self.planar { 1 } else { 2 };
        let moment = |k: i32| integrate(0.0, self.length, |x| x.powi(k) * self.side.curve.radius(x).powi(power));
        self.from + self.axis * (moment(1) / moment(0))
    }

    /// Largest radius, in m.
    pub fn widest(&self) -> f64 {
        self.side.curve.scale * (1.0 + self.side.curve.amplitude.abs())
    }

    /// Signed distance, in m: negative in the liquid.
    pub fn signed_distance(&self, point: DVec3) -> f64 {
        let offset = point - self.from;
        let offset = if self.planar { offset.with_z(0.0) } else { offset };
        let x = offset.dot(self.axis);
        let across = (offset - self.axis * x).length();
        let ripple = &self.side.curve;
        let mut nearest = self.side.distance(DVec2::new(x, across));
        for (end, at) in self.ends.iter().zip(self.span) {
            if *end {
                let rim = ripple.at(at)[0].y;
                nearest = nearest.min(DVec2::new(x - at, (across - rim).max(0.0)).length());
            }
        }
        let inside = x > self.span[0] && x < self.span[1] && across < ripple.radius(x);
        if inside { -nearest } else { nearest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: [DVec3; 2] = [DVec3::ZERO, DVec3::new(0.02, 0.0, 0.0)];

    /// Liquid found by sampling: midpoints of 0.1 mm cells.
    fn sampled_amount(thread: &Thread, planar: bool) -> f64 {
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
                    cells += u32::from(thread.signed_distance(p) < 0.0);
                }
            }
        }
        f64::from(cells) * if planar { cell.powi(2) } else { cell.powi(3) }
    }

    #[test]
    fn a_rippled_thread_holds_what_the_plain_one_holds() {
        for (planar, wavelength) in [(false, 0.009), (true, 0.009), (false, 0.005)] {
            let thread = Thread::new(ENDS, 1e-3, 0.3, Some(wavelength), planar, [false; 2]).expect("a thread");
            let plain = if planar { 2.0 * 1e-3 * 0.02 } else { PI * 1e-6 * 0.02 };
            assert!((thread.amount() / plain - 1.0).abs() < 1e-14, "{} against {plain}", thread.amount());
            let sampled = sampled_amount(&thread, planar);
            assert!((sampled / plain - 1.0).abs() < 5e-3, "sampled {sampled} against {plain}");
        }
    }

    #[test]
    fn a_plain_thread_has_the_distance_of_a_rod() {
        let thread = Thread::new(ENDS, 1e-3, 0.0, None, false, [false; 2]).expect("a thread");
        let rod = crate::primitives::cylinder::Cylinder::new(1e-3, None, 0.01);
        for i in 0..500 {
            let f = f64::from(i);
            let p = DVec3::new(0.01 + 0.013 * (1.7 * f).sin(), 0.002 * (0.9 * f).cos(), 0.002 * (2.3 * f).sin());
            let expected = sessile_geometry::Distance::signed_distance(&rod, DVec3::new(p.y, p.x - 0.01, p.z));
            let found = thread.signed_distance(p);
            assert!((found - expected).abs() < 1e-15, "at {p}: {found} against {expected}");
        }
    }

    #[test]
    fn a_thread_that_goes_on_has_no_end() {
        let thread = Thread::new(ENDS, 1e-3, 0.0, None, false, [true, true]).expect("a thread");
        for x in [-1e-4, 0.0, 0.01, 0.02] {
            let found = thread.signed_distance(DVec3::new(x, 0.0, 0.0));
            assert!((found + 1e-3).abs() < 1e-15, "on the axis at {x}: {found}");
        }
        assert!((thread.amount() / (PI * 1e-6 * 0.02) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn the_ripple_is_widest_at_its_first_end() {
        let thread = Thread::new(ENDS, 1e-3, 0.1, Some(0.01), false, [true, true]).expect("a thread");
        let crest = thread.signed_distance(DVec3::new(0.0, 1e-3, 0.0));
        let trough = thread.signed_distance(DVec3::new(0.005, 1e-3, 0.0));
        assert!(crest < -0.9e-4 && trough > 0.9e-4, "crest {crest}, trough {trough}");
    }
}

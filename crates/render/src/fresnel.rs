//! Light at smooth faces between clear media: how much is reflected, and which way the rest goes.
//!
//! Unpolarized light that meets a face under θᵢ, from index nᵢ into nₜ, η = nᵢ/nₜ:
//!
//! ```text
//! sin θₜ = η sin θᵢ          r_∥ = (cos θᵢ − η cos θₜ)/(cos θᵢ + η cos θₜ)
//! R = (r_∥² + r_⊥²)/2        r_⊥ = (η cos θᵢ − cos θₜ)/(η cos θᵢ + cos θₜ)
//! ```
//!
//! Beyond the critical angle (η sin θᵢ ≥ 1) all is reflected.

use glam::Vec3;

/// The reflected share R of unpolarized light; `cosine` ≥ 0 is that of the incident angle, `eta` = nᵢ/nₜ.
pub fn reflectance(cosine: f32, eta: f32) -> f32 {
    let cosine = cosine.clamp(0.0, 1.0);
    let squared = 1.0 - eta * eta * (1.0 - cosine * cosine);
    if squared <= 0.0 {
        return 1.0;
    }
    let beyond = squared.sqrt();
    let parallel = (cosine - eta * beyond) / (cosine + eta * beyond);
    let across = (eta * cosine - beyond) / (eta * cosine + beyond);
    0.5 * (parallel * parallel + across * across)
}

/// The direction of `incident` behind a face with `normal` on the incident side; none beyond the critical angle.
pub fn refract(incident: Vec3, normal: Vec3, eta: f32) -> Option<Vec3> {
    let cosine = -incident.dot(normal);
    let squared = 1.0 - eta * eta * (1.0 - cosine * cosine);
    if squared <= 0.0 {
        return None;
    }
    Some((eta * incident + (eta * cosine - squared.sqrt()) * normal).normalize_or(-normal))
}

/// `incident` mirrored at a face with `normal`.
pub fn reflect(incident: Vec3, normal: Vec3) -> Vec3 {
    (incident - 2.0 * incident.dot(normal) * normal).normalize_or(normal)
}

/// The share that a thin parallel sheet of index `sheet` reflects, all echoes between its faces summed, with `near` before it and
/// `far` behind it: R = R₁ + T₁²R₂/(1 − R₁R₂).
pub fn sheet_reflectance(cosine: f32, near: f32, sheet: f32, far: f32) -> f32 {
    let cosine = cosine.clamp(0.0, 1.0);
    let first = reflectance(cosine, near / sheet);
    let sine = near / sheet * (1.0 - cosine * cosine).max(0.0).sqrt();
    if sine >= 1.0 {
        return 1.0;
    }
    let second = reflectance((1.0 - sine * sine).sqrt(), sheet / far);
    let through = 1.0 - first;
    // Where both faces reflect all, nothing comes in that could come out.
    if first * second >= 1.0 { 1.0 } else { first + through * through * second / (1.0 - first * second) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresnel_agrees_with_its_limits() {
        // Head on, R = ((n − 1)/(n + 1))²; at Brewster's angle only the part across remains.
        let n = 1.333_f32;
        let f0 = ((n - 1.0) / (n + 1.0)).powi(2);
        assert!((reflectance(1.0, 1.0 / n) - f0).abs() < 1e-6);
        let brewster = n.atan();
        let across = ((brewster.cos() / n - (brewster.sin() / n).asin().cos())
            / (brewster.cos() / n + (brewster.sin() / n).asin().cos()))
        .powi(2);
        let got = reflectance(brewster.cos(), 1.0 / n);
        assert!((got - 0.5 * across).abs() < 1e-6, "{got} against {}", 0.5 * across);
        assert_eq!(reflectance(0.0, 1.0 / n), 1.0);
        // Both ways alike along a refracted ray.
        let (inside, outside) = (0.6_f32, (n * 0.6).asin());
        assert!((reflectance((inside.asin()).cos(), n) - reflectance(outside.cos(), 1.0 / n)).abs() < 1e-5);
    }

    #[test]
    fn light_is_reflected_whole_beyond_the_critical_angle_and_bent_by_snell_before() {
        let n = 1.333_f32;
        let critical = (1.0 / n).asin();
        for degrees in 0..90 {
            let angle = (degrees as f32).to_radians();
            let incident = Vec3::new(angle.sin(), -angle.cos(), 0.0);
            let bent = refract(incident, Vec3::Y, n);
            assert_eq!(bent.is_none(), angle >= critical, "{degrees}°");
            assert_eq!(reflectance(angle.cos(), n) == 1.0, angle >= critical, "{degrees}°");
            if let Some(bent) = bent {
                assert!((bent.x - n * angle.sin()).abs() < 1e-5, "{degrees}°: {bent}");
            }
        }
    }

    #[test]
    fn a_pane_in_air_reflects_two_r_over_one_plus_r() {
        for cosine in [1.0, 0.7, 0.3, 0.05] {
            let r = reflectance(cosine, 1.0 / 1.5);
            let pane = sheet_reflectance(cosine, 1.0, 1.5, 1.0);
            assert!((pane - 2.0 * r / (1.0 + r)).abs() < 1e-5, "{pane} at {cosine}");
        }
        // From water, light beyond the angle that is critical for air behind the pane comes back whole.
        assert_eq!(sheet_reflectance(0.5, 1.333, 1.5, 1.0), 1.0);
    }
}

//! Fresnel reflection and Snell refraction at smooth dielectric interfaces.
//!
//! Unpolarized light at an angle of incidence θᵢ, from index nᵢ into nₜ, η = nᵢ/nₜ:
//!
//! ```text
//! sin θₜ = η sin θᵢ          r_∥ = (cos θᵢ − η cos θₜ)/(cos θᵢ + η cos θₜ)
//! R = (r_∥² + r_⊥²)/2        r_⊥ = (η cos θᵢ − cos θₜ)/(η cos θᵢ + cos θₜ)
//! ```
//!
//! Beyond the critical angle (η sin θᵢ ≥ 1) all light is reflected.

use glam::Vec3;

/// Reflectance R of unpolarized light; `cosine` ≥ 0 is that of the angle of incidence, `eta` =
/// nᵢ/nₜ.
pub fn reflectance(cosine: f32, eta: f32) -> f32 {
    let cosine = cosine.clamp(0.0, 1.0);
    let squared = 1.0 - eta * eta * (1.0 - cosine * cosine);
    if squared <= 0.0 {
        return 1.0;
    }
    let cos_t = squared.sqrt();
    let parallel = (cosine - eta * cos_t) / (cosine + eta * cos_t);
    let perpendicular = (eta * cosine - cos_t) / (eta * cosine + cos_t);
    0.5 * (parallel * parallel + perpendicular * perpendicular)
}

/// Refracted direction at an interface with `normal` on the incident side; `None` beyond the
/// critical angle.
pub fn refract(incident: Vec3, normal: Vec3, eta: f32) -> Option<Vec3> {
    let cosine = -incident.dot(normal);
    let squared = 1.0 - eta * eta * (1.0 - cosine * cosine);
    if squared <= 0.0 {
        return None;
    }
    Some((eta * incident + (eta * cosine - squared.sqrt()) * normal).normalize_or(-normal))
}

/// Reflected direction at an interface with `normal`.
pub fn reflect(incident: Vec3, normal: Vec3) -> Vec3 {
    (incident - 2.0 * incident.dot(normal) * normal).normalize_or(normal)
}

/// Reflectance of a thin parallel sheet of index `sheet` with all internal reflections, between
/// media of index `near` and `far`: R = R₁ + T₁²R₂/(1 − R₁R₂).
pub fn sheet_reflectance(cosine: f32, near: f32, sheet: f32, far: f32) -> f32 {
    let cosine = cosine.clamp(0.0, 1.0);
    let first = reflectance(cosine, near / sheet);
    let sine = near / sheet * (1.0 - cosine * cosine).max(0.0).sqrt();
    if sine >= 1.0 {
        return 1.0;
    }
    let second = reflectance((1.0 - sine * sine).sqrt(), sheet / far);
    let through = 1.0 - first;
    // If both interfaces reflect all light, none enters the sheet.
    if first * second >= 1.0 { 1.0 } else { first + through * through * second / (1.0 - first * second) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresnel_reflectance_has_its_limits() {
        // At normal incidence R = ((n − 1)/(n + 1))²; at Brewster's angle only the perpendicular
        // part remains.
        let n = 1.333_f32;
        let normal_incidence = ((n - 1.0) / (n + 1.0)).powi(2);
        assert!((reflectance(1.0, 1.0 / n) - normal_incidence).abs() < 1e-6);
        let brewster = n.atan();
        let perpendicular = ((brewster.cos() / n - (brewster.sin() / n).asin().cos())
            / (brewster.cos() / n + (brewster.sin() / n).asin().cos()))
        .powi(2);
        let got = reflectance(brewster.cos(), 1.0 / n);
        assert!((got - 0.5 * perpendicular).abs() < 1e-6, "{got} against {}", 0.5 * perpendicular);
        assert_eq!(reflectance(0.0, 1.0 / n), 1.0);
        // Reciprocity along a refracted ray.
        let (inside, outside) = (0.6_f32, (n * 0.6).asin());
        assert!((reflectance((inside.asin()).cos(), n) - reflectance(outside.cos(), 1.0 / n)).abs() < 1e-5);
    }

    #[test]
    fn light_is_totally_reflected_beyond_the_critical_angle_and_refracted_below() {
        let n = 1.333_f32;
        let critical = (1.0 / n).asin();
        for degrees in 0..90 {
            let angle = (degrees as f32).to_radians();
            let incident = Vec3::new(angle.sin(), -angle.cos(), 0.0);
            let refracted = refract(incident, Vec3::Y, n);
            assert_eq!(refracted.is_none(), angle >= critical, "{degrees}°");
            assert_eq!(reflectance(angle.cos(), n) == 1.0, angle >= critical, "{degrees}°");
            if let Some(refracted) = refracted {
                assert!((refracted.x - n * angle.sin()).abs() < 1e-5, "{degrees}°: {refracted}");
            }
        }
    }

    #[test]
    fn a_sheet_in_air_reflects_two_r_over_one_plus_r() {
        for cosine in [1.0, 0.7, 0.3, 0.05] {
            let r = reflectance(cosine, 1.0 / 1.5);
            let pane = sheet_reflectance(cosine, 1.0, 1.5, 1.0);
            assert!((pane - 2.0 * r / (1.0 + r)).abs() < 1e-5, "{pane} at {cosine}");
        }
        // From water, light beyond the critical angle for air behind the sheet is totally
        // reflected.
        assert_eq!(sheet_reflectance(0.5, 1.333, 1.5, 1.0), 1.0);
    }
}

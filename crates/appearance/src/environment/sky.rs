//! A clear daylight sky (preetham1999): luminance and chromaticity by direction, from the sun's
//! elevation and the turbidity of the air.
//!
//! Each of `Y`, `x`, `y` follows the Perez form, scaled to its value at the zenith:
//!
//! ```text
//! F(θ, γ) = (1 + A e^{B / cos θ}) (1 + C e^{Dγ} + E cos² γ)
//! Y(θ, γ) = Y_z F(θ, γ) / F(0, θ_s)
//! ```
//!
//! with `θ` the angle from the zenith, `γ` that from the sun, `θ_s` the sun's angle from the
//! zenith. `A … E` are linear in the turbidity `T` (2: mountain air, 10: haze).
//!
//! The fit holds for suns above the horizon and `T` from 2 to 10; lower suns are raised to 2° above
//! the horizon. The sun's disc is not part of it. Below the horizon lies open land in daylight, out
//! of focus: hazy hills, fields, grass. The result is scaled so that the sky gives a horizontal
//! white surface the radiance 1.

use std::f32::consts::PI;

use glam::{Mat3, Vec3};

use super::{LatLong, luminance};

const SIZE: [usize; 2] = [1024, 512];

/// A clear day.
const TURBIDITY: f32 = 2.8;

/// Approximate reflectance of grass, ripe fields and woods.
const GRASS: Vec3 = Vec3::new(0.10, 0.15, 0.035);
const FIELD: Vec3 = Vec3::new(0.30, 0.24, 0.10);
const WOODS: Vec3 = Vec3::new(0.035, 0.055, 0.022);

/// Defocus blur of edges, in rad.
const BLUR: f32 = 0.016;

/// Minimum sine of the elevation for which the fit holds.
const LOWEST: f32 = 0.012;

/// `A … E` of one quantity: slope in T, value at T = 0 (preetham1999, appendix A.2).
type Perez = [[f32; 2]; 5];

const LUMINANCE: Perez =
    [[0.1787, -1.4630], [-0.3554, 0.4275], [-0.0227, 5.3251], [0.1206, -2.5771], [-0.0670, 0.3703]];
const CHROMA_X: Perez =
    [[-0.0193, -0.2592], [-0.0665, 0.0008], [-0.0004, 0.2125], [-0.0641, -0.8989], [-0.0033, 0.0452]];
const CHROMA_Y: Perez =
    [[-0.0167, -0.2608], [-0.0950, 0.0092], [-0.0079, 0.2102], [-0.0441, -1.6537], [-0.0109, 0.0529]];

/// Chromaticity at the zenith: rows for T², T, 1; columns for θ_s³, θ_s², θ_s, 1.
type Zenith = [[f32; 4]; 3];

const ZENITH_X: Zenith =
    [[0.00166, -0.00375, 0.00209, 0.0], [-0.02903, 0.06377, -0.03202, 0.00394], [0.11693, -0.21196, 0.06052, 0.25886]];
const ZENITH_Y: Zenith =
    [[0.00275, -0.00610, 0.00317, 0.0], [-0.04214, 0.08970, -0.04153, 0.00516], [0.15346, -0.26756, 0.06670, 0.26688]];

/// Generates the sky for a sun in the given direction (any length; zero or not finite means
/// overhead).
pub(super) fn paint(towards_sun: Vec3) -> LatLong {
    let sun = above_horizon(towards_sun.try_normalize().unwrap_or(Vec3::Y));
    let [width, height] = SIZE;
    let above = |dir: Vec3| if dir.y > 0.0 { sky(dir, sun) } else { Vec3::ZERO };
    let level = LatLong::filled(width, height, above).irradiance(Vec3::Y) / PI;
    // Sunlight makes the land's light neutral, whether or not the scene has a sun of its own.
    let daylight = Vec3::new(1.06, 1.0, 0.90) * luminance(level);
    let mut image = LatLong::filled(width, height, |dir| {
        // The sky just above the horizon, where the fit is defined.
        let over = |sine: f32| sky(Vec3::new(dir.x, sine, dir.z).normalize(), sun);
        let elevation = dir.y.clamp(-1.0, 1.0).asin();
        let azimuth = dir.x.atan2(-dir.z);
        let haze = over(LOWEST.max(0.03));
        let hidden = |top: f32| step((top - elevation) / BLUR);
        let far = haze.lerp(daylight * WOODS, 0.45);
        let near = haze.lerp(daylight * WOODS, 0.75);
        let view = over(dir.y.max(LOWEST)).lerp(far, hidden(ridge(azimuth, 0.045, 1.0)));
        let view = view.lerp(near, hidden(ridge(azimuth + 2.0, 0.012, 1.7)));
        let view = view.lerp(haze.lerp(daylight * land(dir, elevation), 0.93), hidden(-0.035));
        view.max(Vec3::ZERO)
    });
    image.sanitize(1.0 / luminance(level));
    image
}

/// Elevation of the hills' outline.
fn ridge(azimuth: f32, height: f32, rate: f32) -> f32 {
    let wave = |times: f32, phase: f32| (times * azimuth + phase).sin();
    let times = |base: f32| (base * rate).round();
    height * (1.0 + 0.5 * wave(times(3.0), 0.4) + 0.3 * wave(times(7.0), 1.9) + 0.16 * wave(times(17.0), 0.7))
}

/// Reflectance of the land below: fields that grow towards the viewer, grass at the bottom.
fn land(dir: Vec3, elevation: f32) -> Vec3 {
    let distance = 1.0 / (-dir.y).max(0.02);
    let at = [dir.x * distance, dir.z * distance];
    let strip = (0.55 * at[1] + 0.8 * (0.21 * at[0]).sin()).sin();
    let patch = (0.23 * at[0] + 1.7 * (0.3 * at[1]).floor()).sin();
    let far = (distance / 6.0).min(1.0);
    let fields = GRASS.lerp(FIELD, step(1.2 * strip + 0.6 * patch) * far);
    let trees = step(3.0 * (0.83 * at[0] + 2.1).sin() * (0.47 * at[1] + 0.5).cos() - 1.6);
    fields.lerp(WOODS, 0.8 * trees * far) * (1.0 - 0.25 * step((-elevation - 0.7) / 0.4))
}

fn step(at: f32) -> f32 {
    let at = (0.5 + 0.5 * at).clamp(0.0, 1.0);
    at * at * (3.0 - 2.0 * at)
}

fn above_horizon(sun: Vec3) -> Vec3 {
    let lowest = 2f32.to_radians().sin();
    let across = Vec3::new(sun.x, 0.0, sun.z).normalize_or(Vec3::X);
    if sun.y < lowest { across * (1.0 - lowest * lowest).sqrt() + Vec3::Y * lowest } else { sun }
}

/// Linear sRGB of the sky in kcd/m², nonnegative.
fn sky(dir: Vec3, sun: Vec3) -> Vec3 {
    let sun_angle = sun.y.clamp(-1.0, 1.0).acos();
    let cos_gamma = dir.dot(sun).clamp(-1.0, 1.0);
    let relative = |perez: &Perez| {
        let here = form(perez, dir.y.max(1e-3), cos_gamma);
        here / form(perez, 1.0, sun.y)
    };
    let chi = (4.0 / 9.0 - TURBIDITY / 120.0) * (PI - 2.0 * sun_angle);
    let zenith = (4.0453 * TURBIDITY - 4.9710) * chi.tan() - 0.2155 * TURBIDITY + 2.4192;
    let luminance = zenith.max(0.05) * relative(&LUMINANCE);
    let x = zenith_chroma(&ZENITH_X, sun_angle) * relative(&CHROMA_X);
    let y = zenith_chroma(&ZENITH_Y, sun_angle) * relative(&CHROMA_Y);

    let xyz = Vec3::new(x / y, 1.0, (1.0 - x - y) / y) * luminance;
    let srgb_from_xyz = Mat3::from_cols(
        Vec3::new(3.2404542, -0.969_266, 0.0556434),
        Vec3::new(-1.5371385, 1.8760108, -0.2040259),
        Vec3::new(-0.4985314, 0.0415560, 1.0572252),
    );
    (srgb_from_xyz * xyz).max(Vec3::ZERO)
}

fn form(perez: &Perez, cos_theta: f32, cos_gamma: f32) -> f32 {
    let [a, b, c, d, e] = perez.map(|[slope, start]| slope * TURBIDITY + start);
    let gamma = cos_gamma.acos();
    (1.0 + a * (b / cos_theta).exp()) * (1.0 + c * (d * gamma).exp() + e * cos_gamma * cos_gamma)
}

fn zenith_chroma(table: &Zenith, sun_angle: f32) -> f32 {
    let cubic = |[third, second, first, constant]: [f32; 4]| {
        ((third * sun_angle + second) * sun_angle + first) * sun_angle + constant
    };
    (cubic(table[0]) * TURBIDITY + cubic(table[1])) * TURBIDITY + cubic(table[2])
}

//! Precomputed irradiance at the base of a drop (fournier1998, §4).
//!
//! A drop focuses light into a bright patch on the surface behind it. For previews of thousands of
//! drops the patch comes from a table: the irradiance at the base of a hemisphere of unit radius,
//! for parallel light at several angles `θ` from the normal, computed once by tracing rays into the
//! dome (Snell, Fresnel, up to three internal reflections) and counting where they reach the base.
//! Values are relative to the irradiance on a plane that faces the light, so a bare base has
//! `cos θ`.
//!
//! The disc is then warped to the footprint of a real drop: the point under the drop's apex becomes
//! its center, and in every direction the distance to the outline becomes its radius.
//!
//! The same rays give the irradiance around the base: the shadow of the dome, and in it the light
//! that leaves the dome on its far side, a bright spot for grazing light. They also give the
//! fraction of diffuse light from the base that the dome reflects back.
//!
//! An approximation: flat drops focus less than a hemisphere. At the center the exact value is
//! `n² T(0) cos θ` for any `θ`: the ray to the center hits the dome at normal incidence, and its
//! neighbors at a distance `r` reach the base at `r/n`.

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use crate::fresnel::{reflect, reflectance, refract};
use sessile_appearance::sample_cosine_hemisphere;

/// Texels per side of a table.
const SIDE: usize = 64;

/// Number of tables, from normal to grazing incidence.
const ANGLES: usize = 17;

/// Rays per table: about 80 per texel, and their mirror images.
const RAYS: u32 = 1 << 18;

/// Rays for the inner reflectance; its error is about 0.003.
const INNER_RAYS: u32 = 1 << 14;

/// Internal reflections that are traced.
const REFLECTIONS: usize = 3;

/// Irradiance at and around the base of a hemisphere, by the light's angle and the position.
#[derive(Clone, Debug, PartialEq)]
pub struct IlluminationTexture {
    /// One table per angle over the square around the unit disc; columns along the light's
    /// direction, rows across it.
    base: Vec<Vec<f32>>,
    /// The same for the surface around the disc, over the square of half side
    /// [`IlluminationTexture::REACH`].
    around: Vec<Vec<f32>>,
    inner_reflectance: f32,
}

impl IlluminationTexture {
    /// Extent of the tables around the base, in radii: the shadow of light at 66° from the normal
    /// ends here.
    pub const REACH: f32 = 2.5;

    /// Traces the tables for a refractive index, clamped to 1 to 3.
    pub fn new(index: f32) -> Self {
        let index = if index.is_finite() { index.clamp(1.0, 3.0) } else { 1.0 };
        let angle = |step: usize| FRAC_PI_2 * step as f32 / (ANGLES - 1) as f32;
        let tables = (0..ANGLES).into_par_iter().map(|step| trace_tables(index, angle(step)));
        let (base, around) = tables.unzip();
        Self { base, around, inner_reflectance: inner_reflectance(index) }
    }

    /// Irradiance at a point of the base, relative to that on a plane facing the light.
    ///
    /// `towards_light` has unit length in a frame whose y axis is the base's normal; `offset` is
    /// the position in that frame's x–z plane, from the center, relative to the distance to the
    /// outline (see [`Footprint::offset`]). Zero outside the disc and for light from below.
    pub fn irradiance(&self, towards_light: Vec3, offset: Vec2) -> f32 {
        if offset.length_squared() > 1.0 { 0.0 } else { interpolate(&self.base, towards_light, offset) }
    }

    /// Irradiance on the surface around the base, in the same units: the cosine of the light's
    /// angle where the drop has no effect. Beyond [`Self::REACH`] it never has; inside the disc the
    /// value is meaningless.
    pub fn around(&self, towards_light: Vec3, offset: Vec2) -> f32 {
        if offset.abs().max_element() >= Self::REACH {
            return towards_light.y.max(0.0);
        }
        interpolate(&self.around, towards_light, offset / Self::REACH)
    }

    /// Fraction of diffuse light from the base that the dome reflects back onto it.
    pub fn inner_reflectance(&self) -> f32 {
        self.inner_reflectance
    }
}

/// Interpolates between the tables of two angles, at a point of the square [−1, 1]².
fn interpolate(tables: &[Vec<f32>], towards_light: Vec3, offset: Vec2) -> f32 {
    if towards_light.y < 0.0 || !offset.is_finite() {
        return 0.0;
    }
    // The light travels against its direction.
    let travel = (-Vec2::new(towards_light.x, towards_light.z)).normalize_or(Vec2::X);
    let place = Vec2::new(offset.dot(travel), offset.perp_dot(travel));
    let angle = towards_light.y.clamp(0.0, 1.0).acos() / FRAC_PI_2 * (ANGLES - 1) as f32;
    let lower = (angle as usize).min(ANGLES - 2);
    let t = (angle - lower as f32).clamp(0.0, 1.0);
    bilinear(&tables[lower], place) * (1.0 - t) + bilinear(&tables[lower + 1], place) * t
}

fn bilinear(table: &[f32], place: Vec2) -> f32 {
    let at = ((place + 1.0) * (0.5 * SIDE as f32) - 0.5).clamp(Vec2::ZERO, Vec2::splat((SIDE - 1) as f32));
    let (column, row) = ((at.x as usize).min(SIDE - 2), (at.y as usize).min(SIDE - 2));
    let (right, down) = (at.x - column as f32, at.y - row as f32);
    let texel = |column: usize, row: usize| table[row * SIDE + column];
    let mix = |row: usize| texel(column, row) * (1.0 - right) + texel(column + 1, row) * right;
    mix(row) * (1.0 - down) + mix(row + 1) * down
}

/// The texel that a coordinate from −1 to 1 falls into.
fn texel_of(coordinate: f32) -> usize {
    (((coordinate + 1.0) * 0.5 * SIDE as f32) as usize).min(SIDE - 1)
}

/// Traces parallel light at `angle` from the normal, traveling towards +x, to the base and the
/// surface around it.
fn trace_tables(index: f32, angle: f32) -> (Vec<f32>, Vec<f32>) {
    let (sin, cos) = angle.sin_cos();
    let travel = Vec3::new(sin, -cos, 0.0);
    let across = Vec3::new(cos, sin, 0.0);
    let mut flux = Flux { base: vec![0.0; SIDE * SIDE], around: vec![0.0; SIDE * SIDE] };
    for ray in 0..RAYS {
        // Uniformly over the sphere's silhouette: equal areas by the radius, rotated by the golden
        // angle.
        let radius = ((ray as f32 + 0.5) / RAYS as f32).sqrt();
        let turn = (f64::from(ray) * 0.381_966_011_250_105).fract() as f32 * TAU;
        let height = (1.0 - radius * radius).max(0.0).sqrt();
        let entry = across * (radius * turn.cos()) + Vec3::Z * (radius * turn.sin()) - travel * height;
        if entry.y > 0.0 {
            flux.trace_ray(index, entry, travel);
        }
    }
    // The silhouette has area π; the result is symmetric about the plane of the light.
    let per_ray = PI / RAYS as f32;
    let even = |flux: &[f32], at: usize| 0.5 * (flux[at] + flux[(SIDE - 1 - at / SIDE) * SIDE + at % SIDE]) * per_ray;
    let texel = (2.0 / SIDE as f32).powi(2);
    // Only the part of a texel within the disc receives light at the base, and only the rest
    // belongs to the surface around.
    let base = |at: usize| even(&flux.base, at) / (texel * texel_fraction(at, 1.0, in_disc).max(1.0 / 16.0));
    let reach = IlluminationTexture::REACH;
    let around = |at: usize| {
        let outside = 1.0 - texel_fraction(at, reach, in_disc);
        let lit = texel_fraction(at, reach, |place| !in_disc(place) && !in_shadow(place, -travel));
        // Texels inside the disc have no value of their own; that of the bare surface keeps the
        // interpolation sound.
        if outside < 1.0 / 16.0 {
            cos
        } else {
            cos * lit / outside + even(&flux.around, at) / (texel * reach * reach * outside)
        }
    };
    ((0..SIDE * SIDE).map(base).collect(), (0..SIDE * SIDE).map(around).collect())
}

/// Flux onto the texels of the base and of the surface around it.
struct Flux {
    base: Vec<f32>,
    around: Vec<f32>,
}

impl Flux {
    /// Traces one ray from its entry into the dome, and adds its flux onto the base and onto the
    /// surface around.
    fn trace_ray(&mut self, index: f32, entry: Vec3, travel: Vec3) {
        let Some(refracted) = refract(travel, entry, 1.0 / index) else { return };
        let (mut from, mut weight) = (entry, 1.0 - reflectance(-travel.dot(entry), 1.0 / index));
        let mut travel = refracted;
        for _ in 0..=REFLECTIONS {
            // The other end of the chord through the whole sphere; below y = 0 the ray has crossed
            // the base.
            let exit = from - 2.0 * from.dot(travel) * travel;
            if exit.y <= 0.0 {
                let base = down_to_surface(from, travel);
                self.base[texel_of(base.y) * SIDE + texel_of(base.x)] += weight;
                return;
            }
            let kept = reflectance(travel.dot(exit), index);
            if let Some(out) = refract(travel, -exit, index).filter(|out| out.y < 0.0) {
                let landing = down_to_surface(exit, out) / IlluminationTexture::REACH;
                if landing.abs().max_element() < 1.0 {
                    self.around[texel_of(landing.y) * SIDE + texel_of(landing.x)] += weight * (1.0 - kept);
                }
            }
            travel = reflect(travel, -exit);
            from = exit;
            weight *= kept;
        }
    }
}

/// Where a ray reaches y = 0, as x and z.
fn down_to_surface(from: Vec3, travel: Vec3) -> Vec2 {
    let reach = if travel.y < 0.0 { from.y / -travel.y } else { 0.0 };
    let at = from + travel * reach;
    Vec2::new(at.x, at.z)
}

fn in_disc(place: Vec2) -> bool {
    place.length_squared() <= 1.0
}

/// Whether the dome shadows a point of the surface outside the disc.
fn in_shadow(place: Vec2, towards_light: Vec3) -> bool {
    let from = Vec3::new(place.x, 0.0, place.y);
    let along = -from.dot(towards_light);
    along > 0.0 && from.length_squared() - along * along < 1.0
}

/// Fraction of a texel of the square of half side `reach` that satisfies a condition, from 8 × 8
/// points.
fn texel_fraction(at: usize, reach: f32, condition: impl Fn(Vec2) -> bool) -> f32 {
    let coordinate =
        |texel: usize, point: usize| ((texel as f32 + (point as f32 + 0.5) / 8.0) * (2.0 / SIDE as f32) - 1.0) * reach;
    let place = |point: usize| Vec2::new(coordinate(at % SIDE, point % 8), coordinate(at / SIDE, point / 8));
    (0..64).filter(|&point| condition(place(point))).count() as f32 / 64.0
}

/// Fraction of diffuse light from a uniformly lit base that returns to the base.
fn inner_reflectance(index: f32) -> f32 {
    let part = |ray: u32, step: f64| (f64::from(ray) * step).fract() as f32;
    let sum: f32 = (0..INNER_RAYS)
        .map(|ray| {
            // A rank-1 lattice in four dimensions, by powers of the root of x⁵ = x + 1.
            let [a, b, c, d] = [0.856_674_9, 0.733_891_9, 0.628_706_7, 0.538_597_3].map(|step| part(ray, step));
            let place = a.sqrt() * Vec2::from_angle(TAU * b);
            let up = sample_cosine_hemisphere(Vec2::new(c, d));
            let (mut from, mut travel, mut weight) =
                (Vec3::new(place.x, 0.0, place.y), Vec3::new(up.x, up.z, up.y), 1.0);
            // From inside the disc to the dome.
            let along = from.dot(travel);
            let mut exit = from + travel * (-along + (along * along + 1.0 - from.length_squared()).max(0.0).sqrt());
            for _ in 0..=REFLECTIONS {
                weight *= reflectance(travel.dot(exit), index);
                travel = reflect(travel, -exit);
                from = exit;
                exit = from - 2.0 * from.dot(travel) * travel;
                if exit.y <= 0.0 {
                    return weight;
                }
            }
            0.0
        })
        .sum();
    sum / INNER_RAYS as f32
}

/// The outline of a drop's base, in polar coordinates about the point under its apex.
#[derive(Clone, Debug, PartialEq)]
pub struct Footprint {
    apex: Vec2,
    /// Distance to the outline in equally spaced directions.
    radii: Vec<f32>,
}

impl Footprint {
    /// Number of directions.
    const DIRECTIONS: usize = 64;

    /// A footprint from edges that include those of the outline; interior edges do not matter.
    /// `None` if the outline does not enclose the apex, or is not finite.
    pub fn from_edges(apex: Vec2, edges: impl Iterator<Item = (Vec2, Vec2)>) -> Option<Self> {
        let count = Self::DIRECTIONS as f32;
        let mut radii = vec![0.0_f32; Self::DIRECTIONS];
        for (from, to) in edges {
            let (start, end, edge) = (from - apex, to - apex, to - from);
            if !(start.is_finite() && end.is_finite()) {
                return None;
            }
            // Directions between the two ends, the short way around, with a tolerance for rounding.
            let first = start.y.atan2(start.x) / TAU * count;
            let turn = start.perp_dot(end).atan2(start.dot(end)) / TAU * count;
            let (low, high) = (first + turn.min(0.0) - 1e-3, first + turn.max(0.0) + 1e-3);
            for step in low.ceil() as i32..=high.floor() as i32 {
                let towards = Vec2::from_angle(TAU * step as f32 / count);
                let distance = start.perp_dot(edge) / towards.perp_dot(edge);
                // An edge that points at the apex counts with its far end.
                let farthest = start.length().max(end.length());
                let distance = if distance.is_finite() && distance > 0.0 { distance.min(farthest) } else { continue };
                let radius = &mut radii[step.rem_euclid(Self::DIRECTIONS as i32) as usize];
                *radius = radius.max(distance);
            }
        }
        (apex.is_finite() && radii.iter().all(|&radius| radius > 0.0)).then_some(Self { apex, radii })
    }

    /// A disc.
    pub fn disc(middle: Vec2, radius: f32) -> Self {
        Self { apex: middle, radii: vec![radius; Self::DIRECTIONS] }
    }

    /// The same outline in coordinates about the point under the apex.
    #[must_use]
    pub fn about_apex(self) -> Self {
        Self { apex: Vec2::ZERO, ..self }
    }

    /// The point under the apex.
    pub fn apex(&self) -> Vec2 {
        self.apex
    }

    /// Distances to the outline, in equal steps of direction from +x towards +y.
    pub fn radii(&self) -> &[f32] {
        &self.radii
    }

    /// Offset of a point from the apex, relative to the distance to the outline; longer than 1
    /// outside.
    pub fn offset(&self, point: Vec2) -> Vec2 {
        let from_apex = point - self.apex;
        let turn = turn_of(from_apex) * Self::DIRECTIONS as f32;
        let (lower, t) = (turn as usize % Self::DIRECTIONS, turn.fract());
        let upper = (lower + 1) % Self::DIRECTIONS;
        from_apex / (self.radii[lower] * (1.0 - t) + self.radii[upper] * t)
    }
}

/// The direction of a vector as a fraction of a full turn from +x towards +y, in [0, 1]; accurate
/// to 1e-5.
fn turn_of(v: Vec2) -> f32 {
    let (long, short) = (v.abs().max_element(), v.abs().min_element());
    // atan on [0, 1] by its expansion in Chebyshev polynomials up to t⁹ (abramowitz1964, §4.4),
    // over a full turn.
    let t = if long > 0.0 { short / long } else { 0.0 };
    let s = t * t;
    let atan = t * (0.999_866 + s * (-0.330_299_5 + s * (0.180_141 + s * (-0.085_133 + s * 0.020_835_1))));
    let eighth = atan / TAU;
    let quarter = if v.y.abs() > v.x.abs() { 0.25 - eighth } else { eighth };
    let half = if v.x < 0.0 { 0.5 - quarter } else { quarter };
    if v.y < 0.0 { 1.0 - half } else { half }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATER: f32 = 1.333;

    fn light(degrees: f32) -> Vec3 {
        let angle = degrees.to_radians();
        Vec3::new(-angle.sin(), angle.cos(), 0.0)
    }

    /// A footprint from a closed outline.
    fn footprint_of(apex: Vec2, contour: &[Vec2]) -> Option<Footprint> {
        Footprint::from_edges(apex, contour.iter().copied().zip(contour.iter().copied().cycle().skip(1)))
    }

    /// Flux onto the disc.
    fn gathered(texture: &IlluminationTexture, degrees: f32) -> f32 {
        let cells = 400;
        let step = 2.0 / cells as f32;
        let places =
            (0..cells * cells).map(|cell| (Vec2::new((cell % cells) as f32, (cell / cells) as f32) + 0.5) * step - 1.0);
        places.map(|place| texture.irradiance(light(degrees), place) * step * step).sum()
    }

    #[test]
    fn the_center_has_the_irradiance_of_snells_law() {
        let texture = IlluminationTexture::new(WATER);
        let reflected = ((WATER - 1.0) / (WATER + 1.0)).powi(2);
        for degrees in [0.0f32, 20.0, 45.0, 60.0, 75.0] {
            let exact = WATER * WATER * (1.0 - reflected) * degrees.to_radians().cos();
            let around = (0..16).map(|turn| texture.irradiance(light(degrees), Vec2::from_angle(turn as f32) * 0.08));
            let mean = around.sum::<f32>() / 16.0;
            assert!((mean / exact - 1.0).abs() < 0.03, "{degrees}°: {mean} at the center, {exact} by Snell's law");
        }
    }

    #[test]
    fn all_light_that_enters_at_normal_incidence_reaches_the_base() {
        let flux = gathered(&IlluminationTexture::new(WATER), 0.0);
        let steps = 10_000;
        let entering: f32 = (0..steps)
            .map(|step| {
                let radius = (step as f32 + 0.5) / steps as f32;
                let cos = (1.0 - radius * radius).sqrt();
                (1.0 - reflectance(cos, 1.0 / WATER)) * TAU * radius / steps as f32
            })
            .sum();
        // Interpolation smooths the edge, where a texel is only partly in the disc.
        assert!((flux / entering - 1.0).abs() < 0.02, "{flux} of {entering} arrives");
    }

    #[test]
    fn no_more_light_arrives_than_hits_the_dome() {
        let texture = IlluminationTexture::new(WATER);
        for degrees in [0.0f32, 20.0, 45.0, 70.0, 89.0] {
            let flux = gathered(&texture, degrees);
            // The silhouette of the hemisphere, seen from the light.
            let hitting = FRAC_PI_2 * (1.0 + degrees.to_radians().cos());
            assert!(flux < hitting && flux > 0.1 * hitting, "{degrees}°: {flux} of {hitting} arrives");
        }
    }

    /// The dome shadows the surface around it, and some of the light that enters it leaves on the
    /// far side.
    #[test]
    fn the_surface_around_has_a_shadow_and_a_focused_spot() {
        let texture = IlluminationTexture::new(WATER);
        let towards = light(55.0);
        let bare = towards.y;
        assert!((texture.around(towards, Vec2::new(-1.5, 0.2)) - bare).abs() < 1e-3, "the lit side is bare");
        assert_eq!(texture.around(towards, Vec2::new(3.0, 0.0)), bare);
        // All light that enters a hemisphere at 55° reaches its base; grazing light also leaves on
        // the far side, focused into a spot.
        let shadow = texture.around(towards, Vec2::new(1.3, 0.3));
        assert!(shadow < 0.1 * bare, "{shadow} in the shadow, {bare} bare");
        let low = light(80.0);
        let spot = texture.around(low, Vec2::new(1.1, 0.0));
        assert!(spot > 5.0 * low.y, "{spot} behind the dome, {} bare", low.y);
        // Without refraction the dome has no effect.
        let clear = IlluminationTexture::new(1.0);
        let steps = (0..2500).map(|i| Vec2::new((i % 50) as f32 * 0.1 - 2.45, (i / 50) as f32 * 0.1 - 2.45));
        let outside: Vec<Vec2> = steps.filter(|place| place.length() > 1.2).collect();
        let mean = outside.iter().map(|&place| clear.around(towards, place)).sum::<f32>() / outside.len() as f32;
        assert!((mean / bare - 1.0).abs() < 0.03, "mean {mean}, bare {bare}");
    }

    #[test]
    fn the_dome_reflects_back_less_than_a_flat_film_and_nothing_without_refraction() {
        let reflected = IlluminationTexture::new(WATER).inner_reflectance();
        assert!(reflected > 0.05 && reflected < 0.47, "{reflected}");
        assert!(IlluminationTexture::new(1.0).inner_reflectance() < 1e-3);
    }

    #[test]
    fn without_refraction_the_base_has_the_bare_irradiance() {
        let texture = IlluminationTexture::new(1.0);
        for degrees in [0.0f32, 45.0] {
            let found = texture.irradiance(light(degrees), Vec2::new(0.1, 0.2));
            let bare = degrees.to_radians().cos();
            assert!((found / bare - 1.0).abs() < 0.05, "{degrees}°: {found}, bare {bare}");
        }
    }

    #[test]
    fn the_footprint_maps_its_outline_to_the_unit_circle() {
        let apex = Vec2::new(2.0, 1.0);
        let contour: Vec<Vec2> = (0..200)
            .map(|step| {
                let angle = TAU * step as f32 / 200.0;
                apex + Vec2::from_angle(angle) * (1.0 + 0.3 * angle.cos())
            })
            .collect();
        let footprint = footprint_of(apex, &contour).unwrap();
        for &point in &contour {
            let length = footprint.offset(point).length();
            assert!((length - 1.0).abs() < 0.005, "{point} lies at {length}");
        }
        assert_eq!(footprint.offset(apex), Vec2::ZERO);
        assert!(footprint_of(Vec2::new(9.0, 9.0), &contour).is_none(), "the apex is outside");
        assert!(footprint_of(apex, &[]).is_none() && footprint_of(Vec2::NAN, &contour).is_none());
    }

    #[test]
    fn directions_are_fractions_of_a_turn() {
        for step in 0..1000 {
            let turn = (step as f32 + 0.5) / 1000.0;
            let found = turn_of(3.0 * Vec2::from_angle(TAU * turn));
            assert!((found - turn).abs() < 1e-5, "{found} for {turn}");
        }
        assert_eq!(turn_of(Vec2::ZERO), 0.0);
    }

    #[test]
    fn light_from_below_and_points_outside_are_dark() {
        let texture = IlluminationTexture::new(f32::NAN);
        assert_eq!(texture.irradiance(Vec3::NEG_Y, Vec2::ZERO), 0.0);
        assert_eq!(texture.irradiance(Vec3::Y, Vec2::new(0.9, 0.9)), 0.0);
        assert_eq!(texture.irradiance(Vec3::Y, Vec2::NAN), 0.0);
    }
}

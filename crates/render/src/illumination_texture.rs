//! Light at the base of a drop, looked up instead of traced (fournier1998, §4).
//!
//! A drop gathers the light that falls on it into a bright patch on the ground behind it. For previews of thousands of drops that patch is
//! taken from a table: the irradiance at the base of a half-sphere of unit radius, for parallel light at several angles `θ` from the
//! vertical, found once by tracing rays in at the dome (Snell, Fresnel, up to three reflections inside) and counting where they
//! reach the base. Values are relative to the irradiance on a plane that faces the light, so a bare base has `cos θ`.
//!
//! The disc is then warped to the footprint of a real drop: the point under the drop's apex becomes its centre, and along every direction
//! from there the distance to the contour becomes its radius.
//!
//! Rough by design: flat drops gather less light than a half-sphere does. Light that the ground throws back into the drop is
//! left out. At the centre the exact value is `n² T(0) cos θ` for any `θ`: the ray to the centre meets the dome squarely, and its
//! neighbours at a distance `r` reach the base at `r/n`.

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// Texels per side of a table, over the square around the unit disc.
const SIDE: usize = 64;

/// Tables from overhead to grazing light.
const ANGLES: usize = 17;

/// Rays per table. About 80 per texel, and their mirror images.
const RAYS: u32 = 1 << 18;

/// Reflections inside the dome that are followed.
const REFLECTIONS: usize = 3;

/// Irradiance at the base of a half-sphere by the light's angle and the place.
#[derive(Clone, Debug, PartialEq)]
pub struct IlluminationTexture {
    /// One table per angle; rows across the light's direction, columns along it.
    tables: Vec<Vec<f32>>,
}

impl IlluminationTexture {
    /// Traces the tables for a refractive index (from 1 to 3, others are brought into that range).
    pub fn new(index: f32) -> Self {
        let index = if index.is_finite() { index.clamp(1.0, 3.0) } else { 1.0 };
        let angle = |step: usize| FRAC_PI_2 * step as f32 / (ANGLES - 1) as f32;
        Self { tables: (0..ANGLES).into_par_iter().map(|step| trace_table(index, angle(step))).collect() }
    }

    /// Irradiance at a place of the base, relative to that on a plane facing the light.
    ///
    /// `towards_light` has unit length in a frame whose y axis is the base's normal; `offset` is the place in that frame's x–z
    /// plane, from the centre, in units of the distance to the contour (see [`Footprint::offset`]). Zero outside the disc and
    /// for light from below.
    pub fn irradiance(&self, towards_light: Vec3, offset: Vec2) -> f32 {
        if towards_light.y < 0.0 || offset.length_squared() > 1.0 || !offset.is_finite() {
            return 0.0;
        }
        // The light travels against its direction.
        let travel = (-Vec2::new(towards_light.x, towards_light.z)).normalize_or(Vec2::X);
        let place = Vec2::new(offset.dot(travel), offset.perp_dot(travel));
        let angle = towards_light.y.clamp(0.0, 1.0).acos() / FRAC_PI_2 * (ANGLES - 1) as f32;
        let lower = (angle as usize).min(ANGLES - 2);
        let share = (angle - lower as f32).clamp(0.0, 1.0);
        look_up(&self.tables[lower], place) * (1.0 - share) + look_up(&self.tables[lower + 1], place) * share
    }
}

fn look_up(table: &[f32], place: Vec2) -> f32 {
    let at = ((place + 1.0) * (0.5 * SIDE as f32) - 0.5).clamp(Vec2::ZERO, Vec2::splat((SIDE - 1) as f32));
    let (column, row) = ((at.x as usize).min(SIDE - 2), (at.y as usize).min(SIDE - 2));
    let (right, down) = (at.x - column as f32, at.y - row as f32);
    let texel = |column: usize, row: usize| table[row * SIDE + column];
    let mix = |row: usize| texel(column, row) * (1.0 - right) + texel(column + 1, row) * right;
    mix(row) * (1.0 - down) + mix(row + 1) * down
}

/// Counts where parallel light at `angle` from the vertical, travelling towards +x, reaches the base.
fn trace_table(index: f32, angle: f32) -> Vec<f32> {
    let (sin, cos) = angle.sin_cos();
    let travel = Vec3::new(sin, -cos, 0.0);
    let across = Vec3::new(cos, sin, 0.0);
    let mut flux = vec![0.0f32; SIDE * SIDE];
    for ray in 0..RAYS {
        // Evenly over the sphere's outline: equal areas by the radius, turned by the golden angle.
        let radius = ((ray as f32 + 0.5) / RAYS as f32).sqrt();
        let turn = (f64::from(ray) * 0.381_966_011_250_105).fract() as f32 * TAU;
        let height = (1.0 - radius * radius).max(0.0).sqrt();
        let entry = across * (radius * turn.cos()) + Vec3::Z * (radius * turn.sin()) - travel * height;
        if entry.y > 0.0 {
            follow(index, entry, travel, &mut flux);
        }
    }
    // The outline has area π; a texel has (2/SIDE)² of which only the part within the disc takes light.
    let per_ray = PI / RAYS as f32;
    let texel = (2.0 / SIDE as f32).powi(2);
    let share = |column: usize, row: usize| disc_share(column, row).max(1.0 / 16.0);
    (0..SIDE * SIDE)
        .map(|at| {
            let (column, row) = (at % SIDE, at / SIDE);
            // The picture is its own mirror image across the light's plane.
            let both = flux[at] + flux[(SIDE - 1 - row) * SIDE + column];
            0.5 * both * per_ray / (texel * share(column, row))
        })
        .collect()
}

/// How much of a texel lies in the unit disc, from 8 × 8 points.
fn disc_share(column: usize, row: usize) -> f32 {
    let coordinate =
        |texel: usize, point: usize| (texel as f32 + (point as f32 + 0.5) / 8.0) * (2.0 / SIDE as f32) - 1.0;
    let inside = (0..64).filter(|point| coordinate(column, point % 8).hypot(coordinate(row, point / 8)) <= 1.0).count();
    inside as f32 / 64.0
}

/// Follows one ray from where it enters the dome, and adds what reaches the base.
fn follow(index: f32, entry: Vec3, travel: Vec3, flux: &mut [f32]) {
    let cos_outside = -travel.dot(entry);
    let Some((bent, reflected)) = refract(travel, entry, cos_outside, 1.0 / index) else { return };
    let (mut from, mut travel, mut weight) = (entry, bent, 1.0 - reflected);
    for _ in 0..=REFLECTIONS {
        // The other end of the chord through the whole sphere; below the base it has crossed the base.
        let exit = from - 2.0 * from.dot(travel) * travel;
        if exit.y <= 0.0 {
            let reach = if travel.y < 0.0 { from.y / -travel.y } else { 0.0 };
            let base = from + travel * reach;
            let texel = |coordinate: f32| (((coordinate + 1.0) * 0.5 * SIDE as f32) as usize).min(SIDE - 1);
            flux[texel(base.z) * SIDE + texel(base.x)] += weight;
            return;
        }
        let cos_inside = travel.dot(exit);
        let kept = refract(travel, -exit, cos_inside, index).map_or(1.0, |(_, reflected)| reflected);
        travel -= 2.0 * cos_inside * exit;
        from = exit;
        weight *= kept;
    }
}

/// Snell and Fresnel: the refracted direction and the reflected share of unpolarised light; `None` for total reflection.
///
/// `normal` faces the ray, `cos` is the cosine between them, `ratio` the index before over that behind.
fn refract(travel: Vec3, normal: Vec3, cos: f32, ratio: f32) -> Option<(Vec3, f32)> {
    let cos_behind_squared = 1.0 - ratio * ratio * (1.0 - cos * cos);
    if cos_behind_squared <= 0.0 {
        return None;
    }
    let cos_behind = cos_behind_squared.sqrt();
    let bent = (travel * ratio + normal * (ratio * cos - cos_behind)).normalize();
    let parallel = (cos - ratio * cos_behind) / (cos + ratio * cos_behind);
    let perpendicular = (ratio * cos - cos_behind) / (ratio * cos + cos_behind);
    Some((bent, 0.5 * (parallel * parallel + perpendicular * perpendicular)))
}

/// The outline of a drop's base, seen from under its apex.
#[derive(Clone, Debug, PartialEq)]
pub struct Footprint {
    apex: Vec2,
    /// Distance to the contour by direction, evenly around.
    radii: Vec<f32>,
}

impl Footprint {
    /// Directions in which the contour is kept.
    const DIRECTIONS: usize = 64;

    /// A footprint from the point under the apex and a closed contour around it (last point joined to the first). `None` if the
    /// contour does not go round the apex, or is not finite.
    pub fn new(apex: Vec2, contour: &[Vec2]) -> Option<Self> {
        let radius = |direction: usize| {
            let towards = Vec2::from_angle(TAU * direction as f32 / Self::DIRECTIONS as f32);
            let edges = contour.iter().zip(contour.iter().cycle().skip(1));
            let crossings = edges.filter_map(|(&from, &to)| {
                let (start, edge) = (from - apex, to - from);
                let slant = towards.perp_dot(edge);
                let (distance, along) = (start.perp_dot(edge) / slant, start.perp_dot(towards) / slant);
                let hit = distance.is_finite() && distance > 0.0 && (-1e-6..=1.0 + 1e-6).contains(&along);
                hit.then_some(distance)
            });
            crossings.reduce(f32::max)
        };
        let radii: Option<Vec<f32>> = (0..Self::DIRECTIONS).map(radius).collect();
        (apex.is_finite()).then_some(Self { apex, radii: radii? })
    }

    /// Where a point lies: from the apex, in units of the distance to the contour. Longer than 1 outside.
    pub fn offset(&self, point: Vec2) -> Vec2 {
        let from_apex = point - self.apex;
        let turn = from_apex.y.atan2(from_apex.x).rem_euclid(TAU) / TAU * Self::DIRECTIONS as f32;
        let (lower, share) = (turn as usize % Self::DIRECTIONS, turn.fract());
        let upper = (lower + 1) % Self::DIRECTIONS;
        from_apex / (self.radii[lower] * (1.0 - share) + self.radii[upper] * share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATER: f32 = 1.333;

    fn light(degrees: f32) -> Vec3 {
        let angle = degrees.to_radians();
        Vec3::new(-angle.sin(), angle.cos(), 0.0)
    }

    /// The flux onto the disc.
    fn gathered(texture: &IlluminationTexture, degrees: f32) -> f32 {
        let cells = 400;
        let step = 2.0 / cells as f32;
        let places =
            (0..cells * cells).map(|cell| (Vec2::new((cell % cells) as f32, (cell / cells) as f32) + 0.5) * step - 1.0);
        places.map(|place| texture.irradiance(light(degrees), place) * step * step).sum()
    }

    #[test]
    fn the_centre_is_lit_by_the_square_of_the_index() {
        let texture = IlluminationTexture::new(WATER);
        let reflected = ((WATER - 1.0) / (WATER + 1.0)).powi(2);
        for degrees in [0.0f32, 20.0, 45.0, 60.0, 75.0] {
            let exact = WATER * WATER * (1.0 - reflected) * degrees.to_radians().cos();
            let around = (0..16).map(|turn| texture.irradiance(light(degrees), Vec2::from_angle(turn as f32) * 0.08));
            let mean = around.sum::<f32>() / 16.0;
            assert!((mean / exact - 1.0).abs() < 0.03, "{degrees}°: {mean} at the centre, {exact} by Snell's law");
        }
    }

    #[test]
    fn all_overhead_light_that_enters_reaches_the_base() {
        let flux = gathered(&IlluminationTexture::new(WATER), 0.0);
        let steps = 10_000;
        let entering: f32 = (0..steps)
            .map(|step| {
                let radius = (step as f32 + 0.5) / steps as f32;
                let cos = (1.0 - radius * radius).sqrt();
                let (_, reflected) = refract(Vec3::NEG_Y, Vec3::new(radius, cos, 0.0), cos, 1.0 / WATER).unwrap();
                (1.0 - reflected) * TAU * radius / steps as f32
            })
            .sum();
        // The look-up smooths over the rim, where a texel is only partly in the disc.
        assert!((flux / entering - 1.0).abs() < 0.02, "{flux} of {entering} arrives");
    }

    #[test]
    fn no_more_light_arrives_than_the_dome_meets() {
        let texture = IlluminationTexture::new(WATER);
        for degrees in [0.0f32, 20.0, 45.0, 70.0, 89.0] {
            let flux = gathered(&texture, degrees);
            // The outline of the half-sphere, seen from the light.
            let met = FRAC_PI_2 * (1.0 + degrees.to_radians().cos());
            assert!(flux < met && flux > 0.1 * met, "{degrees}°: {flux} of {met} arrives");
        }
    }

    #[test]
    fn without_refraction_the_base_is_lit_as_if_bare() {
        let texture = IlluminationTexture::new(1.0);
        for degrees in [0.0f32, 45.0] {
            let found = texture.irradiance(light(degrees), Vec2::new(0.1, 0.2));
            let bare = degrees.to_radians().cos();
            assert!((found / bare - 1.0).abs() < 0.05, "{degrees}°: {found}, bare {bare}");
        }
    }

    #[test]
    fn the_footprint_maps_its_contour_to_the_unit_circle() {
        let apex = Vec2::new(2.0, 1.0);
        let contour: Vec<Vec2> = (0..200)
            .map(|step| {
                let angle = TAU * step as f32 / 200.0;
                apex + Vec2::from_angle(angle) * (1.0 + 0.3 * angle.cos())
            })
            .collect();
        let footprint = Footprint::new(apex, &contour).unwrap();
        for &point in &contour {
            let length = footprint.offset(point).length();
            assert!((length - 1.0).abs() < 0.005, "{point} lies at {length}");
        }
        assert_eq!(footprint.offset(apex), Vec2::ZERO);
        assert!(Footprint::new(Vec2::new(9.0, 9.0), &contour).is_none(), "the apex is outside");
        assert!(Footprint::new(apex, &[]).is_none() && Footprint::new(Vec2::NAN, &contour).is_none());
    }

    #[test]
    fn light_from_below_and_places_outside_are_dark() {
        let texture = IlluminationTexture::new(f32::NAN);
        assert_eq!(texture.irradiance(Vec3::NEG_Y, Vec2::ZERO), 0.0);
        assert_eq!(texture.irradiance(Vec3::Y, Vec2::new(0.9, 0.9)), 0.0);
        assert_eq!(texture.irradiance(Vec3::Y, Vec2::NAN), 0.0);
    }
}

//! Automatic framing: a camera for scenes that do not specify one.
//!
//! The camera depends only on what is the same in all frames, however long the run, so that the
//! video is steady: the solids with all keys of their motion, the initial drops, the emitters, and
//! the expected path of the water: down to the solid below, and some distance down its slope.
//!
//! - An upright plane that is the only solid is seen frontally from its liquid side; the image
//!   shows all of it, or the part around its drops where they are small compared to it.
//! - Everything else is seen in a three-quarter view, from slightly above and to the right, or from
//!   another of several directions from which more drops are visible.
//!
//! A body that is not much larger than the drops is shown completely; a large plane is only a
//! backdrop.

use glam::DVec3;
use sessile_scene::types::{EmitterKind, RainArea, Scene, SolidShape};
use sessile_world::{PlaneFrame, Solid, World};

use crate::camera::Camera;
use crate::camera_motion::moved_camera;

/// Directions from the subject to the camera, in order of preference.
const VIEWS: [DVec3; 10] = [
    DVec3::new(0.45, 0.42, 0.9),
    DVec3::new(-0.45, 0.42, 0.9),
    DVec3::new(0.45, 0.42, -0.9),
    DVec3::new(-0.45, 0.42, -0.9),
    DVec3::new(0.2, 0.9, 0.5),
    DVec3::new(0.45, -0.35, 0.9),
    DVec3::new(-0.45, -0.35, -0.9),
    DVec3::new(0.12, 0.15, 1.0),
    DVec3::new(1.0, 0.15, 0.12),
    DVec3::new(0.05, 1.0, 0.1),
];

/// Maximum fraction of the image that the subject's bounds fill, in each direction.
const FILL: f64 = 0.8;

/// Diameter of the aperture of a camera that frames itself, in parts of the distance: a point a
/// quarter of the distance behind the subject blurs to 1 % of the image's height.
const SLIGHT_APERTURE: f64 = 1.0 / 40.0;

/// Fraction of the image's height that a followed drop fills.
const FOLLOWED_DROP: f64 = 0.3;

/// A plane counts as upright up to this vertical component of its normal.
const MAX_UPRIGHT_Y: f64 = 0.35;

/// A pane with the aspect ratio of the image up to this factor fills it; others are shown
/// completely.
const ASPECT_TOLERANCE: f64 = 1.2;

/// Planes, and bodies, belong to the subject up to this many times the extent of the water.
const MAX_PLANE_RATIO: f64 = 6.0;
const MAX_BODY_RATIO: f64 = 24.0;

/// Distance that water is expected to run down a slope, in radii, and the minimum sine of the
/// slope's angle.
const RUNOUT: f64 = 8.0;
const MIN_SLOPE: f64 = 0.17;

/// Maximum number of drops that are tested for visibility.
const MAX_TESTED_DROPS: usize = 64;

type Bounds = [DVec3; 2];

const EMPTY: Bounds = [DVec3::INFINITY, DVec3::NEG_INFINITY];

fn join(a: Bounds, b: Bounds) -> Bounds {
    [a[0].min(b[0]), a[1].max(b[1])]
}

fn around(at: DVec3, radius: f64) -> Bounds {
    [at - DVec3::splat(radius), at + DVec3::splat(radius)]
}

fn extent(bounds: Bounds) -> f64 {
    (bounds[1] - bounds[0]).length()
}

fn is_valid(bounds: Bounds) -> bool {
    bounds[0].is_finite() && bounds[1].is_finite() && bounds[0].cmple(bounds[1]).all()
}

/// The scene's camera at time 0, with unspecified parts framed for an image of this aspect ratio
/// (width over height).
pub fn frame_scene(scene: &Scene, world: &World, aspect: f64) -> Camera {
    let automatic = automatic(scene, world, fov(scene), aspect);
    let look_at = scene.camera.look_at.unwrap_or(automatic.look_at);
    let eye = scene.camera.position.unwrap_or(look_at + automatic.eye - automatic.look_at);
    moved_camera(scene, with_lens(scene, Camera { eye, look_at, ..automatic }), 0.0)
}

/// The scene's camera, with unspecified parts framed around a drop that it follows.
pub fn frame_drop(scene: &Scene, world: &World, aspect: f64, place: DVec3, radius: f64) -> Camera {
    let automatic = automatic(scene, world, fov(scene), aspect);
    let offset = match (scene.camera.position, scene.camera.look_at) {
        (Some(position), look_at) => position - look_at.unwrap_or(place),
        (None, _) => {
            let half = (0.5 * automatic.fov).tan() * aspect.min(1.0);
            let distance = radius.max(1e-6) / (FOLLOWED_DROP * half);
            (automatic.eye - automatic.look_at).normalize_or(VIEWS[0].normalize()) * distance
        }
    };
    // As slight as before at another distance.
    let nearer = offset.length() / automatic.eye.distance(automatic.look_at).max(f64::MIN_POSITIVE);
    let lens_radius = automatic.lens_radius * nearer;
    with_lens(scene, Camera { eye: place + offset, look_at: place, lens_radius, ..automatic })
}

fn fov(scene: &Scene) -> f64 {
    scene.camera.fov.clamp(1e-3, 3.0)
}

fn with_lens(scene: &Scene, camera: Camera) -> Camera {
    let sessile_scene::types::Camera { aperture, focus, blades, .. } = scene.camera;
    let frames_itself = scene.camera.position.is_none() && scene.camera.motion.is_empty();
    let slight = if frames_itself { camera.lens_radius } else { 0.0 };
    Camera { lens_radius: aperture.map_or(slight, |aperture| 0.5 * aperture), focus, blades, ..camera }
}

fn automatic(scene: &Scene, world: &World, fov: f64, aspect: f64) -> Camera {
    let water = Water::of(scene, world);
    pane_view(world, &water, fov, aspect).unwrap_or_else(|| {
        let bounds = subject(world, &water);
        let camera = best_view(world, &water, bounds, fov, aspect);
        Camera { lens_radius: 0.5 * SLIGHT_APERTURE * camera.eye.distance(camera.look_at), ..camera }
    })
}

/// Where the water is and where it is expected to go.
struct Water {
    /// Centers and radii of drops and emitters.
    sources: Vec<(DVec3, f64)>,
    /// Bounds of them and of their expected paths.
    bounds: Bounds,
    /// Solids with rain or dew.
    wetted_solids: Vec<usize>,
}

impl Water {
    fn of(scene: &Scene, world: &World) -> Self {
        let mut water = Self { sources: Vec::new(), bounds: EMPTY, wetted_solids: Vec::new() };
        for drop in world.initial_drops() {
            let bounds = drop.bounds();
            water.sources.push((drop.centroid(), 0.5 * (bounds[1] - bounds[0]).max_element()));
            water.bounds = join(water.bounds, bounds);
        }
        for emitter in &scene.emitters {
            match emitter.kind {
                EmitterKind::Drip { at, radius, .. } | EmitterKind::Tap { at, radius, .. } => {
                    water.sources.push((at, 1.5 * radius));
                }
                EmitterKind::Feed { at, .. } => water.sources.push((at, 1e-3)),
                EmitterKind::Rain { over: RainArea::Solid(solid), .. } | EmitterKind::Dew { on: solid, .. } => {
                    water.wetted_solids.push(solid);
                }
                EmitterKind::Rain { over: RainArea::Box { min, max }, .. } => {
                    water.bounds = join(water.bounds, [min, max]);
                }
            }
        }
        for &(at, radius) in &water.sources {
            water.bounds = join(water.bounds, path_bounds(world, at, radius));
        }
        for bounds in water.wetted_solids.iter().filter_map(|&solid| bounds_over_motion(world, solid)) {
            water.bounds = join(water.bounds, bounds);
        }
        if let Some(domain) = &scene.domain
            && is_valid(water.bounds)
        {
            water.bounds = [water.bounds[0].max(domain.min), water.bounds[1].min(domain.max)];
        }
        water
    }
}

/// Bounds of a drop, its point of impact, and part of the slope there.
fn path_bounds(world: &World, at: DVec3, radius: f64) -> Bounds {
    let Some(down) = world.gravity().try_normalize() else { return around(at, radius) };
    // Sphere tracing by the signed distance never passes through a solid.
    let (mut point, mut fallen) = (at, 0.0);
    for _ in 0..128 {
        let distance = world.signed_distance(point);
        if !distance.is_finite() || fallen > 100.0 * radius {
            break;
        }
        if distance < 1.2 * radius {
            let impact = world.closest(point).map_or(point, |(_, closest)| closest.point);
            let normal = world.closest(point).map_or(-down, |(_, closest)| closest.normal);
            let slope = down - down.dot(normal) * normal;
            let run = if slope.length() > MIN_SLOPE { RUNOUT * radius * slope.normalize() } else { DVec3::ZERO };
            return join(around(at, radius), join(around(impact, radius), around(impact + run, radius)));
        }
        point += distance * down;
        fallen += distance;
    }
    join(around(at, radius), around(at + RUNOUT * radius * down, radius))
}

/// Bounds of a solid over all keys of its motion and samples of its shape.
fn bounds_over_motion(world: &World, solid: usize) -> Option<Bounds> {
    let at_start = world.solids().get(solid)?;
    let mut times: Vec<f64> = at_start.scene().motion.iter().map(|key| key.at).collect();
    if let SolidShape::Mesh { deform, .. } = &at_start.scene().shape {
        times.extend(deform.iter().map(|sample| sample.at));
    }
    if times.is_empty() {
        return Some(at_start.bounds());
    }
    let mut moved = world.clone();
    Some(times.iter().fold(at_start.bounds(), |bounds, at| {
        moved.advance_to(*at);
        moved.solids().get(solid).map_or(bounds, |solid| join(bounds, solid.bounds()))
    }))
}

/// Bounds of the subject of the image.
fn subject(world: &World, water: &Water) -> Bounds {
    let has_water = is_valid(water.bounds);
    let size = extent(water.bounds);
    let mut bounds = if has_water { water.bounds } else { EMPTY };
    for (index, solid) in world.solids().iter().enumerate() {
        let whole = bounds_over_motion(world, index).unwrap_or_else(|| solid.bounds());
        let is_plane = matches!(solid.scene().shape, SolidShape::Plane { .. });
        let limit = if is_plane { MAX_PLANE_RATIO } else { MAX_BODY_RATIO };
        if !has_water || extent(whole) < limit * size {
            bounds = join(bounds, whole);
        }
    }
    if is_valid(bounds) { bounds } else { around(DVec3::ZERO, 5e-3) }
}

/// A frontal view of an upright plane or of the part around its drops; `None` unless such a plane
/// is the only solid.
fn pane_view(world: &World, water: &Water, fov: f64, aspect: f64) -> Option<Camera> {
    let [solid] = world.solids() else { return None };
    let frame = solid.plane_frame().filter(|frame| frame.normal.y.abs() <= MAX_UPRIGHT_Y)?;
    let half = (0.5 * fov).tan();
    let fit = |[width, height]: [f64; 2]| (0.5 * height / half).max(0.5 * width / (half * aspect));
    let see = |middle: DVec3, distance: f64| Camera::new(middle + distance * frame.normal, middle, fov);

    let part = pane_region(&frame, water);
    if let Some((middle, size)) = part {
        return Some(see(middle, fit(size) / FILL));
    }
    let [width, height] = frame.size;
    let shape = width / height / aspect;
    if (1.0 / ASPECT_TOLERANCE..ASPECT_TOLERANCE).contains(&shape) {
        // Slightly closer than exact, so that the plane's edge is not visible.
        let distance = 0.99 * (0.5 * height / half).min(0.5 * width / (half * aspect));
        return Some(see(frame.origin, distance));
    }
    Some(see(frame.origin, fit(frame.size) / 0.96))
}

/// Center and size of the part of a pane around its drops; `None` when all of it is shown.
fn pane_region(frame: &PlaneFrame, water: &Water) -> Option<(DVec3, [f64; 2])> {
    if water.sources.is_empty() || !water.wetted_solids.is_empty() {
        return None;
    }
    let size = frame.size[0].max(frame.size[1]);
    let middle = 0.5 * (water.bounds[0] + water.bounds[1]);
    let box_size = water.bounds[1] - water.bounds[0];
    let across = |axis: DVec3| axis.abs().dot(box_size);
    let part = [across(frame.u), across(frame.v)];
    let on_pane = middle - (middle - frame.origin).dot(frame.normal) * frame.normal;
    (is_valid(water.bounds) && size > MAX_PLANE_RATIO * part[0].max(part[1])).then_some((on_pane, part))
}

/// A three-quarter view of a box, or another view that shows more drops.
fn best_view(world: &World, water: &Water, bounds: Bounds, fov: f64, aspect: f64) -> Camera {
    let middle = 0.5 * (bounds[0] + bounds[1]);
    let opaque: Vec<&Solid> =
        world.solids().iter().filter(|solid| solid.scene().look != sessile_scene::Look::Glass).collect();
    let views = VIEWS.map(|view| {
        let towards = view.normalize();
        Camera::new(middle + fit_box(bounds, towards, fov, aspect) * towards, middle, fov)
    });
    let mut best = (views[0], -1);
    for camera in views {
        let inside = opaque.iter().any(|solid| solid.signed_distance(camera.eye) <= 0.0);
        let seen = water
            .sources
            .iter()
            .take(MAX_TESTED_DROPS)
            .filter(|(at, radius)| is_visible(&opaque, camera.eye, *at, *radius));
        let score = if inside { -1 } else { i32::try_from(seen.count()).unwrap_or(i32::MAX) };
        if score > best.1 {
            best = (camera, score);
        }
    }
    best.0
}

/// The distance from a box's center at which all of it is in the image, seen from direction
/// `towards`.
fn fit_box([low, high]: Bounds, towards: DVec3, fov: f64, aspect: f64) -> f64 {
    let right = DVec3::Y.cross(towards).try_normalize().unwrap_or(DVec3::X);
    let up = towards.cross(right);
    let half = FILL * (0.5 * fov).tan();
    let middle = 0.5 * (low + high);
    let corners = (0..8).map(|corner| {
        let side = |bit: usize, axis: usize| if corner & bit == 0 { low[axis] } else { high[axis] };
        DVec3::new(side(1, 0), side(2, 1), side(4, 2)) - middle
    });
    let distance = corners
        .map(|corner| {
            let (x, y, nearer) = (corner.dot(right).abs(), corner.dot(up).abs(), corner.dot(towards));
            nearer + (x / (half * aspect)).max(y / half)
        })
        .fold(0.0, f64::max);
    distance.max(1e-5)
}

/// Whether no opaque solid lies between the camera and a drop.
fn is_visible(opaque: &[&Solid], eye: DVec3, at: DVec3, radius: f64) -> bool {
    let Some(direction) = (at - eye).try_normalize() else { return true };
    let length = at.distance(eye) - radius;
    let mut along = 0.0;
    for _ in 0..256 {
        if along >= length {
            return true;
        }
        let point = eye + along * direction;
        let distance = opaque.iter().map(|solid| solid.signed_distance(point)).fold(f64::INFINITY, f64::min);
        if distance < 0.02 * radius {
            return false;
        }
        along += distance.max(0.05 * radius);
    }
    false
}

#[cfg(test)]
mod tests;

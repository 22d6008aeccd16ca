//! The eye: a thin lens that frames the scene by itself.
//!
//! What the scene does not say is chosen from what stays the same in all frames, so that a film is steady: its solids, the drops
//! at the start, the sources. An upright plane that is the only solid fills the picture, seen straight on from its liquid
//! side; everything else is seen from a little above and to the right.

use glam::{DVec3, Vec2, Vec3};
use sessile_scene::types::{EmitterKind, RainArea, Scene};
use sessile_world::{InitialDrop, Solid, World};

/// Direction from the subject to the eye in a three-quarter view.
const THREE_QUARTERS: DVec3 = DVec3::new(0.45, 0.42, 0.9);

/// How much of the picture's height a subject takes.
const FILL: f64 = 0.72;

/// A plane counts as upright up to this vertical part of its normal.
const UPRIGHT: f64 = 0.35;

/// An eye with a thin lens, in world coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it is, in m.
    pub eye: DVec3,
    /// The point in the picture's middle, in m; also what is sharp, unless `focus` says otherwise.
    pub look_at: DVec3,
    /// Vertical field of view, in rad.
    pub fov: f64,
    /// Radius of the lens, in m; 0 makes everything sharp.
    pub lens_radius: f64,
    /// Distance that is sharp, in m; `None`: that of `look_at`.
    pub focus: Option<f64>,
}

/// A camera made ready for a picture, in the stage's coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Lens {
    eye: Vec3,
    right: Vec3,
    up: Vec3,
    forward: Vec3,
    half: Vec2,
    radius: f32,
    focus: f32,
}

impl Camera {
    /// A camera with everything sharp.
    pub fn new(eye: DVec3, look_at: DVec3, fov: f64) -> Self {
        Self { eye, look_at, fov, lens_radius: 0.0, focus: None }
    }

    /// The scene's camera, with what it leaves open framed for a picture `aspect` times as wide as high.
    pub fn framing(scene: &Scene, world: &World, aspect: f64) -> Self {
        let fov = scene.camera.fov.clamp(1e-3, 3.0);
        let automatic = pane_view(world, fov, aspect).unwrap_or_else(|| three_quarter_view(scene, world, fov, aspect));
        let look_at = scene.camera.look_at.unwrap_or(automatic.look_at);
        let eye = scene.camera.position.unwrap_or(look_at + automatic.eye - automatic.look_at);
        Self { eye, look_at, ..automatic }
    }

    /// Makes the camera ready for a picture of a stage whose coordinates start at `origin`.
    pub fn lens(&self, origin: DVec3, size: [usize; 2]) -> Lens {
        let forward = (self.look_at - self.eye).try_normalize().unwrap_or(-DVec3::Z);
        // Looking straight up or down, the picture's top is away from the eye.
        let right = forward.cross(DVec3::Y);
        let right = if right.length_squared() > 1e-12 { right.normalize() } else { DVec3::X };
        let up = right.cross(forward);
        let height = (0.5 * self.fov).tan();
        let aspect = size[0].max(1) as f64 / size[1].max(1) as f64;
        let focus = self.focus.unwrap_or(self.eye.distance(self.look_at)).max(1e-9);
        Lens {
            eye: (self.eye - origin).as_vec3(),
            right: right.as_vec3(),
            up: up.as_vec3(),
            forward: forward.as_vec3(),
            half: Vec2::new((height * aspect) as f32, height as f32),
            radius: self.lens_radius.max(0.0) as f32,
            focus: focus as f32,
        }
    }
}

impl Lens {
    /// Where the eye is.
    pub fn eye(&self) -> Vec3 {
        self.eye
    }

    /// Unit vector along the camera's axis, into the picture.
    pub fn forward(&self) -> Vec3 {
        self.forward
    }

    /// Where in the picture, from (0, 0) at its top left to (1, 1), something in this direction from the eye is seen by a pinhole
    /// camera; `None` for what lies beside or behind the eye. Beyond the borders it goes on.
    pub fn place_towards(&self, direction: Vec3) -> Option<Vec2> {
        let depth = direction.dot(self.forward);
        let offset = Vec2::new(direction.dot(self.right), direction.dot(self.up)) / (depth * self.half);
        let place = Vec2::new(0.5 + 0.5 * offset.x, 0.5 - 0.5 * offset.y);
        (depth > 0.0 && place.is_finite()).then_some(place)
    }

    /// Direction of the line of sight through a point of the picture, for a pinhole camera.
    pub fn line_of_sight(&self, place: Vec2) -> Vec3 {
        let offset = Vec2::new(2.0 * place.x - 1.0, 1.0 - 2.0 * place.y) * self.half;
        (offset.x * self.right + offset.y * self.up + self.forward).normalize()
    }

    /// Origin and direction of the ray through a point of the picture, from (0, 0) at its top left to (1, 1), and a point `u` of
    /// the lens.
    pub fn ray(&self, place: Vec2, u: Vec2) -> (Vec3, Vec3) {
        let offset = Vec2::new(2.0 * place.x - 1.0, 1.0 - 2.0 * place.y) * self.half;
        let direction = offset.x * self.right + offset.y * self.up + self.forward;
        if self.radius == 0.0 {
            return (self.eye, direction.normalize());
        }
        let (sin, cos) = (std::f32::consts::TAU * u.y).sin_cos();
        let origin = self.eye + self.radius * u.x.sqrt() * (cos * self.right + sin * self.up);
        let sharp = self.eye + self.focus * direction;
        (origin, (sharp - origin).normalize_or(self.forward))
    }
}

/// Straight on, an upright plane that is the only solid covers the picture.
fn pane_view(world: &World, fov: f64, aspect: f64) -> Option<Camera> {
    let [solid] = world.solids() else { return None };
    let frame = solid.plane_frame()?;
    if frame.normal.y.abs() > UPRIGHT {
        return None;
    }
    let half = (0.5 * fov).tan();
    let [width, height] = frame.size;
    // A hair closer than exact, so that the plane's edge does not show.
    let distance = 0.99 * (0.5 * height / half).min(0.5 * width / (half * aspect));
    Some(Camera::new(frame.origin + distance * frame.normal, frame.origin, fov))
}

fn three_quarter_view(scene: &Scene, world: &World, fov: f64, aspect: f64) -> Camera {
    let [low, high] = subject(scene, world);
    let center = 0.5 * (low + high);
    let radius = (0.5 * (high - low).length()).max(1e-5);
    let half = (0.5 * fov).tan() * aspect.min(1.0);
    let distance = radius / FILL / half.atan().sin();
    Camera::new(center + distance * THREE_QUARTERS.normalize(), center, fov)
}

/// The box round what a viewer wants to see.
fn subject(scene: &Scene, world: &World) -> [DVec3; 2] {
    let join = |a: [DVec3; 2], b: [DVec3; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    let empty = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    let about = |at: DVec3, radius: f64| [at - DVec3::splat(radius), at + DVec3::splat(radius)];
    let mut drops = world.initial_drops().iter().map(InitialDrop::bounds).fold(empty, join);
    for emitter in &scene.emitters {
        drops = match emitter.kind {
            EmitterKind::Drip { at, radius, .. } | EmitterKind::Tap { at, radius, .. } => {
                join(drops, about(at, 2.0 * radius))
            }
            EmitterKind::Feed { at, .. } => join(drops, about(at, 1e-3)),
            EmitterKind::Rain { over: RainArea::Solid(i), .. } | EmitterKind::Dew { on: i, .. } => {
                world.solids().get(i).map_or(drops, |solid| join(drops, solid.bounds()))
            }
            EmitterKind::Rain { over: RainArea::Box { min, max }, .. } => join(drops, [min, max]),
        };
    }
    let has_drops = drops[0].cmple(drops[1]).all();
    // Ground that is much larger than the drops is backdrop; bodies and small sheets are part of the subject.
    let extent = (drops[1] - drops[0]).length();
    let shown = world.solids().iter().filter(|solid| {
        let [low, high] = solid.bounds();
        !has_drops || (high - low).length() < 6.0 * extent
    });
    let all = shown.map(Solid::bounds).fold(drops, join);
    if all[0].is_finite() && all[1].is_finite() { all } else { about(DVec3::ZERO, 5e-3) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessile_scene::{NoFiles, parse_str};

    fn framed(text: &str, aspect: f64) -> Camera {
        let scene = parse_str("test.toml", text, &[], &NoFiles).unwrap().scene;
        Camera::framing(&scene, &World::build(&scene).unwrap(), aspect)
    }

    const TIME: &str = "[time]\nduration = \"30 ms\"\nframe = \"1 ms\"\n";

    #[test]
    fn an_upright_pane_alone_fills_the_picture() {
        let text = format!(
            "model = \"pane\"\n{TIME}[[solids]]\nname = \"w\"\nshape = \"plane\"\nnormal = [0, 0, 1]\nsize = \"160 90 mm\"\n"
        );
        let camera = framed(&text, 16.0 / 9.0);
        let lens = camera.lens(DVec3::ZERO, [640, 360]);
        for corner in [Vec2::ZERO, Vec2::ONE] {
            let (origin, direction) = lens.ray(corner, Vec2::ZERO);
            let at = origin - direction * (origin.z / direction.z);
            assert!((at.x.abs() / 0.08 - 0.99).abs() < 1e-3 && (at.y.abs() / 0.045 - 0.99).abs() < 1e-3, "{at}");
        }
    }

    #[test]
    fn a_drop_on_a_table_is_seen_whole_from_above_and_aside() {
        let text = format!(
            "model = \"volume\"\n{TIME}[[solids]]\nname = \"t\"\nshape = \"plane\"\n[[drops]]\nshape = \"cap\"\non = \"t\"\n\
             volume = \"4.2 uL\"\ncontact_angle = \"90 deg\"\n"
        );
        let camera = framed(&text, 16.0 / 9.0);
        let view = camera.eye - camera.look_at;
        assert!(view.y > 0.2 * view.length() && view.x > 0.2 * view.length(), "{view}");
        let radius = 1.26e-3;
        let seen = 2.0 * (0.5 * camera.fov).tan() * view.length();
        assert!((0.3..0.9).contains(&(2.0 * radius / seen)), "the drop takes {} of the height", 2.0 * radius / seen);
        let told = framed(&format!("{text}[camera]\nposition = \"0 1 5 mm\"\nlook_at = \"0 1 0 mm\"\n"), 1.0);
        assert!((told.eye - DVec3::new(0.0, 1e-3, 5e-3)).length() < 1e-12 && told.look_at.y == 1e-3, "{told:?}");
    }

    #[test]
    fn a_lens_keeps_its_focus_sharp() {
        let camera = Camera { lens_radius: 0.1, ..Camera::new(DVec3::Z * 2.0, DVec3::ZERO, 0.6) };
        let lens = camera.lens(DVec3::ZERO, [10, 10]);
        for u in [Vec2::ZERO, Vec2::new(0.9, 0.3), Vec2::new(0.4, 0.8)] {
            let (origin, direction) = lens.ray(Vec2::splat(0.5), u);
            let at = origin - direction * (origin.z / direction.z);
            assert!(at.length() < 1e-5, "{at}");
        }
    }
}

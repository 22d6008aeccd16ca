//! The scene, resolved: every quantity in SI and radians, every default filled in.
//!
//! Nothing here remembers how it was written; `print` writes it back so that it reads to the same bits.

use std::path::PathBuf;

use glam::DVec3;
use sessile_wetting::Liquid;

/// A whole scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// One line for people.
    pub title: String,
    /// Which model runs it.
    pub model: ModelKind,
    /// The physical form, or the paper's own operators.
    pub fidelity: Fidelity,
    /// Every random choice follows from it.
    pub seed: u64,
    /// Duration, frames, settling.
    pub time: Time,
    /// The liquid, overrides applied.
    pub liquid: Liquid,
    /// The preset that the liquid started from.
    pub liquid_preset: String,
    /// Gravity, wind, dimension.
    pub world: Environment,
    /// Bounds of space; without it space is open.
    pub domain: Option<Domain>,
    /// Cell and edge sizes; `None` where the scene has nothing to derive them from.
    pub resolution: Resolution,
    /// Materials in use, by name: those of the scene, and presets that a solid or wall names.
    pub materials: Vec<Material>,
    /// Solids, in file order; a solid's index here is the `solid` tag of a frame's faces.
    pub solids: Vec<Solid>,
    /// Liquid present at the start, in file order.
    pub drops: Vec<Drop>,
    /// Sources of liquid, in file order.
    pub emitters: Vec<Emitter>,
    /// The pane model's own knobs.
    pub pane: PaneKnobs,
    /// The droplet model's own knobs.
    pub droplet: DropletKnobs,
    /// The surface model's own knobs.
    pub surface: SurfaceKnobs,
    /// The volume model's own knobs.
    pub volume: VolumeKnobs,
    /// The camera; `None` fields are framed automatically.
    pub camera: Camera,
    /// Lights; the default is a studio.
    pub lights: Lights,
    /// Picture settings.
    pub render: Render,
    /// Whether to write the volume model's fields per frame.
    pub output_fields: bool,
}

/// The four models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelKind {
    /// Cells on a flat plate.
    Pane,
    /// Particles on a triangle mesh.
    Droplet,
    /// Deforming triangle surfaces.
    Surface,
    /// Level-set Navier–Stokes.
    Volume,
}

/// Which form of a model runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fidelity {
    /// Parameters derived from liquid and material.
    Physical,
    /// The paper's own operators and knobs.
    Paper,
}

/// `[time]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    /// Simulated time in all, in s; a whole number of frames.
    pub duration: f64,
    /// Simulated time between two frames, in s.
    pub frame: f64,
    /// Add drag and stop at rest.
    pub settle: bool,
}

impl Time {
    /// Number of the last frame; frame 0 is the initial state.
    pub fn last_frame(&self) -> u32 {
        (self.duration / self.frame).round() as u32
    }
}

/// A quantity that follows keys in time, linear between them and constant outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyed<T> {
    /// `(time in s, value)`, at least one, times rising.
    pub keys: Vec<(f64, T)>,
}

impl<T> Keyed<T>
where
    T: Copy + std::ops::Add<Output = T> + std::ops::Mul<f64, Output = T>,
{
    /// The value at time `t`, in s: linear between keys, constant before the first and after the last.
    ///
    /// # Panics
    ///
    /// If there are no keys.
    pub fn at(&self, t: f64) -> T {
        let after = self.keys.partition_point(|(time, _)| *time <= t);
        match (after.checked_sub(1).map(|i| self.keys[i]), self.keys.get(after)) {
            (Some((t0, v0)), Some(&(t1, v1))) => {
                let s = (t - t0) / (t1 - t0);
                v0 * (1.0 - s) + v1 * s
            }
            (Some((_, value)), None) => value,
            (None, _) => self.keys[0].1,
        }
    }
}

/// The directions u and v on a plane with unit `normal`: v up the slope, u = v × normal across it.
///
/// v is the projection of the world's +y onto the plane. A level plane (to 1e-6 rad) has no slope: v is then the world's −z, so
/// that on a floor u is +x, as on a map read with north away from the reader.
pub fn plane_axes(normal: DVec3) -> (DVec3, DVec3) {
    let up = DVec3::Y - normal * normal.y;
    let level = up.length() < 1e-6;
    let v = if level { DVec3::NEG_Z - normal * -normal.z } else { up }.normalize();
    (v.cross(normal), v)
}

/// `[world]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Environment {
    /// Gravity, in m/s².
    pub gravity: Keyed<DVec3>,
    /// Wind, in m/s.
    pub wind: DVec3,
    /// A two-dimensional run in the x–y plane.
    pub planar: bool,
}

/// `[domain]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Lower corner, in m.
    pub min: DVec3,
    /// Upper corner, in m.
    pub max: DVec3,
    /// What the two sides across x, y and z are.
    pub sides: [Side; 3],
    /// Material of walls; `None` means a contact angle of 90°.
    pub wall_material: Option<String>,
}

/// A pair of opposite sides of the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Liquid that leaves is lost.
    Open,
    /// A solid wall.
    Wall,
    /// A mirror.
    Symmetry,
    /// What leaves on one side enters on the other.
    Periodic,
}

/// `[resolution]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolution {
    /// Volume: cell size, in m. Default: 20 cells across the smallest drop.
    pub cell: Option<f64>,
    /// Surface, droplet: shortest edge, in m. Default 0.4 mm.
    pub edge: f64,
}

/// A number, or an image over the solid's UVs that runs from `black` to `white`.
#[derive(Clone, Debug, PartialEq)]
pub enum Varying {
    /// The same everywhere.
    Uniform(f64),
    /// Linear in the image's gray value.
    Image {
        /// The image, as an absolute path.
        file: PathBuf,
        /// Value at gray 0.
        black: f64,
        /// Value at gray 1.
        white: f64,
    },
}

/// `[materials.NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// The name that solids use.
    pub name: String,
    /// Dry advancing contact angle, in rad.
    pub advancing: Varying,
    /// Receding contact angle, in rad.
    pub receding: Varying,
    /// Advancing angle where the surface is already wet, in rad; its presence turns the wetting history on.
    pub wet_advancing: Option<Varying>,
    /// Bound on the receding line force, in N/m.
    pub receding_limit: Option<f64>,
    /// Bump height along u and v, in m.
    pub roughness: [f64; 2],
    /// Droplet model, paper form, in Pa.
    pub adhesion: f64,
    /// Droplet model, paper form: viscous friction k_f on this material, in kg/s; `None` for that of `[droplet]`.
    pub friction: Option<f64>,
    /// Pane model, paper form, 0 to 1.
    pub affinity: Varying,
}

/// `[[solids]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// Unique; the default is `solid0`, `solid1`, ….
    pub name: String,
    /// A name in [`Scene::materials`].
    pub material: String,
    /// What it is.
    pub shape: SolidShape,
    /// Static placement, applied to the shape before the motion: rotation about the shape's own origin, in rad, …
    pub rotate: DVec3,
    /// … then translation, in m.
    pub shift: DVec3,
    /// Keyframed motion, applied after the placement; empty when it stays.
    pub motion: Vec<MotionKey>,
    /// For pictures.
    pub look: Option<String>,
    /// For pictures, as an absolute path, or the name of a built-in procedure.
    pub texture: Option<String>,
}

/// One key of a solid's motion; linear between keys (angles too), constant outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionKey {
    /// Time, in s.
    pub at: f64,
    /// Translation, in m.
    pub shift: DVec3,
    /// Rotation about the world's x, then y, then z axis through the shape's origin, in rad.
    pub rotate: DVec3,
}

/// A solid's shape.
#[derive(Clone, Debug, PartialEq)]
pub enum SolidShape {
    /// A half-space; only `size` of it is drawn and meshed.
    Plane {
        /// A point on it, in m.
        point: DVec3,
        /// Out of the solid, unit length.
        normal: DVec3,
        /// Width and height of the drawn part, in m.
        size: [f64; 2],
    },
    /// An axis-aligned box.
    Box {
        /// Lower corner, in m.
        min: DVec3,
        /// Upper corner, in m.
        max: DVec3,
    },
    /// A ball, or all space around one.
    Sphere {
        /// Center, in m.
        center: DVec3,
        /// Radius, in m.
        radius: f64,
        /// The liquid is inside the sphere.
        inside: bool,
    },
    /// A rod or a pipe.
    Cylinder {
        /// Center of one end, in m.
        from: DVec3,
        /// Center of the other end, in m.
        to: DVec3,
        /// Outer radius, in m.
        radius: f64,
        /// Wall thickness of a hollow pipe, in m.
        wall: Option<f64>,
    },
    /// Two half-planes that meet in a valley along `axis`.
    Leaf {
        /// A point on the valley line, in m.
        point: DVec3,
        /// Along the valley line, unit length.
        axis: DVec3,
        /// Angle spanned by the two planes on the upper side, in rad.
        angle: f64,
        /// Length along the axis and width across, in m.
        size: [f64; 2],
    },
    /// A triangle mesh from a file.
    Mesh {
        /// The file, as an absolute path.
        file: PathBuf,
        /// How file units become meters.
        scale: MeshScale,
    },
}

/// How a mesh file's units become meters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeshScale {
    /// Scaled so that its y extent is this, in m.
    Height(f64),
    /// Multiplied by this.
    Factor(f64),
}

/// `[[drops]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Drop {
    /// What it is.
    pub shape: DropShape,
    /// Initial velocity, in m/s.
    pub velocity: DVec3,
}

/// How much liquid a drop holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// In m³.
    Volume(f64),
    /// Of a planar run, in m².
    Area(f64),
}

/// A drop's initial shape.
#[derive(Clone, Debug, PartialEq)]
pub enum DropShape {
    /// A ball, possibly rung in a Legendre mode.
    Sphere {
        /// Center, in m.
        center: DVec3,
        /// How much.
        amount: Amount,
        /// Legendre mode n; 0 when not rung.
        mode: u32,
        /// Relative amplitude of the mode.
        amplitude: f64,
        /// Axis of the mode, unit length.
        axis: DVec3,
    },
    /// A spherical cap on a solid.
    Cap {
        /// Index into [`Scene::solids`].
        on: usize,
        /// Center of its footprint, projected onto the solid, in m.
        center: DVec3,
        /// How much.
        amount: Amount,
        /// Angle at which it starts, in rad.
        contact_angle: f64,
    },
    /// An axis-aligned box: a bath.
    Box {
        /// Lower corner, in m.
        min: DVec3,
        /// Upper corner, in m.
        max: DVec3,
    },
    /// A thread, possibly rippled: r = radius (1 + amplitude cos(2πx/wavelength)), at the volume of the plain cylinder.
    Cylinder {
        /// Center of one end, in m.
        from: DVec3,
        /// Center of the other end, in m.
        to: DVec3,
        /// Radius, in m.
        radius: f64,
        /// Relative amplitude of the ripple.
        amplitude: f64,
        /// Wavelength of the ripple, in m; `None` without one.
        wavelength: Option<f64>,
    },
    /// A closed triangle mesh.
    Mesh {
        /// The file, as an absolute path.
        file: PathBuf,
        /// How file units become meters.
        scale: MeshScale,
        /// Rotation about the mesh's origin, in rad.
        rotate: DVec3,
        /// Translation, in m.
        shift: DVec3,
    },
}

/// `[[emitters]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Emitter {
    /// What it does.
    pub kind: EmitterKind,
    /// First moment, in s.
    pub start: f64,
    /// Last moment, in s; infinite by default.
    pub stop: f64,
}

/// A source of liquid.
#[derive(Clone, Debug, PartialEq)]
pub enum EmitterKind {
    /// A ball every so often.
    Drip {
        /// Center, in m.
        at: DVec3,
        /// Radius, in m.
        radius: f64,
        /// Period, in s.
        every: f64,
        /// Initial velocity, in m/s.
        velocity: DVec3,
    },
    /// A steady stream.
    Tap {
        /// Center of the mouth, in m.
        at: DVec3,
        /// Direction of the stream, unit length.
        direction: DVec3,
        /// Radius of the mouth, in m.
        radius: f64,
        /// Speed, in m/s.
        speed: f64,
    },
    /// Drops falling at random.
    Rain {
        /// Where.
        over: RainArea,
        /// Depth of water per time on level ground, in m/s.
        rate: f64,
        /// Sizes.
        sizes: RainSizes,
        /// Fall velocity, in m/s; `None`: terminal speed by size, plus the wind.
        velocity: Option<DVec3>,
    },
    /// Condensation.
    Dew {
        /// Index into [`Scene::solids`].
        on: usize,
        /// Volume per area and time, in m/s.
        rate: f64,
    },
    /// A needle in a drop; negative drains.
    Feed {
        /// The needle's tip, in m.
        at: DVec3,
        /// Volume per time, in m³/s.
        rate: f64,
    },
}

/// Where rain falls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RainArea {
    /// Onto a solid: index into [`Scene::solids`].
    Solid(usize),
    /// Through a box.
    Box {
        /// Lower corner, in m.
        min: DVec3,
        /// Upper corner, in m.
        max: DVec3,
    },
}

/// How large raindrops are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RainSizes {
    /// Marshall–Palmer at the emitter's rate.
    MarshallPalmer,
    /// Radius uniform between two bounds, in m.
    Uniform {
        /// Smallest radius, in m.
        min: f64,
        /// Largest radius, in m.
        max: f64,
    },
}

/// `[pane]`; `None` derives the value (physical) or takes the model's documented default (paper).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PaneKnobs {
    /// Side of a cell, in m.
    pub cell: Option<f64>,
    /// Fine cells along a cell's side.
    pub fine: Option<u32>,
    /// Volume above which a resting drop starts, in m³.
    pub static_weight: Option<f64>,
    /// Volume below which a moving drop stops, in m³.
    pub dynamic_weight: Option<f64>,
    /// Volume left in a cell that a drop leaves, in m³.
    pub residue: Option<f64>,
}

/// `[droplet]`, the paper's coefficients.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DropletKnobs {
    /// Viscous friction k_f, in kg/s (positive here).
    pub friction: Option<f64>,
    /// Radial slices M, at least 3.
    pub slices: Option<u32>,
    /// Levels N, at least 1.
    pub levels: Option<u32>,
    /// Longitudinal spring stiffness k_l, in N/m.
    pub longitudinal_stiffness: Option<f64>,
    /// Transverse spring stiffness k_t of the basis, in N/m.
    pub transverse_stiffness: Option<f64>,
    /// Stiffness towards the guide point, in N/m.
    pub guide_stiffness: Option<f64>,
    /// Stiffness of the volume link, in N/m.
    pub volume_stiffness: Option<f64>,
}

/// `[surface]`, the paper's coefficients.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SurfaceKnobs {
    /// Damping μ, in 1/s.
    pub mu: Option<f64>,
    /// Laplacian damping η.
    pub eta: Option<f64>,
    /// Speed ε lost to friction per step, in m/s.
    pub friction: Option<f64>,
    /// Contact-angle stiffness α.
    pub alpha: Option<f64>,
    /// Surface tension γ of the paper, without unit.
    pub gamma: Option<f64>,
    /// Which volume correction runs.
    pub volume_correction: Option<VolumeCorrection>,
    /// Whether a drop may merge with itself.
    pub self_collision: Option<bool>,
    /// Longest step, in s.
    pub dt: Option<f64>,
}

/// Volume correction of the surface model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeCorrection {
    /// By one-ring means.
    Local,
    /// By one offset.
    Global,
    /// Local, then global.
    Both,
}

/// `[volume]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VolumeKnobs {
    /// How the contact angle enters the curvature.
    pub curvature: Option<CurvatureMethod>,
    /// Order of the pressure condition at the free surface: 1 or 2.
    pub pressure_order: Option<u32>,
    /// A constant time step, in s.
    pub dt: Option<f64>,
    /// Speed below which a front is static, in m/s.
    pub static_speed: Option<f64>,
    /// Slip length, in m.
    pub slip: Option<f64>,
}

/// How the contact angle enters the volume model's curvature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurvatureMethod {
    /// Wang, Mucha and Turk's.
    VirtualSurface,
    /// The level set carried into the solid at the angle.
    Extension,
}

/// `[camera]`; `None` is framed automatically.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Eye point, in m.
    pub position: Option<DVec3>,
    /// Point in the picture's middle, in m.
    pub look_at: Option<DVec3>,
    /// Vertical field of view, in rad.
    pub fov: f64,
    /// The drop that it keeps in the middle.
    pub follow: Option<Follow>,
    /// Diameter of the lens, in m; 0: everything is sharp.
    pub aperture: f64,
    /// Distance that is sharp, in m; `None`: that of the point in the picture's middle.
    pub focus: Option<f64>,
}

impl Default for Camera {
    fn default() -> Self {
        Self { position: None, look_at: None, fov: 35f64.to_radians(), follow: None, aperture: 0.0, focus: None }
    }
}

/// `camera.follow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// The drop with this id.
    Drop(u32),
    /// The largest drop of the first frame that has any.
    Largest,
}

/// `[lights]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Lights {
    /// A built-in name (`studio`, `sky`) or an image file as an absolute path.
    pub environment: String,
    /// Factor on the environment.
    pub strength: f64,
    /// The sun, if any.
    pub sun: Option<Sun>,
    /// Rectangular lamps.
    pub area: Vec<AreaLight>,
}

/// A distant light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Towards the sun, unit length.
    pub direction: DVec3,
    /// Irradiance on a facing surface, relative to the environment's unit, per color channel.
    pub color: [f64; 3],
    /// Angular diameter, in rad.
    pub angle: f64,
}

/// A square lamp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AreaLight {
    /// Center, in m.
    pub center: DVec3,
    /// Faces this point, in m.
    pub look_at: DVec3,
    /// Side, in m.
    pub size: f64,
    /// Radiance per color channel.
    pub color: [f64; 3],
}

/// `[render]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Render {
    /// Picture width and height, in pixels.
    pub size: [u32; 2],
    /// Most samples per pixel.
    pub samples: u32,
    /// Whether the grain of few samples is removed.
    pub denoise: bool,
    /// How long the shutter is open, as a part of the time between two frames; 0: nothing is blurred by its motion.
    pub shutter: f64,
    /// Factor on the brightness that is chosen by itself.
    pub exposure: f64,
    /// Pictures per second of video.
    pub fps: f64,
}

impl Default for Render {
    fn default() -> Self {
        Self { size: [640, 360], samples: 64, denoise: true, shutter: 0.0, exposure: 1.0, fps: 30.0 }
    }
}

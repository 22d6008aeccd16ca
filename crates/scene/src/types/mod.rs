//! The resolved scene: every quantity in SI units and radians, every default filled in.
//!
//! Nothing here depends on how the file was written; [`crate::print()`] writes a file that reads
//! back bit-identically.

mod drops;
mod emitters;
mod general;
mod images;
mod materials;
mod parameters;
mod solids;
pub(crate) mod words;

pub(crate) use drops::DropKind;
pub use drops::{Amount, Drop, DropShape};
pub(crate) use emitters::EmitterType;
pub use emitters::{Emitter, EmitterKind, RainArea, RainSizes};
pub use general::{Domain, Keyed, Output, Resolution, Side, Time, WorldSettings, plane_axes};
pub use images::{
    AreaLight, Camera, EnvironmentMap, EnvironmentPreset, Follow, Lights, Look, Render, Sun, Texture, TexturePattern,
};
pub use materials::{Material, Varying};
pub use parameters::{
    CurvatureMethod, DropletParameters, PaneParameters, SpringParameters, SurfaceParameters, VolumeCorrection,
    VolumeParameters,
};
pub(crate) use solids::SolidKind;
pub use solids::{MeshScale, MotionKey, Solid, SolidShape};

use sessile_wetting::{Liquid, LiquidPreset};

use self::words::words;

/// A complete scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// A one-line description.
    pub title: String,
    /// The model that simulates the scene.
    pub model: ModelKind,
    /// Physical parameters, or the operators of the model's paper.
    pub fidelity: Fidelity,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Duration, frame interval, settling.
    pub time: Time,
    /// The liquid's properties, after overrides.
    pub liquid: Liquid,
    /// The preset that the liquid's properties start from; it also sets the liquid's appearance.
    pub liquid_preset: &'static LiquidPreset,
    /// Gravity, wind, number of dimensions.
    pub world: WorldSettings,
    /// Bounds of the simulated space; `None` for open, unbounded space.
    pub domain: Option<Domain>,
    /// Cell and edge sizes.
    pub resolution: Resolution,
    /// Materials in use: those of the scene, then presets that a solid or wall names.
    pub materials: Vec<Material>,
    /// Solids in file order; the index here is the `solid` tag of a frame's faces.
    pub solids: Vec<Solid>,
    /// Liquid present at the start, in file order.
    pub drops: Vec<Drop>,
    /// Sources of liquid, in file order.
    pub emitters: Vec<Emitter>,
    /// Parameters of the pane model.
    pub pane: PaneParameters,
    /// Parameters of the droplet model.
    pub droplet: DropletParameters,
    /// Parameters of the surface model.
    pub surface: SurfaceParameters,
    /// Parameters of the volume model.
    pub volume: VolumeParameters,
    /// The camera; fields that are `None` are framed automatically.
    pub camera: Camera,
    /// Lights; the default is a studio.
    pub lights: Lights,
    /// Render settings.
    pub render: Render,
    /// Optional output.
    pub output: Output,
}

words! {
    /// The four models.
    pub enum ModelKind {
        /// Droplets on a grid of cells on a flat plate.
        Pane = "pane",
        /// Droplets as particles on a triangle mesh.
        Droplet = "droplet",
        /// Deforming triangle surfaces.
        Surface = "surface",
        /// Level-set Navier–Stokes on a grid.
        Volume = "volume",
    }
}

words! {
    /// Where a model's parameters come from.
    pub enum Fidelity {
        /// Derived from the liquid and the materials.
        Physical = "physical",
        /// The operators and parameters of the model's paper.
        Paper = "paper",
    }
}

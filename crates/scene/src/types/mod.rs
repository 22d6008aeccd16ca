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

pub use drops::{Amount, Drop, DropShape};
pub use emitters::{Emitter, EmitterKind, RainArea, RainSizes};
pub(crate) use emitters::{RainBox, RainRadius};
pub use general::{Domain, Keyed, Output, Resolution, Side, Time, WorldSettings, plane_axes};
pub use images::{
    AreaLight, Camera, CameraKey, EnvironmentMap, EnvironmentPreset, Follow, Lights, Look, Render, Sun, SurfaceColor,
    Texture, TexturePattern, Tiling, ViewTransform,
};
#[cfg(test)]
pub(crate) use materials::{IMAGE_OF_ADHESION, IMAGE_OF_ANGLES, IMAGE_OF_BUMPS, IMAGE_OF_FACTORS, IMAGE_OF_FRICTION};
pub use materials::{Material, Varying};
pub use parameters::{
    CurvatureMethod, DropletParameters, PaneParameters, SpringParameters, SurfaceParameters, VolumeCorrection,
    VolumeParameters,
};
pub use solids::{DeformKey, Interpolation, MeshScale, MotionKey, Solid, SolidShape};

use sessile_wetting::{Liquid, LiquidPreset};

use self::words::words;
use crate::declare::{section, section_of};
use crate::quantities::{DENSITY, TENSION, VISCOSITY};
use crate::resolve;
use crate::resolve::general::{PresetOfLiquid, liquid_preset};
use crate::resolve::materials::Materials;
pub(crate) use crate::resolve::solids::SolidName;
use crate::resolve::solids::Solids;
use crate::schema::Default::{Derived, Required, Value};
use crate::schema::Range::{Closed, Positive};
use crate::schema::ValueType::{Integer, List, Name, Named, Number, Quantity, Table as Nested, Text, Word};
use crate::schema::{Affects, image_key, key};

section! {
    /// A complete scene.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Scene: "the scene" {
        /// A one-line description.
        pub title: String = key(Text, Value("\"\""), "one-line description").affecting(Affects::Nothing),
        /// The model that simulates the scene.
        pub model: ModelKind = key(
            Word(ModelKind::NAMES),
            Required("\"pane\", \"droplet\", \"surface\" or \"volume\""),
            "model that simulates the scene"
        ),
        /// Physical parameters, or the operators of the model's paper.
        pub fidelity: Fidelity = key(
            Word(Fidelity::NAMES),
            Value("\"physical\""),
            "parameters from liquid and materials (physical), or the paper's own operators (paper)"
        ),
        /// Seed of all random numbers.
        // TOML readers guarantee no more than 63 bits.
        pub seed: u64 = key(Integer(0, i64::MAX as u64), Value("1"), "seed of all random numbers"),
        /// Duration, frame interval, settling.
        pub time: Time = key(
            Nested(Time::TABLE),
            Required("{ duration = \"30 ms\", frame = \"1 ms\" }"),
            "duration and frames"
        ),
        /// The liquid's properties, after overrides.
        pub liquid: Liquid = key(Nested(Liquid::TABLE), Derived("water"), "properties of the liquid"),
        /// The preset that the liquid's properties start from; it also sets the appearance.
        pub liquid_preset via PresetOfLiquid: &'static LiquidPreset,
        /// Gravity, wind, number of dimensions.
        pub world: WorldSettings = key(
            Nested(WorldSettings::TABLE),
            Derived("gravity only"),
            "gravity, wind, number of dimensions"
        ),
        /// Bounds of the simulated space; `None` for open, unbounded space.
        pub domain: Option<Domain> = key(
            Nested(Domain::TABLE),
            Derived("open, unbounded space"),
            "bounds of the simulated space"
        ),
        /// Cell and edge sizes.
        pub resolution: Resolution = key(Nested(Resolution::TABLE), Derived("see there"), "cell and edge sizes"),
        /// Optional output.
        pub output: Output = key(Nested(Output::TABLE), Derived("see there"), "optional output"),
        /// Materials in use: those of the scene, then presets that a solid or wall names.
        pub materials via Materials: Vec<Material> = key(
            Named(Material::TABLE),
            Derived("presets only"),
            "wetting properties, by name"
        ),
        /// Solids in file order; the index here is the `solid` tag of a frame's faces.
        pub solids via Solids: Vec<Solid> = key(List(Solid::TABLE), Derived("none"), "solids"),
        /// Liquid present at the start, in file order.
        pub drops: Vec<Drop> = key(List(Drop::TABLE), Derived("none"), "liquid present at the start"),
        /// Sources of liquid, in file order.
        pub emitters: Vec<Emitter> = key(List(Emitter::TABLE), Derived("none"), "sources of liquid"),
        /// Parameters of the pane model.
        pub pane: PaneParameters = key(
            Nested(PaneParameters::TABLE),
            Derived("derived values"),
            "parameters of the pane model"
        ),
        /// Parameters of the droplet model.
        pub droplet: DropletParameters = key(
            Nested(DropletParameters::TABLE),
            Derived("derived values"),
            "parameters of the droplet model"
        ),
        /// Parameters of the surface model.
        pub surface: SurfaceParameters = key(
            Nested(SurfaceParameters::TABLE),
            Derived("derived values"),
            "parameters of the surface model"
        ),
        /// Parameters of the volume model.
        pub volume: VolumeParameters = key(
            Nested(VolumeParameters::TABLE),
            Derived("derived values"),
            "parameters of the volume model"
        ),
        /// The camera; fields that are `None` are framed automatically.
        pub camera: Camera = image_key(Nested(Camera::TABLE), Derived("automatic framing"), "camera"),
        /// Render settings.
        pub render: Render = image_key(Nested(Render::TABLE), Derived("see there"), "render settings"),
        /// Lights; the default is a studio.
        pub lights: Lights = image_key(Nested(Lights::TABLE), Derived("a studio"), "lights"),
    } then resolve::complete
}

section_of! {
    Liquid: "[liquid]" {
        key "preset" = image_key(
            Name("a liquid preset"),
            Value("\"water\""),
            "one of `sessile liquids`: default of the keys below, and appearance"
        ) => |scene| scene.liquid_preset.name.to_owned();
        pub density: f64 = key(Quantity(&DENSITY, Positive), Derived("the preset's"), "density")
            => |section| liquid_preset(section).liquid.density,
        pub viscosity: f64 = key(Quantity(&VISCOSITY, Positive), Derived("the preset's"), "kinematic viscosity")
            => |section| liquid_preset(section).liquid.viscosity,
        pub surface_tension: f64 = key(
            Quantity(&TENSION, Positive),
            Derived("the preset's"),
            "surface tension against air"
        ) => |section| liquid_preset(section).liquid.surface_tension,
        pub refractive_index: f64 = image_key(
            Number(Closed(1.0, 10.0)),
            Derived("the preset's"),
            "refractive index"
        ) => |section| liquid_preset(section).liquid.refractive_index,
    } then resolve::general::check_liquid
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

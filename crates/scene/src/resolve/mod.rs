//! What a declaration cannot say: formats of single keys, derived defaults, references, checks.

mod checks;
pub(crate) mod drops;
pub(crate) mod emitters;
pub(crate) mod general;
pub(crate) mod images;
pub(crate) mod materials;
pub(crate) mod solids;

use std::cell::{Cell, RefCell};

use sessile_numerics::{circle_radius, sphere_radius};
use sessile_wetting::LiquidPreset;

use self::materials::Library;
use self::solids::SolidNames;
use crate::field::Fields;
use crate::presets;
use crate::reader::{Context, Section};
use crate::tree::{Node, Value};
use crate::types::{Amount, Domain, Scene};

/// What later sections of a scene refer to, in the order of the scene's fields.
pub(crate) struct Scope {
    /// `time.fps`, where it is given.
    pub fps: Cell<Option<f64>>,
    pub liquid_preset: Cell<&'static LiquidPreset>,
    pub planar: Cell<bool>,
    pub domain: RefCell<Option<Domain>>,
    pub library: RefCell<Library>,
    pub solids: RefCell<SolidNames>,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            fps: Cell::new(None),
            liquid_preset: Cell::new(presets::default_liquid()),
            planar: Cell::new(false),
            domain: RefCell::default(),
            library: RefCell::default(),
            solids: RefCell::default(),
        }
    }
}

/// Reads the whole scene; problems are recorded in the context.
pub(crate) fn scene(cx: &Context<'_>, root: &Node) -> Scene {
    let table = match &root.value {
        Value::Table(table) => Some(table),
        _ => None,
    };
    Scene::read(&Section::new(cx, Scene::TABLE, root.place.clone(), table))
}

/// Completes a scene whose sections have been read, and checks it as a whole.
pub(crate) fn complete(top: &Section<'_>, scene: &mut Scene) {
    scene.materials = top.cx.scope.library.take().complete(top, scene);
    general::derive_cell(scene);
    checks::check(top, scene, top.given("model"));
}

/// Radius of the sphere (in a planar run, the circle) of the same amount, in m.
fn equivalent_radius(amount: Amount) -> f64 {
    match amount {
        Amount::Volume(volume) => sphere_radius(volume),
        Amount::Area(area) => circle_radius(area),
    }
}

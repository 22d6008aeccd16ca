//! From the tree to the resolved scene: defaults, references and checks.

mod checks;
mod drops;
mod emitters;
mod general;
mod images;
mod materials;
mod solids;

use std::collections::BTreeMap;

use sessile_numerics::{circle_radius, sphere_radius};

use self::drops::Surroundings;
use crate::diagnostics::Diagnostic;
use crate::field::Field;
use crate::reader::{Context, Section};
use crate::schema::SCENE;
use crate::suggest::nearest;
use crate::tree::{Node, Value, shortened};
use crate::types::{Amount, ModelKind, Scene, Solid, WorldSettings};

/// Reads the whole scene; problems are recorded in the context.
pub(crate) fn scene(cx: &Context<'_>, root: &Node) -> Scene {
    let table = match &root.value {
        Value::Table(table) => Some(table),
        _ => None,
    };
    let top = Section::new(cx, &SCENE, root.place.clone(), table);
    let model = top.get::<ModelKind>("model");

    let time = general::time(&top);
    let (liquid, liquid_preset) = general::liquid(&top);
    let world: WorldSettings = Field::read(&top, "world");
    let domain = general::domain(&top);
    let mut library = materials::Library::read(&top);
    library.use_wall(&top, domain.as_ref());
    let solids = solids::read(&top, &mut library, domain.as_ref());
    library.warn_of_other_liquids(&top, liquid_preset.name, &solids, domain.as_ref());
    let names = SolidNames::new(&solids);
    let surroundings = Surroundings { planar: world.planar, solids: &solids, names: &names, library: &library };
    let drops = drops::read(&top, &surroundings);
    let emitters = emitters::read(&top, world.planar, &solids, &names);
    let resolution = general::resolution(&top, &drops, &emitters);
    let scene = Scene {
        title: top.value("title"),
        model: model.unwrap_or(ModelKind::Volume),
        fidelity: top.value("fidelity"),
        seed: top.value("seed"),
        time,
        liquid,
        liquid_preset,
        world,
        domain,
        resolution,
        materials: library.into_materials(),
        solids,
        drops,
        emitters,
        pane: Field::read(&top, "pane"),
        droplet: Field::read(&top, "droplet"),
        surface: Field::read(&top, "surface"),
        volume: Field::read(&top, "volume"),
        camera: images::camera(&top),
        lights: images::lights(&top),
        render: Field::read(&top, "render"),
        output: Field::read(&top, "output"),
    };
    top.finish();
    checks::check(&top, &scene, model);
    scene
}

/// Stands for a solid with an unknown name, which is recorded as a problem.
const UNKNOWN: usize = usize::MAX;

/// Solids by name.
pub(crate) struct SolidNames {
    by_name: BTreeMap<String, usize>,
}

impl SolidNames {
    fn new(solids: &[Solid]) -> Self {
        let by_name = solids.iter().enumerate().rev().map(|(i, s)| (s.name.clone(), i)).collect();
        Self { by_name }
    }

    /// Index of the solid that `key` names; that of the only solid if the key is absent.
    fn find(&self, section: &Section<'_>, key: &str, solids: &[Solid]) -> Option<usize> {
        if !section.has(key) {
            if solids.len() == 1 {
                return Some(0);
            }
            let example = solids.first().map_or("\"table\"".to_owned(), |s| format!("\"{}\"", shortened(&s.name)));
            if solids.is_empty() {
                section.cx.error(
                    Diagnostic::new(&section.place, "the scene has no solid")
                        .label(format!("needs a solid and `{key}`"))
                        .help("add [[solids]] with name = \"table\" and shape = \"plane\""),
                );
            } else {
                section.missing(&format!("`{key}`, the name of a solid"), &format!("{key} = {example}"));
            }
            return None;
        }
        let name = section.get::<String>(key)?;
        let found = self.by_name.get(&name).copied();
        if found.is_none() {
            let known = || self.by_name.keys().map(String::as_str);
            let help = match nearest(&name, known()) {
                Some(near) => format!("did you mean \"{}\"?", shortened(near)),
                None if solids.is_empty() => "add [[solids]] with that name".to_owned(),
                None => format!("the solids are {}", shortened(&known().take(8).collect::<Vec<_>>().join(", "))),
            };
            section.cx.error(
                Diagnostic::new(&section.place_of(key), format!("unknown solid \"{}\"", shortened(&name)))
                    .label("not the name of a solid")
                    .help(help),
            );
        }
        found
    }
}

/// Radius of the sphere (in a planar run, the circle) of the same amount, in m.
fn equivalent_radius(amount: Amount) -> f64 {
    match amount {
        Amount::Volume(volume) => sphere_radius(volume),
        Amount::Area(area) => circle_radius(area),
    }
}

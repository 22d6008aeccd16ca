//! From the tree to the resolved scene: defaults filled in, references followed, everything checked.

mod basics;
mod checks;
mod drops;
mod emitters;
mod knobs;
mod materials;
mod pictures;
mod solids;

use std::collections::BTreeMap;

use crate::diagnostics::Diagnostic;
use crate::reader::{Context, Section};
use crate::schema;
use crate::suggest::nearest;
use crate::tree::{Node, Value, shortened};
use crate::types::{Fidelity, ModelKind, Scene, Solid, WorldSettings};

/// Reads the whole scene; what is wrong is left in the context.
pub(crate) fn scene(cx: &Context<'_>, root: &Node) -> Scene {
    let table = match &root.value {
        Value::Table(table) => Some(table),
        _ => None,
    };
    let top = Section::new(cx, &schema::SCENE, root.place.clone(), table);
    top.require("model", "\"pane\", \"droplet\", \"surface\" or \"volume\"");
    let model_given = top.word::<ModelKind>("model");
    let model = model_given.unwrap_or(ModelKind::Volume);

    let time = basics::time(&top);
    let (liquid, liquid_preset) = basics::liquid(&top);
    let world = basics::world(&top);
    let domain = basics::domain(&top);
    let mut library = materials::Library::read(&top);
    library.use_wall(&top, domain.as_ref());
    let solids = solids::read(&top, &mut library, domain.as_ref());
    library.warn_of_other_liquids(&top, liquid_preset.name, &solids, domain.as_ref());
    let names = SolidNames::new(&solids);
    let drops = drops::read(&top, &world, &solids, &names, &library);
    let emitters = emitters::read(&top, &world, &solids, &names);
    let resolution = basics::resolution(&top, &drops, &emitters);
    let scene = Scene {
        title: top.text("title").unwrap_or_default(),
        model,
        fidelity: top.word("fidelity").unwrap_or(Fidelity::Physical),
        // TOML readers promise no more than 63 bits.
        seed: top.count("seed", &(0..=i64::MAX as u64)).unwrap_or(1),
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
        pane: knobs::pane(&top),
        droplet: knobs::droplet(&top),
        surface: knobs::surface(&top),
        volume: knobs::volume(&top),
        camera: pictures::camera(&top),
        lights: pictures::lights(&top),
        render: pictures::render(&top),
        output: basics::output(&top),
    };
    top.finish();
    checks::check(&top, &scene, model_given);
    scene
}

/// Stands for a solid that was named wrongly, which is on record.
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

    /// The solid that `key` names; the only solid there is when the key is absent.
    fn find(&self, section: &Section<'_>, key: &str, solids: &[Solid]) -> Option<usize> {
        if !section.has(key) {
            if solids.len() == 1 {
                return Some(0);
            }
            let example = solids.first().map_or("\"table\"".to_owned(), |s| format!("\"{}\"", shortened(&s.name)));
            if solids.is_empty() {
                section.cx.error(
                    Diagnostic::new(&section.place, "there is no solid in this scene for it to be on")
                        .label(format!("needs a solid and `{key}`"))
                        .help("add [[solids]] with name = \"table\" and shape = \"plane\""),
                );
            } else {
                section.missing(&format!("`{key}`, the name of a solid"), &format!("{key} = {example}"));
            }
            return None;
        }
        let name = section.text(key)?;
        let found = self.by_name.get(&name).copied();
        if found.is_none() {
            let known = || self.by_name.keys().map(String::as_str);
            let help = match nearest(&name, known()) {
                Some(near) => format!("did you mean \"{}\"?", shortened(near)),
                None if solids.is_empty() => "add [[solids]] with that name".to_owned(),
                None => format!("the solids are {}", shortened(&known().take(8).collect::<Vec<_>>().join(", "))),
            };
            section.cx.error(
                Diagnostic::new(&section.place_of(key), format!("there is no solid \"{}\"", shortened(&name)))
                    .label("not the name of a solid")
                    .help(help),
            );
        }
        found
    }
}

/// The radius of the ball (or, in a planar run, the disc) that holds an amount.
pub(crate) fn radius_of(amount: crate::types::Amount) -> f64 {
    use crate::types::Amount;
    use std::f64::consts::PI;
    match amount {
        Amount::Volume(v) => (v * 3.0 / (4.0 * PI)).cbrt(),
        Amount::Area(a) => (a / PI).sqrt(),
    }
}

/// Whether a run is planar, for readers of amounts.
pub(crate) fn is_planar(world: &WorldSettings) -> bool {
    world.planar
}

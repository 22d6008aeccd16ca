//! Time, liquid, domain and resolution.

use glam::DVec3;
use sessile_wetting::{Liquid, LiquidPreset};

use super::equivalent_radius;
use crate::diagnostics::Diagnostic;
use crate::field::Group;
use crate::presets;
use crate::print::{Document, quantity_text};
use crate::quantities::TIME;
use crate::reader::Section;
use crate::schema::Key;
use crate::types::{
    Domain, Drop, DropShape, Emitter, EmitterKind, MeshScale, RainSizes, Scene, Side, Time, WorldSettings,
};
use crate::units::is_sensible;

/// Maximum number of frames of a run.
const MOST_FRAMES: f64 = 1e6;

/// Records a duration that is not an integer number of frames, or of too many.
pub(crate) fn check_frames(section: &Section<'_>, _: &mut Time) {
    let given = (section.given::<f64>("duration"), section.given::<f64>("frame"));
    let (Some(duration), Some(frame)) = given else { return };
    let frames = duration / frame;
    if frames > MOST_FRAMES {
        section.complain(
            "duration",
            format!("a run has at most {MOST_FRAMES} frames, but this one has {frames:.3e}"),
            "too many frames",
        );
    } else if frames.round() < 1.0 || (frames - frames.round()).abs() > 1e-9 * frames {
        let below = frames.floor().max(1.0);
        // Twelve digits hide the rounding of the product.
        let tidy = |t: f64| format!("{t:.11e}").parse().unwrap_or(t);
        let show = |n: f64| quantity_text(tidy(n * frame), &TIME);
        section.cx.error(
            Diagnostic::new(&section.place_of("duration"), "`duration` must be an integer number of frames")
                .label(format!("{frames:.6} frames"))
                .other(&section.place_of("frame"), "the time between two frames")
                .help(format!("the nearest are \"{}\" and \"{}\"", show(below), show(below + 1.0))),
        );
    }
}

/// The preset of `[liquid]`; water if the name is unknown.
pub(crate) fn liquid_preset(section: &Section<'_>) -> &'static LiquidPreset {
    let name = section.given::<String>("preset");
    name.and_then(|name| presets::liquid(&name)).unwrap_or_else(presets::default_liquid)
}

/// Records an unknown preset.
pub(crate) fn check_liquid(section: &Section<'_>, _: &mut Liquid) {
    let name: String = section.value("preset");
    if presets::liquid(&name).is_none() && section.given::<String>("preset").is_some() {
        let many = "`sessile liquids` lists them";
        section.unknown_word("preset", &name, "the liquid's preset", presets::liquid_names(), many);
    }
    section.cx.scope.liquid_preset.set(liquid_preset(section));
}

/// The preset that `[liquid]` names; printed there.
pub(crate) struct PresetOfLiquid;

impl Group<&'static LiquidPreset> for PresetOfLiquid {
    const KEYS: &'static [Key] = &[];

    fn read(section: &Section<'_>) -> &'static LiquidPreset {
        section.cx.scope.liquid_preset.get()
    }

    fn print(_: &&'static LiquidPreset, _: &mut Document<'_>) {}
}

pub(crate) fn note_world(section: &Section<'_>, world: &mut WorldSettings) {
    section.cx.scope.planar.set(world.planar);
}

/// The boundary conditions: one key per axis.
impl Group<Self> for [Side; 3] {
    const KEYS: &'static [Key] = Side::AXES;

    fn read(section: &Section<'_>) -> Self {
        [0, 1, 2].map(|axis| section.value(Side::AXES[axis].name))
    }

    fn print(sides: &Self, out: &mut Document<'_>) {
        Side::AXES.iter().zip(sides).for_each(|(key, side)| out.value(key.name, side));
    }
}

pub(crate) fn note_domain(section: &Section<'_>, domain: &mut Domain) {
    check_corners(section);
    section.cx.scope.domain.replace(Some(domain.clone()));
}

/// Records a box whose `min` is not below its `max` in each coordinate.
pub(crate) fn check_corners(section: &Section<'_>) {
    let corners = (section.given::<DVec3>("min"), section.given::<DVec3>("max"));
    let (Some(min), Some(max)) = corners else { return };
    let wrong: Vec<&str> = ["x", "y", "z"]
        .into_iter()
        .enumerate()
        .filter(|(axis, _)| min[*axis] >= max[*axis])
        .map(|(_, name)| name)
        .collect();
    if !wrong.is_empty() {
        section.cx.error(
            Diagnostic::new(&section.place_of("min"), format!("`min` must be below `max` in {}", wrong.join(" and ")))
                .label("the lower corner")
                .other(&section.place_of("max"), "the upper corner"),
        );
    }
}

/// Cells across the smallest drop, by default.
const CELLS_ACROSS: f64 = 20.0;

/// Derives the cell size from the smallest drop, if the scene does not give it.
pub(super) fn derive_cell(scene: &mut Scene) {
    let drops = scene.drops.iter().filter_map(drop_diameter);
    let diameters = drops.chain(scene.emitters.iter().filter_map(emitter_diameter));
    let derived = diameters.min_by(f64::total_cmp).map(|d| d / CELLS_ACROSS).filter(|cell| is_sensible(*cell));
    scene.resolution.cell = scene.resolution.cell.or(derived);
}

/// The smallest extent of a drop that cells must resolve, in m.
fn drop_diameter(drop: &Drop) -> Option<f64> {
    match &drop.shape {
        DropShape::Sphere { amount, .. } | DropShape::Cap { amount, .. } => Some(2.0 * equivalent_radius(*amount)),
        DropShape::Box { min, max } => Some((*max - *min).min_element()),
        DropShape::Cylinder { radius, .. } => Some(2.0 * radius),
        DropShape::Mesh { scale: MeshScale::Height(height), .. } => Some(*height),
        DropShape::Mesh { scale: MeshScale::Factor(_), .. } => None,
    }
}

fn emitter_diameter(emitter: &Emitter) -> Option<f64> {
    match &emitter.kind {
        EmitterKind::Drip { radius, .. } | EmitterKind::Tap { radius, .. } => Some(2.0 * radius),
        EmitterKind::Rain { sizes: RainSizes::Uniform { min, .. }, .. } => Some(2.0 * min),
        EmitterKind::Rain { .. } | EmitterKind::Dew { .. } | EmitterKind::Feed { .. } => None,
    }
}

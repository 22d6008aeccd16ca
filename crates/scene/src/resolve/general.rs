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

/// `duration`, or `frames` times the interval.
pub(crate) struct Duration;

impl Group<f64> for Duration {
    const KEYS: &'static [Key] = Time::DURATION;

    fn read(section: &Section<'_>) -> f64 {
        match section.one_of(&["duration", "frames"]) {
            Some("frames") => {
                section.get::<u32>("frames").map_or(1.0, f64::from) * given_interval(section).unwrap_or(1.0)
            }
            Some(_) => section.get("duration").unwrap_or(1.0),
            None => {
                section.require("duration", "\"30 ms\"");
                1.0
            }
        }
    }

    fn print(duration: &f64, out: &mut Document<'_>) {
        out.value("duration", duration);
    }
}

/// `frame`, or the inverse of `fps`.
pub(crate) struct FrameInterval;

impl Group<f64> for FrameInterval {
    const KEYS: &'static [Key] = Time::INTERVAL;

    fn read(section: &Section<'_>) -> f64 {
        match section.one_of(&["frame", "fps"]) {
            Some("fps") => section.get::<f64>("fps").map_or(1.0, |fps| {
                section.cx.scope.fps.set(Some(fps));
                1.0 / fps
            }),
            Some(_) => section.get("frame").unwrap_or(1.0),
            None => {
                section.require("frame", "\"1 ms\"");
                1.0
            }
        }
    }

    fn print(interval: &f64, out: &mut Document<'_>) {
        out.value("frame", interval);
    }
}

/// The time between two frames, if it is given and right; the later of `frame` and `fps` counts.
fn given_interval(section: &Section<'_>) -> Option<f64> {
    match chosen(section, &["frame", "fps"])? {
        "fps" => section.given::<f64>("fps").map(|fps| 1.0 / fps),
        key => section.given(key),
    }
}

/// The key of a pair that counts, without recording a second time that both are given.
fn chosen(section: &Section<'_>, keys: &[&'static str]) -> Option<&'static str> {
    let recorded = section.cx.errors.borrow().len();
    let key = section.one_of(keys);
    section.cx.errors.borrow_mut().truncate(recorded);
    key
}

/// Frames per second of the video: `time.fps` where it is given and a video can have it, else 30.
pub(crate) fn video_rate(section: &Section<'_>) -> f64 {
    section.cx.scope.fps.get().filter(|fps| (0.1..=1000.0).contains(fps)).unwrap_or(30.0)
}

/// Records a duration that is not an integer number of frames, or of too many.
pub(crate) fn check_frames(section: &Section<'_>, _: &mut Time) {
    // `frames` is an integer by its type, and replaces a `duration` of the file.
    if chosen(section, &["duration", "frames"]) != Some("duration") {
        return;
    }
    let Some(interval) = chosen(section, &["frame", "fps"]) else { return };
    let (Some(duration), Some(frame)) = (section.given::<f64>("duration"), given_interval(section)) else { return };
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
                .other(&section.place_of(interval), "the time between two frames")
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

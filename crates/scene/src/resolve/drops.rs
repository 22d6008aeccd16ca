//! Drops: liquid present at the start.

use std::f64::consts::PI;

use glam::DVec3;
use sessile_numerics::sphere_volume;

use super::general::corners;
use super::materials::Library;
use super::solids::{ends, mesh_scale};
use super::{SolidNames, UNKNOWN};
use crate::diagnostics::Diagnostic;
use crate::reader::Section;
use crate::types::{Amount, Drop, DropKind, DropShape, Solid, Varying};
use crate::units::is_sensible;

/// What the reader of a drop refers to.
pub(super) struct Surroundings<'a> {
    pub planar: bool,
    pub solids: &'a [Solid],
    pub names: &'a SolidNames,
    pub library: &'a Library,
}

pub(super) fn read(top: &Section<'_>, surroundings: &Surroundings<'_>) -> Vec<Drop> {
    let sections = top.sections("drops");
    let drop = |section: &Section<'_>| {
        let shape = section
            .select()
            .map_or(DropShape::Box { min: DVec3::ZERO, max: DVec3::ONE }, |kind| shape(section, kind, surroundings));
        let velocity = section.value("velocity");
        section.finish();
        Drop { shape, velocity }
    };
    sections.iter().map(drop).collect()
}

fn shape(section: &Section<'_>, kind: DropKind, surroundings: &Surroundings<'_>) -> DropShape {
    match kind {
        DropKind::Sphere => {
            let (mode, amplitude) = mode(section);
            DropShape::Sphere {
                center: section.value("center"),
                amount: amount(section, surroundings.planar),
                mode,
                amplitude,
                axis: section.get("axis").unwrap_or(DVec3::Y),
            }
        }
        DropKind::Cap => {
            let on = surroundings.names.find(section, "on", surroundings.solids).unwrap_or(UNKNOWN);
            let material = surroundings.solids.get(on).and_then(|s| surroundings.library.get(&s.material));
            let resting = || material.map_or(PI / 2.0, |m| resting_angle(&m.advancing));
            DropShape::Cap {
                on,
                center: section.value("center"),
                amount: amount(section, surroundings.planar),
                contact_angle: section.get("contact_angle").unwrap_or_else(resting),
            }
        }
        DropKind::Box => {
            let (min, max) = corners(section);
            DropShape::Box { min, max }
        }
        DropKind::Cylinder => {
            let (from, to) = ends(section);
            let (amplitude, wavelength) = perturbation(section);
            DropShape::Cylinder { from, to, radius: section.value("radius"), amplitude, wavelength }
        }
        DropKind::Mesh => DropShape::Mesh {
            file: section.value("file"),
            scale: mesh_scale(section),
            rotate: section.value("rotate"),
            shift: section.value("move"),
        },
    }
}

/// The advancing angle, at which a deposited drop rests; for an image, the mean of its two angles.
fn resting_angle(advancing: &Varying) -> f64 {
    match advancing {
        Varying::Uniform(angle) => *angle,
        Varying::Image { black, white, .. } => 0.5 * (black + white),
    }
}

/// The amount of liquid: `volume` (in a planar run `area`), or `radius` of the equivalent sphere
/// (circle).
fn amount(section: &Section<'_>, planar: bool) -> Amount {
    let default_radius = 1e-3;
    let of_radius = |r: f64| if planar { Amount::Area(PI * r * r) } else { Amount::Volume(sphere_volume(r)) };
    let default = || of_radius(default_radius);
    let (right, wrong) = if planar { ("area", "volume") } else { ("volume", "area") };
    let Some(key) = section.one_of(&["volume", "area", "radius"]) else { return default() };
    if key == wrong {
        let (why, example) = if planar {
            ("a planar run measures liquid by its area", "\"4 mm^2\"")
        } else {
            ("liquid is measured by its volume, unless world.planar = true", "\"4.2 uL\"")
        };
        section.cx.error(
            Diagnostic::new(&section.place_of(key), format!("`{wrong}` cannot be used here: {why}"))
                .label(format!("expected `{right}`"))
                .help(format!("write {right} = {example}, or radius = \"1 mm\"")),
        );
        return default();
    }
    match key {
        "radius" => section.get::<f64>("radius").map(of_radius).filter(|amount| {
            let (Amount::Volume(size) | Amount::Area(size)) = *amount;
            if !is_sensible(size) {
                section.complain("radius", "`radius` is out of range", "expected 1e-13 m to 10 km");
            }
            is_sensible(size)
        }),
        "area" => section.get("area").map(Amount::Area),
        _ => section.get("volume").map(Amount::Volume),
    }
    .unwrap_or_else(default)
}

/// The Legendre mode and amplitude of a sphere, which need each other.
fn mode(section: &Section<'_>) -> (u32, f64) {
    let (mode, amplitude) = (section.value("mode"), section.value("amplitude"));
    match (section.given::<u32>("mode"), section.given::<f64>("amplitude")) {
        (Some(1), _) => section.cx.error(
            Diagnostic::new(&section.place_of("mode"), "`mode` 1 is a translation of the drop: modes start at 2")
                .label("expected 2 or more, or 0 for none"),
        ),
        (Some(2..), None) if !section.has("amplitude") => section.cx.error(
            Diagnostic::new(&section.place_of("mode"), "`mode` needs an `amplitude`")
                .label("without an amplitude")
                .help("add amplitude = 0.05, relative to the radius"),
        ),
        (given, Some(a)) if a != 0.0 && (given == Some(0) || !section.has("mode")) => section.cx.error(
            Diagnostic::new(&section.place_of("amplitude"), "`amplitude` needs a `mode`")
                .label("without a mode")
                .help("add mode = 2"),
        ),
        _ => {}
    }
    (mode, amplitude)
}

/// The amplitude and wavelength of a ligament's perturbation, which need each other.
fn perturbation(section: &Section<'_>) -> (f64, Option<f64>) {
    let (amplitude, wavelength) = (section.value("amplitude"), section.get("wavelength"));
    if section.given::<f64>("amplitude").is_some_and(|a| a != 0.0) && !section.has("wavelength") {
        section.cx.error(
            Diagnostic::new(&section.place_of("amplitude"), "`amplitude` needs a `wavelength`")
                .label("without a wavelength")
                .help("add wavelength = \"9 mm\""),
        );
    }
    if wavelength.is_some() && !section.has("amplitude") {
        section.cx.error(
            Diagnostic::new(&section.place_of("wavelength"), "`wavelength` needs an `amplitude`")
                .label("without an amplitude")
                .help("add amplitude = 0.05, relative to the radius"),
        );
    }
    (amplitude, wavelength)
}

//! Drops: liquid that is there at the start.

use std::f64::consts::PI;

use glam::DVec3;

use super::basics::corners;
use super::materials::Library;
use super::solids::{cylinder, mesh_scale};
use super::{SolidNames, UNKNOWN, is_planar};
use crate::diagnostics::Diagnostic;
use crate::quantities::{ANGLE, AREA, LENGTH, Sign, VELOCITY, VOLUME};
use crate::reader::Section;
use crate::schema;
use crate::types::{Amount, Drop, DropShape, Solid, Varying, WorldSettings};
use crate::units::is_sensible;

/// Radius of a drop that says nothing of its size, in m.
const DEFAULT_RADIUS: f64 = 1e-3;

/// Legendre modes that can be asked for.
const MOST_MODE: u64 = 32;

#[derive(Clone, Copy)]
enum Kind {
    Sphere,
    Cap,
    Box,
    Cylinder,
    Mesh,
}

const KINDS: &[(&str, Kind)] = &[
    ("sphere", Kind::Sphere),
    ("cap", Kind::Cap),
    ("box", Kind::Box),
    ("cylinder", Kind::Cylinder),
    ("mesh", Kind::Mesh),
];

pub(super) fn read(
    top: &Section<'_>,
    world: &WorldSettings,
    solids: &[Solid],
    names: &SolidNames,
    library: &Library,
) -> Vec<Drop> {
    top.sections("drops", &schema::DROP)
        .iter()
        .map(|section| {
            let kind = if section.has("shape") { section.choice("shape", KINDS) } else { Some(KINDS[0]) };
            let shape = kind.map_or(DropShape::Box { min: DVec3::ZERO, max: DVec3::ONE }, |(name, kind)| {
                section.set_variant(name);
                shape(section, kind, world, solids, names, library)
            });
            let velocity = section.vector("velocity", &VELOCITY).unwrap_or(DVec3::ZERO);
            section.finish();
            Drop { shape, velocity }
        })
        .collect()
}

fn shape(
    section: &Section<'_>,
    kind: Kind,
    world: &WorldSettings,
    solids: &[Solid],
    names: &SolidNames,
    library: &Library,
) -> DropShape {
    match kind {
        Kind::Sphere => {
            let (mode, amplitude) = mode(section);
            DropShape::Sphere {
                center: section.vector("center", &LENGTH).unwrap_or(DVec3::ZERO),
                amount: amount(section, is_planar(world)),
                mode,
                amplitude,
                axis: section.direction("axis").unwrap_or(DVec3::Y),
            }
        }
        Kind::Cap => {
            let on = names.find(section, "on", solids).unwrap_or(UNKNOWN);
            let material = solids.get(on).and_then(|s| library.get(&s.material));
            let contact_angle = section
                .angle_between("contact_angle", (0.0, 180.0), false)
                .unwrap_or_else(|| material.map_or(PI / 2.0, |m| resting_angle(&m.advancing)));
            DropShape::Cap {
                on,
                center: section.vector("center", &LENGTH).unwrap_or(DVec3::ZERO),
                amount: amount(section, is_planar(world)),
                contact_angle,
            }
        }
        Kind::Box => {
            let (min, max) = corners(section);
            DropShape::Box { min, max }
        }
        Kind::Cylinder => {
            let (from, to, radius) = cylinder(section);
            let (amplitude, wavelength) = ripple(section);
            DropShape::Cylinder { from, to, radius: radius.unwrap_or(1.0), amplitude, wavelength }
        }
        Kind::Mesh => {
            section.require("file", "\"drop.ply\"");
            DropShape::Mesh {
                file: section.file("file").unwrap_or_default(),
                scale: mesh_scale(section),
                rotate: section.vector("rotate", &ANGLE).unwrap_or(DVec3::ZERO),
                shift: section.vector("move", &LENGTH).unwrap_or(DVec3::ZERO),
            }
        }
    }
}

/// A drop that was placed sits near the advancing angle; halfway between an image's two.
fn resting_angle(advancing: &Varying) -> f64 {
    match advancing {
        Varying::Uniform(angle) => *angle,
        Varying::Image { black, white, .. } => 0.5 * (black + white),
    }
}

/// How much liquid: `volume` (in a planar run `area`), or `radius` of the ball (disc) that holds it.
fn amount(section: &Section<'_>, planar: bool) -> Amount {
    let ball = |r: f64| if planar { Amount::Area(PI * r * r) } else { Amount::Volume(4.0 / 3.0 * PI * r.powi(3)) };
    let (right, wrong) = if planar { ("area", "volume") } else { ("volume", "area") };
    let Some(key) = section.one_of(&["volume", "area", "radius"]) else { return ball(DEFAULT_RADIUS) };
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
        return ball(DEFAULT_RADIUS);
    }
    match key {
        "radius" => section.quantity("radius", &LENGTH, Sign::Positive).map(ball).filter(|amount| {
            let (Amount::Volume(size) | Amount::Area(size)) = *amount;
            if !is_sensible(size) {
                section.complain("radius", "`radius` must be that of a drop", "expected from 1e-13 m to 10 km");
            }
            is_sensible(size)
        }),
        "area" => section.quantity("area", &AREA, Sign::Positive).map(Amount::Area),
        _ => section.quantity("volume", &VOLUME, Sign::Positive).map(Amount::Volume),
    }
    .unwrap_or_else(|| ball(DEFAULT_RADIUS))
}

/// A relative amplitude: the radius must stay positive.
fn amplitude(section: &Section<'_>) -> Option<f64> {
    section.number_where("amplitude", "between -1 and 1", |a| a.abs() < 1.0)
}

fn mode(section: &Section<'_>) -> (u32, f64) {
    let mode = section.count("mode", &(0..=MOST_MODE));
    let given = amplitude(section);
    match (mode, given) {
        (Some(1), _) => section.cx.error(
            Diagnostic::new(&section.place_of("mode"), "`mode` 1 only moves the drop: ringing starts at 2")
                .label("expected 2 or more, or 0 for none"),
        ),
        (Some(2..), None) if !section.has("amplitude") => section.cx.error(
            Diagnostic::new(&section.place_of("mode"), "`mode` needs an `amplitude`")
                .label("rings by how much?")
                .help("add amplitude = 0.05, relative to the radius"),
        ),
        (Some(0) | None, Some(a)) if a != 0.0 && (mode.is_some() || !section.has("mode")) => section.cx.error(
            Diagnostic::new(&section.place_of("amplitude"), "`amplitude` needs a `mode`")
                .label("rings in which mode?")
                .help("add mode = 2"),
        ),
        _ => {}
    }
    (mode.unwrap_or(0) as u32, given.unwrap_or(0.0))
}

fn ripple(section: &Section<'_>) -> (f64, Option<f64>) {
    let given = amplitude(section);
    let wavelength = section.quantity("wavelength", &LENGTH, Sign::Positive);
    if given.is_some_and(|a| a != 0.0) && !section.has("wavelength") {
        section.cx.error(
            Diagnostic::new(&section.place_of("amplitude"), "`amplitude` needs a `wavelength`")
                .label("ripples over what length?")
                .help("add wavelength = \"9 mm\""),
        );
    }
    if wavelength.is_some() && !section.has("amplitude") {
        section.cx.error(
            Diagnostic::new(&section.place_of("wavelength"), "`wavelength` needs an `amplitude`")
                .label("ripples by how much?")
                .help("add amplitude = 0.05, relative to the radius"),
        );
    }
    (given.unwrap_or(0.0), wavelength)
}

//! Solids: shape, placement, motion, material, look.

use std::collections::BTreeMap;

use glam::DVec3;

use super::basics::{corners, rising};
use super::materials::Library;
use crate::diagnostics::Diagnostic;
use crate::quantities::{ANGLE, LENGTH, Sign, TIME};
use crate::reader::Section;
use crate::schema;
use crate::source::Place;
use crate::tree::shortened;
use crate::types::{Domain, Look, MeshScale, MotionKey, Solid, SolidShape, Texture, plane_axes};
use crate::units::is_sensible;

/// Side of the drawn part of a plane in open space, in m.
const OPEN_SIZE: f64 = 0.256;

#[derive(Clone, Copy)]
enum Kind {
    Plane,
    Box,
    Sphere,
    Cylinder,
    Leaf,
    Mesh,
}

const KINDS: &[(&str, Kind)] = &[
    ("plane", Kind::Plane),
    ("box", Kind::Box),
    ("sphere", Kind::Sphere),
    ("cylinder", Kind::Cylinder),
    ("leaf", Kind::Leaf),
    ("mesh", Kind::Mesh),
];

pub(super) fn read(top: &Section<'_>, library: &mut Library, domain: Option<&Domain>) -> Vec<Solid> {
    let mut seen: BTreeMap<String, Place> = BTreeMap::new();
    let sections = top.sections("solids", &schema::SOLID);
    let mut solids = Vec::with_capacity(sections.len());
    for (index, section) in sections.iter().enumerate() {
        let solid = solid(section, index, library, domain);
        section.finish();
        let place = section.place_of("name");
        if let Some(first) = seen.get(&solid.name) {
            section.cx.error(
                Diagnostic::new(&place, format!("two solids are called \"{}\"", shortened(&solid.name)))
                    .label("the second")
                    .other(first, "the first")
                    .help("names of solids must differ; they become file names"),
            );
        }
        seen.entry(solid.name.clone()).or_insert(place);
        solids.push(solid);
    }
    solids
}

fn solid(section: &Section<'_>, index: usize, library: &mut Library, domain: Option<&Domain>) -> Solid {
    let kind = if section.has("shape") { section.choice("shape", KINDS) } else { Some(KINDS[0]) };
    let shape = kind.map_or(SolidShape::Box { min: DVec3::ZERO, max: DVec3::ONE }, |(name, kind)| {
        section.set_variant(name);
        shape(section, kind, domain)
    });
    let name = match section.text("name") {
        Some(name) => {
            check_name(section, &name);
            name
        }
        None => format!("solid{index}"),
    };
    Solid {
        name,
        material: library.named(section, "material"),
        shape,
        rotate: section.vector("rotate", &ANGLE).unwrap_or(DVec3::ZERO),
        shift: section.vector("move", &LENGTH).unwrap_or(DVec3::ZERO),
        motion: motion(section),
        look: section.word("look").unwrap_or(Look::Matte),
        texture: texture(section),
    }
}

/// Names become file names in the run folder.
fn check_name(section: &Section<'_>, name: &str) {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    let ends_plainly = !name.starts_with(['.', ' ']) && !name.ends_with(['.', ' ']);
    if name.is_empty() || name.chars().count() > 64 || !name.chars().all(plain) || !ends_plainly {
        section.complain(
            "name",
            format!("\"{}\" cannot be a solid's name, because it becomes a file name", shortened(name)),
            "expected 1 to 64 letters, digits, spaces, and _ - . inside",
        );
    }
}

fn shape(section: &Section<'_>, kind: Kind, domain: Option<&Domain>) -> SolidShape {
    match kind {
        Kind::Plane => {
            let point = section.vector("point", &LENGTH).unwrap_or(DVec3::ZERO);
            let normal = section.direction("normal").unwrap_or(DVec3::Y);
            let (u, v) = plane_axes(normal);
            let size = section.size_pair("size").unwrap_or_else(|| default_size(domain, point, u, v));
            SolidShape::Plane { point, normal, size }
        }
        Kind::Box => {
            let (min, max) = corners(section);
            SolidShape::Box { min, max }
        }
        Kind::Sphere => {
            section.require("radius", "\"5 mm\"");
            SolidShape::Sphere {
                center: section.vector("center", &LENGTH).unwrap_or(DVec3::ZERO),
                radius: section.quantity("radius", &LENGTH, Sign::Positive).unwrap_or(1.0),
                inside: section.flag("inside").unwrap_or(false),
            }
        }
        Kind::Cylinder => {
            let (from, to, radius) = cylinder(section);
            let wall = section.quantity("wall", &LENGTH, Sign::Positive);
            if let (Some(wall), Some(radius)) = (wall, radius)
                && wall >= radius
            {
                section.cx.error(
                    Diagnostic::new(
                        &section.place_of("wall"),
                        "`wall` must be thinner than `radius`, which is the outer one",
                    )
                    .label("leaves no bore")
                    .other(&section.place_of("radius"), "the outer radius"),
                );
            }
            SolidShape::Cylinder { from, to, radius: radius.unwrap_or(1.0), wall }
        }
        Kind::Leaf => {
            let point = section.vector("point", &LENGTH).unwrap_or(DVec3::ZERO);
            let axis = section.direction("axis").unwrap_or(DVec3::X);
            let across = axis.cross(DVec3::Y).try_normalize().unwrap_or(DVec3::X);
            SolidShape::Leaf {
                point,
                axis,
                angle: section.angle_between("angle", (0.0, 180.0), true).unwrap_or(120f64.to_radians()),
                size: section.size_pair("size").unwrap_or_else(|| default_size(domain, point, axis, across)),
            }
        }
        Kind::Mesh => {
            section.require("file", "\"bunny.ply\"");
            SolidShape::Mesh { file: section.file("file").unwrap_or_default(), scale: mesh_scale(section) }
        }
    }
}

/// The two ends and the radius (`None` when absent or wrong) of a cylinder.
pub(super) fn cylinder(section: &Section<'_>) -> (DVec3, DVec3, Option<f64>) {
    section.require("from", "\"0 0 0 mm\"");
    section.require("to", "\"0 50 0 mm\"");
    section.require("radius", "\"5 mm\"");
    let from = section.vector("from", &LENGTH);
    let to = section.vector("to", &LENGTH);
    if let (Some(from), Some(to)) = (from, to)
        && from == to
    {
        section.cx.error(
            Diagnostic::new(&section.place_of("to"), "`from` and `to` must differ")
                .label("no length")
                .other(&section.place_of("from"), "the same point"),
        );
    }
    let radius = section.quantity("radius", &LENGTH, Sign::Positive);
    (from.unwrap_or(DVec3::ZERO), to.unwrap_or(DVec3::Y), radius)
}

/// `height` or `scale`; without either, the file is in meters.
pub(super) fn mesh_scale(section: &Section<'_>) -> MeshScale {
    match section.one_of(&["height", "scale"]) {
        Some("height") => section.quantity("height", &LENGTH, Sign::Positive).map(MeshScale::Height),
        Some(_) => section.number_where("scale", "more than zero", |s| s > 0.0).map(MeshScale::Factor),
        None => None,
    }
    .unwrap_or(MeshScale::Factor(1.0))
}

/// The rectangle round `point` along `u` and `v` that covers the domain.
fn default_size(domain: Option<&Domain>, point: DVec3, u: DVec3, v: DVec3) -> [f64; 2] {
    let Some(domain) = domain else { return [OPEN_SIZE; 2] };
    let half = |axis: DVec3| {
        let mut most = 0.0f64;
        for corner in 0..8 {
            let pick = |bit: usize, i: usize| if corner >> bit & 1 == 0 { domain.min[i] } else { domain.max[i] };
            let at = DVec3::new(pick(0, 0), pick(1, 1), pick(2, 2));
            most = most.max((at - point).dot(axis).abs());
        }
        most
    };
    [u, v].map(|axis| {
        let size = 2.0 * half(axis);
        if size > 0.0 && is_sensible(size) { size } else { OPEN_SIZE }
    })
}

fn motion(section: &Section<'_>) -> Vec<MotionKey> {
    let mut keys: Vec<MotionKey> = Vec::new();
    for key in section.sections("motion", &schema::MOTION) {
        key.require("at", "\"0 s\"");
        let at = key.quantity("at", &TIME, Sign::Any);
        let shift = key.vector("move", &LENGTH).unwrap_or(DVec3::ZERO);
        let rotate = key.vector("rotate", &ANGLE).unwrap_or(DVec3::ZERO);
        if let Some(at) = at {
            rising(&key, keys.last().map(|k| k.at), at);
            keys.push(MotionKey { at, shift, rotate });
        }
        key.finish();
    }
    keys
}

/// A built-in pattern, or an image file.
fn texture(section: &Section<'_>) -> Option<Texture> {
    if section.names_file("texture") {
        return section.file("texture").map(Texture::Image);
    }
    section.word("texture").map(Texture::Pattern)
}

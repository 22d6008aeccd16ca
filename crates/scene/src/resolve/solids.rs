//! Solids: shape, placement, motion, material, appearance.

use std::collections::BTreeMap;

use glam::DVec3;

use super::general::corners;
use super::materials::Library;
use crate::diagnostics::Diagnostic;
use crate::field::Field;
use crate::reader::Section;
use crate::source::Place;
use crate::tree::shortened;
use crate::types::{Domain, MeshScale, Solid, SolidKind, SolidShape, plane_axes};
use crate::units::is_sensible;
use crate::values::check_motion;

/// Edge length of the meshed part of a plane in open space, in m.
const OPEN_SIZE: f64 = 0.256;

pub(super) fn read(top: &Section<'_>, library: &mut Library, domain: Option<&Domain>) -> Vec<Solid> {
    let mut seen: BTreeMap<String, Place> = BTreeMap::new();
    let sections = top.sections("solids");
    let mut solids = Vec::with_capacity(sections.len());
    for (index, section) in sections.iter().enumerate() {
        let solid = solid(section, index, library, domain);
        section.finish();
        let place = section.place_of("name");
        if let Some(first) = seen.get(&solid.name) {
            section.cx.error(
                Diagnostic::new(&place, format!("duplicate solid name \"{}\"", shortened(&solid.name)))
                    .label("second occurrence")
                    .other(first, "first occurrence")
                    .help("names of solids must be unique; they become file names"),
            );
        }
        seen.entry(solid.name.clone()).or_insert(place);
        solids.push(solid);
    }
    solids
}

fn solid(section: &Section<'_>, index: usize, library: &mut Library, domain: Option<&Domain>) -> Solid {
    let shape = section
        .select()
        .map_or(SolidShape::Box { min: DVec3::ZERO, max: DVec3::ONE }, |kind| shape(section, kind, domain));
    let name = match section.get::<String>("name") {
        Some(name) => {
            check_name(section, &name);
            name
        }
        None => format!("solid{index}"),
    };
    let solid = Solid {
        name,
        material: library.named(section, "material"),
        shape,
        rotate: section.value("rotate"),
        shift: section.value("move"),
        motion: Field::read(section, "motion"),
        look: section.value("look"),
        texture: section.get("texture"),
    };
    check_motion(section);
    solid
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

fn shape(section: &Section<'_>, kind: SolidKind, domain: Option<&Domain>) -> SolidShape {
    match kind {
        SolidKind::Plane => {
            let (point, normal) = (section.value("point"), section.get("normal").unwrap_or(DVec3::Y));
            let (u, v) = plane_axes(normal);
            let size = section.get("size").unwrap_or_else(|| default_size(domain, point, u, v));
            SolidShape::Plane { point, normal, size }
        }
        SolidKind::Box => {
            let (min, max) = corners(section);
            SolidShape::Box { min, max }
        }
        SolidKind::Sphere => SolidShape::Sphere {
            center: section.value("center"),
            radius: section.value("radius"),
            inside: section.value("inside"),
        },
        SolidKind::Cylinder => {
            let (from, to) = ends(section);
            let (radius, wall) = (section.value("radius"), section.get("wall"));
            check_wall(section);
            SolidShape::Cylinder { from, to, radius, wall }
        }
        SolidKind::Leaf => {
            let (point, axis) = (section.value("point"), section.get("axis").unwrap_or(DVec3::X));
            let across = axis.cross(DVec3::Y).try_normalize().unwrap_or(DVec3::X);
            let size = section.get("size").unwrap_or_else(|| default_size(domain, point, axis, across));
            SolidShape::Leaf { point, axis, angle: section.value("angle"), size }
        }
        SolidKind::Mesh => SolidShape::Mesh { file: section.value("file"), scale: mesh_scale(section) },
    }
}

/// Records a pipe without a bore.
fn check_wall(section: &Section<'_>) {
    let (wall, radius) = (section.given::<f64>("wall"), section.given::<f64>("radius"));
    if wall.zip(radius).is_some_and(|(wall, radius)| wall >= radius) {
        section.cx.error(
            Diagnostic::new(&section.place_of("wall"), "`wall` must be less than `radius`, the outer radius")
                .label("leaves no bore")
                .other(&section.place_of("radius"), "the outer radius"),
        );
    }
}

/// The two ends of a cylinder, which must differ.
pub(super) fn ends(section: &Section<'_>) -> (DVec3, DVec3) {
    let (from, to) = (section.get::<DVec3>("from"), section.get::<DVec3>("to"));
    if from.is_some() && from == to {
        section.cx.error(
            Diagnostic::new(&section.place_of("to"), "`from` and `to` must differ")
                .label("zero length")
                .other(&section.place_of("from"), "the same point"),
        );
    }
    (from.unwrap_or(DVec3::ZERO), to.unwrap_or(DVec3::Y))
}

/// `height` or `scale`; without either, the file is in meters.
pub(super) fn mesh_scale(section: &Section<'_>) -> MeshScale {
    match section.one_of(&["height", "scale"]) {
        Some("height") => MeshScale::Height(section.get("height").unwrap_or(1.0)),
        _ => MeshScale::Factor(section.value("scale")),
    }
}

/// Size of the rectangle centered at `point`, along `u` and `v`, that covers the domain.
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

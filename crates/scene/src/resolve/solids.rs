//! Solids: names, derived sizes, checks.

use std::collections::BTreeMap;

use glam::DVec3;

use crate::diagnostics::Diagnostic;
use crate::field::{Field, Format, Group};
use crate::print::Document;
use crate::reader::Section;
use crate::schema::Key;
use crate::source::Place;
use crate::suggest::nearest;
use crate::tree::shortened;
use crate::types::{Look, MeshScale, Solid, plane_axes};
use crate::units::is_sensible;
use crate::values::increasing;

/// Edge length of the meshed part of a plane in open space, in m.
const OPEN_SIZE: f64 = 0.256;

/// `[[solids]]`: later sections refer to them by name.
pub(crate) struct Solids;

impl Format<Vec<Solid>> for Solids {
    fn given(section: &Section<'_>, name: &'static str) -> Option<Vec<Solid>> {
        let solids: Vec<Solid> = Field::read(section, name);
        section.cx.scope.solids.replace(SolidNames::new(&solids));
        Some(solids)
    }

    fn print(solids: &Vec<Solid>, out: &mut Document<'_>, name: &'static str) {
        Field::print(solids, out, name);
    }

    fn placeholder() -> Vec<Solid> {
        Vec::new()
    }
}

/// Names of the solids, and of their materials.
#[derive(Default)]
pub(crate) struct SolidNames {
    by_name: BTreeMap<String, usize>,
    /// The first solid's name.
    first: String,
    materials: Vec<String>,
    /// Where each name was given first, while solids are read.
    places: BTreeMap<String, Place>,
}

impl SolidNames {
    fn new(solids: &[Solid]) -> Self {
        Self {
            by_name: solids.iter().enumerate().rev().map(|(i, s)| (s.name.clone(), i)).collect(),
            first: solids.first().map(|solid| solid.name.clone()).unwrap_or_default(),
            materials: solids.iter().map(|solid| solid.material.clone()).collect(),
            places: BTreeMap::new(),
        }
    }

    /// The name of the material of a solid.
    pub(crate) fn material(&self, solid: usize) -> Option<&str> {
        self.materials.get(solid).map(String::as_str)
    }

    /// Index of the solid that `key` names; that of the only solid if the key is absent.
    fn find(&self, section: &Section<'_>, key: &str) -> Option<usize> {
        if !section.has(key) {
            if self.materials.len() == 1 {
                return Some(0);
            }
            if self.materials.is_empty() {
                section.cx.error(
                    Diagnostic::new(&section.place, "the scene has no solid")
                        .label(format!("needs a solid and `{key}`"))
                        .help("add [[solids]] with name = \"table\" and shape = \"plane\""),
                );
            } else {
                section.missing(
                    &format!("`{key}`, the name of a solid"),
                    &format!("{key} = \"{}\"", shortened(&self.first)),
                );
            }
            return None;
        }
        let name = section.get::<String>(key)?;
        let found = self.by_name.get(&name).copied();
        if found.is_none() {
            let known = || self.by_name.keys().map(String::as_str);
            let help = match nearest(&name, known()) {
                Some(near) => format!("did you mean \"{}\"?", shortened(near)),
                None if self.materials.is_empty() => "add [[solids]] with that name".to_owned(),
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

/// The index of a solid, written as its name.
pub(crate) struct SolidName;

impl Format<usize> for SolidName {
    fn given(section: &Section<'_>, name: &'static str) -> Option<usize> {
        section.cx.scope.solids.borrow().find(section, name)
    }

    fn print(solid: &usize, out: &mut Document<'_>, name: &'static str) {
        let solid = out.scene.solids.get(*solid);
        out.value(name, &solid.map(|solid| solid.name.clone()).unwrap_or_default());
    }

    fn placeholder() -> usize {
        0
    }
}

/// A solid's name, which becomes a file name in the run folder.
pub(crate) struct UniqueName;

impl Format<String> for UniqueName {
    fn given(section: &Section<'_>, name: &'static str) -> Option<String> {
        let text: String = section.get(name)?;
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
        let ends_plainly = !text.starts_with(['.', ' ']) && !text.ends_with(['.', ' ']);
        if text.is_empty() || text.chars().count() > 64 || !text.chars().all(plain) || !ends_plainly {
            section.complain(
                name,
                format!("\"{}\" cannot be a solid's name, because it becomes a file name", shortened(&text)),
                "expected 1 to 64 letters, digits, spaces, and _ - . inside",
            );
        }
        Some(text)
    }

    fn print(value: &String, out: &mut Document<'_>, name: &'static str) {
        out.value(name, value);
    }

    fn placeholder() -> String {
        String::new()
    }
}

/// Checks the name and the motion of a solid.
pub(crate) fn check_solid(section: &Section<'_>, solid: &mut Solid) {
    let place = section.place_of("name");
    let places = &mut section.cx.scope.solids.borrow_mut().places;
    if let Some(first) = places.get(&solid.name) {
        section.cx.error(
            Diagnostic::new(&place, format!("duplicate solid name \"{}\"", shortened(&solid.name)))
                .label("second occurrence")
                .other(first, "first occurrence")
                .help("names of solids must be unique; they become file names"),
        );
    }
    places.entry(solid.name.clone()).or_insert(place);
    check_times(section, "motion");
    check_look(section, solid);
}

/// Records keys of the look that clear glass does not have.
fn check_look(section: &Section<'_>, solid: &Solid) {
    if solid.look != Look::Glass {
        return;
    }
    for key in ["roughness_look", "metallic", "normal_map"].into_iter().filter(|key| section.has(key)) {
        section.cx.error(
            Diagnostic::new(&section.place_of(key), format!("`{key}` does not apply to look = \"glass\""))
                .label("clear glass is smooth, and no metal; it has a `color` only")
                .help("choose another look, e.g. look = \"plastic\", or remove the key"),
        );
    }
}

/// Records samples of a deforming mesh whose times do not increase.
pub(crate) fn check_deform(section: &Section<'_>) {
    check_times(section, "deform");
}

/// Records keys of `list` whose times do not increase.
pub(super) fn check_times(section: &Section<'_>, list: &'static str) {
    let mut before = None;
    for inner in section.sections(list) {
        let at = inner.given::<f64>("at");
        if let Some(at) = at {
            increasing(&inner, before, at);
        }
        before = at.or(before);
    }
}

/// Checks the ends of a cylinder, and that a pipe has a bore.
pub(crate) fn check_pipe(section: &Section<'_>) {
    check_ends(section);
    let (wall, radius) = (section.given::<f64>("wall"), section.given::<f64>("radius"));
    if wall.zip(radius).is_some_and(|(wall, radius)| wall >= radius) {
        section.cx.error(
            Diagnostic::new(&section.place_of("wall"), "`wall` must be less than `radius`, the outer radius")
                .label("leaves no bore")
                .other(&section.place_of("radius"), "the outer radius"),
        );
    }
}

/// Records a cylinder of zero length.
pub(super) fn check_ends(section: &Section<'_>) {
    let (from, to) = (section.given::<DVec3>("from"), section.given::<DVec3>("to"));
    if from.is_some() && from == to {
        section.cx.error(
            Diagnostic::new(&section.place_of("to"), "`from` and `to` must differ")
                .label("zero length")
                .other(&section.place_of("from"), "the same point"),
        );
    }
}

/// `height` or `scale`; without either, the file is in meters.
impl Group<Self> for MeshScale {
    const KEYS: &'static [Key] = Self::ALTERNATIVES;

    fn read(section: &Section<'_>) -> Self {
        match section.one_of(&["height", "scale"]) {
            Some("height") => Self::Height(section.get("height").unwrap_or(1.0)),
            _ => Self::Factor(section.value("scale")),
        }
    }

    fn print(scale: &Self, out: &mut Document<'_>) {
        match scale {
            Self::Height(height) => out.value("height", height),
            Self::Factor(factor) => out.value("scale", factor),
        }
    }
}

pub(crate) fn size_of_plane(section: &Section<'_>, point: DVec3, normal: DVec3) -> [f64; 2] {
    let (u, v) = plane_axes(normal);
    default_size(section, point, u, v)
}

pub(crate) fn size_of_leaf(section: &Section<'_>, point: DVec3, axis: DVec3) -> [f64; 2] {
    let across = axis.cross(DVec3::Y).try_normalize().unwrap_or(DVec3::X);
    default_size(section, point, axis, across)
}

/// Size of the rectangle centered at `point`, along `u` and `v`, that covers the domain.
fn default_size(section: &Section<'_>, point: DVec3, u: DVec3, v: DVec3) -> [f64; 2] {
    let domain = section.cx.scope.domain.borrow();
    let Some(domain) = domain.as_ref() else { return [OPEN_SIZE; 2] };
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

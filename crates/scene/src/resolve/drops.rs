//! Drops: liquid present at the start.

use std::f64::consts::PI;

use sessile_numerics::sphere_volume;

use super::solids::check_ends;
use crate::diagnostics::Diagnostic;
use crate::field::Group;
use crate::print::Document;
use crate::reader::Section;
use crate::schema::Key;
use crate::types::{Amount, Varying};
use crate::units::is_sensible;

/// The advancing angle of a solid's material, at which a deposited drop rests; for an image, the
/// mean of its two angles.
pub(crate) fn resting_angle(section: &Section<'_>, on: usize) -> f64 {
    let (solids, library) = (section.cx.scope.solids.borrow(), section.cx.scope.library.borrow());
    match solids.material(on).and_then(|name| library.get(name)).map(|material| &material.advancing) {
        Some(Varying::Uniform(angle)) => *angle,
        Some(Varying::Image { black, white, .. }) => 0.5 * (black + white),
        None => PI / 2.0,
    }
}

impl Group<Self> for Amount {
    const KEYS: &'static [Key] = Self::ALTERNATIVES;

    fn read(section: &Section<'_>) -> Self {
        amount(section, section.cx.scope.planar.get())
    }

    fn print(amount: &Self, out: &mut Document<'_>) {
        match amount {
            Self::Volume(volume) => out.value("volume", volume),
            Self::Area(area) => out.value("area", area),
        }
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

/// Checks the Legendre mode and amplitude of a sphere, which need each other.
pub(crate) fn check_mode(section: &Section<'_>) {
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
}

/// Checks the ends of a ligament, and the amplitude and wavelength, which need each other.
pub(crate) fn check_ligament(section: &Section<'_>) {
    check_ends(section);
    if section.given::<f64>("amplitude").is_some_and(|a| a != 0.0) && !section.has("wavelength") {
        section.cx.error(
            Diagnostic::new(&section.place_of("amplitude"), "`amplitude` needs a `wavelength`")
                .label("without a wavelength")
                .help("add wavelength = \"9 mm\""),
        );
    }
    if section.given::<f64>("wavelength").is_some() && !section.has("amplitude") {
        section.cx.error(
            Diagnostic::new(&section.place_of("wavelength"), "`wavelength` needs an `amplitude`")
                .label("without an amplitude")
                .help("add amplitude = 0.05, relative to the radius"),
        );
    }
}

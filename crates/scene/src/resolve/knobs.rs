//! The models' own knobs; absent ones are derived by the model.

use crate::quantities::{DAMPING, DRAG, LENGTH, STIFFNESS, Sign, TIME, VELOCITY, VOLUME};
use crate::reader::Section;
use crate::schema;
use crate::types::{DropletParameters, PaneParameters, SpringParameters, SurfaceParameters, VolumeParameters};

pub(super) fn pane(top: &Section<'_>) -> PaneParameters {
    let section = top.section("pane", &schema::PANE);
    let weight = |key| section.quantity(key, &VOLUME, Sign::NotNegative);
    let knobs = PaneParameters {
        cell: section.quantity("cell", &LENGTH, Sign::Positive),
        fine: section.count("fine", &(1..=5)).map(|n| n as u32),
        static_weight: weight("static_weight"),
        dynamic_weight: weight("dynamic_weight"),
        residue: weight("residue"),
    };
    section.finish();
    knobs
}

pub(super) fn droplet(top: &Section<'_>) -> DropletParameters {
    let section = top.section("droplet", &schema::DROPLET);
    let springs = section.section("springs", &schema::SPRINGS);
    let stiffness = |key| springs.quantity(key, &STIFFNESS, Sign::Positive);
    let knobs = DropletParameters {
        friction: section.quantity("friction", &DRAG, Sign::Positive),
        slices: section.count("slices", &(3..=256)).map(|n| n as u32),
        levels: section.count("levels", &(1..=256)).map(|n| n as u32),
        springs: SpringParameters {
            longitudinal: stiffness("longitudinal"),
            transverse: stiffness("transverse"),
            guide: stiffness("guide"),
            volume: stiffness("volume"),
        },
    };
    springs.finish();
    section.finish();
    knobs
}

pub(super) fn surface(top: &Section<'_>) -> SurfaceParameters {
    let section = top.section("surface", &schema::SURFACE);
    let factor = |key| section.number_where(key, "zero or more", |n| n >= 0.0);
    let knobs = SurfaceParameters {
        mu: section.quantity("mu", &DAMPING, Sign::NotNegative),
        eta: factor("eta"),
        friction: section.quantity("friction", &VELOCITY, Sign::NotNegative),
        alpha: factor("alpha"),
        gamma: factor("gamma"),
        volume_correction: section.word("volume_correction"),
        self_collision: section.flag("self_collision"),
        dt: section.quantity("dt", &TIME, Sign::Positive),
    };
    section.finish();
    knobs
}

pub(super) fn volume(top: &Section<'_>) -> VolumeParameters {
    let section = top.section("volume", &schema::VOLUME);
    let knobs = VolumeParameters {
        curvature: section.word("curvature"),
        pressure_order: section.count("pressure_order", &(1..=2)).map(|n| n as u32),
        dt: section.quantity("dt", &TIME, Sign::Positive),
        static_speed: section.quantity("static_speed", &VELOCITY, Sign::NotNegative),
        slip: section.quantity("slip", &LENGTH, Sign::NotNegative),
    };
    section.finish();
    knobs
}

//! The models' own knobs; absent ones are derived by the model.

use crate::quantities::{DAMPING, DRAG, LENGTH, STIFFNESS, Sign, TIME, VELOCITY, VOLUME};
use crate::reader::Section;
use crate::schema;
use crate::types::{CurvatureMethod, DropletKnobs, PaneKnobs, SurfaceKnobs, VolumeCorrection, VolumeKnobs};

pub(super) fn pane(top: &Section<'_>) -> PaneKnobs {
    let section = top.section("pane", &schema::PANE);
    let weight = |key| section.quantity(key, &VOLUME, Sign::NotNegative);
    let knobs = PaneKnobs {
        cell: section.quantity("cell", &LENGTH, Sign::Positive),
        fine: section.count("fine", &(1..=5)).map(|n| n as u32),
        static_weight: weight("static_weight"),
        dynamic_weight: weight("dynamic_weight"),
        residue: weight("residue"),
    };
    section.finish();
    knobs
}

pub(super) fn droplet(top: &Section<'_>) -> DropletKnobs {
    let section = top.section("droplet", &schema::DROPLET);
    let springs = section.section("springs", &schema::SPRINGS);
    let stiffness = |key| springs.quantity(key, &STIFFNESS, Sign::Positive);
    let knobs = DropletKnobs {
        friction: section.quantity("friction", &DRAG, Sign::Positive),
        slices: section.count("slices", &(3..=256)).map(|n| n as u32),
        levels: section.count("levels", &(1..=256)).map(|n| n as u32),
        longitudinal_stiffness: stiffness("longitudinal"),
        transverse_stiffness: stiffness("transverse"),
        guide_stiffness: stiffness("guide"),
        volume_stiffness: stiffness("volume"),
    };
    springs.finish();
    section.finish();
    knobs
}

pub(super) fn surface(top: &Section<'_>) -> SurfaceKnobs {
    let section = top.section("surface", &schema::SURFACE);
    let factor = |key| section.number_where(key, "zero or more", |n| n >= 0.0);
    let corrections =
        [("local", VolumeCorrection::Local), ("global", VolumeCorrection::Global), ("both", VolumeCorrection::Both)];
    let knobs = SurfaceKnobs {
        mu: section.quantity("mu", &DAMPING, Sign::NotNegative),
        eta: factor("eta"),
        friction: section.quantity("friction", &VELOCITY, Sign::NotNegative),
        alpha: factor("alpha"),
        gamma: factor("gamma"),
        volume_correction: section.choice("volume_correction", &corrections).map(|(_, c)| c),
        self_collision: section.flag("self_collision"),
        dt: section.quantity("dt", &TIME, Sign::Positive),
    };
    section.finish();
    knobs
}

pub(super) fn volume(top: &Section<'_>) -> VolumeKnobs {
    let section = top.section("volume", &schema::VOLUME);
    let methods = [("virtual-surface", CurvatureMethod::VirtualSurface), ("extension", CurvatureMethod::Extension)];
    let knobs = VolumeKnobs {
        curvature: section.choice("curvature", &methods).map(|(_, m)| m),
        pressure_order: section.count("pressure_order", &(1..=2)).map(|n| n as u32),
        dt: section.quantity("dt", &TIME, Sign::Positive),
        static_speed: section.quantity("static_speed", &VELOCITY, Sign::NotNegative),
        slip: section.quantity("slip", &LENGTH, Sign::NotNegative),
    };
    section.finish();
    knobs
}

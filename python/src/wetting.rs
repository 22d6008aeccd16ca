//! Liquids, materials and exact solutions. SI units; angles in degrees, as in measures.

use numpy::PyArray2;
use pyo3::prelude::*;
use sessile_wetting::young_laplace::{Profile, sessile};
use sessile_wetting::{Liquid, Wetting, capillary, liquid_presets, material_presets, retention, waves};

use crate::errors::wrong;

/// A liquid by its three properties: density, kinematic viscosity, surface tension.
type Properties = (f64, f64, f64);

fn liquid((density, viscosity, surface_tension): Properties) -> Liquid {
    Liquid { density, viscosity, surface_tension, ..Liquid::water() }
}

fn checked(name: &str, value: f64, valid: bool, expected: &str) -> PyResult<f64> {
    if valid { Ok(value) } else { Err(wrong(format!("{name} = {value}: expected {expected}"))) }
}

fn positive(name: &str, value: f64) -> PyResult<f64> {
    checked(name, value, value > 0.0 && value.is_finite(), "a positive number")
}

fn angle(name: &str, degrees: f64) -> PyResult<f64> {
    checked(name, degrees, degrees > 0.0 && degrees < 180.0, "an angle between 0 and 180 degrees").map(f64::to_radians)
}

/// Name, title, evidence and properties of every liquid.
#[pyfunction]
pub fn liquids() -> Vec<(&'static str, &'static str, &'static str, Properties)> {
    let properties = |liquid: &Liquid| (liquid.density, liquid.viscosity, liquid.surface_tension);
    liquid_presets().iter().map(|one| (one.name, one.title, one.evidence, properties(&one.liquid))).collect()
}

/// Advancing, receding and wet advancing angle, in degrees.
type Angles = (f64, f64, Option<f64>);

/// Name, title, evidence and angles of every material.
#[pyfunction]
pub fn materials() -> Vec<(&'static str, &'static str, &'static str, Angles)> {
    // Without the rounding of the conversion from degrees and back.
    let degrees = |angle: f64| (1e9 * angle.to_degrees()).round() / 1e9;
    let angles = |w: &Wetting| (degrees(w.advancing), degrees(w.receding), w.wet_advancing.map(degrees));
    material_presets().iter().map(|one| (one.name, one.title, one.evidence, angles(&one.wetting))).collect()
}

/// √(γ/ρg), in m.
#[pyfunction]
pub fn capillary_length(properties: Properties, gravity: f64) -> PyResult<f64> {
    Ok(liquid(properties).capillary_length(positive("gravity", gravity)?))
}

/// Volume, angle, height, base radius, largest radius, air area, apex curvature, centroid height
/// and the meridian.
type ProfileValues = (Numbers, Py<PyArray2<f64>>);

/// See [`ProfileValues`].
type Numbers = (f64, f64, f64, f64, f64, f64, f64, f64);

fn values(py: Python<'_>, profile: Option<Profile>, why: &str) -> PyResult<ProfileValues> {
    let profile = profile.ok_or_else(|| wrong(why))?;
    let points: Vec<Vec<f64>> = profile.points.iter().map(|point| point.to_vec()).collect();
    let numbers = (
        profile.volume,
        profile.contact_angle.to_degrees(),
        profile.height,
        profile.base_radius,
        profile.max_radius,
        profile.air_area,
        profile.apex_curvature,
        profile.centroid_height,
    );
    Ok((numbers, PyArray2::from_vec2(py, &points).map_err(wrong)?.unbind()))
}

/// Young–Laplace profile of a drop on a level solid; without gravity a spherical cap.
#[pyfunction]
pub fn sessile_drop(
    py: Python<'_>,
    volume: f64,
    contact_angle: f64,
    properties: Properties,
    gravity: f64,
) -> PyResult<ProfileValues> {
    let (volume, theta) = (positive("volume", volume)?, angle("contact_angle", contact_angle)?);
    let length =
        if gravity == 0.0 { f64::INFINITY } else { liquid(properties).capillary_length(positive("gravity", gravity)?) };
    values(py, py.detach(|| sessile(volume, theta, length)), "no sessile drop has this volume and angle")
}

/// Young–Laplace profile of a drop that hangs from a level solid.
#[pyfunction]
pub fn pendant(
    py: Python<'_>,
    volume: f64,
    contact_angle: f64,
    properties: Properties,
    gravity: f64,
) -> PyResult<ProfileValues> {
    let (volume, theta) = (positive("volume", volume)?, angle("contact_angle", contact_angle)?);
    let length = liquid(properties).capillary_length(positive("gravity", gravity)?);
    let most = py.detach(|| sessile_wetting::pendant::pendant_max_volume(theta, length));
    let why = format!("a drop of {:.4} uL falls: at most {:.4} uL hang at this angle", 1e9 * volume, 1e9 * most);
    values(py, py.detach(|| sessile_wetting::pendant::pendant(volume, theta, length)), &why)
}

/// Base radius and height of a spherical cap.
#[pyfunction]
pub fn cap(volume: f64, contact_angle: f64) -> PyResult<(f64, f64)> {
    let theta = angle("contact_angle", contact_angle)?;
    let radius = sessile_wetting::cap::base_radius(positive("volume", volume)?, theta);
    Ok((radius, sessile_wetting::cap::height(radius, theta)))
}

/// Force that retains a drop of a width, in N (Furmidge's equation with a factor).
#[pyfunction]
pub fn retention_force(
    width: f64,
    advancing: f64,
    receding: f64,
    properties: Properties,
    factor: f64,
) -> PyResult<f64> {
    let wetting = Wetting::smooth(angle("advancing", advancing)?, angle("receding", receding)?);
    Ok(retention::retention_force(&liquid(properties), &wetting, positive("width", width)?, factor))
}

/// Largest volume that a tilted plate retains, in m³.
#[pyfunction]
pub fn max_tilt_volume(
    tilt: f64,
    advancing: f64,
    receding: f64,
    properties: Properties,
    gravity: f64,
) -> PyResult<f64> {
    let wetting = Wetting::smooth(angle("advancing", advancing)?, angle("receding", receding)?);
    let tilt = angle("tilt", tilt)?;
    Ok(retention::critical_volume(&liquid(properties), &wetting, positive("gravity", gravity)?, tilt))
}

/// Lamb's frequency of a free drop in mode n, in Hz.
#[pyfunction]
pub fn drop_frequency(radius: f64, mode: u32, properties: Properties) -> PyResult<f64> {
    checked("mode", f64::from(mode), mode >= 2, "2 or more")?;
    Ok(waves::drop_frequency(&liquid(properties), positive("radius", radius)?, mode))
}

/// Wavelength at which a cylinder of liquid breaks up fastest, in m.
#[pyfunction]
pub fn breakup_wavelength(radius: f64) -> PyResult<f64> {
    Ok(waves::fastest_wavelength(positive("radius", radius)?))
}

/// Jurin's height in a tube of a radius, or between plates of half that gap, in m.
#[pyfunction]
pub fn jurin_height(radius: f64, contact_angle: f64, properties: Properties, gravity: f64) -> PyResult<f64> {
    let theta = checked("contact_angle", contact_angle, (0.0..180.0).contains(&contact_angle), "0 to 180 degrees")?;
    let (radius, gravity) = (positive("radius", radius)?, positive("gravity", gravity)?);
    // Between plates a distance r apart the rise is that in a tube of radius r.
    Ok(capillary::rise_between_plates(&liquid(properties), theta.to_radians(), radius, gravity))
}

/// Height of a meniscus on a vertical wall, in m.
#[pyfunction]
pub fn meniscus_height(contact_angle: f64, properties: Properties, gravity: f64) -> PyResult<f64> {
    let theta = checked("contact_angle", contact_angle, (0.0..180.0).contains(&contact_angle), "0 to 180 degrees")?;
    Ok(capillary::meniscus_height(&liquid(properties), theta.to_radians(), positive("gravity", gravity)?))
}

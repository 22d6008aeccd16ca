//! `sessile scenes`, `sessile materials`, `sessile liquids`: built-in data.

use std::io::{Write, stdout};

use serde_json::{Value, json};
use sessile_sim::scenes::{SCENES, ShippedScene};
use sessile_wetting::{liquid_presets, material_presets};

use crate::args::{ListArgs, ScenesArgs};
use crate::failure::Failure;
use crate::table::table;

/// Lists the scenes, or prints one.
pub fn scenes(args: &ScenesArgs) -> Result<(), Failure> {
    if let Some(name) = &args.name {
        let scene = ShippedScene::find(name).map_err(Failure::wrong)?;
        return Ok(write!(stdout(), "{}", scene.text)?);
    }
    if args.json {
        return print_json(SCENES.iter().map(|scene| json!({ "name": scene.name, "title": scene.title() })));
    }
    let width = SCENES.iter().map(|scene| scene.name.len()).max().unwrap_or(0);
    let mut out = stdout().lock();
    for scene in SCENES {
        writeln!(out, "{:width$}  {}", scene.name, scene.title())?;
    }
    Ok(())
}

/// Lists the materials with their contact angles for water.
pub fn materials(args: &ListArgs) -> Result<(), Failure> {
    let degrees = |angle: f64| (angle.to_degrees() * 10.0).round() / 10.0;
    if args.json {
        return print_json(material_presets().iter().map(|preset| {
            json!({
                "name": preset.name,
                "title": preset.title,
                "aliases": preset.aliases,
                "advancing_deg": degrees(preset.wetting.advancing),
                "receding_deg": degrees(preset.wetting.receding),
                "wet_advancing_deg": preset.wetting.wet_advancing.map(degrees),
                "roughness": preset.wetting.roughness,
                "evidence": preset.evidence,
            })
        }));
    }
    let rows: Vec<Vec<String>> = material_presets()
        .iter()
        .map(|preset| {
            vec![
                preset.name.to_owned(),
                degrees(preset.wetting.advancing).to_string(),
                preset.wetting.wet_advancing.map_or("-".into(), |angle| degrees(angle).to_string()),
                degrees(preset.wetting.receding).to_string(),
                preset.title.to_owned(),
            ]
        })
        .collect();
    Ok(write!(
        stdout(),
        "{}",
        table(&["name", "advancing (deg)", "wet advancing (deg)", "receding (deg)", "description"], &rows)
    )?)
}

/// Lists the liquids.
pub fn liquids(args: &ListArgs) -> Result<(), Failure> {
    if args.json {
        return print_json(liquid_presets().iter().map(|preset| {
            json!({
                "name": preset.name,
                "title": preset.title,
                "density": preset.liquid.density,
                "viscosity": preset.liquid.viscosity,
                "surface_tension": preset.liquid.surface_tension,
                "refractive_index": preset.liquid.refractive_index,
                "opaque": preset.is_opaque(),
                "evidence": preset.evidence,
            })
        }));
    }
    let rows: Vec<Vec<String>> = liquid_presets()
        .iter()
        .map(|preset| {
            vec![
                preset.name.to_owned(),
                rounded(preset.liquid.density),
                rounded(preset.liquid.viscosity * 1e6),
                rounded(preset.liquid.surface_tension * 1e3),
                rounded(preset.liquid.refractive_index),
                preset.title.to_owned(),
            ]
        })
        .collect();
    let heading = [
        "name",
        "density (kg/m^3)",
        "viscosity (mm^2/s)",
        "surface tension (mN/m)",
        "refractive index#",
        "description",
    ];
    Ok(write!(stdout(), "{}", table(&heading, &rows))?)
}

fn print_json(entries: impl Iterator<Item = Value>) -> Result<(), Failure> {
    Ok(writeln!(stdout(), "{:#}", Value::Array(entries.collect()))?)
}

/// Formats a value with four decimals, without trailing zeros.
fn rounded(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

//! Checks what a spec may draw: scenes with the ends of every distribution must be valid.

use sessile_scene::{Diagnostic, Place};

use super::Spec;
use super::reader::Places;
use crate::distribution::Distribution;
use crate::recipe::{Process, Recipe};

/// Problems of the scenes that a spec draws, at the values that cause them.
pub(super) fn check(spec: &Spec, places: &Places) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let start = Place { source: 0, start: 0, end: 0 };
    let plain = Spec { vary: Vec::new(), ..spec.clone() };
    let base = Recipe { process: Process::Scene, drops: Default::default(), ..plain.recipe(0) };
    try_recipe(&base, places.scene.as_ref().unwrap_or(&start), "the scene", &mut errors);
    if !errors.is_empty() {
        return errors;
    }
    for ((key, distribution), place) in spec.vary.iter().zip(&places.vary) {
        for value in distribution.examples() {
            let recipe = Recipe { set: vec![format!("{key}={value}")], ..base.clone() };
            if try_recipe(&recipe, place, &format!("{key} = {value}"), &mut errors) {
                break;
            }
        }
    }
    for (drops, (table, values)) in spec.drops.iter().zip(&places.drops) {
        let typical = |d: &Distribution| d.examples().into_iter().next().unwrap_or_default();
        let one = Recipe {
            process: drops.process,
            on: drops.on.clone(),
            drops: drops.values.iter().map(|(key, value)| (key.clone(), typical(value))).collect(),
            ..base.clone()
        };
        for (key, distribution) in &drops.values {
            for value in distribution.examples() {
                let mut recipe = one.clone();
                recipe.drops.insert(key.clone(), value.clone());
                // The number of drops has no bounds in the scene.
                if key == "count" && value.parse::<f64>().is_ok_and(|count| count >= 0.0) {
                    continue;
                }
                let place = values.get(key).or(values.get("on")).unwrap_or(table);
                if try_recipe(&recipe, place, &format!("{key} = {value}"), &mut errors) {
                    break;
                }
            }
        }
    }
    errors
}

/// Reads the scene of a recipe; records its problems at a place of the spec.
fn try_recipe(recipe: &Recipe, place: &Place, what: &str, errors: &mut Vec<Diagnostic>) -> bool {
    let Err(problems) = recipe.checked_scene() else { return false };
    for problem in &problems.list {
        let shown = Diagnostic::new(place, format!("{what}: {}", problem.message)).label(problem.label.clone());
        let shown = problem.help.iter().fold(shown, |shown, help| shown.help(help.clone()));
        if !errors.contains(&shown) {
            errors.push(shown);
        }
    }
    true
}

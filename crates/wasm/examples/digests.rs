//! Digests of short simulations, for comparison with the same ones in WebAssembly
//! (`scripts/check-web`).
//!
//! Usage: digests CASES SCENES. Prints one line per case: its name, and digests at the start, in
//! the middle and at the end. In the middle gravity is tilted, a drop added, a stroke wiped and the
//! first solid's material changed.

use std::path::Path;

use glam::DVec3;
use sessile_input::InMemory;
use sessile_model::{Stroke, Tool};
use sessile_wasm::Simulation;

fn main() -> Result<(), String> {
    let [cases, scenes] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "digests CASES SCENES")?;
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let cases: Vec<serde_json::Value> =
        serde_json::from_str(&read(Path::new(&cases))?).map_err(|error| error.to_string())?;
    for case in &cases {
        let word = |key: &str| case[key].as_str().unwrap_or_default();
        let mut text = read(&Path::new(&scenes).join(word("scene")))?;
        if let [from, to] =
            &case["change"].as_array().map_or([""; 2], |pair| [0, 1].map(|k| pair[k].as_str().unwrap_or("")))
            && !from.is_empty()
        {
            text = text.replacen(*from, to, 1);
        }
        let digests = digests(&text, case["steps"].as_u64().unwrap_or(0))?;
        println!("{}: {}", word("name"), digests.join(" "));
    }
    Ok(())
}

/// Runs a scene for a number of steps of 1/60 s.
fn digests(text: &str, steps: u64) -> Result<Vec<String>, String> {
    let mut simulation = Simulation::load(text, InMemory::default())?;
    let mut digests = vec![simulation.digest()];
    for step in 0..steps {
        if step == steps / 2 {
            digests.push(simulation.digest());
            interfere(&mut simulation)?;
        }
        simulation.step(1.0 / 60.0)?;
    }
    digests.push(simulation.digest());
    Ok(digests)
}

fn interfere(simulation: &mut Simulation) -> Result<(), String> {
    simulation.set_gravity(Some(DVec3::new(3.0, -9.0, -1.0)))?;
    let view = simulation.view();
    let from = match (view.drops.as_chunks::<20>().0, view.surface.positions.as_chunks::<3>().0) {
        ([drop, ..], _) => DVec3::new(drop[0].into(), drop[1].into(), drop[2].into()),
        ([], [vertex, ..]) => DVec3::new(vertex[0].into(), vertex[1].into(), vertex[2].into()),
        ([], []) => DVec3::ZERO,
    };
    // What a model refuses, it refuses everywhere.
    let _ = simulation.add(from + DVec3::new(0.004, 0.002, 0.003), DVec3::ZERO, 3e-9);
    let to = from + DVec3::new(0.01, -0.005, 0.0);
    let _ = simulation.wipe(&Stroke { from, to, duration: 0.05, tool: Tool::Finger { radius: 0.004 } });
    simulation.set_material(0, "teflon")
}

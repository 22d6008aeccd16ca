// The simulations of crates/wasm/examples/digests.rs in WebAssembly. Usage: node digests.mjs PACKAGE CASES SCENES.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, cases, scenes] = process.argv.slice(2);
const { Sessile, STRIDE } = await import(pathToFileURL(resolve(folder, "sessile.js")).href);

function interfere(simulation) {
  simulation.gravity([3, -9, -1]);
  const { drops, surface } = simulation.view();
  const first = drops.length >= STRIDE ? drops : surface.positions;
  const from = first.length ? [first[0], first[1], first[2]] : [0, 0, 0];
  for (const act of [
    () => simulation.add([from[0] + 0.004, from[1] + 0.002, from[2] + 0.003], 3e-9),
    () => simulation.wipe({ from, to: [from[0] + 0.01, from[1] - 0.005, from[2]], duration: 0.05, finger: 0.004 }),
  ]) {
    try {
      act();
    } catch {
      // What a model refuses, it refuses everywhere.
    }
  }
  simulation.material(0, "teflon");
}

for (const { name, scene, change, steps } of JSON.parse(readFileSync(cases, "utf8"))) {
  let text = readFileSync(join(scenes, scene), "utf8");
  if (change) text = text.replace(change[0], change[1]);
  const simulation = await Sessile.load(text);
  const digests = [simulation.digest()];
  for (let step = 0; step < steps; step++) {
    if (step === Math.floor(steps / 2)) {
      digests.push(simulation.digest());
      interfere(simulation);
    }
    simulation.step(1 / 60);
  }
  digests.push(simulation.digest());
  console.log(`${name}: ${digests.join(" ")}`);
}

// Steps per second of the WebAssembly module. Usage: node speed.mjs [PACKAGE].
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const { Sessile } = await import(pathToFileURL(resolve(process.argv[2] ?? "web", "sessile.js")).href);
const TIME = `[time]\nduration = "1 h"\nframe = "0.1 s"\n`;
const GLASS = `[[solids]]\nname = "glass"\nmaterial = "glass-outdoor"\nshape = "plane"\nnormal = [0, 0, 1]\nsize = "SIZE mm"\n`;

/** A vertical glass of 1 m × 1 m with drops in rows; most are at rest, the largest slide. */
async function rows(model, count) {
  const simulation = await Sessile.load(`model = "${model}"\n${TIME}${GLASS.replace("SIZE", "1000 1000")}`);
  const side = Math.ceil(Math.sqrt(count));
  for (let k = 0; k < count; k++) {
    const at = [k % side, Math.floor(k / side)].map((i) => (0.96 * (i + 0.5)) / side - 0.48);
    simulation.add([...at, 0], k % 10 === 0 ? 3e-8 : 2e-9);
  }
  return simulation;
}

/** Twenty drops on a vertical glass. */
function window20(fidelity) {
  const drop = (k) => `[[drops]]\nshape = "cap"\non = "glass"\ncenter = "${(k % 5) * 10 - 20} ${Math.floor(k / 5) * 10 - 15} 0 mm"\nvolume = "${4 + (k % 3)} uL"\ncontact_angle = "60 deg"\n`;
  const drops = Array.from({ length: 20 }, (_, k) => drop(k)).join("");
  return Sessile.load(`model = "surface"\n${fidelity}${TIME}[resolution]\nedge = "0.5 mm"\n${GLASS.replace("SIZE", "80 60")}${drops}`);
}

const cases = [
  ["pane, 10 000 drops", () => rows("pane", 10000), 120],
  ["droplet, 10 000 drops", () => rows("droplet", 10000), 120],
  ["surface of the paper, 20 drops", () => window20(`fidelity = "paper"\n`), 40],
  ["surface, 20 drops", () => window20(""), 20],
];
for (const [name, make, steps] of cases) {
  const simulation = await make();
  simulation.step(1 / 60);
  const before = process.cpuUsage().user;
  let shown = 0;
  for (let k = 0; k < steps; k++) {
    simulation.step(1 / 60);
    const start = process.cpuUsage().user;
    simulation.view();
    shown += process.cpuUsage().user - start;
  }
  const each = (process.cpuUsage().user - before - shown) / 1000 / steps;
  const { drops, surface } = simulation.view();
  const count = drops.length / 20 + surface.ids.length;
  console.log(`${name}: ${each.toFixed(1)} ms per step of 1/60 s (${Math.round(1000 / each)} steps/s), view ${(shown / 1000 / steps).toFixed(2)} ms; ${count} drops at the end`);
}

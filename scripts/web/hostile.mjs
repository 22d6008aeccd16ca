// What a stranger may hand to the package: every call must end soon with a clear error, and other simulations must continue.

const HEAD = (model) => `model = "${model}"\n[time]\nduration = "1 s"\nframe = "0.1 s"\n`;
const SOLID = '[[solids]]\nname = "window"\nnormal = [0, 0, 1]\nsize = "40 40 mm"\n';
const scene = (model, rest = "") => HEAD(model) + rest + SOLID;

/** Scenes that must be refused, with a part of the message. */
const SCENES = [
  ["no scene at all", undefined, /TOML text/],
  ["an object", {}, /TOML text/],
  ["an empty scene", "", /model/],
  ["a missing key", 'model = "pane"\n', /time/],
  ["no TOML", "<html>", /expected|invalid|error/],
  ["bytes that are no text", "\ud800\u0000\u0007", /error/],
  ["500 MB of text", () => "#".repeat(500 << 20), /the maximum is/],
  ["deep nesting", `${HEAD("pane")}x = ${"[".repeat(100000)}`, /error/],
  ["a million keys", () => HEAD("pane") + Array.from({ length: 150000 }, (_, k) => `key${k} = 1\n`).join(""), /error/],
  ["an endless duration", scene("pane").replace("1 s", "inf s"), /duration/],
  ["a time that is no number", scene("pane").replace("0.1 s", "nan s"), /frame/],
  ["more frames than a lifetime", scene("pane").replace("0.1 s", "1e-12 s"), /frame/],
  ["the volume model", scene("volume"), /volume/],
  ["a mesh that was not given", `${HEAD("droplet")}[[solids]]\nname = "a"\nshape = "mesh"\nfile = "/etc/passwd"\n`, /not among the files/],
  ["a pane of a billion cells", scene("pane", '[pane]\ncell = "1 um"\n'), /./],
  ["a planet", scene("pane").replace("40 40 mm", "1e13 1e13 mm"), /./],
  ["a drop of an ocean in triangles", `${scene("surface", '[resolution]\nedge = "1 nm"\n')}[[drops]]\nshape = "sphere"\ncenter = "0 0 900 mm"\nradius = "800 mm"\n`, /./],
];

/** Files that must be refused. */
const FILES = [
  ["a broken mesh", { "a.obj": "f 1 2 3\n" }, /a\.obj/],
  ["a mesh of NaN", { "a.obj": "v nan nan nan\nv 0 0 1\nv 1 0 0\nf 1 2 3\n" }, /a\.obj/],
  ["an image as a mesh", { "a.obj": new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]) }, /a\.obj/],
  ["a file that is a number", { "a.obj": 7 }, /not a string/],
  ["a gigabyte", () => ({ "a.obj": new Uint8Array(1 << 30) }), /512 MB/],
];

/** Calls that must be refused by a simulation that continues. */
const CALLS = [
  ["an endless step", (s) => s.step(Infinity)],
  ["a step that is no number", (s) => s.step(NaN)],
  ["a step back", (s) => s.step(-1)],
  ["a step of a thousand years", (s) => s.step(3e10)],
  ["a drop nowhere", (s) => s.add([NaN, 0, 0], 1e-9)],
  ["a drop of no volume", (s) => s.add([0, 0, 0], -1e-9)],
  ["a drop of an ocean", (s) => s.add([0, 0, 0], 1e30)],
  ["a drop faster than light", (s) => s.add([0, 0, 0.01], 1e-9, [1e30, 0, 0])],
  ["gravity without end", (s) => s.gravity([0, Infinity, 0])],
  ["gravity of a black hole", (s) => s.gravity([0, -1e200, 0])],
  ["an unknown material", (s) => s.material(0, "unobtainium")],
  ["angles that are none", (s) => s.material(0, [NaN, 400, -3])],
  ["the material of no solid", (s) => s.material(99, "ptfe")],
  ["a solid that flies off", (s) => s.move(0, [NaN, 0, 0], 1)],
  ["a solid that moves at once", (s) => s.move(0, [1e9, 0, 0], 0)],
  ["a mesh of no solid", (s) => s.mesh(-1)],
  ["a stroke without a tool", (s) => s.wipe({ from: [0, 0, 0], to: [1, 0, 0], duration: 1 })],
  ["a stroke to nowhere", (s) => s.wipe({ from: [NaN, 0, 0], to: [1, 0, 0], duration: 1, finger: 0.01 })],
  ["taking from nowhere", (s) => s.take([NaN, 0, 0], 1)],
  ["taking more than all", (s) => s.take([0, 0, 0], 1, 7)],
  ["a state of nothing", (s) => s.restore(new Uint8Array(0))],
  ["a state of noise", (s) => s.restore(Uint8Array.from({ length: 5000 }, (_, k) => (k * k * 31) & 255))],
  ["a cut state", (s) => s.restore(s.save().slice(0, -7))],
  ["rain without end", (s) => s.rain(Infinity, 0)],
  ["a source of nothing", (s) => s.place({})],
  ["a source nowhere", (s) => s.place({ kind: "feed", at: [NaN, 0, 0], rate: 1e-8 })],
  ["a source that was never placed", (s) => s.unplace(77)],
  ["a change of no scene", (s) => s.moment(["model="])],
];

/** The message of what fails; null if it does not fail. */
async function message(act) {
  try {
    await act();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Tries everything; returns what is wrong, one line each, and how many attempts there were.
 * @param {any} Sessile
 * @returns {Promise<{attempts: number, wrong: string[], slowest: string}>}
 */
export async function attack(Sessile) {
  const witness = await Sessile.load(scene("pane"));
  witness.add([0, 0, 0], 5e-9);
  const wrong = [];
  let [attempts, slowest, longest] = [0, "", 0];
  const expect = async (what, act, pattern) => {
    attempts += 1;
    const start = performance.now();
    const text = await message(act);
    const time = performance.now() - start;
    if (time > longest) [longest, slowest] = [time, `${what}: ${time.toFixed(0)} ms`];
    if (text === null) wrong.push(`${what}: no error`);
    else if (!pattern.test(text) || text === "" || /unreachable|panicked|undefined/.test(text)) wrong.push(`${what}: ${text.slice(0, 300)}`);
    witness.step(1 / 120);
    if (witness.view().ids.length !== 1) wrong.push(`${what}: the other simulation lost its drop`);
  };
  for (const [what, text, pattern] of SCENES) {
    // What is built only where drops are fails when they come.
    await expect(what, async () => (await Sessile.load(typeof text === "function" ? text() : text)).step(0.5), pattern);
  }
  const mesh = `${HEAD("droplet")}[[solids]]\nname = "a"\nshape = "mesh"\nfile = "a.obj"\nheight = "10 mm"\n`;
  for (const [what, files, pattern] of FILES) {
    await expect(what, () => Sessile.load(mesh, { files: typeof files === "function" ? files() : files }), pattern);
  }
  for (const model of ["pane", "droplet", "surface"]) {
    const simulation = await Sessile.load(scene(model));
    simulation.add([0, 0, 0.0005], 5e-9);
    for (const [what, act] of CALLS) {
      await expect(`${model}, ${what}`, () => act(simulation), /./);
      const after = await message(() => { simulation.step(1 / 120); simulation.view(); });
      if (after !== null) wrong.push(`${model}, after ${what}: ${after.slice(0, 200)}`);
    }
  }
  return { attempts, wrong, slowest };
}

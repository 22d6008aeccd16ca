// The studio's engine in a worker: the same messages as `crates/studio`, with the models in WebAssembly.
// @ts-check
import { Sessile, STRIDE } from "./sessile.js";
import { meshMessage, viewMessage, wetMessage } from "./messages.js";

const thread = /** @type {any} */ (globalThis);
const TICK = 1 / 120;
/** Longest time of work between two views, and between two slow messages, in ms. */
const BUDGET = 12, SLOW = 200;
const MOST_STATES = 24;
const SCENES = ["window", "merge", "streams", "tear", "masses", "adhesion", "rain-on-bunny", "collide", "window-drops"];

/** @type {Sessile} */ let simulation;
/** The same scene in another model, shown beside it. @type {Sessile | null} */ let twin = null;
/** @type {any} */ let scene;
/** @type {Record<string, Uint8Array> | undefined} */ let files;
/** The scene as the page knows it. @type {any} */ let described;
/** @type {{state: Uint8Array, bead: number, rain: number}[]} */ let undo = [];
/** @type {Uint8Array} */ let start;
let [playing, factor, owed, speed, cost, ticks, generation, bead] = [true, 1, 0, 0, 0, 0, 0, 0];
/** Rain by hand, in m/s, and its solid. */
let [rain, rainOn] = [0, 0];
let failed = false;
/** @type {number | null} */ let selected = null;
/** @type {string[]} */ let upload = [];
/** @type {string[]} */ let wet = [];

/** @param {object} message */
const say = (message) => thread.postMessage(JSON.stringify(message));
/** @param {ArrayBuffer} buffer */
const show = (buffer) => thread.postMessage(buffer, [buffer]);

/** @param {string} name @param {string} text @param {Record<string, Uint8Array>} [given] */
async function open(name, text, given) {
  simulation = await Sessile.load(text, { files: given });
  [scene, files] = [{ name, text }, given];
  [undo, start, wet, owed, bead, failed, rain] = [[], simulation.save(), [], 0, 0, false, 0];
  generation += 1;
  compare(null);
  introduce();
}

/** Continues from the present moment with changes such as `liquid="honey"`. @param {string[]} changes */
async function continueAs(changes) {
  const [kept, held] = [rain, rainOn];
  await open(scene.name, simulation.moment(changes), files);
  setRain(kept, held);
}

/** @param {number} rate @param {number} solid */
function setRain(rate, solid) {
  simulation.rain(rate, solid);
  twin?.rain(rate, solid);
  [rain, rainOn] = [rate, solid];
}

/** Shows the present moment in another model beside this one, or not. @param {string | null} model */
async function compare(model) {
  twin = null;
  if (model) {
    twin = await Sessile.load(simulation.moment([`model="${model}"`]), { files });
    if (rain > 0) twin.rain(rain, rainOn);
  }
  say({ kind: "compare", model });
}

/** Does something to both simulations; the other model may refuse it. @template T @param {(to: Sessile) => T} act @returns {T} */
function both(act) {
  const result = act(simulation);
  try {
    if (twin) act(twin);
  } catch {
    // What this model did, the other may refuse.
  }
  return result;
}

function describeScene() {
  const scenes = SCENES.map((name) => ({ name, title: name }));
  described = simulation.describe();
  say({ ...described, ...scene, kind: "scene", generation, tick: TICK, live: true, scenes });
}

function introduce() {
  describeScene();
  for (let k = 0, picture = simulation.picture(0); picture; picture = simulation.picture(++k)) show(/** @type {ArrayBuffer} */ (picture.buffer));
  described.solids.forEach((/** @type {any} */ _, /** @type {number} */ solid) => show(meshMessage(solid, simulation.mesh(solid))));
}

function keep() {
  undo.push({ state: simulation.save(), bead, rain });
  if (undo.length > MOST_STATES) undo.shift();
}

/** Everything that a hand does; `crates/studio/src/input.rs` has the same list. @type {Record<string, (input: any) => any>} */
const inputs = {
  gravity({ vector }) {
    both((to) => to.gravity(vector));
    described = simulation.describe();
  },
  wind: ({ vector }) => both((to) => to.wind(vector)),
  rain: ({ rate, solid }) => setRain(rate, solid),
  sources: ({ open }) => both((to) => to.sources(open)),
  place({ source }) {
    keep();
    both((to) => to.place(source));
    describeScene();
  },
  unplace({ id }) {
    keep();
    both((to) => to.unplace(id));
    describeScene();
  },
  async liquid({ preset }) {
    await continueAs([`liquid="${preset}"`]);
  },
  add({ at, volume, velocity, begin }) {
    if (begin !== false) keep();
    both((to) => to.add(at, volume, velocity));
  },
  take({ at, radius, share }) {
    keep();
    both((to) => to.take(at, radius, share));
  },
  wipe({ tool, path, normal, begin, end }) {
    if (begin) keep();
    const kind = tool.kind === "finger" ? { finger: tool.radius } : { blade: tool.half };
    for (let k = 1; k < path.length; k++) {
      const [from, to] = [path[k - 1].slice(0, 3), path[k].slice(0, 3)];
      const duration = Math.max(0, path[k][3] - path[k - 1][3]);
      bead += both((one) => one.wipe({ from, to, duration, ...kind }));
    }
    bead = both((one) => one.shed({ volume: bead, at: path[path.length - 1].slice(0, 3), normal, lifted: end, ...kind }));
  },
  move({ solid, by, duration, begin }) {
    if (begin) keep();
    both((to) => to.move(solid, by, Math.max(duration, TICK)));
  },
  material({ solid, preset, angles }) {
    keep();
    both((to) => to.material(solid, angles ?? preset ?? null));
    describeScene();
  },
  model: ({ name }) => continueAs([`model="${name}"`]),
  scene: ({ name, text }) => open(name, text),
  undo() {
    const kept = undo.pop();
    if (!kept) throw new Error("there is nothing to undo");
    simulation.restore(kept.state);
    [bead, failed] = [kept.bead, false];
    setRain(kept.rain, rainOn);
    compare(null);
    describeScene();
  },
  reset() {
    simulation.restore(start);
    [undo, bead] = [[], 0];
    setRain(0, 0);
    compare(null);
    describeScene();
  },
};

/** A model that was dropped on the page, in the rain. @param {string} name @param {Uint8Array} bytes */
function openMesh(name, bytes) {
  const text = `model = "droplet"\n[time]\nduration = "1 h"\nframe = "0.1 s"\n[[solids]]\nname = "model"\n`
    + `material = "polyethylene"\nshape = "mesh"\nfile = ${JSON.stringify(name)}\nheight = "100 mm"\n`
    + `[[emitters]]\nkind = "rain"\nover = "model"\nrate = "10 um/s"\nradius = { min = "0.3 mm", max = "0.7 mm" }\n`
    + `velocity = "0.5 -4 0.3 m/s"\n`;
  return open(name, text, { [name]: bytes });
}

/** What the page asks. @type {Record<string, (ask: any) => any>} */
const asks = {
  input({ input }) {
    const act = inputs[input.do];
    if (!act) throw new Error(`\`${input.do}\` needs the program: run \`sessile studio\``);
    return act(input);
  },
  play: (ask) => void (playing = ask.playing),
  step() {
    playing = false;
    tick();
  },
  speed: (ask) => void (factor = Math.min(4, Math.max(0.01, ask.factor))),
  select: (ask) => void (selected = ask.id),
  save_scene: () => say({ kind: "saved_scene", text: simulation.moment() }),
  async open_scene({ name }) {
    const answer = await fetch(`./scenes/${encodeURIComponent(name)}.toml`);
    if (!answer.ok) throw new Error(`there is no scene \`${name}\``);
    await open(name, await answer.text());
  },
  file({ name, data, last }) {
    upload.push(data);
    if (!last) return undefined;
    const bytes = Uint8Array.from(atob(upload.join("")), (letter) => letter.charCodeAt(0));
    upload = [];
    return openMesh(name, bytes);
  },
  async recover() {
    // A simulation that has failed cannot be used again: a new one takes its last state.
    const kept = undo.pop();
    await open(scene.name, scene.text, files);
    if (kept) simulation.restore(kept.state);
  },
  compare: ({ model }) => compare(model),
  save_run() {
    throw new Error("saving a run needs the program: run `sessile studio`; save the scene instead");
  },
};

function tick() {
  try {
    simulation.step(TICK);
    ticks += 1;
    try {
      twin?.step(TICK);
    } catch {
      twin = null;
      say({ kind: "compare", model: null, text: "the other model has stopped" });
    }
  } catch (error) {
    failed = true;
    say({ kind: "failure", text: /** @type {Error} */ (error).message });
  }
}

function showSlow() {
  simulation.notices().forEach((text) => say({ kind: "notice", text }));
  described = simulation.describe();
  described.solids.forEach((/** @type {any} */ _, /** @type {number} */ solid) => {
    const map = simulation.wetness(solid);
    const key = map ? map.texels.reduce((sum, value) => (31 * sum + value) | 0, map.width).toString() : "";
    if (map && key !== wet[solid]) show(wetMessage(solid, map));
    wet[solid] = key;
  });
  say({ kind: "balance", time: simulation.time, ...simulation.balance(), bead });
  if (selected !== null) showSelected(selected);
}

/** @param {number} id */
function showSelected(id) {
  const { drops, ids } = simulation.view();
  const at = ids.indexOf(id);
  if (at < 0) return say({ kind: "selected", id, gone: true });
  const drop = drops.subarray(at * STRIDE, (at + 1) * STRIDE);
  const solid = drop[18] < 0 ? null : described.solids[drop[18]];
  return say({
    kind: "selected", id, volume: drop[16], speed: Math.hypot(drop[13], drop[14], drop[15]), age: null,
    on: solid?.name ?? null, measured: solid ? (drop[17] * 180) / Math.PI : null, height: drop[10], base_radius: drop[9],
    angles: solid?.angles ?? null,
  });
}

let [last, lastSlow] = [performance.now(), 0];
function pass() {
  const now = performance.now();
  const real = Math.min(0.1, (now - last) / 1000);
  last = now;
  let done = 0;
  owed = playing && !failed ? owed + real * factor : 0;
  while (owed >= TICK && !failed && (done === 0 || performance.now() - now < BUDGET)) {
    tick();
    owed -= TICK;
    done += 1;
  }
  if (done > 0) cost = (performance.now() - now) / 1000 / done;
  speed += ((real > 0 ? (done * TICK) / real : 0) - speed) * Math.min(1, 2 * real);
  // What cannot be made up for is forgotten: slow motion.
  owed = Math.min(owed, 4 * TICK);
  if (!failed) {
    if (now - lastSlow > SLOW) {
      lastSlow = now;
      showSlow();
    }
    const state = { playing, speed, generation, gravity: described.gravity, bead, cost, undo: undo.length, ticks, rain };
    show(viewMessage(simulation.view(), state));
    if (twin) show(viewMessage(twin.view(), { ...state, twin: true }));
  }
  setTimeout(pass, Math.max(0, 1000 / 60 - (performance.now() - now)));
}

let turn = asks.open_scene({ name: "window" }).then(() => {
  // The window has been in the rain for a while.
  simulation.step(2);
  thread.postMessage("open");
  introduce();
  pass();
});
thread.onmessage = (/** @type {MessageEvent} */ { data }) => {
  turn = turn.then(async () => {
    const ask = JSON.parse(data);
    try {
      await asks[ask.ask]?.(ask);
    } catch (error) {
      say({ kind: "error", text: /** @type {Error} */ (error).message });
    }
  });
};

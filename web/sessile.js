// Water drops on surfaces, computed by the WebAssembly module beside this file. Types: sessile.d.ts.
// @ts-check

/** Numbers per drop in `view().drops`. */
export const STRIDE = 20;

/** Largest scene, and largest total of files, in bytes: the module has 4 GB for them and for the simulation. */
const LARGEST_SCENE = 4 << 20, LARGEST_FILES = 512 << 20;

/** @type {Map<string, Promise<WebAssembly.Module>>} */
const modules = new Map();
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @param {URL} url @returns {Promise<WebAssembly.Module>} */
async function compile(url) {
  if (url.protocol === "file:") {
    const node = "node:fs/promises"; // not a literal, so that bundlers for browsers leave it alone
    const { readFile } = await import(node);
    return WebAssembly.compile(await readFile(url));
  }
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
  return WebAssembly.compile(await answer.arrayBuffer());
}

/**
 * The compiled module: the given one, or that at an address, compiled once.
 * @param {import("./sessile.js").LoadOptions["wasm"]} wasm
 */
function moduleOf(wasm) {
  if (wasm instanceof WebAssembly.Module) return Promise.resolve(wasm);
  const url = new URL(wasm ?? "./sessile.wasm", import.meta.url);
  let found = modules.get(url.href);
  if (!found) {
    found = compile(url);
    found.catch(() => modules.delete(url.href));
    modules.set(url.href, found);
  }
  return found;
}

/** Length of a file's contents. @param {string} name @param {unknown} contents */
function checkedLength(name, contents) {
  if (typeof contents === "string") return contents.length;
  if (contents instanceof ArrayBuffer || ArrayBuffer.isView(contents)) return contents.byteLength;
  throw new TypeError(`the file \`${name}\` is not a string, an ArrayBuffer or an array of bytes`);
}

export class Sessile {
  /** @type {any} */ #wasm;
  /** Why it failed, if it did: a simulation cannot be used after it. @type {string | null} */ #failure = null;

  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    this.#wasm = instance.exports;
    this.#wasm.sessile_start();
  }

  /**
   * @param {string} toml
   * @param {import("./sessile.js").LoadOptions} [options]
   */
  static async load(toml, options = {}) {
    if (typeof toml !== "string") throw new TypeError(`a scene is TOML text, got ${toml ? typeof toml : "nothing"}`);
    if (toml.length > LARGEST_SCENE) {
      throw new Error(`the scene has ${toml.length} characters; the maximum is ${LARGEST_SCENE} bytes`);
    }
    const instance = await WebAssembly.instantiate(await moduleOf(options.wasm), {});
    const simulation = new Sessile(instance);
    let total = 0;
    for (const [name, contents] of Object.entries(options.files ?? {})) {
      total += checkedLength(name, contents);
      if (total > LARGEST_FILES) throw new Error(`the files have more than ${LARGEST_FILES >> 20} MB together, with \`${name}\``);
      const bytes = typeof contents === "string" ? encoder.encode(contents) : new Uint8Array(contents);
      simulation.#file(encoder.encode(name), bytes);
    }
    simulation.#input(encoder.encode(toml));
    simulation.#call("sessile_load");
    return simulation;
  }

  get time() {
    return this.#guard(() => this.#wasm.sessile_time());
  }

  /** @param {number} seconds */
  step(seconds) {
    this.#call("sessile_step", seconds);
  }

  view() {
    const { time } = this; // a call replaces what the one before has left
    this.#call("sessile_view");
    const [drops, positions, normals, velocities, volumes, poses] = [0, 2, 3, 4, 9, 10].map((k) => this.#floats(k));
    const [ids, vertexDrops, triangles, solids, surfaceIds] = [1, 5, 6, 7, 8].map((k) => this.#indices(k));
    const triangleSolids = new Int32Array(solids.buffer);
    const surface = { positions, normals, velocities, vertexDrops, triangles, triangleSolids, ids: surfaceIds, volumes };
    return { time, drops, ids, surface, poses };
  }

  /**
   * @param {import("./sessile.js").Vector} at
   * @param {number} volume
   * @param {import("./sessile.js").Vector} [velocity]
   */
  add(at, volume, velocity = [0, 0, 0]) {
    this.#call("sessile_add", ...at, ...velocity, volume);
  }

  /**
   * @param {import("./sessile.js").Vector} at
   * @param {number} radius
   * @param {number} [share]
   */
  take(at, radius, share = 1) {
    return this.#number("sessile_take", ...at, radius, share);
  }

  /** @param {import("./sessile.js").Stroke} stroke */
  wipe({ from, to, duration, finger, blade }) {
    if ((finger === undefined) === (blade === undefined)) throw new Error("a stroke has a finger or a blade");
    const numbers = [...from, ...to, duration, ...(blade ?? [0, 0, 0]), finger ?? 0];
    this.#input(new Uint8Array(new Float64Array(numbers).buffer));
    return this.#number("sessile_wipe");
  }

  /** @param {import("./sessile.js").Vector | null} vector */
  gravity(vector) {
    this.#call("sessile_gravity", ...(vector ?? [NaN, 0, 0]));
  }

  /** @param {import("./sessile.js").Vector | null} vector */
  wind(vector) {
    this.#call("sessile_wind", ...(vector ?? [NaN, 0, 0]));
  }

  /** @param {boolean} open */
  sources(open) {
    this.#call("sessile_sources", open ? 1 : 0);
  }

  /**
   * @param {number} solid
   * @param {string | [number, number, number] | null} material
   */
  material(solid, material) {
    if (Array.isArray(material)) return this.#call("sessile_angles", solid, ...material);
    this.#input(encoder.encode(material ?? ""));
    this.#call("sessile_material", solid);
  }

  /**
   * @param {number} solid
   * @param {import("./sessile.js").Vector} by
   * @param {number} duration
   */
  move(solid, by, duration) {
    this.#call("sessile_move", solid, ...by, duration);
  }

  balance() {
    const [added, lost, film, present] = [0, 1, 2, 3].map((k) => this.#number("sessile_balance", k));
    return { added, lost, film, present };
  }

  save() {
    this.#call("sessile_save");
    return this.#bytes(0);
  }

  /** @param {Uint8Array} state */
  restore(state) {
    this.#input(state);
    this.#call("sessile_restore");
  }

  digest() {
    this.#call("sessile_digest");
    return decoder.decode(this.#bytes(0));
  }

  describe() {
    this.#call("sessile_description");
    return JSON.parse(decoder.decode(this.#bytes(0)));
  }

  notices() {
    this.#call("sessile_notices");
    return decoder.decode(this.#bytes(0)).split("\n").filter((line) => line !== "");
  }

  /** @param {number} index */
  picture(index) {
    this.#call("sessile_picture", index);
    const bytes = this.#bytes(0);
    return bytes.length > 0 ? bytes : null;
  }

  /** @param {number} rate @param {number} [solid] */
  rain(rate, solid = 0) {
    this.#call("sessile_rain", rate, solid);
  }

  /** @param {import("./sessile.js").Source} source */
  place(source) {
    this.#input(encoder.encode(JSON.stringify(source)));
    return this.#number("sessile_place");
  }

  /** @param {number} id */
  unplace(id) {
    this.#call("sessile_unplace", id);
  }

  /** @param {import("./sessile.js").HeldTool} tool */
  shed({ volume, at, normal, finger, blade, lifted }) {
    if ((finger === undefined) === (blade === undefined)) throw new Error("a tool is a finger or a blade");
    const numbers = [volume, ...at, ...normal, ...(blade ?? [0, 0, 0]), finger ?? 0, lifted ? 1 : 0];
    this.#input(new Uint8Array(new Float64Array(numbers).buffer));
    return this.#number("sessile_shed");
  }

  /** @param {string[]} [changes] */
  moment(changes = []) {
    this.#input(encoder.encode(changes.join("\n")));
    this.#call("sessile_moment");
    return decoder.decode(this.#bytes(0));
  }

  /** @param {number} solid */
  mesh(solid) {
    this.#call("sessile_mesh", solid);
    return { positions: this.#floats(0), uvs: this.#floats(1), triangles: this.#indices(2) };
  }

  /** @param {number} solid */
  wetness(solid) {
    this.#call("sessile_wetness", solid);
    const [width, height] = this.#indices(1);
    return width ? { width, height, texels: this.#bytes(0) } : null;
  }

  /** @param {Uint8Array} name @param {Uint8Array} contents */
  #file(name, contents) {
    const both = new Uint8Array(name.length + contents.length);
    both.set(name);
    both.set(contents, name.length);
    this.#input(both);
    this.#call("sessile_file", name.length);
  }

  /** @param {Uint8Array} bytes */
  #input(bytes) {
    const at = this.#guard(() => this.#wasm.sessile_input(bytes.length)) >>> 0;
    if (at === 0) throw new Error(`there is no memory for ${bytes.length} bytes of input`);
    new Uint8Array(this.#wasm.memory.buffer, at, bytes.length).set(bytes);
  }

  /**
   * Calls an export that returns 1, or 0 with a message in the first slot.
   * @param {string} name
   * @param {...number} values
   */
  #call(name, ...values) {
    if (this.#guard(() => this.#wasm[name](...values)) === 0) throw new Error(decoder.decode(this.#bytes(0)));
  }

  /**
   * Calls an export that returns a number, or NaN with a message in the first slot.
   * @param {string} name
   * @param {...number} values
   * @returns {number}
   */
  #number(name, ...values) {
    const value = this.#guard(() => this.#wasm[name](...values));
    if (Number.isNaN(value)) throw new Error(decoder.decode(this.#bytes(0)));
    return value;
  }

  /**
   * Turns a trap into an error with the module's message; the simulation cannot be used after it.
   * @template T
   * @param {() => T} act
   * @returns {T}
   */
  #guard(act) {
    if (this.#failure) throw new Error(this.#failure);
    try {
      return act();
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error;
      const { memory, sessile_panic, sessile_panic_length } = this.#wasm;
      const text = decoder.decode(new Uint8Array(memory.buffer, sessile_panic() >>> 0, sessile_panic_length()));
      // Every panic has a message; without one, an allocation failed, or the stack is full.
      const room = `it needs more memory than the ${Math.round(memory.buffer.byteLength / 2 ** 20)} MB that it has`;
      this.#failure = `the simulation failed: ${text || (error instanceof RangeError ? error.message : room)}`;
      throw new Error(this.#failure);
    }
  }

  /** @param {number} slot */
  #bytes(slot) {
    return new Uint8Array(this.#wasm.memory.buffer, ...this.#place(slot)).slice();
  }

  /** @param {number} slot */
  #floats(slot) {
    return new Float32Array(this.#wasm.memory.buffer, ...this.#place(slot)).slice();
  }

  /** @param {number} slot */
  #indices(slot) {
    return new Uint32Array(this.#wasm.memory.buffer, ...this.#place(slot)).slice();
  }

  /** @param {number} slot @returns {[number, number]} */
  #place(slot) {
    return [this.#wasm.sessile_slot(slot) >>> 0, this.#wasm.sessile_slot_length(slot)];
  }
}

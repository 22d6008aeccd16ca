// A simulation in a Web Worker, so that the page never waits. Types: worker.d.ts.
// @ts-check

/** Methods of `Sessile` that the worker answers; `time` comes with every view. */
const METHODS = [
  "step", "view", "add", "take", "wipe", "gravity", "wind", "sources", "material", "move", "balance", "save", "restore",
  "digest", "describe", "notices", "mesh", "wetness", "picture", "rain", "place", "unplace", "shed", "moment",
];

export class SessileWorker {
  /** @type {Worker} */ #worker;
  /** @type {Map<number, {resolve: (value: any) => void, reject: (error: Error) => void}>} */ #waiting = new Map();
  #next = 0;

  /** @param {Worker} worker */
  constructor(worker) {
    this.#worker = worker;
    worker.onmessage = ({ data: { id, value, error } }) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(value);
      else waiting?.reject(new Error(error));
    };
    worker.onerror = (event) => {
      this.#waiting.forEach(({ reject }) => reject(new Error(event.message || "the worker could not be started")));
      this.#waiting.clear();
    };
    for (const method of METHODS) {
      /** @type {any} */ (this)[method] = (/** @type {any[]} */ ...values) => this.#ask(method, values);
    }
  }

  /**
   * @param {string} toml
   * @param {import("./sessile.js").LoadOptions} [options]
   * @returns {Promise<any>}
   */
  static async load(toml, options = {}) {
    const worker = new Worker(new URL("./worker-thread.js", import.meta.url), { type: "module" });
    const simulation = new SessileWorker(worker);
    const wasm = options.wasm instanceof URL ? options.wasm.href : options.wasm;
    await simulation.#ask("load", [toml, { ...options, wasm }]);
    return simulation;
  }

  close() {
    this.#worker.terminate();
    this.#waiting.forEach(({ reject }) => reject(new Error("the simulation is closed")));
    this.#waiting.clear();
  }

  /** @param {string} method @param {any[]} values */
  #ask(method, values) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, method, values });
    });
  }
}

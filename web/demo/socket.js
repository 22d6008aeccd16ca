// The demo's engine: a worker in place of the studio's connection to the program, and the phone as a level.
// Loaded before the page's modules, which open a `WebSocket` and find the worker behind it.
// @ts-check
"use strict";

(() => {
  /** The open engines. @type {Set<Worker>} */
  const engines = new Set();

  class Engine {
    constructor() {
      this.binaryType = "arraybuffer";
      /** @type {((event: object) => void) | null} */ this.onopen = null;
      /** @type {((event: {data: any}) => void) | null} */ this.onmessage = null;
      /** @type {((event: object) => void) | null} */ this.onclose = null;
      this.worker = new Worker("./engine.js", { type: "module" });
      this.worker.onmessage = ({ data }) => {
        if (data === "open") this.onopen?.({});
        else this.onmessage?.({ data });
      };
      this.worker.onerror = () => this.close();
      engines.add(this.worker);
    }

    /** @param {string} text */
    send(text) {
      this.worker.postMessage(text);
    }

    close() {
      this.worker.terminate();
      engines.delete(this.worker);
      this.onclose?.({});
    }
  }
  Object.assign(globalThis, { WebSocket: Engine });

  const RADIAN = Math.PI / 180;
  /** Gravity in the axes of the screen: x to the right, y up, z to the viewer. @param {DeviceOrientationEvent} event */
  function gravity(event) {
    const [beta, gamma] = [(event.beta ?? 0) * RADIAN, (event.gamma ?? 0) * RADIAN];
    const [x, y] = [Math.cos(beta) * Math.sin(gamma), -Math.sin(beta)];
    const turn = (screen.orientation?.angle ?? 0) * RADIAN;
    const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
    return [cos * x + sin * y, cos * y - sin * x, -Math.cos(beta) * Math.cos(gamma)].map((value) => 9.81 * value);
  }

  let last = [0, 0, 0];
  addEventListener("deviceorientation", (event) => {
    // A computer without sensors sends one event without values.
    if (event.beta === null || event.gamma === null) return;
    const vector = gravity(event);
    if (Math.hypot(...vector.map((value, k) => value - last[k])) < 0.1) return;
    last = vector;
    engines.forEach((engine) => engine.postMessage(JSON.stringify({ ask: "input", input: { do: "gravity", vector } })));
  });
  // Some phones ask first, and only after a touch.
  const ask = /** @type {any} */ (globalThis).DeviceOrientationEvent?.requestPermission;
  if (ask) addEventListener("pointerup", () => ask.call(DeviceOrientationEvent).catch(() => {}), { once: true });
})();

// The worker's side of worker.js: one simulation, one call after the other.
// @ts-check
import { Sessile } from "./sessile.js";

const thread = /** @type {any} */ (globalThis);
/** @type {any} */
let simulation;
let turn = Promise.resolve();

/** The buffers of a result, which are handed over rather than copied. @param {any} value @returns {ArrayBuffer[]} */
function buffers(value) {
  if (ArrayBuffer.isView(value)) return [/** @type {ArrayBuffer} */ (value.buffer)];
  return value && typeof value === "object" ? Object.values(value).flatMap(buffers) : [];
}

/** @param {{id: number, method: string, values: any[]}} call */
async function answer({ id, method, values }) {
  try {
    if (method === "load") simulation = await Sessile.load(values[0], values[1]);
    const value = method === "load" ? undefined : simulation[method](...values);
    thread.postMessage({ id, value }, [...new Set(buffers(value))]);
  } catch (error) {
    thread.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

thread.onmessage = (/** @type {MessageEvent} */ event) => {
  turn = turn.then(() => answer(event.data));
};

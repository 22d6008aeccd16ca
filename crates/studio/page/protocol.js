// Messages from the engine; `crates/studio/src/protocol.rs` is the other side.
// @ts-check

/** Numbers per drop. */
export const STRIDE = 20;

/**
 * The liquid at one moment.
 * @typedef {object} View
 * @property {boolean} playing
 * @property {boolean} isTwin whether it is of the model beside
 * @property {number} time
 * @property {number} speed simulated over real time
 * @property {number} generation
 * @property {number[]} gravity
 * @property {number} bead
 * @property {number} cost
 * @property {number} rain
 * @property {number} undo
 * @property {number} ticks
 * @property {Float32Array} poses twelve numbers per solid
 * @property {Float32Array} drops
 * @property {Uint32Array} ids
 * @property {Float32Array} positions
 * @property {Float32Array} normals
 * @property {Uint32Array} vertexDrops
 * @property {Uint32Array} triangles
 * @property {Int32Array} triangleSolids
 * @property {number} arrived when it arrived, in ms
 */

/** @param {ArrayBuffer} buffer @returns {View} */
function readView(buffer) {
  const data = new DataView(buffer);
  const u32 = (/** @type {number} */ at) => data.getUint32(at, true);
  const f32 = (/** @type {number} */ at) => data.getFloat32(at, true);
  const [drops, vertices, triangles, solids, stride, generation] = [24, 28, 32, 36, 40, 44].map(u32);
  let at = 80;
  const take = (/** @type {any} */ type, /** @type {number} */ count) => {
    const array = new type(buffer, at, count);
    at += 4 * count;
    return array;
  };
  return {
    playing: (u32(4) & 1) !== 0,
    isTwin: (u32(4) & 2) !== 0,
    time: data.getFloat64(8, true),
    speed: data.getFloat64(16, true),
    generation,
    gravity: [f32(48), f32(52), f32(56)],
    bead: f32(60),
    cost: f32(64),
    rain: f32(68),
    undo: u32(72),
    ticks: u32(76),
    poses: take(Float32Array, 12 * solids),
    drops: take(Float32Array, stride * drops),
    ids: take(Uint32Array, drops),
    positions: take(Float32Array, 3 * vertices),
    normals: take(Float32Array, 3 * vertices),
    vertexDrops: take(Uint32Array, vertices),
    triangles: take(Uint32Array, 3 * triangles),
    triangleSolids: take(Int32Array, triangles),
    arrived: performance.now(),
  };
}

/**
 * Reads a binary message.
 * @param {ArrayBuffer} buffer
 * @returns {{kind: "view", view: View}
 *   | {kind: "mesh", solid: number, run: number, triangles: number, corners: Float32Array}
 *   | {kind: "picture", what: string, solid: number, run: number, width: number, height: number, texels: any}
 *   | {kind: "wet", solid: number, run: number, width: number, height: number, row: number, rows: number, pixels: Uint8Array}
 *   | null}
 */
export function readBinary(buffer) {
  const head = new Uint32Array(buffer, 0, Math.min(6, buffer.byteLength >> 2));
  switch (head[0]) {
    case 1:
      return { kind: "view", view: readView(buffer) };
    case 2:
      return { kind: "mesh", solid: head[1], run: head[3], triangles: head[2], corners: new Float32Array(buffer, 16, head[2] * 24) };
    case 3:
      return {
        kind: "wet", solid: head[1] & 0xffff, run: head[1] >>> 16, width: head[2], height: head[3], row: head[4], rows: head[5],
        pixels: new Uint8Array(buffer, 24),
      };
    case 4: {
      const what = ["texture", "environment", "backdrop", "relief"][head[1]];
      const texels = what === "environment" ? new Uint16Array(buffer, 24) : new Uint8Array(buffer, 24);
      return { kind: "picture", what, solid: head[2], run: head[3], width: head[4], height: head[5], texels };
    }
    default:
      return null;
  }
}

/** The connection to the engine; it opens again by itself. */
export class Connection {
  /**
   * @param {(buffer: ArrayBuffer) => void} onBinary
   * @param {(message: any) => void} onText
   * @param {(open: boolean) => void} onState
   */
  constructor(onBinary, onText, onState) {
    this.handlers = { onBinary, onText, onState };
    this.open = false;
    this.delay = 250;
    this.connect();
  }

  connect() {
    const token = new URLSearchParams(location.search).get("token") ?? "";
    const socket = new WebSocket(`ws://${location.host}/socket?token=${encodeURIComponent(token)}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.open = true;
      this.delay = 250;
      this.handlers.onState(true);
    };
    socket.onmessage = (event) => {
      if (event.data instanceof ArrayBuffer) this.handlers.onBinary(event.data);
      else this.handlers.onText(JSON.parse(event.data));
    };
    socket.onclose = () => {
      this.open = false;
      this.handlers.onState(false);
      setTimeout(() => this.connect(), this.delay);
      this.delay = Math.min(5000, this.delay * 2);
    };
    this.socket = socket;
  }

  /** @param {object} message */
  send(message) {
    if (this.open && this.socket) this.socket.send(JSON.stringify(message));
  }

  /** A change of the session. @param {object} input */
  input(input) {
    this.send({ ask: "input", input });
  }
}

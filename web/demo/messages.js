// The binary messages of the studio's protocol; `crates/studio/src/protocol.rs` writes the same.
// @ts-check

const [VIEW, MESH, WET] = [1, 2, 3];
/** Sharper edges than this (cosine) stay sharp. */
const SMOOTH = 0.7;

/**
 * The present liquid and poses: a header of 80 bytes, then the arrays.
 * @param {import("./sessile.js").View} view
 * @param {{playing: boolean, speed: number, generation: number, gravity: number[], bead: number, cost: number, undo: number, ticks: number, rain: number, twin?: boolean}} state
 */
export function viewMessage({ time, drops, ids, surface, poses }, state) {
  const { positions, normals, vertexDrops, triangles, triangleSolids } = surface;
  const arrays = [poses, drops, ids, positions, normals, vertexDrops, triangles, triangleSolids];
  const buffer = new ArrayBuffer(80 + arrays.reduce((sum, array) => sum + array.byteLength, 0));
  const data = new DataView(buffer);
  [VIEW, (state.playing ? 1 : 0) | (state.twin ? 2 : 0)].forEach((value, k) => data.setUint32(4 * k, value, true));
  data.setFloat64(8, time, true);
  data.setFloat64(16, state.speed, true);
  const counts = [ids.length, positions.length / 3, triangles.length / 3, poses.length / 12, 20, state.generation];
  counts.forEach((value, k) => data.setUint32(24 + 4 * k, value, true));
  [...state.gravity, state.bead, state.cost, state.rain].forEach((value, k) => data.setFloat32(48 + 4 * k, value, true));
  [state.undo, state.ticks].forEach((value, k) => data.setUint32(72 + 4 * k, value, true));
  let at = 80;
  for (const array of arrays) {
    new Uint8Array(buffer, at, array.byteLength).set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    at += array.byteLength;
  }
  return buffer;
}

/** @param {Float32Array} p @param {number} a @param {number} b @param {number} c */
function faceNormal(p, a, b, c) {
  const [u, v] = [b, c].map((corner) => [0, 1, 2].map((k) => p[3 * corner + k] - p[3 * a + k]));
  return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
}

/** @param {number[]} v */
function unit(v) {
  const length = Math.hypot(...v);
  return length > 0 ? v.map((value) => value / length) : v;
}

/**
 * The mesh of a solid: position, normal and texture coordinates of each corner.
 * @param {number} solid
 * @param {import("./sessile.js").Mesh} mesh
 */
export function meshMessage(solid, { positions, uvs, triangles }) {
  const count = triangles.length / 3;
  const sums = new Float32Array(positions.length);
  const faces = Array.from({ length: count }, (_, t) => {
    const corners = triangles.subarray(3 * t, 3 * t + 3);
    const normal = faceNormal(positions, corners[0], corners[1], corners[2]);
    corners.forEach((vertex) => normal.forEach((value, k) => { sums[3 * vertex + k] += value; }));
    return unit(normal);
  });
  const buffer = new ArrayBuffer(16 + 96 * count);
  new Uint32Array(buffer, 0, 4).set([MESH, solid, count, 0]);
  const corners = new Float32Array(buffer, 16);
  triangles.forEach((vertex, corner) => {
    const flat = faces[Math.floor(corner / 3)];
    const smooth = unit(Array.from(sums.subarray(3 * vertex, 3 * vertex + 3)));
    const normal = flat.reduce((sum, value, k) => sum + value * smooth[k], 0) > SMOOTH ? smooth : flat;
    const uv = uvs.length > 0 ? uvs.subarray(2 * corner, 2 * corner + 2) : [0, 0];
    corners.set([...positions.subarray(3 * vertex, 3 * vertex + 3), ...normal, ...uv], 8 * corner);
  });
  return buffer;
}

/**
 * The wetness of a solid.
 * @param {number} solid
 * @param {import("./sessile.js").Wetness} map
 */
export function wetMessage(solid, { width, height, texels }) {
  const buffer = new ArrayBuffer(24 + texels.length);
  new Uint32Array(buffer, 0, 6).set([WET, solid, width, height, 0, height]);
  new Uint8Array(buffer, 24).set(texels);
  return buffer;
}

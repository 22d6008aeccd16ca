// Vectors of three numbers and column-major 4 × 4 matrices.
// @ts-check

/** @typedef {[number, number, number]} Vec3 */

/** @type {(a: Vec3, b: Vec3) => Vec3} */
export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
/** @type {(a: Vec3, b: Vec3) => Vec3} */
export const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
/** @type {(a: Vec3, s: number) => Vec3} */
export const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
/** @type {(a: Vec3, b: Vec3) => number} */
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
/** @type {(a: Vec3, b: Vec3) => Vec3} */
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
/** @type {(a: Vec3) => number} */
export const length = (a) => Math.hypot(a[0], a[1], a[2]);
/** @type {(a: Vec3) => Vec3} */
export function normalize(a) {
  const l = length(a);
  return l > 0 ? scale(a, 1 / l) : [0, 0, 0];
}

/**
 * A perspective projection.
 * @param {number} fov vertical angle, in rad
 * @param {number} aspect
 * @param {number} near
 * @param {number} far
 */
export function perspective(fov, aspect, near, far) {
  const f = 1 / Math.tan(fov / 2);
  return new Float32Array([
    f / aspect, 0, 0, 0, 0, f, 0, 0,
    0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0,
  ]);
}

/** @type {(eye: Vec3, right: Vec3, up: Vec3, forward: Vec3) => Float32Array} */
export function viewMatrix(eye, right, up, forward) {
  return new Float32Array([
    right[0], up[0], -forward[0], 0, right[1], up[1], -forward[1], 0, right[2], up[2], -forward[2], 0,
    -dot(right, eye), -dot(up, eye), dot(forward, eye), 1,
  ]);
}

/** @type {(a: Float32Array, b: Float32Array) => Float32Array} */
export function multiply(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++) {
    for (let r = 0; r < 4; r++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[k * 4 + r] * b[c * 4 + k];
      out[c * 4 + r] = sum;
    }
  }
  return out;
}

/**
 * A pose of twelve numbers (three columns and a translation) as a matrix.
 * @param {Float32Array} p
 */
export function poseMatrix(p) {
  return new Float32Array([p[0], p[1], p[2], 0, p[3], p[4], p[5], 0, p[6], p[7], p[8], 0, p[9], p[10], p[11], 1]);
}

/** @type {(m: Float32Array, p: Vec3) => Vec3} */
export function transform(m, p) {
  return [
    m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12],
    m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13],
    m[2] * p[0] + m[6] * p[1] + m[10] * p[2] + m[14],
  ];
}

/** Projection to the screen: x and y in pixels of CSS, and w. */
/** @type {(m: Float32Array, p: Vec3, width: number, height: number) => [number, number, number]} */
export function project(m, p, width, height) {
  const w = m[3] * p[0] + m[7] * p[1] + m[11] * p[2] + m[15];
  const x = (m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12]) / w;
  const y = (m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13]) / w;
  return [(0.5 + 0.5 * x) * width, (0.5 - 0.5 * y) * height, w];
}

// Light at and around the base of a drop, for parallel light of 9 directions and 5 contact angles, made once.
// @ts-check

const SIDE = 64;
const TILTS = 9;
/** Contact angles, in degrees. */
const ANGLES = [20, 50, 80, 110, 140];
const LAYERS = TILTS * ANGLES.length;
/** Half width of the table, in base radii. */
const SPAN = 2.5;
const RAYS = 200;

/**
 * Sends parallel rays through a spherical cap and counts where they meet the base plane. The light
 * lies over +x; layer 9 a + k is that of contact angle a, with light 85° k/8 off the normal. A value of 85 is the light without a drop.
 * @param {number} index refractive index
 */
export function makeLight(index) {
  const data = new Uint8Array(SIDE * SIDE * LAYERS);
  for (let layer = 0; layer < LAYERS; layer++) {
    // Height over base radius.
    const height = Math.tan((ANGLES[Math.floor(layer / TILTS)] * Math.PI) / 360);
    const sphere = (1 + height * height) / (2 * height);
    const middle = height - sphere;
    const tilt = ((layer % TILTS) / (TILTS - 1)) * 1.4835;
    const [sin, cos] = [Math.sin(tilt), Math.cos(tilt)];
    const counts = new Float32Array(SIDE * SIDE);
    const step = (2 * SPAN * 1.2) / RAYS;
    for (let i = 0; i < RAYS; i++) {
      for (let j = 0; j < RAYS; j++) {
        // Where the ray would meet the plane without a drop.
        const x = -SPAN * 1.2 + (i + 0.5) * step;
        const y = -SPAN * 1.2 + (j + 0.5) * step;
        const hit = trace(x, y, sin, cos, sphere, middle, index);
        if (!hit) continue;
        const u = ((hit[0] / SPAN) * 0.5 + 0.5) * SIDE - 0.5;
        const v = ((hit[1] / SPAN) * 0.5 + 0.5) * SIDE - 0.5;
        splat(counts, u, v, hit[2]);
      }
    }
    const perTexel = ((2 * SPAN) / SIDE / step) ** 2;
    for (let k = 0; k < SIDE * SIDE; k++) {
      data[layer * SIDE * SIDE + k] = Math.min(255, Math.round((85 * counts[k]) / perTexel));
    }
  }
  return { side: SIDE, layers: LAYERS, data };
}

/** @param {Float32Array} counts @param {number} u @param {number} v @param {number} weight */
function splat(counts, u, v, weight) {
  const [i, j] = [Math.floor(u), Math.floor(v)];
  const [fu, fv] = [u - i, v - j];
  for (const [di, dj, share] of [[0, 0, (1 - fu) * (1 - fv)], [1, 0, fu * (1 - fv)], [0, 1, (1 - fu) * fv], [1, 1, fu * fv]]) {
    const [a, b] = [i + di, j + dj];
    if (a >= 0 && b >= 0 && a < SIDE && b < SIDE) counts[b * SIDE + a] += share * weight;
  }
}

/**
 * Where a ray meets the plane, and its weight; null if it is lost.
 * @returns {[number, number, number] | null}
 */
/** @param {number} x @param {number} y @param {number} sin @param {number} cos @param {number} sphere @param {number} middle @param {number} index */
function trace(x, y, sin, cos, sphere, middle, index) {
  const d = [-sin, 0, -cos];
  // Back along the ray to the sphere around (0, 0, middle).
  const [ox, oy, oz] = [x, y, -middle];
  const b = ox * -d[0] + oz * -d[2];
  const c = ox * ox + oy * oy + oz * oz - sphere * sphere;
  const root = b * b - c;
  if (root <= 0) return [x, y, 1];
  const t = -b + Math.sqrt(root);
  const p = [x - d[0] * t, y, -d[2] * t];
  if (t <= 0 || p[2] <= 0) return x * x + y * y < 1 ? null : [x, y, 1];
  const n = [p[0] / sphere, p[1] / sphere, (p[2] - middle) / sphere];
  const cosine = -(d[0] * n[0] + d[2] * n[2]);
  if (cosine <= 0) return [x, y, 1];
  const ratio = 1 / index;
  const inner = Math.sqrt(1 - ratio * ratio * (1 - cosine * cosine));
  const r = [0, 1, 2].map((k) => ratio * d[k] + (ratio * cosine - inner) * n[k]);
  if (r[2] >= 0) return null;
  const reach = p[2] / -r[2];
  const at = [p[0] + r[0] * reach, p[1] + r[1] * reach];
  const f0 = ((index - 1) / (index + 1)) ** 2;
  const weight = 1 - (f0 + (1 - f0) * (1 - cosine) ** 5);
  // Light that leaves through the far side makes the bright spot in the shadow.
  return [at[0], at[1], weight];
}

// What is drawn over the picture: ids, velocities, the selected drop, the tool.
// @ts-check

import { STRIDE } from "./protocol.js";
import { add, project, scale } from "./vectors.js";

/** @typedef {import("./vectors.js").Vec3} Vec3 */

const MAX_LABELS = 400;

export class Overlay {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.show = { ids: false, velocities: false };
    /** @type {number | null} */
    this.selected = null;
    /** @type {Vec3[]} */
    this.tool = [];
    /** Sources that were placed by hand. @type {{id: number, kind: string, at: Vec3}[]} */
    this.markers = [];
  }

  /**
   * @param {import("./protocol.js").View} view
   * @param {import("./camera.js").Camera} camera
   */
  draw(view, camera) {
    const { canvas, context } = this;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const { viewProjection, right } = camera.matrices();
    const at = (/** @type {Vec3} */ p) => project(viewProjection, p, width, height);
    const drops = this.places(view);
    if (this.show.velocities) this.velocities(drops, at);
    if (this.show.ids) this.ids(drops, at);
    const selected = drops.find((drop) => drop.id === this.selected);
    if (selected) {
      const [x, y] = at(selected.place);
      const [rx, ry] = at(add(selected.place, scale(right, selected.radius)));
      context.strokeStyle = "#ffb020";
      context.lineWidth = 2.5;
      context.beginPath();
      context.arc(x, y, Math.hypot(rx - x, ry - y) * 1.15 + 4, 0, 7);
      context.stroke();
    }
    this.markers.forEach((marker) => this.marker(marker, at));
    if (this.tool.length > 0) {
      context.strokeStyle = "#ffffffd0";
      context.lineWidth = 3;
      context.beginPath();
      this.tool.forEach((p, k) => {
        const [x, y] = at(p);
        if (k === 0) context.moveTo(x, y);
        else context.lineTo(x, y);
      });
      context.stroke();
    }
  }

  /** A ring with the first letter of the source's kind. */
  /** @param {{kind: string, at: Vec3}} marker @param {(p: Vec3) => [number, number, number]} at */
  marker(marker, at) {
    const { context } = this;
    const [x, y] = at(marker.at);
    context.beginPath();
    context.arc(x, y, 10, 0, 7);
    context.fillStyle = "#1769aacc";
    context.fill();
    context.strokeStyle = "#fff";
    context.lineWidth = 2;
    context.stroke();
    context.font = "bold 12px system-ui, sans-serif";
    context.textAlign = "center";
    context.fillStyle = "#fff";
    context.fillText(marker.kind[0].toUpperCase(), x, y + 4);
  }

  /**
   * Place, radius and velocity of each drop; of surfaces the mean of their vertices.
   * @param {import("./protocol.js").View} view
   */
  places(view) {
    /** @type {{id: number, place: Vec3, radius: number, velocity: Vec3}[]} */
    const found = [];
    const d = view.drops;
    view.ids.forEach((id, k) => {
      const o = k * STRIDE;
      found.push({ id, place: [d[o], d[o + 1], d[o + 2]], radius: d[o + 9], velocity: [d[o + 13], d[o + 14], d[o + 15]] });
    });
    if (view.positions.length > 0) {
      /** @type {Map<number, {sum: Vec3, count: number, low: Vec3, high: Vec3}>} */
      const sums = new Map();
      view.vertexDrops.forEach((id, v) => {
        /** @type {Vec3} */
        const p = [view.positions[3 * v], view.positions[3 * v + 1], view.positions[3 * v + 2]];
        const own = sums.get(id) ?? { sum: [0, 0, 0], count: 0, low: [...p], high: [...p] };
        for (let k = 0; k < 3; k++) {
          own.sum[k] += p[k];
          own.low[k] = Math.min(own.low[k], p[k]);
          own.high[k] = Math.max(own.high[k], p[k]);
        }
        own.count += 1;
        sums.set(id, own);
      });
      for (const [id, { sum, count, low, high }] of sums) {
        const radius = 0.5 * Math.max(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
        found.push({ id, place: scale(sum, 1 / count), radius, velocity: [0, 0, 0] });
      }
    }
    return found;
  }

  /** @param {ReturnType<Overlay["places"]>} drops @param {(p: Vec3) => [number, number, number]} at */
  velocities(drops, at) {
    const { context } = this;
    context.strokeStyle = "#ff5533";
    context.lineWidth = 1.5;
    context.beginPath();
    for (const drop of drops) {
      if (Math.hypot(...drop.velocity) < 1e-4) continue;
      const [x, y] = at(drop.place);
      // The way of 50 ms.
      const [tx, ty] = at(add(drop.place, scale(drop.velocity, 0.05)));
      context.moveTo(x, y);
      context.lineTo(tx, ty);
      const angle = Math.atan2(ty - y, tx - x);
      for (const turn of [2.6, -2.6]) {
        context.moveTo(tx, ty);
        context.lineTo(tx + 6 * Math.cos(angle + turn), ty + 6 * Math.sin(angle + turn));
      }
    }
    context.stroke();
  }

  /** @param {ReturnType<Overlay["places"]>} drops @param {(p: Vec3) => [number, number, number]} at */
  ids(drops, at) {
    const { context } = this;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    context.lineWidth = 3;
    const largest = drops.length > MAX_LABELS ? [...drops].sort((a, b) => b.radius - a.radius).slice(0, MAX_LABELS) : drops;
    for (const drop of largest) {
      const [x, y] = at(drop.place);
      context.strokeStyle = "#000a";
      context.strokeText(String(drop.id), x, y + 4);
      context.fillStyle = "#fff";
      context.fillText(String(drop.id), x, y + 4);
    }
  }
}

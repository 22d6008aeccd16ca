// The camera: it turns around a target.
// @ts-check

import { add, cross, length, multiply, normalize, perspective, scale, sub, viewMatrix } from "./vectors.js";

/** @typedef {import("./vectors.js").Vec3} Vec3 */

const FOV = (32 * Math.PI) / 180;

export class Camera {
  constructor() {
    /** @type {Vec3} */
    this.target = [0, 0, 0];
    this.distance = 0.2;
    this.yaw = 0;
    this.pitch = 0.2;
    this.aspect = 1.6;
    /** Vertical angle, in rad. */
    this.fov = FOV;
    this.size = 0.1;
  }

  /**
   * Frames the solids of a scene.
   * @param {any} scene
   */
  frame(scene) {
    this.fov = FOV;
    /** @type {Vec3} */
    const low = [Infinity, Infinity, Infinity];
    /** @type {Vec3} */
    const high = [-Infinity, -Infinity, -Infinity];
    const plane = scene.solids.find((/** @type {any} */ solid) => solid.plane);
    const shown = scene.solids.length > 1 && plane
      ? scene.solids.filter((/** @type {any} */ solid) => solid.plane ? solid.plane.size[0] < 0.5 : true) : scene.solids;
    for (const solid of shown.length ? shown : scene.solids) {
      for (let k = 0; k < 3; k++) {
        low[k] = Math.min(low[k], solid.low[k]);
        high[k] = Math.max(high[k], solid.high[k]);
      }
    }
    if (!isFinite(low[0])) {
      low.fill(-0.02);
      high.fill(0.02);
    }
    if (scene.camera) {
      this.like(scene.camera, Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]));
      return;
    }
    this.target = scale(add(low, high), 0.5);
    const extent = Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
    this.size = extent;
    this.distance = (0.62 * extent) / Math.tan(FOV / 2) / Math.min(1.6, Math.max(1, this.aspect));
    [this.yaw, this.pitch] = [0.45, 0.5];
    if (plane) {
      const [x, y, z] = plane.plane.normal;
      if (Math.abs(y) < 0.8) {
        // A window: from the front, close enough that it fills the view.
        this.yaw = Math.atan2(x, z) + 0.06;
        this.pitch = Math.asin(Math.max(-1, Math.min(1, y))) + 0.03;
        const [width, height] = plane.plane.size;
        const fit = Math.min(height, width / this.aspect);
        this.distance = (0.44 * fit) / Math.tan(FOV / 2);
      } else {
        this.pitch = 0.62;
        this.distance *= 0.72;
        this.yaw = 0.25;
      }
    }
  }

  /** The scene's own camera. @param {{eye: Vec3, look_at: Vec3, fov: number}} camera @param {number} size of what it sees */
  like({ eye, look_at, fov }, size) {
    const back = sub(eye, look_at);
    const distance = length(back);
    [this.target, this.distance, this.fov, this.size] = [look_at, distance, fov, size];
    this.yaw = Math.atan2(back[0], back[2]);
    this.pitch = Math.asin(back[1] / distance);
  }

  /** @returns {{eye: Vec3, right: Vec3, up: Vec3, forward: Vec3}} */
  axes() {
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    /** @type {Vec3} */
    const back = [sy * cp, sp, cy * cp];
    const forward = scale(back, -1);
    /** @type {Vec3} */
    const right = [cy, 0, -sy];
    const up = cross(right, forward);
    return { eye: add(this.target, scale(back, this.distance)), right, up: normalize(up), forward };
  }

  matrices() {
    const { eye, right, up, forward } = this.axes();
    const near = Math.max(this.distance * 0.02, 1e-4);
    const projection = perspective(this.fov, this.aspect, near, this.distance * 20 + this.size * 10);
    return { eye, right, up, forward, viewProjection: multiply(projection, viewMatrix(eye, right, up, forward)) };
  }

  /** Turns by angles in rad. @param {number} yaw @param {number} pitch */
  turn(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = Math.max(-1.55, Math.min(1.55, this.pitch + pitch));
  }

  /** Moves across the view by shares of its height. @param {number} x @param {number} y */
  pan(x, y) {
    const { right, up } = this.axes();
    const span = 2 * this.distance * Math.tan(this.fov / 2);
    this.target = add(this.target, add(scale(right, -x * span), scale(up, y * span)));
  }

  /** @param {number} factor */
  zoom(factor) {
    this.distance = Math.max(0.02 * this.size, Math.min(8 * this.size, this.distance * factor));
  }

  /**
   * The ray through a point of the view, both from −1 to 1.
   * @param {number} x
   * @param {number} y
   * @returns {{origin: Vec3, direction: Vec3}}
   */
  ray(x, y) {
    const { eye, right, up, forward } = this.axes();
    const t = Math.tan(this.fov / 2);
    const direction = normalize(add(forward, add(scale(right, x * t * this.aspect), scale(up, y * t))));
    return { origin: eye, direction };
  }
}

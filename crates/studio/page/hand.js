// The hand: pointers and touches become strokes, drops, moved solids and camera motions.
// @ts-check

import { add, cross, dot, length, normalize, poseMatrix, project, scale, sub, transform } from "./vectors.js";

/** @typedef {import("./vectors.js").Vec3} Vec3 */
/** @typedef {{solid: number, point: Vec3, normal: Vec3, distance: number}} Hit */

export const TOOLS = [
  { name: "look", label: "Look", help: "Drag to turn the view, with Shift to move it; the wheel zooms." },
  { name: "finger", label: "Finger", help: "Drag over a solid to wipe it; what the finger cannot hold runs off." },
  { name: "blade", label: "Blade", help: "Drag a wiper blade across; lifted, it leaves its bead." },
  { name: "add", label: "Add", help: "Click to add a drop of 8 µL, hold to feed it." },
  { name: "drag", label: "Drag solid", help: "Drag a solid through the drops." },
  { name: "select", label: "Select", help: "Click a drop to see its volume, angles, speed and age." },
  { name: "source", label: "Source", help: "Click to place the source that is chosen in the settings; click its marker to remove it." },
];

const FINGER = 0.007;
const BLADE = 0.035;
const DROP = 8e-9;
const FEED = 3e-9;
/** Distance on the page within which a click hits a marker, in pixels. */
const MARKER = 14;

export class Hand {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {import("./camera.js").Camera} camera
   * @param {import("./renderer.js").Renderer} renderer
   * @param {import("./overlay.js").Overlay} overlay
   * @param {import("./protocol.js").Connection} engine
   * @param {{view: () => import("./protocol.js").View | null, select: (id: number | null) => void, used: () => void, source: (hit: Hit) => object}} studio
   */
  constructor(canvas, camera, renderer, overlay, engine, studio) {
    Object.assign(this, { canvas, camera, renderer, overlay, engine, studio });
    this.canvas = canvas;
    this.camera = camera;
    this.renderer = renderer;
    this.overlay = overlay;
    this.engine = engine;
    this.studio = studio;
    this.tool = "finger";
    /** @type {Map<number, {x: number, y: number}>} */
    this.touches = new Map();
    /** @type {any} */
    this.gesture = null;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, (event) => this.up(/** @type {PointerEvent} */ (event)));
    }
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      camera.zoom(Math.exp(event.deltaY * 0.0012));
    }, { passive: false });
  }

  /** The ray of a point on the page. @param {number} x @param {number} y */
  ray(x, y) {
    const box = this.canvas.getBoundingClientRect();
    return this.camera.ray(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
  }

  /** The nearest solid on a ray. @param {{origin: Vec3, direction: Vec3}} ray @returns {Hit | null} */
  pick(ray) {
    const view = this.studio.view();
    if (!view) return null;
    /** @type {Hit | null} */
    let best = null;
    this.renderer.solids.forEach((solid, index) => {
      const corners = solid.corners;
      if (!corners) return;
      const pose = poseMatrix(view.poses.subarray(12 * index, 12 * index + 12));
      const at = (/** @type {number} */ k) => transform(pose, [corners[8 * k], corners[8 * k + 1], corners[8 * k + 2]]);
      for (let t = 0; t < solid.count; t += 3) {
        const [a, b, c] = [at(t), at(t + 1), at(t + 2)];
        const [e, f] = [sub(b, a), sub(c, a)];
        const p = cross(ray.direction, f);
        const determinant = dot(e, p);
        if (Math.abs(determinant) < 1e-14) continue;
        const s = sub(ray.origin, a);
        const u = dot(s, p) / determinant;
        const q = cross(s, e);
        const v = dot(ray.direction, q) / determinant;
        const distance = dot(f, q) / determinant;
        if (u < 0 || v < 0 || u + v > 1 || distance <= 0 || (best && distance >= best.distance)) continue;
        const normal = normalize(cross(e, f));
        best = { solid: index, point: add(ray.origin, scale(ray.direction, distance)), normal, distance };
      }
    });
    return best;
  }

  /** The drop on a ray. @param {{origin: Vec3, direction: Vec3}} ray @param {import("./protocol.js").View | null} view @returns {number | null} */
  pickDrop(ray, view = this.studio.view()) {
    if (!view) return null;
    let [best, id] = [Infinity, /** @type {number | null} */ (null)];
    for (const drop of this.overlay.places(view)) {
      const offset = sub(drop.place, ray.origin);
      const along = dot(offset, ray.direction);
      const beside = length(sub(offset, scale(ray.direction, along)));
      const share = beside / Math.max(drop.radius, 0.004 * along);
      if (share < 1.1 && share < best) [best, id] = [share, drop.id];
    }
    return id;
  }

  /** The marker of a placed source on a ray. @param {{origin: Vec3, direction: Vec3}} ray @returns {number | null} */
  pickMarker(ray) {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const { viewProjection } = this.camera.matrices();
    const [x, y] = project(viewProjection, add(ray.origin, scale(ray.direction, this.camera.distance)), width, height);
    for (const marker of this.overlay.markers) {
      const [mx, my] = project(viewProjection, marker.at, width, height);
      if (Math.hypot(mx - x, my - y) < MARKER) return marker.id;
    }
    return null;
  }

  fingerRadius() {
    return Math.min(FINGER, 0.06 * this.camera.size);
  }

  /** @param {PointerEvent} event */
  down(event) {
    this.canvas.focus({ preventScroll: true });
    try {
      this.canvas.setPointerCapture(event.pointerId);
    } catch {
      // The pointer is gone already.
    }
    this.touches.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.studio.used();
    if (this.touches.size === 2) {
      this.finish();
      this.gesture = { kind: "pinch" };
      return;
    }
    if (this.touches.size > 2) return;
    const looks = this.tool === "look" || event.button === 1 || event.button === 2;
    if (looks) {
      this.gesture = { kind: event.shiftKey || event.button === 1 ? "pan" : "turn", x: event.clientX, y: event.clientY };
      return;
    }
    this.begin(this.ray(event.clientX, event.clientY), event.timeStamp / 1000);
  }

  /** Begins to use the tool on a ray. @param {{origin: Vec3, direction: Vec3}} ray @param {number} time */
  begin(ray, time) {
    if (this.tool === "select") {
      this.studio.select(this.pickDrop(ray));
      return;
    }
    if (this.tool === "source") {
      const marker = this.pickMarker(ray);
      if (marker !== null) {
        this.engine.input({ do: "unplace", id: marker });
        return;
      }
    }
    const hit = this.pick(ray);
    if (!hit) return;
    if (dot(hit.normal, ray.direction) > 0) hit.normal = scale(hit.normal, -1);
    if (this.tool === "finger" || this.tool === "blade") {
      const plane = { normal: hit.normal, at: dot(hit.normal, hit.point) };
      this.gesture = { kind: "wipe", solid: hit.solid, plane, normal: hit.normal, path: [[...hit.point, time]], begin: true,
        heading: null, last: hit.point, tool: this.tool };
      this.showTool(hit.point, hit.normal);
    } else if (this.tool === "add") {
      this.addDrop(hit, DROP, true);
      const timer = setInterval(() => this.addDrop(hit, FEED, false), 80);
      this.gesture = { kind: "feed", timer };
    } else if (this.tool === "source") {
      this.engine.input({ do: "place", source: this.studio.source(hit) });
    } else if (this.tool === "drag") {
      const view = this.studio.view();
      const window_ = this.renderer.scene?.solids.find((/** @type {any} */ solid, /** @type {number} */ k) => solid.plane && k !== hit.solid);
      const normal = window_ ? window_.plane.normal : scale(this.camera.axes().forward, -1);
      this.gesture = { kind: "drag", solid: hit.solid, plane: { normal, at: dot(normal, hit.point) }, last: hit.point,
        time, begin: true, by: [0, 0, 0], view };
    }
  }

  /** @param {Hit} hit @param {number} volume @param {boolean} begin */
  addDrop(hit, volume, begin) {
    const radius = Math.cbrt((0.75 * volume) / Math.PI);
    const at = add(hit.point, scale(hit.normal, 0.9 * radius));
    this.engine.input({ do: "add", at, volume, begin });
  }

  /** @param {PointerEvent} event */
  move(event) {
    const last = this.touches.get(event.pointerId);
    if (!last) {
      if (this.tool === "finger") this.hover(event);
      return;
    }
    if (this.gesture?.kind === "pinch") {
      this.pinch(event, last);
      return;
    }
    const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
    this.touches.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const gesture = this.gesture;
    if (!gesture) return;
    if (gesture.kind === "turn") this.camera.turn(-dx * 0.006, dy * 0.006);
    else if (gesture.kind === "pan") this.camera.pan(dx / this.canvas.clientHeight, dy / this.canvas.clientHeight);
    else if (gesture.kind === "wipe") this.stroke(event);
    else if (gesture.kind === "drag") this.drag(event);
  }

  /** @param {PointerEvent} event */
  hover(event) {
    const hit = this.renderer.solids.length > 0 && event.pointerType === "mouse" ? this.pick(this.ray(event.clientX, event.clientY)) : null;
    if (hit) this.showTool(hit.point, hit.normal);
    else this.overlay.tool = [];
  }

  /** @param {PointerEvent} event @param {{x: number, y: number}} last */
  pinch(event, last) {
    const other = [...this.touches].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const before = Math.hypot(last.x - other.x, last.y - other.y);
      const after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
      if (before > 10 && after > 10) this.camera.zoom(before / after);
      this.camera.turn(-(event.clientX - last.x) * 0.003, (event.clientY - last.y) * 0.003);
    }
    this.touches.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }

  /** Where a ray meets the plane of a gesture. */
  /** @param {{normal: Vec3, at: number}} plane @param {number} x @param {number} y @returns {Vec3 | null} */
  onPlane(plane, x, y) {
    const ray = this.ray(x, y);
    const sink = dot(ray.direction, plane.normal);
    if (Math.abs(sink) < 1e-3) return null;
    const distance = (plane.at - dot(ray.origin, plane.normal)) / sink;
    return distance > 0 ? add(ray.origin, scale(ray.direction, distance)) : null;
  }

  /** @param {PointerEvent} event */
  stroke(event) {
    const gesture = this.gesture;
    const isPlane = this.renderer.scene?.solids[gesture.solid]?.plane;
    // A fast stroke has no gaps: all points since the last event.
    const events = event.getCoalescedEvents?.() ?? [];
    for (const one of events.length > 0 ? events : [event]) {
      let point = this.onPlane(gesture.plane, one.clientX, one.clientY);
      if (!isPlane) {
        const hit = this.pick(this.ray(one.clientX, one.clientY));
        if (hit && hit.solid === gesture.solid) {
          point = hit.point;
          gesture.normal = hit.normal;
          gesture.plane = { normal: hit.normal, at: dot(hit.normal, hit.point) };
        }
      }
      if (!point) continue;
      const way = sub(point, gesture.last);
      if (length(way) > 1e-4) {
        gesture.heading = normalize(add(scale(gesture.heading ?? normalize(way), 3), normalize(way)));
        gesture.last = point;
      }
      gesture.path.push([...point, one.timeStamp / 1000]);
    }
    this.showTool(gesture.last, gesture.normal);
  }

  /** @param {PointerEvent} event */
  drag(event) {
    const gesture = this.gesture;
    const point = this.onPlane(gesture.plane, event.clientX, event.clientY);
    if (!point) return;
    gesture.by = add(gesture.by, sub(point, gesture.last));
    gesture.last = point;
  }

  /** Sends what has come together since the last picture. */
  flush() {
    const gesture = this.gesture;
    if (gesture?.kind === "wipe" && (gesture.path.length > 1 || gesture.begin)) this.sendStroke(false);
    if (gesture?.kind === "drag" && length(gesture.by) > 0) {
      const now = performance.now() / 1000;
      const duration = Math.min(0.1, Math.max(1 / 60, now - (gesture.sent ?? now)));
      this.engine.input({ do: "move", solid: gesture.solid, by: gesture.by, duration, begin: gesture.begin });
      Object.assign(gesture, { by: [0, 0, 0], begin: false, sent: now });
    }
  }

  /** @param {boolean} end */
  sendStroke(end) {
    const gesture = this.gesture;
    const blade = gesture.tool === "blade";
    let path = gesture.path;
    // At most 200 points per message: a subset that keeps both ends.
    if (path.length > 200) path = path.filter((/** @type {any} */ _, /** @type {number} */ k) => k % Math.ceil(path.length / 200) === 0 || k === path.length - 1);
    const across = normalize(cross(gesture.normal, gesture.heading ?? this.camera.axes().up));
    const reach = Math.min(BLADE, 0.25 * this.camera.size);
    const tool = blade ? { kind: "blade", half: scale(across, reach) } : { kind: "finger", radius: this.fingerRadius() };
    this.engine.input({ do: "wipe", tool, path, normal: gesture.normal, begin: gesture.begin, end });
    gesture.begin = false;
    gesture.path = [gesture.path[gesture.path.length - 1]];
  }

  /** @param {PointerEvent} event */
  up(event) {
    this.touches.delete(event.pointerId);
    if (this.touches.size === 0 || this.gesture?.kind !== "pinch") this.finish();
  }

  finish() {
    const gesture = this.gesture;
    if (gesture?.kind === "wipe") this.sendStroke(true);
    if (gesture?.kind === "feed") clearInterval(gesture.timer);
    if (gesture?.kind === "drag") this.flush();
    this.gesture = null;
    this.overlay.tool = [];
  }

  /** Uses the tool in the middle of the view, for keyboards. */
  useInMiddle() {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const now = performance.now() / 1000;
    this.begin(this.ray(x, y), now);
    const gesture = this.gesture;
    if (gesture?.kind === "wipe") {
      const { right } = this.camera.axes();
      const reach = 0.35 * this.camera.distance * Math.tan(this.camera.fov / 2);
      gesture.heading = right;
      for (let k = 0; k <= 20; k++) gesture.path.push([...add(gesture.last, scale(right, (k / 10 - 1) * reach)), now + k * 0.02]);
      gesture.path.shift();
    }
    setTimeout(() => this.finish(), 60);
  }

  /** Draws the tool where it is at once; the engine follows a picture later. */
  /** @param {Vec3} at @param {Vec3} normal */
  showTool(at, normal) {
    const gesture = this.gesture;
    if (this.tool === "blade" && gesture) {
      const across = normalize(cross(normal, gesture.heading ?? this.camera.axes().up));
      const half = scale(across, Math.min(BLADE, 0.25 * this.camera.size));
      this.overlay.tool = [sub(at, half), add(at, half)];
      return;
    }
    const side = normalize(cross(normal, [0.31, 0.92, 0.22]));
    const other = cross(normal, side);
    const radius = this.fingerRadius();
    this.overlay.tool = Array.from({ length: 33 }, (_, k) => {
      const angle = (k / 32) * 2 * Math.PI;
      return add(at, add(scale(side, radius * Math.cos(angle)), scale(other, radius * Math.sin(angle))));
    });
  }
}

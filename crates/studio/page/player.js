// Runs on a timeline: a slider for frames and plots of the measures.
// @ts-check

import { element } from "./dom.js";

const CURVES = [
  { name: "drops", label: "drops", of: (/** @type {any} */ m) => m.drops, unit: "" },
  { name: "total_volume", label: "volume, µL", of: (/** @type {any} */ m) => m.total_volume * 1e9, unit: "" },
  { name: "contact_angle", label: "largest drop: contact angle, °", of: (/** @type {any} */ m) => m.largest.contact_angle },
  { name: "height", label: "largest drop: height, mm", of: (/** @type {any} */ m) => m.largest.height * 1e3 },
  { name: "base_radius", label: "largest drop: base radius, mm", of: (/** @type {any} */ m) => m.largest.base_radius * 1e3 },
  { name: "speed_max", label: "largest drop: speed, mm/s", of: (/** @type {any} */ m) => m.largest.speed_max * 1e3 },
];
const COLORS = ["#1769aa", "#d9480f"];

export class Player {
  /** @param {import("./protocol.js").Connection} engine @param {(id: number | null, run: number) => void} select */
  constructor(engine, select) {
    this.engine = engine;
    this.select = select;
    /** @type {any[]} */
    this.runs = [];
    this.frame = 0;
    this.playing = true;
    /** Frames that were asked for and have not come. */
    this.waiting = 0;
    this.last = 0;
    this.time = 0;
    element("timeline-frame").oninput = () => {
      this.playing = false;
      this.show(Number(element("timeline-frame").value));
    };
  }

  get active() {
    return this.runs.length > 0;
  }

  /** The run that goes on for the longest time: its frames are those of the slider. */
  get longest() {
    const end = (/** @type {any} */ run) => (run?.frames.at(-1) ?? 0) * (run?.interval ?? 0);
    return this.runs.reduce((best, run) => (end(run) > end(best) ? run : best), this.runs[0]);
  }

  /** Time of the last frame of all runs, in s. */
  get end() {
    const run = this.longest;
    return Math.max(1e-12, (run?.frames.at(-1) ?? 0) * (run?.interval ?? 0));
  }

  /** @param {any} timeline */
  setTimeline(timeline) {
    this.runs[timeline.run] = timeline;
    element("timeline").hidden = false;
    element("timeline-frame").max = String(Math.max(1, this.longest?.frames.length ?? 1) - 1);
    this.plot();
  }

  /** Asks all runs for the frame nearest to the time of a frame of the longest run. @param {number} index */
  show(index) {
    const longest = this.longest;
    if (!longest || longest.frames.length === 0) return;
    this.frame = Math.min(index, longest.frames.length - 1);
    const time = longest.frames[this.frame] * longest.interval;
    this.time = time;
    this.waiting = 0;
    this.runs.forEach((run, number) => {
      if (!run || run.frames.length === 0) return;
      const near = run.frames.reduce((/** @type {number} */ best, /** @type {number} */ frame) => (
        Math.abs(frame * run.interval - time) < Math.abs(best * run.interval - time) ? frame : best), run.frames[0]);
      this.engine.send({ ask: "frame", run: number, frame: near });
      this.waiting += 1;
    });
    element("timeline-frame").value = String(this.frame);
    element("timeline-text").value = `${longest.frames[this.frame]} · ${time.toFixed(4)} s`;
    this.mark();
  }

  /** A frame has come. */
  arrived() {
    this.waiting = Math.max(0, this.waiting - 1);
  }

  /** Shows the next frame when it is due. @param {number} now in ms */
  advance(now) {
    const run = this.longest;
    if (!run || !this.playing || this.waiting > 0 || now - this.last < 1000 / 30) return;
    this.last = now;
    this.show((this.frame + 1) % Math.max(1, run.frames.length));
  }

  plot() {
    const svg = (/** @type {any} */ curve) => {
      const [width, height, left, top] = [230, 96, 6, 16];
      const all = this.runs.flatMap((run) => run?.measures.map(curve.of) ?? []).filter((v) => Number.isFinite(v));
      if (all.length === 0) return null;
      const [low, high] = [Math.min(...all), Math.max(...all)];
      const box = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      box.setAttribute("viewBox", `0 0 ${width} ${height}`);
      box.setAttribute("role", "img");
      box.setAttribute("aria-label", `${curve.label}: ${low.toPrecision(3)} to ${high.toPrecision(3)}`);
      const text = document.createElementNS(box.namespaceURI, "text");
      text.setAttribute("x", String(left));
      text.setAttribute("y", "11");
      text.textContent = `${curve.label}: ${low.toPrecision(3)} … ${high.toPrecision(3)}`;
      box.append(text);
      this.runs.forEach((run, r) => {
        if (!run) return;
        const points = run.measures.map((/** @type {any} */ m) => {
          const v = curve.of(m);
          if (!Number.isFinite(v)) return null;
          const y = top + (1 - (high > low ? (v - low) / (high - low) : 0.5)) * (height - top - 6);
          return `${(left + (m.time / this.end) * (width - 2 * left)).toFixed(1)},${y.toFixed(1)}`;
        }).filter(Boolean);
        const line = document.createElementNS(box.namespaceURI, "polyline");
        line.setAttribute("points", points.join(" "));
        line.setAttribute("fill", "none");
        line.setAttribute("stroke", COLORS[r % COLORS.length]);
        line.setAttribute("stroke-width", "2");
        box.append(line);
      });
      const mark = document.createElementNS(box.namespaceURI, "line");
      mark.setAttribute("class", "mark");
      mark.setAttribute("y1", String(top));
      mark.setAttribute("y2", String(height - 4));
      mark.setAttribute("stroke", "currentColor");
      box.append(mark);
      box.addEventListener("click", (event) => {
        const area = box.getBoundingClientRect();
        const share = (((event.clientX - area.left) / area.width) * width - left) / (width - 2 * left);
        const longest = this.longest;
        const index = Math.round(Math.max(0, Math.min(1, share)) * (longest.frames.length - 1));
        this.playing = false;
        this.show(index);
        this.selectNearest(curve, 1 - (((event.clientY - area.top) / area.height) * height - top) / (height - top - 6), low, high);
      });
      return box;
    };
    element("plots").replaceChildren(...CURVES.map(svg).filter((box) => box !== null));
    this.mark();
  }

  /** Selects the largest drop of the run whose curve is nearest to a click. @param {any} curve @param {number} share @param {number} low @param {number} high */
  selectNearest(curve, share, low, high) {
    let [best, id, number] = [Infinity, /** @type {number | null} */ (null), 0];
    this.runs.forEach((run, r) => {
      const row = run?.measures.reduce((/** @type {any} */ near, /** @type {any} */ m) => (
        !near || Math.abs(m.time - this.time) < Math.abs(near.time - this.time) ? m : near), null);
      if (typeof row?.largest?.id !== "number") return;
      const off = Math.abs((high > low ? (curve.of(row) - low) / (high - low) : 0.5) - share);
      if (off < best) [best, id, number] = [off, row.largest.id, r];
    });
    this.select(id, number);
  }

  mark() {
    const x = 6 + (this.time / this.end) * 218;
    for (const mark of document.querySelectorAll("#plots .mark")) {
      mark.setAttribute("x1", String(x));
      mark.setAttribute("x2", String(x));
    }
  }
}

// Sources of liquid that are placed by hand: their settings, and the list of those that are there.
// @ts-check

import { element } from "./dom.js";
import { add, normalize, scale } from "./vectors.js";

/** @typedef {import("./vectors.js").Vec3} Vec3 */

/** What the rate slider means in its middle, and how it is written. */
/** @type {Record<string, {middle: number, text: (rate: number) => string}>} */
const RATES = {
  drip: { middle: 8e-9, text: (rate) => `${(rate * 1e9).toPrecision(2)} µL/s` },
  feed: { middle: 8e-9, text: (rate) => `${(rate * 1e9).toPrecision(2)} µL/s` },
  tap: { middle: 300e-9, text: (rate) => `${(rate * 1e9).toPrecision(2)} µL/s` },
  rain: { middle: 2e-5, text: (rate) => `${(rate * 3.6e6).toPrecision(2)} mm/h` },
  dew: { middle: 1e-6, text: (rate) => `${(rate * 1e9).toPrecision(2)} µL/m²/s` },
};
const NAMES = /** @type {Record<string, string>} */ ({ drip: "drip", feed: "needle", tap: "tap", rain: "rain", dew: "dew" });
/** Volume of a drop of a drip, in m³, and its height over the solid, in m. */
const DRIP = 8e-9;
const DRIP_HEIGHT = 0.012;
const TAP_RADIUS = 0.8e-3;
const RAIN_SPEED = 4;

export class Sources {
  /** @param {import("./protocol.js").Connection} engine @param {any} studio */
  constructor(engine, studio) {
    this.engine = engine;
    this.studio = studio;
    const show = () => { element("source-rate-value").value = RATES[this.kind].text(this.rate); };
    element("source-kind").onchange = show;
    element("source-rate").oninput = show;
    element("source-use").onclick = () => studio.panels.useTool("source");
    show();
  }

  get kind() {
    return element("source-kind").value;
  }

  /** A tenth to ten times the middle. */
  get rate() {
    return RATES[this.kind].middle * 10 ** Number(element("source-rate").value);
  }

  /**
   * The source that the settings describe, on a solid.
   * @param {{solid: number, point: Vec3, normal: Vec3}} hit
   */
  at(hit) {
    const { kind, rate } = this;
    const gravity = /** @type {Vec3} */ (this.studio.view?.gravity ?? [0, -9.8, 0]);
    const above = (/** @type {number} */ distance) => add(hit.point, scale(hit.normal, distance));
    switch (kind) {
      case "drip":
        return { kind, at: above(DRIP_HEIGHT), radius: Math.cbrt((0.75 * DRIP) / Math.PI), every: DRIP / rate };
      case "feed":
        return { kind, at: above(0.3e-3), rate };
      case "tap":
        return { kind, at: above(DRIP_HEIGHT), direction: scale(hit.normal, -1), radius: TAP_RADIUS, speed: rate / (Math.PI * TAP_RADIUS ** 2) };
      case "rain": {
        const velocity = scale(normalize(add(normalize(gravity), scale(hit.normal, -1))), RAIN_SPEED);
        return { kind, over: hit.solid, rate, radius: [0.3e-3, 1.2e-3], velocity };
      }
      default:
        return { kind, on: hit.solid, rate };
    }
  }

  /** @param {any} scene */
  setScene(scene) {
    const placed = scene.placed ?? [];
    this.studio.overlay.markers = placed.filter((/** @type {any} */ source) => source.at);
    element("source-list").replaceChildren(...placed.map((/** @type {any} */ source) => {
      const item = document.createElement("li");
      const on = source.on === undefined ? "" : ` on ${scene.solids[source.on]?.name ?? ""}`;
      item.append(`${NAMES[source.kind]}${on}`);
      const button = document.createElement("button");
      button.textContent = "Remove";
      button.setAttribute("aria-label", `Remove the ${NAMES[source.kind]}${on}`);
      button.onclick = () => this.engine.input({ do: "unplace", id: source.id });
      item.append(button);
      return item;
    }));
  }
}

// Buttons, sliders and texts around the picture.
// @ts-check

import { element } from "./dom.js";
import { TOOLS } from "./hand.js";
import { Sources } from "./sources.js";
import { add, dot, normalize, scale } from "./vectors.js";

/** Time for which the help of a tool is shown, in ms. */
const TIP = 6000;

/** A volume with a unit. @param {number} v in m³ */
export function volumeText(v) {
  const microliters = v * 1e9;
  if (Math.abs(microliters) >= 1000) return `${(microliters / 1000).toPrecision(3)} mL`;
  if (Math.abs(microliters) >= 0.1 || microliters === 0) return `${microliters.toPrecision(3)} µL`;
  return `${(microliters * 1000).toPrecision(3)} nL`;
}

export class Panels {
  /**
   * @param {import("./protocol.js").Connection} engine
   * @param {any} studio
   */
  constructor(engine, studio) {
    this.engine = engine;
    this.studio = studio;
    this.scene = null;
    this.sources = new Sources(engine, studio);
    this.tools();
    this.time();
    this.forces();
    this.materials();
    this.shows();
    this.scenes();
    this.keys();
  }

  tools() {
    const box = element("tools");
    TOOLS.forEach((tool, k) => {
      const button = document.createElement("button");
      Object.assign(button, { textContent: tool.label, title: `${tool.help} (${k + 1})` });
      button.setAttribute("role", "radio");
      button.dataset.tool = tool.name;
      button.onclick = () => this.useTool(tool.name);
      button.onkeydown = (event) => {
        const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
        if (!by) return;
        event.preventDefault();
        event.stopPropagation();
        const next = TOOLS[(k + by + TOOLS.length) % TOOLS.length];
        this.useTool(next.name);
        box.querySelector(`[data-tool="${next.name}"]`).focus();
      };
      box.append(button);
    });
    this.useTool("finger");
  }

  /** @param {string} name */
  useTool(name) {
    this.studio.setTool(name);
    for (const button of element("tools").children) {
      const used = button.dataset.tool === name;
      button.setAttribute("aria-checked", String(used));
      button.tabIndex = used ? 0 : -1;
    }
    const help = TOOLS.find((tool) => tool.name === name)?.help ?? "";
    element("help-tool").textContent = help;
    // What the tool does, for a while; not at the start, where the hints are.
    const tip = element("tip");
    tip.hidden = !this.studio.scene;
    tip.textContent = help;
    clearTimeout(this.tipTimer);
    this.tipTimer = setTimeout(() => { tip.hidden = true; }, TIP);
  }

  time() {
    element("play").onclick = () => this.studio.play(!this.studio.playing);
    element("step").onclick = () => this.engine.send({ ask: "step" });
    element("speed").onchange = () => this.engine.send({ ask: "speed", factor: Number(element("speed").value) });
    element("undo").onclick = () => this.engine.input({ do: "undo" });
    element("reset").onclick = () => this.engine.input({ do: "reset" });
    element("failure-recover").onclick = () => {
      element("failure").hidden = true;
      this.engine.send({ ask: "recover" });
    };
    const settings = (/** @type {boolean} */ on) => {
      document.body.dataset.panel = on ? "on" : "off";
      element("settings").setAttribute("aria-pressed", String(on));
    };
    element("settings").onclick = () => settings(document.body.dataset.panel === "off");
    settings(window.innerWidth > 760);
    element("selected-close").onclick = () => this.studio.select(null);
  }

  forces() {
    const ball = element("gravity");
    const set = (/** @type {PointerEvent} */ event) => {
      const box = ball.getBoundingClientRect();
      let [x, y] = [((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2];
      const r = Math.hypot(x, y);
      if (r > 0.92) [x, y] = [x / r, y / r];
      this.setGravity(x, y, Math.sqrt(Math.max(0, 1 - x * x - y * y)));
    };
    ball.onpointerdown = (/** @type {PointerEvent} */ event) => {
      ball.setPointerCapture(event.pointerId);
      set(event);
      ball.onpointermove = set;
    };
    ball.onpointerup = ball.onpointercancel = () => { ball.onpointermove = null; };
    ball.onkeydown = (/** @type {KeyboardEvent} */ event) => {
      // Left and right turn it in the plane of the screen, up and down into it and out of it.
      const turns = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      const turn = turns[/** @type {keyof typeof turns} */ (event.key)];
      if (!turn || !this.shownGravity) return;
      event.preventDefault();
      event.stopPropagation();
      const [x, y, z] = this.shownGravity;
      const angle = Math.atan2(y, x) + turn[0] * 0.15;
      const depth = Math.asin(Math.max(-1, Math.min(1, z))) + turn[1] * 0.15;
      this.setGravity(Math.cos(angle) * Math.cos(depth), Math.sin(angle) * Math.cos(depth), Math.sin(depth));
    };
    element("gravity-reset").onclick = () => this.engine.input({ do: "gravity", vector: null });
    element("wind").oninput = () => {
      const speed = Number(element("wind").value);
      element("wind-value").value = `${speed} m/s`;
      const { right } = this.studio.camera.axes();
      this.engine.input({ do: "wind", vector: speed === 0 ? null : scale(right, speed) });
    };
    element("rain").onchange = () => {
      this.engine.input({ do: "rain", rate: element("rain").checked ? 2e-5 : 0, solid: Number(element("solid").value || 0) });
    };
    element("sources").onchange = () => this.engine.input({ do: "sources", open: element("sources").checked });
    if ("DeviceOrientationEvent" in window && matchMedia("(pointer: coarse)").matches) {
      element("tilt-label").hidden = false;
      window.addEventListener("deviceorientation", (event) => {
        if (!element("tilt").checked || event.beta === null || event.gamma === null) return;
        const [b, g] = [(event.beta * Math.PI) / 180, (event.gamma * Math.PI) / 180];
        this.setGravity(Math.sin(g) * Math.cos(b), -Math.sin(b), Math.cos(b) * Math.cos(g));
      });
    }
  }

  /** Gravity by its parts to the right, up and into the screen. */
  /** @param {number} x @param {number} y @param {number} z */
  setGravity(x, y, z) {
    const { right, up, forward } = this.studio.camera.axes();
    const vector = scale(normalize(add(add(scale(right, x), scale(up, y)), scale(forward, z))), 9.81);
    const now = performance.now();
    if (now - (this.gravitySent ?? 0) < 30) return;
    this.gravitySent = now;
    this.engine.input({ do: "gravity", vector });
  }

  /** @param {number[]} gravity */
  drawGravity(gravity) {
    const { right, up, forward } = this.studio.camera.axes();
    const g = /** @type {import("./vectors.js").Vec3} */ (gravity);
    const size = Math.hypot(...gravity);
    const [x, y, z] = size > 0 ? [dot(g, right) / size, dot(g, up) / size, dot(g, forward) / size] : [0, 0, 0];
    const key = [x, y, z].map((v) => v.toFixed(2)).join();
    if (key === this.gravityKey) return;
    this.gravityKey = key;
    this.shownGravity = [x, y, z];
    const ball = element("gravity");
    const c = ball.getContext("2d");
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, 112, 112);
    c.translate(56, 56);
    const shade = c.createRadialGradient(-14, -16, 6, 0, 0, 54);
    shade.addColorStop(0, "#f2f6fa");
    shade.addColorStop(1, "#8fa6bb");
    c.fillStyle = shade;
    c.beginPath();
    c.arc(0, 0, 52, 0, 7);
    c.fill();
    c.strokeStyle = "#234";
    c.lineWidth = 4;
    c.lineCap = "round";
    c.beginPath();
    c.moveTo(0, 0);
    c.lineTo(x * 44, -y * 44);
    c.stroke();
    c.fillStyle = z >= -0.05 ? "#1769aa" : "#88a";
    c.beginPath();
    c.arc(x * 44, -y * 44, 9, 0, 7);
    c.fill();
    const tilt = Math.round((Math.acos(Math.max(-1, Math.min(1, size > 0 ? -g[1] / size : 1))) * 180) / Math.PI);
    ball.setAttribute("aria-valuetext", size === 0 ? "no gravity" : `${tilt} degrees off straight down`);
    ball.setAttribute("aria-valuenow", String(tilt));
  }

  materials() {
    element("solid").onchange = () => this.showAngles();
    for (const id of ["advancing", "wet-advancing", "receding"]) {
      element(id).oninput = () => this.keepOrder(id);
      element(id).onchange = () => this.sendAngles();
    }
    element("liquid").onchange = () => this.engine.input({ do: "liquid", preset: element("liquid").value });
  }

  /** Angles stay in their order while one is moved. @param {string} moved */
  keepOrder(moved) {
    const [a, w, r] = ["advancing", "wet-advancing", "receding"].map((id) => Number(element(id).value));
    const value = Number(element(moved).value);
    const set = (/** @type {string} */ id, /** @type {number} */ v) => { element(id).value = String(v); };
    if (moved === "advancing") [set("wet-advancing", Math.min(w, value)), set("receding", Math.min(r, value))];
    if (moved === "wet-advancing") [set("advancing", Math.max(a, value)), set("receding", Math.min(r, value))];
    if (moved === "receding") [set("advancing", Math.max(a, value)), set("wet-advancing", Math.max(w, value))];
    this.showValues();
  }

  sendAngles() {
    const angles = ["advancing", "wet-advancing", "receding"].map((id) => Number(element(id).value));
    this.engine.input({ do: "material", solid: Number(element("solid").value || 0), angles });
  }

  showValues() {
    for (const id of ["advancing", "wet-advancing", "receding"]) element(`${id}-value`).value = `${element(id).value}°`;
  }

  showAngles() {
    const solid = this.scene?.solids[Number(element("solid").value || 0)];
    if (!solid) return;
    ["advancing", "wet-advancing", "receding"].forEach((id, k) => { element(id).value = String(Math.round(solid.angles[k])); });
    this.showValues();
  }

  /** @param {any} scene */
  setScene(scene) {
    const isNew = !this.scene || this.scene.generation !== scene.generation || this.scene.name !== scene.name;
    this.scene = scene;
    element("model").value = scene.model;
    element("sources").checked = scene.sources;
    element("sources").parentElement.hidden = scene.emitters === 0;
    if (isNew) {
      fill(element("solid"), scene.solids.map((/** @type {any} */ s, /** @type {number} */ k) => [String(k), s.name]));
      fill(element("liquid"), scene.liquids.map((/** @type {any} */ l) => [l.name, l.name]));
      fill(element("scenes"), [["", "built-in scenes"], ...(scene.scenes ?? []).map((/** @type {any} */ s) => [s.name, s.name])]);
      element("scene-text").value = scene.text ?? "";
      element("scene-error").hidden = true;
      element("failure").hidden = true;
      element("rain").checked = false;
      element("wind").value = "0";
      element("wind-value").value = "0 m/s";
      this.presets(scene);
      document.title = `${scene.name} – sessile studio`;
    }
    element("liquid").value = scene.liquid.name;
    this.sources.setScene(scene);
    this.showAngles();
  }

  /** Materials with a picture of a drop on each. @param {any} scene */
  presets(scene) {
    const box = element("materials");
    box.replaceChildren(...scene.materials.map((/** @type {any} */ material) => {
      const button = document.createElement("button");
      const picture = document.createElement("canvas");
      [picture.width, picture.height] = [128, 68];
      picture.setAttribute("aria-hidden", "true");
      drawDrop(picture, material.angles[0], material.angles[2]);
      const [a, , r] = material.angles.map(Math.round);
      button.title = `${material.title}: advancing ${a}°, receding ${r}°`;
      button.append(picture, material.name);
      button.dataset.material = material.name;
      button.onclick = () => this.engine.input({ do: "material", solid: Number(element("solid").value || 0), preset: material.name });
      return button;
    }));
  }

  shows() {
    const { renderer, overlay } = this.studio;
    element("show-wet").onchange = () => { renderer.show.wet = element("show-wet").checked; };
    element("show-line").onchange = () => { renderer.show.contactLine = element("show-line").checked; };
    element("show-velocity").onchange = () => { overlay.show.velocities = element("show-velocity").checked; };
    element("show-ids").onchange = () => { overlay.show.ids = element("show-ids").checked; };
    element("theme").onchange = () => {
      const theme = element("theme").value;
      if (theme === "auto") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = theme;
    };
  }

  scenes() {
    element("model").onchange = () => this.engine.input({ do: "model", name: element("model").value });
    element("compare").onchange = () => this.engine.send({ ask: "compare", model: element("compare").value || null });
    element("scenes").onchange = () => {
      if (element("scenes").value) this.engine.send({ ask: "open_scene", name: element("scenes").value });
    };
    element("scene-apply").onclick = () => this.openText(this.scene?.name ?? "scene.toml", element("scene-text").value);
    element("save-scene").onclick = () => this.engine.send({ ask: "save_scene" });
    element("save-still").onclick = () => this.studio.saveStill();
    element("save-clip").onclick = () => this.studio.toggleClip();
    element("save-run").onclick = () => {
      this.engine.send({ ask: "save_run", on: element("save-run").getAttribute("aria-pressed") !== "true" });
    };
    for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => event.preventDefault());
    window.addEventListener("drop", async (event) => {
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      if (/\.toml$/i.test(file.name)) this.openText(file.name, await file.text());
      else if (/\.(glb|gltf|obj|stl|ply)$/i.test(file.name)) await this.openModel(file);
      else this.studio.notice(`${file.name} is neither a scene (.toml) nor a model (.glb, .obj, .stl, .ply)`);
    });
  }

  /** Sends a model in parts, with progress. @param {File} file */
  async openModel(file) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (bytes.length > 48 * 2 ** 20) {
      this.studio.notice(`${file.name} is larger than 48 MB`);
      return;
    }
    const part = 768 * 1024;
    for (let at = 0; at === 0 || at < bytes.length; at += part) {
      const piece = bytes.subarray(at, at + part);
      let text = "";
      for (let k = 0; k < piece.length; k += 8192) text += String.fromCharCode(...piece.subarray(k, k + 8192));
      this.engine.send({ ask: "file", name: file.name, data: btoa(text), last: at + part >= bytes.length });
      this.studio.notice(`sending ${file.name}: ${Math.min(100, Math.round((100 * (at + part)) / Math.max(1, bytes.length)))} %`);
      await new Promise((resolve) => { setTimeout(resolve, 4); });
    }
  }

  /** @param {string} name @param {string} text */
  openText(name, text) {
    element("scene-error").hidden = true;
    this.engine.input({ do: "scene", name, text });
  }

  keys() {
    window.addEventListener("keydown", (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
      const camera = this.studio.camera;
      const isButton = target.tagName === "BUTTON" || target.tagName === "SUMMARY";
      const turns = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      const turn = turns[/** @type {keyof typeof turns} */ (event.key)];
      if (turn) {
        if (event.shiftKey) camera.pan(turn[0] * 0.05, turn[1] * 0.05);
        else camera.turn(-turn[0] * 0.08, turn[1] * 0.08);
      } else if (event.key === " " && !isButton) element("play").click();
      else if (event.key === "Enter" && !isButton) this.studio.useInMiddle();
      else if (event.key === ".") element("step").click();
      else if (event.key === "z" && !element("undo").disabled) element("undo").click();
      else if (event.key === "r") element("reset").click();
      else if (event.key === "h") element("settings").click();
      else if (event.key === "+" || event.key === "=") camera.zoom(0.9);
      else if (event.key === "-") camera.zoom(1 / 0.9);
      else if (event.key >= "1" && event.key <= String(TOOLS.length)) this.useTool(TOOLS[Number(event.key) - 1].name);
      else return;
      event.preventDefault();
    });
  }

  /** @param {import("./protocol.js").View} view */
  showView(view) {
    const playing = view.playing;
    if (playing !== this.shownPlaying) {
      this.shownPlaying = playing;
      element("play").textContent = playing ? "Pause" : "Play";
      element("play").setAttribute("aria-pressed", String(playing));
    }
    element("undo").disabled = view.undo === 0;
    element("clock").value = `${view.time.toFixed(view.time < 1 ? 3 : 2)} s`;
    const speed = view.speed;
    element("pace").value = !playing ? "paused" : speed > 0.95 ? `${speed.toFixed(1)}×` : `${speed.toPrecision(2)}×`;
    this.drawGravity(view.gravity);
  }

  /** Whether the run is being saved, and where. @param {any} run */
  showRun(run) {
    const on = run.folder !== null;
    element("save-run").setAttribute("aria-pressed", String(on));
    if (on) element("save-run-text").value = `${run.folder}: ${run.frames} frames`;
  }

  /** A run was saved. @param {any} run */
  runSaved(run) {
    element("save-run-text").value = `saved ${run.frames} frames: sessile render ${run.folder}`;
    this.studio.notice(`the run was saved into ${run.folder}`);
  }

  /** @param {any} b */
  showBalance(b) {
    element("balance").value = `added ${volumeText(b.added)} = present ${volumeText(b.present + b.film)} + lost ${volumeText(b.lost)}`
      + (b.bead > 0 ? ` · on the tool ${volumeText(b.bead)}` : "");
  }

  /** @param {any} drop */
  showSelected(drop) {
    element("selected").hidden = false;
    element("selected-id").textContent = String(drop.id);
    const degrees = (/** @type {number | undefined | null} */ v) => (v === null || v === undefined ? "–" : `${v.toFixed(1)}°`);
    const values = drop.gone ? [["", "gone"]] : [
      ["Volume", volumeText(drop.volume)], ["Contact angle, measured", degrees(drop.measured)],
      ["Advancing", degrees(drop.angles?.[0])], ["Advancing, wet", degrees(drop.angles?.[1])], ["Receding", degrees(drop.angles?.[2])],
      ["Speed", `${(drop.speed * 1000).toFixed(1)} mm/s`], ["Age", drop.age === null ? "–" : `${drop.age.toFixed(2)} s`],
      ["On", drop.on ?? "in flight"],
    ];
    element("selected-values").replaceChildren(...values.flatMap(([name, value]) => {
      const [dt, dd] = [document.createElement("dt"), document.createElement("dd")];
      [dt.textContent, dd.textContent] = [name, value];
      return [dt, dd];
    }));
  }
}

/** @param {HTMLSelectElement} select @param {string[][]} options */
function fill(select, options) {
  select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
}

/** The outline of a drop at an advancing angle, with the receding one dashed. */
/** @param {HTMLCanvasElement} canvas @param {number} advancing @param {number} receding */
function drawDrop(canvas, advancing, receding) {
  const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const outline = (/** @type {number} */ degrees, /** @type {number} */ volume) => {
    const theta = (Math.max(4, Math.min(172, degrees)) * Math.PI) / 180;
    const sphere = Math.cbrt(volume / (Math.PI / 3) / ((2 + Math.cos(theta)) * (1 - Math.cos(theta)) ** 2));
    c.beginPath();
    for (let k = -24; k <= 24; k++) {
      const angle = (k / 24) * theta;
      const [x, y] = [64 + sphere * Math.sin(angle), 60 - sphere * (Math.cos(angle) - Math.cos(theta))];
      if (k === -24) c.moveTo(x, y);
      else c.lineTo(x, y);
    }
  };
  c.fillStyle = "#5aa9e6";
  outline(advancing, 36000);
  c.fill();
  c.strokeStyle = "#1769aa";
  c.setLineDash([5, 4]);
  c.lineWidth = 2;
  outline(receding, 36000);
  c.stroke();
  c.setLineDash([]);
  c.strokeStyle = "#789";
  c.lineWidth = 4;
  c.beginPath();
  c.moveTo(4, 62);
  c.lineTo(124, 62);
  c.stroke();
}

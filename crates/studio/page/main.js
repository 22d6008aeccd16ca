// The page: connects the engine, the picture, the hand and the panels.
// @ts-check

import { Camera } from "./camera.js";
import { element } from "./dom.js";
import { Hand } from "./hand.js";
import { Overlay } from "./overlay.js";
import { Panels } from "./panels.js";
import { Player } from "./player.js";
import { Connection, readBinary } from "./protocol.js";
import { Renderer } from "./renderer.js";

/** Longest time for which places are carried on by their velocity, in s. */
const MOST_AHEAD = 0.05;
/** Time without a view after which the page says so, in s. */
const BUSY = 2;

class Studio {
  constructor() {
    this.canvas = element("view");
    this.camera = new Camera();
    this.renderer = new Renderer(this.canvas);
    this.overlay = new Overlay(element("overlay"));
    this.twinOverlay = new Overlay(element("twin-overlay"));
    /** @type {import("./protocol.js").View | null} */
    this.view = null;
    /** The last volume balance, in m³. @type {any} */
    this.balance = null;
    this.playing = true;
    this.frames = 0;
    this.isRun = false;
    /** @type {{renderer: Renderer, view: import("./protocol.js").View | null} | null} */
    this.twin = null;
    /** @type {Renderer | null} */
    this.twinRenderer = null;
    /** @type {any[]} */
    this.meshes = [];
    /** What came of the scene's look, by kind and solid. @type {Map<string, any>} */
    this.pictures = new Map();
    /** @type {number | null} */
    this.selected = null;
    /** The run whose drop is selected. */
    this.selectedRun = 0;
    this.engine = new Connection((buffer) => this.hearBinary(buffer), (message) => this.hear(message), (open) => this.connected(open));
    this.hand = new Hand(this.canvas, this.camera, this.renderer, this.overlay, this.engine, {
      view: () => this.view, select: (id) => this.select(id), used: () => this.closeHints(),
      source: (hit) => this.panels.sources.at(hit),
    });
    this.panels = new Panels(this.engine, this);
    this.player = new Player(this.engine, (id, run) => this.select(id, run));
    element("twin").addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => this.selectInTwin(event));
    this.canvas.addEventListener("webglcontextlost", (/** @type {Event} */ event) => {
      event.preventDefault();
      this.notice("the graphics card was lost; waiting for it");
    });
    this.canvas.addEventListener("webglcontextrestored", () => this.rebuild());
    element("cross").hidden = true;
    this.canvas.addEventListener("focus", () => { element("cross").hidden = !this.canvas.matches(":focus-visible"); });
    this.canvas.addEventListener("blur", () => { element("cross").hidden = true; });
    this.hints();
    setInterval(() => this.watch(), 500);
    requestAnimationFrame((now) => this.draw(now));
  }

  /** @param {boolean} open */
  connected(open) {
    if (!open) this.notice("the engine does not answer; trying again");
  }

  /** Views come all the time, also of a session that is paused: without them a step takes long. */
  watch() {
    const waits = this.view && !this.isRun && this.engine.open && !document.hidden ? (performance.now() - this.view.arrived) / 1000 : 0;
    element("busy").hidden = waits < BUSY;
    if (waits >= BUSY) element("busy").textContent = `The engine has been computing one step for ${Math.round(waits)} s: this scene is slow, or a force is very large.`;
  }

  /** @param {ArrayBuffer} buffer */
  hearBinary(buffer) {
    const message = readBinary(buffer);
    if (!message) return;
    if (message.kind === "view" && message.view.isTwin) {
      if (this.twin) this.twin.view = message.view;
      this.player.arrived();
    } else if (message.kind === "view") {
      this.view = message.view;
      this.player.arrived();
      if (!this.isRun) this.playing = message.view.playing;
    } else if (message.kind === "mesh" && message.run > 0) {
      this.twinRenderer?.setMesh(message.solid, message.triangles, message.corners);
    } else if (message.kind === "mesh") {
      this.meshes[message.solid] = message;
      this.renderer.setMesh(message.solid, message.triangles, message.corners);
    } else if (message.kind === "picture") this.setPicture(message);
    else (message.run > 0 ? this.twinRenderer : this.renderer)?.setWet(message);
  }

  /** @param {any} picture */
  setPicture(picture) {
    if (picture.run > 0) {
      this.twinRenderer?.setPicture(picture);
      return;
    }
    this.pictures.set(`${picture.what} ${picture.solid}`, picture);
    this.renderer.setPicture(picture);
    if (!this.isRun) this.twin?.renderer.setPicture(picture);
  }

  /** @param {any} message */
  hear(message) {
    switch (message.kind) {
      case "scene":
        if (message.run > 0) this.setSecondRun(message);
        else this.setScene(message);
        break;
      case "balance":
        this.balance = message;
        this.panels.showBalance(message);
        break;
      case "selected":
        if (message.id === this.selected && (message.run ?? 0) === this.selectedRun) this.panels.showSelected(message);
        break;
      case "saved_scene":
        save(new Blob([message.text], { type: "application/toml" }), "scene.toml");
        break;
      case "run":
        this.panels.showRun(message);
        break;
      case "run_saved":
        this.panels.runSaved(message);
        break;
      case "timeline":
        this.player.setTimeline(message);
        break;
      case "compare":
        this.compare(message.model);
        if (message.text) this.notice(message.text);
        break;
      case "failure":
        element("failure-text").textContent = message.text;
        element("failure").hidden = false;
        break;
      case "error":
        if (message.text.includes("\n")) {
          element("scene-error").textContent = message.text;
          element("scene-error").hidden = false;
        }
        this.notice(message.text.split("\n")[0]);
        break;
      case "notice":
        this.notice(message.text);
        break;
      default:
    }
  }

  /** @param {any} scene */
  setScene(scene) {
    const isNew = !this.scene || this.scene.generation !== scene.generation || this.scene.name !== scene.name;
    const same = this.scene && this.scene.solids.length === scene.solids.length
      && this.scene.solids.every((/** @type {any} */ s, /** @type {number} */ k) => s.name === scene.solids[k].name);
    if (isNew) this.pictures.clear();
    this.scene = scene;
    this.isRun = !scene.live;
    this.renderer.setScene(scene);
    this.panels.setScene(scene);
    if (isNew && !same) {
      this.camera.aspect = this.canvas.clientWidth / Math.max(1, this.canvas.clientHeight);
      this.camera.frame(scene);
      this.select(null);
    }
    const large = scene.solids.find((/** @type {any} */ solid) => !solid.shown);
    if (isNew && scene.problem) this.notice(`shown with built-in looks: ${scene.problem}`);
    if (large) this.notice(`${large.name} has ${large.triangles} triangles, too many to draw; the simulation uses all of them`);
  }

  /** Shows another model beside this one, or not. @param {string | null} model */
  compare(model) {
    const canvas = element("twin");
    element("compare").value = model ?? "";
    canvas.hidden = model === null;
    for (const [id, name] of [["view-name", this.scene?.model], ["twin-name", model]]) {
      element(id).hidden = model === null;
      element(id).textContent = name;
    }
    document.body.dataset.twin = model === null ? "off" : "on";
    if (model === null) {
      this.twin = null;
      return;
    }
    this.twin = this.makeTwin();
    this.twin.renderer.setScene(this.scene);
    this.meshes.forEach((mesh) => mesh && this.twinRenderer?.setMesh(mesh.solid, mesh.triangles, mesh.corners));
    this.pictures.forEach((picture) => this.twinRenderer?.setPicture(picture));
  }

  makeTwin() {
    this.twinRenderer ??= new Renderer(element("twin"));
    return { renderer: this.twinRenderer, view: null };
  }

  /** Shows another run beside the first one. @param {any} scene */
  setSecondRun(scene) {
    for (const [id, name] of [["view-name", this.scene?.name], ["twin-name", scene.name]]) {
      element(id).hidden = false;
      element(id).textContent = name;
    }
    element("twin").hidden = false;
    element("twin").setAttribute("aria-label", `The run ${scene.name}`);
    document.body.dataset.twin = "on";
    this.twin = this.makeTwin();
    this.twin.renderer.setScene(scene);
  }

  rebuild() {
    this.renderer.build();
    if (this.scene) this.renderer.setScene(this.scene);
    this.meshes.forEach((mesh) => mesh && this.renderer.setMesh(mesh.solid, mesh.triangles, mesh.corners));
    this.pictures.forEach((picture) => this.renderer.setPicture(picture));
  }

  /** @param {string} name */
  setTool(name) {
    this.hand.tool = name;
    this.overlay.tool = [];
    this.canvas.style.cursor = { look: "grab", add: "copy", drag: "move", select: "pointer" }[name] ?? "crosshair";
  }

  useInMiddle() {
    this.hand.useInMiddle();
  }

  /** @param {boolean} playing */
  play(playing) {
    this.playing = playing;
    this.player.playing = playing;
    this.engine.send({ ask: "play", playing });
  }

  /** @param {number | null} id @param {number} [run] */
  select(id, run = 0) {
    [this.selected, this.selectedRun] = [id, run];
    [this.overlay.selected, this.twinOverlay.selected] = [run === 0 ? id : null, run === 0 ? null : id];
    element("selected").hidden = id === null;
    this.engine.send(this.isRun ? { ask: "select", id, run } : { ask: "select", id });
  }

  /** A click into the second of two runs. @param {PointerEvent} event */
  selectInTwin(event) {
    if (!this.isRun || !this.twin?.view) return;
    const box = element("twin").getBoundingClientRect();
    const ray = this.camera.ray(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    this.select(this.hand.pickDrop(ray, this.twin.view), 1);
  }

  /** @param {number} now */
  draw(now) {
    requestAnimationFrame((next) => this.draw(next));
    // A tab in the background draws nothing.
    if (!this.view || document.hidden || !this.scene) return;
    this.hand.flush();
    if (this.player.active) this.player.advance(now);
    const since = (performance.now() - this.view.arrived) / 1000;
    const ahead = this.view.playing && !this.isRun ? Math.min(MOST_AHEAD, since) * Math.min(1, this.view.speed) : 0;
    this.renderer.draw(this.view, this.camera, ahead);
    if (this.twin?.view) this.twin.renderer.draw(this.twin.view, this.camera, ahead);
    this.overlay.draw(this.view, this.camera);
    if (this.twin?.view) this.twinOverlay.draw(this.twin.view, this.camera);
    this.panels.showView({ ...this.view, playing: this.isRun ? this.player.playing : this.view.playing });
    const surfaces = new Set(this.view.vertexDrops).size;
    element("count").value = `${this.view.ids.length + surfaces} drops`;
    this.frames += 1;
  }

  /** @param {string} text */
  notice(text) {
    const box = element("notices");
    if ([...box.children].some((child) => child.textContent === text)) return;
    const p = document.createElement("p");
    p.textContent = text;
    box.append(p);
    while (box.children.length > 3) box.firstChild.remove();
    setTimeout(() => p.remove(), 7000);
  }

  saveStill() {
    if (!this.view) return;
    this.renderer.draw(this.view, this.camera, 0);
    this.canvas.toBlob((/** @type {Blob | null} */ blob) => blob && save(blob, "sessile.png"), "image/png");
  }

  toggleClip() {
    const button = element("save-clip");
    if (this.recorder) {
      this.recorder.stop();
      return;
    }
    const type = ["video/mp4;codecs=avc1", "video/webm;codecs=vp9", "video/webm"].find((t) => MediaRecorder.isTypeSupported(t));
    if (!type) {
      this.notice("this browser cannot record clips");
      return;
    }
    const recorder = new MediaRecorder(this.canvas.captureStream(30), { mimeType: type, videoBitsPerSecond: 12e6 });
    /** @type {Blob[]} */
    const parts = [];
    recorder.ondataavailable = (event) => parts.push(event.data);
    recorder.onstop = () => {
      save(new Blob(parts, { type }), type.includes("mp4") ? "sessile.mp4" : "sessile.webm");
      this.recorder = null;
      button.textContent = "Record a clip (WebM)";
      button.setAttribute("aria-pressed", "false");
    };
    recorder.start();
    this.recorder = recorder;
    button.textContent = "Stop and save the clip";
    button.setAttribute("aria-pressed", "true");
  }

  hints() {
    try {
      if (localStorage.getItem("sessile-hints")) return;
    } catch {
      return;
    }
    element("hints").hidden = false;
    element("hints-close").onclick = () => this.closeHints();
  }

  closeHints() {
    element("hints").hidden = true;
    try {
      localStorage.setItem("sessile-hints", "seen");
    } catch {
      // A browser that keeps nothing shows the hints again.
    }
  }
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

try {
  // For tests and for the console.
  Object.assign(window, { studio: new Studio() });
} catch (error) {
  element("no-webgl").hidden = !String(error).includes("WebGL2 is not available");
  throw error;
}

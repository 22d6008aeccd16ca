// Draws a view: background and solids into a picture with mips, then drops that refract it.
// @ts-check

import { DROP_FRAGMENT, DROP_VERTEX, SURFACE_VERTEX } from "./drop_shaders.js";
import * as shaders from "./shaders.js";
import { STRIDE } from "./protocol.js";
import { Shadows } from "./shadows.js";
import { makeLight } from "./light.js";
import { dot, normalize, poseMatrix, sub } from "./vectors.js";

/** @typedef {import("./vectors.js").Vec3} Vec3 */
/** @typedef {import("./protocol.js").View} View */

/** Height on the screen in pixels above which a drop gets the fine template. */
const FINE = 9;
/** Most area lights that are drawn. */
const MOST_AREAS = 4;
/** Columns and rows of the picture that exposure is measured on, at most. */
const METER = 128;
/** The darkest and the brightest that exposure counts, as crates/render/src/tone_map.rs does. */
const [RANGE, MOST_BRIGHT] = [4096, 4];
/** How the display shows light: the numbers of the shaders. */
/** @type {Record<string, number>} */
const DISPLAYS = { standard: 0, filmic: 1, agx: 2, raw: 3 };
/** Until the scene has come. */
const PLAIN_LIGHT = { harmonics: Array.from({ length: 9 }, (_, k) => (k === 0 ? [3.5, 3.5, 3.5] : [0, 0, 0])), sun: null, areas: [] };

export class Renderer {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.software = isSoftware();
    const gl = canvas.getContext("webgl2", { antialias: !this.software, alpha: false, powerPreference: "high-performance" });
    if (!gl) throw new Error("WebGL2 is not available");
    this.canvas = canvas;
    this.gl = gl;
    this.half = gl.getExtension("EXT_color_buffer_float") || gl.getExtension("EXT_color_buffer_half_float");
    gl.getExtension("OES_texture_float_linear");
    this.light = PLAIN_LIGHT;
    this.exposure = 1;
    /** Frames until exposure is measured; it then holds, as in a film. */
    this.meter = 1;
    /** Triangles, draw calls and texture reads per pixel of the last picture. */
    this.spent = { triangles: 0, calls: 0 };
    this.show = { wet: false, contactLine: false };
    /** @type {any[]} */
    this.solids = [];
    /** @type {boolean[]} */
    this.glass = [];
    this.scale = this.software ? 0.75 : 1;
    this.build();
  }

  build() {
    const gl = this.gl;
    this.programs = {
      background: this.program(shaders.FULLSCREEN, shaders.BACKGROUND),
      solid: this.program(shaders.SOLID_VERTEX, shaders.SOLID_FRAGMENT),
      light: this.program(shaders.LIGHT_VERTEX, shaders.LIGHT_FRAGMENT),
      copy: this.program(shaders.FULLSCREEN, shaders.COPY),
      drop: this.program(DROP_VERTEX, DROP_FRAGMENT),
      surface: this.program(SURFACE_VERTEX, DROP_FRAGMENT),
    };
    this.empty = gl.createVertexArray();
    this.environment = this.colorTexture(2, 2, new Uint16Array(16).fill(0x3c00));
    this.photo = this.colorTexture(2, 2, null);
    this.caustics = this.makeLightTexture();
    this.instances = { fine: this.instanced(this.cap(12, 36)), coarse: this.instanced(this.cap(4, 12)) };
    this.quads = this.instanced({ corners: new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), indices: new Uint16Array([0, 1, 2, 2, 1, 3]) });
    this.surface = this.makeSurface();
    this.base = this.makeBase(2, 2);
    this.dry = this.wetTexture(1, 1, new Uint8Array(2));
    this.shadows = new Shadows(this);
  }

  /** @param {string} vertex @param {string} fragment */
  program(vertex, fragment) {
    const gl = this.gl;
    const program = gl.createProgram();
    for (const [type, source] of /** @type {[number, string][]} */ ([[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]])) {
      const shader = /** @type {WebGLShader} */ (gl.createShader(type));
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
        throw new Error(`a shader does not compile: ${gl.getShaderInfoLog(shader)}`);
      }
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error(`a program does not link: ${gl.getProgramInfoLog(program)}`);
    }
    /** @type {Map<string, WebGLUniformLocation | null>} */
    const places = new Map();
    const at = (/** @type {string} */ name) => {
      if (!places.has(name)) places.set(name, gl.getUniformLocation(program, name));
      return /** @type {WebGLUniformLocation} */ (places.get(name) ?? null);
    };
    return { program, at };
  }

  /** @param {number} min @param {number} mag @param {number} wrap */
  filter(min, mag, wrap) {
    const gl = this.gl;
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, min);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, mag);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, wrap);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, wrap === gl.REPEAT ? gl.REPEAT : gl.CLAMP_TO_EDGE);
  }

  /** @param {number} width @param {number} height @param {Uint16Array | null} texels half floats */
  colorTexture(width, height, texels) {
    const gl = this.gl;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    if (texels || this.half) gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA16F, width, height, 0, gl.RGBA, gl.HALF_FLOAT, texels);
    else gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    return texture;
  }

  /** A picture of the scene's look. @param {{what: string, solid: number, width: number, height: number, texels: any}} picture */
  setPicture({ what, solid, width, height, texels }) {
    const gl = this.gl;
    if (what === "environment") {
      gl.deleteTexture(this.environment);
      this.environment = this.colorTexture(width, height, texels);
      if (this.half) gl.generateMipmap(gl.TEXTURE_2D);
      this.filter(this.half ? gl.LINEAR_MIPMAP_LINEAR : gl.LINEAR, gl.LINEAR, gl.REPEAT);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    } else {
      const texture = gl.createTexture();
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.texImage2D(gl.TEXTURE_2D, 0, what === "relief" ? gl.RGBA8 : gl.SRGB8_ALPHA8, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, texels);
      gl.generateMipmap(gl.TEXTURE_2D);
      this.filter(gl.LINEAR_MIPMAP_LINEAR, gl.LINEAR, what === "backdrop" ? gl.CLAMP_TO_EDGE : gl.REPEAT);
      const key = what === "relief" ? "relief" : "color";
      if (what === "backdrop") {
        gl.deleteTexture(this.photo);
        this.photo = texture;
      } else if (this.solids[solid]) {
        if (this.solids[solid][key]) gl.deleteTexture(this.solids[solid][key]);
        this.solids[solid][key] = texture;
      } else gl.deleteTexture(texture);
    }
    this.meter = 2;
  }

  makeLightTexture() {
    const gl = this.gl;
    const { side, layers, data } = makeLight(1.333);
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage3D(gl.TEXTURE_2D_ARRAY, 0, gl.R8, side, side, layers, 0, gl.RED, gl.UNSIGNED_BYTE, data);
    gl.generateMipmap(gl.TEXTURE_2D_ARRAY);
    for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
      [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) {
      gl.texParameteri(gl.TEXTURE_2D_ARRAY, name, value);
    }
    return texture;
  }

  /** A template of rings and sectors: share of the way from apex to contact line, and angle. */
  /** @param {number} rings @param {number} sectors */
  cap(rings, sectors) {
    const corners = new Float32Array(2 * (rings + 1) * (sectors + 1));
    const indices = new Uint16Array(6 * rings * sectors);
    let k = 0;
    for (let ring = 0; ring <= rings; ring++) {
      for (let sector = 0; sector <= sectors; sector++) {
        // Denser at the contact line, where the outline is.
        corners[k++] = 1 - (1 - ring / rings) ** 1.3;
        corners[k++] = (2 * Math.PI * sector) / sectors;
      }
    }
    k = 0;
    for (let ring = 0; ring < rings; ring++) {
      for (let sector = 0; sector < sectors; sector++) {
        const a = ring * (sectors + 1) + sector;
        const b = a + sectors + 1;
        indices.set([a, b, a + 1, a + 1, b, b + 1], k);
        k += 6;
      }
    }
    return { corners, indices };
  }

  /** @param {{corners: Float32Array, indices: Uint16Array}} template */
  instanced(template) {
    const gl = this.gl;
    const vao = gl.createVertexArray();
    gl.bindVertexArray(vao);
    const corners = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, corners);
    gl.bufferData(gl.ARRAY_BUFFER, template.corners, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    const indices = gl.createBuffer();
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, indices);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, template.indices, gl.STATIC_DRAW);
    const drops = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, drops);
    for (let k = 0; k < 5; k++) {
      gl.enableVertexAttribArray(k + 1);
      gl.vertexAttribPointer(k + 1, 4, gl.FLOAT, false, 4 * STRIDE, 16 * k);
      gl.vertexAttribDivisor(k + 1, 1);
    }
    gl.bindVertexArray(null);
    return { vao, drops, count: template.indices.length };
  }

  makeSurface() {
    const gl = this.gl;
    const vao = gl.createVertexArray();
    const [positions, normals, indices] = [gl.createBuffer(), gl.createBuffer(), gl.createBuffer()];
    gl.bindVertexArray(vao);
    [positions, normals].forEach((buffer, k) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 0, 0);
    });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, indices);
    gl.bindVertexArray(null);
    return { vao, positions, normals, indices };
  }

  /** @param {number} width @param {number} height */
  makeBase(width, height) {
    const gl = this.gl;
    const [texture, under] = [0, 1].map(() => {
      const made = this.colorTexture(width, height, null);
      this.filter(gl.LINEAR_MIPMAP_LINEAR, gl.LINEAR, gl.CLAMP_TO_EDGE);
      return made;
    });
    const depth = gl.createRenderbuffer();
    gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, width, height);
    const target = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT1, gl.TEXTURE_2D, under, 0);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
    gl.drawBuffers([gl.COLOR_ATTACHMENT0, gl.COLOR_ATTACHMENT1]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return { texture, under, depth, target, width, height };
  }

  /** @param {number} width @param {number} height @param {Uint8Array} pixels */
  wetTexture(width, height, pixels) {
    const gl = this.gl;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RG8, width, height, 0, gl.RG, gl.UNSIGNED_BYTE, pixels);
    this.filter(gl.LINEAR, gl.LINEAR, gl.CLAMP_TO_EDGE);
    return { texture, width, height };
  }

  /** @param {any} scene */
  setScene(scene) {
    this.scene = scene;
    const kept = this.solids;
    kept.forEach((old, k) => {
      if (scene.solids[k]?.name !== old.name) this.forget(old);
    });
    this.solids = scene.solids.map((/** @type {any} */ solid, /** @type {number} */ k) => ({
      ...(kept[k]?.name === solid.name ? kept[k] : {}), name: solid.name, described: solid,
    }));
    this.light = scene.light ?? PLAIN_LIGHT;
    this.glass = scene.solids.map((/** @type {any} */ solid) => solid.look?.glass > 0);
    this.mainLight = mainLight(this.light, scene);
    this.meter = 2;
  }

  /** Frees what the card keeps of a solid. @param {any} solid */
  forget(solid) {
    const gl = this.gl;
    if (solid.vao) gl.deleteVertexArray(solid.vao);
    if (solid.buffer) gl.deleteBuffer(solid.buffer);
    if (solid.wet) gl.deleteTexture(solid.wet.texture);
    if (solid.color) gl.deleteTexture(solid.color);
    if (solid.relief) gl.deleteTexture(solid.relief);
    Object.assign(solid, { vao: null, buffer: null, wet: null, color: null, relief: null });
  }

  /** @param {number} index @param {number} triangles @param {Float32Array} corners */
  setMesh(index, triangles, corners) {
    const gl = this.gl;
    const solid = this.solids[index];
    if (!solid) return;
    this.forget(solid);
    const vao = gl.createVertexArray();
    gl.bindVertexArray(vao);
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, corners, gl.STATIC_DRAW);
    [[3, 0], [3, 12], [2, 24]].forEach(([size, offset], k) => {
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, size, gl.FLOAT, false, 32, offset);
    });
    gl.bindVertexArray(null);
    Object.assign(solid, { vao, buffer, count: 3 * triangles, corners });
    this.meter = 2;
  }

  /** @param {{solid: number, width: number, height: number, row: number, rows: number, pixels: Uint8Array}} image */
  setWet(image) {
    const gl = this.gl;
    const solid = this.solids[image.solid];
    if (!solid) return;
    if (!solid.wet || solid.wet.width !== image.width || solid.wet.height !== image.height) {
      if (solid.wet) gl.deleteTexture(solid.wet.texture);
      solid.wet = this.wetTexture(image.width, image.height, new Uint8Array(2 * image.width * image.height));
    }
    gl.bindTexture(gl.TEXTURE_2D, solid.wet.texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, image.row, image.width, image.rows, gl.RG, gl.UNSIGNED_BYTE, image.pixels);
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2) * this.scale;
    const width = Math.max(2, Math.round(this.canvas.clientWidth * ratio));
    const height = Math.max(2, Math.round(this.canvas.clientHeight * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) {
      [this.canvas.width, this.canvas.height] = [width, height];
    }
    const share = this.software ? 0.5 : 1;
    const [w, h] = [Math.max(2, Math.round(width * share)), Math.max(2, Math.round(height * share))];
    if (this.base.width !== w || this.base.height !== h) {
      const gl = this.gl;
      gl.deleteTexture(this.base.texture);
      gl.deleteTexture(this.base.under);
      gl.deleteRenderbuffer(this.base.depth);
      gl.deleteFramebuffer(this.base.target);
      this.base = this.makeBase(w, h);
    }
  }

  /**
   * @param {View} view
   * @param {import("./camera.js").Camera} camera
   * @param {number} ahead time since the view, in s
   */
  draw(view, camera, ahead) {
    const gl = this.gl;
    if (gl.isContextLost()) return;
    this.resize();
    camera.aspect = this.canvas.width / this.canvas.height;
    const eye = { ...camera.matrices(), span: [Math.tan(camera.fov / 2) * camera.aspect, Math.tan(camera.fov / 2)] };
    this.spent = { triangles: 0, calls: 0 };
    const poses = this.solids.map((_, k) => poseMatrix(view.poses.subarray(12 * k, 12 * k + 12)));
    const split = this.split(view, eye);
    this.shadows.update(poses);

    gl.bindFramebuffer(gl.FRAMEBUFFER, this.base.target);
    gl.viewport(0, 0, this.base.width, this.base.height);
    gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    this.drawBackground(eye);
    gl.enable(gl.DEPTH_TEST);
    this.drawSolids(eye, poses, false);
    this.drawLight(view, eye, ahead);
    gl.activeTexture(gl.TEXTURE0);
    for (const texture of [this.base.under, this.base.texture]) {
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.generateMipmap(gl.TEXTURE_2D);
    }
    if (this.meter > 0 && this.solids.every((solid) => solid.vao || !solid.described.shown)) {
      this.meter -= 1;
      this.measureExposure();
    }

    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    const copy = this.programs.copy;
    gl.useProgram(copy.program);
    this.bindEnvironment(copy, eye);
    gl.bindVertexArray(this.empty);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.base.texture);
    gl.uniform1i(copy.at("uBase"), 0);
    this.drawArrays(3);
    gl.enable(gl.DEPTH_TEST);
    gl.colorMask(false, false, false, false);
    this.drawSolids(eye, poses, true);
    gl.colorMask(true, true, true, true);
    this.drawDrops(split, eye, ahead);
    this.drawSurfaces(view, eye);
    gl.bindVertexArray(null);
  }

  /** Drops by their size on the screen. */
  /** @param {View} view @param {{eye: Vec3, span: number[]}} eye */
  split(view, eye) {
    const count = view.ids.length;
    const pixels = this.canvas.height / (2 * eye.span[1]);
    if (!this.sorted || this.sorted.length < view.drops.length) {
      this.sorted = new Float32Array(Math.ceil(view.drops.length * 1.5) + STRIDE);
    }
    const d = view.drops;
    let [fine, coarse] = [0, count];
    for (let k = 0; k < count; k++) {
      const at = k * STRIDE;
      const distance = Math.hypot(d[at] - eye.eye[0], d[at + 1] - eye.eye[1], d[at + 2] - eye.eye[2]);
      const isFine = (d[at + 9] / distance) * pixels > FINE;
      const to = isFine ? fine++ : --coarse;
      this.sorted.set(d.subarray(at, at + STRIDE), to * STRIDE);
    }
    return { fine, count };
  }

  /** @param {number} count of vertices */
  drawArrays(count) {
    this.gl.drawArrays(this.gl.TRIANGLES, 0, count);
    this.spent.triangles += count / 3;
    this.spent.calls += 1;
  }

  /**
   * Exposure as images have it: the log-average of the solids and of what is behind them is brought to
   * the level that the picture's alpha asks for.
   */
  measureExposure() {
    const gl = this.gl;
    const { display } = this.scene ?? {};
    if (display?.backdrop) {
      this.exposure = 1 / display.backdrop.white;
      return;
    }
    if (!gl.getExtension("EXT_color_buffer_float")) return;
    let [level, width, height] = [0, this.base.width, this.base.height];
    while (Math.max(width, height) > METER) [level, width, height] = [level + 1, Math.max(1, width >> 1), Math.max(1, height >> 1)];
    const target = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.base.texture, level);
    const pixels = new Float32Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.FLOAT, pixels);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.deleteFramebuffer(target);
    const levels = [];
    let wanted = 0;
    for (let k = 0; k < pixels.length; k += 4) {
      const light = 0.2126 * pixels[k] + 0.7152 * pixels[k + 1] + 0.0722 * pixels[k + 2];
      if (!Number.isFinite(light)) continue;
      levels.push(light);
      wanted += Math.log(Math.max(0.01, pixels[k + 3]));
    }
    if (levels.length === 0) return;
    const bright = [...levels].sort((a, b) => a - b)[Math.floor((levels.length - 1) * 0.99)];
    if (!(bright > 0)) return;
    const mean = Math.exp(levels.reduce((sum, light) => sum + Math.log(Math.max(light, bright / RANGE)), 0) / levels.length);
    this.exposure = Math.min(Math.exp(wanted / levels.length) / mean, MOST_BRIGHT / bright) * (display?.exposure ?? 1);
  }

  /** Light from infinity, and how the display shows it. */
  /** @param {{at: (name: string) => WebGLUniformLocation}} program @param {any} eye */
  bindEnvironment(program, eye) {
    const gl = this.gl;
    const { backdrop, view } = this.scene?.display ?? {};
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.environment);
    gl.uniform1i(program.at("uEnvironment"), 1);
    gl.activeTexture(gl.TEXTURE2);
    gl.bindTexture(gl.TEXTURE_2D, this.photo);
    gl.uniform1i(program.at("uBackdrop"), 2);
    gl.uniformMatrix3fv(program.at("uAxes"), false, [...eye.right, ...eye.up, ...eye.forward]);
    gl.uniform2fv(program.at("uSpan"), eye.span);
    const ratio = backdrop ? (eye.span[0] / eye.span[1]) / (backdrop.size[0] / backdrop.size[1]) : 1;
    gl.uniform2f(program.at("uCover"), Math.min(1, ratio), Math.min(1, 1 / ratio));
    // Texels of the backdrop per texel of the environment.
    gl.uniform2f(program.at("uPhoto"), backdrop?.white ?? 0, backdrop ? Math.log2(backdrop.size[1] * Math.min(1, 1 / ratio) / (2 * eye.span[1]) / 163) : 0);
    gl.uniform1f(program.at("uExposure"), this.exposure);
    gl.uniform1i(program.at("uDisplay"), backdrop ? 4 : DISPLAYS[view] ?? 1);
  }

  /** @param {{at: (name: string) => WebGLUniformLocation}} program */
  bindLights(program) {
    const gl = this.gl;
    const { harmonics, sun, areas } = this.light;
    gl.uniform3fv(program.at("uHarmonics"), harmonics.flat());
    gl.uniform3fv(program.at("uSun"), normalize(sun?.direction ?? [0, 1, 0]));
    gl.uniform3fv(program.at("uSunLight"), sun?.irradiance ?? [0, 0, 0]);
    const shown = areas.slice(0, MOST_AREAS);
    gl.uniform1i(program.at("uAreas"), shown.length);
    if (shown.length === 0) return;
    gl.uniform3fv(program.at("uAreaCenter"), shown.flatMap((/** @type {any} */ light) => light.center));
    gl.uniform3fv(program.at("uAreaNormal"), shown.flatMap((/** @type {any} */ light) => light.normal));
    gl.uniform3fv(program.at("uAreaPower"), shown.flatMap((/** @type {any} */ light) => light.radiance.map((/** @type {number} */ c) => c * light.area)));
  }

  drawBackground(eye) {
    const gl = this.gl;
    const program = this.programs.background;
    gl.useProgram(program.program);
    this.bindEnvironment(program, eye);
    gl.bindVertexArray(this.empty);
    this.drawArrays(3);
  }

  drawSolids(eye, poses, depthOnly) {
    const gl = this.gl;
    const program = this.programs.solid;
    gl.useProgram(program.program);
    this.bindEnvironment(program, eye);
    this.bindLights(program);
    gl.uniformMatrix4fv(program.at("uViewProjection"), false, eye.viewProjection);
    gl.uniform3fv(program.at("uEye"), eye.eye);
    gl.uniform1i(program.at("uShowWet"), this.show.wet ? 1 : 0);
    for (const glass of [false, true]) {
      if (glass && depthOnly) break;
      if (glass) {
        gl.enable(gl.BLEND);
        gl.blendFuncSeparate(gl.ONE, gl.ONE_MINUS_SRC_ALPHA, gl.ZERO, gl.ONE);
        gl.depthMask(false);
      }
      this.solids.forEach((solid, k) => {
        if (!solid.vao || this.glass[k] !== glass) return;
        this.shadows.bind(program, k);
        this.drawSolid(program, solid, poses[k]);
      });
    }
    gl.disable(gl.BLEND);
    gl.depthMask(true);
  }

  /** @param {ReturnType<Renderer["program"]>} program @param {any} solid @param {Float32Array} pose */
  drawSolid(program, solid, pose) {
    const gl = this.gl;
    const look = solid.described.look ?? {};
    const isWet = this.show.wet || this.scene?.display?.wet_paths !== false;
    gl.uniformMatrix4fv(program.at("uPose"), false, pose);
    gl.uniform3fv(program.at("uAlbedo"), look.color ?? [0.5, 0.5, 0.5]);
    gl.uniform3fv(program.at("uTransmittance"), look.transmittance ?? [0, 0, 0]);
    gl.uniform3fv(program.at("uTint"), look.tint ?? [1, 1, 1]);
    gl.uniform4f(program.at("uSurface"), look.alpha ?? 1, look.metallic ?? 0, look.coat ?? 0, look.porosity ?? 0);
    gl.uniform1f(program.at("uIndex"), look.glass ?? 1.5);
    gl.uniform1i(program.at("uIsGlass"), look.glass > 0 ? 1 : 0);
    gl.uniform1i(program.at("uTextured"), look.textured && solid.color ? 1 : 0);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, ((isWet && solid.wet) || this.dry).texture);
    gl.uniform1i(program.at("uWet"), 0);
    gl.activeTexture(gl.TEXTURE3);
    gl.bindTexture(gl.TEXTURE_2D, solid.color ?? this.photo);
    gl.uniform1i(program.at("uColor"), 3);
    gl.uniform1i(program.at("uIsRelief"), look.relief && solid.relief ? 1 : 0);
    gl.activeTexture(gl.TEXTURE6);
    gl.bindTexture(gl.TEXTURE_2D, solid.relief ?? this.photo);
    gl.uniform1i(program.at("uRelief"), 6);
    gl.bindVertexArray(solid.vao);
    this.drawArrays(solid.count);
  }

  /** One bit per solid, set where it is glass. */
  glassBits() {
    return this.glass.reduce((/** @type {number} */ bits, /** @type {boolean} */ glass, /** @type {number} */ k) => (glass && k < 31 ? bits | (1 << k) : bits), 0);
  }

  /** Shadow and caustic of the drops on opaque solids. */
  drawLight(view, eye, ahead) {
    const gl = this.gl;
    if (!this.glass || this.glass.every(Boolean) || !this.mainLight) return;
    const drops = this.withBases(view);
    const count = drops.length / STRIDE;
    if (count === 0) return;
    const program = this.programs.light;
    gl.useProgram(program.program);
    gl.uniformMatrix4fv(program.at("uViewProjection"), false, eye.viewProjection);
    gl.uniform3fv(program.at("uMainLight"), this.mainLight.towards);
    gl.uniform2f(program.at("uShare"), this.mainLight.share, this.mainLight.blur);
    gl.uniform1f(program.at("uAhead"), ahead);
    gl.uniform1i(program.at("uGlass"), this.glassBits());
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, this.caustics);
    gl.uniform1i(program.at("uLight"), 0);
    gl.bindVertexArray(this.quads.vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.quads.drops);
    gl.bufferData(gl.ARRAY_BUFFER, drops, gl.STREAM_DRAW);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.DST_COLOR, gl.ZERO, gl.ZERO, gl.ONE);
    gl.depthMask(false);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(-2, -4);
    gl.drawElementsInstanced(gl.TRIANGLES, this.quads.count, gl.UNSIGNED_SHORT, 0, count);
    this.spent.triangles += 2 * count;
    this.spent.calls += 1;
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  /** The drops, and for surfaces that stand on a plane a cap of the same base and volume each. @param {View} view */
  withBases(view) {
    if (view.triangles.length === 0) return view.drops;
    const plane = this.scene?.solids.findIndex((/** @type {any} */ solid) => solid.plane);
    if (plane === undefined || plane < 0) return view.drops;
    const n = this.scene.solids[plane].plane.normal;
    /** @type {Map<number, {low: number[], high: number[], top: number, base: number}>} */
    const bases = new Map();
    const p = view.positions;
    view.triangleSolids.forEach((solid, t) => {
      for (let c = 0; c < 3; c++) {
        const v = view.triangles[3 * t + c];
        const at = [p[3 * v], p[3 * v + 1], p[3 * v + 2]];
        const height = at[0] * n[0] + at[1] * n[1] + at[2] * n[2];
        const id = view.vertexDrops[v];
        const own = bases.get(id) ?? { low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity], top: -Infinity, base: Infinity };
        own.top = Math.max(own.top, height);
        if (solid === plane) {
          own.base = Math.min(own.base, height);
          for (let k = 0; k < 3; k++) [own.low[k], own.high[k]] = [Math.min(own.low[k], at[k]), Math.max(own.high[k], at[k])];
        }
        bases.set(id, own);
      }
    });
    const standing = [...bases.values()].filter((own) => Number.isFinite(own.base));
    const drops = new Float32Array(view.drops.length + STRIDE * standing.length);
    drops.set(view.drops);
    standing.forEach(({ low, high, top, base }, k) => {
      const o = view.drops.length + STRIDE * k;
      const radius = 0.5 * Math.max(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
      drops.set(low.map((v, a) => 0.5 * (v + high[a])), o);
      drops.set(n, o + 3);
      [drops[o + 9], drops[o + 10], drops[o + 18]] = [radius, top - base, plane];
    });
    return drops;
  }

  /** @param {ReturnType<Renderer["program"]>} program */
  bindDrops(program, eye, isSurface) {
    const gl = this.gl;
    const liquid = this.scene?.liquid ?? {};
    gl.useProgram(program.program);
    this.bindEnvironment(program, eye);
    this.bindLights(program);
    [this.base.texture, this.base.under].forEach((texture, k) => {
      gl.activeTexture(k === 0 ? gl.TEXTURE0 : gl.TEXTURE3);
      gl.bindTexture(gl.TEXTURE_2D, texture);
    });
    gl.uniform1i(program.at("uBase"), 0);
    gl.uniform1i(program.at("uUnder"), 3);
    gl.uniformMatrix4fv(program.at("uViewProjection"), false, eye.viewProjection);
    gl.uniform3fv(program.at("uEye"), eye.eye);
    gl.uniform1f(program.at("uIndex"), Math.max(1.05, liquid.index ?? 1.333));
    gl.uniform3fv(program.at("uAbsorption"), liquid.absorption ?? [0, 0, 0]);
    gl.uniform4fv(program.at("uOpaque"), [...(liquid.opaque ?? [0, 0, 0]), liquid.opaque ? (liquid.metal ? 2 : 1) : 0]);
    gl.uniform1i(program.at("uGlass"), this.glassBits());
    gl.uniform1i(program.at("uContactLine"), this.show.contactLine ? 1 : 0);
    gl.uniform1i(program.at("uIsSurface"), isSurface ? 1 : 0);
  }

  drawDrops(split, eye, ahead) {
    const gl = this.gl;
    if (split.count === 0) return;
    const program = this.programs.drop;
    this.bindDrops(program, eye, false);
    gl.uniform1f(program.at("uAhead"), ahead);
    const draw = (/** @type {any} */ template, /** @type {number} */ from, /** @type {number} */ to) => {
      if (to <= from) return;
      gl.bindVertexArray(template.vao);
      gl.bindBuffer(gl.ARRAY_BUFFER, template.drops);
      gl.bufferData(gl.ARRAY_BUFFER, this.sorted.subarray(from * STRIDE, to * STRIDE), gl.STREAM_DRAW);
      gl.drawElementsInstanced(gl.TRIANGLES, template.count, gl.UNSIGNED_SHORT, 0, to - from);
      this.spent.triangles += (template.count / 3) * (to - from);
      this.spent.calls += 1;
    };
    draw(this.instances.fine, 0, split.fine);
    draw(this.instances.coarse, split.fine, split.count);
  }

  drawSurfaces(view, eye) {
    const gl = this.gl;
    if (view.triangles.length === 0) return;
    const program = this.programs.surface;
    this.bindDrops(program, eye, true);
    const plane = this.scene?.solids.find((/** @type {any} */ solid) => solid.plane);
    if (plane) {
      const n = plane.plane.normal;
      const at = [0, 1, 2].map((k) => (plane.low[k] + plane.high[k]) / 2);
      gl.uniform4f(program.at("uPlane"), n[0], n[1], n[2], n[0] * at[0] + n[1] * at[1] + n[2] * at[2]);
    } else gl.uniform4f(program.at("uPlane"), 0, 0, 0, 0);
    const free = new Uint32Array(view.triangles.length);
    let count = 0;
    for (let t = 0; t < view.triangleSolids.length; t++) {
      if (view.triangleSolids[t] < 0) {
        free.set(view.triangles.subarray(3 * t, 3 * t + 3), count);
        count += 3;
      }
    }
    gl.bindVertexArray(this.surface.vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.surface.positions);
    gl.bufferData(gl.ARRAY_BUFFER, view.positions, gl.STREAM_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.surface.normals);
    gl.bufferData(gl.ARRAY_BUFFER, view.normals, gl.STREAM_DRAW);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.surface.indices);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, free.subarray(0, count), gl.STREAM_DRAW);
    gl.drawElements(gl.TRIANGLES, count, gl.UNSIGNED_INT, 0);
    this.spent.triangles += count / 3;
    this.spent.calls += 1;
  }
}

/**
 * The light that casts the shadows of drops: the sun, else the strongest area light, else the main direction of the
 * environment. Its share of all light, and how blurred it is.
 * @param {any} light @param {any} scene
 */
function mainLight(light, scene) {
  const gray = (/** @type {number[]} */ c) => 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
  const ambient = 0.282095 * Math.PI * gray(light.harmonics[0]);
  const middle = /** @type {Vec3} */ ([0, 1, 2].map((k) => scene.solids.reduce((/** @type {number} */ sum, /** @type {any} */ s) => sum + (s.low[k] + s.high[k]) / 2, 0)
    / Math.max(1, scene.solids.length)));
  const lamps = light.areas.map((/** @type {any} */ area) => {
    const way = sub(area.center, middle);
    const towards = normalize(way);
    const distance2 = dot(way, way);
    return { towards, power: gray(area.radiance) * area.area * Math.max(0, -dot(towards, area.normal)) / Math.max(distance2, area.area),
      blur: Math.log2(1 + 8 * Math.sqrt(area.area / distance2)) };
  });
  if (light.sun) lamps.push({ towards: normalize(light.sun.direction), power: gray(light.sun.irradiance), blur: 0 });
  // Degree 1 of the harmonics, without its weight of 2/3, over what light from one direction would have.
  const [y, z, x] = [1, 2, 3].map((k) => 1.5 * gray(light.harmonics[k]));
  const directed = Math.hypot(x, y, z) / (1.732 * Math.max(1e-9, gray(light.harmonics[0])));
  lamps.push({ towards: normalize([x, y, z]), power: directed * ambient, blur: 2.5 });
  const best = lamps.reduce((a, b) => (b.power > a.power ? b : a));
  const all = ambient * (1 - directed) + lamps.reduce((/** @type {number} */ sum, /** @type {any} */ lamp) => sum + lamp.power, 0);
  return { towards: best.towards, share: Math.min(1, best.power / Math.max(1e-9, all)), blur: best.blur };
}

/** Whether pictures are drawn without a graphics card: then fewer pixels are drawn. */
function isSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return false;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

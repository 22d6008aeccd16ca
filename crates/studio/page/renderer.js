// Draws a view: background and solids into a picture with mips, then drops that refract it.
// @ts-check

import { DROP_FRAGMENT, DROP_VERTEX, SURFACE_VERTEX } from "./drop_shaders.js";
import * as shaders from "./shaders.js";
import { STRIDE } from "./protocol.js";
import { makeLight } from "./light.js";
import { normalize, poseMatrix } from "./vectors.js";

/** @typedef {import("./vectors.js").Vec3} Vec3 */
/** @typedef {import("./protocol.js").View} View */

/** Height on the screen in pixels above which a drop gets the fine template. */
const FINE = 9;
const SIZE = [1024, 512];

/** Colors and roughness of looks. */
/** @type {Record<string, {albedo: Vec3, rough: number, metal?: number}>} */
const LOOKS = {
  matte: { albedo: [0.5, 0.49, 0.47], rough: 0.75 },
  metal: { albedo: [0.62, 0.61, 0.6], rough: 0.25, metal: 1 },
  plastic: { albedo: [0.12, 0.28, 0.5], rough: 0.3 },
  rubber: { albedo: [0.045, 0.045, 0.05], rough: 0.6 },
  ceramic: { albedo: [0.68, 0.66, 0.62], rough: 0.15 },
  stone: { albedo: [0.3, 0.29, 0.28], rough: 0.85 },
  wood: { albedo: [0.34, 0.19, 0.09], rough: 0.5 },
  paint: { albedo: [0.5, 0.05, 0.05], rough: 0.15 },
  leaf: { albedo: [0.09, 0.25, 0.05], rough: 0.5 },
};

/** Absorption per m of red, green and blue. */
/** @type {Record<string, Vec3>} */
const TINTS = {
  milk: [20, 30, 60], honey: [40, 160, 500], blood: [120, 1800, 1800], ink: [3000, 2500, 1200], wine: [60, 700, 500],
};

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
    /** @type {Vec3} */
    this.sun = normalize([0.45, 0.75, 0.5]);
    this.show = { wet: false, contactLine: false };
    this.solids = [];
    this.environmentKind = 0;
    this.scale = this.software ? 0.75 : 1;
    this.build();
  }

  build() {
    const gl = this.gl;
    this.programs = {
      environment: this.program(shaders.FULLSCREEN, shaders.MAKE_ENVIRONMENT),
      background: this.program(shaders.FULLSCREEN, shaders.BACKGROUND),
      solid: this.program(shaders.SOLID_VERTEX, shaders.SOLID_FRAGMENT),
      light: this.program(shaders.LIGHT_VERTEX, shaders.LIGHT_FRAGMENT),
      copy: this.program(shaders.FULLSCREEN, shaders.COPY),
      drop: this.program(DROP_VERTEX, DROP_FRAGMENT),
      surface: this.program(SURFACE_VERTEX, DROP_FRAGMENT),
    };
    this.empty = gl.createVertexArray();
    this.noise = this.makeNoise();
    this.environment = this.makeEnvironment(this.environmentKind);
    this.light = this.makeLightTexture();
    this.instances = { fine: this.instanced(this.cap(12, 36)), coarse: this.instanced(this.cap(4, 12)) };
    this.quads = this.instanced({ corners: new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), indices: new Uint16Array([0, 1, 2, 2, 1, 3]) });
    this.surface = this.makeSurface();
    this.base = this.makeBase(2, 2);
    this.dry = this.wetTexture(1, 1, new Uint8Array(2));
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

  /** Smooth noise that repeats; the same on every rasterizer. */
  makeNoise() {
    const gl = this.gl;
    const side = 64;
    const data = new Uint8Array(side * side);
    let state = 12345;
    for (let k = 0; k < data.length; k++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      data[k] = state >>> 24;
    }
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R8, side, side, 0, gl.RED, gl.UNSIGNED_BYTE, data);
    this.filter(gl.LINEAR, gl.LINEAR, gl.REPEAT);
    return texture;
  }

  /** @param {number} min @param {number} mag @param {number} wrap */
  filter(min, mag, wrap) {
    const gl = this.gl;
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, min);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, mag);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, wrap);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, wrap === gl.REPEAT ? gl.REPEAT : gl.CLAMP_TO_EDGE);
  }

  /** @param {number} width @param {number} height */
  colorTexture(width, height) {
    const gl = this.gl;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    if (this.half) gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA16F, width, height, 0, gl.RGBA, gl.HALF_FLOAT, null);
    else gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    return texture;
  }

  /** @param {number} kind */
  makeEnvironment(kind) {
    const gl = this.gl;
    const texture = this.colorTexture(SIZE[0], SIZE[1]);
    this.filter(gl.LINEAR_MIPMAP_LINEAR, gl.LINEAR, gl.REPEAT);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    const target = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    gl.viewport(0, 0, SIZE[0], SIZE[1]);
    const { program, at } = this.programs.environment;
    gl.useProgram(program);
    gl.bindVertexArray(this.empty);
    gl.disable(gl.DEPTH_TEST);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.noise);
    gl.uniform1i(at("uNoise"), 0);
    gl.uniform1i(at("uKind"), kind);
    gl.uniform3fv(at("uSun"), this.sun);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.generateMipmap(gl.TEXTURE_2D);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.deleteFramebuffer(target);
    return texture;
  }

  /** @param {number} kind 0: garden, 1: room */
  setEnvironment(kind) {
    if (kind === this.environmentKind) return;
    this.environmentKind = kind;
    this.gl.deleteTexture(this.environment ?? null);
    this.environment = this.makeEnvironment(kind);
  }

  makeLightTexture() {
    const gl = this.gl;
    const { side, layers, data } = makeLight(1.333);
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage3D(gl.TEXTURE_2D_ARRAY, 0, gl.R8, side, side, layers, 0, gl.RED, gl.UNSIGNED_BYTE, data);
    for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
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
    const texture = this.colorTexture(width, height);
    this.filter(gl.LINEAR_MIPMAP_LINEAR, gl.LINEAR, gl.CLAMP_TO_EDGE);
    const depth = gl.createRenderbuffer();
    gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, width, height);
    const target = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return { texture, depth, target, width, height };
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
    this.solids = scene.solids.map((/** @type {any} */ solid, /** @type {number} */ k) => ({
      ...(kept[k]?.name === solid.name ? kept[k] : {}), name: solid.name, described: solid,
    }));
    const isWindow = scene.solids.some((/** @type {any} */ solid) => solid.look === "glass");
    this.setEnvironment(isWindow ? 0 : 1);
    this.glass = scene.solids.map((/** @type {any} */ solid) => solid.look === "glass");
  }

  /** @param {number} index @param {number} triangles @param {Float32Array} corners */
  setMesh(index, triangles, corners) {
    const gl = this.gl;
    const solid = this.solids[index];
    if (!solid) return;
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
    Object.assign(solid, { vao, count: 3 * triangles, corners, wet: null });
  }

  /** @param {{solid: number, width: number, height: number, row: number, rows: number, pixels: Uint8Array}} image */
  setWet(image) {
    const gl = this.gl;
    const solid = this.solids[image.solid];
    if (!solid) return;
    if (!solid.wet || solid.wet.width !== image.width || solid.wet.height !== image.height) {
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
    const eye = camera.matrices();
    const poses = this.solids.map((_, k) => poseMatrix(view.poses.subarray(12 * k, 12 * k + 12)));
    const split = this.split(view, eye);

    gl.bindFramebuffer(gl.FRAMEBUFFER, this.base.target);
    gl.viewport(0, 0, this.base.width, this.base.height);
    gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    this.drawBackground(eye, camera);
    gl.enable(gl.DEPTH_TEST);
    this.drawSolids(eye, poses, false);
    this.drawLight(view, eye, ahead);
    gl.bindTexture(gl.TEXTURE_2D, this.base.texture);
    gl.generateMipmap(gl.TEXTURE_2D);

    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    const copy = this.programs.copy;
    gl.useProgram(copy.program);
    gl.bindVertexArray(this.empty);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.base.texture);
    gl.uniform1i(copy.at("uBase"), 0);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.enable(gl.DEPTH_TEST);
    gl.colorMask(false, false, false, false);
    this.drawSolids(eye, poses, true);
    gl.colorMask(true, true, true, true);
    this.drawDrops(split, eye, ahead);
    this.drawSurfaces(view, eye);
    gl.bindVertexArray(null);
  }

  /** Drops by their size on the screen. */
  /** @param {View} view @param {{eye: Vec3, viewProjection: Float32Array}} eye */
  split(view, eye) {
    const count = view.ids.length;
    const pixels = this.canvas.height / (2 * Math.tan((16 * Math.PI) / 180));
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

  /** @param {{at: (name: string) => WebGLUniformLocation}} program */
  bindEnvironment(program) {
    const gl = this.gl;
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.environment ?? null);
    gl.uniform1i(program.at("uEnvironment"), 1);
    gl.uniform3fv(program.at("uSun"), this.sun);
  }

  drawBackground(eye, camera) {
    const gl = this.gl;
    const program = this.programs.background;
    gl.useProgram(program.program);
    this.bindEnvironment(program);
    const t = Math.tan((16 * Math.PI) / 180);
    gl.uniform2f(program.at("uSpan"), t * camera.aspect, t);
    gl.uniform3fv(program.at("uRight"), eye.right);
    gl.uniform3fv(program.at("uUp"), eye.up);
    gl.uniform3fv(program.at("uForward"), eye.forward);
    gl.uniform1f(program.at("uBlur"), this.environmentKind === 0 ? 3.2 : 4.5);
    gl.bindVertexArray(this.empty);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  drawSolids(eye, poses, depthOnly) {
    const gl = this.gl;
    const program = this.programs.solid;
    gl.useProgram(program.program);
    this.bindEnvironment(program);
    gl.uniformMatrix4fv(program.at("uViewProjection"), false, eye.viewProjection);
    gl.uniform3fv(program.at("uEye"), eye.eye);
    gl.uniform1i(program.at("uShowWet"), this.show.wet ? 1 : 0);
    for (const glass of [false, true]) {
      if (glass && depthOnly) break;
      if (glass) {
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
        gl.depthMask(false);
      }
      this.solids.forEach((solid, k) => {
        if (!solid.vao || this.glass[k] !== glass) return;
        const look = LOOKS[solid.described.look] ?? LOOKS.matte;
        const checks = /check/.test(solid.described.texture ?? "");
        gl.uniformMatrix4fv(program.at("uPose"), false, poses[k]);
        gl.uniform3fv(program.at("uAlbedo"), checks ? [0.72, 0.7, 0.66] : look.albedo);
        gl.uniform3fv(program.at("uAlbedo2"), [0.16, 0.26, 0.4]);
        gl.uniform1i(program.at("uPattern"), checks ? 1 : 0);
        gl.uniform1f(program.at("uScale"), 0.01);
        gl.uniform1f(program.at("uRoughness"), look.rough);
        gl.uniform1f(program.at("uMetal"), look.metal ?? 0);
        gl.uniform1i(program.at("uLook"), glass ? 1 : 0);
        gl.activeTexture(gl.TEXTURE0);
        gl.bindTexture(gl.TEXTURE_2D, (solid.wet ?? this.dry).texture);
        gl.uniform1i(program.at("uWet"), 0);
        gl.bindVertexArray(solid.vao);
        gl.drawArrays(gl.TRIANGLES, 0, solid.count);
      });
    }
    gl.disable(gl.BLEND);
    gl.depthMask(true);
  }

  /** Shadow and caustic of the drops on opaque solids. */
  drawLight(view, eye, ahead) {
    const gl = this.gl;
    const count = view.ids.length;
    if (count === 0 || !this.glass || this.glass.every(Boolean)) return;
    const program = this.programs.light;
    gl.useProgram(program.program);
    gl.uniformMatrix4fv(program.at("uViewProjection"), false, eye.viewProjection);
    gl.uniform3fv(program.at("uSun"), this.sun);
    gl.uniform1f(program.at("uAhead"), ahead);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, this.light ?? null);
    gl.uniform1i(program.at("uLight"), 0);
    gl.bindVertexArray(this.quads.vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.quads.drops);
    gl.bufferData(gl.ARRAY_BUFFER, view.drops, gl.STREAM_DRAW);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.DST_COLOR, gl.ZERO);
    gl.depthMask(false);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(-2, -4);
    gl.drawElementsInstanced(gl.TRIANGLES, this.quads.count, gl.UNSIGNED_SHORT, 0, count);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  /** @param {ReturnType<Renderer["program"]>} program */
  bindDrops(program, eye, isSurface) {
    const gl = this.gl;
    gl.useProgram(program.program);
    this.bindEnvironment(program);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.base.texture);
    gl.uniform1i(program.at("uBase"), 0);
    gl.uniformMatrix4fv(program.at("uViewProjection"), false, eye.viewProjection);
    gl.uniform3fv(program.at("uEye"), eye.eye);
    gl.uniform1f(program.at("uIndex"), Math.max(1.05, this.scene?.liquid?.index ?? 1.333));
    const name = this.scene?.liquid?.name ?? "water";
    const tint = Object.entries(TINTS).find(([word]) => name.includes(word));
    gl.uniform3fv(program.at("uTint"), tint ? tint[1] : [0, 0, 0]);
    gl.uniform1i(program.at("uGlass"), this.glass?.[0] ? 1 : 0);
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
  }
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

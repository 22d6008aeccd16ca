// Shadows of opaque solids on planes: what they take of the light there, as textures over the planes.
// @ts-check

import { HEADER, LIGHTS } from "./shaders.js";
import { cross, dot, normalize, scale, transform } from "./vectors.js";

/** @typedef {import("./vectors.js").Vec3} Vec3 */
/** @typedef {import("./renderer.js").Renderer} Renderer */

/** Most planes with shadows. */
const MOST_PLANES = 4;
/** Width and height of the textures of light from all around, and of the sun and the area lights. */
const [SOFT, SHARP] = [256, 512];
/** Directions of the light from all around, and points of an area light. */
const [DIRECTIONS, POINTS] = [64, 16];
/** Triangles to draw for the shadows of a plane; heavy meshes get fewer directions and points. */
const TRIANGLES = 2e6;
const GOLDEN_ANGLE = 2.399963;

/** Projects a solid onto a plane, over its texture coordinates, from a light: a direction, or with w = 1 a point. */
const VERTEX = `${HEADER}
layout(location = 0) in vec3 aPosition;
uniform mat4 uPose;
uniform vec3 uOrigin, uAcross, uUp, uNormal;
uniform vec4 uLight;
out float vHeight;
void main() {
  vec3 p = (uPose * vec4(aPosition, 1.0)).xyz - uOrigin;
  vec3 light = uLight.xyz - uLight.w * uOrigin;
  float high = dot(light, uNormal);
  vHeight = dot(p, uNormal);
  vec3 met = p * high - light * vHeight;
  float w = high - uLight.w * vHeight;
  vec2 at = vec2(dot(met, uAcross) / dot(uAcross, uAcross), dot(met, uUp) / dot(uUp, uUp));
  gl_Position = vec4(2.0 * at - w, 0.0, w);
}`;

/** What is taken: of light from all around the same everywhere, of other lights what they give to the point. */
const FRAGMENT = `${HEADER}${LIGHTS}
#define LEVEL 5.0
in float vHeight;
out vec4 color;
uniform vec3 uOrigin, uAcross, uUp, uNormal, uTowards;
uniform float uSide, uShare;
uniform int uWhich;
uniform sampler2D uEnvironment;
void main() {
  // What is behind the plane casts no shadow on it.
  if (vHeight < 1e-6) discard;
  vec2 at = gl_FragCoord.xy / uSide;
  vec3 towards, light;
  if (uWhich == -2) {
    vec2 place = vec2(atan(uTowards.x, -uTowards.z) * 0.15915494, acos(clamp(uTowards.y, -1.0, 1.0)) * 0.31830989);
    light = textureLod(uEnvironment, place, LEVEL).rgb;
  } else {
    light = lightAt(uWhich, uOrigin + at.x * uAcross + at.y * uUp, towards);
    light *= max(dot(uNormal, towards), 0.0) * 0.31830989;
  }
  color = vec4(light * uShare, 1.0);
}`;

export class Shadows {
  /** @param {Renderer} renderer */
  constructor(renderer) {
    this.renderer = renderer;
    this.program = renderer.program(VERTEX, FRAGMENT);
    /** Textures by solid. @type {Map<number, {soft: any, sharp: any, plane: any}>} */
    this.planes = new Map();
    this.none = this.target(1);
    /** What the textures were made of. @type {any} */
    this.made = null;
  }

  /** A square of light. @param {number} side */
  target(side) {
    const { gl } = this.renderer;
    const texture = this.renderer.colorTexture(side, side, null);
    this.renderer.filter(gl.LINEAR_MIPMAP_LINEAR, gl.LINEAR, gl.CLAMP_TO_EDGE);
    const stencil = gl.createRenderbuffer();
    gl.bindRenderbuffer(gl.RENDERBUFFER, stencil);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH24_STENCIL8, side, side);
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_STENCIL_ATTACHMENT, gl.RENDERBUFFER, stencil);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.generateMipmap(gl.TEXTURE_2D);
    return { texture, stencil, frame, side };
  }

  /** @param {{soft: any, sharp: any}} own */
  forget(own) {
    const { gl } = this.renderer;
    for (const { texture, stencil, frame } of [own.soft, own.sharp]) {
      gl.deleteTexture(texture);
      gl.deleteRenderbuffer(stencil);
      gl.deleteFramebuffer(frame);
    }
  }

  /** Makes the textures again if a solid has moved or the light has changed. @param {Float32Array[]} poses */
  update(poses) {
    const { solids, light, half, environment } = this.renderer;
    if (!half) return;
    const numbers = [...poses, solids.map((solid) => solid.count ?? 0)];
    const isMade = [light, environment, solids].every((part, k) => this.made?.parts[k] === part);
    if (isMade && same(this.made.numbers, numbers)) return;
    this.made = { parts: [light, environment, solids], numbers };
    const casting = solids.map((solid, k) => k).filter((k) => solids[k].vao && !this.renderer.glass[k]);
    const wanted = casting.filter((k) => solids[k].described.plane && casting.length > 1).slice(0, MOST_PLANES);
    for (const [k, own] of this.planes) {
      if (wanted.includes(k)) continue;
      this.forget(own);
      this.planes.delete(k);
    }
    for (const k of wanted) {
      const plane = planeOf(solids[k], poses[k]);
      const own = this.planes.get(k) ?? { soft: this.target(SOFT), sharp: this.target(SHARP), plane };
      own.plane = plane;
      this.planes.set(k, own);
      this.draw(own, casting.filter((other) => other !== k), poses);
    }
  }

  /**
   * Draws the shadows of some solids on a plane.
   * @param {any} own @param {number[]} casting @param {Float32Array[]} poses
   */
  draw(own, casting, poses) {
    const { renderer, program } = this;
    const { gl, solids, light } = renderer;
    const triangles = casting.reduce((sum, k) => sum + solids[k].count / 3, 0);
    const share = Math.min(1, TRIANGLES / (triangles * (DIRECTIONS + POINTS * light.areas.length + 1)));
    const [directions, points] = [Math.max(8, Math.round(DIRECTIONS * share)), Math.max(1, Math.round(POINTS * share))];
    const lights = lightsOver(own.plane, light, directions, points);
    gl.useProgram(program.program);
    renderer.bindLights(program);
    gl.uniform3fv(program.at("uOrigin"), own.plane.origin);
    gl.uniform3fv(program.at("uAcross"), own.plane.across);
    gl.uniform3fv(program.at("uUp"), own.plane.up);
    gl.uniform3fv(program.at("uNormal"), own.plane.normal);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, renderer.environment);
    gl.uniform1i(program.at("uEnvironment"), 1);
    gl.disable(gl.DEPTH_TEST);
    gl.enable(gl.STENCIL_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.REPLACE);
    for (const [target, some] of /** @type {[any, any[]][]} */ ([[own.soft, lights.soft], [own.sharp, lights.sharp]])) {
      gl.bindFramebuffer(gl.FRAMEBUFFER, target.frame);
      gl.viewport(0, 0, target.side, target.side);
      gl.clearColor(0, 0, 0, 0);
      gl.clearStencil(0);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
      gl.uniform1f(program.at("uSide"), target.side);
      some.forEach(({ from, which, part }, sample) => {
        // Each light is taken once, however many triangles are in its way.
        gl.stencilFunc(gl.NOTEQUAL, sample + 1, 0xff);
        gl.uniform4fv(program.at("uLight"), from);
        gl.uniform1i(program.at("uWhich"), which);
        gl.uniform3fv(program.at("uTowards"), from.slice(0, 3));
        gl.uniform1f(program.at("uShare"), part);
        for (const k of casting) {
          gl.uniformMatrix4fv(program.at("uPose"), false, poses[k]);
          gl.bindVertexArray(solids[k].vao);
          renderer.drawArrays(solids[k].count);
        }
      });
      gl.bindTexture(gl.TEXTURE_2D, target.texture);
      gl.generateMipmap(gl.TEXTURE_2D);
    }
    gl.disable(gl.STENCIL_TEST);
    gl.disable(gl.BLEND);
  }

  /**
   * Binds the shadows on a plane; for another solid those on the ground, the first plane, which it mirrors.
   * @param {ReturnType<Renderer["program"]>} program @param {number} solid
   */
  bind(program, solid) {
    const { gl, solids, photo } = this.renderer;
    const receives = this.planes.has(solid);
    const ground = receives ? solid : [...this.planes.keys()][0] ?? -1;
    const own = this.planes.get(ground);
    [own?.soft, own?.sharp].forEach((target, k) => {
      gl.activeTexture(gl.TEXTURE4 + k);
      gl.bindTexture(gl.TEXTURE_2D, (target ?? this.none).texture);
    });
    gl.uniform1i(program.at("uSoftShadow"), 4);
    gl.uniform1i(program.at("uSharpShadow"), 5);
    gl.uniform1i(program.at("uGround"), receives ? 2 : own ? 1 : 0);
    const look = solids[ground]?.described.look ?? {};
    gl.activeTexture(gl.TEXTURE7);
    gl.bindTexture(gl.TEXTURE_2D, solids[ground]?.color ?? photo);
    gl.uniform1i(program.at("uGroundTexture"), 7);
    if (!own) return;
    const color = look.color ?? [0.5, 0.5, 0.5];
    gl.uniform4f(program.at("uGroundColor"), color[0], color[1], color[2], look.textured && solids[ground].color ? 1 : 0);
    gl.uniform3fv(program.at("uGroundOrigin"), own.plane.origin);
    gl.uniform3fv(program.at("uGroundAcross"), own.plane.across);
    gl.uniform3fv(program.at("uGroundUp"), own.plane.up);
    gl.uniform3fv(program.at("uGroundNormal"), own.plane.normal);
  }
}

/** @param {ArrayLike<number>[]} a @param {ArrayLike<number>[]} b */
function same(a, b) {
  const equal = (/** @type {ArrayLike<number>} */ x, /** @type {ArrayLike<number>} */ y) =>
    x.length === y.length && Array.prototype.every.call(x, (v, k) => v === y[k]);
  return a.length === b.length && a.every((values, k) => equal(values, b[k]));
}

/**
 * Where texture coordinates begin on a plane, the ways that they increase by 1, and its normal.
 * @param {any} solid @param {Float32Array} pose
 */
function planeOf(solid, pose) {
  const c = solid.corners;
  const point = (/** @type {number} */ k) => transform(pose, [c[8 * k], c[8 * k + 1], c[8 * k + 2]]);
  const at = (/** @type {number} */ k) => [c[8 * k + 6], c[8 * k + 7]];
  const [p0, p1, p2] = [point(0), point(1), point(2)];
  const [a, b] = [1, 2].map((k) => at(k).map((v, i) => v - at(0)[i]));
  const area = a[0] * b[1] - a[1] * b[0];
  const way = (/** @type {number} */ x, /** @type {number} */ y) =>
    /** @type {Vec3} */ (p0.map((v, k) => (x * (p1[k] - v) + y * (p2[k] - v)) / area));
  const [across, up] = [way(b[1], -a[1]), way(-b[0], a[0])];
  const origin = /** @type {Vec3} */ (p0.map((v, k) => v - at(0)[0] * across[k] - at(0)[1] * up[k]));
  return { origin, across, up, normal: normalize(cross(across, up)) };
}

/**
 * The lights over a plane, in parts: light from all around by direction, the sun, and points of the area lights.
 * @param {ReturnType<typeof planeOf>} plane @param {any} light @param {number} directions @param {number} points
 */
function lightsOver(plane, light, directions, points) {
  const { normal } = plane;
  const x = normalize(cross(normal, Math.abs(normal[1]) < 0.9 ? [0, 1, 0] : [1, 0, 0]));
  const y = cross(normal, x);
  const soft = Array.from({ length: directions }, (_, k) => {
    // Directions whose density is that of the cosine.
    const [radius, turn] = [Math.sqrt((k + 0.5) / directions), k * GOLDEN_ANGLE];
    const [a, b, c] = [radius * Math.cos(turn), radius * Math.sin(turn), Math.sqrt(1 - radius * radius)];
    const d = [0, 1, 2].map((i) => a * x[i] + b * y[i] + c * normal[i]);
    return { from: [...d, 0], which: -2, part: 1 / directions };
  });
  const sharp = [];
  if (light.sun && dot(normalize(light.sun.direction), normal) > 0) {
    sharp.push({ from: [...normalize(light.sun.direction), 0], which: -1, part: 1 });
  }
  light.areas.slice(0, 4).forEach((/** @type {any} */ area, /** @type {number} */ which) => {
    const u = normalize(cross(area.normal, Math.abs(area.normal[1]) < 0.9 ? [0, 1, 0] : [1, 0, 0]));
    const v = cross(area.normal, u);
    for (let k = 0; k < points; k++) {
      const [radius, turn] = [Math.sqrt(((k + 0.5) / points) * area.area / Math.PI), k * GOLDEN_ANGLE];
      const way = [0, 1, 2].map((i) => radius * (Math.cos(turn) * u[i] + Math.sin(turn) * v[i]));
      const from = area.center.map((/** @type {number} */ m, /** @type {number} */ i) => m + way[i]);
      if (dot(scale(plane.origin, -1), normal) + dot(from, normal) > 0) sharp.push({ from: [...from, 1], which, part: 1 / points });
    }
  });
  return { soft, sharp };
}

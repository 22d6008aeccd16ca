// Shaders of the environment, the solids and the light under drops.
// @ts-check

export const HEADER = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp sampler2DArray;
`;

/** Directions to texture coordinates of the environment and back. */
export const ENVIRONMENT = `
uniform sampler2D uEnvironment;
uniform vec3 uSun;
vec2 environmentAt(vec3 d) {
  return vec2(atan(d.x, -d.z) * 0.15915494 + 0.5, acos(clamp(d.y, -1.0, 1.0)) * 0.31830989);
}
vec3 environment(vec3 d, float lod) { return textureLod(uEnvironment, environmentAt(d), lod).rgb; }
vec3 toneMap(vec3 c) {
  c = c * 1.05;
  c = c * (1.0 + c / 6.0) / (0.75 + c);
  return pow(clamp(c, 0.0, 1.0), vec3(1.0 / 2.2));
}
`;

/** Fresnel reflection by Schlick's approximation. */
export const FRESNEL = `
float fresnel(float f0, float cosine) { return f0 + (1.0 - f0) * pow(1.0 - cosine, 5.0); }
`;

/** What a vertex shader knows of a drop: twenty numbers per instance, as `crates/model/src/view.rs` lists them. */
export const DROP_INPUT = `
layout(location = 0) in vec2 aCorner;
layout(location = 1) in vec4 a0;
layout(location = 2) in vec4 a1;
layout(location = 3) in vec4 a2;
layout(location = 4) in vec4 a3;
layout(location = 5) in vec4 a4;
uniform mat4 uViewProjection;
uniform float uAhead;
uniform int uGlass;
struct Drop { vec3 place, up, heading; float radius, height, sag, stretch, volume; bool flies, isOnGlass; };
Drop readDrop() {
  vec3 up = vec3(a0.w, a1.xy);
  bool isOnGlass = a4.z >= 0.0 && (uGlass >> int(a4.z + 0.5) & 1) == 1;
  return Drop(a0.xyz + a3.yzw * uAhead, up, vec3(a1.zw, a2.x), a2.y, a2.z, a2.w, a3.x, a4.x, dot(up, up) < 0.5, isOnGlass);
}
/** The direction of a vector along the plane of a normal; any if it has none. */
vec3 alongPlane(vec3 v, vec3 normal) {
  v -= normal * dot(v, normal);
  return dot(v, v) > 1e-8 ? normalize(v) : normalize(cross(normal, vec3(0.31, 0.2, 0.93)));
}
`;

export const FULLSCREEN = `${HEADER}
out vec2 vAt;
void main() {
  vAt = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
  gl_Position = vec4(vAt * 2.0 - 1.0, 0.999999, 1.0);
}`;

/** A garden or a studio, made once. Noise comes from a texture, which is the same everywhere. */
export const MAKE_ENVIRONMENT = `${HEADER}
in vec2 vAt;
out vec4 color;
uniform sampler2D uNoise;
uniform int uKind;
uniform vec3 uSun;
float noise(vec2 p) {
  // Smooth between the texels.
  vec2 q = p * 64.0 - 0.5, f = fract(q);
  q = floor(q) + f * f * (3.0 - 2.0 * f);
  return texture(uNoise, (q + 0.5) / 64.0).r;
}
float fractal(vec2 p) {
  return 0.5 * noise(p) + 0.25 * noise(p * 2.03) + 0.125 * noise(p * 4.1) + 0.0625 * noise(p * 8.3);
}
vec3 garden(vec3 d, vec2 at) {
  float up = d.y;
  vec3 sky = mix(vec3(0.86, 0.93, 1.0), vec3(0.25, 0.48, 0.88), smoothstep(0.0, 0.8, up)) * 1.25;
  float cloud = smoothstep(0.40, 0.56, fractal(vec2(at.x * 0.5, at.y * 1.1)));
  sky = mix(sky, vec3(1.35, 1.34, 1.32), cloud * smoothstep(0.02, 0.3, up) * 0.75);
  // A line of trees, a hedge in the sun, and a meadow.
  float crowns = 0.10 + 0.34 * (fractal(vec2(at.x * 0.35, 0.31)) - 0.32) + 0.10 * (noise(vec2(at.x * 1.3, 0.7)) - 0.5);
  float leaf = fractal(at * vec2(1.2, 0.9));
  vec3 trees = mix(vec3(0.02, 0.075, 0.02), vec3(0.16, 0.36, 0.07), smoothstep(0.36, 0.58, leaf));
  float hedge = 0.02 + 0.03 * noise(vec2(at.x * 0.8, 0.15));
  vec3 sunny = mix(vec3(0.13, 0.32, 0.05), vec3(0.42, 0.62, 0.14), smoothstep(0.4, 0.56, fractal(at * vec2(1.7, 2.2) + 0.4)));
  vec3 meadow = mix(vec3(0.17, 0.33, 0.05), vec3(0.5, 0.6, 0.17), smoothstep(0.38, 0.58, fractal(at * vec2(0.9, 2.0))));
  meadow *= mix(1.1, 0.6, smoothstep(-0.1, -0.9, up));
  float path = smoothstep(0.022, 0.01, abs(at.x - 0.52 - 0.10 * (up + 0.25)) * (1.0 + 2.0 * up)) * step(up, -0.05);
  vec3 ground = mix(meadow, vec3(0.68, 0.6, 0.47), path * 0.8);
  vec3 c = mix(ground, sunny, smoothstep(-0.045, -0.03, up));
  float flowers = smoothstep(0.78, 0.86, noise(at * vec2(4.1, 5.3))) * smoothstep(-0.16, -0.04, up) * step(up, 0.03);
  c = mix(c, vec3(0.85, 0.13, 0.2), flowers);
  c = mix(c, trees, smoothstep(hedge - 0.01, hedge + 0.01, up));
  return mix(c, sky, smoothstep(crowns - 0.012, crowns + 0.012, up));
}
vec3 room(vec3 d, vec2 at) {
  vec3 wall = mix(vec3(0.2, 0.21, 0.24), vec3(0.42, 0.44, 0.47), smoothstep(-0.6, 0.9, d.y));
  float window = smoothstep(0.02, 0.0, max(abs(at.x - 0.3) - 0.06, abs(d.y - 0.45) - 0.22));
  window += smoothstep(0.02, 0.0, max(abs(at.x - 0.72) - 0.09, abs(d.y - 0.5) - 0.18));
  float bar = smoothstep(0.003, 0.006, min(abs(at.x - 0.3), abs(d.y - 0.45)));
  vec3 c = mix(wall, vec3(4.2, 4.4, 4.8) * bar, clamp(window, 0.0, 1.0));
  vec3 floor_ = vec3(0.22, 0.17, 0.13) * (0.8 + 0.4 * noise(at * vec2(1.0, 4.0)));
  return mix(c, floor_, smoothstep(-0.15, -0.35, d.y));
}
void main() {
  float phi = (vAt.x - 0.5) * 6.2831853, theta = vAt.y * 3.14159265;
  vec3 d = vec3(sin(theta) * sin(phi), cos(theta), -sin(theta) * cos(phi));
  vec3 c = uKind == 0 ? garden(d, vAt) : room(d, vAt);
  float s = max(dot(d, uSun), 0.0);
  c += vec3(1.0, 0.93, 0.8) * (26.0 * smoothstep(0.9985, 0.9995, s) + 0.35 * pow(s, 60.0));
  color = vec4(c, 1.0);
}`;

/** The environment behind everything, out of focus. */
export const BACKGROUND = `${HEADER}${ENVIRONMENT}
in vec2 vAt;
out vec4 color;
uniform vec3 uRight, uUp, uForward;
uniform vec2 uSpan;
uniform float uBlur;
void main() {
  vec2 p = (vAt * 2.0 - 1.0) * uSpan;
  vec3 d = normalize(uForward + uRight * p.x + uUp * p.y);
  vec3 c = environment(d, uBlur) * 0.6 + environment(d, uBlur + 1.0) * 0.4;
  color = vec4(c, 1.0);
}`;

export const SOLID_VERTEX = `${HEADER}
layout(location = 0) in vec3 aPosition;
layout(location = 1) in vec3 aNormal;
layout(location = 2) in vec2 aAt;
uniform mat4 uViewProjection, uPose;
out vec3 vPoint, vNormal, vRest;
out vec2 vUv;
void main() {
  vec4 p = uPose * vec4(aPosition, 1.0);
  vPoint = p.xyz;
  vRest = aPosition;
  vNormal = mat3(uPose) * aNormal;
  vUv = aAt;
  gl_Position = uViewProjection * p;
}`;

/** Solids: albedo, wetness, light of the environment from its mips, the sun. */
export const SOLID_FRAGMENT = `${HEADER}${ENVIRONMENT}${FRESNEL}
in vec3 vPoint, vNormal, vRest;
in vec2 vUv;
out vec4 color;
uniform vec3 uEye, uAlbedo, uAlbedo2;
uniform float uRoughness, uMetal, uScale;
uniform int uLook, uPattern, uShowWet;
uniform sampler2D uWet;
vec3 albedoAt() {
  if (uPattern == 1) {
    vec2 cell = floor(vRest.xz / uScale + 0.001) + floor(vec2(vRest.y / uScale + 0.001));
    return mod(cell.x + cell.y, 2.0) < 0.5 ? uAlbedo : uAlbedo2;
  }
  return uAlbedo;
}
void main() {
  vec3 toEye = normalize(uEye - vPoint);
  vec3 n = normalize(vNormal);
  if (dot(n, toEye) < 0.0) n = -n;
  vec2 wet = texture(uWet, vec2(vUv.x, 1.0 - vUv.y)).rg;
  float cosine = max(dot(n, toEye), 0.02);
  vec3 mirrored = reflect(-toEye, n);
  if (uLook == 1) {
    // Glass: what is behind shines through; the film reflects a little more.
    float f = fresnel(0.04, cosine);
    vec3 c = environment(mirrored, 1.0) * f;
    float film = wet.g * 0.16;
    vec3 haze = environment(-toEye, 5.0);
    color = vec4(c + haze * film, f + film);
    if (uShowWet == 1) color = mix(color, vec4(0.1, 0.45, 0.95, 1.0), 0.25 * wet.r + 0.45 * wet.g);
    return;
  }
  vec3 albedo = albedoAt();
  float soaked = max(0.55 * wet.r, wet.g);
  albedo *= mix(1.0, 0.62, soaked);
  float rough = mix(uRoughness, 0.12, soaked);
  vec3 diffuse = environment(n, 7.0) * 0.6 + environment(normalize(n + vec3(0.0, 0.6, 0.0)), 8.0) * 0.4;
  float sun = max(dot(n, uSun), 0.0);
  diffuse += vec3(1.0, 0.95, 0.86) * sun * 0.75;
  vec3 f0 = mix(vec3(0.04), albedo, uMetal);
  vec3 f = f0 + (max(vec3(1.0 - rough), f0) - f0) * pow(1.0 - cosine, 5.0);
  vec3 shine = environment(mirrored, 1.0 + 6.0 * rough) * f;
  vec3 c = albedo * diffuse * (1.0 - uMetal) * (1.0 - f) + shine;
  if (uShowWet == 1) c = mix(c, vec3(0.1, 0.4, 0.95), 0.35 * wet.r + 0.45 * wet.g);
  color = vec4(c, 1.0);
}`;

/** Light at the base of drops: one quad of 2.5 radii per drop, multiplied onto the solid. */
export const LIGHT_VERTEX = `${HEADER}${DROP_INPUT}
uniform vec3 uSun;
out vec2 vOffset;
out float vLayer, vStrength;
void main() {
  Drop drop = readDrop();
  // Glass shows no shadows: the light goes through.
  bool isOn = !drop.flies && !drop.isOnGlass;
  float cosine = clamp(dot(uSun, drop.up), -1.0, 1.0);
  vec3 along = alongPlane(uSun, drop.up);
  vec3 across = cross(drop.up, along);
  vec3 p = drop.place + (along * aCorner.x + across * aCorner.y) * (2.5 * drop.radius) + drop.up * 1e-5;
  vOffset = aCorner;
  vLayer = clamp(acos(cosine) / 1.4835 * 16.0, 0.0, 16.0);
  vStrength = isOn ? smoothstep(0.0, 0.15, cosine) * clamp(drop.height / drop.radius, 0.2, 1.0) : 0.0;
  gl_Position = isOn ? uViewProjection * vec4(p, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}`;

export const LIGHT_FRAGMENT = `${HEADER}
in vec2 vOffset;
in float vLayer, vStrength;
out vec4 color;
uniform sampler2DArray uLight;
void main() {
  vec2 at = vOffset * 0.5 + 0.5;
  float low = floor(vLayer);
  float light = mix(texture(uLight, vec3(at, low)).r, texture(uLight, vec3(at, min(low + 1.0, 16.0))).r, vLayer - low);
  light *= 3.0;
  float edge = smoothstep(1.0, 0.85, length(vOffset));
  // Half of the light comes from the sky, which drops hardly block.
  light = mix(1.0, max(light, 0.3), vStrength * edge * 0.62);
  color = vec4(vec3(light), 1.0);
}`;

export const COPY = `${HEADER}${ENVIRONMENT}
in vec2 vAt;
out vec4 color;
uniform sampler2D uBase;
void main() { color = vec4(toneMap(texture(uBase, vAt).rgb), 1.0); }`;

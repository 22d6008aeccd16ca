// Shaders of the background, the solids and the light under drops.
// @ts-check

export const HEADER = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp sampler2DArray;
`;

/**
 * Light from infinity, by direction: the environment, or in front of the camera the backdrop. Level
 * 0 of the environment has 163 texels per radian.
 */
export const ENVIRONMENT = `
uniform sampler2D uEnvironment, uBackdrop;
uniform mat3 uAxes;
uniform vec2 uSpan, uCover;
/** Radiance of the backdrop's white (0 without one), and its levels above the environment's. */
uniform vec2 uPhoto;
uniform float uExposure;
uniform int uDisplay;
vec3 backdrop(vec2 place, float lod) {
  vec2 at = clamp(vec2(0.5 + 0.5 * place.x * uCover.x, 0.5 - 0.5 * place.y * uCover.y), 0.001, 0.999);
  return textureLod(uBackdrop, at, lod).rgb * uPhoto.x;
}
vec3 environment(vec3 d, float lod) {
  if (uPhoto.x > 0.0) {
    vec3 p = d * uAxes;
    if (p.z > 0.05) return backdrop(p.xy / (p.z * uSpan), max(0.0, lod + uPhoto.y));
  }
  vec2 at = vec2(atan(d.x, -d.z) * 0.15915494, acos(clamp(d.y, -1.0, 1.0)) * 0.31830989);
  return textureLod(uEnvironment, at, lod).rgb;
}
vec3 encode(vec3 c) {
  return mix(12.92 * c, 1.055 * pow(max(c, 1e-6), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}
/** The shoulder of crates/render/src/tone_map.rs (khronos2024). */
vec3 filmic(vec3 c) {
  float peak = max(c.r, max(c.g, c.b));
  if (peak <= 0.76) return c;
  float compressed = 1.0 - 0.0576 / (peak - 0.52);
  float white = 1.0 - 1.0 / (0.15 * (peak - compressed) + 1.0);
  return mix(c * (compressed / peak), vec3(compressed), white);
}
float sigmoid(float x) {
  float middle = 10.0 / 16.5, gray = 0.458703;
  vec2 ends = x < middle ? vec2(middle, gray) : vec2(1.0 - middle, 1.0 - gray);
  float d = pow(pow(ends.y, -1.5) - pow(2.4 * ends.x, -1.5), -1.0 / 1.5);
  float t = 2.4 * (x - middle) / d;
  return max(gray + d * t / pow(1.0 + pow(abs(t), 1.5), 1.0 / 1.5), 0.0);
}
/** crates/render/src/agx.rs. */
vec3 agx(vec3 c) {
  mat3 inset = mat3(0.842342, 0.042328, 0.042376, 0.078434, 0.878506, 0.078434, 0.079224, 0.079166, 0.87919);
  vec3 x = clamp((log2(max(inset * c / 0.18, 1e-9)) + 10.0) / 16.5, 0.0, 1.0);
  vec3 toned = pow(vec3(sigmoid(x.r), sigmoid(x.g), sigmoid(x.b)), vec3(2.2));
  return clamp(inverse(inset) * toned, 0.0, 1.0);
}
/** Exposed light as the display shows it: standard, filmic, AgX, raw, or before a backdrop. */
vec3 toneMap(vec3 c) {
  c = min(c * uExposure, 1e6);
  if (uDisplay == 3) return min(c, 1.0);
  if (uDisplay == 4) return encode(min(c, 1.0));
  if (uDisplay == 2) return encode(agx(c));
  return encode(uDisplay == 0 ? c / max(1.0, max(c.r, max(c.g, c.b))) : filmic(c));
}
`;

/** Diffuse light by spherical harmonics, the sun, and up to four area lights. */
export const LIGHTS = `
uniform vec3 uHarmonics[9];
uniform vec3 uSun, uSunLight;
uniform int uAreas;
uniform vec3 uAreaCenter[4], uAreaNormal[4], uAreaPower[4];
/** Radiance of a white diffuse surface in the environment. */
vec3 ambient(vec3 n) {
  return max(vec3(0.0), uHarmonics[0] * 0.282095 + 0.488603 * (uHarmonics[1] * n.y + uHarmonics[2] * n.z + uHarmonics[3] * n.x)
    + 1.092548 * (uHarmonics[4] * n.x * n.y + uHarmonics[5] * n.y * n.z + uHarmonics[7] * n.x * n.z)
    + uHarmonics[6] * 0.315392 * (3.0 * n.z * n.z - 1.0) + uHarmonics[8] * 0.546274 * (n.x * n.x - n.y * n.y));
}
/** Direction to a light, and its irradiance on a surface that faces it; light −1 is the sun. */
vec3 lightAt(int k, vec3 point, out vec3 towards) {
  towards = uSun;
  if (k < 0) return uSunLight;
  vec3 way = uAreaCenter[k] - point;
  towards = normalize(way);
  return uAreaPower[k] * max(-dot(towards, uAreaNormal[k]), 0.0) / dot(way, way);
}
/** The same as ambient() with the sun and the area lights. */
vec3 diffuseLight(vec3 point, vec3 n) {
  vec3 sum = ambient(n), towards;
  for (int k = -1; k < uAreas; k++) sum += lightAt(k, point, towards) * max(dot(n, towards), 0.0) * 0.31830989;
  return sum;
}
/** Highlight of the sun or an area light: GGX with Smith's masking. */
float highlight(vec3 n, vec3 toEye, vec3 towards, float alpha) {
  vec3 h = normalize(towards + toEye);
  float a = max(alpha, 0.03), a2 = a * a;
  float nh = max(dot(n, h), 0.0), nl = max(dot(n, towards), 0.0), nv = max(dot(n, toEye), 1e-3);
  float d = nh * nh * (a2 - 1.0) + 1.0;
  float masks = nl * sqrt(a2 + (1.0 - a2) * nv * nv) + nv * sqrt(a2 + (1.0 - a2) * nl * nl);
  return a2 / (3.14159265 * d * d) * 0.5 / max(masks, 1e-4) * nl;
}
/** Share of light that a rough surface mirrors (karis2013). */
vec3 mirrorShare(vec3 f0, float alpha, float cosine) {
  vec4 r = sqrt(alpha) * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
  float a = min(r.x * r.x, exp2(-9.28 * cosine)) * r.x + r.y;
  return f0 * (r.z - 1.04 * a) + (r.w + 1.04 * a) * clamp(50.0 * f0.g, 0.0, 1.0);
}
/** Level of the environment that is as blurred as a lobe of this width. */
float lobeLevel(float alpha) { return clamp(log2(alpha * 440.0 + 1e-6), 0.0, 9.0); }
`;

/**
 * Planes with the shadows of other solids. On such a plane (uGround 2) they are taken from its light; other solids
 * (uGround 1) mirror the first one, and get light from it.
 */
export const GROUND = `
uniform int uGround;
uniform sampler2D uSoftShadow, uSharpShadow, uGroundTexture;
uniform vec3 uGroundOrigin, uGroundAcross, uGroundUp, uGroundNormal;
/** Color; w: whether the texture has it. */
uniform vec4 uGroundColor;
vec3 shadow(vec2 at) { return textureLod(uSoftShadow, at, 2.0).rgb + textureLod(uSharpShadow, at, 0.0).rgb; }
/** Diffuse light on a solid. */
vec3 lightOn(vec3 point, vec3 n, vec2 uv) {
  vec3 light = diffuseLight(point, n);
  if (uGround == 2) light = max(light - shadow(uv), 0.0);
  return light;
}
/** Light of the ground in a direction, and whether (w) it is there; blurred by the width of a lobe. */
vec4 groundLight(vec3 point, vec3 d, float alpha) {
  float sink = -dot(d, uGroundNormal);
  float high = dot(point - uGroundOrigin, uGroundNormal);
  if (uGround != 1 || sink < -1.7 * alpha || high < 0.0) return vec4(0.0);
  // The lobe is about 3.4 α wide.
  float width = 1.7 * alpha, way = high / max(sink, 0.02 + 0.5 * width);
  vec3 met = point + d * way, offset = met - uGroundOrigin;
  vec2 side = vec2(dot(uGroundAcross, uGroundAcross), dot(uGroundUp, uGroundUp));
  vec2 at = vec2(dot(offset, uGroundAcross), dot(offset, uGroundUp)) / side;
  float blur = (0.02 + width) * way / sqrt(min(side.x, side.y));
  vec2 inside = smoothstep(-blur, blur, at) * smoothstep(-blur, blur, 1.0 - at);
  float lod = log2(2.0 * blur * float(textureSize(uGroundTexture, 0).x) + 1e-6);
  vec3 albedo = uGroundColor.w > 0.5 ? textureLod(uGroundTexture, vec2(at.x, 1.0 - at.y), lod).rgb : uGroundColor.rgb;
  // A lobe at the horizon sees half of it.
  float share = inside.x * inside.y * smoothstep(-width - 0.01, width + 0.01, sink);
  return vec4(albedo * max(diffuseLight(met, uGroundNormal) - shadow(clamp(at, 0.0, 1.0)), 0.0), share);
}
`;

/** Reflectance of a smooth dielectric; the ratio is that of the indices, near over far. */
export const FRESNEL = `
float fresnel(float cosine, float ratio) {
  float sine2 = ratio * ratio * (1.0 - cosine * cosine);
  if (sine2 >= 1.0) return 1.0;
  float far = sqrt(1.0 - sine2);
  float s = (ratio * cosine - far) / (ratio * cosine + far), p = (ratio * far - cosine) / (ratio * far + cosine);
  return 0.5 * (s * s + p * p);
}
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

/** What is behind everything. Alpha is the luminance that exposure aims at. */
export const BACKGROUND = `${HEADER}${ENVIRONMENT}
in vec2 vAt;
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 under;
/** The environment by cubic B-splines: its texels are large on the screen. */
vec3 smoothEnvironment(vec3 d) {
  vec2 size = vec2(textureSize(uEnvironment, 0));
  vec2 at = vec2(atan(d.x, -d.z) * 0.15915494, acos(clamp(d.y, -1.0, 1.0)) * 0.31830989) * size - 0.5;
  vec2 f = fract(at), base = floor(at);
  vec2 w0 = (1.0 - f) * (1.0 - f) * (1.0 - f) / 6.0, w3 = f * f * f / 6.0;
  vec2 w1 = (4.0 - 6.0 * f * f + 3.0 * f * f * f) / 6.0, w2 = 1.0 - w0 - w1 - w3;
  vec2 low = w0 + w1, high = w2 + w3;
  vec2 a = (base - 0.5 + w1 / low) / size, b = (base + 1.5 + w3 / high) / size;
  return low.y * (low.x * textureLod(uEnvironment, a, 0.0).rgb + high.x * textureLod(uEnvironment, vec2(b.x, a.y), 0.0).rgb)
    + high.y * (low.x * textureLod(uEnvironment, vec2(a.x, b.y), 0.0).rgb + high.x * textureLod(uEnvironment, b, 0.0).rgb);
}
void main() {
  vec2 p = vAt * 2.0 - 1.0;
  vec3 d = normalize(uAxes * vec3(p * uSpan, 1.0));
  vec3 c = uPhoto.x > 0.0 ? backdrop(p, 0.0) : smoothEnvironment(d);
  color = vec4(c, 0.22);
  under = color;
}`;

export const SOLID_VERTEX = `${HEADER}
layout(location = 0) in vec3 aPosition;
layout(location = 1) in vec3 aNormal;
layout(location = 2) in vec2 aAt;
uniform mat4 uViewProjection, uPose;
out vec3 vPoint, vNormal;
out vec2 vUv;
void main() {
  vec4 p = uPose * vec4(aPosition, 1.0);
  vPoint = p.xyz;
  vNormal = mat3(uPose) * aNormal;
  vUv = aAt;
  gl_Position = uViewProjection * p;
}`;

/**
 * Solids as `crates/appearance/src/materials.rs` describes them: a coat or a metal over a diffuse
 * base, darker and smoother where wet. Twice: in air, and as seen through liquid on it.
 */
export const SOLID_FRAGMENT = `${HEADER}${ENVIRONMENT}${LIGHTS}${GROUND}${FRESNEL}
in vec3 vPoint, vNormal;
in vec2 vUv;
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 under;
uniform vec3 uEye, uAlbedo, uTransmittance, uTint;
/** Roughness, metalness, refractive index of the coat (0: none), porosity. */
uniform vec4 uSurface;
uniform float uIndex;
uniform int uIsGlass, uTextured, uIsRelief, uShowWet;
uniform sampler2D uWet, uColor, uRelief;
/** The normal of the relief on the side of n, which points out of the face that is seen. */
vec3 relief(vec3 n, vec2 at) {
  vec3 mapped = (texture(uRelief, at).xyz * 255.0 - 128.0) / 127.0;
  vec3 alongX = dFdx(vPoint), alongY = dFdy(vPoint);
  vec2 uvX = dFdx(vUv), uvY = dFdy(vUv);
  float area = uvX.x * uvY.y - uvX.y * uvY.x;
  // Along u on the surface, perpendicular to the smooth normal; v lies to its left, or to its right where mirrored.
  vec3 u = (alongX * uvY.y - alongY * uvX.y) * sign(area);
  u -= n * dot(n, u);
  if (area == 0.0 || dot(u, u) < 1e-30) return n;
  u = normalize(u);
  vec3 v = cross(n, u) * sign(area);
  return normalize(mapped.x * u + mapped.y * v + max(mapped.z, 0.05) * n);
}
/** Share of the diffuse light that a flat film of water reflects back to the solid. */
const float RETURNED = 0.47;
vec3 shade(vec3 n, vec3 toEye, vec3 albedo, float outside, float wet) {
  float cosine = max(dot(n, toEye), 0.02);
  float p = RETURNED * (outside > 1.001 ? 1.0 : wet * uSurface.w);
  vec3 base = albedo * (1.0 - p) / (1.0 - p * albedo);
  float dry = uSurface.z > 0.0 ? (uSurface.z - outside) / (uSurface.z + outside) : 0.0;
  dry *= dry;
  float film = outside > 1.001 ? 0.0 : wet;
  vec3 f0 = mix(vec3(mix(dry, max(0.02, dry), film)), albedo, uSurface.y);
  float alpha = mix(uSurface.x, min(0.03, uSurface.x), film);
  vec3 share = max(f0.r, max(f0.g, f0.b)) > 1e-3 ? mirrorShare(f0, alpha, cosine) : vec3(0.0);
  vec3 left = (1.0 - share) * (1.0 - uSurface.y);
  vec3 mirrored = reflect(-toEye, n);
  vec4 ground = groundLight(vPoint, mirrored, alpha);
  // The ground instead of the environment below: it takes (1 − n·N)/2 of what a face sees.
  vec4 below = groundLight(vPoint, normalize(n - 1.5 * uGroundNormal), 0.5);
  vec3 bounce = below.w * 0.5 * (1.0 - dot(n, uGroundNormal)) * (below.rgb - ambient(-uGroundNormal));
  vec3 c = base * (left * (1.0 - uTransmittance) * (lightOn(vPoint, n, vUv) + bounce) + left * uTransmittance * diffuseLight(vPoint, -n));
  c += share * mix(environment(mirrored, lobeLevel(alpha)), ground.rgb, ground.w);
  vec3 towards;
  for (int k = -1; k < (uSurface.x > 0.1 ? uAreas : 0); k++) c += f0 * lightAt(k, vPoint, towards) * highlight(n, toEye, towards, alpha);
  return c;
}
void main() {
  vec3 toEye = normalize(uEye - vPoint);
  vec3 n = normalize(vNormal);
  if (dot(n, toEye) < 0.0) n = -n;
  vec2 at = vec2(vUv.x, 1.0 - vUv.y);
  vec2 wet = texture(uWet, at).rg;
  if (uIsGlass == 1) {
    // Glass: what is behind shines through both surfaces; a film reflects a little more.
    float r = fresnel(max(dot(n, toEye), 0.02), 1.0 / uIndex);
    float f = 2.0 * r / (1.0 + r) + 0.06 * wet.g;
    float kept = 1.0 - (1.0 - f) * dot(uTint, vec3(0.2126, 0.7152, 0.0722));
    color = vec4(environment(reflect(-toEye, n), 1.0) * f, kept);
    if (uShowWet == 1) color = mix(color, vec4(vec3(0.1, 0.45, 0.95) / uExposure, 1.0), 0.25 * wet.r + 0.45 * wet.g);
    under = color;
    return;
  }
  if (uIsRelief == 1) {
    vec3 leaning = relief(n, at);
    if (dot(leaning, toEye) > 0.0) n = leaning;
  }
  vec3 albedo = uTextured == 1 ? texture(uColor, at).rgb : uAlbedo;
  float soaked = max(wet.r, wet.g);
  vec3 c = shade(n, toEye, albedo, 1.0, soaked);
  if (uShowWet == 1) c = mix(c, vec3(0.1, 0.4, 0.95) / uExposure, 0.35 * wet.r + 0.45 * wet.g);
  float shown = clamp(0.85 * dot(albedo, vec3(0.2126, 0.7152, 0.0722)), 0.02, 0.55);
  color = vec4(c, 0.5979 * pow(shown, 0.7));
  // Under a flat film; alpha: how much brighter it is under a half ball, from whose middle all light leaves.
  under = vec4(shade(n, toEye, albedo, 1.333, 1.0), (1.0 - RETURNED * dot(albedo, vec3(0.2126, 0.7152, 0.0722))) / (1.0 - RETURNED));
}`;

/** Light at the base of drops: one quad of 2.5 radii per drop, multiplied onto the solid. */
export const LIGHT_VERTEX = `${HEADER}${DROP_INPUT}
uniform vec3 uMainLight;
out vec2 vOffset;
out float vTilt, vAngle, vStrength;
void main() {
  Drop drop = readDrop();
  // Glass shows no shadows: the light goes through.
  bool isOn = !drop.flies && !drop.isOnGlass;
  float cosine = clamp(dot(uMainLight, drop.up), -1.0, 1.0);
  vec3 along = alongPlane(uMainLight, drop.up);
  vec3 across = cross(drop.up, along);
  vec3 p = drop.place + (along * aCorner.x + across * aCorner.y) * (2.5 * drop.radius) + drop.up * 1e-5;
  vOffset = aCorner;
  vTilt = clamp(acos(cosine) / 1.4835 * 8.0, 0.0, 8.0);
  // The cap's own contact angle, between those of the table: 20° to 140°.
  vAngle = clamp((2.0 * atan(drop.height, drop.radius) * 57.29578 - 20.0) / 30.0, 0.0, 4.0);
  vStrength = isOn ? smoothstep(0.0, 0.15, cosine) : 0.0;
  gl_Position = isOn ? uViewProjection * vec4(p, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}`;

export const LIGHT_FRAGMENT = `${HEADER}
in vec2 vOffset;
in float vTilt, vAngle, vStrength;
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 under;
uniform sampler2DArray uLight;
/** Share of the light that comes from the main direction, and blur of the table. */
uniform vec2 uShare;
float table(float angle, float tilt) { return textureLod(uLight, vec3(vOffset * 0.5 + 0.5, 9.0 * angle + tilt), uShare.y).r; }
void main() {
  vec2 low = floor(vec2(vTilt, vAngle)), high = min(low + 1.0, vec2(8.0, 4.0)), part = vec2(vTilt, vAngle) - low;
  float light = mix(mix(table(low.y, low.x), table(low.y, high.x), part.x), mix(table(high.y, low.x), table(high.y, high.x), part.x), part.y);
  light *= 3.0;
  float edge = smoothstep(1.0, 0.85, length(vOffset));
  light = mix(1.0, light, vStrength * edge * uShare.x);
  color = vec4(vec3(light), 1.0);
  under = color;
}`;

export const COPY = `${HEADER}${ENVIRONMENT}
in vec2 vAt;
out vec4 color;
uniform sampler2D uBase;
void main() { color = vec4(toneMap(texture(uBase, vAt).rgb), 1.0); }`;

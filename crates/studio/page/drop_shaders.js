// Shaders of the drops: a cap per instance, or triangle surfaces.
// @ts-check

import { DROP_INPUT, ENVIRONMENT, FRESNEL, HEADER, LIGHTS } from "./shaders.js";

/** What the fragment shader gets to know of a drop. */
const SHAPE = `vec3 vPoint, vNormal;
PREFIX float vRim;
flat PREFIX vec3 vPlace, vUp, vHeading;
flat PREFIX vec4 vShape;
flat PREFIX int vGlass;
`;
const SHAPE_OUT = `out ${SHAPE.replaceAll("PREFIX", "out")}`;
const SHAPE_IN = `in ${SHAPE.replaceAll("PREFIX", "in")}`;

/**
 * A spherical cap of the drop's base radius and height, leaned by its sag and drawn out against its
 * heading.
 */
export const DROP_VERTEX = `${HEADER}${DROP_INPUT}${SHAPE_OUT}
void main() {
  Drop drop = readDrop();
  vGlass = drop.isOnGlass ? 1 : 0;
  float radius = drop.radius, height = drop.height, sag = drop.sag, stretch = drop.stretch;
  bool flies = drop.flies;
  vec3 place = drop.place, up = flies ? vec3(0.0, 1.0, 0.0) : drop.up;
  vec3 heading = alongPlane(drop.heading, up);
  vec3 side = cross(up, heading);
  float sphere = flies ? radius : (radius * radius + height * height) / (2.0 * height);
  float polar = aCorner.x * (flies ? 3.14159265 : 2.0 * atan(height, radius));
  float s = sin(polar), c = cos(polar);
  float fx = cos(aCorner.y), fy = sin(aCorner.y);
  vec3 n = vec3(s * fx, s * fy, c);
  vec3 p = n * sphere;
  if (!flies) {
    p.z += height - sphere;
    // Outlines on real solids are not round: two slow waves around the drop, by its volume.
    float key = fract(drop.volume * 7.3e9) * 6.2831853;
    float wobble = 1.0 + smoothstep(0.4e-3, 2.0e-3, radius)
      * (0.05 * sin(2.0 * aCorner.y + key) + 0.035 * sin(3.0 * aCorner.y + 2.3 * key));
    p.xy *= wobble;
    float level = clamp(p.z / height, 0.0, 1.0);
    p.x += 1.6 * sag * radius * level;
    n.z -= 1.6 * sag * n.x * radius / height;
    float back = clamp(-p.x / radius, 0.0, 1.0);
    if (p.x < 0.0) {
      p.x *= 1.0 + stretch;
      n.x /= 1.0 + stretch;
    }
    p.y *= 1.0 - 0.3 * stretch * back;
    p.xy *= 1.0 / sqrt(1.0 + 0.35 * stretch);
  }
  vNormal = normalize(heading * n.x + side * n.y + up * n.z);
  vPoint = place + heading * p.x + side * p.y + up * p.z;
  vPlace = place;
  vUp = flies ? vec3(0.0) : up;
  vHeading = heading;
  vShape = vec4(radius, height, stretch, sphere);
  vRim = aCorner.x;
  gl_Position = uViewProjection * vec4(vPoint, 1.0);
}`;

/** Triangle surfaces; the plane of their base is that of the solid. */
export const SURFACE_VERTEX = `${HEADER}
layout(location = 0) in vec3 aPosition;
layout(location = 1) in vec3 aNormal;
uniform mat4 uViewProjection;
uniform vec4 uPlane;
uniform int uGlass;
${SHAPE_OUT}
void main() {
  vGlass = uGlass & 1;
  vPoint = aPosition;
  vNormal = aNormal;
  vUp = uPlane.xyz;
  vPlace = uPlane.xyz * uPlane.w;
  vHeading = vec3(1.0, 0.0, 0.0);
  vShape = vec4(1e3, 1.0, 0.0, 1e3);
  vRim = 0.0;
  gl_Position = uViewProjection * vec4(aPosition, 1.0);
}`;

/**
 * Refraction in closed form. The line of sight is bent at the surface and cut with the plane of the
 * base: inside of the outline the lit solid is seen there, or through glass the environment; outside
 * of it (overhangs, drops in flight) the line leaves through the sphere of the cap.
 */
export const DROP_FRAGMENT = `${HEADER}${ENVIRONMENT}${LIGHTS}${FRESNEL}${SHAPE_IN}
out vec4 color;
uniform mat4 uViewProjection;
uniform vec3 uEye, uAbsorption;
/** Color of an opaque liquid; w: 0 clear, 1 opaque, 2 a metal. */
uniform vec4 uOpaque;
/** The solids in air, and as seen through liquid on them. */
uniform sampler2D uBase, uUnder;
uniform float uIndex;
uniform int uContactLine, uIsSurface;

/** The environment, blurred as much as the pixel is wide. */
vec3 look(vec3 d, float least) {
  float spread = max(length(dFdx(d)), length(dFdy(d)));
  return environment(d, clamp(log2(spread * 163.0 + 1e-6), least, 9.0));
}

/** The opaque solid that the drop is on, where a line of sight from a point meets it; else the environment. */
vec3 around(vec3 from, vec3 d) {
  vec3 far = look(d, 0.0);
  float sink = -dot(d, vUp);
  if (vGlass == 1 || sink < 0.02) return far;
  vec4 seen = uViewProjection * vec4(from + d * (dot(from - vPlace, vUp) / sink), 1.0);
  vec2 at = seen.xy / max(seen.w, 1e-6) * 0.5 + 0.5;
  bool isInside = seen.w > 0.0 && at == clamp(at, 0.0, 1.0);
  return isInside ? textureLod(uBase, at, 1.0).rgb : far;
}

void main() {
  vec3 sight = normalize(vPoint - uEye);
  vec3 n = normalize(vNormal);
  if (dot(n, sight) > -0.02) n = normalize(n - sight * (dot(n, sight) + 0.02));
  float cosine = -dot(n, sight);
  vec3 inside = refract(sight, n, 1.0 / uIndex);
  float mirrors = fresnel(cosine, 1.0 / uIndex);
  bool onSolid = dot(vUp, vUp) > 0.5;

  // Where the bent line of sight meets the plane of the base.
  float sink = -dot(inside, vUp);
  float reach = onSolid && sink > 1e-3 ? dot(vPoint - vPlace, vUp) / sink : 1e9;
  vec3 foot = vPoint + inside * min(reach, 1.0);
  vec3 offset = foot - vPlace;
  float along = dot(offset, vHeading);
  float across = dot(offset, cross(vUp, vHeading));
  if (along < 0.0) along /= 1.0 + vShape.z;
  bool hits = onSolid && sink > 1e-3 && along * along + across * across < vShape.x * vShape.x * 1.02;

  // The way out through the sphere of the cap.
  vec3 center = vPlace + vUp * (vShape.y - vShape.w);
  vec3 relative = vPoint - center;
  vec3 leaving = normalize(relative + inside * max(-2.0 * dot(relative, inside), 0.0));
  vec3 out1 = refract(inside, -leaving, uIndex);
  if (dot(out1, out1) < 0.5) out1 = reflect(inside, -leaving);
  // The way out through glass below.
  vec3 out2 = refract(inside, vUp, uIndex);
  if (dot(out2, out2) < 0.5) out2 = reflect(inside, vUp);

  vec4 seen = uViewProjection * vec4(foot, 1.0);
  vec2 at = seen.xy / max(seen.w, 1e-6) * 0.5 + 0.5;
  vec2 dx = dFdx(at), dy = dFdy(at);
  at = clamp(at, 0.001, 0.999);
  vec3 throughGlass = look(out2, 0.0);
  // Of a triangle surface only the direction is known.
  vec3 throughSide = around(uIsSurface == 1 ? vPoint : center + leaving * vShape.w, out1);
  vec3 mirror = around(vPoint, reflect(sight, n));

  vec3 through = throughSide;
  if (hits && vGlass == 1) through = throughGlass;
  if (hits && vGlass == 0) {
    vec4 under = textureGrad(uUnder, at, dx, dy);
    // Between a film and a half ball, whose sides return some light, too.
    float steepness = uIsSurface == 1 ? 0.6 : vShape.y / vShape.x;
    through = under.rgb * mix(1.0, max(1.0, under.a), 0.4 * smoothstep(0.0, 1.0, steepness));
  }
  if (uIsSurface == 1 && !onSolid) through = textureGrad(uBase, at, dx, dy).rgb;
  float path = hits ? reach : 2.0 * vShape.w * cosine;
  through *= exp(-uAbsorption * min(path, 0.02));
  if (uOpaque.w > 0.5) through = uOpaque.rgb * diffuseLight(vPoint, n);
  vec3 c = mix(through, mirror, mirrors);
  if (uOpaque.w > 1.5) c = mirror * (uOpaque.rgb + (1.0 - uOpaque.rgb) * pow(1.0 - cosine, 5.0));
  // The sun's image is smaller than a pixel.
  c += uSunLight * mirrors * highlight(n, -sight, uSun, 0.04) * 0.5;
  if (uContactLine == 1 && vRim > 0.93) c = mix(c, vec3(1.0, 0.3, 0.05) / uExposure, 0.85);
  color = vec4(toneMap(c), 1.0);
}`;

/** Lengths in m, volumes in m³, times in s, speeds in m/s; angles in degrees where named so. */
export type Vector = readonly [number, number, number];

/** Numbers per drop in {@link View.drops}. */
export const STRIDE: 20;

export interface LoadOptions {
  /** Meshes and images that the scene names, by the names in the scene. */
  files?: Record<string, string | Uint8Array | ArrayBuffer>;
  /** The module, or its address; `sessile.wasm` beside this file without it. */
  wasm?: WebAssembly.Module | URL | string;
}

/** The liquid at one moment. The arrays are copies and stay as they are. */
export interface View {
  time: number;
  /**
   * Drops in a simple shape, {@link STRIDE} numbers each: place (0–2), normal of the solid there (3–5, zero in flight),
   * heading (6–8), base radius (9; in flight the radius), height (10), sag (11) and stretch (12) in base radii,
   * velocity (13–15), volume (16), contact angle in rad (17), solid (18, −1 in flight), 1 if it slides (19).
   */
  drops: Float32Array;
  /** Id of each of them. */
  ids: Uint32Array;
  /** Drops that are triangle surfaces (model `surface`). */
  surface: SurfaceView;
  /** Twelve numbers per solid: the three columns of its rotation, and its translation. */
  poses: Float32Array;
}

export interface SurfaceView {
  /** Three numbers per vertex, as are normals and velocities. */
  positions: Float32Array;
  normals: Float32Array;
  velocities: Float32Array;
  /** Id of each vertex's drop. */
  vertexDrops: Uint32Array;
  /** Three vertices per triangle. */
  triangles: Uint32Array;
  /** Index of the solid that each triangle lies on; −1 for the free surface. */
  triangleSolids: Int32Array;
  /** Id and volume of each drop. */
  ids: Uint32Array;
  volumes: Float32Array;
}

/** A straight motion of a wiping tool along a solid: either a finger or a blade. */
export interface Stroke {
  from: Vector;
  to: Vector;
  /** Duration in s. */
  duration: number;
  /** Radius of a finger. */
  finger?: number;
  /** From the middle of a blade to one of its ends. */
  blade?: Vector;
}

/** A wiping tool with liquid on it. */
export interface HeldTool {
  /** Liquid on it. */
  volume: number;
  /** Its middle, and the normal of the solid there. */
  at: Vector;
  normal: Vector;
  /** Radius of a finger. */
  finger?: number;
  /** From the middle of a blade to one of its ends. */
  blade?: Vector;
  /** Whether it is lifted: then all its liquid stays behind. */
  lifted?: boolean;
}

/** A source of liquid: a drip of drops, a needle, a tap, rain or dew on a solid (by its index). */
export type Source =
  | { kind: "drip"; at: Vector; radius: number; every: number }
  | { kind: "feed"; at: Vector; rate: number }
  | { kind: "tap"; at: Vector; direction: Vector; radius: number; speed: number }
  | { kind: "rain"; over: number; rate: number; radius: [number, number]; velocity: Vector }
  | { kind: "dew"; on: number; rate: number };

/** Volumes in m³: present + film + lost = added. */
export interface Balance {
  /** Initial drops, emitters and drops added by hand; what was wiped or taken counts negative. */
  added: number;
  /** What left the scene. */
  lost: number;
  /** Films on the solids. */
  film: number;
  /** The drops, as the view has them (in single precision). */
  present: number;
}

export interface Solid {
  name: string;
  material: string;
  /** Advancing angle on dry and on wet ground, and receding angle, in degrees. */
  angles: [number, number, number];
  /** Corners of its bounds. */
  low: [number, number, number];
  high: [number, number, number];
  triangles: number;
}

export interface Description {
  title: string | null;
  model: "pane" | "droplet" | "surface";
  gravity: [number, number, number];
  wind: [number, number, number];
  solids: Solid[];
  /** Presets for {@link Sessile.material}. */
  materials: { name: string; title: string; angles: [number, number, number] }[];
}

/** A solid's mesh in its rest pose. */
export interface Mesh {
  positions: Float32Array;
  /** Two numbers per corner of a triangle; empty without texture coordinates. */
  uvs: Float32Array;
  triangles: Uint32Array;
}

/** How wet a solid is over its texture, rows from the top: two bytes per texel, wetness and film (255: 3 µm). */
export interface Wetness {
  width: number;
  height: number;
  texels: Uint8Array;
}

/** A simulation, in the thread that calls it. All methods throw an `Error` with a message that says what to change. */
export class Sessile {
  private constructor(instance: WebAssembly.Instance);
  /** Reads a scene (https://toml.io) and builds its model at time 0. */
  static load(toml: string, options?: LoadOptions): Promise<Sessile>;
  /** Simulated time. */
  get time(): number;
  /** Advances by exactly this time, at most an hour. */
  step(seconds: number): void;
  view(): View;
  /** Adds a drop with its center at a point; on or near a solid it sits on it at once. */
  add(at: Vector, volume: number, velocity?: Vector): void;
  /** Takes a share (1: all) of the liquid in a ball away; returns its volume. */
  take(at: Vector, radius: number, share?: number): number;
  /** Wipes; returns the volume that the tool took. */
  wipe(stroke: Stroke): number;
  /** Sets gravity; `null` returns to the scene's. */
  gravity(vector: Vector | null): void;
  /** Sets the wind; `null` returns to the scene's. */
  wind(vector: Vector | null): void;
  /** Opens or closes the scene's emitters. */
  sources(open: boolean): void;
  /** Gives a solid a preset's wetting, or contact angles in degrees (advancing dry, advancing wet, receding). */
  material(solid: number, material: string | [number, number, number] | null): void;
  /** Moves a solid by a vector over some time; it pushes drops. */
  move(solid: number, by: Vector, duration: number): void;
  balance(): Balance;
  /** The state as bytes; the same on every machine. */
  save(): Uint8Array;
  /** Restores a state of the same scene. */
  restore(state: Uint8Array): void;
  /** A digest of the state and the view; equal to that of the native program for the same scene and steps. */
  digest(): string;
  describe(): Description;
  /** Rain over a solid, as depth of water per second; 0 stops it. It is not part of a saved state. */
  rain(rate: number, solid?: number): void;
  /** Places a source; returns its number for {@link Sessile.unplace}. */
  place(source: Source): number;
  unplace(id: number): void;
  /** Lets a tool lose what it cannot hold, or when lifted all; returns what stays on it. */
  shed(tool: HeldTool): number;
  /** The present moment as a scene file, with changes such as `model="droplet"`, or another liquid, `liquid="honey"`. */
  moment(changes?: string[]): string;
  /** A picture of the scene's looks (texture, environment, backdrop) as the studio's page reads it; null past the last. */
  picture(index: number): Uint8Array | null;
  /** Messages since the last call. */
  notices(): string[];
  mesh(solid: number): Mesh;
  wetness(solid: number): Wetness | null;
}

//! Drops falling at random: a Poisson process over time, size and place.
//!
//! The rate I is the depth of water per time that a gauge on level ground collects in still air. With J = I/⟨V⟩ drops per area and
//! time there, of which a share p(r) dr has radius r, a surface element with normal n is hit by
//!
//! ```text
//! J p(r) max(0, −u·n) / v   drops per area, time and radius
//! ```
//!
//! where u = wind − v(r) e_y is the drops' velocity and v(r) their terminal speed (wind carries the same drops per volume of air
//! sideways, so a vertical pane catches wind/v of a gauge's share, small drops first). With a velocity given by the scene,
//! u is that and v its downward part; a velocity that does not point down has no such part, and the rate then counts on a surface
//! that faces the drops.
//!
//! **On a solid** candidates come at J M per area over the whole drawn surface, M = max |u|/v, and one is kept with probability
//! max(0, −u·n)/(M v) if its path is clear of solids (`exposure` says which are). Its ball starts [`RUN_UP`] radii back along
//! its path and would touch the solid just at the point drawn. The solid's own motion is small against a raindrop's, and neglected
//! in u; where it is at that time counts.
//!
//! **Through a box** drops start with their centers on the faces that the velocity enters through, each in proportion to its flux.
//!
//! **Time** is cut into blocks of a fixed length, each with its own random stream; within a block gaps are exponential, and as the
//! process has no memory, starting afresh at each block changes nothing. So a block can be made without those before it.

use glam::DVec3;
use sessile_scene::types::{Emitter, EmitterKind, RainArea};
use sessile_wetting::rain::fall_speed;

use super::exposure::sheltered;
use super::rain_sizes::SizeLaw;
use crate::emission::Emission;
use crate::random::Stream;
use crate::solid::Solid;

/// How far back along its path a ball starts from where it touches, in radii.
pub const RUN_UP: f64 = 4.0;

/// Candidates in a block of time, on average.
const BLOCK: f64 = 16.0;

/// Names the streams of rain.
const KEY: u64 = 0x7261_696e;

/// A rain, ready to fall.
#[derive(Clone, Debug)]
pub(crate) struct Rain {
    seed: u64,
    emitter: u64,
    start: f64,
    sizes: SizeLaw,
    fall: Fall,
    target: Target,
    /// Candidates per time, in 1/s.
    candidates: f64,
    /// M, or for a box its sum over faces, in m².
    majorant: f64,
}

/// How drops move.
#[derive(Clone, Copy, Debug)]
enum Fall {
    /// At terminal speed, carried by the wind.
    Terminal { wind: DVec3 },
    /// All alike; `counted` is the part of the speed that the rate counts.
    Given { velocity: DVec3, counted: f64 },
}

impl Fall {
    /// Velocity u of a drop, and the speed v that the rate counts, in m/s.
    fn of(&self, radius: f64) -> (DVec3, f64) {
        match *self {
            Self::Terminal { wind } => {
                let speed = fall_speed(2.0 * radius);
                (wind - DVec3::Y * speed, speed)
            }
            Self::Given { velocity, counted } => (velocity, counted),
        }
    }
}

/// One candidate: its radius in m, its velocity u, and the speed v that the rate counts, in m/s.
#[derive(Clone, Copy)]
struct Drop {
    radius: f64,
    velocity: DVec3,
    counted: f64,
}

#[derive(Clone, Debug)]
enum Target {
    /// Index, and the share of the drawn area up to and including each triangle.
    Solid {
        index: usize,
        share: Vec<f64>,
    },
    Box {
        min: DVec3,
        max: DVec3,
    },
}

impl Rain {
    /// Prepares emitter number `index`; says what is wrong where it cannot work, and in `notices` when nothing will arrive.
    pub fn new(
        seed: u64,
        index: usize,
        emitter: &Emitter,
        wind: DVec3,
        solids: &[Solid],
        notices: &mut Vec<String>,
    ) -> Result<Option<Self>, String> {
        let EmitterKind::Rain { over, rate, sizes, velocity } = &emitter.kind else { return Ok(None) };
        if !(*rate >= 0.0 && rate.is_finite()) {
            return Err(format!("`rate` must not be negative, got {rate} m/s"));
        }
        if *rate == 0.0 {
            return Ok(None);
        }
        let Some(sizes) = SizeLaw::new(sizes, *rate) else { return Ok(None) };
        let [smallest, largest] = sizes.bounds();
        if !(smallest > 0.0 && largest >= smallest && largest.is_finite()) {
            return Err(format!("the radii of raindrops must be positive and rise, got {smallest} m to {largest} m"));
        }
        let fall = match *velocity {
            None if fall_speed(2.0 * smallest) > 0.0 => Fall::Terminal { wind },
            None => {
                return Err(format!(
                    "drops of {} mm radius have no known fall speed; raise the smallest `radius` to 0.15 mm, or give `velocity`",
                    smallest * 1e3
                ));
            }
            Some(velocity) if velocity.length() > 0.0 && velocity.is_finite() => {
                let down = -velocity.y;
                if down <= 0.0 {
                    notices.push(format!(
                        "emitters.{index}: the rain's `velocity` does not point down, so `rate` counts on a surface that faces it"
                    ));
                }
                Fall::Given { velocity, counted: if down > 0.0 { down } else { velocity.length() } }
            }
            Some(velocity) => return Err(format!("rain needs a `velocity` that is not zero, got {velocity} m/s")),
        };
        let arrivals = rate / sizes.mean_volume();
        // |u|/v and each face's flux over v are convex in 1/v, so their maxima are at the ends.
        let ends = [smallest, largest].map(|radius| fall.of(radius));
        let (target, majorant, area) = match *over {
            RainArea::Solid(solid) => {
                let solid = solids.get(solid).ok_or_else(|| format!("there is no solid {solid} to rain on"))?;
                let (share, area) = area_shares(solid);
                say_if_unreachable(index, solid, &ends, notices);
                let majorant = ends.iter().map(|(u, v)| u.length() / v).fold(0.0, f64::max);
                (Target::Solid { index: solid.index(), share }, majorant, area)
            }
            RainArea::Box { min, max } => {
                if !(max - min).cmpgt(DVec3::ZERO).all() {
                    return Err(format!("the box to rain through must have positive sides, got {} m", max - min));
                }
                let majorant =
                    ends.iter().map(|(u, v)| face_fluxes(max - min, *u).element_sum() / v).fold(0.0, f64::max);
                (Target::Box { min, max }, majorant, 1.0)
            }
        };
        let candidates = arrivals * majorant * area;
        if !candidates.is_finite() {
            return Err(
                "its drops are so small and many that they cannot be counted; lower `rate` or raise `radius`".into()
            );
        }
        if candidates == 0.0 {
            return Ok(None);
        }
        let (start, emitter) = (emitter.start, index as u64);
        Ok(Some(Self { seed, emitter, start, sizes, fall, target, candidates, majorant }))
    }

    /// Adds the balls that start in [from, to) to `out`.
    pub fn emit(&self, solids: &[Solid], from: f64, to: f64, out: &mut Vec<Emission>) {
        let length = BLOCK / self.candidates;
        let block = |time: f64| ((time - self.start) / length).floor();
        // A block more on either side, for the quotient rounds; the times themselves decide.
        let (mut k, last) = ((block(from) - 1.0).max(0.0), block(to) + 1.0);
        while k <= last {
            let mut gaps = Stream::new(self.seed, &[KEY, self.emitter, k as u64]);
            let mut offset = gaps.exponential() / self.candidates;
            let mut n = 0;
            while offset < length {
                let time = self.start + k * length + offset;
                if time >= from && time < to {
                    let mut stream = Stream::new(self.seed, &[KEY, self.emitter, k as u64, n]);
                    out.extend(self.ball(solids, time, &mut stream));
                }
                offset += gaps.exponential() / self.candidates;
                n += 1;
            }
            k += 1.0;
        }
    }

    /// A candidate: a ball, if it is kept.
    fn ball(&self, solids: &[Solid], time: f64, stream: &mut Stream) -> Option<Emission> {
        let radius = self.sizes.draw(stream);
        let (velocity, counted) = self.fall.of(radius);
        let drop = Drop { radius, velocity, counted };
        let center = match &self.target {
            Target::Solid { index, share } => self.start_above(solids, *index, share, time, drop, stream)?,
            Target::Box { min, max } => self.start_on_face(*min, *max, drop, stream)?,
        };
        Some(Emission::Ball { time, center, radius, velocity })
    }

    /// Where a ball starts that will hit a point drawn on the solid.
    fn start_above(
        &self,
        solids: &[Solid],
        index: usize,
        share: &[f64],
        time: f64,
        Drop { radius, velocity, counted }: Drop,
        stream: &mut Stream,
    ) -> Option<DVec3> {
        let solid = &solids[index];
        let (pick, kept) = (stream.uniform(), stream.uniform());
        let triangle = share.partition_point(|s| *s <= pick).min(share.len() - 1);
        let [a, b, c] = solid.mesh().corners(triangle);
        // Uniform in a triangle: the square root evens out the strips towards a's opposite side.
        let (root, along) = (stream.uniform().sqrt(), stream.uniform());
        let at_rest = a + (b - a) * (root * (1.0 - along)) + (c - a) * (root * along);
        let pose = solid.motion_at(time).0;
        let face = pose.turn((b - a).cross(c - a).normalize_or_zero());
        if kept * self.majorant * counted >= -velocity.dot(face) {
            return None;
        }
        let moved: Vec<Option<Solid>> = solids.iter().map(|s| s.moves().then(|| s.at_time(time))).collect();
        let now: Vec<&Solid> = solids.iter().zip(&moved).map(|(s, moved)| moved.as_ref().unwrap_or(s)).collect();
        // Facets stand for curved surfaces: take the point of the surface itself.
        let hit = now[index].closest(pose.apply(at_rest)).point;
        let touch = hit + face * radius;
        let back = -velocity.normalize();
        if sheltered(&now, touch, back, radius) {
            return None;
        }
        Some(touch + back * (RUN_UP * radius))
    }

    /// Where a drop enters the box.
    fn start_on_face(&self, min: DVec3, max: DVec3, drop: Drop, stream: &mut Stream) -> Option<DVec3> {
        let Drop { velocity, counted, .. } = drop;
        let size = max - min;
        let fluxes = face_fluxes(size, velocity);
        let total = fluxes.element_sum();
        if stream.uniform() * self.majorant * counted >= total {
            return None;
        }
        let pick = stream.uniform() * total;
        let axis = if pick < fluxes.y {
            1
        } else if pick < fluxes.y + fluxes.x {
            0
        } else {
            2
        };
        let mut center = min + size * DVec3::new(stream.uniform(), stream.uniform(), stream.uniform());
        center[axis] = if velocity[axis] < 0.0 { max[axis] } else { min[axis] };
        Some(center)
    }
}

/// Volume of air that enters a box per time at `velocity` through its faces across x, y and z, in m³/s.
fn face_fluxes(size: DVec3, velocity: DVec3) -> DVec3 {
    velocity.abs() * DVec3::new(size.y * size.z, size.z * size.x, size.x * size.y)
}

/// The share of a solid's drawn area up to and including each triangle, and the area, in m².
fn area_shares(solid: &Solid) -> (Vec<f64>, f64) {
    let mesh = solid.mesh();
    let mut sum = 0.0;
    let mut share: Vec<f64> = (0..mesh.triangles.len())
        .map(|t| {
            let [a, b, c] = mesh.corners(t);
            sum += 0.5 * (b - a).cross(c - a).length();
            sum
        })
        .collect();
    share.iter_mut().for_each(|s| *s /= sum);
    (share, sum)
}

/// Says so when rain of neither the smallest nor the largest drops can hit a solid that stands still.
fn say_if_unreachable(index: usize, solid: &Solid, ends: &[(DVec3, f64); 2], notices: &mut Vec<String>) {
    if solid.moves() {
        return;
    }
    let mesh = solid.mesh();
    let towards = |t: usize| {
        let [a, b, c] = mesh.corners(t);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        ends.map(|(u, _)| -u.normalize().dot(normal))
    };
    let (mut hits, mut parallel) = (false, true);
    for cosine in (0..mesh.triangles.len()).flat_map(towards) {
        hits |= cosine > 1e-9;
        parallel &= cosine.abs() < 1e-9;
    }
    if !hits {
        let (name, how) = (solid.name(), if parallel { "parallel to" } else { "on the back of" });
        notices.push(format!(
            "emitters.{index}: rain falls {how} `{name}` and never hits it: give `wind` under [world], or the emitter a `velocity`"
        ));
    }
}

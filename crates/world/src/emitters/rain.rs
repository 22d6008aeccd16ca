//! Rain: a Poisson process over time, drop size and position.
//!
//! The rate I is the depth of water per time collected by a gauge on level ground in still air.
//! With J = I/⟨V⟩ drops per area and time there, of which a fraction p(r) dr has radius r, a
//! surface element with normal n is hit by
//!
//! ```text
//! J p(r) max(0, −u·n) / v   drops per area, time and radius
//! ```
//!
//! where u = wind − v(r) e_y is the drops' velocity and v(r) their terminal speed. (Wind advects
//! the same number of drops per volume of air sideways, so a vertical pane catches wind/v of a
//! gauge's share, small drops first.) If the scene gives a velocity, u is that velocity and v its
//! downward component; if it has none, the rate refers to a surface that faces the drops.
//!
//! **On a solid**, candidates are generated at J M per area over the meshed surface, M = max |u|/v,
//! and accepted with probability max(0, −u·n)/(M v) if their path is clear of solids (see
//! `exposure`). A drop starts [`START_DISTANCE`] radii before the sampled point of contact on its
//! path. The solid's velocity is small compared with that of a raindrop and neglected in u; its
//! pose at that time is used.
//!
//! **Through a box**, drops start with their centers on the inflow faces, in proportion to the
//! flux.
//!
//! **Time** is divided into blocks of fixed length, each with its own random stream. Within a
//! block, intervals between candidates are exponentially distributed; because the process is
//! memoryless, restarting at each block does not change it. A block can therefore be generated
//! without the blocks before it.

use glam::DVec3;
use sessile_scene::types::{Emitter, EmitterKind, RainArea};
use sessile_wetting::rain::fall_speed;

use super::exposure::is_sheltered;
use super::rain_sizes::SizeDistribution;
use crate::emission::Emission;
use crate::random::Stream;
use crate::solid::Solid;

/// Distance from a drop's start to its point of contact, in radii.
const START_DISTANCE: f64 = 4.0;

/// Mean number of candidates in a block of time.
const BLOCK: f64 = 16.0;

/// First key of rain's random streams.
const KEY: u64 = 0x7261_696e;

/// A rain emitter.
#[derive(Clone, Debug)]
pub(crate) struct Rain {
    seed: u64,
    emitter: u64,
    start: f64,
    sizes: SizeDistribution,
    fall: Fall,
    target: Target,
    /// Rate of candidates, in 1/s.
    candidates: f64,
    /// M; for a box its sum over faces, in m².
    majorant: f64,
}

/// Velocity of the drops.
#[derive(Clone, Copy, Debug)]
enum Fall {
    /// Terminal speed, plus the wind.
    Terminal { wind: DVec3 },
    /// The same for all drops; `counted` is the speed that the rate refers to.
    Given { velocity: DVec3, counted: f64 },
}

impl Fall {
    /// The fall at a given velocity, or at terminal speed; `smallest` is the smallest radius, in m.
    fn new(velocity: Option<DVec3>, wind: DVec3, smallest: f64) -> Result<Self, String> {
        match velocity {
            None if fall_speed(2.0 * smallest) > 0.0 => Ok(Self::Terminal { wind }),
            None => Err(format!(
                "the fall speed of drops of {} mm radius is unknown; raise the smallest `radius` to 0.15 mm, or give `velocity`",
                smallest * 1e3
            )),
            Some(velocity) if velocity.length() > 0.0 && velocity.is_finite() => {
                let down = -velocity.y;
                Ok(Self::Given { velocity, counted: if down > 0.0 { down } else { velocity.length() } })
            }
            Some(velocity) => Err(format!("`velocity` of rain must not be zero, got {velocity} m/s")),
        }
    }

    /// Velocity u of a drop, and the speed v that the rate refers to, in m/s.
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

/// A candidate: radius in m, velocity u, and the speed v that the rate refers to, in m/s.
#[derive(Clone, Copy)]
struct Drop {
    radius: f64,
    velocity: DVec3,
    counted: f64,
}

#[derive(Clone, Debug)]
enum Target {
    /// Index, and the cumulative fraction of the meshed area for each triangle.
    Solid {
        index: usize,
        share: Vec<f64>,
    },
    Box {
        min: DVec3,
        max: DVec3,
    },
}

impl Target {
    /// The target, M (for a box its sum over faces, in m²) and the area that M refers to, in m².
    fn new(over: &RainArea, ends: &[(DVec3, f64); 2], solids: &[Solid]) -> Result<(Self, f64, f64), String> {
        match *over {
            RainArea::Solid(solid) => {
                let solid = solids.get(solid).ok_or_else(|| format!("solid {solid} of `over` does not exist"))?;
                let (share, area) = area_shares(solid);
                let majorant = ends.iter().map(|(u, v)| u.length() / v).fold(0.0, f64::max);
                Ok((Self::Solid { index: solid.index(), share }, majorant, area))
            }
            RainArea::Box { min, max } => {
                if !(max - min).cmpgt(DVec3::ZERO).all() {
                    return Err(format!("the edges of the box `over` must be positive, got {} m", max - min));
                }
                let majorant =
                    ends.iter().map(|(u, v)| face_fluxes(max - min, *u).element_sum() / v).fold(0.0, f64::max);
                Ok((Self::Box { min, max }, majorant, 1.0))
            }
        }
    }
}

impl Rain {
    /// Prepares emitter number `index`.
    ///
    /// `None` for another kind of emitter and for rain without drops. Rain that cannot reach its
    /// target is reported in `notices`.
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
        let Some(sizes) = SizeDistribution::new(sizes, *rate) else { return Ok(None) };
        let [smallest, largest] = sizes.bounds();
        if !(smallest > 0.0 && largest >= smallest && largest.is_finite()) {
            return Err(format!("radii of raindrops must be positive and increase, got {smallest} m to {largest} m"));
        }
        let fall = Fall::new(*velocity, wind, smallest)?;
        if matches!(fall, Fall::Given { velocity, .. } if velocity.y >= 0.0) {
            notices.push(format!(
                "emitters.{index}: the rain's `velocity` does not point down, so `rate` refers to a surface that faces it"
            ));
        }
        // |u|/v and each face's flux over v are convex in 1/v, so their maxima are at the ends.
        let ends = [smallest, largest].map(|radius| fall.of(radius));
        let (target, majorant, area) = Target::new(over, &ends, solids)?;
        if let Target::Solid { index: solid, .. } = target {
            notice_if_unreachable(index, &solids[solid], &ends, notices);
        }
        let arrivals = rate / sizes.mean_volume();
        let candidates = arrivals * majorant * area;
        if !candidates.is_finite() {
            return Err("there are too many drops to count; lower `rate` or raise `radius`".into());
        }
        if candidates == 0.0 {
            return Ok(None);
        }
        let (start, emitter) = (emitter.start, index as u64);
        Ok(Some(Self { seed, emitter, start, sizes, fall, target, candidates, majorant }))
    }

    /// Appends the drops that start in [from, to) to `out`.
    pub fn emit(&self, solids: &[Solid], from: f64, to: f64, out: &mut Vec<Emission>) {
        let length = BLOCK / self.candidates;
        let block = |time: f64| ((time - self.start) / length).floor();
        // One more block on either side, because the quotient is rounded; the times themselves
        // decide.
        let (mut k, last) = ((block(from) - 1.0).max(0.0), block(to) + 1.0);
        while k <= last {
            let mut gaps = Stream::new(self.seed, &[KEY, self.emitter, k as u64]);
            let mut offset = gaps.exponential() / self.candidates;
            let mut n = 0;
            while offset < length {
                let time = self.start + k * length + offset;
                if time >= from && time < to {
                    let mut stream = Stream::new(self.seed, &[KEY, self.emitter, k as u64, n]);
                    out.extend(self.drop(solids, time, &mut stream));
                }
                offset += gaps.exponential() / self.candidates;
                n += 1;
            }
            k += 1.0;
        }
    }

    /// A candidate drop, if it is accepted.
    fn drop(&self, solids: &[Solid], time: f64, stream: &mut Stream) -> Option<Emission> {
        let radius = self.sizes.draw(stream);
        let (velocity, counted) = self.fall.of(radius);
        let candidate = Drop { radius, velocity, counted };
        let center = match &self.target {
            Target::Solid { index, share } => self.start_above(solids, *index, share, time, candidate, stream)?,
            Target::Box { min, max } => self.start_on_face(*min, *max, candidate, stream)?,
        };
        Some(Emission::Ball { time, center, radius, velocity })
    }

    /// Start of a drop that hits a random point of the solid.
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
        let (pick, accept) = (stream.uniform(), stream.uniform());
        let triangle = share.partition_point(|s| *s <= pick).min(share.len() - 1);
        let deformed = solid.deforms().then(|| solid.at_time(time));
        let [a, b, c] = deformed.as_ref().unwrap_or(solid).mesh().corners(triangle);
        // Uniform in the triangle.
        let (root, along) = (stream.uniform().sqrt(), stream.uniform());
        let at_rest = a + (b - a) * (root * (1.0 - along)) + (c - a) * (root * along);
        let pose = solid.motion_at(time).0;
        let face = pose.turn((b - a).cross(c - a).normalize_or_zero());
        if accept * self.majorant * counted >= -velocity.dot(face) {
            return None;
        }
        let moved: Vec<Option<Solid>> = solids.iter().map(|s| s.moves().then(|| s.at_time(time))).collect();
        let now: Vec<&Solid> = solids.iter().zip(&moved).map(|(s, moved)| moved.as_ref().unwrap_or(s)).collect();
        // Project the facet's point onto the curved surface.
        let hit = now[index].closest(pose.apply(at_rest)).point;
        let touch = hit + face * radius;
        let back = -velocity.normalize();
        if is_sheltered(&now, touch, back, radius) {
            return None;
        }
        Some(touch + back * (START_DISTANCE * radius))
    }

    /// Start of a drop on a face of the box.
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

/// Volume of air that enters a box per time at `velocity` through its faces across x, y and z, in
/// m³/s.
fn face_fluxes(size: DVec3, velocity: DVec3) -> DVec3 {
    velocity.abs() * DVec3::new(size.y * size.z, size.z * size.x, size.x * size.y)
}

/// Cumulative fraction of a solid's meshed area for each triangle, and the area, in m².
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

/// Reports rain that cannot hit a fixed solid, neither with the smallest nor with the largest
/// drops.
fn notice_if_unreachable(index: usize, solid: &Solid, ends: &[(DVec3, f64); 2], notices: &mut Vec<String>) {
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

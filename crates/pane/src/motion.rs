//! Motion of one drop: a force balance along the pane, and a choice of one of three directions in
//! every cell.
//!
//! ```text
//! m dU/dt = F·h − γ w (cos θ_r − cos θ_a) − β w η U        (docs/wetting.md, "Sliding")
//! ```
//!
//! F is the tangential weight plus the drag of the wind, h the heading, w = 2R the width, θ_a the
//! advancing angle ahead of the front: the wet one on a trail or film. After every cell size of
//! path the drop compares three directions, along F and 45° to either side, and takes that of the
//! largest net force. Impurities scale the retention of a direction by up to `impurity_strength`
//! either way. So a drop that is barely heavy enough meanders, a heavy one slides straight, and a
//! wetted path, which retains less, is followed: the paper's rule (water first, then affinity) from
//! one balance. A drop that turns aside because impurities retain it less there is retained less
//! until its next choice; straight on they average out.
//!
//! Between two choices the balance is linear in U and is solved in closed form, with β at the
//! segment's mean speed. The step is limited so that no drop crosses more than `cells_per_step`
//! cells: Δt (U + a Δt_max) ≤ 6 cells, a the largest acceleration.

mod segment;

use std::f64::consts::FRAC_1_SQRT_2;

use glam::{DVec2, Vec2};
use serde::{Deserialize, Serialize};
use sessile_wetting::retention::retention_factor;
use sessile_wetting::{Liquid, SlidingLaw, cap};

use crate::drops::PaneDrop;
use crate::inertia::Inertia;
use crate::parameters::{MAX_SEGMENTS, PARAMETERS};
use crate::substrate::{CellIndex, Substrate};
use segment::SegmentMotion;

/// What acts on all drops of the pane in a step, in the pane's axes: x across, y up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepContext {
    /// The liquid.
    pub liquid: Liquid,
    /// Tangential gravity, in m/s².
    pub gravity: DVec2,
    /// Gravity into the pane, in m/s²; negative under a ceiling.
    pub normal_acceleration: f64,
    /// Wind along the pane relative to it, in m/s.
    pub wind: DVec2,
    /// What a pane that accelerates or rotates adds; `None` for one that does not.
    pub inertia: Option<Inertia>,
    /// Values that replace those derived from the liquid and the material.
    pub overrides: Overrides,
    /// Drag that `time.settle` adds, in 1/s.
    pub damping: f64,
}

impl StepContext {
    /// Whether gravity, inertia and wind are those of `other`; the rest is constant during a run,
    /// except the refractive index, which is no force and may change when a run resumes.
    pub fn has_same_forces(&self, other: &Self) -> bool {
        self.gravity == other.gravity
            && self.inertia == other.inertia
            && self.normal_acceleration == other.normal_acceleration
            && self.wind == other.wind
    }
}

/// The paper's parameters as explicit overrides, in m³.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overrides {
    /// A drop at rest starts to slide above this volume.
    pub static_weight: Option<f64>,
    /// A sliding drop stops below this volume.
    pub dynamic_weight: Option<f64>,
    /// Volume left behind per cell size of path.
    pub residue: Option<f64>,
}

impl StepContext {
    /// Tangential force on a drop of a volume (in m³) and base radius (in m), in N.
    ///
    /// `motion` is its position (in m) and velocity (in m/s).
    #[inline]
    pub fn force(&self, motion: (DVec2, DVec2), volume: f64, radius: f64, law: &SlidingLaw) -> DVec2 {
        let drag = law.air_drag * radius * radius * self.wind.length();
        let gravity = self.inertia.map_or(self.gravity, |inertia| self.gravity + inertia.at(motion));
        gravity * (self.liquid.density * volume) + self.wind * drag
    }

    /// Retention force on a drop whose front meets `cos_advancing`, in N.
    #[inline]
    fn retention(&self, force: DVec2, volume: f64, radius: f64, law: &SlidingLaw, cos_advancing: f64) -> f64 {
        match self.overrides.dynamic_weight {
            Some(weight) => force.length() * weight / volume,
            None => self.liquid.surface_tension * 2.0 * radius * (law.cos_receding - cos_advancing).max(0.0),
        }
    }

    /// Base radius at θ_a, in m; `None` for a drop too heavy to hang.
    pub fn advancing_radius(&self, law: &SlidingLaw, volume: f64) -> Option<f64> {
        law.flat_radius(&self.liquid, volume, self.normal_acceleration)
    }

    /// Base radius at θ_r, at least `least`, in m.
    pub fn receding_radius(&self, law: &SlidingLaw, volume: f64, least: f64) -> f64 {
        let radius = law.receding_radius(&self.liquid, volume, self.normal_acceleration, 0.0);
        radius.unwrap_or(least).max(least)
    }

    /// Longest time step for drops of speed `fastest` (in m/s), in s.
    ///
    /// Within the step a drop gains at most a Δt_max, with a the gravity plus the acceleration by
    /// the wind of a drop of one cell size, the smallest that slides.
    pub fn longest_step(&self, fastest: f64, cell_size: f64, law: &SlidingLaw) -> f64 {
        let mass = self.liquid.density * cap::volume(cell_size, law.wetting.advancing);
        let blown = law.air_drag * cell_size * cell_size * self.wind.length_squared() / mass;
        let inertia = self.inertia.map_or(0.0, |inertia| inertia.largest);
        let speed = fastest + (self.gravity.length() + inertia + blown) * PARAMETERS.max_step;
        if speed > 0.0 {
            PARAMETERS.max_step.min(PARAMETERS.cells_per_step * cell_size / speed)
        } else {
            PARAMETERS.max_step
        }
    }

    /// Whether a drop at rest exceeds its retention in one of the three directions; impurities do
    /// not count.
    ///
    /// `line_excess` is 0 for a contact line at the advancing radius and 1 at the receding one.
    pub fn exceeds_retention(&self, substrate: &Substrate, drop: &PaneDrop, line_excess: f64) -> bool {
        let (position, volume, radius) = (drop.position, drop.volume, drop.radius);
        let law = substrate.law_at(position);
        let force = self.force((position, DVec2::ZERO), volume, radius, law);
        let Some(downhill) = force.try_normalize() else { return false };
        if let Some(weight) = self.overrides.static_weight {
            return volume > weight;
        }
        let k = retention_factor(line_excess);
        directions(downhill).into_iter().any(|direction| {
            let cos_advancing = substrate.cos_front(position, direction, radius);
            force.dot(direction) > k * self.retention(force, volume, radius, law, cos_advancing)
        })
    }

    /// The direction of the largest net force, impurities included, of those in which it can slide;
    /// `None` without a force.
    #[inline]
    fn choose_direction(&self, substrate: &Substrate, motion: &Motion, radius: f64) -> Option<DVec2> {
        let &Motion { position, volume, .. } = motion;
        let law = substrate.law_at(position);
        let force = self.force((position, motion.velocity()), volume, radius, law);
        let mut best: Option<((bool, f64), DVec2)> = None;
        for direction in directions(force.try_normalize()?) {
            let impurity = substrate.impurity(substrate.ahead(position, direction, radius));
            let cos_advancing = substrate.cos_front(position, direction, radius);
            let retention = self.retention(force, volume, radius, law, cos_advancing);
            let drive = force.dot(direction);
            let key = (drive > retention, drive - retention * (1.0 - PARAMETERS.impurity_strength * impurity));
            if best.is_none_or(|(most, _)| key > most) {
                best = Some((key, direction));
            }
        }
        best.map(|(_, direction)| direction)
    }

    /// Factor of the impurities on the retention along the present heading: below 1 where they made
    /// the drop turn aside at its last choice.
    #[inline]
    fn easing(&self, substrate: &Substrate, motion: &Motion, radius: f64, force: DVec2) -> f64 {
        if force.perp_dot(motion.heading).abs() < 0.5 * force.dot(motion.heading) {
            return 1.0;
        }
        let since_choice = substrate.cell_size - motion.to_next_choice;
        let chosen_at = motion.position - motion.heading * since_choice;
        let impurity = substrate.impurity(substrate.ahead(chosen_at, motion.heading, radius));
        1.0 - PARAMETERS.impurity_strength * impurity.max(0.0)
    }

    /// Width (in m) and cross-section (in m²) of the film that a drop leaves at this speed.
    #[inline]
    fn trail(&self, substrate: &Substrate, law: &SlidingLaw, speed: f64, drop_width: f64) -> (f64, f64) {
        match self.overrides.residue {
            Some(residue) => (drop_width, residue / substrate.cell_size),
            None => law.trail(&self.liquid, speed, drop_width, self.gravity.length(), self.normal_acceleration),
        }
    }
}

/// The three directions: along the force, and 45° to its right and left.
#[inline]
fn directions(downhill: DVec2) -> [DVec2; 3] {
    let across = downhill.perp();
    [downhill, (downhill - across) * FRAC_1_SQRT_2, (downhill + across) * FRAC_1_SQRT_2]
}

/// Result of a drop's step besides its new position and speed: two cache lines, written by one pass
/// and read by another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(64))]
pub struct Outcome {
    /// Start of the path and ends of its straight segments, in m from the final position.
    path: [Vec2; MAX_SEGMENTS + 1],
    /// Film left on each segment, in m³.
    shed: [f32; MAX_SEGMENTS],
    /// Final speed, in m/s.
    pub speed: f32,
    /// Width of the film on the last segment, in m.
    pub trail_width: f32,
    num_segments: u8,
    /// Whether the substrate along the path is wetted now.
    pub wets: bool,
    /// Whether film was left, which is already subtracted from the volume.
    pub sheds: bool,
    /// Whether the serial pass must look at the drop: it shed or met film, stopped, left the pane
    /// or its bucket.
    pub needs_commit: bool,
}

const _: () = assert!(size_of::<Outcome>() == 128);

impl Outcome {
    /// Number of straight segments.
    pub fn num_segments(&self) -> usize {
        usize::from(self.num_segments)
    }

    /// Vertex `i` of the path of a drop whose final position is `position`, in m.
    pub fn vertex(&self, i: usize, position: DVec2) -> DVec2 {
        position + self.path[i].as_dvec2()
    }

    /// Ends of all segments, in m.
    pub fn ends(&self, position: DVec2) -> impl Iterator<Item = DVec2> + Clone {
        self.path[1..=self.num_segments()].iter().map(move |offset| position + offset.as_dvec2())
    }

    /// Film left on segment `i`, in m³.
    pub fn shed(&self, i: usize) -> f64 {
        f64::from(self.shed[i])
    }
}

/// Cells whose film a front takes up: ahead and towards both sides.
#[inline]
pub fn film_cells(substrate: &Substrate, at: DVec2, heading: DVec2, radius: f64) -> [CellIndex; 3] {
    let across = heading.perp();
    [-0.7, 0.0, 0.7].map(|side| substrate.cell_at(at + radius * (heading + side * across)))
}

/// State of a drop within its step.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Motion {
    position: DVec2,
    heading: DVec2,
    speed: f64,
    to_next_choice: f64,
    volume: f64,
}

impl Motion {
    /// Velocity on the pane, in m/s.
    #[inline]
    fn velocity(&self) -> DVec2 {
        self.heading * self.speed
    }
}

/// Moves a drop for `dt` seconds over a substrate that does not change meanwhile.
pub fn integrate(drop: &mut PaneDrop, context: &StepContext, substrate: &Substrate, dt: f64) -> Outcome {
    let mut motion = Motion {
        position: drop.position,
        heading: drop.heading.as_dvec2(),
        speed: f64::from(drop.speed),
        to_next_choice: f64::from(drop.to_next_choice),
        volume: drop.volume,
    };
    let mut outcome = Outcome::default();
    let mut vertices = [drop.position; MAX_SEGMENTS + 1];
    let (mut num_segments, mut remaining) = (0, dt);
    while remaining > 0.0 && num_segments < MAX_SEGMENTS {
        if motion.to_next_choice <= 0.0 {
            let chosen = context.choose_direction(substrate, &motion, drop.radius);
            let Some(direction) = chosen else {
                motion.speed = 0.0;
                break;
            };
            (motion.heading, motion.to_next_choice) = (direction, substrate.cell_size);
        }
        let (time, stops) =
            integrate_segment(&mut motion, drop.radius, context, substrate, remaining, &mut outcome, num_segments);
        num_segments += 1;
        vertices[num_segments] = motion.position;
        remaining -= time;
        if stops {
            motion.speed = 0.0;
            break;
        }
    }
    outcome.needs_commit |= outcome.sheds || motion.speed == 0.0;
    outcome.num_segments = num_segments as u8;
    for (offset, vertex) in outcome.path.iter_mut().zip(vertices) {
        *offset = (vertex - motion.position).as_vec2();
    }
    drop.volume = motion.volume;
    drop.since_wetting += drop.position.distance(motion.position) as f32;
    (drop.position, drop.heading) = (motion.position, motion.heading.as_vec2());
    (drop.speed, drop.to_next_choice) = (motion.speed as f32, motion.to_next_choice as f32);
    outcome
}

/// Moves a drop along one straight segment for at most `limit` seconds; returns the time taken and
/// whether it stops.
#[inline]
fn integrate_segment(
    motion: &mut Motion,
    radius: f64,
    context: &StepContext,
    substrate: &Substrate,
    limit: f64,
    outcome: &mut Outcome,
    index: usize,
) -> (f64, bool) {
    let law = substrate.law_at(motion.position);
    let segment = SegmentMotion::new(context, substrate, law, motion, radius);
    let (time, length) = segment.until(limit, motion.to_next_choice);
    motion.position += motion.heading * length;
    motion.speed = segment.speed(time).max(0.0);
    motion.to_next_choice -= length;
    if length > 0.0 {
        let (width, per_length) = context.trail(substrate, law, length / time, 2.0 * radius);
        // A drop leaves at most half of itself on a segment.
        let shed = (per_length * length).min(0.5 * motion.volume) as f32;
        motion.volume -= f64::from(shed);
        outcome.shed[index] = shed;
        outcome.trail_width = width as f32;
        outcome.sheds |= shed > 0.0;
    }
    let cells = film_cells(substrate, motion.position, motion.heading, radius);
    outcome.needs_commit |= cells.iter().any(|&cell| substrate.has_film(cell));
    (time, time >= segment.time_to_rest())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessile_wetting::Wetting;

    /// The bound has the unit of a speed: a wind of 1 m/s may not shorten the step like gravity of
    /// 1 m/s² does.
    #[test]
    fn the_step_is_limited_by_speed_and_acceleration() {
        let law = SlidingLaw::new(&Liquid::water(), &Wetting::smooth(1.5, 1.0));
        let at_rest = StepContext {
            liquid: Liquid::water(),
            gravity: DVec2::ZERO,
            normal_acceleration: 9.8,
            wind: DVec2::ZERO,
            inertia: None,
            overrides: Overrides::default(),
            damping: 0.0,
        };
        let step = |context: &StepContext, fastest: f64| context.longest_step(fastest, 1e-3, &law);
        assert_eq!(step(&at_rest, 0.0), PARAMETERS.max_step);
        assert!((step(&at_rest, 1.0) - 6e-3).abs() < 1e-12);
        let falling = StepContext { gravity: DVec2::NEG_Y * 9.8, ..at_rest };
        assert!((step(&falling, 1.0) - 6e-3 / (1.0 + 9.8 / 60.0)).abs() < 1e-12);
        // The drag grows as the square of the wind: 0.15 m/s² on a drop of 1 mm at 1 m/s.
        let bound = |wind: f64| 6e-3 / step(&StepContext { wind: DVec2::X * wind, ..at_rest }, 1.0) - 1.0;
        assert!((bound(10.0) / bound(1.0) - 100.0).abs() < 1e-6, "{} and {}", bound(1.0), bound(10.0));
        assert!((60.0 * bound(1.0) - 0.15).abs() < 0.02, "{} m/s²", 60.0 * bound(1.0));
    }
}

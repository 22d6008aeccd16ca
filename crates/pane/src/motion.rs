//! How one drop runs: a force balance along the pane, and a choice among three ways at every cell.
//!
//! ```text
//! m dU/dt = F·h − γ w (cos θ_r − cos θ_a) − β w η U          (docs/wetting.md, "Holding on" and "Sliding")
//! ```
//!
//! F is the drop's weight along the pane plus the wind's drag, h its heading, w = 2R its width, θ_a the advancing angle of the
//! ground that its front meets: the wet one where a trail or film lies. Every cell's length the drop looks at three cells ahead,
//! straight along F and 45° to either side, and takes the way on which the net force is largest. Impurities scale what a way
//! costs by up to [`IMPURITY`] either way. So a drop that is barely heavy enough meanders, a heavy one runs straight, and
//! a wetted path, which costs less, is followed: the paper's rule (water first, then affinity) out of one balance.
//!
//! Between two choices the balance is linear in U and is solved in closed form; β is taken at the segment's mean speed.

use std::f64::consts::FRAC_1_SQRT_2;

use glam::{DVec2, Vec2};
use serde::{Deserialize, Serialize};
use sessile_wetting::Liquid;

use crate::drops::PaneDrop;
use crate::ground::Ground;
use crate::laws::CellLaw;

/// How much impurities change what a way costs, relative to the hysteresis: heterogeneity is what hysteresis comes from, so
/// the two are of one size. Chosen, not measured: at 0 a critical drop runs dead straight, at 1 it ends in pockets.
pub const IMPURITY: f64 = 0.35;
/// Most choices in one step; [`Slope::longest_step`] sees to it.
pub const MOST_CHOICES: usize = 8;
/// Cells that the fastest drop may cross in one step, below [`MOST_CHOICES`] by one for the cell that it starts in.
const CELLS_PER_STEP: f64 = 6.0;
/// Longest step, in s.
const LONGEST_STEP: f64 = 1.0 / 60.0;

/// What acts on all drops of the pane now, in its own axes: x across, y up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slope {
    /// The liquid.
    pub liquid: Liquid,
    /// Gravity along the pane, in m/s².
    pub gravity: DVec2,
    /// Gravity into the pane, in m/s²; negative under a ceiling.
    pub pressing: f64,
    /// Wind along the pane, in m/s.
    pub wind: DVec2,
    /// Overrides of what the liquid and the material say.
    pub overrides: Overrides,
    /// Extra drag for settling, in 1/s.
    pub damping: f64,
}

/// The paper's knobs as explicit overrides, in m³.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overrides {
    /// A resting drop starts above this volume.
    pub static_weight: Option<f64>,
    /// A moving drop stops below this volume.
    pub dynamic_weight: Option<f64>,
    /// Left behind per cell's length.
    pub residue: Option<f64>,
}

impl Slope {
    /// Force along the pane on a drop, in N.
    pub fn force(&self, volume: f64, radius: f64, law: &CellLaw) -> DVec2 {
        let drag = law.air_drag * radius * radius * self.wind.length();
        self.gravity * (self.liquid.density * volume) + self.wind * drag
    }

    /// What holds a drop of this width whose front meets `cos_advancing`, in N.
    fn hold(&self, force: DVec2, volume: f64, radius: f64, law: &CellLaw, cos_advancing: f64) -> f64 {
        match self.overrides.dynamic_weight {
            Some(weight) => force.length() * weight / volume,
            None => self.liquid.surface_tension * 2.0 * radius * (law.cos_receding - cos_advancing).max(0.0),
        }
    }

    /// Longest step for drops of this speed on cells of this size, in s.
    pub fn longest_step(&self, fastest: f64, cell: f64) -> f64 {
        let within = fastest + (self.gravity.length() + self.wind.length()) * LONGEST_STEP;
        if within > 0.0 { LONGEST_STEP.min(CELLS_PER_STEP * cell / within) } else { LONGEST_STEP }
    }
}

/// Whether a resting drop starts to move: on one of the three ways the net force, impurities aside, is positive.
///
/// `spread` is how far its line has been pushed beyond the advancing radius, 0 to 1 at the receding one: a drop that landed
/// wide is held by a little less of its width (k from 1 to 0.9; docs/wetting.md, "Holding on").
pub fn starts(slope: &Slope, ground: &Ground, place: DVec2, volume: f64, radius: f64, spread: f64) -> bool {
    let law = ground.law(ground.cell_at(place));
    let force = slope.force(volume, radius, law);
    let Some(along) = force.try_normalize() else { return false };
    if let Some(weight) = slope.overrides.static_weight {
        return volume > weight;
    }
    let k = 1.0 - 0.1 * spread * spread;
    ways(along).into_iter().any(|way| {
        let hold = slope.hold(force, volume, radius, law, ground.cos_front(place, way, radius));
        force.dot(way) > k * hold
    })
}

/// The three ways: along the force, and 45° to its right and left.
fn ways(along: DVec2) -> [DVec2; 3] {
    let across = along.perp();
    [along, (along - across) * FRAC_1_SQRT_2, (along + across) * FRAC_1_SQRT_2]
}

/// The way with the largest net force, impurities included, of those on which it can go at all; `None` without a force.
fn choose_way(slope: &Slope, ground: &Ground, place: DVec2, volume: f64, radius: f64) -> Option<DVec2> {
    let law = ground.law(ground.cell_at(place));
    let force = slope.force(volume, radius, law);
    let mut best: Option<((bool, f64), DVec2)> = None;
    for way in ways(force.try_normalize()?) {
        let front = ground.ahead(place, way, radius);
        let impurity = ground.coarse_impurity.at((front % ground.columns) as i64, (front / ground.columns) as i64);
        let hold = slope.hold(force, volume, radius, law, ground.cos_front(place, way, radius));
        let key = (force.dot(way) > hold, force.dot(way) - hold * (1.0 - IMPURITY * impurity));
        if best.is_none_or(|(most, _)| key > most) {
            best = Some((key, way));
        }
    }
    best.map(|(_, way)| way)
}

/// What a drop does in one step, as it happens.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Advance {
    place: DVec2,
    heading: DVec2,
    speed: f64,
    to_next: f64,
}

/// What came of a drop's step, besides its new place and speed: two lines of memory, since it is written by one pass and read by another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(64))]
pub struct Outcome {
    /// Start of its path and ends of the straight segments, in m from where it is now.
    path: [Vec2; MOST_CHOICES + 1],
    /// Liquid left on each segment, in m³.
    shed: [f32; MOST_CHOICES],
    /// Its speed now, in m/s.
    pub speed: f32,
    /// Width of what it left last, in m.
    pub trail_width: f32,
    num_segments: u8,
    /// Whether it wets the ground along its path now.
    pub wets: bool,
    /// Whether it has left liquid behind, which its volume lacks already.
    pub sheds: bool,
    /// Something came of it beyond a change of place: it has shed or met film, stopped, left the pane or its bucket.
    pub is_notable: bool,
}

const _: () = assert!(size_of::<Outcome>() == 128);

impl Outcome {
    /// Number of straight segments.
    pub fn num_segments(&self) -> usize {
        usize::from(self.num_segments)
    }

    /// End of segment `i` (or, for 0, the start of the first) of a drop that is at `place` now, in m.
    pub fn corner(&self, i: usize, place: DVec2) -> DVec2 {
        place + self.path[i].as_dvec2()
    }

    /// Ends of all segments, in m.
    pub fn ends(&self, place: DVec2) -> impl Iterator<Item = DVec2> + Clone {
        self.path[1..=self.num_segments()].iter().map(move |offset| place + offset.as_dvec2())
    }

    /// Liquid left on segment `i`, counted from 0, in m³.
    pub fn shed(&self, i: usize) -> f64 {
        f64::from(self.shed[i])
    }
}

/// Cells whose film a front takes up: in its middle and towards both sides.
pub fn film_cells(ground: &Ground, at: DVec2, heading: DVec2, radius: f64) -> [usize; 3] {
    let across = heading.perp();
    [-0.7, 0.0, 0.7].map(|side| ground.cell_at(at + radius * (heading + side * across)))
}

/// Runs a drop for `dt` seconds over ground that nobody changes meanwhile.
pub fn advance(drop: &mut PaneDrop, slope: &Slope, ground: &Ground, dt: f64) -> Outcome {
    let mut state = Advance {
        place: drop.place,
        heading: drop.heading.as_dvec2(),
        speed: f64::from(drop.speed),
        to_next: f64::from(drop.to_next),
    };
    let mut outcome = Outcome::default();
    let mut corners = [drop.place; MOST_CHOICES + 1];
    let mut num_segments = 0;
    let (mut volume, mut left) = (drop.volume, dt);
    while left > 0.0 && num_segments < MOST_CHOICES {
        if state.to_next <= 0.0 {
            let Some(way) = choose_way(slope, ground, state.place, volume, drop.radius) else {
                state.speed = 0.0;
                break;
            };
            state.heading = way;
            state.to_next = ground.cell;
        }
        let law = ground.law(ground.cell_at(state.place));
        let glide = Glide::of(slope, ground, law, &state, volume, drop.radius);
        let (time, length) = glide.until(left, state.to_next);
        state.place += state.heading * length;
        state.speed = glide.speed(time).max(0.0);
        state.to_next -= length;
        if length > 0.0 {
            let (width, per_length) = trail(slope, ground, law, length / time, 2.0 * drop.radius);
            // A drop cannot leave more than itself; what a last speck would leave stays with it.
            let shed = (per_length * length).min(0.5 * volume) as f32;
            volume -= f64::from(shed);
            outcome.shed[num_segments] = shed;
            outcome.trail_width = width as f32;
            outcome.sheds |= shed > 0.0;
        }
        let cells = film_cells(ground, state.place, state.heading, drop.radius);
        outcome.is_notable |= cells.iter().any(|&cell| ground.has_film(cell));
        num_segments += 1;
        corners[num_segments] = state.place;
        left -= time;
        if time >= glide.time_to_rest() {
            state.speed = 0.0;
            break;
        }
    }
    outcome.is_notable |= outcome.sheds || state.speed == 0.0;
    outcome.num_segments = num_segments as u8;
    for (offset, corner) in outcome.path.iter_mut().zip(corners) {
        *offset = (corner - state.place).as_vec2();
    }
    drop.volume = volume;
    drop.since_wet += drop.place.distance(state.place) as f32;
    (drop.place, drop.heading) = (state.place, state.heading.as_vec2());
    (drop.speed, drop.to_next) = (state.speed as f32, state.to_next as f32);
    outcome
}

/// Width and cross-section of what a drop leaves at this speed, in m and m².
fn trail(slope: &Slope, ground: &Ground, law: &CellLaw, speed: f64, drop_width: f64) -> (f64, f64) {
    match slope.overrides.residue {
        Some(residue) => (drop_width, residue / ground.cell),
        None => law.trail(slope, speed, drop_width),
    }
}

/// Motion along a straight segment: dU/dt = λ (U∞ − U).
struct Glide {
    start: f64,
    terminal: f64,
    rate: f64,
}

impl Glide {
    fn of(slope: &Slope, ground: &Ground, law: &CellLaw, state: &Advance, volume: f64, radius: f64) -> Self {
        let liquid = &slope.liquid;
        let (mass, width) = (liquid.density * volume, 2.0 * radius);
        let force = slope.force(volume, radius, law);
        let cos_advancing = ground.cos_front(state.place, state.heading, radius);
        let net = force.dot(state.heading) - slope.hold(force, volume, radius, law, cos_advancing);
        let with_resistance_at = |speed: f64| {
            let rate = law.resistance(liquid, speed, width) / mass + slope.damping;
            Self { start: state.speed, terminal: net / (mass * rate), rate }
        };
        // The mean speed over the segment, or over the relaxation if that is shorter, decides the resistance.
        let first = with_resistance_at(state.speed);
        let time = (state.to_next / (state.speed + first.terminal.abs()).max(1e-9)).min(1.0 / first.rate);
        with_resistance_at(0.5 * (state.speed + first.speed(time).max(0.0)))
    }

    fn speed(&self, time: f64) -> f64 {
        self.terminal + (self.start - self.terminal) * (-self.rate * time).exp()
    }

    fn distance(&self, time: f64) -> f64 {
        self.terminal * time - (self.start - self.terminal) * (-self.rate * time).exp_m1() / self.rate
    }

    /// When it stops, in s; infinite if it does not.
    fn time_to_rest(&self) -> f64 {
        if self.terminal < 0.0 || self.start + self.terminal <= 0.0 {
            (1.0 - self.start / self.terminal.min(-f64::MIN_POSITIVE)).ln() / self.rate
        } else {
            f64::INFINITY
        }
    }

    /// Time and way until `time` is over, `length` is covered, or the drop stands, whichever comes first.
    fn until(&self, time: f64, length: f64) -> (f64, f64) {
        let time = time.min(self.time_to_rest());
        let whole = self.distance(time);
        if whole <= length {
            return (time, whole);
        }
        // The way grows with time, so a bracketed Newton iteration finds when it reaches `length`.
        let (mut early, mut late) = (0.0, time);
        let mut t = time * length / whole;
        for _ in 0..30 {
            let off = self.distance(t) - length;
            if off > 0.0 {
                late = t;
            } else {
                early = t;
            }
            let newton = t - off / self.speed(t);
            let next = if newton > early && newton < late { newton } else { 0.5 * (early + late) };
            if (next - t).abs() <= 1e-12 * time {
                break;
            }
            t = next;
        }
        (t, length)
    }
}

//! Running over the mesh: triangle by triangle, over sides, along creases and through corners, until the time is up.
//!
//! On a triangle the droplet glides in closed form ([`crate::glide`]). What the pull and the drag are is for [`Rules`] to say; where they depend
//! on the velocity (the line's hold points against it, the drag grows with it) they are taken at the middle of an interval, the drag with
//! its slope there, that is short enough for them to change by no more than [`CHANGE`] (the drag by two and a half times that) and for the ground under the droplet to
//! be the same, and intervals are cut by time, not by triangles: in a plane the
//! path does not depend on how the plane is cut up.
//!
//! Over a side the velocity keeps its component along it. Across it, it goes on at the same speed over a ridge, if what holds the
//! droplet can turn it, and loses its part into the new triangle in a valley: a collision without rebound (fournier1998, §2.1). A droplet
//! that is pushed into a crease from both sides stays in it and slides along it once its hops are far below its own
//! size. Energy is lost at each of these, never gained.

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};

use crate::crease::{self, Vertex};
use crate::glide::{Glide, first_zero};
use crate::lanes::Number;
use crate::track::{COPLANAR, Facet, NONE, Place, Track};

/// Change of direction in rad, or a share of the relative change of the drag, within one interval of frozen coefficients.
pub const CHANGE: f64 = 0.03;
/// A change of the drag counts by this share: its slope is taken along.
pub(crate) const DRAG_SHARE: f64 = 0.4;
/// … less this where the drag takes little of the speed, so that its bend is taken along too.
const BEND_SHARE: f64 = 0.3;
pub(crate) const PER_CHANGE: f64 = 1.0 / CHANGE;
/// What may change within half of an interval before that is halved.
pub(crate) const MOST_CHANGE: f64 = 0.6 * CHANGE;
/// Shares of the time left below which no interval is cut.
pub(crate) const STOP_AT_ONCE: f64 = 2e-3;
/// Up to this many intervals are as long as the first; of more, what changes most at first, each finds its own length.
pub(crate) const FEW_INTERVALS: f64 = 4.0;
/// Most intervals in one ride: a droplet that turns on the spot.
pub(crate) const MOST_INTERVALS: f64 = 64.0;
/// Hops in a crease below this share of the droplet's radius are none.
const HOP: f64 = 1e-3;
/// Sides crossed between two looks at whether a droplet still gets anywhere, …
const SIDES_PER_LOOK: u32 = 64;
/// … and the way below which it does not, in its radii.
const LEAST_WAY: f64 = 1e-2;
/// Sides crossed in no time before a corner is looked at as such.
const MOST_AT_ONCE: u32 = 24;

/// What acts on a droplet in the plane of its triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// Pull per mass, in m/s².
    pub acceleration: DVec2,
    /// What its line holds per mass, against the motion, in m/s².
    pub hold: f64,
    /// Drag per mass and speed, in 1/s.
    pub rate: f64,
    /// Its change with the speed, in 1/m.
    pub slope: f64,
}

/// What moves a droplet and what keeps it on the surface.
pub trait Rules {
    /// Whether the push depends on the velocity or the place within a triangle.
    const VARIES: bool;

    /// What the push at a place follows from, whatever the velocity.
    type Here;

    /// Works that out.
    fn here(&self, facet: &Facet, at: Place) -> Self::Here;

    /// The push on the droplet at a velocity.
    fn push_at(&self, here: &Self::Here, velocity: DVec2) -> Push;

    /// The push on the droplet at a place and velocity.
    fn push(&self, facet: &Facet, at: Place, velocity: DVec2) -> Push {
        self.push_at(&self.here(facet, at), velocity)
    }

    /// Whether it comes off `facet` when it is also thrown out at `thrown` (in m/s²) along the normal.
    fn comes_off(&self, facet: &Facet, at: Place, thrown: f64) -> bool;

    /// Whether it leaves over a border, `outward` in the plane of `facet`, at this speed over it (in m/s).
    fn leaves_border(&self, facet: &Facet, at: Place, outward: DVec2, speed: f64) -> bool;

    /// Its size along the surface, in m.
    fn radius(&self) -> f64;

    /// Way along which what was found at a place still holds, in m.
    fn holds_for(&self) -> f64 {
        f64::INFINITY
    }
}

/// A droplet on its way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rider {
    /// Where it is.
    pub place: Place,
    /// In the axes of its triangle, in m/s.
    pub velocity: DVec2,
}

/// A straight piece of a path on one triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The triangle.
    pub triangle: u32,
    /// Where it began, in the triangle's axes, in m.
    pub from: DVec2,
    /// Where it ended, in m.
    pub to: DVec2,
    /// How long it took, in s.
    pub time: f64,
}

/// How a ride ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// Time is up.
    Runs,
    /// It stands and is held.
    Rests,
    /// It has come off the surface, so many seconds before time was up.
    Leaves {
        /// In the rest pose of its solid, in m/s.
        velocity: DVec3,
        /// Away from the surface, unit length.
        away: DVec3,
        /// Time left, in s.
        left: f64,
    },
}

/// Coefficients that hold for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frozen {
    /// Pull less hold, in m/s².
    pub acceleration: DVec2,
    /// Drag per mass and speed, in 1/s.
    pub rate: f64,
    /// Unit direction that the hold opposes; zero without one.
    pub heading: DVec2,
    /// Time left when they end, in s.
    pub ends: f64,
    /// Length of the next interval, in s; 0 where that has to be found out.
    pub interval: f64,
}

/// A ride in progress.
struct Ride<'a, R, L> {
    track: &'a Track,
    rules: &'a R,
    now: Progress,
    frozen: Option<Frozen>,
    log: L,
}

/// What a change of the drag counts for where about e^(−λt) of the speed is kept.
#[inline(always)]
pub(crate) fn drag_share<N: Number>(kept: N) -> N {
    N::of(DRAG_SHARE) - N::of(BEND_SHARE) * (kept * (N::of(2.0) - kept))
}

/// Where a ride stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Place and velocity.
    pub rider: Rider,
    /// Time left, in s.
    pub left: f64,
    /// Length of the next interval, in s; 0 where that has to be found out.
    pub interval: f64,
    /// The side that it stands on, if it has just come through one.
    pub entered: Option<usize>,
    /// Sides crossed, …
    pub sides: u32,
    /// … so many of the last in no time.
    pub at_once: u32,
    /// Way since the last look at it, in m.
    pub way: f64,
}

impl Progress {
    /// At the start of a ride of `dt` seconds.
    #[inline]
    pub fn new(rider: Rider, dt: f64) -> Self {
        Self { rider, left: dt, interval: 0.0, entered: None, sides: 0, at_once: 0, way: 0.0 }
    }
}

/// Runs for `dt` seconds; every straight piece of the way is handed to `log`.
pub fn ride<R: Rules>(track: &Track, rules: &R, rider: &mut Rider, dt: f64, log: impl FnMut(Segment)) -> End {
    let mut now = Progress::new(*rider, dt);
    let end = ride_on(track, rules, &mut now, log);
    *rider = now.rider;
    end
}

/// Runs on from where a ride stands, to its end.
pub fn ride_on<R: Rules>(track: &Track, rules: &R, now: &mut Progress, log: impl FnMut(Segment)) -> End {
    let mut ride = Ride { track, rules, now: *now, frozen: None, log };
    while ride.now.left > 0.0 {
        if let Some(end) = ride.go() {
            *now = ride.now;
            return end;
        }
    }
    *now = ride.now;
    End::Runs
}

/// Runs on from where a ride stands until new coefficients have to be found, from those of this interval if they are known; says how it ended, if it has.
pub fn ride_some<R: Rules>(
    track: &Track,
    rules: &R,
    now: &mut Progress,
    frozen: Option<Frozen>,
    log: impl FnMut(Segment),
) -> Option<End> {
    let mut ride = Ride { track, rules, now: *now, frozen, log };
    let mut end = None;
    while end.is_none() {
        end = if ride.now.left > 0.0 { ride.go() } else { Some(End::Runs) };
        if ride.frozen.is_none() && ride.now.left > 0.0 {
            break;
        }
    }
    *now = ride.now;
    end
}

impl<R: Rules, L: FnMut(Segment)> Ride<'_, R, L> {
    /// On to the end of an interval, or over a side.
    #[inline(always)]
    fn go(&mut self) -> Option<End> {
        let facet = self.track.facet(self.now.rider.place.triangle);
        let frozen = match self.frozen {
            Some(frozen) if frozen.ends < self.now.left => frozen,
            _ => match self.freeze(facet) {
                Some(frozen) => frozen,
                None => return Some(End::Rests),
            },
        };
        self.frozen = Some(frozen);
        let glide = Glide {
            place: self.now.rider.place.at,
            velocity: self.now.rider.velocity,
            acceleration: frozen.acceleration,
            rate: frozen.rate,
        };
        let mut until = self.now.left - frozen.ends;
        let mut end = glide.after(until);
        // Who still goes on at the end has not stopped before: its speed along the heading only falls, or only rises.
        let mut stops = false;
        if frozen.heading != DVec2::ZERO && end.1.dot(frozen.heading) <= 0.0 {
            let stop = glide.stops_at(frozen.heading);
            if stop <= until {
                (stops, until, end) = (true, stop, glide.after(stop));
            }
        }
        if let Some((side, time)) = glide.exit(facet, until, end.0, self.now.entered) {
            self.advance(facet, glide.after(time), time, Some(side));
            return self.cross(facet, side);
        }
        self.advance(facet, end, until, None);
        // An interval ends where it was to end, not a rounding later.
        if !stops {
            self.now.left = frozen.ends;
        } else if let Some(end) = self.stop(facet, frozen.heading) {
            return Some(end);
        }
        self.now.entered = None;
        self.frozen = None;
        self.now.interval = frozen.interval;
        None
    }

    /// Coefficients from here on; none when the droplet stands and is held.
    fn freeze(&mut self, facet: &Facet) -> Option<Frozen> {
        let (place, velocity) = (self.now.rider.place, self.now.rider.velocity);
        let here = self.rules.here(facet, place);
        let push = self.rules.push_at(&here, velocity);
        let speed = velocity.length();
        if speed == 0.0 && push.acceleration.length() <= push.hold {
            return None;
        }
        if !R::VARIES && push.hold == 0.0 {
            let (acceleration, rate) = (push.acceleration, push.rate);
            return Some(Frozen { acceleration, rate, heading: DVec2::ZERO, ends: 0.0, interval: 0.0 });
        }
        let along = velocity.try_normalize().or_else(|| push.acceleration.try_normalize()).unwrap_or(DVec2::X);
        let rough =
            Glide { place: place.at, velocity, acceleration: push.acceleration - along * push.hold, rate: push.rate };
        // Where it will be when time is up, if it does not stop before.
        let (mut later, kept) = rough.velocity_about(self.now.left);
        let whole = if later.dot(along) > 0.0 { self.now.left } else { self.now.left.min(rough.stops_at(along)) };
        let goes_on = whole == self.now.left;
        let mut interval = std::mem::take(&mut self.now.interval);
        let mut is_few = true;
        if interval == 0.0 {
            // How much would change until time is up? Who comes to a stop has no direction there: twice what changes in half the time.
            let times = if goes_on { 1.0 } else { 2.0 };
            if !goes_on {
                later = rough.velocity_about(0.5 * whole).0;
            }
            let last = self.rules.push_at(&here, later);
            let later_speed = later.length();
            let turn =
                if push.hold > 0.0 && later.dot(along) > 0.0 { later.perp_dot(along).abs() / later_speed } else { 0.0 };
            let drag = (last.rate - push.rate).abs() / push.rate.max(f64::MIN_POSITIVE);
            let way = speed.max(later_speed) * whole;
            let share = if goes_on { drag_share(kept) } else { DRAG_SHARE };
            let parts = (times * (share * drag + turn) * PER_CHANGE).max(way / self.rules.holds_for());
            // The last of a way to a stop is short, however it bends.
            let is_stop = !goes_on && whole < STOP_AT_ONCE * self.now.left;
            let parts = if parts > 1.0 && !is_stop { parts.ceil().min(MOST_INTERVALS) } else { 1.0 };
            interval = whole / parts;
            is_few = parts <= FEW_INTERVALS;
        }
        // The last one ends where time is up, not a rounding before; a stop ends it by itself.
        let mut is_last = interval >= whole * (1.0 - 1e-9);
        let mut interval = if is_last { whole } else { interval };
        let start = push;
        let (mut middle, mut kept, mut push);
        loop {
            (middle, kept) = rough.velocity_about(0.5 * interval);
            push = self.rules.push_at(&here, middle);
            // What falls off at once has changed by its whole in the first of the intervals.
            let share = if goes_on { drag_share(kept * kept) } else { DRAG_SHARE };
            let changed = share * (push.rate - start.rate).abs();
            if changed <= MOST_CHANGE * push.rate.min(start.rate) || interval < STOP_AT_ONCE * self.now.left {
                break;
            }
            (interval, is_last, is_few) = (0.5 * interval, false, false);
        }
        let along = if middle.dot(along) > 0.0 { middle.normalize() } else { along };
        // It stands, and where it would set out to its line holds it after all.
        if speed == 0.0 && push.acceleration.dot(along) <= push.hold {
            return None;
        }
        let ends = if is_last { 0.0 } else { self.now.left - interval };
        let interval = if is_last || !is_few { 0.0 } else { interval };
        let heading = if push.hold > 0.0 { along } else { DVec2::ZERO };
        // About the middle of the interval λ v ≈ λₘ vₘ + (λₘ + k vₘ)(v − vₘ) + ¾ k (v − vₘ)², as for λ that goes as √v; the mean of the last is a third of
        // its value at the ends, where drag has not made the ends alike. At a stop that straight line would push.
        let slope = if goes_on || !is_last { push.slope } else { 0.0 };
        let middle_speed = middle.length();
        let faster = middle_speed - speed;
        let stiffer = (slope * middle_speed).clamp(0.0, push.rate);
        let bend = if goes_on { 0.25 * kept * slope * (faster * faster) } else { 0.0 };
        let acceleration = push.acceleration - along * (push.hold + bend) + middle * stiffer;
        Some(Frozen { acceleration, rate: push.rate + stiffer, heading, ends, interval })
    }

    /// Moves on by `time` to a place and velocity; to a point of `side` if it leaves there.
    #[inline]
    fn advance(&mut self, facet: &Facet, (to, velocity): (DVec2, DVec2), time: f64, side: Option<usize>) {
        let from = self.now.rider.place.at;
        self.now.rider.place.at = match side {
            Some(k) => facet.on_side(k, (facet.sides[k].dot(to - facet.corners[k]) / facet.lengths[k]).clamp(0.0, 1.0)),
            None => facet.clamp(to),
        };
        self.now.rider.velocity = velocity;
        self.now.left -= time;
        self.now.at_once = if time > 0.0 { 0 } else { self.now.at_once + 1 };
        self.note(from, time);
    }

    #[inline]
    fn note(&mut self, from: DVec2, time: f64) {
        let to = self.now.rider.place.at;
        if to != from {
            self.now.way += to.distance(from);
            (self.log)(Segment { triangle: self.now.rider.place.triangle, from, to, time });
        }
    }

    /// The part of its velocity against which it is held has come to a stop: it rests, or goes on aside.
    fn stop(&mut self, facet: &Facet, heading: DVec2) -> Option<End> {
        let aside = self.now.rider.velocity - heading * self.now.rider.velocity.dot(heading);
        let push = self.rules.push(facet, self.now.rider.place, DVec2::ZERO);
        // What is left beside a straight way is rounding.
        let least = 1e-9 * (push.acceleration.length() + push.hold) / push.rate.max(1.0);
        self.now.rider.velocity = if aside.length() > least { aside } else { DVec2::ZERO };
        (self.now.rider.velocity == DVec2::ZERO && push.acceleration.length() <= push.hold).then_some(End::Rests)
    }

    /// Goes over side `k`, on which it stands.
    fn cross(&mut self, facet: &Facet, k: usize) -> Option<End> {
        self.now.sides += 1;
        if self.now.sides.is_multiple_of(SIDES_PER_LOOK) {
            // It trembles in a pit or a crease, on a scale far below its own: that is standing.
            if self.now.way < LEAST_WAY * self.rules.radius() {
                self.now.rider.velocity = DVec2::ZERO;
                let corner = crease::nearest_corner(facet, self.now.rider.place.at);
                return self.through_vertex(Vertex { triangle: self.now.rider.place.triangle, corner }, DVec3::ZERO);
            }
            self.now.way = 0.0;
        }
        if self.now.at_once > MOST_AT_ONCE {
            self.now.at_once = 0;
            let corner = crease::nearest_corner(facet, self.now.rider.place.at);
            let velocity = facet.lift(self.now.rider.velocity);
            return self.through_vertex(Vertex { triangle: self.now.rider.place.triangle, corner }, velocity);
        }
        let velocity = self.now.rider.velocity;
        let inward = facet.inward(k);
        let out = (-inward.dot(velocity)).max(0.0);
        if facet.across[k] == NONE {
            if self.rules.leaves_border(facet, self.now.rider.place, -inward, out) {
                return Some(self.leave(facet, -facet.lift(inward)));
            }
            return self.slide(facet, k);
        }
        let from = self.now.rider.place.triangle;
        let (to, side) = (facet.across[k] / 3, facet.across[k] as usize % 3);
        let (other, turn) = (self.track.facet(to), facet.turns[k]);
        let share = facet.sides[k].dot(self.now.rider.place.at - facet.corners[k]) / facet.lengths[k];
        if turn > COPLANAR {
            let thrown = out * out * turn / self.turning_length(facet, k);
            if self.rules.comes_off(other, self.now.rider.place, thrown) {
                return Some(self.leave(facet, (facet.normal() + other.normal()).normalize_or(facet.normal())));
            }
        }
        let kept = if turn < 0.0 { turn.cos().max(0.0) } else { 1.0 };
        let flat = turn.abs() <= COPLANAR;
        let turned = self.track.carry(from, k, to, side, velocity);
        let at = Place { triangle: to, at: other.on_side(side, (1.0 - share).clamp(0.0, 1.0)) };
        if !flat {
            // Is it pushed back from there, after a hop too small to see?
            let back = |facet: &Facet, place: Place, side: usize| {
                -facet.inward(side).dot(self.rules.push(facet, place, DVec2::ZERO).acceleration)
            };
            let (here, there) = (back(facet, self.now.rider.place, k), back(other, at, side));
            let hop = (kept * out).powi(2) / (2.0 * there);
            if here >= 0.0 && there > 0.0 && hop < HOP * self.rules.radius() {
                return self.slide(facet, k);
            }
        }
        let lost = (1.0 - kept) * other.inward(side).dot(turned);
        self.now.rider = Rider { place: at, velocity: turned - other.inward(side) * lost };
        self.now.entered = Some(side);
        self.frozen = match self.frozen {
            Some(frozen) if flat => Some(Frozen {
                acceleration: self.track.carry(from, k, to, side, frozen.acceleration),
                heading: self.track.carry(from, k, to, side, frozen.heading),
                ..frozen
            }),
            _ => None,
        };
        if !flat {
            self.now.interval = 0.0;
        }
        (!flat && self.rules.comes_off(other, at, 0.0)).then(|| self.leave(other, other.normal()))
    }

    /// Length over which the surface makes the turn of side `k`, in m.
    ///
    /// Facets of a smooth surface turn over their own length; a sharp edge, over the droplet's if that is shorter.
    fn turning_length(&self, facet: &Facet, k: usize) -> f64 {
        if facet.turns[k] < crease::SHARP { facet.spans[k] } else { facet.spans[k].min(2.0 * self.rules.radius()) }
    }

    fn leave(&self, facet: &Facet, away: DVec3) -> End {
        End::Leaves { velocity: facet.lift(self.now.rider.velocity), away, left: self.now.left.max(0.0) }
    }

    /// Along side `k`, pushed into it from both sides (or held on a border), up to its end or as long as that is so.
    fn slide(&mut self, facet: &Facet, k: usize) -> Option<End> {
        let along = facet.sides[k];
        let mut speed = self.now.rider.velocity.dot(along);
        self.now.entered = None;
        self.frozen = None;
        self.now.interval = 0.0;
        loop {
            let at = self.now.rider.place.at;
            let push = self.rules.push(facet, self.now.rider.place, along * speed);
            let pull = push.acceleration.dot(along);
            if speed == 0.0 && pull.abs() <= push.hold {
                self.now.rider.velocity = DVec2::ZERO;
                return Some(End::Rests);
            }
            let heading = if speed != 0.0 { speed.signum() } else { pull.signum() };
            // Measured towards where it goes.
            let (start, net) = (speed * heading, pull * heading - push.hold);
            let reached = facet.sides[k].dot(at - facet.corners[k]);
            let (ahead, corner) = if heading > 0.0 { (facet.lengths[k] - reached, (k + 1) % 3) } else { (reached, k) };
            let glide = Glide {
                place: DVec2::ZERO,
                velocity: DVec2::new(start, 0.0),
                acceleration: DVec2::new(net, 0.0),
                rate: push.rate,
            };
            let stop = glide.stops_at(DVec2::X);
            let until = self.now.left.min(stop);
            let end = first_zero(ahead.max(0.0), -start, -net, push.rate, until);
            let time = end.unwrap_or(until);
            let way = glide.place_at(time).x.clamp(0.0, ahead.max(0.0));
            self.now.left -= time;
            speed = heading * glide.velocity_at(time).x.max(0.0);
            self.now.rider.place.at = facet.on_side(k, ((reached + heading * way) / facet.lengths[k]).clamp(0.0, 1.0));
            self.now.rider.velocity = along * speed;
            self.note(at, time);
            if end.is_some() {
                self.now.rider.place.at = facet.corners[corner];
                let velocity = facet.lift(self.now.rider.velocity);
                return self.through_vertex(Vertex { triangle: self.now.rider.place.triangle, corner }, velocity);
            }
            if self.now.left <= 0.0 {
                return None;
            }
            // It stood still for a moment: held, or back the other way.
            speed = 0.0;
        }
    }

    /// Through a corner of the mesh, at a velocity in the rest pose.
    fn through_vertex(&mut self, vertex: Vertex, velocity: DVec3) -> Option<End> {
        self.now.entered = None;
        self.frozen = None;
        self.now.interval = 0.0;
        let radius = self.rules.radius();
        match crease::way_out(self.track, self.rules, vertex, velocity) {
            crease::Way::Over { triangle, corner, velocity } => {
                let facet = self.track.facet(triangle);
                // A hair inside, so that the next exit is a new one.
                let hair = 1e-12 * facet.lengths[corner].min(facet.lengths[(corner + 2) % 3]).min(radius);
                let inside = (facet.middle() - facet.corners[corner]).normalize() * hair;
                self.now.rider = Rider { place: Place { triangle, at: facet.corners[corner] + inside }, velocity };
                None
            }
            crease::Way::Along { triangle, side, reversed, speed } => {
                let facet = self.track.facet(triangle);
                let corner = if reversed { (side + 1) % 3 } else { side };
                let direction = if reversed { -facet.sides[side] } else { facet.sides[side] };
                let hair = 1e-12 * facet.lengths[side].min(radius);
                let at = facet.corners[corner] + direction * hair;
                self.now.rider = Rider { place: Place { triangle, at }, velocity: direction * speed };
                None
            }
            crease::Way::Off { triangle, outward } => {
                let facet = self.track.facet(triangle);
                let corner = crease::corner_at(self.track, vertex, triangle);
                self.now.rider =
                    Rider { place: Place { triangle, at: facet.corners[corner] }, velocity: facet.along(velocity) };
                let speed = velocity.dot(facet.lift(outward)).max(0.0);
                if self.rules.leaves_border(facet, self.now.rider.place, outward, speed) {
                    return Some(self.leave(facet, facet.lift(outward)));
                }
                self.now.rider.velocity = DVec2::ZERO;
                Some(End::Rests)
            }
            crease::Way::Nowhere => {
                let facet = self.track.facet(vertex.triangle);
                self.now.rider = Rider {
                    place: Place { triangle: vertex.triangle, at: facet.corners[vertex.corner] },
                    velocity: DVec2::ZERO,
                };
                Some(End::Rests)
            }
        }
    }
}

#[cfg(test)]
mod tests;

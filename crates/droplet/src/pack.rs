//! Many rides side by side.
//!
//! An interval of [`crate::ride`] is one long chain of roots and quotients, each of which waits for the one before. Most intervals are plain: the ground is
//! the same all round, the droplet goes on to the end of the interval, and that is within its triangle. Such intervals of [`LANES`] droplets at a time are worked out here in one
//! run of arithmetic without a branch ([`crate::lanes`]); a droplet whose time is up makes room for the next. What is not plain (a side is reached, it may stop, the ground varies, the solid turns) is left to
//! [`ride_on`](crate::ride::ride_on), with the coefficients if these are known.
//!
//! The arithmetic is that of a ride alone, operation by operation, so a droplet comes to the same place to the last bit
//! whether it rode in a pack or not.

use glam::DVec2;

use crate::glide::{decay_about, phi};
use crate::lanes::{LANES, Number, Planar, Wide};
use crate::law::Drag;
use crate::physical::EvenPush;
use crate::ride::{
    FEW_INTERVALS, Frozen, MOST_CHANGE, MOST_INTERVALS, PER_CHANGE, Progress, Rider, STOP_AT_ONCE, Segment, drag_share,
};
use crate::track::{Facet, Place};

/// Droplets that a pack takes.
pub const ROOM: usize = 32;
/// Intervals of one ride that a pack takes; a ride of more goes on alone.
const MOST_LEGS: usize = 16;
/// Nobody's lane.
const EMPTY: usize = usize::MAX;

type Row = [f64; LANES];
type Pair = [Row; 2];

/// What one interval of each lane follows from.
#[derive(Clone, Copy, Default)]
struct Lanes {
    place: Pair,
    velocity: Pair,
    left: Row,
    /// Length of this interval, in s; 0 where that has to be found out.
    interval: Row,
    /// Such intervals in the time that was left when the first was cut, if many: the next is not to be as long.
    num_intervals: Row,
    pull: Pair,
    pull_length: Row,
    hold: Row,
    wedge: Row,
    plate: Row,
    scale: Row,
    air: Row,
    damping: Row,
    sides: [Pair; 3],
    corners: [Pair; 3],
}

/// What came of it.
#[derive(Clone, Copy, Default)]
struct Outcome {
    place: Pair,
    velocity: Pair,
    /// Time left, in s.
    ends: Row,
    /// How long it took, in s; half of what was tried where that was too long.
    interval: Row,
    /// Length of the next, in s; 0 where that has to be found out.
    next: Row,
    /// Coefficients of the interval.
    acceleration: Pair,
    rate: Row,
    heading: Pair,
    /// [`GOES`], [`TOO_LONG`], [`MEETS`] or [`STUCK`].
    verdict: Row,
}

/// It has come to its place.
const GOES: f64 = 1.0;
/// The interval must be halved.
const TOO_LONG: f64 = 2.0;
/// It sets out as was worked out, but meets a side or stops.
const MEETS: f64 = 3.0;
/// It is no plain interval.
const STUCK: f64 = 0.0;

/// The end of a straight piece of way, and how long that took, in s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Leg {
    to: DVec2,
    time: f64,
}

/// A droplet's ride.
#[derive(Clone, Copy)]
struct Member<'a> {
    on: Option<(&'a Facet, EvenPush)>,
    start: DVec2,
    legs: [Leg; MOST_LEGS],
    num_legs: usize,
    progress: Progress,
}

/// Droplets that ride side by side.
pub struct Pack<'a> {
    members: [Member<'a>; ROOM],
    count: usize,
    lanes: Lanes,
    outcome: Outcome,
    in_lane: [usize; LANES],
}

impl Default for Pack<'_> {
    fn default() -> Self {
        let rider = Rider { place: Place { triangle: 0, at: DVec2::ZERO }, velocity: DVec2::ZERO };
        let nobody = Member {
            on: None,
            start: DVec2::ZERO,
            legs: [Leg::default(); MOST_LEGS],
            num_legs: 0,
            progress: Progress::new(rider, 0.0),
        };
        Self {
            members: [nobody; ROOM],
            count: 0,
            lanes: Lanes::default(),
            outcome: Outcome::default(),
            in_lane: [EMPTY; LANES],
        }
    }
}

impl<'a> Pack<'a> {
    /// Nobody is in it any more.
    #[inline]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Takes in a droplet that is to run for `dt` seconds, at most [`ROOM`] of them; one without an even push rides alone.
    #[inline]
    pub fn push(&mut self, facet: &'a Facet, rider: Rider, push: Option<EvenPush>, dt: f64) {
        let member = &mut self.members[self.count];
        self.count += 1;
        member.on = push.map(|push| (facet, push));
        (member.start, member.num_legs, member.progress) = (rider.place.at, 0, Progress::new(rider, dt));
    }

    /// What a droplet has done so far, and where it stands if it is to ride on; they are numbered in the order in which they came.
    #[inline]
    pub fn so_far(&self, index: usize, mut log: impl FnMut(Segment)) -> Progress {
        let member = &self.members[index];
        let mut progress = member.progress;
        let (triangle, mut from, goes_on) = (progress.rider.place.triangle, member.start, progress.left > 0.0);
        for &Leg { to, time } in &member.legs[..member.num_legs] {
            if to != from {
                progress.way += if goes_on { to.distance(from) } else { 0.0 };
                log(Segment { triangle, from, to, time });
            }
            from = to;
        }
        progress
    }

    /// All ride, each as far as its intervals are plain.
    pub fn ride(&mut self) {
        let mut waiting = 0;
        let mut riding = 0;
        for lane in 0..LANES {
            riding += usize::from(self.fill(lane, &mut waiting));
        }
        while riding > 0 {
            stride(&self.lanes, &mut self.outcome);
            for lane in 0..LANES {
                if self.in_lane[lane] != EMPTY && !self.advance(lane) {
                    riding -= usize::from(!self.fill(lane, &mut waiting));
                }
            }
        }
    }

    /// Puts the next who waits into a lane, if there is one.
    fn fill(&mut self, lane: usize, waiting: &mut usize) -> bool {
        while *waiting < self.count {
            let index = *waiting;
            *waiting += 1;
            let Member { on: Some((facet, push)), progress, .. } = &self.members[index] else { continue };
            if progress.left <= 0.0 {
                continue;
            }
            let lanes = &mut self.lanes;
            let set = |pair: &mut Pair, value: DVec2| (pair[0][lane], pair[1][lane]) = (value.x, value.y);
            set(&mut lanes.place, progress.rider.place.at);
            set(&mut lanes.velocity, progress.rider.velocity);
            (lanes.left[lane], lanes.interval[lane], lanes.num_intervals[lane]) =
                (progress.left, progress.interval, 0.0);
            set(&mut lanes.pull, push.pull);
            (lanes.pull_length[lane], lanes.hold[lane]) = (push.pull.length(), push.hold);
            let drag = push.drag;
            (lanes.wedge[lane], lanes.plate[lane], lanes.scale[lane]) = (drag.wedge, drag.plate, drag.scale);
            (lanes.air[lane], lanes.damping[lane]) = (drag.air, push.damping);
            for k in 0..3 {
                set(&mut lanes.sides[k], facet.sides[k]);
                set(&mut lanes.corners[k], facet.corners[k]);
            }
            self.in_lane[lane] = index;
            return true;
        }
        self.in_lane[lane] = EMPTY;
        false
    }

    /// Carries out what came of a lane's interval; `false` when its droplet needs the lane no more.
    #[inline]
    fn advance(&mut self, lane: usize) -> bool {
        let (lanes, outcome) = (&mut self.lanes, &self.outcome);
        let member = &mut self.members[self.in_lane[lane]];
        if outcome.verdict[lane] == TOO_LONG {
            (lanes.interval[lane], lanes.num_intervals[lane]) = (outcome.interval[lane], MOST_INTERVALS);
            return true;
        }
        let at = |pair: &Pair| DVec2::new(pair[0][lane], pair[1][lane]);
        if outcome.verdict[lane] == MEETS {
            member.progress.frozen = Some(Frozen {
                acceleration: at(&outcome.acceleration),
                rate: outcome.rate[lane],
                heading: at(&outcome.heading),
                ends: outcome.ends[lane],
                interval: outcome.next[lane],
            });
        }
        if outcome.verdict[lane] != GOES {
            return false;
        }
        let to = at(&outcome.place);
        member.legs[member.num_legs] = Leg { to, time: outcome.interval[lane] };
        member.num_legs += 1;
        let progress = &mut member.progress;
        progress.rider.place.at = to;
        progress.rider.velocity = at(&outcome.velocity);
        (progress.left, progress.interval) = (outcome.ends[lane], outcome.next[lane]);
        if progress.left <= 0.0 || member.num_legs == MOST_LEGS {
            return false;
        }
        for axis in 0..2 {
            lanes.place[axis][lane] = outcome.place[axis][lane];
            lanes.velocity[axis][lane] = outcome.velocity[axis][lane];
        }
        (lanes.left[lane], lanes.interval[lane], lanes.num_intervals[lane]) = (progress.left, progress.interval, 0.0);
        true
    }
}

/// One interval of every lane: the coefficients as a ride freezes them, the glide, and whether that was plain.
#[inline(never)]
fn stride(lanes: &Lanes, outcome: &mut Outcome) {
    let number = Wide::of;
    let (zero, one) = (number(0.0), number(1.0));
    let pair = |pair: &Pair| Planar { x: Wide::new(&pair[0]), y: Wide::new(&pair[1]) };
    let (place, velocity, pull) = (pair(&lanes.place), pair(&lanes.velocity), pair(&lanes.pull));
    let (left, asked) = (Wide::new(&lanes.left), Wide::new(&lanes.interval));
    let (hold, pull_length) = (Wide::new(&lanes.hold), Wide::new(&lanes.pull_length));
    let drag = Drag {
        wedge: Wide::new(&lanes.wedge),
        plate: Wide::new(&lanes.plate),
        scale: Wide::new(&lanes.scale),
        air: Wide::new(&lanes.air),
    };
    let damping = Wide::new(&lanes.damping);
    let rate_at = |speed: Wide| drag.rate(speed) + damping;
    // As things are now.
    let speed = velocity.length();
    let stands = speed.is(zero);
    let rate = rate_at(speed);
    let along = Planar::either(stands, pull, velocity) * (one / Wide::either(stands, pull_length, speed));
    let net = pull - along * hold;
    let velocity_about = |time: Wide| {
        let (kept, rise) = decay_about(rate * time);
        (velocity * kept + net * (time * rise), kept)
    };
    // How much would change until time is up?
    let (later, kept) = velocity_about(left);
    let later_speed = later.length();
    let goes_on = zero.below(later.dot(along));
    let turn = Wide::either(zero.below(hold), later.perp_dot(along).size() / later_speed, zero);
    let change = (rate_at(later_speed) - rate).size() / rate.or_more(number(f64::MIN_POSITIVE));
    let parts = ((drag_share(kept) * change + turn) * number(PER_CHANGE)).or_less(number(MOST_INTERVALS));
    let parts = ceil(parts).or_more(one);
    let is_asked = !asked.is(zero);
    let interval = Wide::either(is_asked, asked, left / parts);
    let is_few = Wide::either(is_asked, Wide::new(&lanes.num_intervals), parts).up_to(number(FEW_INTERVALS));
    let is_last = (left * number(1.0 - 1e-9)).up_to(interval);
    let interval = Wide::either(is_last, left, interval);
    // In the middle of the interval.
    let (middle, kept) = velocity_about(number(0.5) * interval);
    let middle_speed = middle.length();
    let (middle_rate, slope) = drag.rate_and_slope(middle_speed);
    let middle_rate = middle_rate + damping;
    let changed = drag_share(kept * kept) * (middle_rate - rate).size();
    let is_short =
        changed.up_to(number(MOST_CHANGE) * middle_rate.or_less(rate)) | interval.below(number(STOP_AT_ONCE) * left);
    let per_length = one / middle_speed;
    let heading = Planar::either(zero.below(middle.dot(along)), middle * per_length, along);
    let ends = Wide::either(is_last, zero, left - interval);
    let next = Wide::either(is_last | !is_few, zero, interval);
    let faster = middle_speed - speed;
    let stiffer = (slope * middle_speed).or_more(zero).or_less(middle_rate);
    let bend = number(0.25) * kept * slope * (faster * faster);
    let acceleration = pull - heading * (hold + bend) + middle * stiffer;
    let frozen_rate = middle_rate + stiffer;
    // At its end.
    let time = left - ends;
    let (first, second) = phi(frozen_rate * time);
    let to = place + velocity * (time * first) + acceleration * (time * time * second);
    let then = velocity * (one - frozen_rate * time * first) + acceleration * (time * first);
    // It sets out, goes on, has not been over a side.
    let sets_out = goes_on & (!stands | (hold.below(pull_length) & hold.below(pull.dot(heading))));
    let mut is_plain = sets_out & (hold.is(zero) | zero.below(then.dot(heading)));
    let way = to - place;
    for k in 0..3 {
        let (side, corner) = (pair(&lanes.sides[k]), pair(&lanes.corners[k]));
        let inward = side.perp();
        let distance = side.perp_dot(place - corner);
        let (speed, pull) = (inward.dot(velocity), inward.dot(acceleration));
        let returns = speed.below(zero) & zero.below(pull) & (distance + speed * time).up_to(zero);
        is_plain = is_plain & zero.below(distance) & zero.up_to(distance + inward.dot(way)) & !returns;
        is_plain = is_plain & zero.up_to(side.perp_dot(to - corner));
    }
    let set = |pair: &mut Pair, value: Planar<Wide>| *pair = [value.x.values(), value.y.values()];
    set(&mut outcome.place, to);
    set(&mut outcome.velocity, then);
    (outcome.ends, outcome.next) = (ends.values(), next.values());
    outcome.interval = Wide::either(is_short, time, number(0.5) * interval).values();
    set(&mut outcome.acceleration, acceleration);
    set(&mut outcome.heading, Planar::either(zero.below(hold), heading, Planar { x: zero, y: zero }));
    outcome.rate = frozen_rate.values();
    let verdict = Wide::either(is_plain, number(GOES), Wide::either(sets_out, number(MEETS), number(STUCK)));
    let too_long = Wide::either(goes_on, number(TOO_LONG), number(STUCK));
    outcome.verdict = Wide::either(is_short, verdict, too_long).values();
}

/// The least whole number from x on, for 0 ≤ x < 2⁵¹.
#[inline(always)]
fn ceil<N: Number>(x: N) -> N {
    let whole = N::of(6_755_399_441_055_744.0);
    let near = (x + whole) - whole;
    N::either(near.below(x), near + N::of(1.0), near)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sessile_wetting::Wetting;
    use sessile_world::random::Stream;

    use super::*;
    use crate::law::Law;
    use crate::law::tests::WATER;
    use crate::ride::{End, Push, Rules, ride, ride_on};
    use crate::track::tests::{sheet, track_of};

    /// An even push alone, under which droplets ride one by one.
    struct Even(EvenPush);

    impl Rules for Even {
        const VARIES: bool = true;
        type Here = ();

        fn here(&self, _facet: &Facet, _at: Place) {}

        fn push_at(&self, (): &(), velocity: DVec2) -> Push {
            let EvenPush { pull, hold, drag, damping } = self.0;
            let (rate, slope) = drag.rate_and_slope(velocity.length());
            Push { acceleration: pull, hold, rate: rate + damping, slope }
        }

        fn comes_off(&self, _facet: &Facet, _at: Place, _thrown: f64) -> bool {
            false
        }

        fn leaves_border(&self, _facet: &Facet, _at: Place, _outward: DVec2, _speed: f64) -> bool {
            true
        }

        fn radius(&self) -> f64 {
            1e-3
        }
    }

    #[test]
    fn who_rides_in_a_pack_comes_to_where_it_comes_alone_to_the_last_bit() {
        let track = track_of(&sheet(0.4, 0.4, 8, 8));
        let mut random = Stream::new(5, &[]);
        let (mut plain, mut many) = (0, 0);
        for (advancing, receding) in [(80.0_f64, 58.0_f64), (90.0, 90.0), (163.0, 157.0)] {
            let law = Law::new(&WATER, &Wetting::smooth(advancing.to_radians(), receding.to_radians()));
            for _ in 0..200 {
                let dt = 10_f64.powf(random.uniform_in(-3.0, -1.0));
                let mut pack = Pack::default();
                let count = 1 + (random.uniform() * ROOM as f64) as usize;
                let riders: Vec<(Rider, EvenPush)> = (0..count)
                    .map(|_| {
                        let triangle = (random.uniform() * track.facets().len() as f64) as u32;
                        let facet = track.facet(triangle);
                        let mut vector = || DVec3::new(random.uniform() - 0.5, random.uniform() - 0.5, 0.0);
                        let place = Place { triangle, at: facet.clamp(facet.middle() + 0.04 * facet.along(vector())) };
                        let pull = 15.0 * facet.along(vector());
                        // Some set out from rest.
                        let velocity = (facet.along(vector()) * 0.8 + pull * 0.01) * f64::from(u8::from(pull.x > -4.0));
                        let volume = random.uniform_in(1e-9, 30e-9);
                        let width = 2.5 * volume.cbrt();
                        let per_mass = 1.0 / (WATER.density * volume);
                        let hold = WATER.surface_tension * width * (law.cos_receding - law.cos_advancing) * per_mass;
                        let drag = law.drag(&WATER, width, per_mass);
                        let push = EvenPush { pull, hold, drag, damping: if pull.y > 3.0 { 2.0 } else { 0.0 } };
                        (Rider { place, velocity }, push)
                    })
                    .collect();
                for (rider, push) in &riders {
                    pack.push(track.facet(rider.place.triangle), *rider, Some(*push), dt);
                }
                pack.ride();
                for (index, (rider, push)) in riders.iter().enumerate() {
                    let (mut alone, mut together) = (Vec::new(), Vec::new());
                    let (mut expected, mut got) = (*rider, *rider);
                    let rules = Even(*push);
                    let end = ride(&track, &rules, &mut expected, dt, |segment| alone.push(segment));
                    let so_far = pack.so_far(index, |segment| together.push(segment));
                    plain += usize::from(so_far.left == 0.0);
                    many += usize::from(so_far.left == 0.0 && together.len() > 1);
                    let ended = ride_on(&track, &rules, so_far, &mut got, |segment| together.push(segment));
                    assert_eq!((end, expected), (ended, got), "{advancing}°/{receding}°, {dt} s, {rider:?}, {push:?}");
                    assert_eq!(alone, together);
                    assert!(so_far.left > 0.0 || end == End::Runs);
                }
            }
        }
        assert!(plain > 2000 && many > 500, "{plain} rode in packs to their ends, {many} of them in several intervals");
    }
}

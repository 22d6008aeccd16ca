//! Many rides side by side.
//!
//! An interval of [`crate::ride`] is one long chain of roots and quotients, each of which waits for the one before. Most intervals are plain: the ground is
//! the same all round, the droplet goes on to the end of the interval, and that is within its triangle. Such intervals of [`LANES`] droplets at a time are worked out here in one
//! run of arithmetic without a branch ([`crate::lanes`]); a droplet whose time is up makes room for the next. Who comes to something that is not plain (a side is reached, it may
//! stop) steps out. When all have come so far, those who did do this one interval alone, one after the other ([`ride_some`]), once all triangles
//! that they come to have been fetched, and then join again. Where the ground varies or the solid turns, droplets ride alone.
//!
//! The arithmetic is that of a ride alone, operation by operation, so a droplet comes to the same place to the last bit
//! whether it rode in a pack or not.

use glam::DVec2;

use crate::glide::{decay_about, phi};
use crate::lanes::{LANES, Number, Planar, Wide};
use crate::law::Drag;
use crate::physical::EvenPush;
use crate::ride::{
    End, FEW_INTERVALS, Frozen, MOST_CHANGE, MOST_INTERVALS, PER_CHANGE, Progress, Rider, Rules, STOP_AT_ONCE, Segment,
    drag_share, ride_on, ride_some,
};
use crate::track::{Facet, NONE, Place, Track};

/// Droplets that a pack takes.
pub const ROOM: usize = 128;
/// So few do not ride side by side once they have stepped out.
const FEW: usize = 4;
/// Nobody's lane.
const EMPTY: usize = usize::MAX;
/// No leg.
const NO_LEG: u32 = u32::MAX;

type Row = [f64; LANES];
type Pair = [Row; 2];

/// Rules under which droplets may ride side by side.
pub trait EvenRules: Rules {
    /// What acts on the droplet anywhere on `facet`, where only the drag goes with its motion, and that with its speed alone.
    fn even_push(&self, facet: &Facet, at: Place) -> Option<EvenPush>;
}

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
    /// 1 for the side that it stands on, if it has just come through one.
    entered: [Row; 3],
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

/// A straight piece of a droplet's way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// Where.
    pub segment: Segment,
    /// Its length, in m.
    pub length: f64,
    /// The droplet's next one.
    next: u32,
}

/// A droplet's ride.
#[derive(Clone, Copy)]
struct Member {
    now: Progress,
    end: End,
    first_leg: u32,
    last_leg: u32,
}

/// A droplet that has stepped out.
#[derive(Clone, Copy)]
struct Aside {
    index: usize,
    /// Coefficients of its interval, where they are known.
    frozen: Option<Frozen>,
    /// The triangle that it seems to come to.
    next: u32,
    /// It will not join again.
    alone: bool,
}

/// Droplets that ride side by side.
pub struct Pack {
    members: [Member; ROOM],
    count: usize,
    /// All that have joined, in that order, and how many of them have had their turn.
    waiting: [usize; ROOM],
    num_waiting: usize,
    num_called: usize,
    aside: [Aside; ROOM],
    num_aside: usize,
    /// Ways of all, as they come.
    legs: Vec<Leg>,
    lanes: Lanes,
    outcome: Outcome,
    in_lane: [usize; LANES],
}

impl Pack {
    /// Nobody is in it yet; `legs` is memory for their ways.
    pub fn new(legs: Vec<Leg>) -> Self {
        let rider = Rider { place: Place { triangle: 0, at: DVec2::ZERO }, velocity: DVec2::ZERO };
        let nobody = Member { now: Progress::new(rider, 0.0), end: End::Runs, first_leg: NO_LEG, last_leg: NO_LEG };
        Self {
            members: [nobody; ROOM],
            count: 0,
            waiting: [0; ROOM],
            num_waiting: 0,
            num_called: 0,
            aside: [Aside { index: 0, frozen: None, next: 0, alone: false }; ROOM],
            num_aside: 0,
            legs,
            lanes: Lanes::default(),
            outcome: Outcome::default(),
            in_lane: [EMPTY; LANES],
        }
    }

    /// Gives the memory for ways back.
    pub fn into_legs(self) -> Vec<Leg> {
        self.legs
    }

    /// Nobody is in it any more.
    #[inline]
    pub fn clear(&mut self) {
        (self.count, self.num_waiting, self.num_called) = (0, 0, 0);
        self.legs.clear();
    }

    /// Takes in a droplet that is to run for `dt` seconds, at most [`ROOM`] of them.
    #[inline]
    pub fn push(&mut self, rider: Rider, dt: f64) {
        self.members[self.count] =
            Member { now: Progress::new(rider, dt), end: End::Runs, first_leg: NO_LEG, last_leg: NO_LEG };
        if dt > 0.0 {
            self.waiting[self.num_waiting] = self.count;
            self.num_waiting += 1;
        }
        self.count += 1;
    }

    /// Where a droplet has come to, and how; they are numbered in the order in which they came.
    #[inline]
    pub fn arrival(&self, index: usize) -> (Rider, End) {
        (self.members[index].now.rider, self.members[index].end)
    }

    /// Its way.
    #[inline]
    pub fn way(&self, index: usize) -> impl Iterator<Item = &Leg> + Clone {
        let leg = |next: u32| self.legs.get(next as usize);
        std::iter::successors(leg(self.members[index].first_leg), move |at| leg(at.next))
    }

    /// All ride to the end of their time. `rules` are those of each, and `fetch` reads something of all that is known of a triangle.
    pub fn ride<R: EvenRules>(&mut self, track: &Track, rules: impl Fn(usize) -> R, fetch: impl Fn(u32) -> f64) {
        self.ride_abreast::<false, R>(track, &rules);
        while self.num_aside > 0 {
            let aside = &self.aside[..self.num_aside];
            std::hint::black_box(aside.iter().fold(0.0, |sum, aside| sum + fetch(aside.next)));
            (self.num_waiting, self.num_called) = (0, 0);
            for &Aside { index, frozen, alone, .. } in aside {
                let rules = rules(index);
                let Member { now, end, first_leg, last_leg } = &mut self.members[index];
                let mut log = |segment: Segment| {
                    let length = segment.from.distance(segment.to);
                    note(&mut self.legs, first_leg, last_leg, segment, length);
                };
                match ride_some(track, &rules, now, frozen, &mut log) {
                    Some(ended) => *end = ended,
                    None if alone || aside.len() < FEW => *end = ride_on(track, &rules, now, &mut log),
                    None => {
                        self.waiting[self.num_waiting] = index;
                        self.num_waiting += 1;
                    }
                }
            }
            self.num_aside = 0;
            self.ride_abreast::<true, R>(track, &rules);
        }
    }

    /// Those who wait ride, each as far as its intervals are plain; whether any may have `ENTERED` through a side.
    fn ride_abreast<const ENTERED: bool, R: EvenRules>(&mut self, track: &Track, rules: &impl Fn(usize) -> R) {
        let mut riding = 0;
        for lane in 0..LANES {
            riding += usize::from(self.fill(lane, track, rules));
        }
        while riding > 0 {
            stride::<ENTERED>(&self.lanes, &mut self.outcome);
            for lane in 0..LANES {
                if self.in_lane[lane] != EMPTY && !self.advance(lane, track) {
                    riding -= usize::from(!self.fill(lane, track, rules));
                }
            }
        }
    }

    /// Puts the next who waits into a lane, if there is one.
    fn fill<R: EvenRules>(&mut self, lane: usize, track: &Track, rules: &impl Fn(usize) -> R) -> bool {
        while self.num_called < self.num_waiting {
            let index = self.waiting[self.num_called];
            self.num_called += 1;
            let now = &self.members[index].now;
            let facet = track.facet(now.rider.place.triangle);
            let Some(push) = rules(index).even_push(facet, now.rider.place) else {
                self.step_aside(index, None, now.rider.place.triangle, true);
                continue;
            };
            let lanes = &mut self.lanes;
            let set = |pair: &mut Pair, value: DVec2| (pair[0][lane], pair[1][lane]) = (value.x, value.y);
            set(&mut lanes.place, now.rider.place.at);
            set(&mut lanes.velocity, now.rider.velocity);
            (lanes.left[lane], lanes.interval[lane], lanes.num_intervals[lane]) = (now.left, now.interval, 0.0);
            set(&mut lanes.pull, push.pull);
            (lanes.pull_length[lane], lanes.hold[lane]) = (push.pull.length(), push.hold);
            let drag = push.drag;
            (lanes.wedge[lane], lanes.plate[lane], lanes.scale[lane]) = (drag.wedge, drag.plate, drag.scale);
            (lanes.air[lane], lanes.damping[lane]) = (drag.air, push.damping);
            for k in 0..3 {
                set(&mut lanes.sides[k], facet.sides[k]);
                set(&mut lanes.corners[k], facet.corners[k]);
                lanes.entered[k][lane] = f64::from(u8::from(now.entered == Some(k)));
            }
            self.in_lane[lane] = index;
            return true;
        }
        self.in_lane[lane] = EMPTY;
        false
    }

    /// Carries out what came of a lane's interval; `false` when its droplet needs the lane no more.
    #[inline]
    fn advance(&mut self, lane: usize, track: &Track) -> bool {
        let (lanes, outcome) = (&mut self.lanes, &self.outcome);
        let index = self.in_lane[lane];
        if outcome.verdict[lane] == TOO_LONG {
            (lanes.interval[lane], lanes.num_intervals[lane]) = (outcome.interval[lane], MOST_INTERVALS);
            return true;
        }
        let Member { now, first_leg, last_leg, .. } = &mut self.members[index];
        let Place { triangle, at: from } = now.rider.place;
        let at = |pair: &Pair| DVec2::new(pair[0][lane], pair[1][lane]);
        let to = at(&outcome.place);
        if outcome.verdict[lane] != GOES {
            let (mut frozen, mut next) = (None, triangle);
            if outcome.verdict[lane] == MEETS {
                frozen = Some(Frozen {
                    acceleration: at(&outcome.acceleration),
                    rate: outcome.rate[lane],
                    heading: at(&outcome.heading),
                    ends: outcome.ends[lane],
                    interval: outcome.next[lane],
                });
                let beyond = |k: usize| at(&lanes.sides[k]).perp_dot(to - at(&lanes.corners[k]));
                let side = (0..3).fold(0, |least, k| if beyond(k) < beyond(least) { k } else { least });
                let across = track.facet(triangle).across[side];
                next = if across == NONE { triangle } else { across / 3 };
            }
            self.step_aside(index, frozen, next, false);
            return false;
        }
        if to != from {
            let length = from.distance(to);
            now.way += length;
            let segment = Segment { triangle, from, to, time: outcome.interval[lane] };
            note(&mut self.legs, first_leg, last_leg, segment, length);
        }
        (now.rider.place.at, now.rider.velocity) = (to, at(&outcome.velocity));
        (now.left, now.interval) = (outcome.ends[lane], outcome.next[lane]);
        (now.entered, now.at_once) = (None, 0);
        if now.left <= 0.0 {
            return false;
        }
        for axis in 0..2 {
            lanes.place[axis][lane] = outcome.place[axis][lane];
            lanes.velocity[axis][lane] = outcome.velocity[axis][lane];
        }
        (lanes.left[lane], lanes.interval[lane], lanes.num_intervals[lane]) = (now.left, now.interval, 0.0);
        for entered in &mut lanes.entered {
            entered[lane] = 0.0;
        }
        true
    }

    fn step_aside(&mut self, index: usize, frozen: Option<Frozen>, next: u32, alone: bool) {
        self.aside[self.num_aside] = Aside { index, frozen, next, alone };
        self.num_aside += 1;
    }
}

/// Adds a leg to a droplet's way.
#[inline]
fn note(legs: &mut Vec<Leg>, first: &mut u32, last: &mut u32, segment: Segment, length: f64) {
    let index = legs.len() as u32;
    match legs.get_mut(*last as usize) {
        Some(before) => before.next = index,
        None => *first = index,
    }
    *last = index;
    legs.push(Leg { segment, length, next: NO_LEG });
}

/// One interval of every lane: the coefficients as a ride freezes them, the glide, and whether that was plain.
#[inline(never)]
fn stride<const ENTERED: bool>(lanes: &Lanes, outcome: &mut Outcome) {
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
        let mut stays = zero.below(distance) & zero.up_to(distance + inward.dot(way)) & !returns;
        if ENTERED {
            // From the side itself it must set out inwards and not come back.
            let then = time * (speed * first + pull * time * second);
            let leaves = (zero.up_to(speed) & zero.up_to(pull)) | (zero.below(speed) & zero.up_to(then));
            let entered = zero.below(Wide::new(&lanes.entered[k]));
            stays = (entered & leaves) | (!entered & stays);
        }
        is_plain = is_plain & stays;
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
    use std::cell::Cell;

    use glam::DVec3;
    use sessile_wetting::Wetting;
    use sessile_world::random::Stream;

    use super::*;
    use crate::law::tests::WATER;
    use crate::ride::{Push, ride};
    use crate::track::tests::{sheet, track_of};
    use sessile_wetting::SlidingLaw;

    /// The same pull everywhere; counts the droplets' looks at it when they ride alone.
    #[derive(Clone, Copy, Debug)]
    struct Even<'a> {
        pull: DVec3,
        hold: f64,
        drag: Drag,
        damping: f64,
        looks: &'a Cell<usize>,
    }

    impl Rules for Even<'_> {
        const VARIES: bool = true;
        type Here = DVec2;

        fn here(&self, facet: &Facet, _at: Place) -> DVec2 {
            self.looks.set(self.looks.get() + 1);
            facet.along(self.pull)
        }

        fn push_at(&self, &acceleration: &DVec2, velocity: DVec2) -> Push {
            let (rate, slope) = self.drag.rate_and_slope(velocity.length());
            Push { acceleration, hold: self.hold, rate: rate + self.damping, slope }
        }

        fn comes_off(&self, _facet: &Facet, _at: Place, thrown: f64) -> bool {
            thrown > 300.0
        }

        fn leaves_border(&self, _facet: &Facet, _at: Place, _outward: DVec2, speed: f64) -> bool {
            speed > 0.2
        }

        fn radius(&self) -> f64 {
            1e-3
        }
    }

    impl EvenRules for Even<'_> {
        fn even_push(&self, facet: &Facet, _at: Place) -> Option<EvenPush> {
            let Self { pull, hold, drag, damping, .. } = *self;
            // Some ride alone.
            (pull.z < 2.4).then(|| EvenPush { pull: facet.along(pull), hold, drag, damping })
        }
    }

    /// On a plane and on waves, whose triangles are as wide as some ways and a tenth of others.
    #[test]
    fn who_rides_in_a_pack_comes_to_where_it_comes_alone_to_the_last_bit() {
        let mut random = Stream::new(5, &[]);
        let mut wavy = sheet(0.4, 0.4, 60, 60);
        wavy.positions.iter_mut().for_each(|p| p.z = 2e-3 * (60.0 * p.x).sin() * (70.0 * p.y).cos());
        let (looks, looks_alone) = (Cell::new(0), Cell::new(0));
        let (mut intervals, mut crossings, mut others) = (0, 0, 0);
        for track in [track_of(&sheet(0.4, 0.4, 8, 8)), track_of(&wavy)] {
            for (advancing, receding) in [(80.0_f64, 58.0_f64), (90.0, 90.0), (163.0, 157.0)] {
                let law = SlidingLaw::new(&WATER, &Wetting::smooth(advancing.to_radians(), receding.to_radians()));
                for _ in 0..60 {
                    let dt = 10_f64.powf(random.uniform_in(-3.0, -1.0));
                    let mut pack = Pack::new(Vec::new());
                    let count = 1 + (random.uniform() * ROOM as f64) as usize;
                    let riders: Vec<(Rider, Even<'_>)> = (0..count)
                        .map(|_| {
                            let triangle = (random.uniform() * track.facets().len() as f64) as u32;
                            let facet = track.facet(triangle);
                            let mut vector = || DVec3::new(random.uniform(), random.uniform(), random.uniform()) - 0.5;
                            let at = facet.clamp(facet.middle() + 0.5 * facet.lengths[0] * facet.along(vector()));
                            let pull = 5.0 * vector() + 10.0 * vector().with_z(0.0);
                            // Some set out from rest.
                            let velocity =
                                facet.along(vector() * 0.8 + pull * 0.01) * f64::from(u8::from(pull.x > -4.0));
                            let volume = random.uniform_in(1e-9, 30e-9);
                            let width = 2.5 * volume.cbrt();
                            let per_mass = 1.0 / (WATER.density * volume);
                            let hold =
                                WATER.surface_tension * width * (law.cos_receding - law.cos_advancing) * per_mass;
                            let drag = Drag::new(&law, &WATER, width, per_mass);
                            let damping = if pull.y > 3.0 { 2.0 } else { 0.0 };
                            let rider = Rider { place: Place { triangle, at }, velocity };
                            (rider, Even { pull, hold, drag, damping, looks: &looks })
                        })
                        .collect();
                    riders.iter().for_each(|(rider, _)| pack.push(*rider, dt));
                    pack.ride(&track, |index| riders[index].1, |triangle| track.facet(triangle).fetch());
                    for (index, (rider, rules)) in riders.iter().enumerate() {
                        let (mut alone, mut expected) = (Vec::new(), *rider);
                        let rules = Even { looks: &looks_alone, ..*rules };
                        let end = ride(&track, &rules, &mut expected, dt, |segment| alone.push(segment));
                        let together: Vec<Segment> = pack.way(index).map(|leg| leg.segment).collect();
                        assert_eq!((expected, end), pack.arrival(index), "{advancing}°/{receding}°, {dt} s, {rider:?}");
                        assert_eq!(alone, together);
                        intervals += alone.len();
                        crossings += alone.windows(2).filter(|pair| pair[0].triangle != pair[1].triangle).count();
                        others += usize::from(end != End::Runs);
                    }
                }
            }
        }
        assert!(
            crossings > 10_000 && others > 500,
            "{crossings} of {intervals} over sides, {others} ended before time"
        );
        let (looks, looks_alone) = (looks.get(), looks_alone.get());
        // Two looks at a side remain.
        assert!(4 * looks < 3 * looks_alone, "{looks} looks alone where there were {looks_alone}");
    }
}

//! SIMD batch: integrates eight droplets side by side.
//!
//! One interval of [`crate::integrate`] is a long chain of dependent square roots and divisions.
//! Most intervals are simple: forces are uniform, the droplet keeps moving and stays within its
//! triangle. Such intervals of [`LANES`] droplets at a time are computed here without branches
//! ([`step_kernel`]); a lane whose droplet is done takes the next one. Divergent lanes (an edge is
//! reached, the droplet may stop) are set aside. When all droplets have come so far, the divergent
//! ones integrate this interval with the scalar integrator, after the triangles that they will
//! enter have been prefetched, and join the batch again. Where forces vary within a triangle,
//! droplets are integrated by the scalar integrator alone.
//!
//! Both use the functions of [`crate::kernel`], so results are bit-identical with and without
//! batching. They stay two drivers: the scalar one follows a single droplet through branches
//! (edges, creases, vertices, stops) in which lanes would hardly ever agree, and this one only
//! decides which lanes may skip them. A driver generic over the lane type would either evaluate
//! every branch for all lanes or contain both anyway.

use std::num::NonZeroU32;

use glam::DVec2;

use crate::damped_motion::{DampedMotion, EdgeMotion, phi};
use crate::drag::Drag;
use crate::integrate::{
    ForceModel, Linearized, MotionState, Segment, Trajectory, TrajectoryEnd, integrate_linearized, integrate_to_end,
};
use crate::kernel::{ACCURACY, Midpoint, Start, drag_weight, is_last};
use crate::simd::{F64Lanes, LANES, Lane, LaneMask, Vec2, ceil};
use crate::surface_mesh::{Facet, SurfaceMesh, SurfacePoint, TriangleIndex};

/// Largest number of droplets in a batch.
pub const CAPACITY: usize = 128;
/// Below this number of divergent droplets each is integrated to its end by the scalar integrator.
const MIN_REJOINING: usize = 4;

type Row = [f64; LANES];
type Row2 = [Row; 2];

/// Forces that are uniform over a triangle except for the drag, which depends on the speed alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformForces {
    /// Driving acceleration, in m/s².
    pub acceleration: DVec2,
    /// Contact-line retention, in m/s².
    pub retention: f64,
    /// Drag by speed.
    pub drag: Drag,
    /// Additional drag rate, in 1/s.
    pub damping: f64,
}

/// A force model whose droplets may be batched.
pub trait BatchForces: ForceModel {
    /// Forces over `facet`; `None` where they are not uniform.
    fn uniform_forces(&self, facet: &Facet, at: SurfacePoint) -> Option<UniformForces>;
}

/// Input of the step kernel: one droplet per lane.
#[derive(Clone, Copy, Default)]
struct KernelInput {
    position: Row2,
    velocity: Row2,
    remaining: Row,
    /// Length of this interval, in s; 0 where it is to be chosen.
    interval: Row,
    /// Number of equal intervals that this one belongs to; large where the next one is not to have
    /// the same length.
    num_intervals: Row,
    acceleration: Row2,
    acceleration_length: Row,
    retention: Row,
    wedge: Row,
    plate: Row,
    scale: Row,
    air: Row,
    damping: Row,
    edges: [Row2; 3],
    corners: [Row2; 3],
    /// 1 for the edge that the droplet is on, if it has just crossed one.
    entered: [Row; 3],
}

/// Output of the step kernel.
#[derive(Clone, Copy, Default)]
struct KernelOutput {
    position: Row2,
    velocity: Row2,
    /// Remaining time of the step, in s.
    ends: Row,
    /// Length of this interval, in s; half of it where it was too long.
    interval: Row,
    /// Length of the next interval, in s; 0 where it is to be chosen.
    next: Row,
    /// Linearized coefficients.
    linear_acceleration: Row2,
    linear_rate: Row,
    heading: Row2,
    /// Code of the [`LaneStatus`].
    status: Row,
}

/// Result of the step kernel for one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaneStatus {
    /// The interval is done.
    Advanced,
    /// The interval must be halved.
    TooLong,
    /// The linearized coefficients are valid, but the droplet reaches an edge or stops.
    Diverges,
    /// The scalar integrator has to linearize.
    Unsupported,
}

impl LaneStatus {
    /// Code in the kernel's output.
    const fn code(self) -> f64 {
        match self {
            Self::Unsupported => 0.0,
            Self::Advanced => 1.0,
            Self::TooLong => 2.0,
            Self::Diverges => 3.0,
        }
    }

    #[inline(always)]
    fn from_code(code: f64) -> Self {
        if code == Self::Advanced.code() {
            Self::Advanced
        } else if code == Self::TooLong.code() {
            Self::TooLong
        } else if code == Self::Diverges.code() {
            Self::Diverges
        } else {
            Self::Unsupported
        }
    }
}

/// Index of a path segment, stored plus one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SegmentId(NonZeroU32);

impl SegmentId {
    #[inline]
    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A segment of a droplet's path, in a linked list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSegment {
    /// Where.
    pub segment: Segment,
    /// Length, in m.
    pub length: f64,
    next: Option<SegmentId>,
}

/// The list of a droplet's path segments.
#[derive(Clone, Copy, Default)]
struct Path {
    first: Option<SegmentId>,
    last: Option<SegmentId>,
}

impl Path {
    /// Appends a segment.
    #[inline]
    fn push(&mut self, segments: &mut Vec<PathSegment>, segment: Segment, length: f64) {
        segments.push(PathSegment { segment, length, next: None });
        let id = NonZeroU32::new(segments.len() as u32).map(SegmentId);
        match self.last {
            Some(last) => segments[last.index()].next = id,
            None => self.first = id,
        }
        self.last = id;
    }
}

/// A droplet in a batch.
#[derive(Clone, Copy)]
struct Member {
    trajectory: Trajectory,
    end: TrajectoryEnd,
    path: Path,
}

/// A droplet whose lane has diverged.
#[derive(Clone, Copy)]
struct Divergent {
    index: usize,
    /// Coefficients of its interval, where they are known.
    linearized: Option<Linearized>,
    /// The triangle that it is likely to enter.
    next_triangle: TriangleIndex,
    /// It does not join the batch again.
    is_scalar: bool,
}

/// Droplets that are integrated side by side.
pub struct Batch {
    members: [Member; CAPACITY],
    count: usize,
    /// Droplets to be integrated, in order, and how many of them have had a lane.
    queue: [usize; CAPACITY],
    num_queued: usize,
    num_started: usize,
    divergent: [Divergent; CAPACITY],
    num_divergent: usize,
    /// Path segments of all droplets.
    segments: Vec<PathSegment>,
    input: KernelInput,
    output: KernelOutput,
    /// Droplet of each lane.
    in_lane: [Option<u8>; LANES],
}

const _: () = assert!(CAPACITY <= 1 << u8::BITS);

impl Batch {
    /// An empty batch; `segments` is memory for paths.
    pub fn new(segments: Vec<PathSegment>) -> Self {
        let motion = MotionState {
            place: SurfacePoint { triangle: TriangleIndex::new(0), at: DVec2::ZERO },
            velocity: DVec2::ZERO,
        };
        Self {
            members: [Member::new(motion, 0.0); CAPACITY],
            count: 0,
            queue: [0; CAPACITY],
            num_queued: 0,
            num_started: 0,
            divergent: [Divergent {
                index: 0,
                linearized: None,
                next_triangle: TriangleIndex::new(0),
                is_scalar: false,
            }; CAPACITY],
            num_divergent: 0,
            segments,
            input: KernelInput::default(),
            output: KernelOutput::default(),
            in_lane: [None; LANES],
        }
    }

    /// Returns the memory for paths.
    pub fn into_segments(self) -> Vec<PathSegment> {
        self.segments
    }

    /// Number of path segments of all droplets.
    pub fn num_segments(&self) -> usize {
        self.segments.len()
    }

    /// Removes all droplets.
    #[inline]
    pub fn clear(&mut self) {
        (self.count, self.num_queued, self.num_started) = (0, 0, 0);
        self.segments.clear();
    }

    /// Adds a droplet to be integrated for `dt` seconds; at most [`CAPACITY`] of them.
    #[inline]
    pub fn push(&mut self, motion: MotionState, dt: f64) {
        self.members[self.count] = Member::new(motion, dt);
        if dt > 0.0 {
            self.queue[self.num_queued] = self.count;
            self.num_queued += 1;
        }
        self.count += 1;
    }

    /// Final state of a droplet and how its integration ended, by the order of pushing.
    #[inline]
    pub fn result(&self, index: usize) -> (MotionState, TrajectoryEnd) {
        (self.members[index].trajectory.motion, self.members[index].end)
    }

    /// Path of a droplet.
    #[inline]
    pub fn path(&self, index: usize) -> impl Iterator<Item = &PathSegment> + Clone {
        let segment = |id: Option<SegmentId>| id.map(|id| &self.segments[id.index()]);
        std::iter::successors(segment(self.members[index].path.first), move |at| segment(at.next))
    }

    /// Integrates all droplets to the end of their time.
    ///
    /// `model` gives the force model of a droplet; `prefetch` reads the memory of a triangle.
    pub fn integrate<F: BatchForces>(
        &mut self,
        surface: &SurfaceMesh,
        model: impl Fn(usize) -> F,
        prefetch: impl Fn(TriangleIndex) -> f64,
    ) {
        self.integrate_lanes::<false, F>(surface, &model);
        while self.num_divergent > 0 {
            let divergent = &self.divergent[..self.num_divergent];
            std::hint::black_box(divergent.iter().fold(0.0, |sum, droplet| sum + prefetch(droplet.next_triangle)));
            (self.num_queued, self.num_started) = (0, 0);
            for &Divergent { index, linearized, is_scalar, .. } in divergent {
                let model = model(index);
                let Member { trajectory, end, path } = &mut self.members[index];
                let mut log = |segment: Segment| {
                    let length = segment.from.distance(segment.to);
                    path.push(&mut self.segments, segment, length);
                };
                match integrate_linearized(surface, &model, trajectory, linearized, &mut log) {
                    Some(ended) => *end = ended,
                    None if is_scalar || divergent.len() < MIN_REJOINING => {
                        *end = integrate_to_end(surface, &model, trajectory, &mut log);
                    }
                    None => {
                        self.queue[self.num_queued] = index;
                        self.num_queued += 1;
                    }
                }
            }
            self.num_divergent = 0;
            self.integrate_lanes::<true, F>(surface, &model);
        }
    }

    /// Integrates the queued droplets until each is done or diverges.
    ///
    /// `ENTERED`: some of them have just crossed an edge.
    fn integrate_lanes<const ENTERED: bool, F: BatchForces>(
        &mut self,
        surface: &SurfaceMesh,
        model: &impl Fn(usize) -> F,
    ) {
        let mut num_active = 0;
        for lane in 0..LANES {
            num_active += usize::from(self.fill_lane(lane, surface, model));
        }
        while num_active > 0 {
            step_kernel::<ENTERED>(&self.input, &mut self.output);
            for lane in 0..LANES {
                if let Some(index) = self.in_lane[lane]
                    && !self.commit_lane(lane, usize::from(index), surface)
                {
                    num_active -= usize::from(!self.fill_lane(lane, surface, model));
                }
            }
        }
    }

    /// Loads the next queued droplet into a lane; `false` if there is none.
    fn fill_lane<F: BatchForces>(&mut self, lane: usize, surface: &SurfaceMesh, model: &impl Fn(usize) -> F) -> bool {
        while self.num_started < self.num_queued {
            let index = self.queue[self.num_started];
            self.num_started += 1;
            let trajectory = &self.members[index].trajectory;
            let place = trajectory.motion.place;
            let facet = surface.facet(place.triangle);
            let Some(forces) = model(index).uniform_forces(facet, place) else {
                self.set_aside(index, None, place.triangle, true);
                continue;
            };
            self.input.load(lane, trajectory, facet, &forces);
            self.in_lane[lane] = Some(index as u8);
            return true;
        }
        self.in_lane[lane] = None;
        false
    }

    /// Applies the kernel's result to the droplet of a lane; `false` if the lane becomes free.
    #[inline]
    fn commit_lane(&mut self, lane: usize, index: usize, surface: &SurfaceMesh) -> bool {
        let (input, output) = (&mut self.input, &self.output);
        match LaneStatus::from_code(output.status[lane]) {
            LaneStatus::Advanced => {}
            LaneStatus::TooLong => {
                (input.interval[lane], input.num_intervals[lane]) = (output.interval[lane], ACCURACY.most);
                return true;
            }
            LaneStatus::Unsupported => {
                let triangle = self.members[index].trajectory.motion.place.triangle;
                self.set_aside(index, None, triangle, false);
                return false;
            }
            LaneStatus::Diverges => {
                let triangle = self.members[index].trajectory.motion.place.triangle;
                let next = input.likely_next(lane, component(&output.position, lane), surface, triangle);
                let linearized = output.linearized(lane);
                self.set_aside(index, Some(linearized), next, false);
                return false;
            }
        }
        let Member { trajectory, path, .. } = &mut self.members[index];
        let SurfacePoint { triangle, at: from } = trajectory.motion.place;
        let to = component(&output.position, lane);
        if to != from {
            let length = from.distance(to);
            trajectory.distance += length;
            path.push(&mut self.segments, Segment { triangle, from, to, time: output.interval[lane] }, length);
        }
        (trajectory.motion.place.at, trajectory.motion.velocity) = (to, component(&output.velocity, lane));
        (trajectory.remaining, trajectory.next_interval) = (output.ends[lane], known(output.next[lane]));
        (trajectory.entered, trajectory.num_instant) = (None, 0);
        if trajectory.remaining <= 0.0 {
            return false;
        }
        input.advance(lane, output);
        true
    }

    fn set_aside(
        &mut self,
        index: usize,
        linearized: Option<Linearized>,
        next_triangle: TriangleIndex,
        is_scalar: bool,
    ) {
        self.divergent[self.num_divergent] = Divergent { index, linearized, next_triangle, is_scalar };
        self.num_divergent += 1;
    }
}

impl Member {
    fn new(motion: MotionState, dt: f64) -> Self {
        Self { trajectory: Trajectory::new(motion, dt), end: TrajectoryEnd::Moving, path: Path::default() }
    }
}

/// Lane `lane` of a row of vectors.
#[inline(always)]
fn component(row: &Row2, lane: usize) -> DVec2 {
    DVec2::new(row[0][lane], row[1][lane])
}

/// An interval of the kernel, where 0 means that it is to be chosen.
#[inline(always)]
fn known(interval: f64) -> Option<f64> {
    (interval != 0.0).then_some(interval)
}

impl KernelInput {
    /// Loads a droplet into a lane.
    #[inline]
    fn load(&mut self, lane: usize, trajectory: &Trajectory, facet: &Facet, forces: &UniformForces) {
        let set = |row: &mut Row2, value: DVec2| (row[0][lane], row[1][lane]) = (value.x, value.y);
        set(&mut self.position, trajectory.motion.place.at);
        set(&mut self.velocity, trajectory.motion.velocity);
        (self.remaining[lane], self.num_intervals[lane]) = (trajectory.remaining, 0.0);
        self.interval[lane] = trajectory.next_interval.unwrap_or(0.0);
        set(&mut self.acceleration, forces.acceleration);
        (self.acceleration_length[lane], self.retention[lane]) = (forces.acceleration.length(), forces.retention);
        let drag = forces.drag;
        (self.wedge[lane], self.plate[lane], self.scale[lane]) = (drag.wedge, drag.plate, drag.scale);
        (self.air[lane], self.damping[lane]) = (drag.air, forces.damping);
        for k in 0..3 {
            set(&mut self.edges[k], facet.edges[k]);
            set(&mut self.corners[k], facet.corners[k]);
            self.entered[k][lane] = f64::from(u8::from(trajectory.entered == Some(k)));
        }
    }

    /// Starts the next interval of a lane where the last one ended.
    #[inline]
    fn advance(&mut self, lane: usize, output: &KernelOutput) {
        for axis in 0..2 {
            self.position[axis][lane] = output.position[axis][lane];
            self.velocity[axis][lane] = output.velocity[axis][lane];
        }
        (self.remaining[lane], self.num_intervals[lane]) = (output.ends[lane], 0.0);
        self.interval[lane] = output.next[lane];
        for entered in &mut self.entered {
            entered[lane] = 0.0;
        }
    }

    /// The triangle that a droplet enters if it moves to `to` (in m).
    #[inline]
    fn likely_next(&self, lane: usize, to: DVec2, surface: &SurfaceMesh, triangle: TriangleIndex) -> TriangleIndex {
        let inside = |k: usize| component(&self.edges[k], lane).perp_dot(to - component(&self.corners[k], lane));
        let edge = (0..3).fold(0, |least, k| if inside(k) < inside(least) { k } else { least });
        surface.opposite(triangle, edge).map_or(triangle, |(next, _)| next)
    }
}

impl KernelOutput {
    /// Linearized coefficients of a lane.
    #[inline]
    fn linearized(&self, lane: usize) -> Linearized {
        Linearized {
            acceleration: component(&self.linear_acceleration, lane),
            rate: self.linear_rate[lane],
            heading: component(&self.heading, lane),
            ends: self.ends[lane],
            next_interval: known(self.next[lane]),
        }
    }
}

/// Constant forces of all lanes.
struct LaneForces {
    acceleration: Vec2<F64Lanes>,
    acceleration_length: F64Lanes,
    retention: F64Lanes,
    drag: Drag<F64Lanes>,
    damping: F64Lanes,
}

/// An interval of all lanes, linearized.
struct LaneInterval {
    motion: DampedMotion<F64Lanes>,
    heading: Vec2<F64Lanes>,
    /// Length tried, in s, and whether it is short enough.
    tried: F64Lanes,
    is_short: LaneMask,
    /// Length, in s, remaining time at its end, in s, and length of the next, in s.
    time: F64Lanes,
    ends: F64Lanes,
    next: F64Lanes,
    /// Whether the droplet moves until the end of the step, as far as forces at the start tell.
    keeps_moving: LaneMask,
    is_at_rest: LaneMask,
}

#[inline(always)]
fn load2(row: &Row2) -> Vec2<F64Lanes> {
    Vec2 { x: F64Lanes::new(&row[0]), y: F64Lanes::new(&row[1]) }
}

#[inline(always)]
fn store2(row: &mut Row2, value: Vec2<F64Lanes>) {
    *row = [value.x.to_array(), value.y.to_array()];
}

/// Advances every lane by one interval: linearizes, solves, and tests whether the interval was
/// simple.
#[inline(never)]
fn step_kernel<const ENTERED: bool>(input: &KernelInput, output: &mut KernelOutput) {
    let (zero, status) = (F64Lanes::splat(0.0), |status: LaneStatus| F64Lanes::splat(status.code()));
    let forces = LaneForces {
        acceleration: load2(&input.acceleration),
        acceleration_length: F64Lanes::new(&input.acceleration_length),
        retention: F64Lanes::new(&input.retention),
        drag: Drag {
            wedge: F64Lanes::new(&input.wedge),
            plate: F64Lanes::new(&input.plate),
            scale: F64Lanes::new(&input.scale),
            air: F64Lanes::new(&input.air),
        },
        damping: F64Lanes::new(&input.damping),
    };
    let interval = linearize_lanes(input, &forces);
    let LaneInterval { motion, heading, time, .. } = interval;
    let factors = phi(motion.rate * time);
    let (to, velocity) = motion.after_with(time, factors);
    // Whether the droplet starts moving, keeps moving and stays within its triangle.
    let overcomes_retention =
        forces.retention.lt(forces.acceleration_length) & forces.retention.lt(forces.acceleration.dot(heading));
    let starts = interval.keeps_moving & (!interval.is_at_rest | overcomes_retention);
    let moves = starts & (forces.retention.eq(zero) | zero.lt(velocity.dot(heading)));
    let is_simple = moves & stays_on_triangle::<ENTERED>(input, &motion, to, time, factors);
    store2(&mut output.position, to);
    store2(&mut output.velocity, velocity);
    (output.ends, output.next) = (interval.ends.to_array(), interval.next.to_array());
    let halved = F64Lanes::splat(0.5) * interval.tried;
    output.interval = F64Lanes::select(interval.is_short, time, halved).to_array();
    store2(&mut output.linear_acceleration, motion.acceleration);
    store2(&mut output.heading, Vec2::select(zero.lt(forces.retention), heading, Vec2::zero()));
    output.linear_rate = motion.rate.to_array();
    let diverges = F64Lanes::select(starts, status(LaneStatus::Diverges), status(LaneStatus::Unsupported));
    let done = F64Lanes::select(is_simple, status(LaneStatus::Advanced), diverges);
    let too_long =
        F64Lanes::select(interval.keeps_moving, status(LaneStatus::TooLong), status(LaneStatus::Unsupported));
    output.status = F64Lanes::select(interval.is_short, done, too_long).to_array();
}

/// Chooses and linearizes the next interval of every lane.
#[inline(always)]
fn linearize_lanes(input: &KernelInput, forces: &LaneForces) -> LaneInterval {
    let (zero, one) = (F64Lanes::splat(0.0), F64Lanes::splat(1.0));
    let &LaneForces { acceleration, acceleration_length, retention, drag, damping } = forces;
    let (position, velocity) = (load2(&input.position), load2(&input.velocity));
    let (remaining, given) = (F64Lanes::new(&input.remaining), F64Lanes::new(&input.interval));
    let rate_at = |speed: F64Lanes| drag.rate(speed) + damping;
    let speed = velocity.length();
    let is_at_rest = speed.eq(zero);
    let along = Vec2::select(is_at_rest, acceleration, velocity)
        * (one / F64Lanes::select(is_at_rest, acceleration_length, speed));
    let net = acceleration - along * retention;
    let start_motion = DampedMotion { position, velocity, acceleration: net, rate: rate_at(speed) };
    let start = Start { motion: start_motion, speed, along };
    // How much the forces change over the rest of the step.
    let (later, kept) = start.motion.velocity_estimate(remaining);
    let keeps_moving = zero.lt(later.dot(along));
    let needed = start.intervals_needed(later, rate_at(later.length()), zero.lt(retention), drag_weight(kept));
    let count = ceil(needed.min(F64Lanes::splat(ACCURACY.most))).max(one);
    let is_given = !given.eq(zero);
    let tried = F64Lanes::select(is_given, given, remaining / count);
    let num_intervals = F64Lanes::select(is_given, F64Lanes::new(&input.num_intervals), count);
    let repeats = num_intervals.le(F64Lanes::splat(ACCURACY.few));
    let is_last = is_last(tried, remaining);
    let tried = F64Lanes::select(is_last, remaining, tried);
    // Forces at the midpoint of the interval.
    let (middle, kept) = start.motion.velocity_estimate(F64Lanes::splat(0.5) * tried);
    let (middle_rate, slope) = drag.rate_and_slope(middle.length());
    let rate = middle_rate + damping;
    let is_short = start.accepts(rate, drag_weight(kept * kept), tried, remaining);
    let heading = start.heading(middle);
    let (acceleration, rate) =
        start.linearize(&Midpoint { velocity: middle, heading, acceleration, retention, rate, slope, kept });
    let ends = F64Lanes::select(is_last, zero, remaining - tried);
    LaneInterval {
        motion: DampedMotion { position, velocity, acceleration, rate },
        heading,
        tried,
        is_short,
        time: remaining - ends,
        ends,
        next: F64Lanes::select(is_last | !repeats, zero, tried),
        keeps_moving,
        is_at_rest,
    }
}

/// Whether the motion surely stays on the triangle of each lane; `to` is its end, `factors` are φ₁
/// and φ₂.
#[inline(always)]
fn stays_on_triangle<const ENTERED: bool>(
    input: &KernelInput,
    motion: &DampedMotion<F64Lanes>,
    to: Vec2<F64Lanes>,
    time: F64Lanes,
    (first, second): (F64Lanes, F64Lanes),
) -> LaneMask {
    let zero = F64Lanes::splat(0.0);
    let displacement = to - motion.position;
    let mut stays_on_all = zero.le(zero);
    for k in 0..3 {
        let (edge, corner) = (load2(&input.edges[k]), load2(&input.corners[k]));
        let inward = edge.perp();
        let relative = EdgeMotion {
            distance: edge.perp_dot(motion.position - corner),
            speed: inward.dot(motion.velocity),
            acceleration: inward.dot(motion.acceleration),
        };
        let mut stays = relative.stays_inside(inward.dot(displacement), time);
        if ENTERED {
            // A droplet on the edge itself must start inward and not come back.
            let EdgeMotion { speed, acceleration, .. } = relative;
            let then = time * (speed * first + acceleration * time * second);
            let leaves = (zero.le(speed) & zero.le(acceleration)) | (zero.lt(speed) & zero.le(then));
            let entered = zero.lt(F64Lanes::new(&input.entered[k]));
            stays = (entered & leaves) | (!entered & stays);
        }
        stays_on_all = stays_on_all & stays & zero.le(edge.perp_dot(to - corner));
    }
    stays_on_all
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use glam::DVec3;
    use sessile_wetting::Wetting;
    use sessile_world::random::Stream;

    use super::*;
    use crate::drag::tests::WATER;
    use crate::integrate::{Forces, integrate};
    use crate::surface_mesh::tests::{sheet, surface_of};
    use sessile_wetting::SlidingLaw;

    /// A constant force; counts evaluations by the scalar integrator.
    #[derive(Clone, Copy, Debug)]
    struct Constant<'a> {
        pull: DVec3,
        retention: f64,
        drag: Drag,
        damping: f64,
        num_batched: &'a Cell<usize>,
    }

    impl ForceModel for Constant<'_> {
        const VARIES: bool = true;
        type Local = DVec2;

        fn local(&self, facet: &Facet, _at: SurfacePoint) -> DVec2 {
            self.num_batched.set(self.num_batched.get() + 1);
            facet.project(self.pull)
        }

        fn forces_at(&self, &acceleration: &DVec2, velocity: DVec2) -> Forces {
            let (rate, slope) = self.drag.rate_and_slope(velocity.length());
            Forces { acceleration, retention: self.retention, drag_rate: rate + self.damping, drag_slope: slope }
        }

        fn detaches(&self, _facet: &Facet, _at: SurfacePoint, centrifugal: f64) -> bool {
            centrifugal > 300.0
        }

        fn leaves_border(&self, _facet: &Facet, _at: SurfacePoint, _outward: DVec2, speed: f64) -> bool {
            speed > 0.2
        }

        fn radius(&self) -> f64 {
            1e-3
        }
    }

    impl BatchForces for Constant<'_> {
        fn uniform_forces(&self, facet: &Facet, _at: SurfacePoint) -> Option<UniformForces> {
            let Self { pull, retention, drag, damping, .. } = *self;
            // Some are integrated by the scalar integrator alone.
            (pull.z < 2.4).then(|| UniformForces { acceleration: facet.project(pull), retention, drag, damping })
        }
    }

    /// On a plane and on a wavy mesh, with paths of one to ten triangles.
    #[test]
    fn batched_and_scalar_integration_are_bit_identical() {
        let mut random = Stream::new(5, &[]);
        let mut wavy = sheet(0.4, 0.4, 60, 60);
        wavy.positions.iter_mut().for_each(|p| p.z = 2e-3 * (60.0 * p.x).sin() * (70.0 * p.y).cos());
        let (num_batched, num_scalar) = (Cell::new(0), Cell::new(0));
        let (mut intervals, mut crossings, mut others) = (0, 0, 0);
        for surface in [surface_of(&sheet(0.4, 0.4, 8, 8)), surface_of(&wavy)] {
            for (advancing, receding) in [(80.0_f64, 58.0_f64), (90.0, 90.0), (163.0, 157.0)] {
                let law = SlidingLaw::new(&WATER, &Wetting::smooth(advancing.to_radians(), receding.to_radians()));
                for _ in 0..60 {
                    let dt = 10_f64.powf(random.uniform_in(-3.0, -1.0));
                    let mut batch = Batch::new(Vec::new());
                    let count = 1 + (random.uniform() * CAPACITY as f64) as usize;
                    let droplets: Vec<(MotionState, Constant<'_>)> = (0..count)
                        .map(|_| {
                            let triangle =
                                TriangleIndex::new((random.uniform() * surface.facets().len() as f64) as usize);
                            let facet = surface.facet(triangle);
                            let mut vector = || DVec3::new(random.uniform(), random.uniform(), random.uniform()) - 0.5;
                            let at =
                                facet.clamp(facet.centroid() + 0.5 * facet.edge_lengths[0] * facet.project(vector()));
                            let pull = 5.0 * vector() + 10.0 * vector().with_z(0.0);
                            // Some start from rest.
                            let velocity =
                                facet.project(vector() * 0.8 + pull * 0.01) * f64::from(u8::from(pull.x > -4.0));
                            let volume = random.uniform_in(1e-9, 30e-9);
                            let width = 2.5 * volume.cbrt();
                            let per_mass = 1.0 / (WATER.density * volume);
                            let retention =
                                WATER.surface_tension * width * (law.cos_receding - law.cos_advancing) * per_mass;
                            let drag = Drag::new(&law, &WATER, width, per_mass);
                            let damping = if pull.y > 3.0 { 2.0 } else { 0.0 };
                            let motion = MotionState { place: SurfacePoint { triangle, at }, velocity };
                            (motion, Constant { pull, retention, drag, damping, num_batched: &num_batched })
                        })
                        .collect();
                    droplets.iter().for_each(|(motion, _)| batch.push(*motion, dt));
                    batch.integrate(&surface, |index| droplets[index].1, |triangle| surface.facet(triangle).prefetch());
                    for (index, (motion, model)) in droplets.iter().enumerate() {
                        let (mut alone, mut expected) = (Vec::new(), *motion);
                        let model = Constant { num_batched: &num_scalar, ..*model };
                        let end = integrate(&surface, &model, &mut expected, dt, |segment| alone.push(segment));
                        let together: Vec<Segment> = batch.path(index).map(|part| part.segment).collect();
                        assert_eq!(
                            (expected, end),
                            batch.result(index),
                            "{advancing}°/{receding}°, {dt} s, {motion:?}"
                        );
                        assert_eq!(alone, together);
                        intervals += alone.len();
                        crossings += alone.windows(2).filter(|pair| pair[0].triangle != pair[1].triangle).count();
                        others += usize::from(end != TrajectoryEnd::Moving);
                    }
                }
            }
        }
        assert!(crossings > 10_000 && others > 500, "{crossings} of {intervals} across edges, {others} ended early");
        let (num_batched, num_scalar) = (num_batched.get(), num_scalar.get());
        // Two evaluations at an edge remain.
        assert!(
            4 * num_batched < 3 * num_scalar,
            "{num_batched} scalar evaluations with batching, {num_scalar} without"
        );
    }
}

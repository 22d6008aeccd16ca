//! Measures of figures, evaluated on the measures and frames of their runs.
//!
//! A measure is `None` if the run does not contain what it measures; the figure then counts as not
//! reproduced.

use std::f64::consts::PI;

use glam::DVec3;
use sessile_frames::{DropMeasures, Event, FrameMeasures, RunFolder};
use sessile_geometry::surface_modes::{amplitude_above, surface_modes};
use sessile_numerics::sphere_radius;

/// Density of water, in kg/m³, and gravity, in m/s², of scenes that do not set them.
const WATER_DENSITY: f64 = 1000.0;
const GRAVITY: f64 = 9.8;

/// The run of a panel.
pub struct PanelRun {
    /// Its folder.
    pub folder: RunFolder,
    /// Measures of all its frames.
    pub frames: Vec<FrameMeasures>,
}

impl PanelRun {
    /// The frame at time `t`, in s, or the last one before it.
    fn at(&self, t: f64) -> Option<&FrameMeasures> {
        self.frames.iter().rev().find(|frame| frame.time <= t + 1e-9)
    }

    fn drops(&self) -> impl Iterator<Item = &DropMeasures> {
        self.frames.iter().flat_map(|frame| &frame.drops)
    }
}

pub fn drop_of(frame: &FrameMeasures, id: u32) -> Option<&DropMeasures> {
    frame.drops.iter().find(|drop| drop.id == id)
}

pub fn largest(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.fold(None, |largest, value| Some(largest.map_or(value, |largest: f64| largest.max(value))))
}

/// Largest deviation of the mean contact angle of the last frame's drops, by id, in degrees.
pub fn largest_angle_error(run: &PanelRun, expected: &[f64]) -> Option<f64> {
    let last = run.frames.last()?;
    let angles: Option<Vec<f64>> =
        last.drops.iter().map(|drop| drop.contact_angle_deg.map(|angle| angle.mean)).collect();
    let angles = angles.filter(|angles| angles.len() == expected.len())?;
    largest(angles.iter().zip(expected).map(|(angle, expected)| (angle - expected).abs()))
}

/// Number of drops in the air that were, or separated from, a drop on a solid.
pub fn detachments(run: &PanelRun) -> Option<f64> {
    let pairs = run.frames.windows(2);
    let mut detached: Vec<u32> = pairs.flat_map(|pair| detached_between(&pair[0], &pair[1])).collect();
    detached.sort_unstable();
    detached.dedup();
    Some(detached.len() as f64)
}

/// Ids of drops in the air that were, or separated from, a drop on a solid one frame earlier.
pub fn detached_between(before: &FrameMeasures, after: &FrameMeasures) -> Vec<u32> {
    let was_on = |id: u32| drop_of(before, id).is_some_and(|drop| drop.on.is_some());
    let parent = |id: u32| {
        after.events.iter().find_map(|event| match event {
            Event::Split { split, into } if into.contains(&id) => Some(*split),
            _ => None,
        })
    };
    let in_air = after.drops.iter().filter(|drop| drop.on.is_none()).map(|drop| drop.id);
    in_air.filter(|&id| was_on(id) || parent(id).is_some_and(was_on)).collect()
}

/// Number of merges.
pub fn merges(run: &PanelRun) -> Option<f64> {
    let events = run.frames.iter().flat_map(|frame| &frame.events);
    Some(events.filter(|event| matches!(event, Event::Merge { .. })).count() as f64)
}

/// Largest diameter of drop 1 while it is on a solid and before it merges, divided by that of the
/// sphere of its volume in its first frame.
pub fn largest_spread(run: &PanelRun) -> Option<f64> {
    let volume = run.drops().find(|drop| drop.id == 1)?.volume;
    let diameter = 2.0 * sphere_radius(volume);
    let unmerged = run.frames.iter().filter_map(|frame| drop_of(frame, 1)).filter(|drop| drop.volume <= 1.001 * volume);
    largest(unmerged.filter(|drop| drop.on.is_some()).map(|drop| 2.0 * drop.max_radius / diameter))
}

/// Largest speed in any drop of the last frame, in mm/s.
pub fn final_speed(run: &PanelRun) -> Option<f64> {
    largest(run.frames.last()?.drops.iter().map(|drop| 1e3 * drop.speed_max))
}

/// Number of drops in the last frame.
pub fn final_drops(run: &PanelRun) -> Option<f64> {
    Some(run.frames.last()?.drops.len() as f64)
}

/// Number of drops on solids other than `except` in the last frame.
pub fn final_drops_on_solids(run: &PanelRun, except: &str) -> Option<f64> {
    let drops = run.frames.last()?.drops.iter();
    Some(drops.filter(|drop| drop.on.as_deref().is_some_and(|on| on != except)).count() as f64)
}

/// Number of drops in the last frame whose wetted face is above them.
pub fn final_pendant_drops(run: &PanelRun) -> Option<f64> {
    let (surface, _) = run.folder.read_frame(run.frames.last()?.frame).ok()?;
    let mut faces: Vec<(u32, DVec3)> = Vec::new();
    for (corners, _) in surface.triangles.iter().zip(&surface.solids).filter(|&(_, &solid)| solid >= 0) {
        let [a, b, c] = corners.map(|v| surface.positions[v as usize]);
        let (id, area) = (surface.drops[corners[0] as usize], (b - a).cross(c - a));
        match faces.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(at) => faces[at].1 += area,
            Err(at) => faces.insert(at, (id, area)),
        }
    }
    Some(faces.iter().filter(|(_, face)| face.y > 0.5 * face.length()).count() as f64)
}

/// Ratio of the largest to the smallest top speed of the drops that slide by more than their own
/// diameter, without the fastest and the slowest tenth of them.
pub fn ratio_of_speeds(run: &PanelRun) -> Option<f64> {
    let slid = slid_drops(run);
    let top = |id: u32| largest(run.drops().filter(|drop| drop.id == id).map(|drop| drop.velocity.length()));
    let mut speeds: Vec<f64> = slid.into_iter().filter_map(top).collect();
    speeds.sort_by(f64::total_cmp);
    let tenth = speeds.len() / 10;
    Some(speeds.get(speeds.len().checked_sub(tenth + 1)?)? / speeds.get(tenth)?)
}

/// Number of drops in the air in the first frame and the ones that appear in the air later.
pub fn arrivals_by_air(run: &PanelRun) -> Option<f64> {
    let mut seen: Vec<u32> = Vec::new();
    let mut falling = 0;
    for drop in run.drops() {
        if let Err(place) = seen.binary_search(&drop.id) {
            seen.insert(place, drop.id);
            falling += usize::from(drop.on.is_none());
        }
    }
    Some(falling as f64)
}

/// Number of drops that slide by more than their own diameter while they stay on one solid.
pub fn sliding_drops(run: &PanelRun) -> Option<f64> {
    Some(slid_drops(run).len() as f64)
}

/// Ids of the drops that slide by more than their own diameter while they stay on one solid.
fn slid_drops(run: &PanelRun) -> Vec<u32> {
    let mut starts: Vec<(u32, DVec3)> = Vec::new();
    let mut slid: Vec<u32> = Vec::new();
    for drop in run.drops().filter(|drop| drop.on.is_some()) {
        match starts.binary_search_by_key(&drop.id, |(id, _)| *id) {
            Ok(at) if drop.centroid.distance(starts[at].1) > 2.0 * drop.max_radius => slid.push(drop.id),
            Ok(_) => {}
            Err(at) => starts.insert(at, (drop.id, drop.centroid)),
        }
    }
    slid.sort_unstable();
    slid.dedup();
    slid
}

/// Smallest length of drop 1 along x until `t`, relative to the first frame.
pub fn smallest_relative_length(run: &PanelRun, t: f64) -> Option<f64> {
    let times = run.frames.iter().map(|frame| frame.time).filter(|&time| time <= t + 1e-9);
    largest(times.filter_map(|time| relative_length(run, time)).map(|length| -length)).map(|length| -length)
}

/// Length of drop 1 along x at `t`, relative to the first frame.
pub fn relative_length(run: &PanelRun, t: f64) -> Option<f64> {
    let length = |frame: &FrameMeasures| drop_of(frame, 1).map(|drop| drop.bounds[1].x - drop.bounds[0].x);
    Some(length(run.at(t)?)? / length(run.frames.first()?)?)
}

/// Amplitude of the modes above 4 of the radius around drop 1's center at `t`, along x, relative to
/// its mean radius.
pub fn detail_above_mode_4(run: &PanelRun, t: f64) -> Option<f64> {
    let frame = run.at(t)?;
    let center = drop_of(frame, 1)?.centroid;
    let (surface, _) = run.folder.read_frame(frame.frame).ok()?;
    let of_drop = surface.triangles.iter().filter(|corners| surface.drops[corners[0] as usize] == 1);
    let modes: [f64; 25] =
        surface_modes(of_drop.map(|corners| corners.map(|v| surface.positions[v as usize] - center)));
    Some(amplitude_above(&modes, 4))
}

/// Mean length of the stream below an outlet at y = 0 in the second half of the run, in mm.
pub fn stream_length(run: &PanelRun, outlet_radius: f64) -> Option<f64> {
    let late = &run.frames[run.frames.len() / 2..];
    let attached = |frame: &FrameMeasures| {
        let at_outlet = frame.drops.iter().filter(|drop| drop.bounds[1].y > -outlet_radius);
        largest(at_outlet.map(|drop| -1e3 * drop.bounds[0].y))
    };
    let lengths: Option<Vec<f64>> = late.iter().map(attached).collect();
    let lengths = lengths.filter(|lengths| !lengths.is_empty())?;
    Some(lengths.iter().sum::<f64>() / lengths.len() as f64)
}

/// Largest height of the center of mass of any drop, in mm.
pub fn highest_drop(run: &PanelRun) -> Option<f64> {
    largest(run.drops().map(|drop| 1e3 * drop.centroid.y))
}

/// Longest extent along y of a drop on the named solid above the height `edge` (in m), over all
/// frames, in m: at its lower edge a drop stretches before it falls.
pub fn longest_on(run: &PanelRun, solid: &str, edge: f64) -> Option<f64> {
    let on = run.drops().filter(|drop| drop.on.as_deref() == Some(solid) && drop.bounds[0].y > edge);
    largest(on.map(|drop| drop.bounds[1].y - drop.bounds[0].y))
}

/// Largest speed of drop `id` on solids, before it merges, in m/s.
pub fn top_speed(run: &PanelRun, id: u32) -> Option<f64> {
    let volume = drop_of(run.frames.first()?, id)?.volume;
    let same = run.drops().filter(|drop| drop.id == id && drop.on.is_some() && drop.volume <= 1.001 * volume);
    largest(same.map(|drop| drop.velocity.length()))
}

/// A sphere that drops slide off.
pub struct SlippingOff {
    /// Its name.
    pub solid: &'static str,
    /// Its center, in m.
    pub center: DVec3,
    /// Its radius, in m.
    pub radius: f64,
    /// Adhesion D, in Pa.
    pub adhesion: f64,
    /// Friction k_f, in kg/s.
    pub friction: f64,
}

impl SlippingOff {
    fn angle(&self, drop: &DropMeasures) -> f64 {
        (drop.centroid - self.center).normalize_or_zero().y.acos()
    }

    /// Mean angle from the top at which drops leave it: half way between the last frame on it and
    /// the first one off it, in rad.
    fn measured(&self, run: &PanelRun) -> Option<f64> {
        let mut angles = Vec::new();
        for pair in run.frames.windows(2) {
            let [before, after] = pair else { continue };
            for drop in before.drops.iter().filter(|drop| drop.on.as_deref() == Some(self.solid)) {
                if let Some(later) = drop_of(after, drop.id).filter(|later| later.on.is_none()) {
                    angles.push(0.5 * (self.angle(drop) + self.angle(later)));
                }
            }
        }
        (!angles.is_empty()).then(|| angles.iter().sum::<f64>() / angles.len() as f64)
    }

    /// The angle that the law of fournier1998 gives, in rad: a drop at rest at the first frame's
    /// angle slides with v' = g sin φ − k_f v/m and leaves where v²/R − g cos φ > D π r²/m, r being
    /// the radius of a hemisphere of its volume.
    fn predicted(&self, run: &PanelRun) -> Option<f64> {
        const STEP: f64 = 1e-5;
        let first = run.frames.first()?.drops.iter().find(|drop| drop.on.as_deref() == Some(self.solid))?;
        let (mass, size) = (WATER_DENSITY * first.volume, sphere_radius(2.0 * first.volume));
        let held = self.adhesion * PI * size * size / mass;
        let (mut angle, mut speed) = (self.angle(first), 0.0);
        while angle < PI {
            speed += STEP * (GRAVITY * angle.sin() - self.friction * speed / mass);
            angle += STEP * speed / self.radius;
            if speed * speed / self.radius - GRAVITY * angle.cos() > held {
                return Some(angle);
            }
        }
        None
    }

    /// The measured angle less the predicted one, in degrees.
    pub fn error(&self, run: &PanelRun) -> Option<f64> {
        Some((self.measured(run)? - self.predicted(run)?).to_degrees())
    }
}

/// Distance that drop `id` slides over the whole run, in mm.
pub fn distance_slid(run: &PanelRun, id: u32) -> Option<f64> {
    let places: Vec<DVec3> = run.frames.iter().filter_map(|frame| Some(drop_of(frame, id)?.centroid)).collect();
    Some(1e3 * places.first()?.distance(*places.last()?))
}

/// Largest over smallest volume of the first frame's drops.
pub fn mass_ratio(run: &PanelRun) -> Option<f64> {
    let volumes = || run.frames.first().into_iter().flat_map(|frame| &frame.drops).map(|drop| drop.volume);
    Some(largest(volumes())? / -largest(volumes().map(|volume| -volume))?)
}

/// Rows of fine spots that are wet between the highest and the lowest wet one, as a share of all
/// rows between them, in the last frame's map of the named solid.
pub fn wet_route_share(run: &PanelRun, solid: &str) -> Option<f64> {
    let map = run.folder.read_wet(solid, 0, run.frames.last()?.frame).ok()??;
    let width = map.width as usize;
    let wet: Vec<bool> = map.wetness.chunks(width).map(|row| row.iter().any(|&wet| wet > 0)).collect();
    let (first, last) = (wet.iter().position(|&wet| wet)?, wet.iter().rposition(|&wet| wet)?);
    Some(wet[first..=last].iter().filter(|&&wet| wet).count() as f64 / (last - first + 1) as f64)
}

/// Mean gray value of an image under the wet spots of the last frame's map over that of the whole
/// image.
pub fn wet_over_mean_gray(run: &PanelRun, solid: &str, image: &str) -> Option<f64> {
    let map = run.folder.read_wet(solid, 0, run.frames.last()?.frame).ok()??;
    let image = sessile_images::Image::read(std::path::Path::new(image)).ok()?;
    let (gray, columns, rows) = (image.gray(), image.width(), image.height());
    let (width, height) = (map.width as usize, map.height as usize);
    let at = |k: usize| gray[(k / width) * rows / height * columns + (k % width) * columns / width];
    let wet: Vec<f64> = (0..width * height).filter(|&k| map.wetness[k] > 0).map(at).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    (!wet.is_empty()).then(|| mean(&wet) / mean(&gray))
}

/// Ratio of height to base diameter of drop `id` at `t`.
pub fn aspect(run: &PanelRun, id: u32, t: f64) -> Option<f64> {
    let drop = drop_of(run.at(t)?, id)?;
    (drop.base_radius > 0.0).then(|| drop.height / (2.0 * drop.base_radius))
}

/// Height of the liquid between two walls around x = 0 above the bath, in mm: the mean over the
/// second half of the run, since a column of water swings about it.
pub fn capillary_rise(run: &PanelRun, half_gap: f64, bath: [f64; 2]) -> Option<f64> {
    let late = &run.frames[run.frames.len() / 2..];
    let rise = |frame: &FrameMeasures| {
        let (surface, _) = run.folder.read_frame(frame.frame).ok()?;
        let top =
            |inside: &dyn Fn(f64) -> bool| largest(surface.positions.iter().filter(|at| inside(at.x)).map(|at| at.y));
        // The middle of the meniscus and of the bath: liquid climbs at the walls.
        let column = top(&|x: f64| x.abs() < 0.2 * half_gap)?;
        let level = top(&|x: f64| x.abs() > bath[0] && x.abs() < bath[1])?;
        Some(1e3 * (column - level))
    };
    let rises: Option<Vec<f64>> = late.iter().map(rise).collect();
    let rises = rises.filter(|rises| !rises.is_empty())?;
    Some(rises.iter().sum::<f64>() / rises.len() as f64)
}

/// Lowest place at which a drop leaves the solids, in mm.
pub fn lowest_departure(run: &PanelRun) -> Option<f64> {
    let mut lowest: Option<f64> = None;
    for pair in run.frames.windows(2) {
        let [before, after] = pair else { continue };
        for drop in before.drops.iter().filter(|drop| drop.on.is_some()) {
            if drop_of(after, drop.id).is_some_and(|later| later.on.is_none()) {
                let y = 1e3 * drop.centroid.y;
                lowest = Some(lowest.map_or(y, |lowest| lowest.min(y)));
            }
        }
    }
    lowest
}

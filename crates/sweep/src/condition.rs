//! Conditions on a finished run.
//!
//! - `slides`: both ends of the contact area of the drop that is largest at the start have moved
//!   downhill, and still move: by more than a tenth of the base radius since the first frame, and
//!   by more than a fiftieth in the last tenth of the frames. Frames after it has left the solid do
//!   not count. Downhill is gravity along the contact area.
//! - `detaches`: in some frame a drop is in the air that touched a solid before, or is a piece of
//!   one that did.
//! - `merges`: some drops merge.
//! - an expression over measures: `final.height > 2e-3` (see `expression`).

use std::collections::BTreeSet;
use std::fmt;

use glam::DVec3;
use sessile_frames::{Event, FrameMeasures, RunFolder, Surface, measures_file};
use sessile_scene::{Scene, parse_file};

use crate::error::SweepError;
use crate::expression::Expression;
use crate::results::Summary;

/// Displacement of both ends since the first frame, in base radii, of a drop that slides.
const HAS_MOVED: f64 = 0.1;
/// Displacement of both ends in the last tenth of the frames, in base radii, of a drop that slides.
const STILL_MOVES: f64 = 0.02;

/// A condition on a finished run.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The largest drop slides.
    Slides,
    /// A drop or a part of one falls off.
    Detaches,
    /// Drops merge.
    Merges,
    /// An expression over measures holds.
    Expression(Expression),
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slides => f.write_str("slides"),
            Self::Detaches => f.write_str("detaches"),
            Self::Merges => f.write_str("merges"),
            Self::Expression(expression) => expression.fmt(f),
        }
    }
}

impl Condition {
    /// Reads the argument of `--find`.
    pub fn parse(argument: &str) -> Result<Self, SweepError> {
        let wrong = |reason: String| SweepError::Condition { argument: argument.to_owned(), reason };
        match argument.trim() {
            "slides" => return Ok(Self::Slides),
            "detaches" => return Ok(Self::Detaches),
            "merges" => return Ok(Self::Merges),
            _ => {}
        }
        if !argument.contains(['<', '>']) {
            return Err(wrong("it is not a condition".into()));
        }
        let known = |name: &str| Summary::default().value(name).map(|_| ());
        Expression::parse(argument, &known).map(Self::Expression).map_err(wrong)
    }

    /// Whether the condition holds for a finished run.
    pub fn holds(&self, folder: &RunFolder) -> Result<bool, SweepError> {
        match self {
            Self::Slides => slides(folder),
            Self::Detaches => Ok(detaches(&read(folder)?)),
            Self::Merges => {
                let frames = read(folder)?;
                Ok(frames.iter().flat_map(|frame| &frame.events).any(|event| matches!(event, Event::Merge { .. })))
            }
            Self::Expression(expression) => {
                let summary = Summary::read(folder.root())?;
                Ok(expression.holds(&|name| summary.value(name).ok().flatten()))
            }
        }
    }
}

fn read(folder: &RunFolder) -> Result<Vec<FrameMeasures>, SweepError> {
    measures_file::read_all(&folder.measures_path()).map_err(|error| SweepError::Measures { reason: error.to_string() })
}

fn detaches(frames: &[FrameMeasures]) -> bool {
    let mut attached = BTreeSet::new();
    for frame in frames {
        for event in &frame.events {
            if let Event::Split { split, into } = event
                && attached.contains(split)
            {
                attached.extend(into.iter().copied());
            }
        }
        if frame.drops.iter().any(|drop| drop.on.is_none() && attached.contains(&drop.id)) {
            return true;
        }
        attached.extend(frame.drops.iter().filter(|drop| drop.on.is_some()).map(|drop| drop.id));
    }
    false
}

/// The contact area of a drop.
struct Contact {
    /// Extent along the downhill direction of the first frame, in m.
    ends: [f64; 2],
    /// √(area / π), in m.
    radius: f64,
}

fn slides(folder: &RunFolder) -> Result<bool, SweepError> {
    let mut measures = read(folder)?;
    let largest = measures.first().and_then(|first| first.drops.iter().max_by(|a, b| a.volume.total_cmp(&b.volume)));
    let Some(id) = largest.map(|drop| drop.id) else { return Ok(false) };
    // A drop that has run off the solid or merged is judged by its frames before that.
    measures.retain(|frame| frame.drops.iter().any(|drop| drop.id == id && drop.on.is_some()));
    let (Some(first), Some(last)) = (measures.first(), measures.last()) else { return Ok(false) };
    let scene = parse_file(&folder.scene_path(), &[])
        .map_err(|error| SweepError::Measures { reason: error.to_string() })?
        .scene;
    let surface = |frame: u64| folder.read_frame(frame).map(|(surface, _)| surface);
    let start = surface(first.frame)?;
    let Some(down) = downhill(&start, id, &scene, last.time) else { return Ok(false) };
    let before = measures[measures.len() - 1 - (measures.len() / 10).max(1).min(measures.len() - 1)].frame;
    let contacts = [&start, &surface(before)?, &surface(last.frame)?].map(|surface| contact(surface, id, down));
    let [Some(start), Some(before), Some(end)] = contacts else { return Ok(false) };
    let moved =
        |from: &Contact| (0..2).map(|i| (end.ends[i] - from.ends[i]) / start.radius).fold(f64::INFINITY, f64::min);
    Ok(moved(&start) > HAS_MOVED && moved(&before) > STILL_MOVES)
}

/// The triangles of a drop's contact area, as area vectors that point out of the liquid.
fn contact_triangles(surface: &Surface, id: u32) -> impl Iterator<Item = ([DVec3; 3], DVec3)> + '_ {
    let of_drop = move |(triangle, solid): (&[u32; 3], &i32)| {
        let corners = triangle.map(|v| surface.positions[v as usize]);
        let [a, b, c] = corners;
        (*solid >= 0 && surface.drops[triangle[0] as usize] == id).then(|| (corners, 0.5 * (b - a).cross(c - a)))
    };
    surface.triangles.iter().zip(&surface.solids).filter_map(of_drop)
}

/// Direction of gravity along the contact area; none on level ground and in free flight.
fn downhill(surface: &Surface, id: u32, scene: &Scene, time: f64) -> Option<DVec3> {
    let normal = contact_triangles(surface, id).map(|(_, area)| area).sum::<DVec3>().try_normalize()?;
    let gravity = scene.world.gravity_at(time);
    (gravity - gravity.dot(normal) * normal).try_normalize()
}

fn contact(surface: &Surface, id: u32, down: DVec3) -> Option<Contact> {
    let mut ends = [f64::INFINITY, f64::NEG_INFINITY];
    let mut area = 0.0;
    for (corners, part) in contact_triangles(surface, id) {
        area += part.length();
        for at in corners.map(|corner| corner.dot(down)) {
            ends = [ends[0].min(at), ends[1].max(at)];
        }
    }
    (area > 0.0).then(|| Contact { ends, radius: (area / std::f64::consts::PI).sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessile_frames::DropMeasures;

    #[test]
    fn conditions_are_read() {
        assert_eq!(Condition::parse("slides").expect("known"), Condition::Slides);
        let ratio = Condition::parse(" final.height / final.base_radius > 0.5").expect("an expression");
        assert_eq!(ratio.to_string(), "final.height / final.base_radius > 0.5");
        for text in ["slide", "final.height", "final.weight > 1", "final.height > tall", "final.height > 2 mm"] {
            assert!(Condition::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_piece_of_a_drop_on_a_solid_detaches() {
        let drop =
            |id: u32, on: Option<&str>| DropMeasures { id, on: on.map(str::to_owned), ..DropMeasures::default() };
        let frame = |drops, events| FrameMeasures { drops, events, ..FrameMeasures::default() };
        let hanging = frame(vec![drop(1, Some("ceiling"))], vec![]);
        let split = Event::Split { split: 1, into: [1, 2].into_iter().collect() };
        let dripping = frame(vec![drop(1, Some("ceiling")), drop(2, None)], vec![split]);
        assert!(detaches(&[hanging.clone(), dripping]));
        assert!(!detaches(&[hanging.clone(), hanging.clone()]));
        // A drop that was always in the air does not count.
        assert!(!detaches(&[frame(vec![drop(3, None)], vec![]), frame(vec![drop(3, None)], vec![])]));
    }
}

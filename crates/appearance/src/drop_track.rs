//! The path of the drop that the camera follows, from the run's measures.

use std::path::Path;

use glam::DVec3;
use sessile_frames::measures_file::{self, MeasuresError};
use sessile_frames::{DropMeasures, Event, FrameMeasures};
use sessile_scene::types::Follow;

/// The positions of a drop over the frames of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct DropTrack {
    /// Frames and the drop's centroid in them, in m, in ascending order; never empty.
    positions: Vec<(u64, DVec3)>,
    /// Half of its largest extent in its first frame, in m.
    radius: f64,
}

impl DropTrack {
    /// SceneMaterials a drop up in `measure.jsonl`; `None` when no frame has it.
    pub fn read(measures: &Path, follow: Follow) -> Result<Option<Self>, MeasuresError> {
        let mut reader = TrackReader { id: None, follow, positions: Vec::new(), radius: 0.0 };
        measures_file::for_each(measures, |frame| {
            reader.read_frame(&frame);
            true
        })?;
        Ok((!reader.positions.is_empty()).then_some(Self { positions: reader.positions, radius: reader.radius }))
    }

    /// Its first position, in m.
    pub fn first(&self) -> DVec3 {
        self.positions.first().map_or(DVec3::ZERO, |(_, at)| *at)
    }

    /// Half of its largest extent there, in m.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Its position in a frame, in m; the last one after it disappears, and the first one before it
    /// appears.
    pub fn at(&self, frame: u64) -> DVec3 {
        let after = self.positions.partition_point(|(seen, _)| *seen <= frame);
        self.positions.get(after.saturating_sub(1)).map_or(DVec3::ZERO, |(_, at)| *at)
    }
}

struct TrackReader {
    /// The drop's id, once known.
    id: Option<u32>,
    follow: Follow,
    positions: Vec<(u64, DVec3)>,
    radius: f64,
}

impl TrackReader {
    fn read_frame(&mut self, frame: &FrameMeasures) {
        let id = *self.id.get_or_insert(match self.follow {
            Follow::Drop(id) => id,
            Follow::Largest => match largest(&frame.drops) {
                Some(id) => id,
                None => return,
            },
        });
        // After a merge the survivor is track.
        let id = frame.events.iter().fold(id, |id, event| match event {
            Event::Merge { merge, into } if merge.contains(&id) => *into,
            _ => id,
        });
        self.id = Some(id);
        if let Some(drop) = frame.drops.iter().find(|drop| drop.id == id) {
            if self.positions.is_empty() {
                self.radius = 0.5 * (drop.bounds[1] - drop.bounds[0]).max_element();
            }
            self.positions.push((frame.frame, drop.centroid));
        }
    }
}

fn largest(drops: &[DropMeasures]) -> Option<u32> {
    drops.iter().max_by(|a, b| a.volume.total_cmp(&b.volume).then(b.id.cmp(&a.id))).map(|drop| drop.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessile_frames::Ids;

    fn drop(id: u32, volume: f64, x: f64) -> DropMeasures {
        let centroid = DVec3::new(x, 0.0, 0.0);
        DropMeasures {
            id,
            volume,
            centroid,
            bounds: [centroid - DVec3::splat(1e-3), centroid + DVec3::splat(1e-3)],
            ..DropMeasures::default()
        }
    }

    fn run(frames: &[(Vec<DropMeasures>, Vec<Event>)], follow: Follow) -> Option<DropTrack> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("measure.jsonl");
        for (frame, (drops, events)) in (0..).zip(frames) {
            let measures =
                FrameMeasures { frame, drops: drops.clone(), events: events.clone(), ..FrameMeasures::default() };
            measures_file::append(&file, &measures).unwrap();
        }
        DropTrack::read(&file, follow).unwrap()
    }

    #[test]
    fn a_track_follows_merges_and_stays_when_the_drop_is_lost() {
        let merge = Event::Merge { merge: Ids::from_slice(&[2, 5]), into: 5 };
        let frames = [
            (vec![], vec![]),
            (vec![drop(1, 1.0, 9.0), drop(2, 3.0, 1.0)], vec![]),
            (vec![drop(1, 4.0, 9.0), drop(2, 3.0, 2.0), drop(5, 4.0, 2.5)], vec![]),
            (vec![drop(1, 4.0, 9.0), drop(5, 7.0, 3.0)], vec![merge]),
            (vec![drop(1, 4.0, 9.0)], vec![]),
        ];
        for follow in [Follow::Largest, Follow::Drop(2)] {
            let track = run(&frames, follow).unwrap();
            let x: Vec<f64> = (0..6).map(|frame| track.at(frame).x).collect();
            assert_eq!(x, [1.0, 1.0, 2.0, 3.0, 3.0, 3.0], "{follow:?}");
            assert!((track.radius() - 1e-3).abs() < 1e-12 && track.first().x == 1.0);
        }
        assert_eq!(run(&frames, Follow::Drop(77)), None);
        assert_eq!(run(&frames[..1], Follow::Largest), None);
    }
}

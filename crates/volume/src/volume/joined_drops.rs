//! Drops that a frame shows as one surface are one drop.
//!
//! Labeling joins cells, the surface of a frame the liquid between their centers. Beside a solid
//! and at a side of the domain this continues below the lowest cells, where there is nothing to
//! label, and spray that returns just before a frame changes φ after the labeling. So two drops of
//! cells may be one surface, which has one id: the other drop would be missing from the frame, and
//! its merging, if it comes at all, would be reported later. Therefore the drops are compared with
//! the surface before each frame, and united where it joins them.

use sessile_frames::{DropId, Event};

use super::Volume;
use crate::drops::{Drops, merge_event};
use crate::frame_fields::FrameFields;
use crate::free_motion::FreeDrop;
use crate::state::State;
use crate::surface_extraction::joined_drops;

impl Volume {
    /// Unites the drops that a frame would show as one; the larger one keeps its id.
    pub(super) fn unite_joined_drops(&mut self, events: &mut Vec<Event>) {
        let fields = FrameFields { state: &self.fluid.state, world: &self.world };
        // A grid that is too long to be shown ends the run.
        let Ok(joined) = joined_drops(&self.fluid.state.grid.tiles, &fields) else { return };
        // (drop, the one that it has become)
        let mut united: Vec<(DropId, DropId)> = Vec::new();
        for (a, b) in joined {
            let (Some(a), Some(b)) = (DropId::new(a), DropId::new(b)) else { continue };
            let now = |id: DropId| united.iter().fold(id, |id, &(from, into)| if from == id { into } else { id });
            let (a, b) = (now(a), now(b));
            let State { drops, free_drops, .. } = &mut self.fluid.state;
            let Some([kept, absorbed]) = by_size(drops, a, b) else { continue };
            unite_free_drops(drops, free_drops, kept, absorbed);
            drops.unite(kept, absorbed);
            events.push(merge_event(absorbed, kept));
            united.push((absorbed, kept));
        }
    }
}

/// Two different drops, the larger one first; none unless both exist.
fn by_size(drops: &mut Drops, a: DropId, b: DropId) -> Option<[DropId; 2]> {
    let [volume, other] = [a, b].map(|id| drops.target_mut(id).map(|target| target.volume));
    let is_larger = volume? > other? || (volume == other && a < b);
    (a != b).then_some(if is_larger { [a, b] } else { [b, a] })
}

/// The mean velocity of two drops becomes that of their union; unknown if one of them is.
fn unite_free_drops(drops: &mut Drops, free_drops: &mut Vec<FreeDrop>, kept: DropId, absorbed: DropId) {
    let mut take = |id: DropId| {
        let at = free_drops.binary_search_by_key(&id, |drop| drop.id).ok()?;
        Some((free_drops.remove(at).velocity, drops.target_mut(id)?.volume))
    };
    let (Some((a, of_a)), Some((b, of_b))) = (take(kept), take(absorbed)) else { return };
    let place = free_drops.partition_point(|drop| drop.id < kept);
    let volume = of_a + of_b;
    let velocity = if volume > 0.0 { (a * of_a + b * of_b) / volume } else { a };
    free_drops.insert(place, FreeDrop { id: kept, velocity });
}

#[cfg(test)]
mod tests {
    use sessile_model::Model;

    use crate::drops::{Label, TargetVolume, merge_event};
    use crate::testing::drop_id;
    use crate::volume::tests::build;

    /// Two drops whose surfaces are one: a sphere whose halves have different labels.
    #[test]
    fn drops_that_a_frame_shows_as_one_merge_before_it() {
        let mut volume = build(
            "[resolution]\ncell = \"0.2 mm\"\n[[drops]]\nshape = \"sphere\"\ncenter = \"0 0 0 mm\"\nradius = \"1 mm\"\n",
        );
        let drops = &mut volume.fluid.state.drops;
        let [whole] = drops.targets[..] else { panic!("{:?}", drops.targets) };
        drops.targets = [(1, 0.4), (2, 0.6)]
            .map(|(number, part)| TargetVolume { id: drop_id(number), volume: part * whole.volume })
            .into();
        let tiles = &volume.fluid.state.grid.tiles;
        for index in tiles.indices().filter(|&index| tiles.cell(index)[0] >= 0) {
            let label = &mut volume.fluid.state.drops.labels.values_mut()[index];
            *label = if *label == Label::NONE { *label } else { Label::drop(drop_id(2)) };
        }
        let mut events = Vec::new();
        volume.unite_joined_drops(&mut events);
        assert_eq!(events, [merge_event(drop_id(1), drop_id(2))]);
        let frame = volume.frame();
        assert_eq!(frame.drops.iter().map(|drop| drop.id).collect::<Vec<_>>(), [2]);
        let left = frame.drops[0].volume / frame.balance.added;
        assert!((left - 1.0).abs() < 1e-12, "{left} of the volume is left");
    }
}

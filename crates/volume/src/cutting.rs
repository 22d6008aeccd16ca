//! Liquid that is cut off or shrunk by hand.

use glam::DVec3;
use sessile_frames::DropId;

use crate::fluid::Fluid;
use crate::state::State;
use crate::tiles::CellIndex;

/// Steps of the bisection for the shift of a shrinking drop's surface.
const BISECTIONS: usize = 50;
/// Largest shift, in cells.
const MAX_SHIFT: f64 = 64.0;

impl Fluid {
    /// Cuts what lies at a positive `depth` (in cells, of a place in m) out of the liquid; returns
    /// its volume, in cells. Drops of which less than a fragment is left are removed.
    ///
    /// φ must be reinitialized afterwards.
    pub fn cut(&mut self, depth: impl Fn(DVec3) -> f64) -> f64 {
        let mut taken = 0.0;
        let mut touched = Vec::new();
        for index in self.state.grid.tiles.indices() {
            let State { grid, solids, phi, drops, .. } = &mut self.state;
            let before = phi.values()[index];
            let depth = if before > 1.0 { f64::NEG_INFINITY } else { depth(grid.center(index)) };
            if depth <= before {
                continue;
            }
            let cut = share_of_cell(before) - share_of_cell(depth);
            // A cell beyond the interface that is part liquid has no label; its neighbor has.
            let label = |index: CellIndex| drops.labels.values()[index].id();
            let beside = || grid.tiles.face_neighbors(index).find_map(label);
            let is_open = solids.distance.values()[index] >= 0.0;
            let id = label(index).or_else(|| if is_open { beside() } else { None });
            if let Some(target) = id.and_then(|id| drops.target_mut(id)) {
                let cut = cut.min(target.volume);
                target.volume -= cut;
                taken += cut;
                touched.push(target.id);
            }
            phi.values_mut()[index] = depth;
        }
        touched.sort_unstable();
        touched.dedup();
        let smallest = self.params.numerics.fragment_volume;
        for id in touched {
            if self.state.drops.target_mut(id).is_some_and(|target| target.volume < smallest) {
                taken += self.remove_drop(id);
            }
        }
        taken
    }

    /// Shifts the surface of a drop inward until it has lost a share of its volume; returns that
    /// volume, in cells. φ must be reinitialized afterwards.
    pub fn shrink_drop(&mut self, id: DropId, share: f64) -> f64 {
        let State { grid, phi, drops, .. } = &mut self.state;
        let labels = drops.labels.values();
        let cells: Vec<_> = grid.tiles.indices().filter(|&index| labels[index].id() == Some(id)).collect();
        let held = |shift: f64| -> f64 { cells.iter().map(|&index| share_of_cell(phi.values()[index] + shift)).sum() };
        let wanted = (1.0 - share) * held(0.0);
        let (mut low, mut high) = (0.0, MAX_SHIFT);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if held(middle) > wanted { low = middle } else { high = middle }
        }
        cells.iter().for_each(|&index| phi.values_mut()[index] += low);
        let Some(target) = drops.target_mut(id) else { return 0.0 };
        let taken = share * target.volume;
        target.volume -= taken;
        taken
    }
}

/// Part of a cell that is liquid, for the level set at its center, in cells.
fn share_of_cell(phi: f64) -> f64 {
    (0.5 - phi).clamp(0.0, 1.0)
}

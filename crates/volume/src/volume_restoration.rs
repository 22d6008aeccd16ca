//! Volume restoration of liquid that was just placed: the interface of each drop is moved until it
//! encloses the drop's target volume.
//!
//! ```text
//! φ ← φ − (V_target − V)/A        A the area of the drop's interface
//! ```
//!
//! Redistancing rounds the edges of a box, and the angle of the material changes a flat cap next to
//! its contact line: what the grid makes of an initial drop has not exactly its volume. During a
//! run the divergence source of [`drops`](crate::drops) does this.

use sessile_frames::{DropId, Event};

use crate::drops::{Component, Label};
use crate::fluid::Fluid;
use crate::redistance::PHI_MAX;
use crate::state::State;
use crate::tiles::CellIndex;

/// Relative difference of volumes that is not corrected.
const TOLERANCE: f64 = 1e-4;
/// Largest number of displacements: the sphere of a cap that wraps a thin solid may be two cells
/// larger than its liquid.
const MAX_PASSES: usize = 12;
/// Largest displacement, in cells.
const MAX_DISPLACEMENT: f64 = 0.25;

impl Fluid {
    /// Moves the interfaces of all drops to where they enclose their target volumes; `extend`
    /// follows every displacement. Drops that have come apart or met are reported.
    pub fn restore_volumes(&mut self, events: &mut Vec<Event>, mut extend: impl FnMut(&mut Self)) {
        for _ in 0..MAX_PASSES {
            self.relabel(events);
            if self.state.drops.components.iter().all(|drop| drop.volume_error() < TOLERANCE) {
                return;
            }
            self.move_interfaces();
            extend(self);
        }
        self.relabel(events);
    }

    /// Moves the interface of each component by the layer that it lacks.
    fn move_interfaces(&mut self) {
        let layers = self.missing_layers();
        let owners = self.nearest_drops();
        let phi = self.state.phi.values_mut();
        for (value, owner) in phi.iter_mut().zip(owners) {
            let known = owner.id().and_then(|id| layers.binary_search_by_key(&id, |layer| layer.0).ok());
            if let Some(at) = known.filter(|_| value.abs() < PHI_MAX) {
                *value = (*value - layers[at].1).clamp(-PHI_MAX, PHI_MAX);
            }
        }
    }

    /// Distance by which the interface of each drop must move out, by id, in cells.
    fn missing_layers(&self) -> Vec<(DropId, f64)> {
        let State { grid, phi, drops, .. } = &self.state;
        // A cell's part of the layer of one cell around the interface.
        let mut areas = vec![0.0; drops.components.len()];
        for (index, _, component) in drops.liquid_cells(&grid.tiles, &self.scratch.projection.unknown_of) {
            areas[component] += f64::from(u8::from(phi.values()[index].abs() < 0.5));
        }
        let layer = |(component, area): (&Component, f64)| {
            let layer = (component.target - component.volume) / f64::max(area, 1.0);
            Some((component.label.id()?, layer.clamp(-MAX_DISPLACEMENT, MAX_DISPLACEMENT)))
        };
        let mut layers: Vec<(DropId, f64)> = drops.components.iter().zip(areas).filter_map(layer).collect();
        layers.sort_unstable_by_key(|layer| layer.0);
        layers
    }

    /// The drop that is nearest to each cell, counted in faces.
    fn nearest_drops(&self) -> Vec<Label> {
        let State { grid, drops, .. } = &self.state;
        let mut owners = drops.labels.values().to_vec();
        let mut front: Vec<CellIndex> = grid.tiles.indices().filter(|&index| owners[index] != Label::NONE).collect();
        for _ in 0..PHI_MAX.ceil() as usize {
            for index in std::mem::take(&mut front) {
                for next in grid.tiles.face_neighbors(index) {
                    if owners[next] == Label::NONE {
                        owners[next] = owners[index];
                        front.push(next);
                    }
                }
            }
        }
        owners
    }
}

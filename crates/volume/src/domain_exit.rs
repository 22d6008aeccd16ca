//! Drops that have left an open domain are removed.
//!
//! A drop that is still partly inside stays whole: cut at the side, it would be pulled back by the
//! surface tension of the cut. Only what lies `exit_margin` cells outside is removed from it.

use glam::DVec3;
use sessile_frames::DropId;

use crate::drops::Label;
use crate::fluid::Fluid;
use crate::state::State;
use crate::tiles::CellIndex;

impl Fluid {
    /// Removes drops that lie wholly outside a box (corners in m), and of others what lies far
    /// outside.
    ///
    /// Returns the removed volume, in cells. The unknowns must be those of the last step.
    pub fn remove_outside(&mut self, bounds: [DVec3; 2]) -> f64 {
        let margin = self.params.numerics.exit_margin;
        let (is_inside, any_far) = self.locate_components(bounds, margin);
        let mut removed = 0.0;
        for (component, is_inside) in is_inside.into_iter().enumerate() {
            if !is_inside {
                removed += self.remove_component(component);
            }
        }
        if any_far {
            removed = self.remove_beyond(bounds, margin, removed);
        }
        removed
    }

    /// Erases liquid outside a box that belongs to no drop: what the shapes of removed drops have
    /// inside solids.
    pub fn erase_remains_outside(&mut self, bounds: [DVec3; 2]) {
        for index in self.state.grid.tiles.indices() {
            let is_free = self.state.drops.labels.values()[index] == Label::NONE;
            if is_free && distance_outside(&self.state, bounds, index) > 0.0 {
                let phi = &mut self.state.phi.values_mut()[index];
                *phi = phi.abs();
            }
        }
    }

    /// Whether each component has a cell inside the box, and whether any cell lies beyond the
    /// margin.
    fn locate_components(&self, bounds: [DVec3; 2], margin: f64) -> (Vec<bool>, bool) {
        let State { drops, .. } = &self.state;
        let mut is_inside = vec![false; drops.components.len()];
        let mut any_far = false;
        for (&cell, &component) in self.scratch.projection.cells.iter().zip(&drops.component_of) {
            let distance = distance_outside(&self.state, bounds, cell);
            is_inside[component as usize] |= distance <= 0.0;
            any_far |= distance > margin;
        }
        (is_inside, any_far)
    }

    /// Removes a component with its drop; returns the drop's volume, in cells.
    fn remove_component(&mut self, component: usize) -> f64 {
        let id = self.state.drops.components[component].label.id();
        id.map_or(0.0, |id| self.remove_drop(id))
    }

    /// Removes a drop; returns its volume, in cells.
    pub fn remove_drop(&mut self, id: DropId) -> f64 {
        let State { grid, phi, drops, since_redistance, .. } = &mut self.state;
        let label = Label::drop(id);
        let Some(target) = drops.target_mut(id) else { return 0.0 };
        let removed = std::mem::take(&mut target.volume);
        drops.targets.retain(|target| target.id != id);
        // With its cells, those inside solids that continue it.
        let labels = drops.labels.values_mut();
        let mut front: Vec<CellIndex> = grid.tiles.indices().filter(|&index| labels[index] == label).collect();
        while let Some(index) = front.pop() {
            labels[index] = Label::NONE;
            phi.values_mut()[index] = phi.values()[index].abs();
            let continues = |&next: &CellIndex| phi.values()[next] < 0.0 && labels[next] == Label::NONE;
            front.extend(grid.tiles.face_neighbors(index).filter(continues));
        }
        since_redistance.steps = self.params.numerics.redistance_interval;
        removed
    }

    /// Cuts the liquid `margin` cells outside the box; adds to the removed volume, in cells.
    fn remove_beyond(&mut self, bounds: [DVec3; 2], margin: f64, mut removed: f64) -> f64 {
        for index in self.state.grid.tiles.indices() {
            let distance = distance_outside(&self.state, bounds, index) - margin;
            let State { phi, drops, .. } = &mut self.state;
            let before = phi.values()[index];
            if before > 1.0 || distance <= 0.0 {
                continue;
            }
            let fraction = |phi: f64| (0.5 - phi).clamp(0.0, 1.0);
            let cut = fraction(before) - fraction(before.max(distance));
            let id = drops.labels.values()[index].id();
            if let Some(target) = id.and_then(|id| drops.target_mut(id)) {
                let cut = cut.min(target.volume);
                target.volume -= cut;
                removed += cut;
            }
            phi.values_mut()[index] = before.max(distance);
        }
        removed
    }
}

/// Distance of a cell's center outside a box, in cells; 0 where the box has no bounds.
fn distance_outside(state: &State, [low, high]: [DVec3; 2], index: CellIndex) -> f64 {
    let center = state.grid.center(index);
    let distance = (low - center).max(center - high).max_element() / state.grid.h;
    if distance.is_finite() { distance } else { 0.0 }
}

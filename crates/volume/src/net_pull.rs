//! A closed surface pulls the liquid inside it nowhere: what it does to its momentum on the cells is taken away.
//!
//! ∮ κ n dA = 0, but κ on cells errs by a per cent or so, and the errors do not cancel: a drop in free fall would drift aside. The projection moves the liquid along an axis as if a face between two liquid
//! cells held one cell of it and a face to the air θ of one (`projection.rs`), so the pressures inside cancel in the sum and those at the surface are left. For each piece of liquid, along each axis,
//!
//! ```text
//! U = −Σ σ q_s / (N + Σ θ),      u ← u − U on all its faces
//! ```
//!
//! summed over its faces to the air, σ = ±1 out of the liquid and q_s = γκΔt/ρh² there; N is the number of faces inside. A uniform velocity has no divergence, so the projection stays what it was.
//!
//! Only pieces that touch no solid are free: what touches one is held by it.

use glam::DVec3;
use rayon::prelude::*;

use crate::drops::Drops;
use crate::faces::WET;
use crate::poisson::NONE;
use crate::projection::{Flow, Projection};
use crate::tiles::Field;

/// What the surface of a piece does to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pull {
    /// Impulse over ρh³, in m/s.
    impulse: DVec3,
    /// Cells of liquid that move along each axis.
    mass: DVec3,
    /// U, in m/s.
    velocity: DVec3,
}

/// Takes the net pull of closed surfaces off the velocity that the projection has just made; `pulls` is memory for it.
pub fn cancel_net_pulls(
    flow: &Flow<'_>,
    projection: &Projection,
    drops: &Drops,
    pulls: &mut Vec<Pull>,
    velocity: &mut [Field<f64>; 3],
) {
    if drops.pieces.iter().all(|piece| piece.on_wall) {
        return;
    }
    find_pulls(flow, projection, drops, pulls);
    let number = projection.number.values();
    for (axis, component) in velocity.iter_mut().enumerate().take(flow.tiles.dims()) {
        component.par_tiles_mut().enumerate().for_each(|(slot, out)| {
            let (kinds, own) = (flow.kinds[axis].tile(slot), projection.number.tile(slot));
            for local in 0..flow.tiles.cells_in_use() {
                if kinds[local] & WET == 0 {
                    continue;
                }
                let unknown = match own[local] {
                    NONE => {
                        let index = slot * out.len() + local;
                        flow.tiles.next(index, axis, -1).map_or(NONE, |low| number[low])
                    }
                    unknown => unknown,
                };
                if unknown != NONE {
                    out[local] -= pulls[drops.piece_of[unknown as usize] as usize].velocity[axis];
                }
            }
        });
    }
}

/// The pull on each free piece; none on others.
fn find_pulls(flow: &Flow<'_>, projection: &Projection, drops: &Drops, pulls: &mut Vec<Pull>) {
    let Projection { cells, number, system, .. } = projection;
    let tiles = flow.tiles;
    pulls.clear();
    pulls.resize(drops.pieces.len(), Pull::default());
    for (unknown, &piece) in drops.piece_of.iter().enumerate() {
        if drops.pieces[piece as usize].on_wall {
            continue;
        }
        let pull = &mut pulls[piece as usize];
        pull.mass += DVec3::from(system.faces[unknown]);
        if system.outside[unknown] <= 0.0 {
            continue;
        }
        let cell = cells[unknown] as usize;
        for direction in 0..2 * tiles.dims() {
            let (axis, up) = (direction / 2, direction % 2 == 1);
            let Some(next) = tiles.next(cell, axis, if up { 1 } else { -1 }) else { continue };
            if number.values()[next] == NONE {
                pull.mass[axis] += flow.share(cell, next);
                pull.impulse[axis] -= flow.surface_q(cell, next) * if up { 1.0 } else { -1.0 };
            }
        }
    }
    for pull in pulls {
        pull.velocity = pull.impulse / pull.mass.max(DVec3::ONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curvature::{Of, curvature};
    use crate::drops::Liquid;
    use crate::faces::{Kinds, classify};
    use crate::solids::Solids;
    use crate::tiles::{CELLS, Tiles, Topology};

    /// A lopsided body that lies anyhow in its cells and moves: surface tension changes its shape, and its momentum not at all.
    #[test]
    fn surface_tension_leaves_the_momentum_of_free_liquid_alone() {
        let mut tiles = Tiles::new(Topology::default());
        tiles.activate(&mut (0..64).map(|n| [n % 4 - 2, n / 4 % 4 - 2, n / 16 - 2]).collect());
        let number = |value: f64| {
            let mut field = Field::new(value);
            field.resize(&tiles);
            field
        };
        let mut solids = Solids::default();
        solids.distance.resize(&tiles);
        solids.open.iter_mut().for_each(|open| open.resize(&tiles));
        solids.wall.resize(&tiles);
        solids.near.resize(tiles.len(), false);
        let mut phi = number(10.0);
        for index in 0..tiles.len() * CELLS {
            let at = DVec3::from(tiles.cell(index).map(f64::from)) + 0.5 - DVec3::new(0.31, 0.17, -0.43);
            // Within 9 of the middle, and 6 of a second place: a pear.
            let [large, small] = [at.length() - 9.0, (at - DVec3::new(4.0, 5.0, 3.0)).length() - 6.0];
            phi.values_mut()[index] = large.min(small);
        }
        let mut kappa = number(0.0);
        curvature(&tiles, &solids, &phi, Of::Surface, &mut kappa);
        let mut kinds: Kinds = std::array::from_fn(|_| Field::new(0));
        kinds.iter_mut().for_each(|kinds| kinds.resize(&tiles));
        classify(&tiles, &solids, &phi, &mut kinds);
        let mut pinned = Field::new(false);
        pinned.resize(&tiles);
        let stream = [0.03, -0.02, 0.01];
        let before = stream.map(number);
        let mut projection = Projection::default();
        projection.number_cells(&tiles, &solids, &phi);
        let mut drops = Drops::default();
        drops.names.resize(&tiles);
        let liquid =
            Liquid { tiles: &tiles, solids: &solids, phi: &phi, cells: &projection.cells, number: &projection.number };
        drops.label(&liquid, &mut Vec::new());
        let flow = Flow {
            tiles: &tiles,
            solids: &solids,
            kinds: &kinds,
            phi: &phi,
            kappa: &kappa,
            pinned: &pinned,
            tension: 0.3,
            second_order: true,
            lifts: true,
            reach: 1.0,
            before: &before,
        };
        let mut velocity = before.clone();
        let source = vec![0.0; projection.cells.len()];
        projection.assemble(&flow, &velocity, &source, &|_, _, _| 0.0);
        projection.q.resize(projection.cells.len(), 0.0);
        projection.solve(&flow).unwrap();
        projection.correct(&flow, &mut velocity, &|_, _, _| 0.0);
        let momentum = |velocity: &[Field<f64>; 3]| {
            let (mut sum, mut mass) = (DVec3::ZERO, DVec3::ZERO);
            for axis in 0..3 {
                for high in 0..tiles.len() * CELLS {
                    let Some(low) = tiles.next(high, axis, -1) else { continue };
                    let weight = match (phi.values()[low] < 0.0, phi.values()[high] < 0.0) {
                        (true, true) => 1.0,
                        (true, false) => flow.share(low, high),
                        (false, true) => flow.share(high, low),
                        (false, false) => continue,
                    };
                    sum[axis] += weight * velocity[axis].values()[high];
                    mass[axis] += weight;
                }
            }
            sum / mass
        };
        let pulled = momentum(&velocity) - DVec3::from(stream);
        assert_eq!(drops.pieces.len(), 1);
        cancel_net_pulls(&flow, &projection, &drops, &mut Vec::new(), &mut velocity);
        let left = momentum(&velocity) - DVec3::from(stream);
        let [pulled, left] = [pulled.length(), left.length()];
        println!("pulled to {pulled:.2e} m/s, {left:.2e} left");
        assert!(pulled > 1e-5 && left < 1e-15, "{pulled:.2e} m/s before, {left:.2e} after");
    }
}

//! Which faces carry liquid, which lie in solids.
//!
//! A face is *wet* if it is open and one of its two cells holds liquid (φ < 0): its velocity is an unknown of the projection. A face is *buried* if its
//! middle lies in a solid; it may still be partly open, and then be wet too. All other velocities are made up: outside the
//! liquid by extrapolation, in solids by the wall's condition.

use rayon::prelude::*;

use crate::solids::Solids;
use crate::tiles::{CELLS, Field, Tiles};

/// Carries liquid.
pub const WET: u8 = 1;
/// Its middle lies in a solid.
pub const BURIED: u8 = 2;

/// Carries liquid, but its middle lies in air.
pub const OUTER: u8 = 4;

/// The kinds of the low faces along x, y and z.
pub type Kinds = [Field<u8>; 3];

/// Sorts the faces of all tiles.
pub fn classify(tiles: &Tiles, solids: &Solids, phi: &Field<f64>, kinds: &mut Kinds) {
    let [x, y, z] = kinds;
    (x.par_tiles_mut(), y.par_tiles_mut(), z.par_tiles_mut()).into_par_iter().enumerate().for_each(
        |(slot, (x, y, z))| {
            let near = solids.near[slot];
            for (axis, kinds) in [x, y, z].into_iter().enumerate().take(tiles.dims()) {
                let (phi, s) = (phi.values(), solids.distance.values());
                let open = solids.open[axis].tile(slot);
                for local in 0..tiles.cells_in_use() {
                    let index = slot * CELLS + local;
                    let low = tiles.next(index, axis, -1);
                    let liquid = phi[index] < 0.0 || low.is_some_and(|low| phi[low] < 0.0);
                    let wet = liquid && open[local] > 0.0;
                    let middle = if near { 0.5 * (s[index] + low.map_or(s[index], |low| s[low])) } else { s[index] };
                    kinds[local] = (if wet { WET } else { 0 }) | (if middle <= 0.0 { BURIED } else { 0 });
                }
            }
        },
    );
}

/// Marks wet faces whose middle lies in air as [`OUTER`].
pub fn mark_outer(tiles: &Tiles, phi: &Field<f64>, kinds: &mut Kinds) {
    for (axis, kinds) in kinds.iter_mut().enumerate().take(tiles.dims()) {
        kinds.par_tiles_mut().enumerate().for_each(|(slot, kinds)| {
            for (local, kind) in kinds.iter_mut().enumerate().take(tiles.cells_in_use()) {
                if *kind & (WET | BURIED) == WET {
                    let index = slot * CELLS + local;
                    let low = tiles.next(index, axis, -1).unwrap_or(index);
                    if phi.values()[index] + phi.values()[low] > 0.0 {
                        *kind |= OUTER;
                    }
                }
            }
        });
    }
}

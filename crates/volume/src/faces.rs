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
            let (phi_here, s_here) = (phi.tile(slot), solids.distance.tile(slot));
            let (mut phi_low, mut s_low) = ([0.0; CELLS], [0.0; CELLS]);
            for (axis, kinds) in [x, y, z].into_iter().enumerate().take(tiles.dims()) {
                phi.gather_before(tiles, slot, axis, &mut phi_low);
                if near {
                    solids.distance.gather_before(tiles, slot, axis, &mut s_low);
                } else {
                    s_low.copy_from_slice(s_here);
                }
                let values = phi_here.iter().zip(&phi_low).zip(s_here.iter().zip(&s_low));
                for ((kind, &open), ((&phi, &below), (&s, &s_below))) in
                    kinds.iter_mut().zip(solids.open[axis].tile(slot)).zip(values).take(tiles.cells_in_use())
                {
                    let wet = ((phi < 0.0) | (below < 0.0)) & (open > 0.0);
                    let buried = 0.5 * (s + s_below) <= 0.0;
                    let outer = wet & !buried & (phi + below > 0.0);
                    *kind = u8::from(wet) * WET + u8::from(buried) * BURIED + u8::from(outer) * OUTER;
                }
            }
        },
    );
}

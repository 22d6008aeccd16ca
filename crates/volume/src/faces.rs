//! Face flags: which faces carry liquid, and which lie in solids.
//!
//! A face carries liquid ([`WET`]) if it is open and one of its two cells holds liquid (φ < 0): its
//! velocity is determined by the projection. A face is [`IN_SOLID`] if its center lies in a solid;
//! it may still be partly open, and then carry liquid. Other velocities are extrapolated: in air
//! along the normal, in solids by the wall's condition.

use rayon::prelude::*;

use crate::solids::Solids;
use crate::tiles::{CELLS, Field, Tiles};

/// Carries liquid.
pub const WET: u8 = 1;
/// The center lies in a solid.
pub const IN_SOLID: u8 = 2;

/// Carries liquid, but its center lies in air.
pub const AIR_SIDE: u8 = 4;

/// Carries liquid on the air side, and has a target velocity for the damping of parasitic currents.
pub const HAS_TARGET: u8 = 8;

/// Flags of the low faces along x, y and z.
pub type FaceFlags = [Field<u8>; 3];

/// Classifies the faces of all tiles.
pub fn classify_faces(tiles: &Tiles, solids: &Solids, phi: &Field<f64>, flags: &mut FaceFlags) {
    let [x, y, z] = flags;
    (x.par_tiles_mut(), y.par_tiles_mut(), z.par_tiles_mut()).into_par_iter().enumerate().for_each(
        |(slot, (x, y, z))| {
            let near = solids.near[slot];
            let (phi_here, s_here) = (phi.tile(slot), solids.distance.tile(slot));
            let (mut phi_low, mut s_low) = ([0.0; CELLS], [0.0; CELLS]);
            for (axis, flags) in [x, y, z].into_iter().enumerate().take(tiles.dims()) {
                phi.gather_low_neighbors(tiles, slot, axis, &mut phi_low);
                if near {
                    solids.distance.gather_low_neighbors(tiles, slot, axis, &mut s_low);
                } else {
                    s_low.copy_from_slice(s_here);
                }
                let values = phi_here.iter().zip(&phi_low).zip(s_here.iter().zip(&s_low));
                for ((flag, &open), ((&phi, &below), (&s, &s_below))) in
                    flags.iter_mut().zip(solids.open[axis].tile(slot)).zip(values).take(tiles.cells_in_use())
                {
                    let wet = ((phi < 0.0) | (below < 0.0)) & (open > 0.0);
                    let buried = 0.5 * (s + s_below) <= 0.0;
                    let outer = wet & !buried & (phi + below > 0.0);
                    *flag = u8::from(wet) * WET + u8::from(buried) * IN_SOLID + u8::from(outer) * AIR_SIDE;
                }
            }
        },
    );
}

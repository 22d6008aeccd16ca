//! `fields/00000.grid`: the cells of a model that computes on a grid, with what they hold.
//!
//! Space is cut into tiles of 8 × 8 × 8 cells over an unbounded lattice; only tiles near the liquid are kept. Cell (i, j, k) of the lattice fills
//! [i, i+1] × [j, j+1] × [k, k+1] in units of the cell's side from the origin, and tile (a, b, c) holds the cells 8a ≤ i < 8a + 8 and so on. The value of a cell lies at
//! 512 · (place of its tile) + 64 k + 8 j + i with (i, j, k) counted inside the tile.
//!
//! A sealed file (see [`crate::container`]) with a block per field, in single precision.

use std::path::{Path, PathBuf};

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::atomic::{self, Durability, FileError};
use crate::container::{self, Block, Format, SealError};
use crate::ply::FrameId;

/// Cells along a tile's side.
pub const SIDE: usize = 8;
/// Cells of a tile.
pub const TILE_CELLS: usize = SIDE * SIDE * SIDE;

/// Of the file; version 1.
const FORMAT: Format = Format { magic: *b"SESSGRID", version: 1 };

/// The blocks, in order.
const BLOCKS: [&str; 6] = ["tiles", "phi", "velocity_x", "velocity_y", "velocity_z", "pressure"];

/// Fields on the cells of a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridFields {
    /// Where the corner (0, 0, 0) of the lattice is, in m.
    pub origin: DVec3,
    /// Side of a cell, in m.
    pub cell: f64,
    /// Whether only the layer k = 0 is in use, as in planar runs.
    pub planar: bool,
    /// Coordinates of the tiles, sorted by (c, b, a).
    pub tiles: Vec<[i32; 3]>,
    /// Signed distance to the liquid's surface at cell centers, in m; negative in the liquid.
    pub phi: Vec<f32>,
    /// Velocity in m/s: each component at the middle of the cell's low face along its own axis.
    pub velocity: [Vec<f32>; 3],
    /// Pressure at cell centers, in Pa above that of the air; zero outside the liquid.
    pub pressure: Vec<f32>,
}

/// A `.grid` file that could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FieldsError {
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// Damaged, of another version, or something else.
    #[error("{} {reason}", path.display())]
    Sealed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: SealError,
    },
    /// Its fields do not have the size of its tiles, or hold what is no number.
    #[error("{}: {what}", path.display())]
    Contents {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Header {
    frame: u64,
    time: f64,
    origin: [f64; 3],
    cell: f64,
    planar: bool,
}

impl GridFields {
    /// Checks that the arrays fit together and every number is one.
    fn validate(&self) -> Result<(), String> {
        if !(self.cell > 0.0 && self.cell.is_finite() && self.origin.is_finite()) {
            return Err(format!("cells of {} m at {} m are no grid", self.cell, self.origin));
        }
        if !self.tiles.windows(2).all(|pair| rank(&pair[0]) < rank(&pair[1])) {
            return Err("its tiles are not in order".into());
        }
        let count = self.tiles.len() * TILE_CELLS;
        for (name, values) in BLOCKS[1..].iter().zip(self.arrays()) {
            if values.len() != count {
                return Err(format!("{name} has {} values for {count} cells", values.len()));
            }
            if let Some(cell) = values.iter().position(|value| !value.is_finite()) {
                return Err(format!("{name} of cell {cell} is not finite"));
            }
        }
        Ok(())
    }

    fn arrays(&self) -> [&Vec<f32>; 5] {
        let [x, y, z] = &self.velocity;
        [&self.phi, x, y, z, &self.pressure]
    }

    /// Layers of cells in use along z: 8, in planar runs 1.
    pub fn layers(&self) -> usize {
        if self.planar { 1 } else { SIDE }
    }

    /// Place of a cell of the lattice in the arrays; `None` where its tile is not kept.
    pub fn find(&self, cell: [i32; 3]) -> Option<usize> {
        let side = SIDE as i32;
        let tile = cell.map(|c| c.div_euclid(side));
        let [i, j, k] = cell.map(|c| c.rem_euclid(side) as usize);
        let slot = self.tiles.binary_search_by_key(&rank(&tile), rank).ok()?;
        Some(slot * TILE_CELLS + (k * SIDE + j) * SIDE + i)
    }

    /// Velocity at a cell's center, in m/s: the mean of its two faces along each axis; where the far one is not kept, the near one.
    pub fn velocity_at_center(&self, slot: usize, local: usize) -> [f32; 3] {
        let index = slot * TILE_CELLS + local;
        let inside = [local % SIDE, local / SIDE % SIDE, local / (SIDE * SIDE)];
        [0, 1, 2].map(|axis| {
            let near = self.velocity[axis][index];
            if self.planar && axis == 2 {
                return near;
            }
            let step = [1, SIDE, SIDE * SIDE][axis];
            let far = if inside[axis] + 1 < SIDE {
                Some(index + step)
            } else {
                let tile = self.tiles[slot];
                let mut cell = [0, 1, 2].map(|a| tile[a] * SIDE as i32 + inside[a] as i32);
                cell[axis] += 1;
                self.find(cell)
            };
            0.5 * (near + far.map_or(near, |far| self.velocity[axis][far]))
        })
    }
}

fn rank(tile: &[i32; 3]) -> [i32; 3] {
    [tile[2], tile[1], tile[0]]
}

/// Writes fields, all or nothing.
pub fn write(path: &Path, fields: &GridFields, stamp: FrameId, durability: Durability) -> Result<(), FieldsError> {
    fields.validate().map_err(|what| FieldsError::Contents { path: path.to_owned(), what })?;
    let header = Header {
        frame: stamp.frame,
        time: stamp.time,
        origin: fields.origin.to_array(),
        cell: fields.cell,
        planar: fields.planar,
    };
    let tiles = fields.tiles.iter().flatten().flat_map(|c| c.to_le_bytes()).collect();
    let arrays = fields.arrays().map(|values| values.iter().flat_map(|value| value.to_le_bytes()).collect());
    let blocks: Vec<Block> = BLOCKS
        .iter()
        .zip(std::iter::once(tiles).chain(arrays))
        .map(|(name, bytes)| Block { name: (*name).into(), bytes })
        .collect();
    Ok(atomic::write(path, &container::seal(FORMAT, &header, &blocks), durability)?)
}

/// Reads fields.
pub fn read(path: &Path) -> Result<(GridFields, FrameId), FieldsError> {
    let sealed = |reason| FieldsError::Sealed { path: path.to_owned(), reason };
    let (header, blocks): (Header, Vec<Block>) = container::unseal(FORMAT, &atomic::read(path)?).map_err(sealed)?;
    let wrong = |what: String| FieldsError::Contents { path: path.to_owned(), what };
    let block = |name: &str| {
        let found = blocks.iter().find(|block| block.name == name).map(|block| block.bytes.as_chunks::<4>());
        match found {
            Some((words, [])) => Ok(words),
            _ => Err(wrong(format!("there is no whole block {name}"))),
        }
    };
    let numbers =
        |name: &str| Ok::<_, FieldsError>(block(name)?.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect());
    let coordinates: Vec<i32> = block("tiles")?.iter().map(|bytes| i32::from_le_bytes(*bytes)).collect();
    let fields = GridFields {
        origin: DVec3::from_array(header.origin),
        cell: header.cell,
        planar: header.planar,
        tiles: coordinates.as_chunks::<3>().0.to_vec(),
        phi: numbers("phi")?,
        velocity: [numbers("velocity_x")?, numbers("velocity_y")?, numbers("velocity_z")?],
        pressure: numbers("pressure")?,
    };
    fields.validate().map_err(wrong)?;
    Ok((fields, FrameId { frame: header.frame, time: header.time }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> GridFields {
        let tiles = vec![[-1, 0, 0], [0, 0, 0], [0, 0, 2]];
        let count = tiles.len() * TILE_CELLS;
        let ramp = |scale: f32| (0..count).map(|i| scale * i as f32).collect::<Vec<f32>>();
        GridFields {
            origin: DVec3::new(0.1, -0.2, 0.3),
            cell: 1e-4,
            planar: false,
            tiles,
            phi: ramp(1e-6),
            velocity: [ramp(1.0), ramp(-2.0), ramp(3.0)],
            pressure: ramp(5.0),
        }
    }

    #[test]
    fn fields_come_back_to_the_last_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("00003.grid");
        let stamp = FrameId { frame: 3, time: 0.1 };
        write(&path, &sample(), stamp, Durability::Handed).unwrap();
        assert_eq!(read(&path).unwrap(), (sample(), stamp));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[40] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("damaged"));
    }

    #[test]
    fn cells_are_found_across_tiles_and_velocities_are_means_of_faces() {
        let fields = sample();
        assert_eq!(fields.find([-1, 0, 0]), Some(7));
        assert_eq!(fields.find([0, 1, 2]), Some(TILE_CELLS + 128 + 8));
        assert_eq!(fields.find([0, 0, 8]), None);
        // The last cell along x of the first tile: its far face belongs to the next tile; beyond y there is none.
        let [x, y, z] = fields.velocity_at_center(0, 63);
        let next = (TILE_CELLS + 56) as f32;
        assert_eq!([x, y, z], [0.5 * (63.0 + next), -2.0 * 63.0, 3.0 * 0.5 * (63.0 + 127.0)]);
    }

    #[test]
    fn arrays_that_do_not_fit_and_values_that_are_no_numbers_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("00000.grid");
        for spoil in [
            (|f| f.phi.truncate(5)) as fn(&mut GridFields),
            |f| f.pressure[7] = f32::NAN,
            |f| f.tiles.swap(0, 1),
            |f| f.cell = 0.0,
        ] {
            let mut fields = sample();
            spoil(&mut fields);
            let error = write(&path, &fields, FrameId { frame: 0, time: 0.0 }, Durability::Handed).unwrap_err();
            assert!(matches!(error, FieldsError::Contents { .. }), "{error}");
        }
    }
}

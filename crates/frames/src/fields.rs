//! `fields/00000.grid`: fields on the cells of a grid.
//!
//! The grid is an unbounded lattice in tiles of 8 × 8 × 8 cells; only tiles near the liquid are
//! stored. Cell (i, j, k) occupies [i, i+1] × [j, j+1] × [k, k+1], in cell sizes from the origin;
//! tile (a, b, c) contains the cells 8a ≤ i < 8a + 8 and so on. The value of a cell has the index
//! 512 · (index of its tile) + 64 k + 8 j + i, with (i, j, k) relative to the tile.
//!
//! A sealed file (see [`crate::container`]) with a block per field, in single precision.

use std::path::{Path, PathBuf};

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::atomic::{self, Durability, FileError};
use crate::container::{self, Block, Format, SealError};
use crate::ply::FrameId;

/// Cells along an edge of a tile.
pub const SIDE: usize = 8;
/// Cells in a tile.
pub const TILE_CELLS: usize = SIDE * SIDE * SIDE;

/// Format of the file.
const FORMAT: Format = Format { magic: *b"SESSGRID", version: 1 };

/// The blocks, in order.
const BLOCKS: [&str; 6] = ["tiles", "phi", "velocity_x", "velocity_y", "velocity_z", "pressure"];

/// Fields on the cells of a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridFields {
    /// Position of the lattice corner (0, 0, 0), in m.
    pub origin: DVec3,
    /// Cell size, in m.
    pub cell: f64,
    /// Whether only the layer k = 0 is used (planar runs).
    pub planar: bool,
    /// Coordinates of the tiles, sorted by (c, b, a).
    pub tiles: Vec<[i32; 3]>,
    /// Signed distance to the liquid surface at cell centers, in m; negative in the liquid.
    pub phi: Vec<f32>,
    /// Velocity, in m/s: each component at the center of the cell's lower face along its axis.
    pub velocity: [Vec<f32>; 3],
    /// Pressure at cell centers relative to the air, in Pa; zero outside the liquid.
    pub pressure: Vec<f32>,
}

/// A `.grid` file that could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FieldsError {
    /// A file operation failed.
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
    /// Array lengths do not match the number of tiles, or a value is not finite.
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
    /// Checks that array lengths are consistent and all values are finite.
    fn validate(&self) -> Result<(), String> {
        if !(self.cell > 0.0 && self.cell.is_finite() && self.origin.is_finite()) {
            return Err(format!("invalid cell size {} m or origin {} m", self.cell, self.origin));
        }
        if !self.tiles.windows(2).all(|pair| rank(&pair[0]) < rank(&pair[1])) {
            return Err("the tiles are not sorted".into());
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

    /// Number of cell layers per tile along z: 8, or 1 in planar runs.
    pub fn layers(&self) -> usize {
        if self.planar { 1 } else { SIDE }
    }

    /// Array index of a lattice cell; `None` if its tile is not stored.
    pub fn find(&self, cell: [i32; 3]) -> Option<usize> {
        let side = SIDE as i32;
        let tile = cell.map(|c| c.div_euclid(side));
        let [i, j, k] = cell.map(|c| c.rem_euclid(side) as usize);
        let slot = self.tiles.binary_search_by_key(&rank(&tile), rank).ok()?;
        Some(slot * TILE_CELLS + (k * SIDE + j) * SIDE + i)
    }

    /// Velocity at a cell center, in m/s: per axis the mean of both faces, or the lower face if the
    /// upper is not stored.
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

/// Writes fields atomically.
pub fn write(path: &Path, fields: &GridFields, id: FrameId, durability: Durability) -> Result<(), FieldsError> {
    fields.validate().map_err(|what| FieldsError::Contents { path: path.to_owned(), what })?;
    let header = Header {
        frame: id.frame,
        time: id.time,
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
            _ => Err(wrong(format!("block {name} is missing or truncated"))),
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
    fn fields_are_read_back_bit_identical() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("00003.grid");
        let id = FrameId { frame: 3, time: 0.1 };
        write(&path, &sample(), id, Durability::Handed).unwrap();
        assert_eq!(read(&path).unwrap(), (sample(), id));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[40] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("damaged"));
    }

    #[test]
    fn cells_are_found_across_tiles_and_center_velocities_are_face_means() {
        let fields = sample();
        assert_eq!(fields.find([-1, 0, 0]), Some(7));
        assert_eq!(fields.find([0, 1, 2]), Some(TILE_CELLS + 128 + 8));
        assert_eq!(fields.find([0, 0, 8]), None);
        // The last cell along x of the first tile: its upper face is in the next tile; along y
        // there is none.
        let [x, y, z] = fields.velocity_at_center(0, 63);
        let next = (TILE_CELLS + 56) as f32;
        assert_eq!([x, y, z], [0.5 * (63.0 + next), -2.0 * 63.0, 3.0 * 0.5 * (63.0 + 127.0)]);
    }

    #[test]
    fn inconsistent_lengths_and_values_that_are_not_finite_are_errors() {
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

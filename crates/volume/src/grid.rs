//! Positions of cells, and interpolation between them.
//!
//! Lengths inside the solver are in cells: φ and the solids' distance s are lengths over the cell
//! size h. Positions are given in *tile coordinates*: a slot, and cells counted from the low corner
//! of its tile, −7 to 15. They extend across tiles and periods. Velocities are in m/s.
//!
//! Fields are interpolated trilinearly ([`linear`]) or by products of cubic convolutions
//! ([`cubic`]): the latter are exact on quadratics, have a continuous gradient, and an error of
//! O(h³) (keys1981).

use glam::DVec3;

use crate::tiles::{CELLS, CellIndex, Field, OptionalSlot, SIDE, Tiles, local_cell};

/// Position in a cell of the samples of a centered field.
pub const CENTER: DVec3 = DVec3::splat(0.5);

/// Position in a cell of the samples of the velocity components: the centers of its low faces.
pub const FACES: [DVec3; 3] = [DVec3::new(0.0, 0.5, 0.5), DVec3::new(0.5, 0.0, 0.5), DVec3::new(0.5, 0.5, 0.0)];

/// Active tiles, cell size and origin.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The active tiles.
    pub tiles: Tiles,
    /// Side of a cell, in m.
    pub h: f64,
    /// Position of the lattice corner (0, 0, 0), in m.
    pub origin: DVec3,
}

impl Grid {
    /// Position of tile coordinates `at`, in m.
    pub fn position(&self, slot: usize, at: DVec3) -> DVec3 {
        let tile = self.tiles.coords()[slot].map(|c| f64::from(c) * 8.0);
        self.origin + self.h * (DVec3::from(tile) + at)
    }

    /// Center of a cell, in m.
    pub fn center(&self, index: CellIndex) -> DVec3 {
        self.position(index.slot(), local_center(index.local()))
    }

    /// The slot and tile coordinates of a point of space (in m), if its tile is active.
    pub fn locate(&self, point: DVec3) -> Option<(usize, DVec3)> {
        let cell = self.cell_at(point);
        let index = self.tiles.find(cell)?;
        let beyond = (point - self.origin) / self.h - DVec3::from(cell.map(f64::from));
        let at = DVec3::from(local_cell(index.local()).map(|c| c as f64)) + beyond;
        Some((index.slot(), if self.tiles.topology().planar { at.with_z(0.5) } else { at }))
    }

    /// The lattice cell that contains a position (in m).
    pub fn cell_at(&self, point: DVec3) -> [i32; 3] {
        ((point - self.origin) / self.h).to_array().map(|c| c.floor() as i32)
    }
}

/// Center of a cell in its tile's coordinates.
#[inline]
pub fn local_center(local: usize) -> DVec3 {
    let [i, j, k] = local_cell(local);
    DVec3::new(i as f64, j as f64, k as f64) + 0.5
}

/// Coordinates between which the four samples around a point lie in the 27 tiles around its own.
///
/// Cells deep in a solid at the side of a tile sample φ up to nine cells away.
const FARTHEST: [f64; 2] = [-7.0, 13.999];

/// The sample below `at` along each axis, and the offset from it.
#[inline]
fn base(at: DVec3, stagger: DVec3) -> ([i32; 3], DVec3) {
    let shifted = clamp_components(at - stagger, FARTHEST[0], FARTHEST[1]);
    let low = shifted.to_array().map(fast_floor);
    (low, shifted - DVec3::from(low.map(f64::from)))
}

/// Clamps the components of a position; NaN becomes the lower bound.
#[inline]
pub fn clamp_components(at: DVec3, low: f64, high: f64) -> DVec3 {
    DVec3::from(at.to_array().map(|c| {
        let above = if c > low { c } else { low };
        if above < high { above } else { high }
    }))
}

/// Floor of a coordinate between −32 and 31.
///
/// `f64::floor` is a library call on the baseline x86-64, and a conversion must handle numbers of
/// any size.
#[inline]
pub fn fast_floor(coordinate: f64) -> i32 {
    // From 64 to 128 the six highest bits of the mantissa are the integer part.
    const SHIFT: i32 = 96;
    (((coordinate + f64::from(SHIFT)).to_bits() >> 46) & 63) as i32 + 64 - SHIFT
}

/// The tile (0 before, 1 itself, 2 after) and the cell in it of a coordinate counted from a tile's
/// low corner.
#[inline]
fn place(coordinate: i32) -> (usize, usize) {
    (((coordinate >> 3) + 1) as usize, (coordinate & 7) as usize)
}

/// The 2 × 2 × 2 samples from `low` on, x fastest.
#[inline]
fn fetch_8(tiles: &Tiles, field: &Field<f64>, slot: usize, low: [i32; 3]) -> [f64; 8] {
    const UP: usize = SIDE * SIDE;
    let table = tiles.neighbors(slot);
    let [(a, i), (b, j), (c, k)] = low.map(place);
    let planar = tiles.topology().planar;
    if !planar && i < SIDE - 1 && j < SIDE - 1 && k < SIDE - 1 {
        let Some(tile) = table[a + 3 * b + 9 * c].get() else { return [field.fill(); 8] };
        let v = &field.tile(tile)[(k * SIDE + j) * SIDE + i..][..UP + SIDE + 2];
        return [v[0], v[1], v[SIDE], v[SIDE + 1], v[UP], v[UP + 1], v[UP + SIDE], v[UP + SIDE + 1]];
    }
    let [x, y, mut z] = low.map(|c| [place(c), place(c + 1)]);
    if planar {
        z = [(1, 0); 2];
    }
    let mut out = [0.0; 8];
    for (layer, (c, k)) in z.into_iter().enumerate() {
        for (row, (b, j)) in y.into_iter().enumerate() {
            for (column, (a, i)) in x.into_iter().enumerate() {
                let tile = table[a + 3 * b + 9 * c].get();
                let value = |tile: usize| field.values()[tile * CELLS + (k * SIDE + j) * SIDE + i];
                out[4 * layer + 2 * row + column] = tile.map_or(field.fill(), value);
            }
        }
    }
    out
}

/// The 4 × 4 × 4 samples from `low` on, x fastest.
#[inline]
fn fetch(tiles: &Tiles, field: &Field<f64>, slot: usize, low: [i32; 3]) -> [f64; 64] {
    const SPAN: usize = 3 * (SIDE * SIDE + SIDE) + 4;
    let [(a, i), (b, j), (c, k)] = low.map(place);
    let mut out = [0.0; 64];
    if !tiles.topology().planar && i < SIDE - 3 && j < SIDE - 3 && k < SIDE - 3 {
        let Some(tile) = tiles.neighbors(slot)[a + 3 * b + 9 * c].get() else { return [field.fill(); 64] };
        let v = &field.tile(tile)[(k * SIDE + j) * SIDE + i..][..SPAN];
        for layer in 0..4 {
            for row in 0..4 {
                out[16 * layer + 4 * row..][..4].copy_from_slice(&v[(layer * SIDE + row) * SIDE..][..4]);
            }
        }
        return out;
    }
    // Number of a row's samples in its first tile.
    match SIDE - i {
        1 => fetch_rows::<1>(tiles, field, slot, low, &mut out),
        2 => fetch_rows::<2>(tiles, field, slot, low, &mut out),
        3 => fetch_rows::<3>(tiles, field, slot, low, &mut out),
        _ => fetch_rows::<4>(tiles, field, slot, low, &mut out),
    }
    out
}

/// The same where rows leave their first tile after `FIRST` samples.
#[inline]
fn fetch_rows<const FIRST: usize>(tiles: &Tiles, field: &Field<f64>, slot: usize, low: [i32; 3], out: &mut [f64; 64]) {
    let table = tiles.neighbors(slot);
    let planar = tiles.topology().planar;
    let (a, i) = place(low[0]);
    let part = |tile: OptionalSlot, start: usize, out: &mut [f64]| match tile.get() {
        None => out.fill(field.fill()),
        Some(tile) => {
            let start = tile * CELLS + start;
            out.copy_from_slice(&field.values()[start..start + out.len()]);
        }
    };
    for (dk, layer) in out.chunks_exact_mut(16).enumerate() {
        let (c, k) = if planar { (1, 0) } else { place(low[2] + dk as i32) };
        for (dj, row) in layer.chunks_exact_mut(4).enumerate() {
            let (b, j) = place(low[1] + dj as i32);
            let (tile, start) = (a + 3 * b + 9 * c, (k * SIDE + j) * SIDE);
            part(table[tile], start + i, &mut row[..FIRST]);
            if FIRST < 4 {
                part(table[tile + 1], start, &mut row[FIRST..]);
            }
        }
    }
}

/// The field at `at`, trilinear; `stagger` is the position of its samples in a cell.
#[inline]
pub fn linear(tiles: &Tiles, field: &Field<f64>, slot: usize, at: DVec3, stagger: DVec3) -> f64 {
    let (low, f) = base(at, stagger);
    let v = fetch_8(tiles, field, slot, low);
    let mix = |a: f64, b: f64, t: f64| a + (b - a) * t;
    let layer = |o: usize| mix(mix(v[o], v[o + 1], f.x), mix(v[o + 2], v[o + 3], f.x), f.y);
    mix(layer(0), layer(4), f.z)
}

/// Weights of four samples for the value at `t` between the second and the third.
#[inline]
pub fn cubic_weights(t: f64) -> [f64; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [t2 - 0.5 * (t + t3), 1.0 - 2.5 * t2 + 1.5 * t3, 0.5 * t + 2.0 * t2 - 1.5 * t3, 0.5 * (t3 - t2)]
}

/// Weights for the derivative at `t`.
#[inline]
fn slope_weights(t: f64) -> [f64; 4] {
    let t2 = t * t;
    [2.0 * t - 0.5 - 1.5 * t2, 4.5 * t2 - 5.0 * t, 0.5 + 4.0 * t - 4.5 * t2, 1.5 * t2 - t]
}

#[inline]
fn dot4(w: &[f64; 4], v: &[f64]) -> f64 {
    w[0] * v[0] + w[1] * v[1] + w[2] * v[2] + w[3] * v[3]
}

/// The field at `at`, by cubic convolution.
#[inline]
pub fn cubic(tiles: &Tiles, field: &Field<f64>, slot: usize, at: DVec3, stagger: DVec3) -> f64 {
    let (low, f) = base(at, stagger);
    // Above a wall aligned with the grid, sampling along the normal passes through centers only.
    match f.to_array().map(|f| f == 0.0) {
        [true, _, true] => return cubic_along(tiles, field, slot, low, 1, f.y),
        [true, true, _] => return cubic_along(tiles, field, slot, low, 2, f.z),
        [_, true, true] => return cubic_along(tiles, field, slot, low, 0, f.x),
        _ => {}
    }
    let v = fetch(tiles, field, slot, low.map(|c| c - 1));
    let (wx, wy, wz) = (cubic_weights(f.x), cubic_weights(f.y), cubic_weights(f.z));
    let mut sum = 0.0;
    for k in 0..4 {
        let mut layer = 0.0;
        for j in 0..4 {
            layer += wy[j] * dot4(&wx, &v[(k * 4 + j) * 4..][..4]);
        }
        sum += wz[k] * layer;
    }
    sum
}

/// The field at `t` beyond the sample `low` along an axis.
#[inline]
fn cubic_along(tiles: &Tiles, field: &Field<f64>, slot: usize, low: [i32; 3], axis: usize, t: f64) -> f64 {
    let mut samples = [0.0; 4];
    for (sample, step) in samples.iter_mut().zip(-1..) {
        let mut cell = low;
        cell[axis] += step;
        *sample = field.get(tiles.at(slot, cell));
    }
    dot4(&cubic_weights(t), &samples)
}

/// The field and its gradient at `at`, by cubic convolution.
#[inline]
pub fn cubic_gradient(tiles: &Tiles, field: &Field<f64>, slot: usize, at: DVec3, stagger: DVec3) -> (f64, DVec3) {
    let (low, f) = base(at, stagger);
    let v = fetch(tiles, field, slot, low.map(|c| c - 1));
    let (wx, wy, wz) = (cubic_weights(f.x), cubic_weights(f.y), cubic_weights(f.z));
    let (dx, dy, dz) = (slope_weights(f.x), slope_weights(f.y), slope_weights(f.z));
    let (mut value, mut gradient) = (0.0, DVec3::ZERO);
    for k in 0..4 {
        let (mut plain, mut along_x, mut along_y) = (0.0, 0.0, 0.0);
        for j in 0..4 {
            let row = &v[(k * 4 + j) * 4..][..4];
            let across = dot4(&wx, row);
            plain += wy[j] * across;
            along_x += wy[j] * dot4(&dx, row);
            along_y += dy[j] * across;
        }
        value += wz[k] * plain;
        gradient += DVec3::new(wz[k] * along_x, wz[k] * along_y, dz[k] * plain);
    }
    (value, gradient)
}

/// Gradient of a centered field at a cell by central differences, one-sided where the grid ends.
#[inline]
pub fn gradient(tiles: &Tiles, field: &Field<f64>, index: CellIndex) -> DVec3 {
    let values = field.values();
    let mut out = DVec3::ZERO;
    for axis in 0..tiles.dims() {
        let (low, high) = (tiles.next(index, axis, -1), tiles.next(index, axis, 1));
        out[axis] = match (low, high) {
            (Some(a), Some(b)) => 0.5 * (values[b] - values[a]),
            (Some(a), None) => values[index] - values[a],
            (None, Some(b)) => values[b] - values[index],
            (None, None) => 0.0,
        };
    }
    out
}

/// Laplacian of a centered field at a cell; axes along which the grid ends do not count.
#[inline]
pub fn laplacian(tiles: &Tiles, field: &Field<f64>, index: CellIndex) -> f64 {
    let values = field.values();
    let mut out = 0.0;
    for axis in 0..tiles.dims() {
        if let (Some(a), Some(b)) = (tiles.next(index, axis, -1), tiles.next(index, axis, 1)) {
            out += values[a] + values[b] - 2.0 * values[index];
        }
    }
    out
}

/// Gradient of a centered field at any position: central differences, trilinear between cells.
#[inline]
pub fn smooth_gradient(tiles: &Tiles, field: &Field<f64>, slot: usize, at: DVec3) -> DVec3 {
    let sample = |d: DVec3| linear(tiles, field, slot, at + d, CENTER);
    let along = |axis: DVec3| 0.5 * (sample(axis) - sample(-axis));
    let z = if tiles.topology().planar { 0.0 } else { along(DVec3::Z) };
    DVec3::new(along(DVec3::X), along(DVec3::Y), z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiles::Topology;

    /// Interpolation is exact on polynomials of its degree, across tiles.
    #[test]
    fn interpolation_reproduces_polynomials_and_their_gradients() {
        let mut tiles = Tiles::new(Topology::default());
        let mut wanted: Vec<[i32; 3]> = (0..27).map(|p| [p % 3 - 1, p / 3 % 3 - 1, p / 9 - 1]).collect();
        tiles.activate(&mut wanted);
        let grid = Grid { tiles, h: 1.0, origin: DVec3::ZERO };
        let quadratic = |p: DVec3| 1.0 + p.x - 2.0 * p.y * p.z + 0.5 * p.x * p.x - p.z * p.z;
        let slope = |p: DVec3| DVec3::new(1.0 + p.x, -2.0 * p.z, -2.0 * p.y - 2.0 * p.z);
        let plane = |p: DVec3| 0.3 + p.x - 2.0 * p.y + 0.5 * p.z;
        let (mut curved, mut flat) = (Field::new(0.0), Field::new(0.0));
        curved.resize(&grid.tiles);
        flat.resize(&grid.tiles);
        for index in grid.tiles.indices() {
            curved.values_mut()[index] = quadratic(grid.center(index));
            flat.values_mut()[index] = plane(grid.center(index));
        }
        let slot = grid.tiles.slot([0, 0, 0]).unwrap();
        for n in 0..50 {
            let n = f64::from(n);
            let at = DVec3::new((n * 0.37) % 12.0 - 2.0, (n * 1.71) % 12.0 - 2.0, (n * 2.93) % 12.0 - 2.0);
            let (value, gradient) = cubic_gradient(&grid.tiles, &curved, slot, at, CENTER);
            assert!((value - quadratic(at)).abs() < 1e-11, "{value} at {at}, not {}", quadratic(at));
            assert!((gradient - slope(at)).length() < 1e-11, "{gradient} at {at}, not {}", slope(at));
            assert!((cubic(&grid.tiles, &curved, slot, at, CENTER) - value).abs() < 1e-11);
            assert!((linear(&grid.tiles, &flat, slot, at, CENTER) - plane(at)).abs() < 1e-11);
        }
    }
}

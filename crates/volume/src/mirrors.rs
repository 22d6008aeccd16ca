//! Symmetry planes: what lies beyond one is the image of what lies before it.
//!
//! ```text
//! φ(x') = φ(x),      u(x') = u(x) − 2 (u·n) n,      s(x') = s(x)        x' the image of x
//! ```
//!
//! The faces in the plane are closed, so that nothing crosses it and no cell beyond it is an
//! unknown. All that reads around a cell (curvature, advection, redistancing, the contact angle)
//! then finds what it would find in the whole: a half of a drop moves as the whole does. (A mirror
//! that were a wall of 90° instead would disturb the line where it meets a solid, since in a corner
//! the nearer wall decides.)
//!
//! The low side of a domain lies in faces of the grid, where images are exact. At a high side that
//! does not, images are interpolated, and cells are cut by the plane.

use glam::DVec3;
use rayon::prelude::*;

use crate::grid::{CENTER, FACES, cubic, linear};
use crate::line_state::LineState;
use crate::solids::{DomainSide, SOLID_BAND};
use crate::tiles::{CellIndex, Field, SIDE, Tiles, tile_of};

/// Distances from a mirror below this count as zero, in cells.
const ROUNDING: f64 = 1e-6;

/// A symmetry plane normal to an axis of the grid; lengths in cells from the lattice's origin.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mirror {
    axis: usize,
    position: f64,
    /// Sign of the axis into the domain.
    inward: f64,
}

/// The symmetry planes of the domain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mirrors(Vec<Mirror>);

/// Values found for cells in and beyond mirrors, by tile.
type Found<T> = Vec<Vec<(CellIndex, T)>>;

/// Memory of the reflections, kept from step to step.
#[derive(Debug, Default)]
pub struct MirrorScratch {
    numbers: Found<f64>,
    lines: Found<LineState>,
    flags: Found<Option<u8>>,
    /// Own flags of the faces that have those of the whole, by component.
    hidden: [Vec<(CellIndex, u8)>; 3],
}

/// The image of a point beyond a mirror.
struct Image {
    at: DVec3,
    /// Distance of the point beyond the mirror, in cells.
    depth: f64,
    /// Sign of each velocity component there; zero for that normal to a mirror in which the point
    /// lies.
    signs: DVec3,
}

impl Mirrors {
    /// Those of the domain's sides, on a grid with its origin at `origin` and cells of side `h`
    /// (in m).
    pub fn new(sides: &[DomainSide], origin: DVec3, h: f64) -> Self {
        let mirrors = sides.iter().filter(|side| side.symmetry).map(|side| {
            let axis = (0..3).find(|&axis| side.normal[axis] != 0.0).unwrap_or(0);
            let inward = side.normal[axis];
            let position = (side.offset * inward - origin[axis]) / h;
            let nearest = position.round();
            let position = if (position - nearest).abs() < ROUNDING { nearest } else { position };
            Mirror { axis, position, inward }
        });
        Self(mirrors.collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The image of a lattice point that lies in or beyond a mirror; none before all of them.
    fn image(&self, point: DVec3) -> Option<Image> {
        let mut image = Image { at: point, depth: 0.0, signs: DVec3::ONE };
        let mut is_beyond = false;
        for mirror in &self.0 {
            let distance = mirror.inward * (image.at[mirror.axis] - mirror.position);
            if distance < ROUNDING {
                is_beyond = true;
                image.depth = image.depth.max(-distance);
                image.at[mirror.axis] = 2.0 * mirror.position - image.at[mirror.axis];
                image.signs[mirror.axis] = if distance > -ROUNDING { 0.0 } else { -1.0 };
            }
        }
        is_beyond.then_some(image)
    }

    /// Part of a cell that lies before all mirrors.
    pub fn share(&self, tiles: &Tiles, index: CellIndex) -> f64 {
        let center = center(tiles, index);
        let share = |mirror: &Mirror| (0.5 + mirror.inward * (center[mirror.axis] - mirror.position)).clamp(0.0, 1.0);
        self.0.iter().map(share).product()
    }

    /// Distance of the face `index` of component `axis` from the mirror that its neighbor `next`
    /// lies in or beyond, and the axis of that mirror.
    pub fn between(&self, tiles: &Tiles, axis: usize, index: CellIndex, next: CellIndex) -> Option<(f64, usize)> {
        let [here, there] = [index, next].map(|index| center(tiles, index) - 0.5 * DVec3::AXES[axis]);
        self.0.iter().find_map(|mirror| {
            let distance = |at: DVec3| mirror.inward * (at[mirror.axis] - mirror.position);
            (distance(there) < ROUNDING).then(|| (distance(here), mirror.axis))
        })
    }

    /// Whether a cell's center lies beyond a mirror.
    pub fn hide(&self, tiles: &Tiles, index: CellIndex) -> bool {
        self.image(center(tiles, index)).is_some()
    }

    /// Writes φ beyond the mirrors.
    pub fn reflect_phi(&self, tiles: &Tiles, phi: &mut Field<f64>, scratch: &mut MirrorScratch) {
        let before = &*phi;
        let found = self.images(tiles, CENTER, &mut scratch.numbers, |image| {
            sample(tiles, image.at, CENTER, before, |slot, at| cubic(tiles, before, slot, at, CENTER))
        });
        write(found, phi);
    }

    /// Writes what the contact line may do beyond the mirrors.
    pub fn reflect_line(&self, tiles: &Tiles, line: &mut Field<LineState>, scratch: &mut MirrorScratch) {
        let before = &*line;
        let found = self.images(tiles, CENTER, &mut scratch.lines, |image| before.get(tiles.find(cell_of(image.at))));
        write(found, line);
    }

    /// Writes the velocity in and beyond the mirrors.
    pub fn reflect_velocity(&self, tiles: &Tiles, velocity: &mut [Field<f64>; 3], scratch: &mut MirrorScratch) {
        for (axis, component) in velocity.iter_mut().enumerate().take(tiles.dims()) {
            let before = &*component;
            let found = self.images(tiles, FACES[axis], &mut scratch.numbers, |image| {
                if image.signs[axis] == 0.0 {
                    return 0.0;
                }
                let value = sample(tiles, image.at, FACES[axis], before, |slot, at| {
                    linear(tiles, before, slot, at, FACES[axis])
                });
                image.signs[axis] * value
            });
            write(found, component);
        }
    }

    /// Gives the faces of component `axis` in and beyond the mirrors the flags of the whole: those
    /// of their images, and in a mirror `own`. [`MirrorScratch::restore_flags`] undoes it.
    pub fn reflect_flags(
        &self,
        tiles: &Tiles,
        axis: usize,
        own: impl Fn(CellIndex) -> u8 + Sync,
        flags: &mut Field<u8>,
        scratch: &mut MirrorScratch,
    ) {
        let MirrorScratch { flags: found, hidden, .. } = scratch;
        let before = &*flags;
        // Any place in the cell of which the face is the low one.
        let within = 0.5 * (0.5 - FACES[axis]);
        let found = self.images(tiles, FACES[axis], found, |image| {
            (image.signs[axis] != 0.0).then(|| before.get(tiles.find(cell_of(image.at + within))))
        });
        hidden[axis].clear();
        for &(face, flag) in found.iter().flatten() {
            hidden[axis].push((face, flags.values()[face]));
            flags.values_mut()[face] = flag.unwrap_or_else(|| own(face));
        }
    }

    /// The values at samples beyond the mirrors, down to the depth that stencils reach; samples lie
    /// at `stagger` in their cells.
    fn images<'a, T: Send>(
        &self,
        tiles: &Tiles,
        stagger: DVec3,
        lists: &'a mut Found<T>,
        value: impl Fn(&Image) -> T + Sync,
    ) -> &'a [Vec<(CellIndex, T)>] {
        if self.is_empty() {
            return &[];
        }
        let stagger = if tiles.topology().planar { stagger.with_z(0.5) } else { stagger };
        lists.resize_with(tiles.len().max(lists.len()), Vec::new);
        let lists = &mut lists[..tiles.len()];
        lists.par_iter_mut().enumerate().for_each(|(slot, list)| {
            list.clear();
            let low = DVec3::from(tiles.coords()[slot].map(|c| f64::from(c * SIDE as i32)));
            let reaches_beyond = self.0.iter().any(|mirror| {
                let far = if mirror.inward > 0.0 { low } else { low + SIDE as f64 };
                mirror.inward * (far[mirror.axis] - mirror.position) < 0.5
            });
            if !reaches_beyond {
                return;
            }
            for local in 0..tiles.cells_in_use() {
                let index = CellIndex::new(slot, local);
                if let Some(image) = self.image(center(tiles, index) + stagger - 0.5).filter(|i| i.depth < SOLID_BAND) {
                    list.push((index, value(&image)));
                }
            }
        });
        lists
    }
}

impl MirrorScratch {
    /// Gives the faces of component `axis` their own flags again.
    pub fn restore_flags(&self, axis: usize, flags: &mut Field<u8>) {
        self.hidden[axis].iter().for_each(|&(face, flag)| flags.values_mut()[face] = flag);
    }
}

/// Writes the values that were found.
fn write<T: Copy + Send + Sync>(found: &[Vec<(CellIndex, T)>], field: &mut Field<T>) {
    found.iter().flatten().for_each(|&(index, value)| field.values_mut()[index] = value);
}

/// Center of a cell, in cells.
fn center(tiles: &Tiles, index: CellIndex) -> DVec3 {
    DVec3::from(tiles.cell(index).map(f64::from)) + 0.5
}

/// The lattice cell that contains a point.
fn cell_of(at: DVec3) -> [i32; 3] {
    at.floor().to_array().map(|c| c as i32)
}

/// A field at a lattice point: the sample there if there is one, `interpolated` otherwise, by slot
/// and tile coordinates.
fn sample(
    tiles: &Tiles,
    at: DVec3,
    stagger: DVec3,
    field: &Field<f64>,
    interpolated: impl Fn(usize, DVec3) -> f64,
) -> f64 {
    let stagger = if tiles.topology().planar { stagger.with_z(0.5) } else { stagger };
    let offset = at - stagger;
    let nearest = offset.round();
    if (offset - nearest).abs().max_element() < ROUNDING {
        return field.get(tiles.find(cell_of(nearest)));
    }
    let (tile, _) = tile_of(cell_of(at));
    let low = DVec3::from(tile.map(|c| f64::from(c * SIDE as i32)));
    tiles.slot(tile).map_or(field.fill(), |slot| interpolated(slot, at - low))
}

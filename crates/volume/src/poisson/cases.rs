//! Systems with known solutions, for tests and benches.

use super::{OptionalUnknown, System};

/// Edge of a tile, in cells.
const TILE: i32 = 8;

/// Pressure systems of drops: Neumann on solids by cut faces, Dirichlet 0 on the interface by the
/// ghost-fluid distance.
///
/// `phi` and `solid` are signed distances in cells at points in cells; cell (i, j, k) has its
/// center at that point. The source is 1 per unit of volume, so the right-hand side is the open
/// fraction of the cell. Unknowns are listed tile by tile.
pub fn drops(half_extent: i32, phi: impl Fn([f64; 3]) -> f64, solid: impl Fn([f64; 3]) -> f64) -> System {
    let tiles = (half_extent + TILE - 1) / TILE;
    let side = (2 * tiles * TILE) as usize;
    let place = |cell: [i32; 3]| {
        let [x, y, z] = cell.map(|c| c + tiles * TILE);
        let inside = [x, y, z].iter().all(|&c| c >= 0 && (c as usize) < side);
        inside.then(|| (z as usize * side + y as usize) * side + x as usize)
    };
    let at = |cell: [i32; 3], shift: [f64; 3]| std::array::from_fn(|k| f64::from(cell[k]) + shift[k]);
    let mut index = vec![OptionalUnknown::NONE; side * side * side];
    let mut system = System::default();
    let range = -tiles..tiles;
    for (tz, ty, tx) in
        range.clone().flat_map(|z| range.clone().flat_map(move |y| (-tiles..tiles).map(move |x| (z, y, x))))
    {
        for within in 0..TILE * TILE * TILE {
            let cell =
                [tx * TILE + within % TILE, ty * TILE + within / TILE % TILE, tz * TILE + within / (TILE * TILE)];
            let open = share(&solid, at(cell, [0.0; 3]));
            if phi(at(cell, [0.0; 3])) < 0.0 && open > 0.0 {
                index[place(cell).expect("cells of the tiles have a place")] = OptionalUnknown::new(system.len());
                system.push(cell, [OptionalUnknown::NONE; 6], [0.0; 3], 0.0, open);
            }
        }
    }
    for i in 0..system.len() {
        let cell = system.cells[i];
        let own = phi(at(cell, [0.0; 3]));
        for face in 0..6_usize {
            let axis = face / 2;
            let step = if face.is_multiple_of(2) { -1 } else { 1 };
            let mut other = cell;
            other[axis] += step;
            let mut middle = [0.0; 3];
            middle[axis] = 0.5 * f64::from(step);
            let open = face_share(&solid, at(cell, middle), axis);
            if open == 0.0 {
                continue;
            }
            match place(other).map(|place| index[place]).filter(|unknown| unknown.is_some()) {
                // A cell in the solid that is not liquid has no open face; the rest is air.
                None => {
                    let there = phi(at(other, [0.0; 3]));
                    if there >= 0.0 {
                        let theta = (own / (own - there)).max(1e-3);
                        system.dirichlet[i] += open / theta;
                    }
                }
                Some(neighbor) => {
                    system.neighbors[i][face] = neighbor;
                    if step > 0 {
                        system.faces[i][axis] = open;
                    }
                }
            }
        }
    }
    system
}

/// Open fraction of the cell around a point, by sampling; accurate enough for planes.
fn share(solid: &impl Fn([f64; 3]) -> f64, at: [f64; 3]) -> f64 {
    const N: usize = 4;
    let mut open = 0;
    for k in 0..N * N * N {
        let offset = [k % N, k / N % N, k / (N * N)].map(|i| (i as f64 + 0.5) / N as f64 - 0.5);
        open += usize::from(solid(std::array::from_fn(|a| at[a] + offset[a])) > 0.0);
    }
    open as f64 / (N * N * N) as f64
}

/// Open fraction of the face with this center, across `axis`.
fn face_share(solid: &impl Fn([f64; 3]) -> f64, at: [f64; 3], axis: usize) -> f64 {
    const N: usize = 32;
    let distance = solid(at);
    if distance.abs() > 0.8 {
        return f64::from(u8::from(distance > 0.0));
    }
    let mut open = 0;
    for k in 0..N * N {
        let offset = [k % N, k / N].map(|i| (i as f64 + 0.5) / N as f64 - 0.5);
        let mut point = at;
        point[(axis + 1) % 3] += offset[0];
        point[(axis + 2) % 3] += offset[1];
        open += usize::from(solid(point) > 0.0);
    }
    open as f64 / (N * N) as f64
}

/// A ball of this radius in cells, slightly off the grid, in free flight.
pub fn ball(radius: f64) -> System {
    drops(radius.ceil() as i32 + 2, |p| length(p, CENTER) - radius, |_| 1e3)
}

/// The half of that ball above a plane through its center, tilted against the grid.
pub fn half_ball(radius: f64) -> System {
    drops(
        radius.ceil() as i32 + 2,
        |p| length(p, CENTER) - radius,
        |p| (0..3).map(|k| (p[k] - CENTER[k]) * NORMAL[k]).sum(),
    )
}

/// The exact solution in both: (R² − r²)/6.
pub fn exact(system: &System, radius: f64) -> Vec<f64> {
    let center_distance = |cell: &[i32; 3]| length(cell.map(f64::from), CENTER);
    system.cells.iter().map(|cell| (radius * radius - center_distance(cell).powi(2)) / 6.0).collect()
}

const CENTER: [f64; 3] = [0.31, -0.17, 0.23];
/// (2, 6, 3)/7.
const NORMAL: [f64; 3] = [2.0 / 7.0, 6.0 / 7.0, 3.0 / 7.0];

fn length(p: [f64; 3], center: [f64; 3]) -> f64 {
    (0..3).map(|k| (p[k] - center[k]).powi(2)).sum::<f64>().sqrt()
}

//! Time to extract the surface of a hemisphere on a tilted plane, by the drop's radius in cells.
//!
//! `cargo bench -p sessile-volume --bench extract_surface`

use std::time::Instant;

use glam::{DVec2, DVec3};
use sessile_geometry::Closest;
use sessile_volume::bench_internals::{CELLS, CellIndex, Tiles, Topology};
use sessile_volume::bench_internals::{ExtractionFields, GridPlacement, NearestWall, extract_surface};

/// Each measurement is the best of this many, since other processes may use the processor, too.
const ROUNDS: usize = 5;
const NORMAL: DVec3 = DVec3::new(0.36, 0.8, 0.48);

struct Hemisphere {
    radius: f64,
    centers: Vec<DVec3>,
}

impl ExtractionFields for Hemisphere {
    fn phi(&self, cell: CellIndex) -> f64 {
        self.phi_at(self.centers[cell]).0
    }
    fn solid(&self, cell: CellIndex) -> f64 {
        self.centers[cell].dot(NORMAL)
    }
    fn label(&self, _cell: CellIndex) -> u32 {
        1
    }
    fn volume(&self, _drop: u32) -> Option<f64> {
        Some(2.0 / 3.0 * std::f64::consts::PI * self.radius.powi(3))
    }
    fn phi_at(&self, point: DVec3) -> (f64, DVec3) {
        (point.length() - self.radius, point.normalize_or_zero())
    }
    fn wall_at(&self, point: DVec3) -> Option<NearestWall> {
        let distance = point.dot(NORMAL);
        let closest = Closest { point: point - distance * NORMAL, normal: NORMAL, distance, uv: DVec2::ZERO };
        Some(NearestWall { surface: 0, solid: 0, closest })
    }
    fn velocity_at(&self, _point: DVec3) -> DVec3 {
        DVec3::ZERO
    }
}

fn main() {
    println!("{:>7} {:>9} {:>9} {:>8} {:>13}", "radius", "cells", "triangles", "ms", "µs/triangle");
    for radius in [10.0, 20.0, 40.0, 80.0] {
        let half_width = (radius / 8.0_f64).ceil() as i32 + 1;
        let mut wanted: Vec<[i32; 3]> = (-half_width..half_width)
            .flat_map(|z| {
                (-half_width..half_width).flat_map(move |y| (-half_width..half_width).map(move |x| [x, y, z]))
            })
            .collect();
        let mut tiles = Tiles::new(Topology::default());
        tiles.activate(&mut wanted);
        let centers = tiles.indices().map(|c| DVec3::from(tiles.cell(c).map(f64::from)) + 0.5).collect();
        let drop = Hemisphere { radius, centers };
        let mut best = (f64::INFINITY, 0);
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let found =
                extract_surface(&tiles, GridPlacement { origin: DVec3::ZERO, h: 1.0 }, &drop).expect("a small block");
            best = (best.0.min(start.elapsed().as_secs_f64()), found.surface.triangles.len());
        }
        let (seconds, triangles) = best;
        let each = 1e6 * seconds / triangles as f64;
        println!("{radius:>7} {:>9} {triangles:>9} {:>8.2} {each:>13.3}", tiles.len() * CELLS, 1e3 * seconds);
    }
}

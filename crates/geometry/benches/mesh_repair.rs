//! How the time of a repair grows with the mesh: spheres of loose triangles, each four times as large as the one before.
//!
//! One walk over the mesh for each step, and a sort or two: the time for each triangle must stay nearly the same.
//!
//! `cargo bench -p sessile-geometry --bench mesh_repair`

#[path = "../tests/shapes/mod.rs"]
mod shapes;

use std::hint::black_box;
use std::time::Instant;

use sessile_geometry::repair::{MeshDefect, repair};

use shapes::{loose, sphere};

/// Each measurement is the best of this many, since others may want the processor too.
const ROUNDS: usize = 5;

fn main() -> Result<(), MeshDefect> {
    for rings in [60, 120, 240, 480] {
        let mesh = loose(&sphere(rings, 0.1));
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let spoiled = mesh.clone();
            let start = Instant::now();
            black_box(repair(spoiled)?);
            best = best.min(start.elapsed().as_secs_f64());
        }
        let num = mesh.triangles.len();
        println!("{num} triangles: {:.1} ms, {:.0} ns each", 1e3 * best, 1e9 * best / num as f64);
    }
    Ok(())
}

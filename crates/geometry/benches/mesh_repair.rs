//! Growth of the repair time with the size of the mesh: spheres of unconnected triangles, each with
//! four times as many as the one before. The time per triangle must stay nearly constant.
//!
//! `cargo bench -p sessile-geometry --bench mesh_repair`

#[path = "../tests/shapes/mod.rs"]
mod shapes;

use std::hint::black_box;
use std::time::Instant;

use sessile_geometry::repair::{MeshDefect, repair};

use shapes::{loose, sphere};

/// Repetitions; the best is reported, since other processes may use the processor.
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

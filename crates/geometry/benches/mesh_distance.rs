//! Signed-distance queries per second on the bunny, for points in its bounding box and near its
//! surface.
//!
//! `cargo bench -p sessile-geometry`

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use glam::DVec3;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use sessile_geometry::files::read_mesh;
use sessile_geometry::mesh_distance::MeshDistance;
use sessile_geometry::{Distance, TriMesh};

const QUERIES: usize = 100_000;

/// Repetitions; the best is reported, since other processes may use the processor.
const ROUNDS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mesh = read_mesh(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/bunny.obj"))?;
    let start = Instant::now();
    let bunny = MeshDistance::new(mesh);
    println!(
        "bunny, {} triangles, prepared in {:.1} ms",
        bunny.mesh().triangles.len(),
        1e3 * start.elapsed().as_secs_f64()
    );
    let bounds = bunny.bounds();
    let spread: Vec<DVec3> =
        (0..QUERIES).map(|i| bounds.center() + 1.2 * bounds.extent() * (lattice(i) - DVec3::splat(0.5))).collect();
    let near: Vec<DVec3> = (0..QUERIES).map(|i| near_surface(bunny.mesh(), i)).collect();
    for threads in [1, 2] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        for (name, points) in [("box grown by 20 %", &spread), ("within 1 mm of the surface", &near)] {
            let distance = |p: &DVec3| bunny.signed_distance(*p);
            let rate = best_rate(|| pool.install(|| points.par_iter().map(distance).filter(|&d| d < 0.0).count()));
            println!("{threads} thread(s), signed distance, {name}: {rate:.2} M/s");
        }
    }
    let bounded = |p: &&DVec3| bunny.signed_distance_bounded(**p, 2e-3).is_some();
    println!(
        "1 thread, signed distance up to 2 mm, box: {:.2} M/s",
        best_rate(|| spread.iter().filter(bounded).count())
    );
    Ok(())
}

/// Best number of queries per microsecond.
fn best_rate(queries: impl Fn() -> usize) -> f64 {
    let rates = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        std::hint::black_box(queries());
        1e-6 * QUERIES as f64 / start.elapsed().as_secs_f64()
    });
    rates.fold(0.0, f64::max)
}

/// Points that fill the unit cube evenly, in no particular order (a Kronecker sequence).
fn lattice(i: usize) -> DVec3 {
    (DVec3::new(0.819_172_513_396_164, 0.671_043_606_703_789, 0.549_700_477_901_970) * i as f64).fract()
}

fn near_surface(mesh: &TriMesh, i: usize) -> DVec3 {
    let [a, b, c] = mesh.corners((i * 7919) % mesh.triangles.len());
    let s = lattice(i);
    let normal = (b - a).cross(c - a).normalize();
    a + (b - a) * (s.x * (1.0 - s.y)) + (c - a) * (s.x * s.y) + normal * (2e-3 * s.z - 1e-3)
}

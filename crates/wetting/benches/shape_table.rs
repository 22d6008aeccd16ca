//! Cost of the table of rest shapes: construction of its two halves, then lookups per second.
//!
//! `cargo bench -p sessile-wetting`

use std::hint::black_box;
use std::time::Instant;

use sessile_wetting::{Liquid, ShapeTable};

const QUERIES: u32 = 1_000_000;

/// Each rate is the best of this many, since others may want the processor too.
const ROUNDS: usize = 10;

/// Its capillary length is 1 m under 1 m/s².
const UNIT: Liquid = Liquid { density: 1.0, viscosity: 1e-6, surface_tension: 1.0, refractive_index: 1.333 };

fn main() {
    let start = Instant::now();
    let table = ShapeTable::shared();
    println!("resting half built in {:.1} ms", 1e3 * start.elapsed().as_secs_f64());
    let start = Instant::now();
    black_box(table.rest_shape(0.01, 1.0, -1.0, &UNIT));
    println!("hanging half built in {:.1} ms", 1e3 * start.elapsed().as_secs_f64());
    for (name, gravity) in [("resting", 1.0), ("hanging", -1.0)] {
        println!("{name}: {:.2} M shapes/s", best_rate(table, gravity));
    }
}

/// Shapes per microsecond, at best.
fn best_rate(table: &ShapeTable, gravity: f64) -> f64 {
    let rates = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        for i in 0..QUERIES {
            let x = f64::from(i) / f64::from(QUERIES);
            black_box(table.rest_shape(0.01 + 0.5 * x, 0.2 + 1.5 * x, gravity, &UNIT));
        }
        1e-6 * f64::from(QUERIES) / start.elapsed().as_secs_f64()
    });
    rates.fold(0.0, f64::max)
}

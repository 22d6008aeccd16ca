//! Iterations and time of the pressure solve against its size, for both preconditioners and one and
//! two threads.
//!
//! `cargo bench -p sessile-volume --bench poisson`

use std::time::Instant;

use rayon::ThreadPoolBuilder;
use sessile_volume::bench_internals::{Method, OptionalUnknown, Options, Solver, System};

// Shared with the tests.
#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../src/poisson/cases.rs"]
mod cases;

/// Each measurement is the best of this many, since other processes may use the processor, too.
const ROUNDS: usize = 3;

fn main() {
    println!("half a ball on a tilted plane, residual 1e-6 of the source; µs per unknown and solve, assembly included");
    println!("{:>9} {:>10} {:>6} {:>9} {:>9} {:>7}", "unknowns", "method", "iter.", "1 thread", "2 threads", "ratio");
    for unknowns in [3e3, 1e4, 2e4, 3e4, 1e5, 3e5, 1e6] {
        let system = cases::half_ball(f64::cbrt(unknowns * 1.5 / std::f64::consts::PI));
        for method in [Method::Mic, Method::Multigrid] {
            if method == Method::Mic && system.len() > 400_000 {
                continue;
            }
            let [(iterations, one), (_, two)] = [1, 2].map(|threads| time(&system, method, threads));
            let per_unknown = 1e6 / system.len() as f64;
            let name = if method == Method::Mic { "MIC(0)" } else { "multigrid" };
            let ratio = one / two;
            println!(
                "{:>9} {name:>10} {iterations:>6} {:>9.3} {:>9.3} {ratio:>7.2}",
                system.len(),
                one * per_unknown,
                two * per_unknown
            );
        }
    }
}

fn time(system: &System, method: Method, threads: usize) -> (usize, f64) {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of two threads");
    let options = Options { method, relative_tolerance: 1e-6, max_iterations: 5000, ..Options::default() };
    let mut solver = Solver::default();
    let mut x = vec![0.0; system.len()];
    let mut best = (0, f64::INFINITY);
    for _ in 0..ROUNDS {
        x.fill(0.0);
        let start = Instant::now();
        let report = pool.install(|| solver.solve(system, &mut x, &options)).expect("the system has a solution");
        best = (report.iterations, best.1.min(start.elapsed().as_secs_f64()));
    }
    best
}

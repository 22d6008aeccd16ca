//! Pressure problems with known solutions, through both preconditioners.

use rayon::ThreadPoolBuilder;

use super::cases::{ball, drops, exact, half_ball};
use super::{Method, OptionalUnknown, Options, PoissonError, SolveReport, Solver, System};

fn solve(system: &System, method: Method) -> (Vec<f64>, SolveReport) {
    let mut x = vec![0.0; system.len()];
    let options = Options { method, relative_tolerance: 1e-9, ..Options::default() };
    let report = Solver::default().solve(system, &mut x, &options).expect("the system has a solution");
    (x, report)
}

fn worst(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// b − A x by its definition.
fn largest_residual(system: &System, x: &[f64]) -> f64 {
    (0..system.len())
        .map(|i| {
            let coupled: f64 = (0..6)
                .filter_map(|face| Some(system.coupling(i, face) * (x[i] - x[system.neighbors[i][face].get()?])))
                .sum();
            (system.rhs[i] - system.dirichlet[i] * x[i] - coupled).abs()
        })
        .fold(0.0, f64::max)
}

/// The linear ghost-fluid distance errs by the parabola's sagitta over a cell, h²/8 of p'' = 1/3 at
/// most, times the fraction at the interface.
#[test]
fn the_pressure_in_a_sphere_is_parabolic() {
    let radius = 12.3;
    let system = ball(radius);
    let expected = exact(&system, radius);
    for method in [Method::Mic, Method::Multigrid] {
        let (x, report) = solve(&system, method);
        let error = worst(&x, &expected) / (radius * radius / 6.0);
        assert!(error < 0.01, "{method:?}: off by {error:.4} of the peak after {} iterations", report.iterations);
        let residual = largest_residual(&system, &x);
        assert!(residual < 2e-9, "{method:?}: residual {residual:e}, said {:e}", report.residual);
    }
}

/// With the plane closed or missing in the wrong places, the profile would be wrong by its own
/// size.
#[test]
fn the_pressure_in_half_a_sphere_on_a_tilted_plane_is_parabolic() {
    let radius = 12.3;
    let system = half_ball(radius);
    let expected = exact(&system, radius);
    for method in [Method::Mic, Method::Multigrid] {
        let (x, _) = solve(&system, method);
        let error = worst(&x, &expected) / (radius * radius / 6.0);
        assert!(error < 0.03, "{method:?}: off by {error:.4} of the peak");
    }
}

#[test]
fn multigrid_iterations_hardly_grow_with_the_system() {
    let small = half_ball(8.0);
    let large = half_ball(32.0);
    let [mic, multigrid] = [Method::Mic, Method::Multigrid].map(|method| {
        let iterations = |system| solve(system, method).1.iterations;
        [iterations(&small), iterations(&large)]
    });
    println!("{} and {} unknowns: MIC {mic:?}, multigrid {multigrid:?}", small.len(), large.len());
    assert!(multigrid[1] <= multigrid[0] + 4 && multigrid[1] < 20, "multigrid took {multigrid:?} iterations");
    assert!(mic[1] as f64 > 1.8 * mic[0] as f64, "MIC took {mic:?}: this test expects it to grow with the radius");
}

/// Forty drops a few cells apart, of many sizes, some cut by a plate.
fn many_drops() -> System {
    let centers: Vec<([f64; 3], f64)> = (0..40)
        .map(|k| {
            let hash = |s: usize| ((k * 7919 + s * 104_729) % 1009) as f64 / 1009.0;
            ([hash(1) * 44.0 - 22.0, hash(2) * 44.0 - 22.0, hash(3) * 44.0 - 22.0], 1.2 + 5.0 * hash(4))
        })
        .collect();
    let phi = |p: [f64; 3]| {
        let one = |(c, r): &([f64; 3], f64)| (0..3).map(|k| (p[k] - c[k]).powi(2)).sum::<f64>().sqrt() - r;
        centers.iter().map(one).fold(f64::INFINITY, f64::min)
    };
    // A plate 1.4 cells thick: less than a block of the second level.
    drops(30, phi, |p| (p[1] - 0.33 + 0.2 * p[0]).abs() / 1.0198 - 0.7)
}

#[test]
fn multigrid_handles_many_drops_and_a_thin_plate() {
    let system = many_drops();
    let (a, mic) = solve(&system, Method::Mic);
    let (b, multigrid) = solve(&system, Method::Multigrid);
    assert!(worst(&a, &b) < 1e-7, "the two differ by {}", worst(&a, &b));
    assert!(multigrid.iterations < 25, "{} unknowns: {multigrid:?}, MIC {mic:?}", system.len());
}

/// A closed box of 10 × 7 × 5 cells whose source is x − mean(x), and a second one with a source
/// that has no solution.
#[test]
fn floating_components_get_the_solution_of_mean_zero() {
    let inside = |p: [f64; 3]| (p[1] - 2.0).abs().max((p[2] - 2.0).abs()).max((p[0] - 4.0).abs()) - 6.5;
    let mut system = drops(12, inside, |_| 1e3);
    let walls = |p: [i32; 3]| p[0] == 1;
    // No Dirichlet value anywhere, and a wall across at x = 1: two floating parts.
    system.dirichlet.fill(0.0);
    for i in 0..system.len() {
        system.rhs[i] = f64::from(system.cells[i][0]);
        if walls(system.cells[i]) {
            system.faces[i][0] = 0.0;
        }
    }
    for method in [Method::Mic, Method::Multigrid] {
        let (x, report) = solve(&system, method);
        assert_eq!(report.floating, 2, "{report:?}");
        // The two parts extend from −2 to 1 and from 2 to 10; their means are −0.5 and 6.
        assert!((report.removed - 6.0).abs() < 1e-12, "{report:?}");
        let mean = |low: bool| {
            let part: Vec<f64> = (0..x.len()).filter(|&i| (system.cells[i][0] <= 1) == low).map(|i| x[i]).collect();
            part.iter().sum::<f64>() / part.len() as f64
        };
        assert!(mean(true).abs() < 1e-9 && mean(false).abs() < 1e-9, "means {} and {}", mean(true), mean(false));
        // The flux through the middle of the high part balances the source on its low side:
        // Σ_{x=2}^{5} (x − 6) = −10.
        let i = system.cells.iter().position(|&cell| cell == [5, 0, 0]).unwrap();
        let flux = x[i] - x[system.neighbors[i][1].get().unwrap()];
        assert!((flux + 10.0).abs() < 1e-6, "{method:?}: flux {flux}");
    }
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads() {
    let system = half_ball(26.0);
    assert!(system.len() > 30_000);
    for method in [Method::Mic, Method::Multigrid] {
        let [one, two, five] = [1, 2, 5].map(|threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| solve(&system, method).0)
        });
        assert!(one == two && two == five, "{method:?} differs");
    }
}

#[test]
fn a_reused_solver_is_bit_identical_to_a_new_one() {
    let systems = [half_ball(20.0), many_drops(), ball(5.0), half_ball(20.0)];
    let mut used = Solver::default();
    for method in [Method::Multigrid, Method::Mic] {
        for system in &systems {
            let options = Options { method, relative_tolerance: 1e-9, ..Options::default() };
            let mut x = vec![0.0; system.len()];
            used.solve(system, &mut x, &options).unwrap();
            assert!(x == solve(system, method).0);
        }
    }
}

#[test]
fn a_good_initial_guess_saves_iterations() {
    let system = ball(12.3);
    let mut x = exact(&system, 12.3);
    let options = Options { relative_tolerance: 1e-4, ..Options::default() };
    let warm = Solver::default().solve(&system, &mut x, &options).unwrap().iterations;
    x.fill(0.0);
    let cold = Solver::default().solve(&system, &mut x, &options).unwrap().iterations;
    assert!(warm < cold, "{warm} with, {cold} without");
}

#[test]
fn invalid_systems_are_rejected_with_their_cell() {
    let good = ball(3.0);
    let refuse = |change: &dyn Fn(&mut System)| {
        let mut system = good.clone();
        change(&mut system);
        let mut x = vec![0.0; system.len()];
        Solver::default().solve(&system, &mut x, &Options::default()).unwrap_err()
    };
    let cell = good.cells[5];
    let at = |what, error| {
        assert!(
            matches!(error, PoissonError::InvalidEquation { cell: c, what: w, .. } if c == cell && w == what),
            "{error}"
        );
    };
    at("b", refuse(&|system| system.rhs[5] = f64::NAN));
    at("d", refuse(&|system| system.dirichlet[5] = -1.0));
    let i = (0..good.len()).find(|&i| good.neighbors[i][3].is_some()).unwrap();
    let error = refuse(&|system| system.faces[i][1] = f64::INFINITY);
    assert!(error.to_string().contains("c = inf"), "{error}");
    let mut x = vec![0.0; good.len()];
    let options = Options { max_iterations: 1, ..Options::default() };
    let error = Solver::default().solve(&good, &mut x, &options).unwrap_err();
    assert!(matches!(error, PoissonError::NotConverged { iterations: 1, .. }), "{error}");
}

#[test]
fn empty_systems_and_isolated_cells_are_solved() {
    let mut solver = Solver::default();
    assert_eq!(solver.solve(&System::default(), &mut [], &Options::default()), Ok(SolveReport::default()));
    for method in [Method::Mic, Method::Multigrid] {
        let mut system = System::default();
        system.push([0; 3], [OptionalUnknown::NONE; 6], [0.0; 3], 4.0, 2.0);
        system.push([5; 3], [OptionalUnknown::NONE; 6], [0.0; 3], 0.0, 7.0);
        let mut x = [0.0; 2];
        let report = solver.solve(&system, &mut x, &Options { method, ..Options::default() }).unwrap();
        assert!((x[0] - 0.5).abs() < 1e-8 && x[1] == 0.0, "{x:?} {report:?}");
        assert_eq!((report.floating, report.removed), (1, 7.0));
    }
}

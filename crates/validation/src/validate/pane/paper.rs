//! Algorithm 1 of the paper, compared with amounts computed by hand.
//!
//! A wall of five columns and four rows, amounts in µL. A drop above 10 starts to slide, one at or
//! below 5 stops, and a residue stays in every cell that a drop leaves. Affinities are equal and do
//! not matter where water amounts differ.

use glam::DVec2;

use super::simulation::{Angles, Simulation, cap, tilted};
use super::{CaseContext, CaseError, CaseResult, Check, Tolerance};

const COLUMNS: usize = 5;
const ROWS: usize = 4;
/// Cell size, in mm: large enough that drops in neighboring cells are separate.
const CELL: f64 = 20.0;

/// Amounts in µL, the topmost row first.
type Grid = [[f64; COLUMNS]; ROWS];

/// Initial amounts, and those after each pass; residue 1.
const SLIDING: [Grid; 5] = [
    [[0.0, 0.0, 0.0, 9.0, 0.0], [0.0, 12.0, 0.0, 0.0, 0.0], [2.0, 0.5, 0.0, 6.0, 10.0], [0.0, 3.0, 0.0, 0.0, 0.0]],
    // 12 > 10 starts: 1 stays, 11 join the 2 below left, which are more than the 0.5 directly
    // below. 9, 6 and 10 stay, as 10 is not above 10.
    [[0.0, 0.0, 0.0, 9.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [13.0, 0.5, 0.0, 6.0, 10.0], [0.0, 3.0, 0.0, 0.0, 0.0]],
    // At the left edge there are two cells below: 13 leave 1 and join the 3.
    [[0.0, 0.0, 0.0, 9.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [1.0, 0.5, 0.0, 6.0, 10.0], [0.0, 15.0, 0.0, 0.0, 0.0]],
    // 15 leave 1, and 14 run off.
    [[0.0, 0.0, 0.0, 9.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [1.0, 0.5, 0.0, 6.0, 10.0], [0.0, 1.0, 0.0, 0.0, 0.0]],
    // Nothing moves.
    [[0.0, 0.0, 0.0, 9.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [1.0, 0.5, 0.0, 6.0, 10.0], [0.0, 1.0, 0.0, 0.0, 0.0]],
];

/// With residue 4 a drop of 10.5 starts, keeps sliding below 10, and stops at 5 or less. Amounts of
/// 0.125 guide its path.
const STOPPING: [Grid; 4] = [
    [[0.0, 0.0, 10.5, 0.0, 0.0], [0.0, 0.0, 0.125, 0.0, 0.0], [0.0, 0.0, 0.0, 0.125, 0.0], [0.0, 0.0, 0.125, 0.0, 0.0]],
    [[0.0, 0.0, 4.0, 0.0, 0.0], [0.0, 0.0, 6.625, 0.0, 0.0], [0.0, 0.0, 0.0, 0.125, 0.0], [0.0, 0.0, 0.125, 0.0, 0.0]],
    [[0.0, 0.0, 4.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.75, 0.0], [0.0, 0.0, 0.125, 0.0, 0.0]],
    [[0.0, 0.0, 4.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.75, 0.0], [0.0, 0.0, 0.125, 0.0, 0.0]],
];

/// Sides of the wall, in mm.
fn size() -> DVec2 {
    DVec2::new(COLUMNS as f64, ROWS as f64) * CELL
}

fn scene(first: &Grid, residue: f64) -> String {
    let mut text = tilted("fidelity = \"paper\"", 90.0, size().to_array(), &Angles::new(60.0, 30.0).keys())
        + &format!(
            "[pane]\ncell = \"{CELL} mm\"\npass = \"100 ms\"\nstatic_weight = \"10 uL\"\n\
             dynamic_weight = \"5 uL\"\nresidue = \"{residue} uL\"\n"
        );
    for (row, amounts) in first.iter().enumerate() {
        for (column, &amount) in amounts.iter().enumerate().filter(|(_, amount)| **amount > 0.0) {
            let x = (column as f64 + 0.5) * CELL - 0.5 * size().x;
            let y = 0.5 * size().y - (row as f64 + 0.5) * CELL;
            text += &cap(amount, 60.0, [x, y, 0.0]);
        }
    }
    text
}

/// Amounts in the frame.
fn amounts(simulation: &Simulation) -> Result<Grid, CaseError> {
    let mut grid = Grid::default();
    for drop in simulation.drops()? {
        let place = drop.frame.origin.truncate() * 1e3 / CELL;
        let column = (place.x + 0.5 * COLUMNS as f64) as usize;
        let row = (0.5 * ROWS as f64 - place.y) as usize;
        grid[row.min(ROWS - 1)][column.min(COLUMNS - 1)] += drop.volume * 1e9;
    }
    Ok(grid)
}

fn largest_difference(a: &Grid, b: &Grid) -> f64 {
    a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

pub(super) fn algorithm(_: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    for (name, passes, residue, run_off) in
        [("sliding", &SLIDING[..], 1.0, 14.0), ("stopping", &STOPPING[..], 4.0, 0.0)]
    {
        let mut simulation = Simulation::new(&scene(&passes[0], residue))?;
        for (pass, expected) in passes.iter().enumerate() {
            // What a pass moves is shown on its way, and has arrived when the next one begins.
            simulation.run(if pass == 0 { 0.1 - 1e-6 } else { 0.1 })?;
            // Exact except for rounding in the conversion between microliters and cubic meters.
            result.checks.push(Check::at_most(
                format!("{name}: largest error of a cell after pass {pass}"),
                "µL",
                1e-12,
                largest_difference(&amounts(&simulation)?, expected),
            ));
        }
        let lost = simulation.frame().balance.lost * 1e9;
        result.checks.push(Check::value(format!("{name}: run off"), "µL", run_off, lost, Tolerance::Absolute(1e-12)));
    }
    Ok(result)
}

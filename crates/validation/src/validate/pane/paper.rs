//! The paper's Algorithm 1, worked out by hand.
//!
//! A wall of five columns and four rows, amounts in µL. A drop above 10 starts, one at or below 5 stops, and a residue is left in
//! every cell that a drop leaves. Affinities are equal, and where water decides they do not matter.

use glam::DVec2;

use super::stage::{Angles, Stage, cap, tilted};
use super::{CaseContext, CaseError, CaseResult, Check, Tolerance};

const COLUMNS: usize = 5;
const ROWS: usize = 4;
/// In mm; so wide that drops in neighboring cells are shown apart.
const CELL: f64 = 20.0;

/// Amounts in µL, the topmost row first.
type Grid = [[f64; COLUMNS]; ROWS];

/// Before, and after each pass; a residue of 1.
const RUNNING: [Grid; 5] = [
    [[0.0, 0.0, 0.0, 9.0, 0.0], [0.0, 12.0, 0.0, 0.0, 0.0], [2.0, 0.5, 0.0, 6.0, 10.0], [0.0, 3.0, 0.0, 0.0, 0.0]],
    // 12 > 10 starts: 1 stays, 11 join the 2 below it to the left, which are more than the 0.5 straight below. 9, 6 and 10 stay,
    // for 10 is not above 10.
    [[0.0, 0.0, 0.0, 9.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [13.0, 0.5, 0.0, 6.0, 10.0], [0.0, 3.0, 0.0, 0.0, 0.0]],
    // At the left edge there are two cells below: 13 leave 1 and join the 3.
    [[0.0, 0.0, 0.0, 9.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [1.0, 0.5, 0.0, 6.0, 10.0], [0.0, 15.0, 0.0, 0.0, 0.0]],
    // 15 leave 1 and run off with 14.
    [[0.0, 0.0, 0.0, 9.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [1.0, 0.5, 0.0, 6.0, 10.0], [0.0, 1.0, 0.0, 0.0, 0.0]],
    // Nothing moves any more.
    [[0.0, 0.0, 0.0, 9.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [1.0, 0.5, 0.0, 6.0, 10.0], [0.0, 1.0, 0.0, 0.0, 0.0]],
];

/// With a residue of 4 a drop of 10.5 starts, goes on below 10 because it moves, and stops at 5 or less. Traces of 0.125 show its way.
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
            "[pane]\ncell = \"{CELL} mm\"\nstatic_weight = \"10 uL\"\ndynamic_weight = \"5 uL\"\nresidue = \"{residue} uL\"\n"
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

/// The amounts, read from the frame.
fn amounts(stage: &Stage) -> Result<Grid, CaseError> {
    let mut grid = Grid::default();
    for drop in stage.drops()? {
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
        [("running", &RUNNING[..], 1.0, 14.0), ("stopping", &STOPPING[..], 4.0, 0.0)]
    {
        let mut stage = Stage::new(&scene(&passes[0], residue))?;
        for (pass, expected) in passes.iter().enumerate() {
            if pass > 0 {
                // One pass per frame interval.
                stage.run(0.1)?;
            }
            // Exact but for the rounding of microliters to cubic meters and back.
            result.checks.push(Check::at_most(
                format!("{name}: largest error of a cell after pass {pass}"),
                "µL",
                1e-12,
                largest_difference(&amounts(&stage)?, expected),
            ));
        }
        let lost = stage.frame().balance.lost * 1e9;
        result.checks.push(Check::value(format!("{name}: run off"), "µL", run_off, lost, Tolerance::Absolute(1e-12)));
    }
    Ok(result)
}

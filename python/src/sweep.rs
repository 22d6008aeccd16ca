//! Values of sweeps, conditions of searches, and the row of a run in a table of results.

use std::path::PathBuf;

use pyo3::prelude::*;
use sessile_frames::RunFolder;
use sessile_sweep::results::Summary;
use sessile_sweep::{Axis, Between, Condition};

use crate::errors::{failed, wrong};

/// The key and the values of `KEY=VALUES`, as `sessile sweep --over` reads them.
#[pyfunction]
pub fn sweep_values(argument: &str, seed: u64) -> PyResult<(String, Vec<String>)> {
    let axis = Axis::parse(argument, seed).map_err(wrong)?;
    Ok((axis.key, axis.values))
}

/// Key, ends and unit of `KEY=A..B`.
#[pyfunction]
pub fn interval(argument: &str) -> PyResult<(String, f64, f64, String)> {
    let between = Between::parse(argument).map_err(wrong)?;
    Ok((between.key, between.low, between.high, between.unit))
}

/// Whether a condition holds for a finished run; without a run, whether it is a condition.
#[pyfunction]
#[pyo3(signature = (condition, run=None))]
pub fn holds(py: Python<'_>, condition: &str, run: Option<PathBuf>) -> PyResult<bool> {
    let condition = Condition::parse(condition).map_err(wrong)?;
    let Some(run) = run else { return Ok(true) };
    py.detach(|| condition.holds(&RunFolder::open(&run).map_err(failed)?).map_err(failed))
}

/// Final and peak measures of a run by name.
#[pyfunction]
pub fn run_summary(py: Python<'_>, run: PathBuf) -> PyResult<Vec<(String, Option<f64>)>> {
    py.detach(|| Ok(Summary::read(&run).map_err(failed)?.named()))
}

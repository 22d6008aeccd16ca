//! Cases of the volume model: closed forms, limits, reference values, measurements.
//!
//! Every case builds its scene from text and runs the model as a run does. Liquid: water; gravity:
//! 9.8 m/s². At full size a drop has 20 to 25 cells across the diameter of the sphere of its
//! volume, in the quick subset 14 to 20. Planes and drops have irregular offsets from the grid.

mod capillary_rise;
mod free_drops;
mod impact;
mod moving_line;
mod pendant_drops;
mod retention;
mod sessile_drops;
pub(super) mod simulation;

use super::{Axis, Case, CaseContext, CaseError, CaseKind, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// Function that runs a case.
type Run = fn(&CaseContext) -> Result<CaseResult, CaseError>;

/// Cases of the volume model.
pub(super) fn cases() -> Vec<Case> {
    [
        sessile_drops::cases(),
        free_drops::cases(),
        retention::cases(),
        pendant_drops::cases(),
        capillary_rise::cases(),
        impact::cases(),
        moving_line::cases(),
    ]
    .concat()
}

/// A case that only a full validation runs: it takes minutes.
fn slow(name: &'static str, about: &'static str, run: Run) -> Case {
    Case { name, model: "volume", kind: CaseKind::Verification, quick: false, about, run }
}

/// A case that a quick validation runs too.
fn quick(name: &'static str, about: &'static str, run: Run) -> Case {
    Case { quick: true, ..slow(name, about, run) }
}

/// A slow case that compares with measurements rather than with a solution of the model's
/// equations.
fn validation(name: &'static str, about: &'static str, run: Run) -> Case {
    Case { kind: CaseKind::Validation, ..slow(name, about, run) }
}

#[cfg(test)]
mod tests {
    use super::cases;
    use crate::validate::tests::assert_all_pass;

    #[test]
    fn every_quick_case_passes() {
        assert_all_pass(cases().into_iter().filter(|case| case.quick));
    }
}

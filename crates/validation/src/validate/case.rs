//! A case: a simulation with a known answer, and its checks.

use std::error::Error;

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::Plot;

/// A simulation with a known answer.
#[derive(Clone, Copy)]
pub struct Case {
    /// Unique within its model: `sessile-drop-height`.
    pub name: &'static str,
    /// The model, or `theory` for the exact solutions that models are compared with.
    pub model: &'static str,
    /// Whether it tests the solution of the equations or the equations themselves.
    pub kind: CaseKind,
    /// Part of a quick validation (possibly at a smaller size, see [`CaseContext::quick`]).
    pub quick: bool,
    /// What is simulated, what is expected and its source; a sentence or two for the report.
    pub about: &'static str,
    /// Runs it.
    pub run: fn(&CaseContext) -> Result<CaseResult, CaseError>,
}

/// What a case tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CaseKind {
    /// The equations are solved correctly: exact solutions, limits, balances, convergence, other
    /// solvers.
    Verification,
    /// The equations describe reality: measurements and correlations of measurements.
    Validation,
}

impl CaseKind {
    /// `verification` or `validation`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verification => "verification",
            Self::Validation => "validation",
        }
    }
}

/// Why a case did not finish; such a case fails.
pub type CaseError = Box<dyn Error + Send + Sync>;

/// Options of the validation that a case is part of.
pub struct CaseContext<'a> {
    /// Use the smaller size: all quick cases of all models together may take five minutes on two
    /// cores.
    pub quick: bool,
    /// Receives progress messages.
    pub report: &'a dyn Fn(&str),
}

/// Checks and plots of a case.
#[derive(Clone, Debug, Default)]
pub struct CaseResult {
    /// The checks; a case without any does not pass.
    pub checks: Vec<Check>,
    /// Curves for the report.
    pub plots: Vec<Plot>,
}

impl CaseResult {
    /// Whether there are checks and all of them pass.
    pub fn pass(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().all(|check| check.pass)
    }
}

/// Expected result of a check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// This value, within the check's tolerance.
    Value(f64),
    /// Between two bounds, both included.
    Range(f64, f64),
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
    /// A statement that is true.
    Holds,
    /// Any finite value: it is only shown.
    Shown,
}

impl Serialize for Expected {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bounds: &[(&str, f64)] = match self {
            Self::Value(value) => return serializer.serialize_f64(*value),
            Self::Holds => return serializer.serialize_bool(true),
            Self::Shown => return serializer.serialize_none(),
            Self::Range(low, high) => &[("at_least", *low), ("at_most", *high)],
            Self::AtMost(bound) => &[("at_most", *bound)],
            Self::AtLeast(bound) => &[("at_least", *bound)],
        };
        let mut map = serializer.serialize_map(Some(bounds.len()))?;
        for (name, bound) in bounds {
            map.serialize_entry(name, bound)?;
        }
        map.end()
    }
}

/// Largest allowed difference from the expected value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tolerance {
    /// As a fraction of the expected value.
    Relative(f64),
    /// In the quantity's unit.
    Absolute(f64),
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Got {
    /// A number.
    Number(f64),
    /// Whether a statement was true.
    Truth(bool),
}

/// Comparison of one quantity, or one statement, with what is expected.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Name of the quantity, or the statement.
    pub quantity: String,
    /// Its unit; empty for pure numbers.
    pub unit: String,
    /// Expected result.
    pub expected: Expected,
    /// Actual result.
    pub got: Got,
    /// Difference from the expected value, relative or absolute like the tolerance; `None` for
    /// bounds.
    pub error: Option<f64>,
    /// Tolerance; `None` for bounds.
    pub tolerance: Option<Tolerance>,
    /// Whether the check passes. Values that are not finite never pass.
    pub pass: bool,
}

impl Check {
    /// A quantity with an expected value.
    pub fn value(
        quantity: impl Into<String>,
        unit: impl Into<String>,
        expected: f64,
        got: f64,
        tolerance: Tolerance,
    ) -> Self {
        let (error, allowed) = match tolerance {
            Tolerance::Relative(allowed) => ((got - expected).abs() / expected.abs(), allowed),
            Tolerance::Absolute(allowed) => ((got - expected).abs(), allowed),
        };
        Self {
            quantity: quantity.into(),
            unit: unit.into(),
            expected: Expected::Value(expected),
            got: Got::Number(got),
            error: Some(error),
            tolerance: Some(tolerance),
            pass: error.is_finite() && error <= allowed,
        }
    }

    /// A quantity expected between `low` and `high`.
    pub fn range(quantity: impl Into<String>, unit: impl Into<String>, low: f64, high: f64, got: f64) -> Self {
        Self::bound(quantity.into(), unit.into(), Expected::Range(low, high), got, low <= got && got <= high)
    }

    /// A quantity expected to be at most `most`.
    pub fn at_most(quantity: impl Into<String>, unit: impl Into<String>, most: f64, got: f64) -> Self {
        Self::bound(quantity.into(), unit.into(), Expected::AtMost(most), got, got <= most)
    }

    /// A quantity expected to be at least `least`.
    pub fn at_least(quantity: impl Into<String>, unit: impl Into<String>, least: f64, got: f64) -> Self {
        Self::bound(quantity.into(), unit.into(), Expected::AtLeast(least), got, got >= least)
    }

    /// A quantity that is only shown.
    pub fn shown(quantity: impl Into<String>, unit: impl Into<String>, got: f64) -> Self {
        Self::bound(quantity.into(), unit.into(), Expected::Shown, got, true)
    }

    /// A statement expected to be true.
    pub fn holds(statement: impl Into<String>, truth: bool) -> Self {
        Self {
            quantity: statement.into(),
            unit: String::new(),
            expected: Expected::Holds,
            got: Got::Truth(truth),
            error: None,
            tolerance: None,
            pass: truth,
        }
    }

    fn bound(quantity: String, unit: String, expected: Expected, got: f64, inside: bool) -> Self {
        Self {
            quantity,
            unit,
            expected,
            got: Got::Number(got),
            error: None,
            tolerance: None,
            pass: got.is_finite() && inside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_passes_at_its_tolerance_and_fails_beyond() {
        let check = |got| Check::value("height", "m", 2.0, got, Tolerance::Relative(0.125));
        assert!(check(2.25).pass && check(1.75).pass);
        assert!(!check(2.26).pass, "{:?}", check(2.26));
        assert!(Check::value("angle", "deg", 0.0, 0.4, Tolerance::Absolute(0.5)).pass);
    }

    #[test]
    fn values_that_are_not_finite_never_pass() {
        for got in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!Check::value("x", "", 1.0, got, Tolerance::Relative(1e9)).pass);
            assert!(!Check::at_most("x", "", f64::INFINITY, got).pass);
            assert!(!Check::at_least("x", "", f64::NEG_INFINITY, got).pass);
            assert!(!Check::range("x", "", f64::NEG_INFINITY, f64::INFINITY, got).pass);
        }
        // A relative error against zero has no meaning.
        assert!(!Check::value("x", "", 0.0, 0.0, Tolerance::Relative(1.0)).pass);
    }

    #[test]
    fn a_case_without_checks_does_not_pass() {
        assert!(!CaseResult::default().pass());
    }
}

//! Verification and validation cases of all models: expected value, result, error and tolerance.
//!
//! A model adds a module here with `cases()`, and an entry in [`cases`]. A case builds the model
//! from a scene as a run does, measures its frames as a user would, and compares them with a closed
//! form, a limit, an exact solution or a measured value whose source it names.

mod agreement;
mod case;
mod common;
mod droplet;
mod experiment;
mod ledger;
mod machine;
mod markdown;
mod misses;
mod output;
mod pane;
mod report;
mod surface;
mod theory;
mod volume;

use std::time::Instant;

pub use case::{Case, CaseContext, CaseError, CaseKind, CaseResult, Check, Expected, Got, Tolerance};
pub use output::{json, table};
pub use report::{Origin, write_report};
pub(crate) use sessile_output::plot::number;
pub use sessile_output::plot::{Axis, Mark, Plot, Series};

use sessile_sim::suggest;

/// All cases, by model.
pub fn cases() -> Vec<Case> {
    [
        theory::cases(),
        pane::cases(),
        droplet::cases(),
        surface::cases(),
        volume::cases(),
        agreement::cases(),
        experiment::cases(),
    ]
    .concat()
}

/// A selection of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Models; empty for all.
    pub models: Vec<String>,
    /// Name of the case; it may match one case per model.
    pub case: Option<String>,
    /// Only quick cases, at their smaller size.
    pub quick: bool,
}

/// Error for a name that no case has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// The model has no cases.
    #[error("the model `{wanted}` has no cases; models with cases: {}", known.join(", "))]
    UnknownModel {
        /// The name.
        wanted: String,
        /// Models with cases.
        known: Vec<String>,
    },
    /// No selected case has that name.
    #[error("unknown case `{wanted}`; {hint}")]
    UnknownCase {
        /// The name.
        wanted: String,
        /// Similar names, or all names.
        hint: String,
    },
}

impl Selection {
    /// The selected cases, in order.
    ///
    /// A case selected by name runs even if it is not quick.
    pub fn choose(&self, cases: &[Case]) -> Result<Vec<Case>, SelectionError> {
        for wanted in &self.models {
            if !cases.iter().any(|case| case.model == wanted) {
                let mut known: Vec<String> = cases.iter().map(|case| case.model.to_owned()).collect();
                known.dedup();
                return Err(SelectionError::UnknownModel { wanted: wanted.clone(), known });
            }
        }
        let of_models: Vec<Case> = cases
            .iter()
            .filter(|case| self.models.is_empty() || self.models.iter().any(|model| model == case.model))
            .copied()
            .collect();
        let Some(wanted) = &self.case else {
            return Ok(of_models.into_iter().filter(|case| case.quick || !self.quick).collect());
        };
        let named: Vec<Case> = of_models.iter().filter(|case| case.name == wanted).copied().collect();
        if named.is_empty() {
            let names = of_models.iter().map(|case| case.name);
            let hint = suggest(wanted, names, "cases");
            return Err(SelectionError::UnknownCase { wanted: wanted.clone(), hint });
        }
        Ok(named)
    }
}

/// Result of one case.
#[derive(Clone)]
pub struct Outcome {
    /// The case.
    pub case: Case,
    /// Its checks, or why it did not finish.
    pub result: Result<CaseResult, String>,
    /// Wall time, in s.
    pub seconds: f64,
}

impl Outcome {
    /// Whether the case finished and all its checks pass.
    pub fn pass(&self) -> bool {
        self.result.as_ref().is_ok_and(CaseResult::pass)
    }

    /// Whether the case did not finish, or a check fails that is not a known miss.
    pub fn fails(&self) -> bool {
        let unknown = |check: &Check| !check.pass && misses::reason(self.case.name, &check.quantity).is_none();
        self.result.as_ref().map_or(true, |result| result.checks.is_empty() || result.checks.iter().any(unknown))
    }
}

/// Runs `cases` in order on the caller's thread pool; `report` receives progress messages.
pub fn run(cases: &[Case], quick: bool, report: &dyn Fn(&str)) -> Vec<Outcome> {
    let run_one = |(index, case): (usize, &Case)| {
        let label = format!("[{}/{}] {} {}", index + 1, cases.len(), case.model, case.name);
        report(&label);
        let started = Instant::now();
        let context = CaseContext { quick, report: &|text| report(&format!("{label}: {text}")) };
        let result = (case.run)(&context).map_err(|error| error.to_string());
        Outcome { case: *case, result, seconds: started.elapsed().as_secs_f64() }
    };
    cases.iter().enumerate().map(run_one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs cases at their smaller size.
    pub fn assert_all_pass(cases: impl IntoIterator<Item = Case>) {
        for case in cases {
            let result = (case.run)(&CaseContext { quick: true, report: &|_| {} }).unwrap();
            for check in &result.checks {
                assert!(check.pass, "{}: {check:?}", case.name);
            }
        }
    }

    fn case(model: &'static str, name: &'static str, quick: bool) -> Case {
        Case { name, model, kind: CaseKind::Verification, quick, about: "", run: |_| Ok(CaseResult::default()) }
    }

    fn names(selection: &Selection) -> Result<Vec<&'static str>, SelectionError> {
        let all = [case("theory", "lamb", true), case("pane", "slide", true), case("pane", "million", false)];
        Ok(selection.choose(&all)?.iter().map(|case| case.name).collect())
    }

    #[test]
    fn selection_criteria_combine() {
        let pane = vec!["pane".to_owned()];
        assert_eq!(names(&Selection::default()).unwrap(), ["lamb", "slide", "million"]);
        assert_eq!(names(&Selection { quick: true, ..Selection::default() }).unwrap(), ["lamb", "slide"]);
        assert_eq!(names(&Selection { models: pane.clone(), ..Selection::default() }).unwrap(), ["slide", "million"]);
        assert_eq!(names(&Selection { models: pane, case: Some("million".into()), quick: true }).unwrap(), ["million"]);
    }

    #[test]
    fn errors_for_unknown_names_suggest_known_ones() {
        let error = names(&Selection { case: Some("slid".into()), ..Selection::default() }).unwrap_err();
        assert_eq!(error.to_string(), "unknown case `slid`; did you mean slide?");
        let error = names(&Selection { models: vec!["lava".into()], ..Selection::default() }).unwrap_err();
        assert_eq!(error.to_string(), "the model `lava` has no cases; models with cases: theory, pane");
    }

    #[test]
    fn case_names_are_unique_within_their_model_and_every_case_has_a_description() {
        let mut seen: Vec<(&str, &str)> = cases().iter().map(|case| (case.model, case.name)).collect();
        let all = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), all, "two cases share a name");
        assert!(cases().iter().all(|case| case.about.ends_with('.')));
    }

    /// `docs/validation.md` lists every case under its kind, and no others.
    #[test]
    fn the_documentation_lists_every_case_under_its_kind() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/validation.md");
        let text = std::fs::read_to_string(path).unwrap();
        let (_, text) = text.split_once("## Verification cases").unwrap();
        let (verification, rest) = text.split_once("## Validation cases").unwrap();
        let (validation, _) = rest.split_once("\n## ").unwrap();
        let listed = |section: &str| -> std::collections::BTreeSet<String> {
            let first_cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('|').next());
            first_cells.flat_map(|cell| cell.split(',')).map(|name| name.trim().trim_matches('`').to_owned()).collect()
        };
        for (kind, section) in [(CaseKind::Verification, verification), (CaseKind::Validation, validation)] {
            let expected = cases().iter().filter(|case| case.kind == kind).map(|case| case.name.to_owned()).collect();
            assert_eq!(listed(section), expected, "{}", kind.name());
        }
    }
}

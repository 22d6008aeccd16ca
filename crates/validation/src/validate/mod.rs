//! Physics against theory: cases that every model adds to, run on demand and shown with expected, got, error and tolerance.
//!
//! A model adds a file here with `cases()`, and a line in [`cases`]. A case calls the model through the same door as a run does,
//! reads what a user could read, and compares it with a closed form, a limit or a measured value whose source it names.

mod agreement;
mod case;
mod droplet;
mod output;
mod pane;
mod plot;
mod report;
mod stage;
mod surface;
mod theory;
mod volume;

use std::time::Instant;

pub use case::{Case, CaseContext, CaseError, CaseResult, Check, Expected, Got, Tolerance};
pub use output::{json, table};
pub(crate) use plot::number;
pub use plot::{Axis, Mark, Plot, Series};
pub use report::write_report;

use sessile_sim::suggest;

/// Every case there is, by model.
pub fn cases() -> Vec<Case> {
    [theory::cases(), pane::cases(), droplet::cases(), surface::cases(), volume::cases(), agreement::cases()].concat()
}

/// Which cases to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Those of these models; empty means all.
    pub models: Vec<String>,
    /// The one with this name; with several models it may name several.
    pub case: Option<String>,
    /// Only quick ones, at their smaller size.
    pub quick: bool,
}

/// A name that no case has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// There are no cases of that model.
    #[error("no case tests the model `{wanted}`; models with cases: {}", known.join(", "))]
    UnknownModel {
        /// As asked for.
        wanted: String,
        /// Those that have cases.
        known: Vec<String>,
    },
    /// There is no case of that name among those selected.
    #[error("there is no case `{wanted}`; {hint}")]
    UnknownCase {
        /// As asked for.
        wanted: String,
        /// Names near to it, or all of them.
        hint: String,
    },
}

impl Selection {
    /// The selected ones of `cases`, in order.
    ///
    /// A case asked for by name runs even when it is not among the quick ones.
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

/// What came of one case.
#[derive(Clone)]
pub struct Outcome {
    /// The case.
    pub case: Case,
    /// What it found, or why it came to no end.
    pub result: Result<CaseResult, String>,
    /// How long it took, in s of wall time.
    pub seconds: f64,
}

impl Outcome {
    /// Whether the case came to an end and all its checks pass.
    pub fn pass(&self) -> bool {
        self.result.as_ref().is_ok_and(CaseResult::pass)
    }
}

/// Runs `cases` one after the other on the caller's thread pool; `say` is told what is going on.
pub fn run(cases: &[Case], quick: bool, say: &dyn Fn(&str)) -> Vec<Outcome> {
    let run_one = |(index, case): (usize, &Case)| {
        let label = format!("[{}/{}] {} {}", index + 1, cases.len(), case.model, case.name);
        say(&label);
        let started = Instant::now();
        let context = CaseContext { quick, say: &|text| say(&format!("{label}: {text}")) };
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
            let result = (case.run)(&CaseContext { quick: true, say: &|_| {} }).unwrap();
            for check in &result.checks {
                assert!(check.pass, "{}: {check:?}", case.name);
            }
        }
    }

    fn case(model: &'static str, name: &'static str, quick: bool) -> Case {
        Case { name, model, quick, about: "", run: |_| Ok(CaseResult::default()) }
    }

    fn names(selection: &Selection) -> Result<Vec<&'static str>, SelectionError> {
        let all = [case("theory", "lamb", true), case("pane", "slide", true), case("pane", "million", false)];
        Ok(selection.choose(&all)?.iter().map(|case| case.name).collect())
    }

    #[test]
    fn filters_combine() {
        let pane = vec!["pane".to_owned()];
        assert_eq!(names(&Selection::default()).unwrap(), ["lamb", "slide", "million"]);
        assert_eq!(names(&Selection { quick: true, ..Selection::default() }).unwrap(), ["lamb", "slide"]);
        assert_eq!(names(&Selection { models: pane.clone(), ..Selection::default() }).unwrap(), ["slide", "million"]);
        assert_eq!(names(&Selection { models: pane, case: Some("million".into()), quick: true }).unwrap(), ["million"]);
    }

    #[test]
    fn unknown_names_are_answered_with_known_ones() {
        let error = names(&Selection { case: Some("slid".into()), ..Selection::default() }).unwrap_err();
        assert_eq!(error.to_string(), "there is no case `slid`; did you mean slide?");
        let error = names(&Selection { models: vec!["lava".into()], ..Selection::default() }).unwrap_err();
        assert_eq!(error.to_string(), "no case tests the model `lava`; models with cases: theory, pane");
    }

    #[test]
    fn case_names_are_unique_within_their_model_and_every_case_says_what_it_is() {
        let mut seen: Vec<(&str, &str)> = cases().iter().map(|case| (case.model, case.name)).collect();
        let all = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), all, "two cases share a name");
        assert!(cases().iter().all(|case| case.about.ends_with('.')));
    }
}

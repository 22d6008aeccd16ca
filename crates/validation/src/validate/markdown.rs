//! Pages for `docs/validation`: one table and one plot per case, as the run found them.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use super::ledger;
use super::machine::Origin;
use super::misses;
use super::output::{count, error_text, expected_text, got_text, tolerance_text};
use super::{Check, Outcome};

/// A page of cases that are read together.
struct Page {
    model: &'static str,
    title: &'static str,
    intro: &'static str,
}

const PAGES: [Page; 2] = [
    Page {
        model: "agreement",
        title: "Comparison of the models",
        intro: "The same scene in every model that supports it. Where two models are both valid they must give the same\n\
                result. The reasons of the tolerances stand beside them in `crates/validation/src/validate/agreement`.",
    },
    Page {
        model: "experiment",
        title: "Comparison with experiments",
        intro: "What the fast models give beside published measurements. A row that fails is a miss; its cause is given\n\
                below the table. The reasons of the tolerances stand beside them in\n\
                `crates/validation/src/validate/experiment`.",
    },
];

/// Writes `agreement.md` and `experiment.md` with their plots into `folder`, each if some of its
/// cases ran; of the quick cases of agreement `agreement-quick.md`.
pub(super) fn write_pages(folder: &Path, outcomes: &[Outcome], quick: bool, origin: &Origin) -> io::Result<()> {
    for page in &PAGES {
        let cases: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.case.model == page.model).collect();
        if cases.is_empty() {
            continue;
        }
        fs::create_dir_all(folder.join("plots"))?;
        for outcome in &cases {
            for (index, plot) in outcome.result.iter().flat_map(|result| &result.plots).enumerate() {
                fs::write(folder.join(plot_path(outcome, index)), plot.document())?;
            }
        }
        // Experiments have one size only.
        let suffix = if quick && page.model == "agreement" { "-quick" } else { "" };
        fs::write(folder.join(format!("{}{suffix}.md", page.model)), text(page, &cases, origin))?;
    }
    Ok(())
}

fn plot_path(outcome: &Outcome, index: usize) -> String {
    let suffix = if index == 0 { String::new() } else { format!("-{}", index + 1) };
    format!("plots/{}{suffix}.svg", outcome.case.name)
}

fn text(page: &Page, cases: &[&Outcome], origin: &Origin) -> String {
    let mut text = format!("# {}\n\n{}\n\n", page.title, page.intro);
    let all: Vec<Outcome> = cases.iter().map(|outcome| (*outcome).clone()).collect();
    let _ = write!(text, "```sh\n{}\n```\n\n{}.\n{}.\n", origin.command, count(&all), origin.text());
    for outcome in cases {
        case(&mut text, outcome);
    }
    text
}

fn case(text: &mut String, outcome: &Outcome) {
    let _ = write!(text, "\n## `{}`\n\n{}\n", outcome.case.name, wrapped(outcome.case.about));
    let mut entries = ledger::of_case(outcome.case.name).peekable();
    if entries.peek().is_some() {
        text.push_str("\n| measured | source | uncertainty | how obtained |\n|---|---|---|---|\n");
        for entry in entries {
            let ledger::Entry { measured, citation, source, uncertainty, obtained, .. } = entry;
            let _ = writeln!(text, "| {measured} | {citation} [{source}] | {uncertainty} | {} |", obtained.text());
        }
    }
    match &outcome.result {
        Err(reason) => {
            let _ = write!(text, "\nDid not finish: {reason}\n");
        }
        Ok(result) => {
            text.push_str("\n| | quantity | expected | got | error | tolerance |\n|---|---|---|---|---|---|\n");
            for check in &result.checks {
                let cells = [expected_text(check), got_text(check), error_text(check), tolerance_text(check)];
                let _ = writeln!(text, "| {} | {} | {} |", mark(outcome, check), check.quantity, cells.join(" | "));
            }
            for reason in reasons(outcome, &result.checks) {
                let _ = write!(text, "\n**Miss:** {}\n", wrapped(reason));
            }
            for (index, plot) in result.plots.iter().enumerate() {
                let _ = write!(text, "\n![{}]({})\n", plot.title, plot_path(outcome, index));
            }
        }
    }
}

fn mark(outcome: &Outcome, check: &Check) -> &'static str {
    match (check.pass, misses::reason(outcome.case.name, &check.quantity)) {
        (true, _) => "pass",
        (false, Some(_)) => "miss",
        (false, None) => "FAIL",
    }
}

/// Causes of the checks of a case that are known to fail, each once.
pub(super) fn reasons<'a>(outcome: &Outcome, checks: &'a [Check]) -> Vec<&'static str> {
    let failing = checks.iter().filter(|check: &&'a Check| !check.pass);
    let mut reasons: Vec<&'static str> =
        failing.filter_map(|check| misses::reason(outcome.case.name, &check.quantity)).collect();
    let mut seen = Vec::new();
    reasons.retain(|reason| {
        let is_new = !seen.contains(reason);
        seen.push(*reason);
        is_new
    });
    reasons
}

/// Text in lines of at most 110 characters, so that there is room for a mark before it.
fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if length > 0 && length + 1 + width > 110 {
            lines.push('\n');
            length = 0;
        } else if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines.push_str(word);
        length += width;
    }
    lines
}

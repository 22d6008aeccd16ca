//! Results as a table for the terminal and as JSON.

use std::fmt::Write;

use serde_json::{Value, json as object};

use super::{Check, Expected, Got, Outcome, Tolerance};
use super::{misses, number};

/// The unit as it follows a number: after a space, but for degrees.
fn unit_text(check: &Check) -> String {
    match check.unit.as_str() {
        "" | "°" => check.unit.clone(),
        unit => format!(" {unit}"),
    }
}

/// What a number should be, as text.
pub(super) fn expected_text(check: &Check) -> String {
    let unit = unit_text(check);
    match check.expected {
        Expected::Value(value) => number(value) + &unit,
        Expected::Range(low, high) => format!("{} … {}{unit}", number(low), number(high)),
        Expected::AtMost(bound) => format!("≤ {}{unit}", number(bound)),
        Expected::AtLeast(bound) => format!("≥ {}{unit}", number(bound)),
        Expected::Holds => "yes".into(),
        Expected::Shown => "–".into(),
    }
}

/// What it is, as text.
pub(super) fn got_text(check: &Check) -> String {
    match check.got {
        Got::Number(value) => number(value) + &unit_text(check),
        Got::Truth(true) => "yes".into(),
        Got::Truth(false) => "no".into(),
    }
}

/// How far off it is, as text.
pub(super) fn error_text(check: &Check) -> String {
    let Some(error) = check.error else { return String::new() };
    match check.tolerance {
        Some(Tolerance::Relative(_)) => percent(error),
        _ => number(error) + &unit_text(check),
    }
}

/// How far off it may be, as text.
pub(super) fn tolerance_text(check: &Check) -> String {
    match check.tolerance {
        Some(Tolerance::Relative(allowed)) => percent(allowed),
        Some(Tolerance::Absolute(allowed)) => number(allowed) + &unit_text(check),
        None => String::new(),
    }
}

fn percent(fraction: f64) -> String {
    let percent = 100.0 * fraction;
    if percent != 0.0 && percent < 0.01 {
        format!("{percent:.0e} %")
    } else {
        format!("{} %", number((percent * 1e3).round() / 1e3))
    }
}

/// One line per check, aligned, and a last line that counts.
pub fn table(outcomes: &[Outcome]) -> String {
    let header = ["", "case", "quantity", "expected", "got", "error", "tolerance"].map(str::to_owned);
    let mut rows = vec![header];
    for outcome in outcomes {
        let name = format!("{}/{}", outcome.case.model, outcome.case.name);
        match &outcome.result {
            Ok(result) => rows.extend(result.checks.iter().map(|check| {
                let is_miss = misses::reason(outcome.case.name, &check.quantity).is_some();
                let verdict = match (check.pass, is_miss) {
                    (true, false) => "pass",
                    (true, true) => "pass, no longer missed",
                    (false, true) => "miss",
                    (false, false) => "FAIL",
                };
                [
                    verdict.to_owned(),
                    name.clone(),
                    check.quantity.clone(),
                    expected_text(check),
                    got_text(check),
                    error_text(check),
                    tolerance_text(check),
                ]
            })),
            Err(_) => rows.push(["FAIL", &name, "did not finish", "", "", "", ""].map(str::to_owned)),
        }
    }
    let widths: Vec<usize> =
        (0..7).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let line: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        let _ = writeln!(text, "{}", line.join("  ").trim_end());
    }
    for outcome in outcomes {
        if let Err(reason) = &outcome.result {
            let _ = writeln!(text, "{}/{}: {reason}", outcome.case.model, outcome.case.name);
        }
    }
    let _ = writeln!(text, "{}", count(outcomes));
    text
}

/// "12 of 13 cases pass, 1 fails".
pub(super) fn count(outcomes: &[Outcome]) -> String {
    let passed = outcomes.iter().filter(|outcome| outcome.pass()).count();
    let total = outcomes.len();
    let failed = match outcomes.iter().filter(|outcome| outcome.fails()).count() {
        0 => String::new(),
        1 => ", 1 fails".to_owned(),
        failed => format!(", {failed} fail"),
    };
    let missed = match outcomes.iter().filter(|outcome| !outcome.pass() && !outcome.fails()).count() {
        0 => String::new(),
        1 => ", 1 misses as known".to_owned(),
        missed => format!(", {missed} miss as known"),
    };
    format!("{passed} of {total} case{} pass{failed}{missed}", if total == 1 { "" } else { "s" })
}

/// The same as one JSON object.
pub fn json(outcomes: &[Outcome], quick: bool) -> Value {
    let cases: Vec<Value> = outcomes
        .iter()
        .map(|outcome| {
            object!({
                "model": outcome.case.model,
                "name": outcome.case.name,
                "kind": outcome.case.kind,
                "about": outcome.case.about,
                "pass": outcome.pass(),
                "fails": outcome.fails(),
                "seconds": outcome.seconds,
                "failure": outcome.result.as_ref().err(),
                "checks": outcome.result.as_ref().map(|result| result.checks.clone()).unwrap_or_default(),
            })
        })
        .collect();
    let passed = outcomes.iter().filter(|outcome| outcome.pass()).count();
    object!({
        "version": env!("CARGO_PKG_VERSION"),
        "quick": quick,
        "passed": passed,
        "failed": outcomes.iter().filter(|outcome| outcome.fails()).count(),
        "cases": cases,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Case, CaseKind, CaseResult};
    use super::*;

    fn outcomes() -> Vec<Outcome> {
        let case = |name| Case {
            name,
            model: "pane",
            kind: CaseKind::Verification,
            quick: true,
            about: "Something.",
            run: |_| Ok(CaseResult::default()),
        };
        let checks = vec![
            Check::value("height", "mm", 2.0, 2.01, Tolerance::Relative(0.01)),
            Check::at_most("drift", "", 1e-6, 2e-6),
            Check::holds("paths coincide", true),
        ];
        vec![
            Outcome { case: case("drop"), result: Ok(CaseResult { checks, plots: vec![] }), seconds: 0.5 },
            Outcome { case: case("lost"), result: Err("no drop moved".into()), seconds: 0.1 },
        ]
    }

    #[test]
    fn the_table_shows_every_number_and_counts() {
        let expected = "      case       quantity        expected  got      error  tolerance\n\
                        pass  pane/drop  height          2 mm      2.01 mm  0.5 %  1 %\n\
                        FAIL  pane/drop  drift           ≤ 1e-6    2e-6\n\
                        pass  pane/drop  paths coincide  yes       yes\n\
                        FAIL  pane/lost  did not finish\n\
                        pane/lost: no drop moved\n\
                        0 of 2 cases pass, 2 fail\n";
        assert_eq!(table(&outcomes()), expected);
    }

    #[test]
    fn json_keeps_numbers_as_numbers() {
        let value = json(&outcomes(), true);
        assert_eq!(value["failed"], 2);
        assert_eq!(value["cases"][0]["checks"][0]["expected"], 2.0);
        assert_eq!(value["cases"][0]["checks"][0]["tolerance"]["relative"], 0.01);
        assert_eq!(value["cases"][0]["checks"][1]["expected"]["at_most"], 1e-6);
        assert_eq!(value["cases"][0]["checks"][2]["got"], true);
        assert_eq!(value["cases"][1]["failure"], "no drop moved");
    }
}

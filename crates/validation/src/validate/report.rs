//! Outcomes as one self-contained HTML page, with its style sheet and plots.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use super::machine::Origin;
use super::markdown::{reasons, write_pages};
use super::output::{count, error_text, expected_text, got_text, tolerance_text};
use super::{CaseKind, Outcome, ledger, misses};
use sessile_output::escape::xml::text as escape;
use sessile_output::html_page;

/// Writes `index.html` into `folder`, created if missing, and returns its path; beside it the pages
/// of `markdown`.
pub fn write_report(folder: &Path, outcomes: &[Outcome], quick: bool, origin: &Origin) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    write_pages(folder, outcomes, quick, origin)?;
    let path = folder.join("index.html");
    fs::write(&path, page(outcomes, quick, origin))?;
    Ok(path)
}

fn page(outcomes: &[Outcome], quick: bool, origin: &Origin) -> String {
    let mut html = String::from("<header>\n<h1>Verification and validation</h1>\n");
    let size = if quick { "quick size" } else { "full size" };
    let _ = writeln!(
        html,
        "<p class=\"lead\">{}. <span class=\"soft\">{size}; {}.</span></p>\n<pre>{}</pre>\n</header>",
        count(outcomes),
        escape(&origin.text()),
        escape(&origin.command)
    );
    let parts = [
        (CaseKind::Verification, "Verification: the equations are solved correctly"),
        (CaseKind::Validation, "Validation: the equations describe reality"),
    ];
    for (kind, title) in parts {
        let of_kind: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.case.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let _ = writeln!(html, "<h1>{title}</h1>");
        summary(&mut html, &of_kind);
        for outcome in of_kind {
            section(&mut html, outcome);
        }
    }
    html_page("sessile: validation", &html)
}

fn summary(html: &mut String, outcomes: &[&Outcome]) {
    html.push_str(
        "<div class=\"scroll\"><table>\n<thead><tr><th></th><th>model</th><th>case</th><th class=\"num\">checks</th>",
    );
    html.push_str("<th class=\"num\">seconds</th></tr></thead>\n<tbody>\n");
    for outcome in outcomes {
        let checks = outcome.result.as_ref().map_or(0, |result| result.checks.len());
        let passing =
            outcome.result.as_ref().map_or(0, |result| result.checks.iter().filter(|check| check.pass).count());
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td><a href=\"#{}\">{}</a></td><td class=\"num\">{passing}/{checks}</td>\
             <td class=\"num\">{:.1}</td></tr>",
            verdict(outcome),
            escape(outcome.case.model),
            anchor(outcome),
            escape(outcome.case.name),
            outcome.seconds
        );
    }
    html.push_str("</tbody>\n</table></div>\n");
}

fn section(html: &mut String, outcome: &Outcome) {
    let _ = writeln!(
        html,
        "<section id=\"{}\">\n<h2>{} <span class=\"soft\">{}, {}</span> {}</h2>\n<p>{}</p>",
        anchor(outcome),
        escape(outcome.case.name),
        escape(outcome.case.model),
        outcome.case.kind.name(),
        verdict(outcome),
        escape(outcome.case.about)
    );
    sources(html, outcome);
    match &outcome.result {
        Err(reason) => {
            let _ = writeln!(html, "<p class=\"reason\">Did not finish: {}</p>", escape(reason));
        }
        Ok(result) => {
            html.push_str(
                "<div class=\"scroll\"><table>\n<thead><tr><th></th><th>quantity</th><th class=\"num\">expected</th>",
            );
            html.push_str("<th class=\"num\">got</th><th class=\"num\">error</th><th class=\"num\">tolerance</th></tr></thead>\n<tbody>\n");
            for check in &result.checks {
                let is_miss = misses::reason(outcome.case.name, &check.quantity).is_some();
                let _ = write!(html, "<tr><td>{}</td><td>{}</td>", badge(check.pass, is_miss), escape(&check.quantity));
                for cell in [expected_text(check), got_text(check), error_text(check), tolerance_text(check)] {
                    let _ = write!(html, "<td class=\"num\">{}</td>", escape(&cell));
                }
                html.push_str("</tr>\n");
            }
            html.push_str("</tbody>\n</table></div>\n");
            for reason in reasons(outcome, &result.checks) {
                let _ = writeln!(html, "<p class=\"reason\">Miss: {}</p>", escape(reason));
            }
            for plot in &result.plots {
                let _ =
                    writeln!(html, "<figure>{}<figcaption>{}</figcaption></figure>", plot.svg(), escape(&plot.title));
            }
        }
    }
    html.push_str("</section>\n");
}

fn anchor(outcome: &Outcome) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    format!("{}-{}", outcome.case.model, outcome.case.name).chars().map(plain).collect()
}

fn badge(pass: bool, is_miss: bool) -> &'static str {
    match (pass, is_miss) {
        (true, _) => "<span class=\"badge pass\">pass</span>",
        (false, true) => "<span class=\"badge fail\">miss</span>",
        (false, false) => "<span class=\"badge fail\">fail</span>",
    }
}

/// The badge of a case: a miss if all checks that fail are known misses.
fn verdict(outcome: &Outcome) -> &'static str {
    badge(outcome.pass(), !outcome.fails())
}

/// The entries of a case in the ledger.
fn sources(html: &mut String, outcome: &Outcome) {
    let mut entries = ledger::of_case(outcome.case.name).peekable();
    if entries.peek().is_none() {
        return;
    }
    html.push_str(
        "<div class=\"scroll\"><table>\n<thead><tr><th>measured</th><th>source</th><th>uncertainty</th>\
         <th>how obtained</th></tr></thead>\n<tbody>\n",
    );
    for entry in entries {
        let cells = [entry.measured, entry.citation, entry.uncertainty, entry.obtained.text()];
        let cells: String = cells.map(|cell| format!("<td>{}</td>", escape(cell))).concat();
        let _ = writeln!(html, "<tr>{cells}</tr>");
    }
    html.push_str("</tbody>\n</table></div>\n");
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Case, CaseKind, CaseResult, Check, Mark, Plot, Series, Tolerance};
    use super::*;

    #[test]
    fn the_page_is_self_contained_and_has_every_case() {
        let case = |name| Case {
            name,
            model: "pane",
            kind: CaseKind::Verification,
            quick: true,
            about: "A drop <sits>.",
            run: |_| Ok(CaseResult::default()),
        };
        let plot = Plot {
            title: "height over volume".into(),
            x: Axis::log("V (µL)"),
            y: Axis::linear("h (mm)"),
            series: vec![
                Series::new("theory", Mark::Expected, vec![(0.1, 0.5), (10.0, 2.0)]),
                Series::new("pane", Mark::Points, vec![(1.0, 1.1)]),
            ],
        };
        let checks = vec![Check::value("height", "mm", 2.0, 2.01, Tolerance::Relative(0.01))];
        let outcomes = [
            Outcome { case: case("drop"), result: Ok(CaseResult { checks, plots: vec![plot] }), seconds: 1.0 },
            Outcome { case: case("lost"), result: Err("it broke".into()), seconds: 1.0 },
        ];
        let html = page(&outcomes, true, &Origin::here("sessile validate".into()));
        for wanted in [
            "1 of 2 cases pass, 1 fails",
            "A drop &lt;sits&gt;.",
            "href=\"#pane-drop\"",
            "id=\"pane-lost\"",
            "it broke",
            "<svg",
            "2.01 mm",
        ] {
            assert!(html.contains(wanted), "no {wanted} in\n{html}");
        }
        let foreign = html.replace("http://www.w3.org/2000/svg", "").contains("http");
        assert!(!foreign, "the page points elsewhere");
    }
}

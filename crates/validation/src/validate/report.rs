//! Outcomes as one self-contained HTML page, with its style sheet and plots.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Outcome;
use super::output::{count, error_text, expected_text, got_text, tolerance_text};
use sessile_output::escape::xml::text as escape;

/// Writes `index.html` into `folder`, created if missing, and returns its path.
pub fn write_report(folder: &Path, outcomes: &[Outcome], quick: bool) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let path = folder.join("index.html");
    fs::write(&path, page(outcomes, quick))?;
    Ok(path)
}

fn page(outcomes: &[Outcome], quick: bool) -> String {
    let mut html = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n<title>sessile: validation</title>\n<style>");
    html.push_str(STYLE);
    html.push_str("</style>\n</head>\n<body>\n<main>\n<header>\n<h1>Verification and validation</h1>\n");
    let size = if quick { "quick size" } else { "full size" };
    let _ = writeln!(
        html,
        "<p class=\"lead\">{}. <span class=\"soft\">sessile {}, {size}.</span></p>\n</header>",
        count(outcomes),
        env!("CARGO_PKG_VERSION")
    );
    summary(&mut html, outcomes);
    for outcome in outcomes {
        section(&mut html, outcome);
    }
    html.push_str("</main>\n</body>\n</html>\n");
    html
}

fn summary(html: &mut String, outcomes: &[Outcome]) {
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
            badge(outcome.pass()),
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
        badge(outcome.pass()),
        escape(outcome.case.about)
    );
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
                let _ = write!(html, "<tr><td>{}</td><td>{}</td>", badge(check.pass), escape(&check.quantity));
                for cell in [expected_text(check), got_text(check), error_text(check), tolerance_text(check)] {
                    let _ = write!(html, "<td class=\"num\">{}</td>", escape(&cell));
                }
                html.push_str("</tr>\n");
            }
            html.push_str("</tbody>\n</table></div>\n");
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

fn badge(pass: bool) -> &'static str {
    if pass { "<span class=\"badge pass\">pass</span>" } else { "<span class=\"badge fail\">fail</span>" }
}

/// Colors are set once as variables, for light and for dark; the series colors keep apart for
/// color-blind readers too.
const STYLE: &str = r"
:root { --bg:#fbfcfd; --card:#fff; --ink:#1b2430; --soft:#5c6875; --line:#dfe5ea; --grid:#eceff2; --link:#0b62a4;
  --pass:#17693a; --passbg:#e2f4e8; --fail:#a3201d; --failbg:#fbe4e2;
  --c0:#0b6bb3; --c1:#c2500c; --c2:#1a7f4b; --c3:#8a3ea8; --c4:#7a6400; --c5:#b0316a; }
@media (prefers-color-scheme: dark) { :root { --bg:#10151b; --card:#171e26; --ink:#e4eaf0; --soft:#98a5b2; --line:#2a343f; --grid:#222b35;
  --link:#6db8f2; --pass:#7fd6a0; --passbg:#14301f; --fail:#ff9d94; --failbg:#3c1917;
  --c0:#5db0f0; --c1:#f59a5b; --c2:#5fcf95; --c3:#cf93ea; --c4:#d9c04a; --c5:#f287b4; } }
* { box-sizing:border-box }
body { margin:0; background:var(--bg); color:var(--ink); font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif }
main { max-width:960px; margin:0 auto; padding:40px 20px 80px }
h1 { font-size:30px; line-height:1.2; margin:0 0 6px; letter-spacing:-.01em }
h2 { font-size:20px; margin:0 0 4px; display:flex; gap:10px; align-items:baseline; flex-wrap:wrap }
.lead { font-size:18px; margin:0 0 24px } .soft { color:var(--soft); font-weight:400 }
section { background:var(--card); border:1px solid var(--line); border-radius:10px; padding:22px 24px; margin-top:24px }
section p { margin:0 0 14px; max-width:75ch } .reason { color:var(--fail) }
.scroll { overflow-x:auto } table { border-collapse:collapse; width:100%; font-size:15px }
th { text-align:left; color:var(--soft); font-weight:500; border-bottom:1px solid var(--line); padding:6px 12px 6px 0; white-space:nowrap }
td { border-bottom:1px solid var(--grid); padding:6px 12px 6px 0; vertical-align:baseline }
.num { text-align:right; font-variant-numeric:tabular-nums; white-space:nowrap } a { color:var(--link) }
.badge { font-size:12px; font-weight:600; padding:1px 8px; border-radius:99px } .pass { color:var(--pass); background:var(--passbg) }
.fail { color:var(--fail); background:var(--failbg) }
figure { margin:20px 0 0; max-width:720px } figcaption { color:var(--soft); font-size:14px; margin-top:4px }
svg { width:100%; height:auto; display:block } svg text { font-family:inherit; fill:var(--ink); font-size:12px }
svg .tick { fill:var(--soft); font-size:11.5px } svg .grid { stroke:var(--grid); fill:none } svg .axis { stroke:var(--soft); fill:none }
svg .line { fill:none; stroke-width:2; stroke-linejoin:round } svg .expected { stroke-dasharray:6 4 }
svg .s0 { stroke:var(--c0) } svg .s1 { stroke:var(--c1) } svg .s2 { stroke:var(--c2) } svg .s3 { stroke:var(--c3) }
svg .s4 { stroke:var(--c4) } svg .s5 { stroke:var(--c5) }
svg .dot { stroke:none } svg .dot.s0 { fill:var(--c0) } svg .dot.s1 { fill:var(--c1) } svg .dot.s2 { fill:var(--c2) }
svg .dot.s3 { fill:var(--c3) } svg .dot.s4 { fill:var(--c4) } svg .dot.s5 { fill:var(--c5) }
";

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
        let html = page(&outcomes, true);
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

//! `report.html`: each measure against each parameter, images of last frames, theory.
//!
//! The page is self-contained and deterministic. Large sweeps are represented by evenly spaced
//! runs, so that its size is bounded.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use sessile_output::escape::xml::text as escape;
use sessile_output::html_page;
use sessile_output::plot::{Axis, Mark, Plot, Series, number};

use crate::axis::split_quantity;
use crate::plan::Plan;
use crate::theory::Theory;

/// Runs that are plotted and listed; of more, evenly spaced ones.
const MAX_POINTS: usize = 1000;
const MAX_LISTED: usize = 200;
/// Runs of which an image is shown; of more, evenly spaced ones.
pub(crate) const MAX_IMAGES: usize = 12;
/// Groups of runs with the same values of the other keys that are told apart in a plot.
const MAX_GROUPS: usize = 6;
/// Failures that are listed with their messages.
const MAX_FAILURES: usize = 10;

/// What the report needs of a run.
pub(crate) struct ReportRun {
    /// Number of the run.
    pub run: usize,
    /// `done`, `failed`, …
    pub status: &'static str,
    /// Measures, in the order of [`Report::measures`].
    pub values: Vec<Option<f64>>,
    /// Predictions.
    pub theory: Theory,
    /// Last messages of a failed run.
    pub reason: Option<String>,
}

/// Collects what the report shows.
pub(crate) struct Report<'a> {
    plan: &'a Plan,
    measures: Vec<String>,
    runs: Vec<ReportRun>,
    failures: Vec<(usize, String)>,
    counts: BTreeMap<&'static str, usize>,
}

/// Number of runs of which an image is shown.
pub(crate) fn images(runs: usize) -> usize {
    runs.min(MAX_IMAGES)
}

/// The run that image `index` shows.
pub(crate) fn run_of_image(index: usize, runs: usize) -> usize {
    index * runs / images(runs).max(1)
}

/// The folder of the image of a run.
pub(crate) fn image_folder(folder: &Path, run: usize) -> PathBuf {
    folder.join("thumbnails").join(format!("{run:05}"))
}

impl<'a> Report<'a> {
    /// An empty report about measures with these names.
    pub fn new(plan: &'a Plan, measures: Vec<String>) -> Self {
        Self { plan, measures, runs: Vec::new(), failures: Vec::new(), counts: BTreeMap::new() }
    }

    /// Whether a run is plotted.
    pub fn shows(&self, run: usize) -> bool {
        run.is_multiple_of(self.plan.runs.len().div_ceil(MAX_POINTS).max(1))
    }

    /// Counts a run, and keeps it if it is shown.
    pub fn add(&mut self, run: ReportRun) {
        *self.counts.entry(run.status).or_insert(0) += 1;
        if let Some(reason) = run.reason.as_ref().filter(|_| self.failures.len() < MAX_FAILURES) {
            self.failures.push((run.run, reason.clone()));
        }
        if self.shows(run.run) {
            self.runs.push(run);
        }
    }

    /// The page; `image` returns the PNG file of a run's last frame.
    pub fn html(&self, image: &dyn Fn(usize) -> Option<Vec<u8>>) -> String {
        let scene = self.plan.scene.file_name().unwrap_or(self.plan.scene.as_os_str()).to_string_lossy();
        let title = format!("Sweep of {scene}");
        let counts: Vec<String> = self.counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
        let mut html = format!(
            "<header>\n<h1>{}</h1>\n<p class=\"lead\">{} runs: {}. <span class=\"soft\">sessile {}.</span></p>\n</header>\n",
            escape(&title),
            self.plan.runs.len(),
            escape(&counts.join(", ")),
            env!("CARGO_PKG_VERSION")
        );
        self.write_failures(&mut html);
        self.write_images(&mut html, image);
        let constant = self.write_measures(&mut html);
        self.write_constants(&mut html, &constant);
        self.write_runs(&mut html);
        html_page(&title, &html)
    }

    fn write_failures(&self, html: &mut String) {
        if self.failures.is_empty() {
            return;
        }
        html.push_str("<section>\n<h2>Failed runs</h2>\n");
        for (run, reason) in &self.failures {
            let _ = writeln!(html, "<p>{}</p>\n<pre>", escape(&self.caption(*run)));
            for line in reason.lines() {
                let _ = writeln!(html, "{}", escape(line));
            }
            html.push_str("</pre>\n");
        }
        html.push_str("</section>\n");
    }

    fn write_images(&self, html: &mut String, image: &dyn Fn(usize) -> Option<Vec<u8>>) {
        let runs = self.plan.runs.len();
        let shown: Vec<(usize, Vec<u8>)> = (0..images(runs))
            .map(|index| run_of_image(index, runs))
            .filter_map(|run| image(run).map(|png| (run, png)))
            .collect();
        if shown.is_empty() {
            return;
        }
        html.push_str("<section>\n<h2>Last frames</h2>\n<div class=\"tiles\">\n");
        for (run, png) in shown {
            let caption = escape(&self.caption(run));
            let _ = writeln!(
                html,
                "<figure><img alt=\"{caption}\" src=\"data:image/png;base64,{}\"><figcaption>{caption}</figcaption></figure>",
                base64(&png)
            );
        }
        html.push_str("</div>\n</section>\n");
    }

    /// A run and its values.
    fn caption(&self, run: usize) -> String {
        let values = self.plan.keys.iter().zip(&self.plan.runs[run]).map(|(key, value)| format!("{key}={value}"));
        format!("run {run:05}: {}", values.collect::<Vec<_>>().join(", "))
    }

    /// Plots of all measures that vary; returns those that do not, with their value.
    fn write_measures(&self, html: &mut String) -> Vec<(&str, f64)> {
        let mut constant = Vec::new();
        let keys: Vec<usize> = (0..self.plan.keys.len()).filter(|&key| self.plan.keys[key] != "seed").collect();
        for (at, name) in self.measures.iter().enumerate() {
            let values: Vec<f64> = self.runs.iter().filter_map(|run| run.values[at]).collect();
            let Some(&first) = values.first() else { continue };
            if values.iter().all(|&value| value == first) {
                constant.push((name.as_str(), first));
                continue;
            }
            let _ = writeln!(html, "<section>\n<h2>{}</h2>", escape(&with_unit(name)));
            for &key in &keys {
                let plot = self.plot(at, key, &keys);
                let _ =
                    writeln!(html, "<figure>{}<figcaption>{}</figcaption></figure>", plot.svg(), escape(&plot.title));
            }
            html.push_str("</section>\n");
        }
        constant
    }

    /// A measure against a key, told apart by the values of the other keys.
    fn plot(&self, measure: usize, key: usize, keys: &[usize]) -> Plot {
        let (axis, position) = self.horizontal(key);
        let others: Vec<usize> = keys.iter().copied().filter(|&other| other != key).collect();
        let group = |run: usize| -> Vec<&str> { others.iter().map(|&k| self.plan.runs[run][k].as_str()).collect() };
        // In the order of the plan.
        let mut groups: Vec<Vec<&str>> = Vec::new();
        for run in &self.runs {
            if groups.len() <= MAX_GROUPS && !groups.contains(&group(run.run)) {
                groups.push(group(run.run));
            }
        }
        let apart = groups.len() <= MAX_GROUPS;
        let name = &self.measures[measure];
        let mut series = Vec::new();
        for (color, members) in groups.iter().enumerate().take(if apart { MAX_GROUPS } else { 1 }) {
            let runs: Vec<&ReportRun> = self.runs.iter().filter(|run| !apart || group(run.run) == *members).collect();
            let points = runs.iter().filter_map(|run| Some((position(run.run), run.values[measure]?)));
            let label = match (apart, members.is_empty()) {
                (true, false) => members.join(", "),
                _ => "runs".to_owned(),
            };
            series.push(Series::new(label, Mark::Points, points.collect()).colored(color));
            if apart {
                let expected = runs.iter().filter_map(|run| Some((position(run.run), run.theory.of_measure(name)?)));
                let mut expected: Vec<(f64, (f64, &str))> = expected.collect();
                expected.sort_by(|a, b| a.0.total_cmp(&b.0));
                if let Some(law) = expected.first().map(|point| point.1.1) {
                    let points = expected.into_iter().map(|(x, (y, _))| (x, y)).collect();
                    let label =
                        if groups.len() == 1 { law.to_owned() } else { format!("{law}, {}", members.join(", ")) };
                    series.push(Series::new(label, Mark::Expected, points).colored(color));
                }
            }
        }
        let by: Vec<&str> = others.iter().map(|&k| self.plan.keys[k].as_str()).collect();
        let by = if by.is_empty() || !apart { String::new() } else { format!(", by {}", by.join(", ")) };
        Plot {
            title: format!("{name} against {}{by}", self.plan.keys[key]),
            x: axis,
            y: Axis::linear(with_unit(name)),
            series,
        }
    }

    /// The axis of a key, and the position of a run on it: the number of its value, or the place in
    /// the order of names.
    fn horizontal(&self, key: usize) -> (Axis, impl Fn(usize) -> f64) {
        let name = &self.plan.keys[key];
        let value = |run: &ReportRun| self.plan.runs[run.run][key].as_str();
        let quantities: Option<Vec<(f64, &str)>> = self.runs.iter().map(|run| split_quantity(value(run))).collect();
        let unit = quantities.as_ref().and_then(|all| all.first()).map_or("", |first| first.1).to_owned();
        let numeric = quantities.is_some_and(|all| all.iter().all(|quantity| quantity.1 == unit));
        let mut names: Vec<&str> = Vec::new();
        if !numeric {
            for run in &self.runs {
                if !names.contains(&value(run)) {
                    names.push(value(run));
                }
            }
        }
        let label = if numeric {
            if unit.is_empty() { name.clone() } else { format!("{name} ({unit})") }
        } else {
            let numbered: Vec<String> = names.iter().enumerate().map(|(n, value)| format!("{n}: {value}")).collect();
            format!("{name} ({})", numbered.join(", "))
        };
        let positions: BTreeMap<String, f64> =
            names.iter().enumerate().map(|(n, value)| ((*value).to_owned(), n as f64)).collect();
        let position = move |run: usize| {
            let text = self.plan.runs[run][key].as_str();
            if numeric { split_quantity(text).map_or(f64::NAN, |quantity| quantity.0) } else { positions[text] }
        };
        (Axis::linear(label), position)
    }

    fn write_constants(&self, html: &mut String, constant: &[(&str, f64)]) {
        if constant.is_empty() {
            return;
        }
        html.push_str("<section>\n<h2>The same in all runs</h2>\n<div class=\"scroll\"><table><tbody>\n");
        for (name, value) in constant {
            let _ = writeln!(
                html,
                "<tr><td>{}</td><td class=\"num\">{}</td></tr>",
                escape(&with_unit(name)),
                escape(&number(*value))
            );
        }
        html.push_str("</tbody></table></div>\n</section>\n");
    }

    fn write_runs(&self, html: &mut String) {
        html.push_str("<section>\n<h2>Runs</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>run</th>");
        for key in &self.plan.keys {
            let _ = write!(html, "<th>{}</th>", escape(key));
        }
        html.push_str("<th>status</th><th>Furmidge's law</th></tr></thead>\n<tbody>\n");
        let step = self.runs.len().div_ceil(MAX_LISTED).max(1);
        for run in self.runs.iter().step_by(step) {
            let _ = write!(html, "<tr><td>{:05}</td>", run.run);
            for value in &self.plan.runs[run.run] {
                let _ = write!(html, "<td>{}</td>", escape(value));
            }
            let slides = match run.theory.slides {
                Some(true) => "slides",
                Some(false) => "is retained",
                None => "–",
            };
            let _ = writeln!(html, "<td>{}</td><td>{slides}</td></tr>", run.status);
        }
        html.push_str("</tbody>\n</table></div>\n");
        if self.plan.runs.len() > self.runs.len().div_ceil(step) {
            html.push_str("<p>Evenly spaced runs of the sweep; results.csv has all.</p>\n");
        }
        html.push_str("</section>\n");
    }
}

/// A measure with its unit.
fn with_unit(measure: &str) -> String {
    let name = measure.rsplit('.').next().unwrap_or(measure);
    let unit = match name {
        "time" => "s",
        "pressure" => "Pa",
        "height" | "base_radius" | "max_radius" => "m",
        name if name.ends_with("_deg") => "deg",
        name if name.ends_with("volume") => "m³",
        name if name.ends_with("area") => "m²",
        name if name.starts_with("speed") => "m/s",
        name if name.starts_with("centroid") => "m",
        _ => return measure.to_owned(),
    };
    format!("{measure} ({unit})")
}

/// Base64 (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = [chunk[0], *chunk.get(1).unwrap_or(&0), *chunk.get(2).unwrap_or(&0)];
        let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) & 63;
            text.push(if digit <= chunk.len() { char::from(DIGITS[index as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Axis as Over;
    use crate::plan::Sweep;

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    fn plan(axes: &[&str]) -> Plan {
        let axes = axes.iter().map(|axis| Over::parse(axis, 0).expect("values")).collect();
        Plan::new(Path::new("a <b>.toml"), &[], &Sweep { axes, zip: false }).expect("a plan")
    }

    fn html(plan: &Plan, image: Option<&[u8]>) -> String {
        let mut report = Report::new(plan, vec!["final.height".into(), "final.drops".into()]);
        for run in 0..plan.runs.len() {
            let theory = Theory { height: Some(1e-3 * (run + 1) as f64), ..Theory::default() };
            let reason = (run == 1).then(|| "it <broke>\nhere".to_owned());
            let status = if run == 1 { "failed" } else { "done" };
            let values = vec![(run != 1).then_some(1.1e-3 * (run + 1) as f64), Some(1.0)];
            report.add(ReportRun { run, status, values, theory, reason });
        }
        report.html(&|_| image.map(<[u8]>::to_vec))
    }

    #[test]
    fn the_page_is_self_contained_and_shows_everything() {
        let plan = plan(&["drops.0.volume=1,2,3 uL", "solids.0.material=glass,wax"]);
        let html = html(&plan, Some(b"png"));
        for wanted in [
            "Sweep of a &lt;b&gt;.toml",
            "6 runs: 5 done, 1 failed",
            "it &lt;broke&gt;",
            "final.height against drops.0.volume, by solids.0.material",
            "solids.0.material (0: glass, 1: wax)",
            "Young–Laplace, glass",
            "drops.0.volume (uL)",
            "data:image/png;base64,cG5n",
            "<h2>The same in all runs</h2>",
        ] {
            assert!(html.contains(wanted), "no {wanted} in\n{html}");
        }
        let foreign = html.replace("http://www.w3.org/2000/svg", "").contains("http");
        assert!(!foreign, "the page points elsewhere");
        assert!(!html.contains("NaN"), "{html}");
    }

    #[test]
    fn the_page_of_a_large_sweep_is_bounded() {
        let plan = plan(&["drops.0.volume=1..2 uL / 20000", "seed=1,2,3"]);
        let html = html(&plan, None);
        assert!(html.len() < 1_000_000, "{} bytes", html.len());
        assert!(!html.contains("against seed"), "seeds are not a parameter");
        assert_eq!((images(60_000), run_of_image(11, 60_000)), (12, 55_000));
        assert_eq!((images(3), run_of_image(2, 3)), (3, 2));
    }
}

//! `index.html` and `figures.json`: all figures of a folder, with their frames and measures.

use std::fmt::Write;
use std::path::Path;

use sessile_frames::{Durability, atomic};
use sessile_output::escape::xml;

use crate::catalog::{FIGURES, Figure, Paper};
use crate::error::FigureError;
use crate::record::{FigureRecord, MeasureRecord, PanelRecord};

const STYLE: &str = include_str!("page.css");

/// Writes the page of all figures that have a record in the folder.
///
/// # Panics
/// Never: measures are plain data.
pub fn write_page(folder: &Path) -> Result<(), FigureError> {
    let mut records = Vec::new();
    for figure in FIGURES.iter().copied().flatten() {
        if let Some(record) = FigureRecord::read(folder, figure.name)? {
            records.push((figure, record));
        }
    }
    let rows: Vec<&MeasureRecord> = records.iter().flat_map(|(_, record)| &record.measures).collect();
    let json = serde_json::to_string_pretty(&rows).expect("measures are plain data") + "\n";
    atomic::create_folder(folder)?;
    atomic::write(&folder.join("figures.json"), json.as_bytes(), Durability::Handed)?;
    atomic::write(&folder.join("index.html"), page(&records).as_bytes(), Durability::Handed)?;
    Ok(())
}

fn page(records: &[(&Figure, FigureRecord)]) -> String {
    let holding = records.iter().filter(|(_, record)| record.holds()).count();
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>The papers’ figures</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>The papers’ figures</h1>\n\
         <p>Scenes of four papers on water drops, simulated and measured by sessile {version}. {holding} of {all} \
         figures have all their measures within bounds. A bound comes from the paper or from theory; what is outside \
         it is marked.</p>\n",
        version = env!("CARGO_PKG_VERSION"),
        all = records.len(),
    );
    for paper in Paper::ALL {
        let of_paper: Vec<_> = records.iter().filter(|(figure, _)| figure.paper == paper).collect();
        if of_paper.is_empty() {
            continue;
        }
        let _ = writeln!(html, "<h2>{}</h2>", xml::text(paper.title()));
        for (figure, record) in of_paper {
            figure_section(&mut html, figure, record);
        }
    }
    html += "</main>\n</body>\n</html>\n";
    html
}

fn figure_section(html: &mut String, figure: &Figure, record: &FigureRecord) {
    let name = figure.name;
    let _ = writeln!(
        html,
        "<section id=\"{name}\">\n<h3>{name} <small>{}</small></h3>\n<p>{}</p>",
        xml::text(figure.number),
        xml::text(figure.shows)
    );
    if let Some(error) = &record.error {
        let _ = writeln!(html, "<p class=\"miss\">This figure failed: {}</p>", xml::text(error));
    }
    // Variants of one image each stand side by side, sequences one above the other.
    let side_by_side = record.panels.iter().all(|panel| panel.images.len() == 1);
    *html += if side_by_side { "<div class=\"side\">\n" } else { "<div>\n" };
    for panel in &record.panels {
        strip(html, figure, panel);
    }
    *html += "</div>\n";
    measures(html, &record.measures);
    if let Some(shortfall) = figure.shortfall.filter(|_| !record.holds()) {
        let _ = writeln!(html, "<p class=\"miss\">{}</p>", xml::text(shortfall));
    }
    let seconds: f64 = record.panels.iter().map(|panel| panel.cpu_seconds).sum();
    let settings = if record.quick {
        "reduced (--quick; the values tell that the scene runs, not whether the figure is reproduced): coarser and \
         shorter than the scene as shipped"
    } else {
        "as shipped"
    };
    let _ = writeln!(
        html,
        "<dl><dt>stated by the paper</dt><dd>{}</dd><dt>chosen here</dt><dd>{}</dd>\
         <dt>settings</dt><dd>{settings}{}</dd><dt>cost</dt><dd>{seconds:.0} CPU s of simulation</dd></dl>\n</section>",
        xml::text(figure.stated),
        xml::text(figure.chosen),
        xml::text(&overrides(figure))
    );
}

/// In which keys the panels differ from their scenes; empty if they do not.
fn overrides(figure: &Figure) -> String {
    let with_sets = figure.panels.iter().filter(|panel| !panel.sets.is_empty());
    let sets: Vec<_> = with_sets.map(|panel| format!("{}: {}", panel.name, panel.sets.join(", "))).collect();
    if sets.is_empty() { String::new() } else { format!(", except {}", sets.join("; ")) }
}

fn strip(html: &mut String, figure: &Figure, panel: &PanelRecord) {
    let _ = writeln!(html, "<figure>\n<div class=\"strip\">");
    let [width, height] = panel.size;
    for (image, time) in panel.images.iter().zip(&panel.times) {
        let alt = format!("{}, {}: {} At {:.0} ms.", figure.name, panel.name, figure.shows, 1e3 * time);
        let _ = writeln!(
            html,
            "<img src=\"images/{}\" alt=\"{}\" width=\"{width}\" height=\"{height}\" loading=\"lazy\">",
            xml::text(image),
            xml::text(&alt)
        );
    }
    let times: Vec<String> = panel.times.iter().map(|time| format!("{:.0}", 1e3 * time)).collect();
    let _ = writeln!(
        html,
        "</div>\n<figcaption>{} at {} ms</figcaption>\n</figure>",
        xml::text(&panel.name),
        times.join(", ")
    );
}

fn measures(html: &mut String, measures: &[MeasureRecord]) {
    if measures.is_empty() {
        return;
    }
    *html += "<table>\n<tr><th>measure</th><th>fidelity</th><th>value</th><th>bounds</th><th></th></tr>\n";
    for measure in measures {
        let value = measure.value.map_or_else(|| "not seen".to_owned(), number);
        let bounds = match (measure.min, measure.max) {
            (Some(min), Some(max)) if min == max => number(min),
            (Some(min), Some(max)) => format!("{} to {}", number(min), number(max)),
            (Some(min), None) => format!("at least {}", number(min)),
            (None, Some(max)) => format!("at most {}", number(max)),
            (None, None) => "–".to_owned(),
        };
        let (class, verdict) = if measure.ok { ("ok", "holds".to_owned()) } else { ("miss", missed(measure)) };
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{value}</td><td>{bounds}</td><td class=\"{class}\">{verdict}</td></tr>",
            xml::text(&measure.measure),
            xml::text(&measure.fidelity)
        );
    }
    *html += "</table>\n";
}

/// By how much a measure is missed.
fn missed(measure: &MeasureRecord) -> String {
    let Some(value) = measure.value else { return "missed".to_owned() };
    let below = measure.min.map(|min| min - value).filter(|below| *below > 0.0);
    let above = measure.max.map(|max| value - max).filter(|above| *above > 0.0);
    below.or(above).map_or_else(|| "missed".to_owned(), |by| format!("missed by {}", number(by)))
}

/// Three significant digits.
fn number(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { (2 - value.abs().log10().floor() as i32).clamp(0, 6) };
    let text = format!("{value:.*}", digits as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_significant_digits() {
        let texts = [1.0, 0.123_456, 1234.5, 0.0, -2.5, 9.999].map(number);
        assert_eq!(texts, ["1", "0.123", "1234", "0", "-2.5", "10"]);
    }

    #[test]
    fn the_page_names_the_keys_in_which_a_panel_differs_from_its_scene() {
        let bar = crate::catalog::find("bar").unwrap();
        assert_eq!(
            overrides(bar),
            ", except local: fidelity=\"paper\", surface.volume_correction=\"local\"; \
             global: fidelity=\"paper\", surface.volume_correction=\"global\""
        );
        assert_eq!(overrides(crate::catalog::find("pipe").unwrap()), "");
    }

    #[test]
    fn the_page_marks_misses_and_failures_and_escapes_text() {
        let folder = tempfile::tempdir().unwrap();
        let measure = MeasureRecord {
            figure: "bunny".into(),
            paper: "wang2005".into(),
            fidelity: "physical".into(),
            measure: "length < width".into(),
            value: Some(3.0),
            min: Some(8.0),
            max: None,
            ok: false,
        };
        let missed = FigureRecord { figure: "bunny".into(), measures: vec![measure], ..FigureRecord::default() };
        missed.write(folder.path()).unwrap();
        let quick = FigureRecord { figure: "pipe".into(), quick: true, ..FigureRecord::default() };
        quick.write(folder.path()).unwrap();
        let failed = FigureRecord { figure: "leaf".into(), error: Some("no <room>".into()), ..FigureRecord::default() };
        failed.write(folder.path()).unwrap();
        write_page(folder.path()).unwrap();
        let html = std::fs::read_to_string(folder.path().join("index.html")).unwrap();
        assert!(html.contains("<td>length &lt; width</td>") && html.contains("at least 8"), "{html}");
        assert!(html.contains("missed by 5") && html.contains("<dd>as shipped, except physical: "), "{html}");
        assert!(html.contains("This figure failed: no &lt;room&gt;") && html.contains("1 of 3"), "{html}");
        assert!(html.contains("<dd>reduced (--quick;"), "{html}");
        let json: serde_json::Value =
            serde_json::from_slice(&std::fs::read(folder.path().join("figures.json")).unwrap()).unwrap();
        assert_eq!(
            (json[0]["ok"].as_bool(), json[0]["min"].as_f64(), json[0]["max"].is_null()),
            (Some(false), Some(8.0), true)
        );
    }
}

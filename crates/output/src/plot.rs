//! Plots as SVG: axes with round ticks, a legend, expected curves dashed and results solid or
//! dotted.
//!
//! Colors come from the style sheet of the page (classes `s0`, `s1`, … for series; see
//! [`crate::html_page`]), for light and dark mode.

use std::fmt::Write;

use crate::escape::xml::text as escape;

/// A plot of several series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// Title.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Series.
    pub series: Vec<Series>,
}

/// An axis of a plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Label: quantity and unit.
    pub label: String,
    /// Logarithmic; values that are not positive are left out.
    pub log: bool,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), log: false }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), log: true }
    }
}

/// Style of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Expected values: a dashed line.
    Expected,
    /// Continuous results: a solid line.
    Line,
    /// Single results: dots.
    Points,
}

/// A series of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Style.
    pub mark: Mark,
    /// Points `(x, y)`; those that are not finite are left out.
    pub points: Vec<(f64, f64)>,
    /// Color index; by default its index among the series.
    pub color: Option<usize>,
}

impl Series {
    /// A named series.
    pub fn new(name: impl Into<String>, mark: Mark, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), mark, points, color: None }
    }

    /// The same series with a given color, for expected values and results that belong together.
    pub fn colored(self, color: usize) -> Self {
        Self { color: Some(color), ..self }
    }

    /// Color of the series at `index`.
    fn color_at(&self, index: usize) -> usize {
        self.color.unwrap_or(index) % NUM_COLORS
    }
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 18.0;
/// Spacing above the legend and between its lines.
const LEGEND_LINE: f64 = 20.0;
const BOTTOM: f64 = 52.0;
/// Number of colors; further series reuse the first ones.
const NUM_COLORS: usize = 6;

/// Style of a plot that stands alone: the colors of [`crate::html_page`] between light and dark.
const DOCUMENT_STYLE: &str = "text{font-family:sans-serif;fill:#6b7682;font-size:12px} .tick{font-size:11.5px} \
    .grid{stroke:#8a949e;stroke-opacity:.25;fill:none} .axis{stroke:#8a949e;fill:none} \
    .line{fill:none;stroke-width:2;stroke-linejoin:round} .expected{stroke-dasharray:6 4} \
    .s0{stroke:#2f8dd0} .s1{stroke:#d9702f} .s2{stroke:#35a069} .s3{stroke:#a866c4} .s4{stroke:#a58d20} \
    .s5{stroke:#cf5790} .dot{stroke:none} .dot.s0{fill:#2f8dd0} .dot.s1{fill:#d9702f} .dot.s2{fill:#35a069} \
    .dot.s3{fill:#a866c4} .dot.s4{fill:#a58d20} .dot.s5{fill:#cf5790}";

impl Plot {
    /// The plot as an `<svg>` element without width and height.
    pub fn svg(&self) -> String {
        let visible: Vec<Vec<(f64, f64)>> = self.series.iter().map(|series| self.visible_points(series)).collect();
        let x = Scale::over(visible.iter().flatten().map(|point| point.0), self.x.log, LEFT, WIDTH - RIGHT);
        let top = self.legend_places().last().map_or(0.0, |place| place.1) + LEGEND_LINE;
        let y = Scale::over(visible.iter().flatten().map(|point| point.1), self.y.log, HEIGHT - BOTTOM, top);

        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\" xmlns=\"http://www.w3.org/2000/svg\">",
            escape(&self.title)
        );
        self.draw_axes(&mut svg, &x, &y, top);
        for (index, (series, points)) in self.series.iter().zip(&visible).enumerate() {
            draw_series(&mut svg, series.color_at(index), series.mark, points, &x, &y);
        }
        self.draw_legend(&mut svg);
        svg.push_str("</svg>");
        svg
    }

    /// The plot as an SVG document with its own colors, which suit light and dark pages.
    pub fn document(&self) -> String {
        let svg = self.svg();
        let (head, rest) = svg.split_once('>').unwrap_or((&svg, ""));
        format!("{head} width=\"{WIDTH}\" height=\"{HEIGHT}\">\n<style>{DOCUMENT_STYLE}</style>\n{rest}\n")
    }

    fn visible_points(&self, series: &Series) -> Vec<(f64, f64)> {
        let fits = |value: f64, axis: &Axis| value.is_finite() && (!axis.log || value > 0.0);
        series.points.iter().copied().filter(|&(x, y)| fits(x, &self.x) && fits(y, &self.y)).collect()
    }

    fn draw_axes(&self, svg: &mut String, x: &Scale, y: &Scale, top: f64) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for tick in x.ticks() {
            let at = x.place(tick);
            let _ = write!(svg, "<path class=\"grid\" d=\"M{at:.1} {top}V{bottom}\"/>");
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 18.0,
                number(tick)
            );
        }
        for tick in y.ticks() {
            let at = y.place(tick);
            let _ = write!(svg, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/>");
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                at + 4.0,
                number(tick)
            );
        }
        let _ = write!(svg, "<path class=\"axis\" d=\"M{LEFT} {top}V{bottom}H{right}\"/>");
        let _ = write!(
            svg,
            "<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            0.5 * (LEFT + right),
            HEIGHT - 10.0,
            escape(&self.x.label)
        );
        let middle = 0.5 * (top + bottom);
        let _ = write!(
            svg,
            "<text class=\"label\" x=\"16\" y=\"{middle:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {middle:.1})\">{}</text>",
            escape(&self.y.label)
        );
    }

    /// Positions of the legend entries, in lines above the plot.
    fn legend_places(&self) -> Vec<(f64, f64)> {
        let (mut x, mut y) = (LEFT, LEGEND_LINE);
        let mut places = Vec::new();
        for series in &self.series {
            // 6.6 px is about the width of a character at 12 px.
            let width = 50.0 + 6.6 * series.name.chars().count() as f64;
            if x > LEFT && x + width > WIDTH - RIGHT {
                (x, y) = (LEFT, y + LEGEND_LINE);
            }
            places.push((x, y));
            x += width;
        }
        places
    }

    fn draw_legend(&self, svg: &mut String) {
        for (index, (series, (x, y))) in self.series.iter().zip(self.legend_places()).enumerate() {
            let color = series.color_at(index);
            let _ = match series.mark {
                Mark::Points => {
                    write!(svg, "<circle class=\"dot s{color}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>", x + 11.0)
                }
                mark => write!(svg, "<path class=\"{} s{color}\" d=\"M{x:.1} {y:.1}h22\"/>", line_class(mark)),
            };
            let (text_x, text_y) = (x + 28.0, y + 4.0);
            let name = escape(&series.name);
            let _ = write!(svg, "<text class=\"key\" x=\"{text_x:.1}\" y=\"{text_y:.1}\">{name}</text>");
        }
    }
}

fn line_class(mark: Mark) -> &'static str {
    if mark == Mark::Expected { "line expected" } else { "line" }
}

fn draw_series(svg: &mut String, color: usize, mark: Mark, points: &[(f64, f64)], x: &Scale, y: &Scale) {
    if mark == Mark::Points {
        for &(px, py) in points {
            let _ = write!(
                svg,
                "<circle class=\"dot s{color}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\"/>",
                x.place(px),
                y.place(py)
            );
        }
    } else if !points.is_empty() {
        let path: Vec<String> =
            points.iter().map(|&(px, py)| format!("{:.1} {:.1}", x.place(px), y.place(py))).collect();
        let _ = write!(svg, "<path class=\"{} s{color}\" d=\"M{}\"/>", line_class(mark), path.join("L"));
    }
}

/// Maps a range of values to a range of page coordinates.
struct Scale {
    low: f64,
    high: f64,
    log: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// Range of all values with a margin; whole decades on a logarithmic axis.
    fn over(values: impl Iterator<Item = f64>, log: bool, from: f64, to: f64) -> Self {
        let map = |value: f64| if log { value.log10() } else { value };
        let (mut low, mut high) =
            values.map(map).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let room = 0.05 * (high - low);
        // A single value, or values equal up to rounding, still need a readable axis.
        let spread = if log { 0.5 } else { 0.5 * low.abs().max(high.abs()) };
        let room = if high - low <= 1e-9 * spread { spread.max(f64::MIN_POSITIVE) } else { room };
        Self { low: low - room, high: high + room, log, from, to }
    }

    fn place(&self, value: f64) -> f64 {
        let value = if self.log { value.log10() } else { value };
        self.from + (self.to - self.from) * (value - self.low) / (self.high - self.low)
    }

    /// About six round values: multiples of 1, 2 or 5 times a power of ten; on a logarithmic axis
    /// all of these, or decades only.
    fn ticks(&self) -> Vec<f64> {
        if self.log && self.high - self.low >= 1.0 {
            let stride = ((self.high - self.low) / 7.0).ceil().max(1.0) as i32;
            if self.high - self.low < 3.0 {
                // Decades alone would be too few.
                let decades = (self.low.floor() as i32)..=(self.high.floor() as i32);
                let values = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|factor| factor * 10f64.powi(decade)));
                return values.filter(|value| (self.low..=self.high).contains(&value.log10())).collect();
            }
            let decades = (self.low.ceil() as i32)..=(self.high.floor() as i32);
            return decades.filter(|decade| decade % stride == 0).map(|decade| 10f64.powi(decade)).collect();
        }
        let (low, high) = if self.log { (10f64.powf(self.low), 10f64.powf(self.high)) } else { (self.low, self.high) };
        let rough = (high - low) / 6.0;
        let decade = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * decade)
            .into_iter()
            .find(|&step| step >= rough)
            .unwrap_or(10.0 * decade);
        let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
        (first..=last).map(|index| index as f64 * step).collect()
    }
}

/// A number with few digits; powers of ten beyond five places.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs();
    if !(1e-3..1e5).contains(&magnitude) {
        let text = format!("{value:.3e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa =
            if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
        return format!("{mantissa}e{exponent}");
    }
    let places = (4 - magnitude.log10().floor() as i32).clamp(0, 7) as usize;
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: Vec<(f64, f64)>, log: bool) -> Plot {
        Plot {
            title: "t".into(),
            x: Axis { label: "x".into(), log },
            y: Axis { label: "y".into(), log },
            series: vec![Series::new("a < b", Mark::Line, points)],
        }
    }

    #[test]
    fn ticks_are_round_and_inside_the_axis() {
        let scale = Scale::over([0.13, 0.87].into_iter(), false, 0.0, 100.0);
        let ticks: Vec<String> = scale.ticks().into_iter().map(number).collect();
        assert_eq!(ticks, ["0.2", "0.4", "0.6", "0.8"]);
        let log_ticks = |low: f64, high: f64| -> Vec<String> {
            Scale::over([low, high].into_iter(), true, 0.0, 100.0).ticks().into_iter().map(number).collect()
        };
        assert_eq!(log_ticks(1e-3, 1.0), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(log_ticks(18.0, 230.0), ["20", "50", "100", "200"]);
    }

    #[test]
    fn plots_contain_only_finite_numbers() {
        let degenerate = [
            vec![],
            vec![(1.0, 1.0)],
            vec![(0.0, 0.0)],
            vec![(f64::NAN, 1.0), (2.0, f64::INFINITY)],
            vec![(-1.0, 3.0), (5.0, 3.0)],
        ];
        for points in degenerate {
            for log in [false, true] {
                let svg = plot(points.clone(), log).svg();
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{points:?} gave {svg}");
            }
        }
    }

    #[test]
    fn long_legends_take_more_lines_and_stay_on_the_page() {
        let named = |name: &str| Series::new(name, Mark::Line, vec![(0.0, 1.0), (1.0, 2.0)]);
        let long = "a rather long name of a series";
        let drawn = Plot { series: vec![named(long), named(long), named(long)], ..plot(vec![], false) };
        let places = drawn.legend_places();
        assert_eq!(
            places.iter().map(|place| place.1).collect::<Vec<_>>(),
            [LEGEND_LINE, LEGEND_LINE, 2.0 * LEGEND_LINE]
        );
    }

    #[test]
    fn names_are_escaped() {
        assert!(plot(vec![(0.0, 1.0), (1.0, 2.0)], false).svg().contains("a &lt; b"));
    }

    #[test]
    fn numbers_read_well() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.001, "0.001"),
            (12345.678, "12346"),
            (4.19e-9, "4.19e-9"),
            (1e5, "1e5"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}

//! Bounding boxes of solids, as `check` and `import` print them.

use crate::table::table;

/// A name and the lower and upper corner of its bounding box, in m.
pub type NamedBox = (String, [[f64; 3]; 2]);

/// One line per box: size, lower and upper corner, in mm; and one for all of them together.
pub fn boxes(named: &[NamedBox]) -> String {
    if named.is_empty() {
        return String::new();
    }
    let mut rows: Vec<Vec<String>> = named.iter().map(|(name, bounds)| row(name, bounds)).collect();
    if named.len() > 1 {
        let all = named.iter().fold([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]], |[low, high], (_, [min, max])| {
            [[0, 1, 2].map(|i| low[i].min(min[i])), [0, 1, 2].map(|i| high[i].max(max[i]))]
        });
        rows.push(row("(all)", &all));
    }
    table(&["solid", "size (mm)", "from (mm)", "to (mm)"], &rows)
}

fn row(name: &str, [low, high]: &[[f64; 3]; 2]) -> Vec<String> {
    let text = |lengths: [f64; 3], between: &str| lengths.map(millimeters).join(between);
    let size = [0, 1, 2].map(|i| high[i] - low[i]);
    vec![name.to_owned(), text(size, " x "), text(*low, " "), text(*high, " ")]
}

/// A length in mm with four significant digits.
fn millimeters(length: f64) -> String {
    let rounded: f64 = format!("{:.3e}", length * 1e3).parse().unwrap_or(length * 1e3);
    // Negative zero and what is left of a rotation by a right angle.
    if rounded.abs() < 1e-9 { "0".to_owned() } else { rounded.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_in_millimeters_with_one_line_for_all() {
        let named = [
            ("cup".to_owned(), [[0.0, -1e-17, 0.0], [0.08, 0.1, 0.08]]),
            ("table".to_owned(), [[-0.5, -0.02, -0.25], [0.5, 0.0, 0.2500004]]),
        ];
        let text = boxes(&named);
        let lines: Vec<Vec<&str>> =
            text.lines().map(|line| line.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect()).collect();
        assert_eq!(lines[1], ["cup", "80 x 100 x 80", "0 0 0", "80 100 80"]);
        assert_eq!(lines[2], ["table", "1000 x 20 x 500", "-500 -20 -250", "500 0 250"]);
        assert_eq!(lines[3], ["(all)", "1000 x 120 x 500", "-500 -20 -250", "500 100 250"]);
        assert_eq!(boxes(&[]), "");
    }
}

//! Text tables with aligned columns.

/// Formats rows of cells under a heading.
///
/// Columns whose name ends in `)` or `#` hold numbers and are right-aligned; the `#` is not
/// printed.
pub fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let width_of = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([heading[column].trim_end_matches('#').chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width_of).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(&widths).zip(heading).map(|((cell, &width), name)| {
            if name.ends_with(')') || name.ends_with('#') {
                format!("{cell:>width$}")
            } else {
                format!("{cell:width$}")
            }
        });
        let text = padded.collect::<Vec<_>>().join("  ");
        text.trim_end().to_owned() + "\n"
    };
    let mut text = line(&mut heading.iter().map(|name| name.trim_end_matches('#')));
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_left_aligned_and_numbers_are_right_aligned() {
        let rows = [vec!["wax".to_owned(), "105".into()], vec!["car paint".into(), "85".into()]];
        assert_eq!(
            table(&["name", "angle (deg)"], &rows),
            "name       angle (deg)\nwax                105\ncar paint           85\n"
        );
    }
}

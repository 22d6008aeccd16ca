//! Identifiers that every program accepts: letters, digits and underscores, no leading digit.

use std::collections::{BTreeMap, BTreeSet};

/// Longest identifier before its number, in characters; file names end at 255 bytes.
const LONGEST: usize = 60;

/// Identifiers given so far, each different from all others, ignoring case.
///
/// ```
/// let mut identifiers = sessile_output::Identifiers::default();
/// assert_eq!(["table", "Table", "2"].map(|name| identifiers.unique(name)), ["table", "Table_2", "_2"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Identifiers {
    taken: BTreeSet<String>,
    /// The number to try next, by identifier without number.
    next: BTreeMap<String, u64>,
}

impl Identifiers {
    /// Turns `text` into an identifier that was not given before.
    pub fn unique(&mut self, text: &str) -> String {
        let base = identifier(text);
        let lower = base.to_ascii_lowercase();
        let mut name = base.clone();
        let number = self.next.entry(lower).or_insert(2);
        while !self.taken.insert(name.to_ascii_lowercase()) {
            name = format!("{base}_{number}");
            *number += 1;
        }
        name
    }
}

fn identifier(text: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut name: String = text.chars().take(LONGEST).map(kept).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_plain_and_distinct() {
        let mut taken = Identifiers::default();
        let names = ["table", "Table", "floor one", "2", "grün", "floor/one", "table_2", "TABLE"]
            .map(|text| taken.unique(text));
        assert_eq!(names, ["table", "Table_2", "floor_one", "_2", "gr_n", "floor_one_2", "table_2_2", "TABLE_3"]);
    }

    #[test]
    fn identifiers_of_long_and_many_equal_names_stay_short_and_cheap() {
        let mut taken = Identifiers::default();
        assert_eq!(taken.unique(&"n".repeat(5000)).len(), LONGEST);
        let many: BTreeSet<String> = (0..20_000).map(|_| taken.unique("part")).collect();
        assert_eq!(many.len(), 20_000);
    }
}

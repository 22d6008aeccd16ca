//! Identifiers that every program accepts: letters, digits and underscores, no leading digit.

/// Turns `text` into an identifier that differs from all in `taken`, ignoring case, and adds it
/// there.
pub fn unique_identifier(text: &str, taken: &mut Vec<String>) -> String {
    let base = identifier(text);
    let mut name = base.clone();
    let mut number = 2;
    while taken.iter().any(|other| other.eq_ignore_ascii_case(&name)) {
        name = format!("{base}_{number}");
        number += 1;
    }
    taken.push(name.clone());
    name
}

fn identifier(text: &str) -> String {
    let mut name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
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
        let mut taken = Vec::new();
        let names =
            ["table", "Table", "floor one", "2", "grün", "floor/one"].map(|text| unique_identifier(text, &mut taken));
        assert_eq!(names, ["table", "Table_2", "floor_one", "_2", "gr_n", "floor_one_2"]);
    }
}

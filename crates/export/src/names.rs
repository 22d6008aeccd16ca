//! Names that every program takes: letters, digits and underscores, not beginning with a digit.

/// A name for `text` that is not in `taken`, and is from now on.
pub fn unique(text: &str, taken: &mut Vec<String>) -> String {
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
    fn names_are_plain_and_all_different() {
        let mut taken = Vec::new();
        let names = ["table", "Table", "floor one", "2", "grün", "floor/one"].map(|text| unique(text, &mut taken));
        assert_eq!(names, ["table", "Table_2", "floor_one", "_2", "gr_n", "floor_one_2"]);
    }
}

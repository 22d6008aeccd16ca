//! The names that someone may have meant.

/// Up to three of `names` that are nearest to `wanted`: those that hold it, then those within a few typing errors.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = wanted.to_lowercase();
    let mut ranked: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let distance = edit_distance(&wanted, &lower);
            let holds = !wanted.is_empty() && lower.contains(&wanted);
            (holds || distance <= 1 + wanted.chars().count() / 3).then_some((if holds { 0 } else { distance }, name))
        })
        .collect();
    ranked.sort_unstable();
    ranked.dedup();
    ranked.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Insertions, deletions and replacements that turn one text into the other (Levenshtein's distance).
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_and_parts_of_names_are_found() {
        let names = ["window", "merge", "jurin-height", "lamb-mode-2"];
        assert_eq!(nearest("windwo", names), ["window"]);
        assert_eq!(nearest("jurin", names), ["jurin-height"]);
        assert_eq!(nearest("MERGE", names), ["merge"]);
        assert!(nearest("zzzzzz", names).is_empty());
    }
}

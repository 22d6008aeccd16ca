//! Nearest-name hints ("did you mean"): the known word closest to a misspelled one.

/// Longer words are not compared.
const LONGEST: usize = 40;

/// The candidate with the smallest edit distance, if that is small enough.
///
/// The distance is that of optimal string alignment: insertions, deletions, replacements and
/// transpositions. It may be up to a third of the word's length, and at least one. The first of
/// equally near candidates wins.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed: Vec<char> = word.chars().take(LONGEST + 1).flat_map(char::to_lowercase).collect();
    if typed.len() > LONGEST {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let known: Vec<char> = candidate.chars().flat_map(char::to_lowercase).collect();
        let allowed = (typed.len().max(known.len()) / 3).max(1);
        let distance = edits(&typed, &known);
        // Every one-letter word is one edit from every other one.
        let similar = distance <= allowed && distance < known.len().max(typed.len());
        if similar && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Edit distance of two words by optimal string alignment: insertions, deletions, replacements and
/// transpositions of neighbors.
pub fn edit_distance(a: &str, b: &str) -> usize {
    let [a, b] = [a, b].map(|word| word.chars().collect::<Vec<char>>());
    edits(&a, &b)
}

fn edits(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn misspelled_words_have_a_nearest_name_and_other_words_have_none() {
        let keys = ["radius", "center", "velocity", "on"];
        assert_eq!(nearest("raduis", keys), Some("radius"));
        assert_eq!(nearest("centre", keys), Some("center"));
        assert_eq!(nearest("Velocity", keys), Some("velocity"));
        assert_eq!(nearest("temperature", keys), None);
        assert_eq!(nearest("q", ["m", "s"]), None);
    }
}

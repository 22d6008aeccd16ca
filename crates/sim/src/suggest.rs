//! Suggestions for a mistyped name.

use sessile_scene::edit_distance;

/// A hint for a name that is not among `names`: the closest ones, or all of them after `otherwise`.
///
/// ```
/// use sessile_sim::suggest;
///
/// assert_eq!(suggest("windwo", ["window", "merge"], "scenes"), "did you mean window?");
/// assert_eq!(suggest("zzzzzz", ["window", "merge"], "scenes"), "scenes: window, merge");
/// ```
pub fn suggest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str> + Clone, otherwise: &str) -> String {
    let near = nearest(wanted, names.clone());
    if near.is_empty() {
        format!("{otherwise}: {}", names.into_iter().collect::<Vec<_>>().join(", "))
    } else {
        format!("did you mean {}?", near.join(", "))
    }
}

/// Up to three of `names` closest to `wanted`: those that contain it, then those within a few
/// edits.
fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = wanted.to_lowercase();
    let mut ranked: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let distance = edit_distance(&wanted, &lower);
            let contained = !wanted.is_empty() && lower.contains(&wanted);
            let close = contained || distance <= 1 + wanted.chars().count() / 3;
            close.then_some((if contained { 0 } else { distance }, name))
        })
        .collect();
    ranked.sort_unstable();
    ranked.dedup();
    ranked.into_iter().take(3).map(|(_, name)| name).collect()
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

//! File names of frames and of solids.

use std::collections::BTreeSet;

/// File name of a frame: its number with at least five digits.
pub fn frame_file(frame: u64, extension: &str) -> String {
    format!("{frame:05}.{extension}")
}

/// Frame number of a file name; `None` if [`frame_file`] does not produce that name.
pub fn frame_of(name: &str, extension: &str) -> Option<u64> {
    let digits = name.strip_suffix(extension)?.strip_suffix('.')?;
    let frame = digits.parse().ok()?;
    (frame_file(frame, extension) == name).then_some(frame)
}

/// Longest stem of a file name, in bytes; with prefix and suffix of temporary files it stays below
/// the 255 that file systems allow.
const LONGEST_STEM: usize = 200;

/// Whether a name can be the stem of a file name: one component, without control characters.
pub fn is_file_stem(name: &str) -> bool {
    !matches!(name, "" | "." | "..")
        && name.len() <= LONGEST_STEM
        && !name.contains(|c: char| c.is_control() || matches!(c, '/' | '\\'))
}

/// The name itself if it can be the stem of a file name, else one that resembles it.
pub fn file_stem(name: &str) -> String {
    if is_file_stem(name) { name.to_owned() } else { safe(name) }
}

/// File and folder names of solids, in order, unique even on case-insensitive file systems.
///
/// Letters, digits, `-`, `_` and inner `.` are kept, other characters become `_`; a reserved or
/// duplicate name is made unique by a suffix.
pub fn safe_names<S: AsRef<str>>(names: &[S]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    names
        .iter()
        .map(|name| {
            let safe = safe(name.as_ref());
            let free = |candidate: &String| !taken.contains(&candidate.to_lowercase());
            let name = std::iter::once(safe.clone())
                .chain((2_u64..).map(|k| format!("{safe}-{k}")))
                .find(free)
                .unwrap_or(safe);
            taken.insert(name.to_lowercase());
            name
        })
        .collect()
}

fn safe(name: &str) -> String {
    const LONGEST: usize = 60;
    let kept = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let safe: String = name.trim().chars().map(kept).take(LONGEST).collect();
    let safe = safe.trim_matches('.');
    // Windows reserves these names for devices, with any extension.
    let stem = safe.split('.').next().unwrap_or_default().to_ascii_uppercase();
    let device = ["CON", "PRN", "AUX", "NUL"].contains(&stem.as_str())
        || (stem.len() == 4
            && ["COM", "LPT"].iter().any(|d| stem.starts_with(d))
            && stem.ends_with(|c: char| c.is_ascii_digit()));
    if safe.is_empty() {
        "solid".to_owned()
    } else if device {
        format!("{safe}_")
    } else {
        safe.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_numbered_with_five_digits_or_more() {
        assert_eq!(frame_file(7, "ply"), "00007.ply");
        assert_eq!(frame_file(123_456, "png"), "123456.png");
        assert_eq!(frame_of("00007.ply", "ply"), Some(7));
        assert_eq!(frame_of("123456.png", "png"), Some(123_456));
        for foreign in
            ["7.ply", "00007.png", "0000a.ply", "00007.ply.bak", ".00007.ply.part", "000007.ply", "+0007.ply", ".ply"]
        {
            assert_eq!(frame_of(foreign, "ply"), None, "{foreign}");
        }
    }

    #[test]
    fn plain_names_are_kept_and_all_names_are_unique() {
        let names =
            ["table", "leaf-2", "a/b", "a_b", "Table", "../..", "", "con", "glass.left", "Blatt grün", "nul.txt"];
        let expected = [
            "table",
            "leaf-2",
            "a_b",
            "a_b-2",
            "Table-2",
            "_",
            "solid",
            "con_",
            "glass.left",
            "Blatt_grün",
            "nul.txt_",
        ];
        assert_eq!(safe_names(&names), expected);
    }
}

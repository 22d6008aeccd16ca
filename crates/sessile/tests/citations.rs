//! Every source cited in the code or the documentation is in `docs/references.bib`, which is sorted
//! and names no key twice.
//!
//! A dated key (lower-case letters, then a year) counts wherever it stands. A key without a year
//! counts as `(key, §5)` with some locator in the code, and as `[key]` in the documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What follows `(key, ` in a citation.
const LOCATORS: [&str; 10] = ["§", "eq.", "fig.", "table ", "p.", "pp.", "art.", "ch.", "Algorithm", "\""];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Files below a folder with this ending, in a fixed order.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
}

/// Keys of the bibliography, in its order.
fn bibliography() -> Vec<String> {
    let text = fs::read_to_string(root().join("docs/references.bib")).unwrap();
    let key = |line: &str| Some(line.strip_prefix('@')?.split_once('{')?.1.trim_end_matches(',').to_owned());
    text.lines().filter_map(key).collect()
}

/// Whether a word is lower-case letters, then a year of four digits and at most one more letter.
fn is_dated_key(word: &str) -> bool {
    let letters = word.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(word.len());
    let (name, year) = word.split_at(letters);
    let digits = year.trim_end_matches(|c: char| c.is_ascii_lowercase());
    name.len() >= 2
        && year.len() - digits.len() <= 1
        && digits.len() == 4
        && digits.bytes().all(|b| b.is_ascii_digit())
        && ("1600".."2100").contains(&digits)
}

/// A key without a year that the text cites here: what stands between `open` and one of the ends,
/// if that is one lower-case word.
fn undated_keys(text: &str, open: char, is_end: impl Fn(&str) -> bool) -> Vec<&str> {
    text.match_indices(open)
        .filter_map(|(at, _)| {
            let rest = &text[at + open.len_utf8()..];
            let length = rest.find(|c: char| !c.is_ascii_lowercase())?;
            (length >= 2 && is_end(&rest[length..])).then(|| &rest[..length])
        })
        .collect()
}

/// The text without code (between backticks) and HTML comments.
fn without_code(markdown: &str) -> String {
    let mut fenced = false;
    let mut kept = String::new();
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with("<!--") {
            kept.extend(line.split('`').step_by(2));
            kept.push('\n');
        }
    }
    kept
}

/// Keys that a file cites.
fn cited(path: &Path, text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let mut keys: BTreeSet<String> = words.filter(|word| is_dated_key(word)).map(str::to_owned).collect();
    if path.extension().is_some_and(|extension| extension == "md") {
        let prose = without_code(text);
        let is_end = |rest: &str| rest.starts_with(']') && !rest.starts_with("](");
        keys.extend(undated_keys(&prose, '[', is_end).into_iter().map(str::to_owned));
    } else {
        let is_end = |rest: &str| {
            rest.strip_prefix(", ").is_some_and(|rest| LOCATORS.iter().any(|locator| rest.starts_with(locator)))
        };
        let comments = text.lines().filter_map(|line| line.trim_start().strip_prefix("//"));
        for comment in comments {
            keys.extend(undated_keys(comment, '(', is_end).into_iter().map(str::to_owned));
        }
    }
    keys
}

#[test]
fn every_cited_source_is_in_the_bibliography() {
    let known: BTreeSet<String> = bibliography().into_iter().collect();
    let mut paths = Vec::new();
    files(&root().join("crates"), "rs", &mut paths);
    files(&root().join("docs"), "md", &mut paths);
    let mut missing: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    // This file's own examples are no citations.
    for path in paths.into_iter().filter(|path| !path.ends_with("citations.rs")) {
        for key in cited(&path, &fs::read_to_string(&path).unwrap()) {
            if !known.contains(&key) {
                missing.entry(key.clone()).or_default().push(path.clone());
            }
            seen.insert(key);
        }
    }
    assert!(missing.is_empty(), "cited, but not in docs/references.bib: {missing:#?}");
    for expected in ["algan", "povray", "toolbox", "furmidge1962"] {
        assert!(seen.contains(expected), "`{expected}` is cited, but was not found: {seen:?}");
    }
}

#[test]
fn bibliography_is_sorted_and_names_no_key_twice() {
    let keys = bibliography();
    assert!(keys.len() > 60, "only {} entries were found", keys.len());
    for pair in keys.windows(2) {
        assert!(pair[0] < pair[1], "`{}` stands before `{}`", pair[0], pair[1]);
    }
}

#[test]
fn citations_are_distinguished_from_other_words() {
    let code = Path::new("a.rs");
    let keys = |path: &Path, text: &str| cited(path, text).into_iter().collect::<Vec<_>>();
    assert_eq!(keys(code, "//! a law (smith1999, eq. 3; after brown1842a)"), ["brown1842a", "smith1999"]);
    assert_eq!(keys(code, "// as told (smith, §2), and (so, they say)\nlet a = f(x, p.y);"), ["smith"]);
    assert_eq!(keys(code, "blake3 sha256 f1234 x2000 seed99999 in 1999"), [""; 0]);
    assert_eq!(keys(Path::new("a.md"), "seen [smith], not `[pane]` nor [text](there)"), ["smith"]);
}

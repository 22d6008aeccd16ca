//! Example output in the documents is what the program prints.
//!
//! A fenced block whose preceding line is `<!-- output of: sessile … -->` is compared with the
//! standard output of that command, after `<!-- errors of: sessile … -->` with the standard error
//! of a command that fails; `<!-- setup: sessile … -->` lines before it are run first. A line `…`
//! in the block stands for the rest of the output. `<!-- file: NAME -->` before a block saves it
//! under that name, and `<!-- file: NAME with OLD => NEW -->` saves it changed. `BLESS=1 cargo test
//! -p sessile documents` rewrites the blocks.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::Scratch;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Splits a command line at blanks and drops the program's name; quotes are not needed so far.
fn arguments(command: &str) -> Vec<&str> {
    command.split_whitespace().skip(1).collect()
}

/// The text between `<!-- TAG: ` and ` -->` if the line is such a comment.
fn tagged<'a>(line: &'a str, tag: &str) -> Option<&'a str> {
    line.strip_prefix("<!-- ")?.strip_prefix(tag)?.strip_prefix(": ")?.strip_suffix(" -->")
}

/// `shown` with the program's current output: as many lines as it shows, and `…` where it is
/// shortened.
fn refreshed(shown: &[&str], output: &str) -> Vec<String> {
    match shown.iter().position(|&line| line == "…") {
        Some(kept) => output.lines().take(kept).map(str::to_owned).chain(["…".to_owned()]).collect(),
        None => output.lines().map(str::to_owned).collect(),
    }
}

/// The document with every checked block as the program prints it now, and the number of such
/// blocks.
fn with_current_output(text: &str, scratch: &Scratch) -> (String, usize) {
    let (mut new, mut checked) = (Vec::new(), 0);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        new.push(line.to_owned());
        if let Some(command) = tagged(line, "setup") {
            scratch.run(&arguments(command)).expect_code(0);
        }
        let output = match (tagged(line, "output of"), tagged(line, "errors of"), tagged(line, "file")) {
            (Some(command), ..) => Some(scratch.run(&arguments(command)).expect_code(0).stdout),
            (_, Some(command), _) => Some(scratch.run(&arguments(command)).expect_code(2).stderr),
            (.., Some(_)) => None,
            _ => {
                assert!(!is_unchecked_output(line, lines.peek()), "unchecked program output: {:?}", lines.peek());
                continue;
            }
        };
        new.push(lines.next().expect("a fenced block after a tag").to_owned());
        let mut shown = Vec::new();
        while lines.peek().is_some_and(|line| !line.starts_with("```")) {
            shown.extend(lines.next());
        }
        match (output, tagged(line, "file")) {
            (Some(output), _) => {
                new.extend(refreshed(&shown, &output));
                checked += 1;
            }
            (None, file) => {
                save(file.unwrap_or_default(), &shown, scratch);
                new.extend(shown.iter().map(|&line| line.to_owned()));
            }
        }
    }
    (new.join("\n") + "\n", checked)
}

/// Saves a block as `NAME`, or as `NAME with OLD => NEW`.
fn save(file: &str, shown: &[&str], scratch: &Scratch) {
    let text = shown.join("\n") + "\n";
    match file.split_once(" with ").and_then(|(name, change)| Some((name, change.split_once(" => ")?))) {
        Some((name, (old, new))) => {
            assert!(text.contains(old), "{name} has no {old}");
            scratch.write(name, text.replacen(old, new, 1));
        }
        None => scratch.write(file, text),
    }
}

/// Whether a block begins here that looks like what the program prints.
fn is_unchecked_output(line: &str, next: Option<&&str>) -> bool {
    line.starts_with("```text") && next.is_some_and(|next| next.starts_with("error: ") || next.starts_with("frame "))
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder in the scratch folder");
    for entry in fs::read_dir(from).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().expect("a file name"))).expect("a copy");
        }
    }
}

#[test]
fn example_output_is_what_the_program_prints() {
    let scratch = Scratch::new();
    for folder in ["scenes", "assets"] {
        copy_folder(&root().join(folder), &scratch.path(folder));
    }
    let mut documents = vec![root().join("README.md")];
    let pages = fs::read_dir(root().join("docs")).expect("docs/").map(|entry| entry.expect("an entry").path());
    documents.extend(pages.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    documents.sort();
    let mut blocks = 0;
    for path in documents {
        let text = fs::read_to_string(&path).expect("a readable document");
        let (current, checked) = with_current_output(&text, &scratch);
        blocks += checked;
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, current).expect("a writable document");
        } else if let Some((old, new)) = text.lines().zip(current.lines()).find(|(old, new)| old != new) {
            panic!("{} shows\n  {old}\nbut the program prints\n  {new}", path.display());
        } else {
            assert_eq!(text.lines().count(), current.lines().count(), "{}: another number of lines", path.display());
        }
    }
    assert!(blocks > 0, "no document has a checked block");
}

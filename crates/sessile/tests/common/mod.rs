//! The real program in a scratch folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// A small pane in the rain: forty frames, drops that start at rest, and some that run.
pub const RAIN: &str = r#"title = "Rain on a small pane"
model = "pane"
seed = 7

[time]
duration = "1 s"
frame = "25 ms"

[[solids]]
name = "window"
material = "glass"
shape = "plane"
point = "0 0 0 mm"
normal = [0, 0, 1]
size = "40 60 mm"

[[drops]]
shape = "cap"
on = "window"
center = "0 20 0 mm"
volume = "40 uL"
contact_angle = "40 deg"

[[drops]]
shape = "cap"
on = "window"
center = "15 10 0 mm"
volume = "5 uL"
contact_angle = "40 deg"

[[emitters]]
kind = "rain"
over = "window"
rate = "300 mm/h"
radius = { min = "0.4 mm", max = "1.2 mm" }
velocity = "0 -2 -4 m/s"
"#;

/// A scratch folder with the program in it, as it were.
pub struct Scratch {
    folder: TempDir,
}

impl Scratch {
    /// An empty folder that goes away in the end.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a scratch folder") }
    }

    /// One with `scene.toml` in it.
    pub fn with_scene(text: &str) -> Self {
        let scratch = Self::new();
        scratch.write("rain.toml", text);
        scratch
    }

    /// A path inside.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file inside.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).expect("a file in the scratch folder");
    }

    /// The program, about to be started in the folder.
    pub fn sessile(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sessile"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Finished {
        Finished::new(args, &self.sessile(args).output().expect("the program starts"))
    }

    /// Starts the program and leaves it running, its messages thrown away.
    pub fn start(&self, args: &[&str]) -> Child {
        self.sessile(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
    }

    /// `run.json` of a run folder; `None` while there is none.
    pub fn run_json(&self, run: &str) -> Option<serde_json::Value> {
        let text = fs::read_to_string(self.path(run).join("run.json")).ok()?;
        Some(serde_json::from_str(&text).expect("run.json is always whole"))
    }

    /// Every byte of results in a run folder: frames, wet maps, measures, solids, by path.
    pub fn results(&self, run: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let root = self.path(run);
        let mut files = BTreeMap::new();
        for part in ["frames", "wet", "solids", "measure.jsonl"] {
            collect(&root, &root.join(part), &mut files);
        }
        assert!(files.len() > 2, "{run} holds no results");
        files
    }
}

fn collect(root: &Path, path: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a readable folder") {
            collect(root, &entry.expect("a readable entry").path(), files);
        }
    } else if path.is_file() {
        files.insert(path.strip_prefix(root).expect("inside").to_owned(), fs::read(path).expect("a readable file"));
    }
}

/// Fails with the name of the first file that differs.
pub fn assert_same_results(got: &BTreeMap<PathBuf, Vec<u8>>, expected: &BTreeMap<PathBuf, Vec<u8>>, what: &str) {
    let (got_names, expected_names): (Vec<_>, Vec<_>) = (got.keys().collect(), expected.keys().collect());
    assert_eq!(got_names, expected_names, "{what}: other files");
    for (name, bytes) in expected {
        assert!(got[name] == *bytes, "{what}: {} differs", name.display());
    }
}

/// Reads a child's standard error up to the first line that begins with `start`; returns the rest
/// of the stream.
pub fn read_until_line(child: &mut Child, start: &str) -> impl BufRead + use<> {
    let mut lines = BufReader::new(child.stderr.take().expect("a piped standard error"));
    let mut line = String::new();
    while !line.starts_with(start) {
        line.clear();
        assert!(lines.read_line(&mut line).expect("readable") > 0, "it ends without a line {start:?}");
    }
    lines
}

/// A program that has ended.
#[derive(Debug)]
pub struct Finished {
    command: String,
    /// Exit code; −1 for a signal.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Finished {
    /// What an ended process left.
    pub fn new(args: &[&str], output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            command: args.join(" "),
            code: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Fails, showing everything, unless the exit code is `code`.
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "sessile {}\n--- stdout\n{}\n--- stderr\n{}",
            self.command, self.stdout, self.stderr
        );
        self
    }

    /// Fails, showing everything, unless standard error holds `part`.
    pub fn expect_message(self, part: &str) -> Self {
        assert!(self.stderr.contains(part), "sessile {}: no {part:?} in\n{}", self.command, self.stderr);
        assert!(!self.stderr.contains("panicked"), "sessile {} panicked:\n{}", self.command, self.stderr);
        self
    }
}

//! Invalid scenes: the complete error text of each is compared with a file.
//!
//! `tests/wrong/NAME.toml` gives `NAME.txt`. Lines `#: --set KEY=VALUE` at the top are arguments.
//! After a change of wording, review the differences, then accept them with `BLESS=1 cargo test -p
//! sessile-scene wrong`.

use std::fs;
use std::path::{Path, PathBuf};

use sessile_scene::{Files, NoFiles, parse_str};

/// Every file exists, except those called `missing…`; images called `broken…` are damaged.
struct SomeFiles;

impl Files for SomeFiles {
    fn resolve(&self, name: &str) -> PathBuf {
        NoFiles.resolve(name)
    }

    fn problem(&self, path: &Path) -> Option<String> {
        let name = path.file_name()?.to_str()?;
        name.starts_with("missing").then(|| "there is no such file".to_owned())
    }

    fn image_problem(&self, path: &Path) -> Option<String> {
        let name = path.file_name()?.to_str()?;
        name.starts_with("broken").then(|| "the image is damaged (no pixels); save it again".to_owned())
    }
}

fn wrong_scenes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn every_invalid_scene_gives_its_expected_errors() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut differing = Vec::new();
    let scenes = wrong_scenes();
    assert!(scenes.len() >= 60, "only {} wrong scenes", scenes.len());
    for path in scenes {
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let sets: Vec<String> = text.lines().filter_map(|l| l.strip_prefix("#: --set ")).map(str::to_owned).collect();
        let Err(errors) = parse_str(name, &text, &sets, &SomeFiles) else {
            differing.push(format!("{name} was accepted"));
            continue;
        };
        let got = format!("{errors}\n");
        let expected = path.with_extension("txt");
        if bless {
            fs::write(&expected, &got).unwrap();
        } else if fs::read_to_string(&expected).ok().as_deref() != Some(got.as_str()) {
            differing.push(format!("{name} now says:\n{got}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

//! Runs the committed corpora of the fuzz targets.

use std::fs;
use std::path::Path;

use sessile_fuzzing::TARGETS;

/// Every committed input passes its target, and every target has inputs.
#[test]
fn committed_corpora_pass_their_targets() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for target in TARGETS {
        let folder = root.join(target.name);
        let mut inputs: Vec<_> =
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())).collect();
        assert!(inputs.len() > 2, "{} has {} inputs", target.name, inputs.len());
        inputs.sort_by_key(|entry| entry.as_ref().map(fs::DirEntry::path).ok());
        for entry in inputs {
            let path = entry.expect("the corpus is readable").path();
            println!("{}", path.display());
            (target.run)(&fs::read(&path).expect("the corpus is readable"));
        }
    }
}

/// No corpus belongs to a target that does not exist.
#[test]
fn every_corpus_has_a_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for entry in fs::read_dir(root).expect("the corpus is readable") {
        let name = entry.expect("the corpus is readable").file_name();
        assert!(TARGETS.iter().any(|target| name == target.name), "no target for {name:?}");
    }
}

/// Prefixes and flipped bits of the committed inputs, as a fuzzer tries them first.
#[test]
fn truncated_and_damaged_inputs_pass_their_targets() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for target in TARGETS {
        for entry in fs::read_dir(root.join(target.name)).expect("the corpus is readable") {
            let path = entry.expect("the corpus is readable").path();
            println!("{}", path.display());
            let bytes = fs::read(&path).expect("the corpus is readable");
            for part in 1..8 {
                (target.run)(&bytes[..part * bytes.len() / 8]);
                let mut damaged = bytes.clone();
                if let Some(byte) = damaged.get_mut(part * bytes.len() / 8) {
                    *byte ^= 1 << part;
                    (target.run)(&damaged);
                }
            }
        }
    }
}

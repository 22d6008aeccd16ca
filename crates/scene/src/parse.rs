//! Entry points: from text and overrides to a resolved scene or its problems.

use std::path::Path;

use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::files::{Files, Folder};
use crate::reader::Context;
use crate::source::{Place, Source, Sources};
use crate::sweep_table::SweepTable;
use crate::types::Scene;
use crate::{overrides, resolve, sweep_table, tree};

/// Maximum size of a scene file, in bytes.
const LARGEST_FILE: usize = 4 << 20;

/// A valid scene and its warnings.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The scene.
    pub scene: Scene,
    /// Warnings, which do not prevent a run.
    pub warnings: Diagnostics,
    /// What `sessile sweep` varies, if the file says so.
    pub sweep: Option<SweepTable>,
}

/// Reads a scene from memory.
///
/// `name` is the file name in messages, `sets` are the arguments of `--set` (`KEY=VALUE`; `--model
/// M` is `model=M`), applied in order, and `files` finds the files that the scene refers to.
pub fn parse_str(name: &str, text: &str, sets: &[String], files: &dyn Files) -> Result<Parsed, Diagnostics> {
    if text.len() > LARGEST_FILE {
        let message = format!("the scene has {} bytes; the maximum is {LARGEST_FILE} bytes", text.len());
        return Err(Diagnostics::file_error(name, message));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut sources = Sources { list: vec![Source { name: name.to_owned(), text: text.to_owned() }] };
    for set in sets {
        sources.list.push(Source { name: "--set".to_owned(), text: set.clone() });
    }
    let (mut root, syntax) = tree::parse_file(text);
    let mut errors: Vec<Diagnostic> = Vec::new();
    for (index, set) in sets.iter().enumerate() {
        if set.len() > LARGEST_FILE {
            errors.push(Diagnostic::new(&Place::new(index + 1, 0..0), "this override is too long"));
        } else if let Err(error) = overrides::apply(&mut root, set, index + 1) {
            errors.push(error);
        }
    }
    // After a syntax error that may hide what follows, other problems are unreliable.
    if syntax.iter().any(|e| !e.local) {
        let list = tree::merge(syntax, errors, text);
        return Err(Diagnostics::new(Severity::Error, list, sources));
    }
    let sweep = sweep_table::take(&mut root, &mut errors);
    let context = Context::new(&sources, files);
    let scene = resolve::scene(&context, &root);
    let (found, warnings) = (context.errors.into_inner(), context.warnings.into_inner());
    errors.extend(found);
    let errors = tree::merge(syntax, errors, text);
    if errors.is_empty() {
        Ok(Parsed { scene, warnings: Diagnostics::new(Severity::Warning, warnings, sources), sweep })
    } else {
        Err(Diagnostics::new(Severity::Error, errors, sources))
    }
}

/// Reads a scene file; files that it refers to are relative to its folder.
pub fn parse_file(path: &Path, sets: &[String]) -> Result<Parsed, Diagnostics> {
    let name = path.to_string_lossy();
    let bytes = match sessile_input::read(path, LARGEST_FILE as u64) {
        Ok(bytes) => bytes,
        Err(e) => return Err(Diagnostics::file_error(&name, format!("cannot read the scene {name}: {e}"))),
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => {
            let at = e.utf8_error().valid_up_to();
            return Err(Diagnostics::file_error(&name, format!("the scene {name} is not UTF-8 text (byte {at})")));
        }
    };
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let base = absolute.parent().unwrap_or(Path::new("/"));
    parse_str(&name, &text, sets, &Folder::new(base))
}

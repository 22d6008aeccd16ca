//! The scene file: parsed with positions, checked by dimension, resolved to SI units, printed back.
//!
//! A scene is a TOML file whose physical quantities are strings with units. [`parse_file`] (or
//! [`parse_str`], without a file) turns it into a [`Scene`]: SI units and radians, every default
//! filled in, every reference resolved. Otherwise it returns [`Diagnostics`]: all problems at once,
//! each with file, line, column and a caret. [`print()`] writes a scene as a complete file that
//! reads back bit-identically, [`same_run`] says whether a scene can resume the run of another one,
//! and [`json_schema`] describes the format for other programs.
//!
//! ```
//! use sessile_scene::{NoFiles, parse_str, print};
//!
//! let text = r#"
//!     model = "volume"
//!     [time]
//!     duration = "30 ms"
//!     frame = "1 ms"
//!     [[solids]]
//!     name = "table"
//!     shape = "plane"
//!     [[drops]]
//!     shape = "cap"
//!     on = "table"
//!     volume = "4.2 uL"
//!     contact_angle = "90 deg"
//! "#;
//! let parsed = parse_str("drop.toml", text, &[], &NoFiles)?;
//! assert_eq!(parsed.scene.time.last_frame(), 30);
//!
//! let again = parse_str("scene.toml", &print(&parsed.scene), &[], &NoFiles)?;
//! assert_eq!(again.scene, parsed.scene);
//!
//! let wrong = parse_str("drop.toml", text, &["drops.0.volume=3 deg".into()], &NoFiles).unwrap_err();
//! assert!(wrong.to_string().contains("`volume` is a volume (e.g. \"1 uL\"), but \"3 deg\" is an angle"));
//! # Ok::<(), sessile_scene::Diagnostics>(())
//! ```
//!
//! Modules: [`types`] declares every key, as a field with its schema entry (`declare` says how to
//! add one); `schema` is the format as data; `tree` has the TOML values with their positions;
//! `overrides` applies `--set`; `reader`, `values` and `quantities` read keys according to the
//! schema and collect problems; `field` connects fields with their keys; `resolve` has derived
//! defaults, references between sections and checks; `print` writes a scene.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod color_values;
mod declare;
mod diagnostics;
mod field;
mod files;
mod overrides;
mod parse;
mod presets;
mod print;
mod quantities;
mod reader;
mod resolve;
mod run_identity;
mod schema;
mod source;
mod suggest;
mod sweep_table;
pub mod text;
pub mod tree;
pub mod types;
mod units;
mod values;

pub use diagnostics::{Diagnostic, Diagnostics, Severity};
pub use files::{Files, Folder, NoFiles};
pub use parse::{Parsed, parse_file, parse_str};
pub use print::{print, quoted};
pub use run_identity::{RunRelation, image_keys, same_run, simulation_identity};
pub use schema::json_schema;
pub use source::{Place, Source, Sources};
pub use suggest::edit_distance;
pub use sweep_table::SweepTable;
pub use types::*;

//! `sessile schema`: prints the JSON Schema of scene files.

use std::io::{Write, stdout};

use crate::failure::Failure;

/// Prints the schema, indented.
pub fn schema() -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(&sessile_scene::json_schema()).map_err(Failure::failed)?;
    writeln!(stdout(), "{text}")?;
    Ok(())
}

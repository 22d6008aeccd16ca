//! `[sweep]`: values that `sessile sweep` varies. All other commands ignore the table.
//!
//! ```toml
//! [sweep]
//! seeds = 5
//! drops.0.volume = "10..60 uL / 6"
//! materials.glass.receding = ["40 deg", "50 deg"]
//! ```

use crate::diagnostics::Diagnostic;
use crate::tree::{Node, Table, Value};

/// The contents of `[sweep]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepTable {
    /// Paths of keys and their values, as on the command line, in the order of the file.
    pub over: Vec<(String, String)>,
    /// Number of seeds.
    pub seeds: Option<u32>,
    /// Whether the n-th values of all keys belong together.
    pub zip: bool,
}

/// Removes the table from the scene and reads it.
pub(crate) fn take(root: &mut Node, errors: &mut Vec<Diagnostic>) -> Option<SweepTable> {
    let Value::Table(scene) = &mut root.value else { return None };
    let at = scene.entries.iter().position(|entry| entry.key == "sweep")?;
    let node = scene.entries.remove(at).node;
    let Value::Table(table) = &node.value else {
        errors.push(Diagnostic::new(&node.place, "`sweep` must be a table").label(node.value.kind()));
        return None;
    };
    let mut sweep = SweepTable::default();
    for entry in &table.entries {
        match (entry.key.as_str(), &entry.node.value) {
            ("zip", Value::Bool(zip)) => sweep.zip = *zip,
            ("zip", _) => errors.push(Diagnostic::new(&entry.node.place, "`zip` must be true or false")),
            ("seeds", value) => match value.number() {
                Some(count) if count >= 1.0 && count <= f64::from(u32::MAX) && count.fract() == 0.0 => {
                    sweep.seeds = Some(count as u32);
                }
                _ => errors.push(Diagnostic::new(&entry.node.place, "`seeds` must be a number of seeds, 1 or more")),
            },
            (key, _) => flatten(&component(key), &entry.node, &mut sweep.over, errors),
        }
    }
    Some(sweep)
}

/// A component of a path. Keys that are paths themselves (`"drops.0.volume"`) stay as they are.
fn component(key: &str) -> String {
    let plain = key.chars().all(|c| c.is_alphanumeric() || "_-.\"'".contains(c));
    if plain { key.to_owned() } else { format!("\"{key}\"") }
}

fn flatten(path: &str, node: &Node, over: &mut Vec<(String, String)>, errors: &mut Vec<Diagnostic>) {
    match &node.value {
        Value::Table(Table { entries }) => {
            for entry in entries {
                flatten(&format!("{path}.{}", component(&entry.key)), &entry.node, over, errors);
            }
        }
        Value::List(list) => {
            let values: Option<Vec<String>> = list.iter().map(|node| scalar(&node.value)).collect();
            match values {
                Some(values) if !values.is_empty() => over.push((path.to_owned(), values.join(", "))),
                _ => errors.push(Diagnostic::new(&node.place, "expected a list of texts or numbers")),
            }
        }
        value => match scalar(value) {
            Some(text) => over.push((path.to_owned(), text)),
            None => errors.push(
                Diagnostic::new(&node.place, "expected values to vary")
                    .label(value.kind())
                    .help("e.g. \"10..60 uL / 6\" or \"40,50,60 deg\""),
            ),
        },
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        value => value.number().filter(|number| number.is_finite()).map(|number| number.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse_file;

    fn read(text: &str) -> (Option<SweepTable>, usize) {
        let (mut root, _) = parse_file(text);
        let mut errors = Vec::new();
        let sweep = take(&mut root, &mut errors);
        let Value::Table(table) = &root.value else { panic!("a table") };
        assert!(table.get("sweep").is_none(), "the table is removed");
        (sweep, errors.len())
    }

    #[test]
    fn keys_keep_the_order_of_the_file() {
        let text = "[sweep]\nworld.tilt = \"0..90 deg / 4\"\nseeds = 3\nzip = true\n\"drops.0.volume\" = [\"1 uL\", \"2 uL\"]\n\
                    materials.\"my wax\".receding = 40\n";
        let (sweep, errors) = read(text);
        assert_eq!(errors, 0);
        let expected = [
            ("world.tilt", "0..90 deg / 4"),
            ("drops.0.volume", "1 uL, 2 uL"),
            ("materials.\"my wax\".receding", "40"),
        ];
        let over = expected.map(|(key, values)| (key.to_owned(), values.to_owned())).to_vec();
        assert_eq!(sweep, Some(SweepTable { over, seeds: Some(3), zip: true }));
        assert_eq!(read("model = \"pane\"\n"), (None, 0));
    }

    #[test]
    fn wrong_entries_are_errors() {
        for text in
            ["sweep = 3", "[sweep]\nseeds = 0", "[sweep]\nzip = 1", "[sweep]\na = []", "[sweep]\na = 2020-01-01"]
        {
            assert_eq!(read(text).1, 1, "{text}");
        }
    }
}

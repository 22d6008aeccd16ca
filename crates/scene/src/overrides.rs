//! `--set KEY=VALUE`: a dotted path into the scene and its new value.

use crate::diagnostics::Diagnostic;
use crate::source::Place;
use crate::tree::{Entry, Node, Table, Value, parse_value, shortened};

/// Maximum depth of a path.
const DEEPEST: usize = 16;

/// One component of a path and its position in the argument.
struct Step {
    key: String,
    place: Place,
    quoted: bool,
}

impl Step {
    fn index(&self) -> Option<usize> {
        let plain = !self.quoted && self.key.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| self.key.parse().unwrap_or(usize::MAX))
    }
}

/// Applies one argument, which is source number `source`, to the tree.
pub(crate) fn apply(root: &mut Node, argument: &str, source: usize) -> Result<(), Diagnostic> {
    let whole = Place::new(source, 0..argument.len());
    let example = "e.g. --set resolution.cell=\"0.05 mm\" or --set drops.0.radius=\"2 mm\"";
    let Some(equals) = find_equals(argument) else {
        return Err(Diagnostic::new(&whole, "expected KEY=VALUE").label("missing `=`").help(example));
    };
    let steps = parse_path(&argument[..equals], source)?;
    let value = read_value(&argument[equals + 1..], source, equals + 1)?;
    let mut node = root;
    let mut walked = String::from("the scene");
    for (n, step) in steps.iter().enumerate() {
        let next_is_index = steps.get(n + 1).is_some_and(|s| s.index().is_some());
        node = descend(node, step, next_is_index, &walked)?;
        walked =
            if n == 0 { format!("`{}`", step.key) } else { format!("{}.{}`", walked.trim_end_matches('`'), step.key) };
    }
    *node = value;
    Ok(())
}

/// The first `=` outside quotes.
fn find_equals(argument: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in argument.char_indices() {
        match (quote, c) {
            (None, '=') => return Some(at),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

fn parse_path(path: &str, source: usize) -> Result<Vec<Step>, Diagnostic> {
    let mut steps = Vec::new();
    let mut at = 0;
    loop {
        let rest = &path[at..];
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let length = match quote {
            Some(q) => rest[1..].find(q).map_or(rest.len(), |n| n + 2),
            None => rest.find('.').unwrap_or(rest.len()),
        };
        let place = Place::new(source, at..at + length);
        let text = rest[..length].trim();
        let key = if quote.is_some() { text.trim_matches(['"', '\'']) } else { text };
        let plain = quote.is_some() || key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if key.is_empty() || !plain {
            return Err(Diagnostic::new(&place, "invalid path: expected keys and list indices separated by dots")
                .label(if key.is_empty() { "missing key" } else { "not a key" })
                .help("e.g. drops.0.radius; quote keys with special characters: materials.\"my wax\".receding"));
        }
        steps.push(Step { key: key.to_owned(), place: place.clone(), quoted: quote.is_some() });
        if steps.len() > DEEPEST {
            return Err(Diagnostic::new(&place, "the path is too deep"));
        }
        at += length;
        if at >= path.len() {
            return Ok(steps);
        }
        if !path[at..].starts_with('.') {
            let place = Place::new(source, at..path.len());
            return Err(Diagnostic::new(&place, "invalid path: expected keys and list indices separated by dots")
                .label("expected a dot"));
        }
        at += 1;
    }
}

/// A TOML value, or else text, because the shell usually removes the quotes.
fn read_value(text: &str, source: usize, offset: usize) -> Result<Node, Diagnostic> {
    let start = text.len() - text.trim_start().len();
    let trimmed = text.trim();
    let place = Place::new(source, offset + start..offset + start + trimmed.len());
    let as_text = |place| Node { value: Value::Text(trimmed.to_owned()), place };
    match parse_value(trimmed, source, offset + start) {
        Some(Node { value: Value::Date, .. }) => Ok(as_text(place)),
        Some(node) => Ok(node),
        None if trimmed.starts_with(['"', '\'', '[', '{']) => {
            Err(Diagnostic::new(&place, format!("`{}` is not a TOML value", shortened(trimmed)))
                .label("unclosed quote or bracket, or incomplete value"))
        }
        None if trimmed.is_empty() => {
            let end = Place::new(source, 0..offset);
            Err(Diagnostic::new(&end, "a value is missing after `=`").label("nothing follows"))
        }
        None => Ok(as_text(place)),
    }
}

fn descend<'t>(node: &'t mut Node, step: &Step, next_is_index: bool, walked: &str) -> Result<&'t mut Node, Diagnostic> {
    let kind = node.value.kind();
    match &mut node.value {
        Value::List(list) => {
            let Some(index) = step.index() else {
                return Err(Diagnostic::new(&step.place, format!("{walked} is a list: give the index of an entry"))
                    .label("expected an index, counted from 0"));
            };
            let length = list.len();
            list.get_mut(index).ok_or_else(|| out_of_range(step, walked, length))
        }
        Value::Table(table) => {
            if next_is_index && table.get(&step.key).is_none() {
                return Err(Diagnostic::new(&step.place, format!("the scene has no list `{}`", step.key))
                    .label("no such list")
                    .help("--set changes existing entries of a list; add new ones to the file"));
            }
            if table.get(&step.key).is_none() {
                table.entries.push(Entry {
                    key: step.key.clone(),
                    key_place: step.place.clone(),
                    node: Node { value: Value::Table(Table::default()), place: step.place.clone() },
                });
            }
            table
                .get_mut(&step.key)
                .map(|entry| &mut entry.node)
                .ok_or_else(|| Diagnostic::new(&step.place, "this key cannot be set"))
        }
        _ => Err(Diagnostic::new(&step.place, format!("{walked} is {kind}, not a table or list"))
            .label("not a table or list")),
    }
}

fn out_of_range(step: &Step, walked: &str, length: usize) -> Diagnostic {
    let has = match length {
        0 => "is empty".to_owned(),
        1 => "has one entry, 0".to_owned(),
        n => format!("has {n} entries, 0 to {}", n - 1),
    };
    Diagnostic::new(&step.place, format!("{walked} {has}")).label("no such entry")
}

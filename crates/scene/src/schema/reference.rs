//! The tables of `docs/scene.md`, generated from the schema.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::{Affects, Default, Key, Table, ValueType, all_tables};
use crate::types::{IMAGE_OF_ADHESION, IMAGE_OF_ANGLES, IMAGE_OF_BUMPS, IMAGE_OF_FACTORS, IMAGE_OF_FRICTION};
use crate::units;

fn page_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene.md")
}

fn page() -> String {
    std::fs::read_to_string(page_path()).unwrap()
}

/// The type of a value in words.
fn type_words(value: &ValueType) -> String {
    let quantity = |kind: &crate::quantities::QuantityKind| kind.name.split_once(' ').map_or("", |(_, name)| name);
    match value {
        ValueType::Text => "text".into(),
        ValueType::Boolean => "`true` or `false`".into(),
        ValueType::Integer(low, high) if *high >= u64::from(u32::MAX) => format!("integer, {low} or more"),
        ValueType::Integer(low, high) => format!("integer, {low} to {high}"),
        ValueType::IntegerPair(low, high) => format!("two integers, {low} to {high}"),
        ValueType::Number(range) => match range {
            super::Range::Any => "number".into(),
            range => format!("number, {}", range.requirement("")),
        },
        ValueType::Quantity(kind, range) => match range {
            super::Range::Any => quantity(kind).to_owned(),
            range => format!("{}, {}", quantity(kind), range.requirement(&format!(" {}", kind.unit))),
        },
        ValueType::Vector(kind) => format!("three numbers, {}", quantity(kind)),
        ValueType::Size(kind) => format!("two positive numbers, {}", quantity(kind)),
        ValueType::QuantityPair(kind, _) => format!("list of two, {}", quantity(kind)),
        ValueType::Direction => "three numbers, a direction".into(),
        ValueType::Color => "one or three numbers, zero or more".into(),
        ValueType::SurfaceColor => "three numbers from 0 to 1 (sRGB); or `\"#aabbcc\"`".into(),
        ValueType::Tiling => "one or two positive numbers".into(),
        ValueType::Word(words) => words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", "),
        ValueType::File(what) | ValueType::Name(what) => format!("name of {what}"),
        ValueType::Table(_) => "table".into(),
        ValueType::List(_) => "list of tables".into(),
        ValueType::Named(_) => "tables by name".into(),
        ValueType::OneOf(list) => list.iter().map(type_words).collect::<Vec<_>>().join("; or "),
    }
}

fn row(key: &Key) -> String {
    let default = match key.default {
        Default::Required(_) => "*required*".to_owned(),
        Default::RequiredUnless(other) => format!("*required*, or `{other}`"),
        Default::Value(text) => format!("`{text}`"),
        Default::Derived(text) => text.to_owned(),
    };
    let affects = match key.affects {
        Affects::Simulation => "simulation",
        Affects::Images => "images",
        Affects::Video => "video",
        Affects::Nothing => "nothing",
    };
    format!("`{}` | {} | {default} | {} | {affects} |", key.name, type_words(&key.value), key.doc)
}

/// The Markdown table of a section.
fn markdown(table: &Table) -> String {
    let mut text = String::from("| key | value | default | meaning | affects |\n|---|---|---|---|---|\n");
    for key in table.keys() {
        writeln!(text, "| {}", row(key)).unwrap();
    }
    if !table.variants.is_empty() {
        write!(
            text,
            "\n| {} | key | value | default | meaning | affects |\n|---|---|---|---|---|---|\n",
            table.variant_key
        )
        .unwrap();
    }
    for variant in table.variants {
        for (i, key) in variant.keys().enumerate() {
            let name = if i == 0 { format!("`\"{}\"` ", variant.name) } else { String::new() };
            writeln!(text, "| {name}| {}", row(key)).unwrap();
        }
    }
    text
}

/// Marks the beginning of a generated table.
fn opening(table: &Table) -> String {
    let keys: Vec<&str> = table.keys().take(3).map(|key| key.name).collect();
    // The kinds of images have the same keys.
    let of = match () {
        () if std::ptr::eq(table, &raw const IMAGE_OF_ANGLES) => " angles",
        () if std::ptr::eq(table, &raw const IMAGE_OF_FACTORS) => " factors",
        () if std::ptr::eq(table, &raw const IMAGE_OF_BUMPS) => " bump heights",
        () if std::ptr::eq(table, &raw const IMAGE_OF_ADHESION) => " adhesion",
        () if std::ptr::eq(table, &raw const IMAGE_OF_FRICTION) => " friction",
        () => "",
    };
    format!("<!-- generated: {} ({}){of} -->\n", table.title, keys.join(", "))
}

const CLOSING: &str = "<!-- end -->";

/// After a change of the schema: `BLESS=1 cargo test -p sessile-scene reference`.
#[test]
fn the_tables_of_the_reference_are_those_of_the_schema() {
    let mut page = page();
    let bless = std::env::var_os("BLESS").is_some();
    for table in all_tables() {
        let opening = opening(table);
        let start = page.find(&opening).unwrap_or_else(|| panic!("docs/scene.md lacks {opening}")) + opening.len();
        let end = start + page[start..].find(CLOSING).expect("an end marker");
        let expected = format!("\n{}\n", markdown(table));
        if bless {
            page.replace_range(start..end, &expected);
        } else {
            assert_eq!(page[start..end], expected, "docs/scene.md: {}", table.title);
        }
    }
    if bless {
        std::fs::write(page_path(), page).unwrap();
    }
}

#[test]
fn the_reference_lists_every_unit() {
    let page = page();
    for symbol in units::symbols() {
        assert!(page.contains(&format!("`{symbol}`")), "docs/scene.md lacks the unit {symbol}");
    }
}

#[test]
fn the_examples_of_the_reference_are_valid() {
    let page = page();
    let mut seen = 0;
    for block in page.split("```toml\n").skip(1) {
        let block = block.split("```").next().unwrap_or("");
        let start = "model = \"volume\"\ntime = { duration = \"1 s\", frame = \"1 s\" }\n";
        let text = if block.contains("model =") { block.to_owned() } else { format!("{start}{block}") };
        crate::parse_str("docs/scene.md", &text, &[], &crate::NoFiles).unwrap_or_else(|e| panic!("{e}"));
        seen += 1;
    }
    assert!(seen >= 8, "only {seen} examples");
}

#[test]
fn every_default_value_of_the_schema_is_valid() {
    for table in all_tables() {
        for key in table.keys_of(None) {
            if let Default::Value(text) = key.default {
                assert!(crate::tree::parse_value(text, 0, 0).is_some(), "{} of {}: {text}", key.name, table.title);
            }
            assert!(!key.doc.is_empty() && !key.doc.ends_with('.'), "{} of {}", key.name, table.title);
        }
        let words = |key: &Key| match key.value {
            ValueType::Word(words) => words.to_vec(),
            _ => Vec::new(),
        };
        if !table.variants.is_empty() {
            let names: Vec<&str> = table.variants.iter().map(|v| v.name).collect();
            assert_eq!(words(table.key(table.variant_key, None)), names, "{}", table.title);
        }
    }
}

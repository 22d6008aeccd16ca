//! The format as JSON Schema (draft 2020-12), for editors and other programs.
//!
//! Each kind of quantity is defined once, under `$defs`. Keys refer to it by `allOf`, because
//! editors and earlier drafts ignore keywords beside a `$ref`.

use serde_json::{Map, Value as Json, json};

use super::{Affects, Default, Key, Range, Table, ValueType, all_tables};
use crate::field::Fields;
use crate::quantities::QuantityKind;
use crate::tree::{Node, Value, parse_value};
use crate::types::Scene;
use crate::units;

/// A JSON Schema of scene files, as TOML values map to JSON.
pub fn json_schema() -> Json {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "sessile scene",
        "description": "A scene file of sessile (TOML).",
    });
    merge(&mut schema, object(Scene::TABLE.keys(), None));
    let sweep = "values that `sessile sweep` varies: paths of keys, `seeds` and `zip`; ignored by other commands";
    if let Some(Json::Object(properties)) = schema.get_mut("properties") {
        properties.insert("sweep".into(), json!({ "type": "object", "description": sweep }));
    }
    let types = all_tables().into_iter().flat_map(|table| table.keys_of(None)).flat_map(|key| key.value.alternatives());
    let definitions: Map<String, Json> = types.filter_map(quantity_of).map(definition).collect();
    merge(&mut schema, json!({ "$defs": definitions }));
    schema
}

/// The kind of a quantity, and how many numbers its text has.
fn quantity_of(value: &ValueType) -> Option<(&'static QuantityKind, usize)> {
    match value {
        ValueType::Quantity(kind, _) | ValueType::QuantityPair(kind, _) => Some((kind, 1)),
        ValueType::Size(kind) => Some((kind, 2)),
        ValueType::Vector(kind) => Some((kind, 3)),
        _ => None,
    }
}

/// The name of a quantity's definition: `length`, `length-vector`.
fn definition_name(kind: &QuantityKind, count: usize) -> String {
    let name = kind.name.split_once(' ').map_or(kind.name, |(_, name)| name);
    format!("{}{}", name.replace(", ", "-").replace(' ', "-"), ["", "", "-pair", "-vector"][count.min(3)])
}

/// The definition of a quantity: text of `count` numbers and a unit.
fn definition((kind, count): (&QuantityKind, usize)) -> (String, Json) {
    let example = crate::quantities::example(kind, count);
    let title = format!("{}, e.g. {example}", kind.name);
    let text = json!({ "type": "string", "title": title, "pattern": quantity_pattern(count), "examples": [example] });
    (definition_name(kind, count), text)
}

fn merge(into: &mut Json, from: Json) {
    if let (Json::Object(into), Json::Object(from)) = (into, from) {
        into.extend(from);
    }
}

/// The schema of a table: one object, or one per variant.
fn table(table: &Table) -> Json {
    if table.variants.is_empty() {
        return object(table.keys(), None);
    }
    let variants = table.variants.iter().map(|variant| {
        let keys = table.keys().chain(variant.keys());
        object(keys, Some((table.key(table.variant_key, None), variant.name)))
    });
    json!({ "anyOf": variants.collect::<Vec<_>>() })
}

/// An object with the keys; `variant` is the key that must have a value for this object to apply.
fn object(keys: impl Iterator<Item = &'static Key>, variant: Option<(&'static Key, &str)>) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut alternatives = Vec::new();
    for key in keys {
        let mut value = value_type(&key.value);
        let mut is_required = matches!(key.default, Default::Required(_));
        if let Some((_, name)) = variant.filter(|(selector, _)| selector.name == key.name) {
            value = json!({ "const": name });
            is_required = !matches!(key.default, Default::Value(text) if text == format!("\"{name}\""));
        }
        merge(&mut value, describe(key));
        properties.insert(key.name.to_owned(), value);
        // Both of a pair name each other; the pair counts once.
        if let Default::RequiredUnless(other) = key.default
            && properties.contains_key(other)
        {
            alternatives.push(json!({ "oneOf": [{ "required": [other] }, { "required": [key.name] }] }));
        }
        if is_required {
            required.push(key.name);
        }
    }
    let mut object =
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    if !alternatives.is_empty() {
        merge(&mut object, json!({ "allOf": alternatives }));
    }
    object
}

/// Description, default and what the key affects.
fn describe(key: &Key) -> Json {
    let affects = match key.affects {
        Affects::Simulation => "the simulation",
        Affects::Images => "images only",
        Affects::Video => "the video only",
        Affects::Nothing => "nothing",
    };
    let (default, words) = match key.default {
        Default::Required(_) => (None, "Required.".to_owned()),
        Default::RequiredUnless(other) => (None, format!("Required, or `{other}`.")),
        Default::Value(text) => (parse_value(text, 0, 0).map(|node| json_value(&node)), format!("Default: {text}.")),
        Default::Derived(text) => (None, format!("Default: {text}.")),
    };
    let mut described = json!({ "description": format!("{}. {words} Affects {affects}.", capitalized(key.doc)) });
    if let Some(default) = default {
        merge(&mut described, json!({ "default": default }));
    }
    described
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn json_value(node: &Node) -> Json {
    match &node.value {
        Value::Text(text) => json!(text),
        Value::Bool(value) => json!(value),
        Value::List(list) => Json::Array(list.iter().map(json_value).collect()),
        Value::Integer { digits, .. } => digits.parse::<i64>().map_or(Json::Null, Json::from),
        Value::Float(text) => text.parse::<f64>().map_or(Json::Null, Json::from),
        Value::Date | Value::Table(_) => Json::Null,
    }
}

fn value_type(value: &ValueType) -> Json {
    match value {
        ValueType::Text => json!({ "type": "string" }),
        ValueType::File(what) | ValueType::Name(what) => {
            json!({ "type": "string", "title": format!("name of {what}") })
        }
        ValueType::Boolean => json!({ "type": "boolean" }),
        ValueType::Integer(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
        ValueType::IntegerPair(low, high) => {
            let item = json!({ "type": "integer", "minimum": low, "maximum": high });
            json!({ "type": "array", "items": item, "minItems": 2, "maxItems": 2 })
        }
        ValueType::Number(range) => number(*range),
        ValueType::Quantity(kind, _) => quantity(kind, 1),
        ValueType::Vector(kind) => quantity(kind, 3),
        ValueType::Size(kind) => quantity(kind, 2),
        ValueType::QuantityPair(kind, _) => {
            json!({ "type": "array", "items": quantity(kind, 1), "minItems": 2, "maxItems": 2 })
        }
        ValueType::Direction => triple(Range::Any),
        ValueType::Color => json!({ "anyOf": [number(Range::NotNegative), triple(Range::NotNegative)] }),
        ValueType::SurfaceColor => {
            let hex = json!({ "type": "string", "title": "an sRGB color, e.g. #aabbcc" });
            json!({ "anyOf": [hex, triple(Range::Closed(0.0, 1.0))] })
        }
        ValueType::Tiling => {
            let pair = json!({ "type": "array", "items": number(Range::Positive), "minItems": 2, "maxItems": 2 });
            json!({ "anyOf": [number(Range::Positive), pair] })
        }
        ValueType::Word(names) => json!({ "type": "string", "enum": names }),
        ValueType::Table(inner) => table(inner),
        ValueType::List(inner) => json!({ "type": "array", "items": table(inner) }),
        ValueType::Named(inner) => json!({ "type": "object", "additionalProperties": table(inner) }),
        ValueType::OneOf(list) => {
            let mut options: Vec<Json> = list.iter().map(value_type).collect();
            options.dedup();
            json!({ "anyOf": options })
        }
    }
}

fn number(range: Range) -> Json {
    let bounds = match range {
        Range::Any => json!({}),
        Range::Positive => json!({ "exclusiveMinimum": 0 }),
        Range::NotNegative => json!({ "minimum": 0 }),
        Range::Closed(low, high) => json!({ "minimum": low, "maximum": high }),
        Range::Open(low, high) => json!({ "exclusiveMinimum": low, "exclusiveMaximum": high }),
        Range::OpenClosed(low, high) => json!({ "exclusiveMinimum": low, "maximum": high }),
    };
    let mut schema = json!({ "type": "number" });
    merge(&mut schema, bounds);
    schema
}

fn triple(range: Range) -> Json {
    json!({ "type": "array", "items": number(range), "minItems": 3, "maxItems": 3 })
}

/// A reference to the definition of a quantity.
fn quantity(kind: &QuantityKind, count: usize) -> Json {
    json!({ "allOf": [{ "$ref": format!("#/$defs/{}", definition_name(kind, count)) }] })
}

/// A regular expression (ECMA-262) for `count` numbers and a product of known units.
///
/// The dimension is not checked.
fn quantity_pattern(count: usize) -> String {
    let number = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?";
    let mut symbols: Vec<String> = units::symbols().map(|symbol| symbol.replace('u', "[uµμ]")).collect();
    symbols.sort_by_key(|symbol| std::cmp::Reverse(symbol.len()));
    let factor = format!("({})(\\^[+-]?[1-9]|⁻?[¹²³⁴⁵⁶⁷⁸⁹])?", symbols.join("|"));
    let unit = format!("(1? */ *)?{factor}( *[*·⋅/ ] *{factor})*");
    let numbers = vec![number; count].join(" +");
    format!("^ *{numbers} *{unit} *$")
}

//! The JSON Schema: every valid scene satisfies it, and scenes with wrong keys do not.

use crate::pattern;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::{Value, json};
use sessile_scene::json_schema;

/// The problems of a value, for the part of JSON Schema that the scene format uses.
fn problems(schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (keyword, argument) in schema.as_object().expect("a schema is an object") {
        match keyword.as_str() {
            "$schema"
            | "$defs"
            | "title"
            | "description"
            | "default"
            | "examples"
            | "required"
            | "additionalProperties" => {}
            "type" => found.extend(wrong_type(argument, value)),
            "const" => found.extend((argument != value).then(|| format!("is not {argument}"))),
            "enum" => {
                found.extend((!argument.as_array().unwrap().contains(value)).then(|| "is none of the words".into()));
            }
            "pattern" => {
                let matches = value.as_str().is_none_or(|text| pattern::matches(argument.as_str().unwrap(), text));
                found.extend((!matches).then(|| format!("{value} does not match")));
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                found.extend(out_of_bounds(keyword, argument.as_f64().unwrap(), value));
            }
            "minItems" | "maxItems" => {
                let count = value.as_array().map_or(0, Vec::len) as u64;
                let bound = argument.as_u64().unwrap();
                let wrong = if keyword == "minItems" { count < bound } else { count > bound };
                found.extend(wrong.then(|| format!("has {count} items")));
            }
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(problems(argument, item, &format!("{path}.{i}")));
                }
            }
            "anyOf" => {
                let options = argument.as_array().unwrap().iter().map(|option| problems(option, value, path));
                // The option of the right variant, if any, explains the problems best.
                let other_variant = |problems: &Vec<String>| problems.iter().any(|p| p.contains(": is not \""));
                let least =
                    options.min_by_key(|problems| (other_variant(problems), problems.len())).unwrap_or_default();
                found.extend(least);
            }
            "allOf" => {
                found.extend(argument.as_array().unwrap().iter().flat_map(|part| problems(part, value, path)));
            }
            "oneOf" => {
                let options = argument.as_array().unwrap();
                let fitting = options.iter().filter(|option| problems(option, value, path).is_empty()).count();
                found.extend((fitting != 1).then(|| format!("fits {fitting} of {argument}")));
            }
            "properties" => found.extend(wrong_properties(schema, value, path)),
            other => panic!("the validator does not know `{other}`"),
        }
    }
    if !schema.as_object().unwrap().contains_key("properties") {
        found.extend(wrong_properties(schema, value, path));
    }
    found
        .into_iter()
        .map(|problem| if problem.contains(": ") { problem } else { format!("{path}: {problem}") })
        .collect()
}

fn wrong_type(wanted: &Value, value: &Value) -> Option<String> {
    let right = match wanted.as_str().unwrap() {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("unknown type {other}"),
    };
    (!right).then(|| format!("{value} is not of type {wanted}"))
}

fn out_of_bounds(keyword: &str, bound: f64, value: &Value) -> Option<String> {
    let number = value.as_f64()?;
    let right = match keyword {
        "minimum" => number >= bound,
        "maximum" => number <= bound,
        "exclusiveMinimum" => number > bound,
        _ => number < bound,
    };
    (!right).then(|| format!("{number} is out of bounds"))
}

fn wrong_properties(schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let Some(object) = value.as_object() else { return Vec::new() };
    let mut found = Vec::new();
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        found.extend((!object.contains_key(name)).then(|| format!("{path}: lacks {name}")));
    }
    for (name, inner) in object {
        let path = format!("{path}.{name}");
        match (&schema["properties"][name], &schema["additionalProperties"]) {
            (property @ Value::Object(_), _) => found.extend(problems(property, inner, &path)),
            (_, Value::Bool(false)) => found.push(format!("{path}: unknown key")),
            (_, other @ Value::Object(_)) => found.extend(problems(other, inner, &path)),
            _ => {}
        }
    }
    found
}

/// A schema with its references replaced by what they refer to.
fn without_references(schema: &Value, root: &Value) -> Value {
    match schema {
        Value::Object(keywords) => {
            let mut expanded = serde_json::Map::new();
            for (keyword, argument) in keywords {
                let reference = argument[0]["$ref"].as_str().filter(|_| keyword == "allOf");
                match reference.map(|reference| root.pointer(&reference[1..]).expect("a definition")) {
                    Some(definition) => expanded.extend(definition.as_object().expect("a schema").clone()),
                    None => drop(expanded.insert(keyword.clone(), without_references(argument, root))),
                }
            }
            Value::Object(expanded)
        }
        Value::Array(list) => list.iter().map(|item| without_references(item, root)).collect(),
        other => other.clone(),
    }
}

fn scene_problems(text: &str) -> Vec<String> {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| without_references(&json_schema(), &json_schema()));
    let scene: Value = toml::from_str(text).unwrap();
    problems(&SCHEMA, &scene, "scene")
}

fn scenes(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect()
}

#[test]
fn every_shipped_and_every_test_scene_satisfies_the_schema() {
    let paths = [scenes("../../scenes"), scenes("tests/right")].concat();
    assert!(paths.len() >= 20, "only {} scenes", paths.len());
    for path in paths {
        let found = scene_problems(&fs::read_to_string(&path).unwrap());
        assert!(found.is_empty(), "{}:\n{}", path.display(), found.join("\n"));
    }
}

#[test]
fn printed_scenes_satisfy_the_schema() {
    for path in scenes("tests/right") {
        let text = fs::read_to_string(&path).unwrap();
        let scene = sessile_scene::parse_str("s.toml", &text, &[], &sessile_scene::NoFiles).unwrap().scene;
        let found = scene_problems(&sessile_scene::print(&scene));
        assert!(found.is_empty(), "{}:\n{}", path.display(), found.join("\n"));
    }
}

#[test]
fn wrong_keys_and_values_do_not_satisfy_the_schema() {
    let start = "model = \"volume\"\ntime = { duration = \"1 s\", frame = \"1 s\" }\n";
    assert_eq!(scene_problems(start), Vec::<String>::new());
    for (wrong, expected) in [
        ("sede = 3", "scene.sede: unknown key"),
        ("seed = -1", "scene.seed: -1 is out of bounds"),
        ("[render]\nsamples = 0", "scene.render.samples: 0 is out of bounds"),
        ("[render]\nsize = [640]", "scene.render.size: has 1 items"),
        ("[world]\nplanar = \"yes\"", "scene.world.planar: \"yes\" is not of type \"boolean\""),
        ("[resolution]\ncell = \"3\"", "scene.resolution.cell: \"3\" does not match"),
        ("[resolution]\ncell = \"3 mmm\"", "scene.resolution.cell: \"3 mmm\" does not match"),
        ("[[solids]]\nlook = \"glas\"", "scene.solids.0.look: is none of the words"),
        ("[[solids]]\nshape = \"sphere\"", "scene.solids.0: lacks radius"),
        ("[[solids]]\nradius = \"3 mm\"", "scene.solids.0.radius: unknown key"),
        ("[materials.wax]\nadvancng = \"90 deg\"", "scene.materials.wax.advancng: unknown key"),
        ("[droplet.springs]\ntwist = 1", "scene.droplet.springs.twist: unknown key"),
    ] {
        let found = scene_problems(&format!("{start}{wrong}\n"));
        assert!(found.iter().any(|problem| problem == expected), "{wrong}: {found:?}");
    }
}

#[test]
fn every_property_has_a_description_and_values_their_default() {
    fn check(schema: &Value, path: &str) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            assert!(property["description"].is_string(), "{path}.{name}");
            check(property, &format!("{path}.{name}"));
        }
    }
    let schema = json_schema();
    check(&schema, "scene");
    assert_eq!(schema["properties"]["render"]["properties"]["size"]["default"], json!([640, 360]));
    assert_eq!(schema["properties"]["model"]["enum"], json!(["pane", "droplet", "surface", "volume"]));
    assert_eq!(schema["required"], json!(["model", "time"]));
}

/// Editors load the schema for every scene.
#[test]
fn the_pattern_of_each_kind_of_quantity_is_written_once() {
    let schema = json_schema();
    let text = schema.to_string();
    let patterns = schema["$defs"].as_object().unwrap().values().filter(|kind| kind["pattern"].is_string()).count();
    assert_eq!(text.matches("\"pattern\"").count(), patterns);
    assert!(text.len() < 80_000, "{} bytes", text.len());
}

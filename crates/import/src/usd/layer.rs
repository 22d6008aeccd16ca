//! The contents of a USD layer, as far as importing a model needs them.

use std::collections::BTreeMap;

use super::error::UsdError;
use super::{binary_layer, text_layer};

/// Value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum UsdValue {
    /// No value, or one of a type that is not read.
    Nothing,
    /// One number or many; the components of vectors and matrices are listed one after another.
    Numbers(Vec<f64>),
    /// Tokens, strings, paths or asset names.
    Texts(Vec<String>),
}

/// Time codes and values of an animated property.
pub type TimeSamples = Vec<(f64, UsdValue)>;

impl UsdValue {
    pub(super) fn numbers(&self) -> &[f64] {
        if let Self::Numbers(values) = self { values } else { &[] }
    }

    pub(super) fn number(&self) -> Option<f64> {
        self.numbers().first().copied()
    }

    pub(super) fn texts(&self) -> &[String] {
        if let Self::Texts(values) = self { values } else { &[] }
    }

    pub(super) fn text(&self) -> Option<&str> {
        self.texts().first().map(String::as_str)
    }
}

/// A prim.
#[derive(Clone, Debug, Default)]
pub struct UsdPrim {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Values and targets of its properties; the first sample of those that are animated.
    pub properties: BTreeMap<String, UsdValue>,
    /// All samples of animated transforms (`xformOp:…`) and of `points`: time code and numbers, by
    /// increasing time.
    pub samples: BTreeMap<String, Vec<(f64, Vec<f64>)>>,
    /// Names of other properties that have more than one sample.
    pub animated: Vec<String>,
    /// Its children.
    pub children: Vec<UsdPrim>,
    /// Whether it refers to other layers.
    pub composed: bool,
}

/// Whether all samples of a property are kept: those of transforms and of points.
pub(super) fn keeps_samples(name: &str) -> bool {
    name.starts_with("xformOp:") || name == "points"
}

impl UsdPrim {
    /// Stores the samples of a property, of which the first is its value.
    pub(super) fn set_samples(&mut self, name: &str, samples: TimeSamples) {
        if let Some((_, first)) = samples.first().filter(|(_, first)| *first != UsdValue::Nothing) {
            self.properties.entry(name.to_owned()).or_insert_with(|| first.clone());
        }
        if samples.len() < 2 {
            return;
        }
        if keeps_samples(name) {
            let mut numbers: Vec<(f64, Vec<f64>)> =
                samples.into_iter().map(|(time, value)| (time, value.numbers().to_vec())).collect();
            numbers.retain(|(time, _)| time.is_finite());
            numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.samples.insert(name.to_owned(), numbers);
        } else {
            self.animated.push(name.to_owned());
        }
    }

    pub(super) fn numbers(&self, name: &str) -> &[f64] {
        self.properties.get(name).map_or(&[], UsdValue::numbers)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.properties.get(name).and_then(UsdValue::number)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.properties.get(name).and_then(UsdValue::text)
    }
}

/// A layer.
#[derive(Clone, Debug, Default)]
pub struct UsdLayer {
    /// Metadata of the layer.
    pub metadata: BTreeMap<String, UsdValue>,
    /// Root prims.
    pub prims: Vec<UsdPrim>,
}

impl UsdLayer {
    /// Reads a layer, text or binary, recognized by its first bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, UsdError> {
        if bytes.starts_with(b"PXR-USDC") {
            binary_layer::parse(bytes)
        } else if bytes.starts_with(b"#usda") {
            text_layer::parse(&String::from_utf8_lossy(bytes))
        } else {
            Err(UsdError::NotALayer)
        }
    }
}

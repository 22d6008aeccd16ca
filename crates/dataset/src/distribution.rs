//! Random values, written as text.
//!
//! ```text
//! uniform(a, b) unit        also normal(mean, deviation), loguniform(a, b)
//! uniform(a b c, d e f) unit    a vector, each component by itself
//! choice(a, b, c)           one of these
//! anything else             itself
//! ```
//!
//! Draws are those of `sessile sweep`: they depend on the seed and the key only.

use serde::{Deserialize, Serialize};
use sessile_sweep::Axis;

/// The names of the distributions.
const NAMES: [&str; 4] = ["uniform", "normal", "loguniform", "choice"];

/// A distribution, or one value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Distribution {
    text: String,
    drawn: Option<Drawn>,
}

/// A distribution that draws.
#[derive(Clone, Debug, PartialEq)]
struct Drawn {
    name: &'static str,
    /// Arguments, each with its components.
    arguments: Vec<Vec<String>>,
    unit: String,
}

impl Distribution {
    /// Reads a distribution; the error says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim().to_owned();
        let name = text.split_once('(').and_then(|(name, _)| NAMES.into_iter().find(|known| *known == name.trim()));
        let Some(name) = name else {
            let call = text.split_once('(').filter(|(name, _)| name.chars().all(|c| c.is_ascii_alphabetic()));
            return match call {
                Some((name, _)) => Err(format!("there is no distribution `{name}`: use {}", NAMES.join(", "))),
                None => Ok(Self { text, drawn: None }),
            };
        };
        let inside = &text[text.find('(').unwrap_or(0) + 1..];
        let (arguments, unit) = inside.rsplit_once(')').ok_or("a closing parenthesis is missing")?;
        let arguments: Vec<Vec<String>> = arguments
            .split(',')
            .map(|argument| match name {
                "choice" => vec![argument.trim().to_owned()],
                _ => argument.split_whitespace().map(str::to_owned).collect(),
            })
            .collect();
        if name != "choice" && (arguments.len() != 2 || arguments[0].len() != arguments[1].len()) {
            return Err(format!("{name} takes two numbers, or two vectors: {name}(1, 2) or {name}(0 0 1, 0 0 2)"));
        }
        let drawn = Drawn { name, arguments, unit: unit.trim().to_owned() };
        let distribution = Self { text, drawn: Some(drawn) };
        distribution.try_draw("", 0)?;
        Ok(distribution)
    }

    /// As written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value of a key for a seed.
    pub fn draw(&self, key: &str, seed: u64) -> String {
        self.try_draw(key, seed).unwrap_or_else(|_| self.text.clone())
    }

    fn try_draw(&self, key: &str, seed: u64) -> Result<String, String> {
        let Some(Drawn { name, arguments, unit }) = &self.drawn else { return Ok(self.text.clone()) };
        let draw = |key: String, arguments: String| {
            let axis =
                Axis::parse(&format!("{key}={name}({arguments}) * 1"), seed).map_err(|error| error.to_string())?;
            Ok::<String, String>(axis.values.into_iter().next().unwrap_or_default())
        };
        let components = if *name == "choice" { 1 } else { arguments[0].len() };
        let values = (0..components).map(|c| {
            let of = arguments.iter().map(|argument| argument[c].as_str());
            draw(format!("dataset.{key}.{c}"), of.collect::<Vec<_>>().join(", "))
        });
        Ok(with_unit(&values.collect::<Result<Vec<_>, _>>()?.join(" "), unit))
    }

    /// Values that are valid if all draws are: both ends, or the mean, or all choices.
    pub fn examples(&self) -> Vec<String> {
        let Some(Drawn { name, arguments, unit }) = &self.drawn else { return vec![self.text.clone()] };
        let shown = if *name == "normal" { &arguments[..1] } else { &arguments[..] };
        shown.iter().map(|argument| with_unit(&argument.join(" "), unit)).collect()
    }
}

impl TryFrom<String> for Distribution {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<Distribution> for String {
    fn from(distribution: Distribution) -> Self {
        distribution.text
    }
}

fn with_unit(value: &str, unit: &str) -> String {
    if unit.is_empty() { value.to_owned() } else { format!("{value} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_lie_in_their_range_and_depend_on_seed_and_key() {
        let range = Distribution::parse("uniform(2, 4) mm").unwrap();
        for seed in 0..50 {
            let value: f64 = range.draw("k", seed).strip_suffix(" mm").unwrap().parse().unwrap();
            assert!((2.0..4.0).contains(&value), "{value}");
        }
        assert_eq!(range.draw("k", 3), range.draw("k", 3));
        assert_ne!(range.draw("k", 3), range.draw("l", 3));
        assert_eq!(range.examples(), ["2 mm", "4 mm"]);
    }

    #[test]
    fn vectors_choices_and_plain_values() {
        let vector = Distribution::parse("uniform(-1 0 5, 1 0 6) mm").unwrap().draw("k", 1);
        let numbers: Vec<f64> = vector.strip_suffix(" mm").unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
        assert!(numbers[0].abs() <= 1.0 && numbers[1] == 0.0 && (5.0..6.0).contains(&numbers[2]), "{vector}");
        let words = Distribution::parse("choice(sky, garden)").unwrap();
        assert!((0..40).all(|seed| ["sky", "garden"].contains(&words.draw("k", seed).as_str())));
        assert!((0..40).any(|seed| words.draw("k", seed) == "sky"));
        assert_eq!(Distribution::parse("3 mm/h").unwrap().draw("k", 9), "3 mm/h");
    }

    #[test]
    fn wrong_distributions_are_errors() {
        for text in ["uniform(1)", "uniform(1, 2", "uniform(1 2, 3)", "loguniform(0, 1)", "gauss(1, 2)"] {
            assert!(Distribution::parse(text).is_err(), "{text}");
        }
    }
}

//! The values of a swept key.
//!
//! ```text
//! a,b,c unit              the values listed (names too: glass,wax)
//! a..b unit / n           n values, both ends included, evenly spaced
//! a..b unit log / n       the same, evenly spaced in the logarithm
//! uniform(a, b) unit * n  n random values; also normal(mean, deviation), loguniform(a, b)
//! choice(a, b, c) * n     n random picks
//! ```

use serde::{Deserialize, Serialize};
use sessile_world::random::Stream;

use crate::error::SweepError;

/// The largest number of values of one key.
const MAX_VALUES: usize = 1_000_000;

/// A scene key and the values that it takes, as they are given to `--set`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Dotted path of the key.
    pub key: String,
    /// Its values.
    pub values: Vec<String>,
}

/// The range of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Between {
    /// Dotted path of the key.
    pub key: String,
    /// Lower end, in `unit`.
    pub low: f64,
    /// Upper end, in `unit`.
    pub high: f64,
    /// Unit; empty for a pure number.
    pub unit: String,
}

impl Axis {
    /// Reads `KEY=VALUES`; `seed` and the key determine random draws.
    pub fn parse(argument: &str, seed: u64) -> Result<Self, SweepError> {
        let wrong = |reason: &str| SweepError::Values { argument: argument.to_owned(), reason: reason.to_owned() };
        let (key, text) = key_and_text(argument).ok_or_else(|| wrong("expected KEY=VALUES"))?;
        let values = random_draws(key, text, seed).or_else(|| range(text)).unwrap_or_else(|| list(text));
        let values = values.map_err(|reason| wrong(&reason))?;
        Ok(Self { key: key.to_owned(), values })
    }
}

impl Between {
    /// Reads `KEY=A..B unit`.
    pub fn parse(argument: &str) -> Result<Self, SweepError> {
        let wrong = |reason: &str| SweepError::Between { argument: argument.to_owned(), reason: reason.to_owned() };
        let (key, text) = key_and_text(argument).ok_or_else(|| wrong("expected KEY=A..B"))?;
        let (low, high, unit) = ends(text).ok_or_else(|| wrong("expected two numbers separated by `..`"))?;
        if low >= high {
            return Err(wrong("the first end must be the smaller one"));
        }
        Ok(Self { key: key.to_owned(), low, high, unit: unit.to_owned() })
    }

    /// A value of the range, as given to `--set`.
    pub fn value(&self, number: f64) -> String {
        with_unit(number, &self.unit)
    }
}

fn key_and_text(argument: &str) -> Option<(&str, &str)> {
    let (key, text) = argument.split_once('=')?;
    let unquoted = text.trim().trim_matches('"').trim();
    (!key.trim().is_empty() && !unquoted.is_empty()).then_some((key.trim(), unquoted))
}

/// Twelve significant digits: the noise of rounding does not appear in names and tables.
fn with_unit(number: f64, unit: &str) -> String {
    let rounded: f64 = format!("{number:.11e}").parse().unwrap_or(number);
    if unit.is_empty() { format!("{rounded}") } else { format!("{rounded} {unit}") }
}

/// The number at the start of a text, and the rest.
fn leading_number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let end = (1..=text.len())
        .rev()
        .filter(|&end| text.is_char_boundary(end))
        .find(|&end| text[..end].parse::<f64>().is_ok_and(f64::is_finite))?;
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// The number and the unit of a value; `None` for names and vectors.
pub(crate) fn split_quantity(value: &str) -> Option<(f64, &str)> {
    let (number, unit) = leading_number(value)?;
    let unit = unit.trim();
    (!unit.starts_with(|c: char| c.is_ascii_digit() || c == '-')).then_some((number, unit))
}

/// `a..b unit`.
fn ends(text: &str) -> Option<(f64, f64, &str)> {
    let (low, rest) = text.split_once("..")?;
    let (high, unit) = leading_number(rest)?;
    Some((low.trim().parse().ok().filter(|low: &f64| low.is_finite())?, high, unit.trim()))
}

fn count(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(n) if (1..=MAX_VALUES).contains(&n) => Ok(n),
        _ => Err(format!("`{}` is not a number of values from 1 to {MAX_VALUES}", text.trim())),
    }
}

type Values = Result<Vec<String>, String>;

/// `a..b unit / n`; none if the text has no `..`.
fn range(text: &str) -> Option<Values> {
    text.contains("..").then(|| {
        let (range, n) = text.rsplit_once('/').ok_or("the number of values is missing (`/ n`)")?;
        let n = count(n)?;
        let (low, high, unit) = ends(range).ok_or("expected two numbers separated by `..`")?;
        let (unit, logarithmic) = match unit.strip_suffix("log") {
            Some(unit) if unit.is_empty() || unit.ends_with(' ') => (unit.trim(), true),
            _ => (unit, false),
        };
        if logarithmic && (low <= 0.0 || high <= 0.0) {
            return Err("a logarithmic range needs two positive ends".into());
        }
        let value = |i: usize| {
            let t = if n == 1 { 0.0 } else { i as f64 / (n - 1) as f64 };
            let between = if logarithmic { low * (high / low).powf(t) } else { low + (high - low) * t };
            if i == n - 1 && n > 1 { high } else { between }
        };
        Ok((0..n).map(|i| with_unit(value(i), unit)).collect())
    })
}

/// Random draws; none if the text does not start with the name of a distribution.
fn random_draws(key: &str, text: &str, seed: u64) -> Option<Values> {
    const NAMES: [&str; 4] = ["uniform", "normal", "loguniform", "choice"];
    let (name, rest) = text.split_once('(')?;
    let name = NAMES.into_iter().find(|&known| known == name.trim())?;
    Some((|| {
        let (arguments, rest) = rest.rsplit_once(')').ok_or("a closing parenthesis is missing")?;
        let (unit, n) = rest.rsplit_once('*').ok_or("the number of values is missing (`* n`)")?;
        let (unit, n) = (unit.trim(), count(n)?);
        let keys: Vec<u64> = key.bytes().map(u64::from).collect();
        let mut stream = Stream::new(seed, &keys);
        if name == "choice" {
            let choices = list(&if unit.is_empty() { arguments.to_owned() } else { format!("{arguments} {unit}") })?;
            return Ok((0..n).map(|_| choices[stream.index(choices.len())].clone()).collect());
        }
        let parts: Vec<f64> = arguments.split(',').filter_map(|part| part.trim().parse().ok()).collect();
        let [a, b] = parts[..] else { return Err(format!("{name} takes two numbers")) };
        if name == "loguniform" && (a <= 0.0 || b <= 0.0) {
            return Err("loguniform needs two positive numbers".into());
        }
        let mut draw = || match name {
            "uniform" => stream.uniform_in(a, b),
            "normal" => a + b * stream.normal(),
            _ => a * (b / a).powf(stream.uniform()),
        };
        Ok((0..n).map(|_| with_unit(draw(), unit)).collect())
    })())
}

/// `a,b,c unit`: a unit after the last number holds for all that have none of their own.
fn list(text: &str) -> Values {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Err("a value is missing between commas".into());
    }
    if parts.len() > MAX_VALUES {
        return Err(format!("more than {MAX_VALUES} values"));
    }
    let unit = parts.last().and_then(|last| leading_number(last)).map_or("", |(_, unit)| unit.trim());
    let value = |part: &str| match leading_number(part) {
        Some((number, "")) => with_unit(number, unit),
        _ => part.to_owned(),
    };
    Ok(parts.into_iter().map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        Axis::parse(&format!("k={text}"), 7).expect("values").values
    }

    #[test]
    fn ranges_include_both_ends() {
        assert_eq!(values("10..60 uL / 6"), ["10 uL", "20 uL", "30 uL", "40 uL", "50 uL", "60 uL"]);
        assert_eq!(values("0..0.3 / 4"), ["0", "0.1", "0.2", "0.3"]);
        assert_eq!(values("1..1000 mPa*s log / 4"), ["1 mPa*s", "10 mPa*s", "100 mPa*s", "1000 mPa*s"]);
        assert_eq!(values("-5..5 deg / 3"), ["-5 deg", "0 deg", "5 deg"]);
        assert_eq!(values("1e-3..1 / 1"), ["0.001"]);
    }

    #[test]
    fn the_unit_of_a_list_holds_for_all_values_without_one() {
        assert_eq!(values("40,50,60 deg"), ["40 deg", "50 deg", "60 deg"]);
        assert_eq!(values("\"1 mm, 2 cm\""), ["1 mm", "2 cm"]);
        assert_eq!(values("glass,wax"), ["glass", "wax"]);
        assert_eq!(values("3"), ["3"]);
    }

    #[test]
    fn draws_depend_on_seed_and_key_only() {
        let draws = values("uniform(2, 4) mm * 50");
        assert_eq!(draws[..20], values("uniform(2, 4) mm * 20"));
        assert_ne!(draws, Axis::parse("k=uniform(2, 4) mm * 50", 8).expect("values").values);
        assert_ne!(draws, Axis::parse("l=uniform(2, 4) mm * 50", 7).expect("values").values);
        let numbers: Vec<f64> = draws.iter().map(|v| v.trim_end_matches(" mm").parse().expect("a number")).collect();
        assert!(numbers.iter().all(|v| (2.0..4.0).contains(v)), "{numbers:?}");
        let logs = values("loguniform(1e-3, 10) * 400");
        let below = logs.iter().filter(|v| v.parse::<f64>().expect("a number") < 0.1).count();
        assert!((160..240).contains(&below), "half of the draws lie below the geometric mean, got {below} of 400");
        assert!(values("choice(glass, wax) * 30").iter().all(|v| v == "glass" || v == "wax"));
    }

    #[test]
    fn unclear_values_are_errors() {
        for text in ["1..2", "1..2 / 0", "a..b / 3", "1,,2", "uniform(1) * 3", "uniform(1, 2)", "-1..1 log / 3"] {
            assert!(Axis::parse(&format!("k={text}"), 0).is_err(), "{text}");
        }
        for argument in ["k", "=1", "k="] {
            assert!(Axis::parse(argument, 0).is_err(), "{argument}");
        }
    }

    #[test]
    fn values_have_a_number_and_a_unit() {
        assert_eq!(split_quantity("10.5 uL"), Some((10.5, "uL")));
        assert_eq!(split_quantity("3"), Some((3.0, "")));
        assert_eq!((split_quantity("glass"), split_quantity("0 1 0 mm")), (None, None));
    }

    #[test]
    fn range_of_a_search() {
        let range = Between::parse("drops.0.volume=10..60 uL").expect("a range");
        assert_eq!((range.low, range.high, range.value(35.0).as_str()), (10.0, 60.0, "35 uL"));
        assert!(Between::parse("k=3..1").is_err());
        assert!(Between::parse("k=3").is_err());
    }
}

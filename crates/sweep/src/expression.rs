//! Expressions over the measures of a run: `final.height / final.base_radius > 0.5`.
//!
//! ```text
//! condition   comparison, or comparisons joined by `and` and `or` (`and` binds tighter)
//! comparison  sum < sum; also <=, > and >=
//! sum         products joined by + and -
//! product     factors joined by * and /
//! factor      a number in SI units, a measure (final.NAME, peak.NAME), -factor, (sum), abs(sum)
//! ```
//!
//! A comparison with a measure that does not exist, such as the height of a drop that has left the
//! domain, is false.

use std::fmt;

/// A condition in the notation above.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    source: String,
    /// Alternatives, each a list of comparisons that all hold.
    any: Vec<Vec<Comparison>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Comparison {
    left: Term,
    relation: Relation,
    right: Term,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Debug, PartialEq)]
enum Term {
    Number(f64),
    Measure(String),
    Negative(Box<Term>),
    Absolute(Box<Term>),
    Binary(char, Box<[Term; 2]>),
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl Expression {
    /// Reads a condition; `check` returns an error for an unknown measure.
    pub fn parse(source: &str, check: &dyn Fn(&str) -> Result<(), String>) -> Result<Self, String> {
        let mut parser = Parser { words: words(source)?, at: 0, depth: 0, check };
        let mut any = vec![vec![parser.comparison()?]];
        loop {
            match parser.next().as_deref() {
                None => return Ok(Self { source: source.trim().to_owned(), any }),
                Some("or") => any.push(vec![parser.comparison()?]),
                Some("and") => {
                    let comparison = parser.comparison()?;
                    if let Some(all) = any.last_mut() {
                        all.push(comparison);
                    }
                }
                Some(word) => return Err(format!("`{word}` is not expected there")),
            }
        }
    }

    /// Whether the condition holds; `value` returns a measure, if it exists.
    pub fn holds(&self, value: &dyn Fn(&str) -> Option<f64>) -> bool {
        self.any.iter().any(|all| all.iter().all(|comparison| comparison.holds(value)))
    }
}

impl Comparison {
    fn holds(&self, value: &dyn Fn(&str) -> Option<f64>) -> bool {
        let (Some(left), Some(right)) = (self.left.value(value), self.right.value(value)) else { return false };
        match self.relation {
            Relation::Less => left < right,
            Relation::LessOrEqual => left <= right,
            Relation::Greater => left > right,
            Relation::GreaterOrEqual => left >= right,
        }
    }
}

impl Term {
    fn value(&self, value: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Measure(name) => value(name),
            Self::Negative(term) => Some(-term.value(value)?),
            Self::Absolute(term) => Some(term.value(value)?.abs()),
            Self::Binary(operator, terms) => {
                let (left, right) = (terms[0].value(value)?, terms[1].value(value)?);
                Some(match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    _ => left / right,
                })
            }
        }
    }
}

/// Splits a text into numbers, names and operators.
fn words(source: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = source.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_digit() || first == '.' {
            number_length(rest)
        } else if first.is_ascii_alphabetic() {
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len())
        } else if rest.starts_with("<=") || rest.starts_with(">=") {
            2
        } else if "<>+-*/()".contains(first) {
            1
        } else {
            return Err(format!("`{first}` is not expected there"));
        };
        words.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    Ok(words)
}

/// Length of the number at the start of a text, with its exponent.
fn number_length(text: &str) -> usize {
    let digits = |text: &str| text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let mantissa = digits(text);
    let Some(exponent) = text[mantissa..].strip_prefix(['e', 'E']) else { return mantissa };
    let sign = usize::from(exponent.starts_with(['+', '-']));
    match digits(&exponent[sign..]) {
        0 => mantissa,
        length => mantissa + 1 + sign + length,
    }
}

/// Depth of parentheses and signs that is read.
const MAX_DEPTH: usize = 50;

struct Parser<'a> {
    words: Vec<String>,
    at: usize,
    depth: usize,
    check: &'a dyn Fn(&str) -> Result<(), String>,
}

impl Parser<'_> {
    fn peek(&self) -> &str {
        self.words.get(self.at).map_or("", String::as_str)
    }

    fn next(&mut self) -> Option<String> {
        let word = self.words.get(self.at).cloned();
        self.at += 1;
        word
    }

    fn comparison(&mut self) -> Result<Comparison, String> {
        let left = self.sum()?;
        let relation = match self.next().as_deref() {
            Some("<") => Relation::Less,
            Some("<=") => Relation::LessOrEqual,
            Some(">") => Relation::Greater,
            Some(">=") => Relation::GreaterOrEqual,
            Some(word) => return Err(format!("expected <, <=, > or >=, not `{word}`")),
            None => return Err("a comparison with <, <=, > or >= is missing".into()),
        };
        Ok(Comparison { left, relation, right: self.sum()? })
    }

    fn sum(&mut self) -> Result<Term, String> {
        self.chain("+-", Self::product)
    }

    fn product(&mut self) -> Result<Term, String> {
        self.chain("*/", Self::factor)
    }

    /// Parts joined by operators of one precedence, from left to right.
    fn chain(
        &mut self,
        operators: &str,
        part: impl Fn(&mut Self) -> Result<Term, String> + Copy,
    ) -> Result<Term, String> {
        let mut term = part(self)?;
        while let Some(operator) = self.peek().chars().next().filter(|c| operators.contains(*c)) {
            self.at += 1;
            term = Term::Binary(operator, Box::new([term, part(self)?]));
        }
        Ok(term)
    }

    fn factor(&mut self) -> Result<Term, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("there are too many parentheses".into());
        }
        let word = self.next().ok_or("a number or a measure is missing")?;
        let term = match word.as_str() {
            "-" => Term::Negative(Box::new(self.factor()?)),
            "(" => self.parenthesized()?,
            "abs" if self.peek() == "(" => {
                self.at += 1;
                Term::Absolute(Box::new(self.parenthesized()?))
            }
            number if number.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
                Term::Number(number.parse().map_err(|_| format!("`{number}` is not a number"))?)
            }
            name if name.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                (self.check)(name)?;
                Term::Measure(name.to_owned())
            }
            word => return Err(format!("`{word}` is not expected there")),
        };
        self.depth -= 1;
        Ok(term)
    }

    /// A sum and the closing parenthesis.
    fn parenthesized(&mut self) -> Result<Term, String> {
        let term = self.sum()?;
        match self.next().as_deref() {
            Some(")") => Ok(term),
            _ => Err("a closing parenthesis is missing".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Expression, String> {
        Expression::parse(text, &|name| if name.len() == 1 { Ok(()) } else { Err(format!("no {name}")) })
    }

    /// With a = 1, b = 2, c = −3; d does not exist.
    fn holds(text: &str) -> bool {
        let value = |name: &str| [("a", 1.0), ("b", 2.0), ("c", -3.0)].into_iter().find(|(n, _)| *n == name);
        parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).holds(&|name| value(name).map(|(_, v)| v))
    }

    #[test]
    fn arithmetic_has_the_usual_precedence() {
        for text in [
            "a + b * b > 4.9",
            "(a + b) * b >= 6",
            "b - a - a <= 0",
            "b / b / b < 0.51",
            "-c > 2.9 and a < 1.5",
            "abs(c + a) > 1.9",
            "a < 0 or b > 1e0 and a > 5E-1",
            "2e-3 < a",
        ] {
            assert!(holds(text), "{text}");
            assert_eq!(parse(text).expect("read").to_string(), text);
        }
        for text in ["a > b", "a < b and a > b", "b <= 1.9", "d > 0", "d < 0", "d + a > 0", "a / (b - b) < 0"] {
            assert!(!holds(text), "{text}");
        }
    }

    #[test]
    fn unclear_expressions_are_errors() {
        for text in [
            "",
            "a",
            "a >",
            "> a",
            "a > b > c",
            "a + > b",
            "(a > b",
            "a > b)",
            "a > 1 and",
            "no > 1",
            "a > 1..2",
            "a > 2 mm",
            "a = b",
            "a & b",
            "abs > 1",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&format!("{}a > 1", "(".repeat(10_000))).is_err());
    }
}

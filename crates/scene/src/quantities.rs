//! Reading of quantities: numbers with a unit of the right dimension.

use crate::diagnostics::Diagnostic;
use crate::reader::Section;
use crate::schema::Range;
use crate::tree::{Node, Value, shortened};
use crate::units::{self, Dimension, Quantity, QuantityError, parse_quantity};

/// A kind of quantity: its dimension and how it is written.
pub(crate) struct QuantityKind {
    pub dimension: Dimension,
    /// "a length".
    pub name: &'static str,
    /// The customary unit.
    pub unit: &'static str,
}

const fn kind(m: i8, kg: i8, s: i8, angle: i8, name: &'static str, unit: &'static str) -> QuantityKind {
    QuantityKind { dimension: Dimension { m, kg, s, angle, kelvin: 0 }, name, unit }
}

pub(crate) static LENGTH: QuantityKind = kind(1, 0, 0, 0, "a length", "mm");
pub(crate) static FINE_LENGTH: QuantityKind = kind(1, 0, 0, 0, "a length", "um");
pub(crate) static AREA: QuantityKind = kind(2, 0, 0, 0, "an area", "mm^2");
pub(crate) static VOLUME: QuantityKind = kind(3, 0, 0, 0, "a volume", "uL");
pub(crate) static TIME: QuantityKind = kind(0, 0, 1, 0, "a time", "ms");
pub(crate) static ANGLE: QuantityKind = kind(0, 0, 0, 1, "an angle", "deg");
pub(crate) static VELOCITY: QuantityKind = kind(1, 0, -1, 0, "a velocity", "m/s");
pub(crate) static ACCELERATION: QuantityKind = kind(1, 0, -2, 0, "an acceleration", "m/s^2");
pub(crate) static DENSITY: QuantityKind = kind(-3, 1, 0, 0, "a density", "kg/m^3");
pub(crate) static VISCOSITY: QuantityKind = kind(2, 0, -1, 0, "a kinematic viscosity", "mm^2/s");
pub(crate) static TENSION: QuantityKind = kind(0, 1, -2, 0, "a force per length", "mN/m");
pub(crate) static STIFFNESS: QuantityKind = kind(0, 1, -2, 0, "a stiffness", "N/m");
pub(crate) static PRESSURE: QuantityKind = kind(-1, 1, -2, 0, "a pressure", "Pa");
pub(crate) static DRAG: QuantityKind = kind(0, 1, -1, 0, "a mass per time", "g/s");
pub(crate) static DAMPING: QuantityKind = kind(0, 0, -1, 0, "a rate per time", "1/s");
pub(crate) static RAIN: QuantityKind = kind(1, 0, -1, 0, "a depth per time", "mm/h");
pub(crate) static DEW: QuantityKind = kind(1, 0, -1, 0, "a volume per area and time", "uL/m^2/s");
pub(crate) static FEED: QuantityKind = kind(3, 0, -1, 0, "a volume per time", "uL/s");
pub(crate) static TEMPERATURE: QuantityKind =
    QuantityKind { dimension: units::TEMPERATURE, name: "a temperature", unit: "degC" };
pub(crate) static PLANAR_FEED: QuantityKind = kind(2, 0, -1, 0, "an area per time, in a planar run", "mm^2/s");

impl QuantityKind {
    /// A number in the customary unit, in SI units.
    pub(crate) fn to_si(&self, value: f64) -> f64 {
        parse_quantity(&format!("{value} {}", self.unit)).map_or(value, |quantity| quantity.values[0])
    }
}

impl Section<'_> {
    /// One quantity in a range, in SI units.
    pub(crate) fn quantity(&self, key: &str, node: &Node, kind: &QuantityKind, range: Range) -> Option<f64> {
        let [value] = self.numbers(key, node, kind)?;
        if range.contains(value, |bound| kind.to_si(bound)) {
            return Some(value);
        }
        let requirement = range.requirement(&format!(" {}", kind.unit));
        let written = shortened(self.cx.sources.text(&node.place).trim_matches(['"', '\'']));
        self.cx.error(
            Diagnostic::new(&node.place, format!("`{key}` must be {requirement}, but it is {written}"))
                .label(format!("expected {requirement}")),
        );
        None
    }

    /// Exactly `N` numbers of the right dimension.
    pub(crate) fn numbers<const N: usize>(&self, key: &str, node: &Node, kind: &QuantityKind) -> Option<[f64; N]> {
        let text = match &node.value {
            Value::Text(text) => text,
            other => {
                self.cx.error(not_quoted(key, node, other, kind, N));
                return None;
            }
        };
        let quantity = match parse_quantity(text) {
            Ok(quantity) => quantity,
            Err(error) => {
                self.cx.error(self.unreadable(key, node, text, &error, kind, N));
                return None;
            }
        };
        if let Err(diagnostic) = check_dimension(key, node, text, &quantity, kind, N) {
            self.cx.error(*diagnostic);
            return None;
        }
        <[f64; N]>::try_from(quantity.values).ok()
    }

    fn unreadable(
        &self,
        key: &str,
        node: &Node,
        text: &str,
        error: &QuantityError,
        kind: &QuantityKind,
        count: usize,
    ) -> Diagnostic {
        let inside = |range| self.cx.sources.within(&node.place, text, range);
        let example = example(kind, count);
        match error {
            QuantityError::NoNumber => Diagnostic::new(
                &node.place,
                format!("`{key}` is {} (e.g. \"{example}\"), but \"{}\" is not a quantity", kind.name, shortened(text)),
            )
            .label("does not start with a number"),
            QuantityError::NoUnit { numbers } => Diagnostic::new(&node.place, format!("`{key}` needs a unit"))
                .label(format!("{} without a unit", kind.name))
                .help(format!("write \"{} {}\"", shortened(numbers), kind.unit)),
            QuantityError::UnknownUnit { range, symbol, nearest } => {
                Diagnostic::new(&inside(range), format!("unknown unit `{}`", shortened(symbol)))
                    .label("not a unit")
                    .help(match nearest {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("`{key}` is {}, e.g. \"{example}\"", kind.name),
                    })
            }
            QuantityError::BadUnit { range, why } => {
                Diagnostic::new(&inside(range), format!("the unit of `{key}` cannot be read"))
                    .label(*why)
                    .help(format!("`{key}` is {}, e.g. \"{example}\"", kind.name))
            }
            QuantityError::NotFinite { range } => {
                Diagnostic::new(&inside(range), format!("`{key}` must be a finite number")).label("not finite")
            }
            QuantityError::TooLarge { range } => {
                Diagnostic::new(&inside(range), format!("`{key}` must be at most 1e15 in SI units")).label("too large")
            }
            QuantityError::TooSmall { range } => {
                Diagnostic::new(&inside(range), format!("`{key}` must be zero or at least 1e-40 in SI units"))
                    .label("too small")
            }
        }
    }
}

/// Text of `count` numbers of a kind.
pub(crate) fn example(kind: &QuantityKind, count: usize) -> String {
    match count {
        1 => format!("1 {}", kind.unit),
        2 => format!("300 400 {}", kind.unit),
        _ => format!("0 1 0 {}", kind.unit),
    }
}

fn not_quoted(key: &str, node: &Node, value: &Value, kind: &QuantityKind, count: usize) -> Diagnostic {
    let bare: Option<Vec<f64>> = match value {
        Value::List(list) => list.iter().map(|n| n.value.number()).collect(),
        other => other.number().map(|n| vec![n]),
    };
    match bare {
        Some(numbers) if numbers.len() == count => {
            let numbers = numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
            Diagnostic::new(&node.place, format!("`{key}` needs a unit"))
                .label(format!("{} without a unit", kind.name))
                .help(format!("write {key} = \"{numbers} {}\"", kind.unit))
        }
        Some(numbers) => Diagnostic::new(&node.place, wrong_count(key, numbers.len(), count)).label(format!(
            "expected {}, e.g. \"{}\"",
            kind.name,
            example(kind, count)
        )),
        None => Diagnostic::new(&node.place, format!("`{key}` is {}, but this is {}", kind.name, value.kind()))
            .label(format!("expected {}, e.g. \"{}\"", kind.name, example(kind, count))),
    }
}

fn check_dimension(
    key: &str,
    node: &Node,
    text: &str,
    quantity: &Quantity,
    kind: &QuantityKind,
    count: usize,
) -> Result<(), Box<Diagnostic>> {
    let example = example(kind, count);
    if quantity.dimension != kind.dimension {
        let found = quantity.dimension.name();
        let message = format!("`{key}` is {} (e.g. \"{example}\"), but \"{}\" is {found}", kind.name, shortened(text));
        return Err(Box::new(Diagnostic::new(&node.place, message).label(format!("this is {found}"))));
    }
    let found = quantity.values.len();
    if found != count {
        let message = wrong_count(key, found, count);
        return Err(Box::new(
            Diagnostic::new(&node.place, message).label(format!("expected {}, e.g. \"{example}\"", kind.name)),
        ));
    }
    Ok(())
}

fn wrong_count(key: &str, found: usize, count: usize) -> String {
    let wanted = ["no numbers", "one number", "two numbers", "three numbers"][count.min(3)];
    let found = if found == 1 { "this is one number".to_owned() } else { format!("these are {found} numbers") };
    format!("`{key}` must be {wanted} and a unit, but {found}")
}

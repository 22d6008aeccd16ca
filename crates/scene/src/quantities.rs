//! Reading quantities: a key, what it measures, and what is said when it does not.

use glam::DVec3;

use crate::diagnostics::Diagnostic;
use crate::reader::Section;
use crate::source::Place;
use crate::tree::{Node, Value, shortened};
use crate::units::{Dimension, Quantity, QuantityError, parse_quantity};

/// What a key measures.
pub(crate) struct Kind {
    pub dimension: Dimension,
    /// "a length".
    pub name: &'static str,
    /// The unit that people would use here.
    pub unit: &'static str,
}

const fn kind(m: i8, kg: i8, s: i8, angle: i8, name: &'static str, unit: &'static str) -> Kind {
    Kind { dimension: Dimension { m, kg, s, angle }, name, unit }
}

pub(crate) const LENGTH: Kind = kind(1, 0, 0, 0, "a length", "mm");
pub(crate) const FINE_LENGTH: Kind = kind(1, 0, 0, 0, "a length", "um");
pub(crate) const AREA: Kind = kind(2, 0, 0, 0, "an area", "mm^2");
pub(crate) const VOLUME: Kind = kind(3, 0, 0, 0, "a volume", "uL");
pub(crate) const TIME: Kind = kind(0, 0, 1, 0, "a time", "ms");
pub(crate) const ANGLE: Kind = kind(0, 0, 0, 1, "an angle", "deg");
pub(crate) const VELOCITY: Kind = kind(1, 0, -1, 0, "a velocity", "m/s");
pub(crate) const ACCELERATION: Kind = kind(1, 0, -2, 0, "an acceleration", "m/s^2");
pub(crate) const DENSITY: Kind = kind(-3, 1, 0, 0, "a density", "kg/m^3");
pub(crate) const VISCOSITY: Kind = kind(2, 0, -1, 0, "a kinematic viscosity", "mm^2/s");
pub(crate) const TENSION: Kind = kind(0, 1, -2, 0, "a force per length", "mN/m");
pub(crate) const STIFFNESS: Kind = kind(0, 1, -2, 0, "a stiffness", "N/m");
pub(crate) const PRESSURE: Kind = kind(-1, 1, -2, 0, "a pressure", "Pa");
pub(crate) const DRAG: Kind = kind(0, 1, -1, 0, "a mass per time", "g/s");
pub(crate) const DAMPING: Kind = kind(0, 0, -1, 0, "a rate per time", "1/s");
pub(crate) const RAIN: Kind = kind(1, 0, -1, 0, "a depth per time", "mm/h");
pub(crate) const DEW: Kind = kind(1, 0, -1, 0, "a volume per area and time", "uL/m^2/s");
pub(crate) const FEED: Kind = kind(3, 0, -1, 0, "a volume per time", "uL/s");
pub(crate) const PLANAR_FEED: Kind = kind(2, 0, -1, 0, "an area per time, in a planar run", "mm^2/s");

/// Which values are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Any,
    Positive,
    NotNegative,
}

impl Section<'_> {
    /// One quantity, in SI.
    pub(crate) fn quantity(&self, key: &str, kind: &Kind, sign: Sign) -> Option<f64> {
        let node = self.node(key)?;
        self.quantity_of(key, node, kind, sign)
    }

    pub(crate) fn quantity_of(&self, key: &str, node: &Node, kind: &Kind, sign: Sign) -> Option<f64> {
        let [value] = self.numbers(key, node, kind)?;
        let requirement = match sign {
            Sign::Positive if value <= 0.0 => "more than zero",
            Sign::NotNegative if value < 0.0 => "zero or more",
            _ => return Some(value),
        };
        self.cx.error(
            Diagnostic::new(
                &node.place,
                format!("`{key}` must be {requirement}, but it is {}", self.written(&node.place)),
            )
            .label(format!("expected {requirement}")),
        );
        None
    }

    /// An angle strictly between two bounds in degrees; `closed` lets the upper one in.
    pub(crate) fn angle_between(&self, key: &str, bounds: (f64, f64), closed: bool) -> Option<f64> {
        self.angle_of(key, self.node(key)?, bounds, closed)
    }

    pub(crate) fn angle_of(&self, key: &str, node: &Node, (low, high): (f64, f64), closed: bool) -> Option<f64> {
        let [value] = self.numbers(key, node, &ANGLE)?;
        let (least, most) = (low.to_radians(), high.to_radians());
        if value > least && (value < most || (closed && value <= most)) {
            return Some(value);
        }
        let upper = if closed { format!("at most {high} deg") } else { format!("less than {high} deg") };
        self.cx.error(
            Diagnostic::new(
                &node.place,
                format!("`{key}` must be more than {low} deg and {upper}, but it is {}", self.written(&node.place)),
            )
            .label("out of range"),
        );
        None
    }

    /// Three numbers with one unit.
    pub(crate) fn vector(&self, key: &str, kind: &Kind) -> Option<DVec3> {
        let node = self.node(key)?;
        self.numbers::<3>(key, node, kind).map(DVec3::from_array)
    }

    /// Two positive lengths with one unit.
    pub(crate) fn size_pair(&self, key: &str) -> Option<[f64; 2]> {
        let node = self.node(key)?;
        let size = self.numbers::<2>(key, node, &LENGTH)?;
        if size.iter().all(|s| *s > 0.0) {
            return Some(size);
        }
        self.complain(key, format!("`{key}` must be more than zero both ways"), "expected two positive lengths");
        None
    }

    /// Exactly `N` numbers of the right dimension.
    fn numbers<const N: usize>(&self, key: &str, node: &Node, kind: &Kind) -> Option<[f64; N]> {
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
        kind: &Kind,
        count: usize,
    ) -> Diagnostic {
        let inside = |range| self.cx.sources.within(&node.place, text, range);
        let example = example(kind, count);
        match error {
            QuantityError::NoNumber => Diagnostic::new(
                &node.place,
                format!("`{key}` is {} (such as \"{example}\"), but \"{}\" is none", kind.name, shortened(text)),
            )
            .label("does not start with a number"),
            QuantityError::NoUnit { numbers } => Diagnostic::new(&node.place, format!("`{key}` needs a unit"))
                .label(format!("{} without a unit", kind.name))
                .help(format!("write \"{} {}\"", shortened(numbers), kind.unit)),
            QuantityError::UnknownUnit { range, symbol, nearest } => {
                Diagnostic::new(&inside(range), format!("there is no unit `{}`", shortened(symbol)))
                    .label("unknown unit")
                    .help(match nearest {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("`{key}` is {}, such as \"{example}\"", kind.name),
                    })
            }
            QuantityError::BadUnit { range, why } => {
                Diagnostic::new(&inside(range), format!("the unit of `{key}` cannot be read"))
                    .label(*why)
                    .help(format!("`{key}` is {}, such as \"{example}\"", kind.name))
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

    fn written(&self, place: &Place) -> String {
        shortened(self.cx.sources.text(place).trim_matches(['"', '\'']))
    }
}

fn example(kind: &Kind, count: usize) -> String {
    match count {
        1 => format!("1 {}", kind.unit),
        2 => format!("300 400 {}", kind.unit),
        _ => format!("0 1 0 {}", kind.unit),
    }
}

fn not_quoted(key: &str, node: &Node, value: &Value, kind: &Kind, count: usize) -> Diagnostic {
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
        Some(numbers) => Diagnostic::new(&node.place, wrong_count(key, numbers.len(), count))
            .label(format!("expected such as \"{}\"", example(kind, count))),
        None => Diagnostic::new(&node.place, format!("`{key}` is {}, but this is {}", kind.name, value.kind()))
            .label(format!("expected such as \"{}\"", example(kind, count))),
    }
}

fn check_dimension(
    key: &str,
    node: &Node,
    text: &str,
    quantity: &Quantity,
    kind: &Kind,
    count: usize,
) -> Result<(), Box<Diagnostic>> {
    let example = example(kind, count);
    if quantity.dimension != kind.dimension {
        let found = quantity.dimension.name();
        let message =
            format!("`{key}` is {} (such as \"{example}\"), but \"{}\" is {found}", kind.name, shortened(text));
        return Err(Box::new(Diagnostic::new(&node.place, message).label(format!("this is {found}"))));
    }
    let found = quantity.values.len();
    if found != count {
        let message = wrong_count(key, found, count);
        return Err(Box::new(Diagnostic::new(&node.place, message).label(format!("expected such as \"{example}\""))));
    }
    Ok(())
}

fn wrong_count(key: &str, found: usize, count: usize) -> String {
    let wanted = ["no numbers", "one number", "two numbers", "three numbers"][count.min(3)];
    let found = if found == 1 { "here is one number".to_owned() } else { format!("here are {found} numbers") };
    format!("`{key}` must be {wanted} and a unit, but {found}")
}

//! Quantities as text: `"2 mm"`, `"0 1.5 0 mm"`, `"20 uL/m^2/s"` → numbers in SI units and a
//! dimension.
//!
//! A unit is a product of symbols from [`SYMBOLS`], each with an integer power: `*`, `·` or a space
//! multiplies, `/` divides by the next symbol, `^-2` or `⁻²` is a power. Only the dimension is
//! checked.
//!
//! **Exactness.** A factor is 10ⁿ · mul / div. The power of ten is added to the exponent of the
//! number's text before it is parsed, so decimal units cause no rounding: `"1.1 mm"` and `"0.0011
//! m"` are bit-identical. Only degrees, minutes, hours and inches round, once.

use std::f64::consts::PI;
use std::ops::Range;

use crate::suggest::nearest;

/// Powers of meter, kilogram, second, angle and kelvin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dimension {
    pub m: i8,
    pub kg: i8,
    pub s: i8,
    pub angle: i8,
    pub kelvin: i8,
}

const fn dim(m: i8, kg: i8, s: i8, angle: i8) -> Dimension {
    Dimension { m, kg, s, angle, kelvin: 0 }
}

const NONE: Dimension = dim(0, 0, 0, 0);
const LENGTH: Dimension = dim(1, 0, 0, 0);
const VOLUME: Dimension = dim(3, 0, 0, 0);
const TIME: Dimension = dim(0, 0, 1, 0);
const MASS: Dimension = dim(0, 1, 0, 0);
const ANGLE: Dimension = dim(0, 0, 0, 1);
const FORCE: Dimension = dim(1, 1, -2, 0);
const PRESSURE: Dimension = dim(-1, 1, -2, 0);
const KINEMATIC: Dimension = dim(2, 0, -1, 0);
const DYNAMIC: Dimension = dim(-1, 1, -1, 0);
const FREQUENCY: Dimension = dim(0, 0, -1, 0);
pub(crate) const TEMPERATURE: Dimension = Dimension { kelvin: 1, ..NONE };

/// Names of dimensions.
const NAMES: &[(Dimension, &str)] = &[
    (NONE, "a plain number"),
    (LENGTH, "a length"),
    (dim(2, 0, 0, 0), "an area"),
    (VOLUME, "a volume"),
    (TIME, "a time"),
    (MASS, "a mass"),
    (TEMPERATURE, "a temperature"),
    (ANGLE, "an angle"),
    (dim(1, 0, -1, 0), "a velocity"),
    (dim(1, 0, -2, 0), "an acceleration"),
    (dim(-3, 1, 0, 0), "a density"),
    (KINEMATIC, "a kinematic viscosity"),
    (DYNAMIC, "a dynamic viscosity"),
    (dim(0, 1, -2, 0), "a force per length"),
    (FORCE, "a force"),
    (PRESSURE, "a pressure"),
    (dim(0, 1, -1, 0), "a mass per time"),
    (dim(3, 0, -1, 0), "a volume per time"),
    (FREQUENCY, "a rate per time"),
    (dim(0, 0, -1, 1), "an angular velocity"),
    (dim(2, 1, -2, 0), "an energy"),
];

impl Dimension {
    /// "a length", "a pressure"; or its SI units where it has no name.
    pub(crate) fn name(self) -> String {
        if let Some((_, name)) = NAMES.iter().find(|(d, _)| *d == self) {
            return (*name).to_owned();
        }
        let parts = [("kg", self.kg), ("m", self.m), ("s", self.s), ("rad", self.angle), ("K", self.kelvin)];
        let units: Vec<String> = parts
            .iter()
            .filter(|(_, power)| *power != 0)
            .map(|(symbol, power)| if *power == 1 { (*symbol).to_owned() } else { format!("{symbol}^{power}") })
            .collect();
        format!("in {}", units.join(" "))
    }
}

/// A symbol's meaning: 10^shift · mul / div of the SI unit.
struct Symbol {
    text: &'static str,
    dimension: Dimension,
    shift: i32,
    mul: f64,
    div: f64,
}

const fn unit(text: &'static str, dimension: Dimension, shift: i32) -> Symbol {
    Symbol { text, dimension, shift, mul: 1.0, div: 1.0 }
}

const fn scaled(text: &'static str, dimension: Dimension, shift: i32, mul: f64) -> Symbol {
    Symbol { text, dimension, shift, mul, div: 1.0 }
}

/// The unit of temperature whose zero is not that of the SI unit; it stands alone.
const CELSIUS: &str = "degC";
/// 0 °C, in K.
const ZERO_CELSIUS: f64 = 273.15;

/// Every symbol; micro is written `u`, and both Unicode spellings of µ are read as `u`.
const SYMBOLS: &[Symbol] = &[
    unit("mm", LENGTH, -3),
    unit("m", LENGTH, 0),
    unit("cm", LENGTH, -2),
    unit("um", LENGTH, -6),
    unit("nm", LENGTH, -9),
    unit("dm", LENGTH, -1),
    unit("km", LENGTH, 3),
    Symbol { text: "in", dimension: LENGTH, shift: 0, mul: 254.0, div: 1e4 },
    unit("s", TIME, 0),
    unit("ms", TIME, -3),
    unit("us", TIME, -6),
    unit("ns", TIME, -9),
    scaled("min", TIME, 0, 60.0),
    scaled("h", TIME, 0, 3600.0),
    unit("kg", MASS, 0),
    unit("g", MASS, -3),
    unit("mg", MASS, -6),
    unit("ug", MASS, -9),
    scaled("deg", ANGLE, 0, PI / 180.0),
    scaled("°", ANGLE, 0, PI / 180.0),
    unit("rad", ANGLE, 0),
    unit("mrad", ANGLE, -3),
    unit("uL", VOLUME, -9),
    unit("mL", VOLUME, -6),
    unit("L", VOLUME, -3),
    unit("nL", VOLUME, -12),
    unit("pL", VOLUME, -15),
    unit("ul", VOLUME, -9),
    unit("ml", VOLUME, -6),
    unit("l", VOLUME, -3),
    unit("nl", VOLUME, -12),
    unit("pl", VOLUME, -15),
    unit("N", FORCE, 0),
    unit("mN", FORCE, -3),
    unit("uN", FORCE, -6),
    unit("dyn", FORCE, -5),
    unit("Pa", PRESSURE, 0),
    unit("mPa", PRESSURE, -3),
    unit("hPa", PRESSURE, 2),
    unit("kPa", PRESSURE, 3),
    unit("MPa", PRESSURE, 6),
    unit("bar", PRESSURE, 5),
    unit("mbar", PRESSURE, 2),
    unit("St", KINEMATIC, -4),
    unit("cSt", KINEMATIC, -6),
    unit("P", DYNAMIC, -1),
    unit("cP", DYNAMIC, -3),
    unit("Hz", FREQUENCY, 0),
    unit("kHz", FREQUENCY, 3),
    unit("K", TEMPERATURE, 0),
    unit(CELSIUS, TEMPERATURE, 0),
];

/// Every unit symbol, for the reference and for suggestions.
pub(crate) fn symbols() -> impl Iterator<Item = &'static str> {
    SYMBOLS.iter().map(|s| s.text)
}

/// Numbers with one unit, in SI.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quantity {
    pub values: Vec<f64>,
    pub dimension: Dimension,
}

/// Why a text is not a quantity; ranges are byte ranges of the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum QuantityError {
    /// It does not start with a number.
    NoNumber,
    /// Numbers, but nothing after them.
    NoUnit { numbers: String },
    /// An unknown symbol.
    UnknownUnit { range: Range<usize>, symbol: String, nearest: Option<&'static str> },
    /// A unit that cannot be read.
    BadUnit { range: Range<usize>, why: &'static str },
    /// Spelled `inf` or `nan`.
    NotFinite { range: Range<usize> },
    /// Beyond ±1e15 in SI.
    TooLarge { range: Range<usize> },
    /// Nonzero, but below 1e-40 in SI units.
    TooSmall { range: Range<usize> },
}

/// Largest magnitude in SI units; products of larger ones could overflow.
pub(crate) const LARGEST: f64 = 1e15;
/// Smallest nonzero magnitude in SI units; products of smaller ones could underflow.
pub(crate) const SMALLEST: f64 = 1e-40;

/// Whether the reader accepts a number in SI units; derived numbers must satisfy this, too.
pub(crate) fn is_sensible(value: f64) -> bool {
    value == 0.0 || (SMALLEST..=LARGEST).contains(&value.abs())
}

/// Reads numbers and their unit.
pub(crate) fn parse_quantity(text: &str) -> Result<Quantity, QuantityError> {
    let mut numbers: Vec<Range<usize>> = Vec::new();
    let mut at = skip_space(text, 0);
    while let Some(end) = number_end(text, at) {
        numbers.push(at..end);
        at = skip_space(text, end);
    }
    if let Some(word) = non_finite(&text[at..]) {
        return Err(QuantityError::NotFinite { range: at..at + word });
    }
    if numbers.is_empty() {
        return Err(QuantityError::NoNumber);
    }
    // "1/s": the last number is the unit's numerator, not a value.
    if text[at..].starts_with('/')
        && numbers.len() > 1
        && let Some(one) = numbers.pop_if(|r| &text[r.clone()] == "1")
    {
        at = one.start;
    }
    let unit_text = text[at..].trim_end();
    if unit_text.is_empty() {
        return Err(QuantityError::NoUnit { numbers: text.trim().to_owned() });
    }
    let factor = parse_unit(text, at, at + unit_text.len())?;
    let celsius = text[at..].trim() == CELSIUS;
    if !celsius && text[at..].contains(CELSIUS) {
        let why = "degrees Celsius cannot be multiplied or divided: use K";
        return Err(QuantityError::BadUnit { range: at..at + unit_text.len(), why });
    }
    let values = numbers
        .into_iter()
        .map(|range| {
            let value = factor.apply(&text[range.clone()]);
            let value = if celsius { value + ZERO_CELSIUS } else { value };
            if value.is_nan() || value.abs() > LARGEST {
                Err(QuantityError::TooLarge { range })
            } else if value.abs() < SMALLEST && has_digit_above_zero(&text[range.clone()]) {
                Err(QuantityError::TooSmall { range })
            } else {
                Ok(value)
            }
        })
        .collect::<Result<_, _>>()?;
    Ok(Quantity { values, dimension: factor.dimension })
}

fn has_digit_above_zero(number: &str) -> bool {
    let mantissa = number.split(['e', 'E']).next().unwrap_or("");
    mantissa.bytes().any(|b| (b'1'..=b'9').contains(&b))
}

fn skip_space(text: &str, at: usize) -> usize {
    at + (text[at..].len() - text[at..].trim_start().len())
}

/// Length of a leading `inf` or `nan`.
fn non_finite(text: &str) -> Option<usize> {
    let bare = text.trim_start_matches(['+', '-']);
    let word: String = bare.chars().take_while(char::is_ascii_alphabetic).collect();
    let known = ["inf", "nan", "infinity"].contains(&word.to_ascii_lowercase().as_str());
    known.then(|| text.len() - bare.len() + word.len())
}

/// The end of the decimal number that starts at `at`: sign, digits with at most one point,
/// exponent.
fn number_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut i = at;
    if matches!(bytes.get(i), Some(b'+' | b'-')) {
        i += 1;
    }
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(i);
    i += whole;
    let mut fraction = 0;
    if bytes.get(i) == Some(&b'.') {
        fraction = digits(i + 1);
        if whole + fraction > 0 {
            i += 1 + fraction;
        }
    }
    if whole + fraction == 0 {
        return None;
    }
    if matches!(bytes.get(i), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(i + 1), Some(b'+' | b'-')));
        let exponent = digits((i + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            i += 1 + sign + exponent;
        }
    }
    Some(i)
}

/// 10^shift · mul / div.
struct Factor {
    dimension: Dimension,
    shift: i32,
    mul: f64,
    div: f64,
}

impl Factor {
    /// The value in SI of the number `text`.
    fn apply(&self, text: &str) -> f64 {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        // An exponent beyond i64 only ever means zero or infinity; so does a million.
        let exponent =
            exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') { -1_000_000 } else { 1_000_000 });
        let exponent = exponent.clamp(-1_000_000, 1_000_000) + i64::from(self.shift);
        let value: f64 = format!("{mantissa}e{exponent}").parse().unwrap_or(f64::NAN);
        let value = if self.mul == 1.0 { value } else { value * self.mul };
        if self.div == 1.0 { value } else { value / self.div }
    }
}

fn parse_unit(text: &str, start: usize, end: usize) -> Result<Factor, QuantityError> {
    let mut factor = Factor { dimension: NONE, shift: 0, mul: 1.0, div: 1.0 };
    let mut at = start;
    let mut sign = 1;
    let mut expects_symbol = true;
    while at < end {
        let rest = &text[at..end];
        let Some(c) = rest.chars().next() else { break };
        let here = at..at + c.len_utf8();
        match c {
            '*' | '·' | '⋅' | '/' => {
                // "3 /s" is three per second.
                if expects_symbol && !(c == '/' && at == start) {
                    return Err(QuantityError::BadUnit { range: here, why: "missing unit symbol before this" });
                }
                sign = if c == '/' { -1 } else { 1 };
                expects_symbol = true;
                at = here.end;
            }
            c if c.is_whitespace() => at = here.end,
            '1' if rest[1..].trim_start().starts_with('/') && at == start => {
                expects_symbol = false;
                at = here.end;
            }
            c if is_symbol_char(c) => {
                let length = rest.find(|c| !is_symbol_char(c)).unwrap_or(rest.len());
                let symbol_range = at..at + length;
                at = symbol_range.end;
                let (power, after) = read_power(text, at, end)?;
                at = after;
                multiply(&mut factor, &text[symbol_range.clone()], symbol_range, sign * power)?;
                sign = 1;
                expects_symbol = false;
            }
            _ => return Err(QuantityError::BadUnit { range: here, why: "not allowed in a unit" }),
        }
    }
    if expects_symbol {
        let last = crate::source::floor_boundary(text, end.saturating_sub(1));
        return Err(QuantityError::BadUnit { range: last..end, why: "missing unit symbol after this" });
    }
    Ok(factor)
}

fn is_symbol_char(c: char) -> bool {
    c.is_alphabetic() || c == '°'
}

/// The power after a symbol (`^2`, `^-1`, `²`, `⁻¹`; 1 if none) and where it ends.
fn read_power(text: &str, at: usize, end: usize) -> Result<(i32, usize), QuantityError> {
    let rest = &text[at..end];
    let (digits, length): (String, usize) = if let Some(after) = rest.strip_prefix('^') {
        let n = after.find(|c: char| !(c.is_ascii_digit() || c == '-' || c == '+')).unwrap_or(after.len());
        (after[..n].to_owned(), 1 + n)
    } else {
        let superscripts: Vec<(char, usize)> =
            rest.chars().map_while(|c| Some((plain_digit(c)?, c.len_utf8()))).collect();
        (superscripts.iter().map(|(c, _)| c).collect(), superscripts.iter().map(|(_, n)| n).sum())
    };
    if length == 0 {
        return Ok((1, at));
    }
    match digits.parse::<i32>() {
        Ok(power) if (-9..=9).contains(&power) && power != 0 => Ok((power, at + length)),
        _ => Err(QuantityError::BadUnit {
            range: at..at + length,
            why: "a power must be a nonzero integer from -9 to 9",
        }),
    }
}

fn plain_digit(superscript: char) -> Option<char> {
    const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    if superscript == '⁻' {
        return Some('-');
    }
    let digit = SUPERSCRIPTS.iter().position(|&c| c == superscript)?;
    char::from_digit(digit as u32, 10)
}

fn multiply(factor: &mut Factor, symbol: &str, range: Range<usize>, power: i32) -> Result<(), QuantityError> {
    let plain = symbol.replace(['µ', 'μ'], "u");
    let Some(found) = SYMBOLS.iter().find(|s| s.text == plain) else {
        let nearest = SYMBOLS
            .iter()
            .map(|s| s.text)
            .find(|s| s.eq_ignore_ascii_case(&plain))
            .or_else(|| spelled_out(&plain))
            .or_else(|| nearest(&plain, symbols()));
        return Err(QuantityError::UnknownUnit { range, symbol: symbol.to_owned(), nearest });
    };
    let too_high = QuantityError::BadUnit { range, why: "the powers in this unit are too high" };
    let raise = |sum: i8, part: i8| {
        i8::try_from(i32::from(sum) + i32::from(part) * power).ok().filter(|p| (-60..=60).contains(p))
    };
    let d = found.dimension;
    let raised = (|| {
        Some(Dimension {
            m: raise(factor.dimension.m, d.m)?,
            kg: raise(factor.dimension.kg, d.kg)?,
            s: raise(factor.dimension.s, d.s)?,
            angle: raise(factor.dimension.angle, d.angle)?,
            kelvin: raise(factor.dimension.kelvin, d.kelvin)?,
        })
    })();
    factor.dimension = raised.ok_or(too_high)?;
    factor.shift = factor.shift.saturating_add(found.shift * power);
    for _ in 0..power.unsigned_abs() {
        let (mul, div) = if power > 0 { (found.mul, found.div) } else { (found.div, found.mul) };
        factor.mul *= mul;
        factor.div *= div;
    }
    Ok(())
}

/// Units written as words.
fn spelled_out(word: &str) -> Option<&'static str> {
    const WORDS: &[(&str, &str)] = &[
        ("millimet", "mm"),
        ("centimet", "cm"),
        ("micromet", "um"),
        ("micron", "um"),
        ("kilomet", "km"),
        ("met", "m"),
        ("inch", "in"),
        ("millisec", "ms"),
        ("microsec", "us"),
        ("sec", "s"),
        ("minute", "min"),
        ("hour", "h"),
        ("degree", "deg"),
        ("radian", "rad"),
        ("microlit", "uL"),
        ("millilit", "mL"),
        ("lit", "L"),
        ("gram", "g"),
        ("pascal", "Pa"),
        ("newton", "N"),
    ];
    let word = word.to_lowercase();
    WORDS.iter().find(|(start, _)| word.starts_with(start)).map(|(_, symbol)| *symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn si(text: &str) -> f64 {
        parse_quantity(text).unwrap_or_else(|e| panic!("{text}: {e:?}")).values[0]
    }

    #[test]
    fn decimal_units_are_bit_identical_to_si_numbers() {
        for (text, expected) in [
            ("1.1 mm", 0.0011),
            ("2mm", 0.002),
            ("4.19 uL", 4.19e-9),
            ("4.19 µL", 4.19e-9),
            ("73 mN/m", 0.073),
            ("1 mm^2/s", 1e-6),
            ("1 mm²/s", 1e-6),
            ("1 cSt", 1e-6),
            ("0.998 g/cm^3", 998.0),
            ("9.81 m/s^2", 9.81),
            ("9.81 m s^-2", 9.81),
            ("9.81 m·s⁻²", 9.81),
            ("1 uL/m^2/s", 1e-9),
            ("20 kPa", 20e3),
            ("0.2 g/s", 2e-4),
            ("-1.5e-3 m", -0.0015),
            (".5 m", 0.5),
            ("3 1/s", 3.0),
            ("3/s", 3.0),
            ("3 Hz", 3.0),
            ("1 dyn/cm", 1e-3),
        ] {
            assert_eq!(si(text).to_bits(), f64::to_bits(expected), "{text}");
        }
    }

    #[test]
    fn other_units_round_once() {
        assert_eq!(si("90 deg"), 90f64.to_radians());
        assert_eq!(si("20 mm/h"), 0.02 / 3600.0);
        assert_eq!(si("36 km/h"), 10.0);
        assert_eq!(si("2 min"), 120.0);
        assert_eq!(si("1 in"), 0.0254);
    }

    #[test]
    fn degrees_celsius_are_shifted_and_stand_alone() {
        assert_eq!(si("20 degC"), 293.15);
        assert_eq!(si("-3.5 degC"), 269.65);
        assert_eq!(si("293.15 K"), 293.15);
        assert_eq!(parse_quantity("0 degC").unwrap().dimension.name(), "a temperature");
        for text in ["1 degC/m", "1 m degC", "1 degC^2"] {
            assert!(matches!(parse_quantity(text), Err(QuantityError::BadUnit { .. })), "{text}");
        }
    }

    #[test]
    fn vectors_share_one_unit() {
        let q = parse_quantity(" 0 -1.5 2e1 mm ").unwrap();
        assert_eq!(q.values, [0.0, -0.0015, 0.02]);
        assert_eq!(q.dimension.name(), "a length");
    }

    #[test]
    fn invalid_quantities_are_explained() {
        assert_eq!(parse_quantity("abc"), Err(QuantityError::NoNumber));
        assert_eq!(parse_quantity("2"), Err(QuantityError::NoUnit { numbers: "2".into() }));
        assert!(matches!(
            parse_quantity("2 mL/mins"),
            Err(QuantityError::UnknownUnit { range, nearest: Some("min"), .. }) if range == (5..9)
        ));
        assert!(matches!(parse_quantity("2 MM"), Err(QuantityError::UnknownUnit { nearest: Some("mm"), .. })));
        assert!(matches!(parse_quantity("1e400 m"), Err(QuantityError::TooLarge { .. })));
        assert!(matches!(parse_quantity("nan mm"), Err(QuantityError::NotFinite { .. })));
        assert!(matches!(parse_quantity("1e-200 m"), Err(QuantityError::TooSmall { .. })));
        assert!(matches!(parse_quantity("2 m/"), Err(QuantityError::BadUnit { .. })));
        assert!(matches!(parse_quantity("2 m^x"), Err(QuantityError::BadUnit { .. })));
        assert!(matches!(parse_quantity("2 m^9^9"), Err(QuantityError::BadUnit { .. })));
        assert_eq!(parse_quantity("0e999999999999999999999 m").unwrap().values, [0.0]);
    }
}

//! Numbers and quantities as text that reads back bit-identically.
//!
//! A unit that is a power of ten of the SI unit only shifts the decimal point of the shortest text
//! of the number, and the reader shifts it back before rounding, so every such text is exact.
//! Degrees and mm/h round; they are used where some text of at most 17 digits reads back to the
//! same bits, and radians or SI units otherwise.

use crate::quantities::QuantityKind;
use crate::units::parse_quantity;

/// A unit, its power of ten, and the smallest magnitude in SI units for which it is used.
type Unit = (&'static str, i32, f64);

/// Units to print with, the largest first; the last also serves smaller values.
fn units_of(kind: &QuantityKind) -> &'static [Unit] {
    match kind.unit {
        "mm" | "um" => &[("m", 0, 1.0), ("mm", -3, 1e-4), ("um", -6, 1e-7), ("nm", -9, 0.0)],
        "mm^2" => &[("m^2", 0, 1e-2), ("mm^2", -6, 0.0)],
        "uL" => &[("m^3", 0, 1e-1), ("L", -3, 1e-3), ("mL", -6, 1e-5), ("uL", -9, 1e-12), ("nL", -12, 0.0)],
        "ms" => &[("s", 0, 1.0), ("ms", -3, 1e-3), ("us", -6, 0.0)],
        "deg" => &[("rad", 0, 0.0)],
        "m/s" | "mm/h" => &[("m/s", 0, 0.1), ("mm/s", -3, 1e-4), ("um/s", -6, 0.0)],
        "m/s^2" => &[("m/s^2", 0, 0.0)],
        "kg/m^3" => &[("kg/m^3", 0, 0.0)],
        "mm^2/s" => &[("mm^2/s", -6, 0.0)],
        "mN/m" => &[("N/m", 0, 10.0), ("mN/m", -3, 0.0)],
        "N/m" => &[("N/m", 0, 0.0)],
        "Pa" => &[("kPa", 3, 1e4), ("Pa", 0, 0.0)],
        "g/s" => &[("g/s", -3, 0.0)],
        "1/s" => &[("1/s", 0, 0.0)],
        "degC" => &[("K", 0, 0.0)],
        "uL/m^2/s" => &[("uL/m^2/s", -9, 0.0)],
        _ => &[("uL/s", -9, 0.0)],
    }
}

/// The unit printed with zero.
fn unit_of_zero(kind: &QuantityKind) -> &'static str {
    match kind.unit {
        "ms" => "s",
        unit => unit,
    }
}

/// A plain number.
pub(crate) fn number_text(value: f64) -> String {
    shifted(value, 0)
}

/// One quantity.
pub(crate) fn quantity_text(value: f64, kind: &QuantityKind) -> String {
    vector_text(&[value], kind)
}

/// Numbers that share one unit.
pub(crate) fn vector_text(values: &[f64], kind: &QuantityKind) -> String {
    let join = |texts: Vec<String>, unit: &str| format!("{} {unit}", texts.join(" "));
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if largest == 0.0 {
        return join(values.iter().map(|v| number_text(*v)).collect(), unit_of_zero(kind));
    }
    let rounding = match kind.unit {
        "deg" => Some(("deg", 180.0 / std::f64::consts::PI)),
        "mm/h" => Some(("mm/h", 3.6e6)),
        _ => None,
    };
    if let Some((unit, factor)) = rounding {
        let texts: Option<Vec<String>> = values.iter().map(|v| rounded(*v, unit, factor)).collect();
        if let Some(texts) = texts {
            return join(texts, unit);
        }
    }
    let units = units_of(kind);
    let (unit, shift, _) = units.iter().find(|(_, _, least)| largest >= *least).unwrap_or(&units[units.len() - 1]);
    join(values.iter().map(|v| shifted(*v, -shift)).collect(), unit)
}

/// The shortest text in a unit that rounds, if any reads back to the same bits.
fn rounded(value: f64, unit: &str, factor: f64) -> Option<String> {
    let scaled = value * factor;
    for digits in 0..17 {
        let candidate: f64 = format!("{scaled:.digits$e}").parse().ok()?;
        let text = number_text(candidate);
        let back = parse_quantity(&format!("{text} {unit}")).ok()?.values;
        if back.first().is_some_and(|b| b.to_bits() == value.to_bits()) {
            return Some(text);
        }
    }
    None
}

/// The shortest digits of `value` that read back to it, with the decimal point moved `places` to
/// the right.
fn shifted(value: f64, places: i32) -> String {
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let sign = if mantissa.starts_with('-') { "-" } else { "" };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    if digits.bytes().all(|b| b == b'0') {
        return format!("{sign}0");
    }
    let exponent = exponent.parse::<i32>().unwrap_or(0) + places;
    let count = digits.len() as i32;
    if !(-5..=14).contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        return format!("{sign}{first}{point}{rest}e{exponent}");
    }
    if exponent < 0 {
        let zeros = "0".repeat((-exponent - 1) as usize);
        return format!("{sign}0.{zeros}{digits}");
    }
    let whole = exponent + 1;
    if count <= whole {
        return format!("{sign}{digits}{}", "0".repeat((whole - count) as usize));
    }
    let (left, right) = digits.split_at(whole as usize);
    format!("{sign}{left}.{right}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantities::{ANGLE, LENGTH, RAIN, TIME, VOLUME};

    #[test]
    fn quantities_are_printed_in_customary_units() {
        assert_eq!(quantity_text(0.002, &LENGTH), "2 mm");
        assert_eq!(quantity_text(0.0011, &LENGTH), "1.1 mm");
        assert_eq!(quantity_text(20e-6, &LENGTH), "20 um");
        assert_eq!(quantity_text(4.19e-9, &VOLUME), "4.19 uL");
        assert_eq!(quantity_text(0.03, &TIME), "30 ms");
        assert_eq!(quantity_text(0.0, &TIME), "0 s");
        assert_eq!(quantity_text(105f64.to_radians(), &ANGLE), "105 deg");
        assert_eq!(quantity_text(0.02 / 3600.0, &RAIN), "20 mm/h");
        assert_eq!(vector_text(&[-0.005, 0.0, 0.0125], &LENGTH), "-5 0 12.5 mm");
    }

    #[test]
    fn printed_quantities_read_back_bit_identically() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 11
        };
        for _ in 0..20_000 {
            let unit = next() as f64 / (1u64 << 53) as f64;
            let value = (unit - 0.5) * 10f64.powi((next() % 30) as i32 - 20);
            for kind in [&LENGTH, &VOLUME, &TIME, &ANGLE, &RAIN] {
                let text = quantity_text(value, kind);
                let back = parse_quantity(&text).map(|q| q.values[0]);
                assert_eq!(back.map(f64::to_bits), Ok(value.to_bits()), "{value:e} printed as {text}");
            }
        }
    }
}

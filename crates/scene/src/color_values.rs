//! Reading and printing of surface colors and tilings.

use crate::diagnostics::Diagnostic;
use crate::field::Value as FieldValue;
use crate::print::numbers::number_text;
use crate::reader::Section;
use crate::schema::Key;
use crate::tree::{Node, Value, shortened};
use crate::types::{SurfaceColor, Tiling};
use crate::values::number;

impl FieldValue for SurfaceColor {
    /// Three numbers from 0 to 1, or `"#aabbcc"`.
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
        let example = "expected three numbers from 0 to 1, e.g. [0.8, 0.2, 0.1], or \"#cc331a\"";
        let complain = |message: String| {
            section.cx.error(Diagnostic::new(&node.place, message).label(example));
        };
        match &node.value {
            Value::Text(text) => {
                let color = hex_color(text);
                if color.is_none() {
                    complain(format!("\"{}\" is not a color", shortened(text)));
                }
                color.map(Self)
            }
            Value::List(list) if list.len() == 3 => {
                let [r, g, b] = [0, 1, 2].map(|i| number(section, key, &list[i]));
                let color = [r?, g?, b?];
                if color.iter().all(|channel| (0.0..=1.0).contains(channel)) {
                    return Some(Self(color));
                }
                complain(format!("a channel of `{}` is not between 0 and 1", key.name));
                None
            }
            other => {
                complain(format!("`{}` must be a color, but this is {}", key.name, other.kind()));
                None
            }
        }
    }

    fn text(&self, _key: &Key) -> String {
        format!("[{}]", self.0.map(number_text).join(", "))
    }

    fn placeholder() -> Self {
        Self([1.0; 3])
    }
}

/// The channels of `#aabbcc`.
fn hex_color(text: &str) -> Option<[f64; 3]> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    let mut color = [0.0; 3];
    for (i, channel) in color.iter_mut().enumerate() {
        let digits = &digits[2 * i..2 * i + 2];
        let valid = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        *channel = f64::from(u8::from_str_radix(digits, 16).ok().filter(|_| valid)?) / 255.0;
    }
    Some(color)
}

impl FieldValue for Tiling {
    /// One positive number, or two.
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
        let repeats = match &node.value {
            Value::List(list) if list.len() == 2 => {
                let [u, v] = [0, 1].map(|i| number(section, key, &list[i]));
                [u?, v?]
            }
            _ => [number(section, key, node)?; 2],
        };
        if repeats.iter().all(|count| *count > 0.0 && *count <= MAX_REPEATS) {
            return Some(Self(repeats));
        }
        section.cx.error(
            Diagnostic::new(&node.place, format!("`{}` must be more than zero and at most {MAX_REPEATS}", key.name))
                .label("expected one or two numbers, e.g. 4 or [4, 2]"),
        );
        None
    }

    fn text(&self, _key: &Key) -> String {
        let [u, v] = self.0.map(number_text);
        if u == v { u } else { format!("[{u}, {v}]") }
    }

    fn placeholder() -> Self {
        Self([1.0; 2])
    }
}

/// Bound on the repeats of a texture: beyond it single precision loses the place within a tile.
const MAX_REPEATS: f64 = 10_000.0;

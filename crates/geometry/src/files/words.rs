//! Words of a text file, with the line each stands on.

use super::error::{Fault, Place, Problem, quote};

/// A cursor over the words of a text file.
pub(super) struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Words<'a> {
    /// Starts at byte `at`, which stands on line `line` (counted from 1).
    pub fn new(bytes: &'a [u8], at: usize, line: usize) -> Self {
        Self { bytes, at, line }
    }

    /// Where the cursor stands.
    pub fn place(&self) -> Place {
        Place::Line(self.line)
    }

    /// Bytes from the cursor to the end of the file.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next word, on this line or a later one.
    pub fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            if let Some(word) = self.next_on_line(None) {
                return Some(word);
            }
            if !self.next_line() {
                return None;
            }
        }
    }

    /// The next word on this line. A word that starts with `comment` ends the line; a backslash at its end goes on with the next.
    pub fn next_on_line(&mut self, comment: Option<u8>) -> Option<&'a [u8]> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte == b'\n' || Some(byte) == comment {
                return None;
            }
            if let Some(length) = self.continuation(comment.is_some()) {
                self.at += length;
                self.line += 1;
            } else if byte.is_ascii_whitespace() {
                self.at += 1;
            } else {
                return Some(self.take_word(comment.is_some()));
            }
        }
        None
    }

    /// Moves to the start of the next line; false at the end of the file.
    pub fn next_line(&mut self) -> bool {
        match self.bytes[self.at..].iter().position(|&byte| byte == b'\n') {
            Some(length) => {
                self.at += length + 1;
                self.line += 1;
                true
            }
            None => {
                self.at = self.bytes.len();
                false
            }
        }
    }

    /// Length of a backslash and line end at the cursor.
    fn continuation(&self, allowed: bool) -> Option<usize> {
        match &self.bytes[self.at..] {
            [b'\\', b'\n', ..] if allowed => Some(2),
            [b'\\', b'\r', b'\n', ..] if allowed => Some(3),
            _ => None,
        }
    }

    fn take_word(&mut self, continued_lines: bool) -> &'a [u8] {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| !byte.is_ascii_whitespace())
            && self.continuation(continued_lines).is_none()
        {
            self.at += 1;
        }
        &self.bytes[start..self.at]
    }
}

/// A number as people write it; infinities and NaN included.
pub(super) fn number(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// A coordinate: a number that must be finite. `word` is none where the line or file ends too soon.
pub(super) fn coordinate(word: Option<&[u8]>, place: impl Fn() -> Place, what: &str) -> Result<f64, Fault> {
    let Some(word) = word else {
        return Err(Fault::unexpected(place(), format!("a number for the {what}"), "the end"));
    };
    let value =
        number(word).ok_or_else(|| Fault::unexpected(place(), format!("a number for the {what}"), quote(word)))?;
    finite(value, place, what)
}

/// `value`, if it is finite.
pub(super) fn finite(value: f64, place: impl Fn() -> Place, what: &str) -> Result<f64, Fault> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(Fault::new(place(), Problem::NonFinite { what: what.to_owned(), found: value }))
    }
}

//! Tokens of a text file, with the line each stands on.

use super::error::{Location, ParseError, Problem, quote};

/// A cursor over the tokens of a text file.
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Tokens<'a> {
    /// Starts at byte `at`, which is on line `line` (counted from 1).
    pub fn new(bytes: &'a [u8], at: usize, line: usize) -> Self {
        Self { bytes, at, line }
    }

    /// The line of the cursor, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Where the cursor is.
    pub fn location(&self) -> Location {
        Location::Line(self.line)
    }

    /// Bytes from the cursor to the end of the file.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next token, on this line or a later one.
    pub fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            if let Some(token) = self.next_on_line(None) {
                return Some(token);
            }
            if !self.next_line() {
                return None;
            }
        }
    }

    /// The next token on this line. A token that starts with `comment` ends the line; a backslash
    /// at the end of a line continues it on the next.
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
                return Some(self.take_token(comment.is_some()));
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

    fn take_token(&mut self, continued_lines: bool) -> &'a [u8] {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| !byte.is_ascii_whitespace())
            && self.continuation(continued_lines).is_none()
        {
            self.at += 1;
        }
        &self.bytes[start..self.at]
    }
}

/// Parses a number; infinities and NaN are numbers too.
pub(super) fn number(token: &[u8]) -> Option<f64> {
    std::str::from_utf8(token).ok()?.parse().ok()
}

/// Parses a coordinate, which must be finite. `token` is none where the line or file ends too
/// early.
pub(super) fn coordinate(token: Option<&[u8]>, location: impl Fn() -> Location, what: &str) -> Result<f64, ParseError> {
    let Some(token) = token else {
        return Err(ParseError::unexpected(location(), format!("a number for the {what}"), "the end"));
    };
    let value = number(token)
        .ok_or_else(|| ParseError::unexpected(location(), format!("a number for the {what}"), quote(token)))?;
    finite(value, location, what)
}

/// `value`, if it is finite.
pub(super) fn finite(value: f64, location: impl Fn() -> Location, what: &str) -> Result<f64, ParseError> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(ParseError::new(location(), Problem::NonFinite { what: what.to_owned(), found: value }))
    }
}

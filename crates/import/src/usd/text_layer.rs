//! Reader of USD text layers (`.usda`), as far as importing a model needs them.

use std::collections::BTreeMap;

use super::error::UsdError;
use super::layer::{TimeSamples, UsdLayer, UsdPrim, UsdValue};

/// Deepest nesting of prims and values.
const MAX_DEPTH: usize = 200;

/// Parses a layer; errors give the line.
pub fn parse(text: &str) -> Result<UsdLayer, UsdError> {
    let mut parser = Parser { bytes: text.as_bytes(), at: 0, depth: 0 };
    // "#usda 1.0" is a comment to the rest of the grammar.
    parser.skip_space();
    let mut layer = UsdLayer::default();
    if parser.peek() == Some(b'(') {
        layer.metadata = parser.metadata()?;
    }
    loop {
        parser.skip_space();
        if parser.peek().is_none() {
            return Ok(layer);
        }
        match parser.word()?.as_str() {
            "def" | "over" | "class" => layer.prims.push(parser.prim()?),
            // A layer may order its root prims.
            "reorder" => parser.skip_statement()?,
            other => return Err(parser.unexpected("a prim", &format!("`{other}`"))),
        }
    }
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn line(&self) -> usize {
        1 + self.bytes[..self.at.min(self.bytes.len())].iter().filter(|byte| **byte == b'\n').count()
    }

    fn unexpected(&self, expected: &str, found: &str) -> UsdError {
        UsdError::Syntax { line: self.line(), expected: expected.to_owned(), found: found.to_owned() }
    }

    /// The byte at the cursor, for messages.
    fn found(&self) -> String {
        self.peek().map_or("the end of the file".to_owned(), |byte| format!("`{}`", char::from(byte)))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'#' => {
                    while self.peek().is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                byte if byte.is_ascii_whitespace() || byte == b';' => self.at += 1,
                _ => return,
            }
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), UsdError> {
        if self.eat(byte) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{}`", char::from(byte)), &self.found()))
    }

    /// A name, keyword or type: everything up to white space or punctuation.
    fn word(&mut self) -> Result<String, UsdError> {
        self.skip_space();
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_:.!-+".contains(&byte) || byte >= 128) {
            self.at += 1;
        }
        // Array types end in brackets.
        if self.bytes[self.at..].starts_with(b"[]") {
            self.at += 2;
        }
        if self.at == start {
            return Err(self.unexpected("a name or keyword", &self.found()));
        }
        Ok(String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned())
    }

    fn enter(&mut self) -> Result<(), UsdError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.unexpected(&format!("at most {MAX_DEPTH} levels of nesting"), "more"));
        }
        Ok(())
    }

    /// A string in single or triple quotes, an asset or a path, without its delimiters.
    fn quoted(&mut self) -> Result<String, UsdError> {
        self.skip_space();
        let rest = &self.bytes[self.at..];
        let delimiters: [(&[u8], &[u8]); 7] = [
            (b"\"\"\"", b"\"\"\""),
            (b"'''", b"'''"),
            (b"@@@", b"@@@"),
            (b"\"", b"\""),
            (b"'", b"'"),
            (b"@", b"@"),
            (b"<", b">"),
        ];
        let Some((open, close)) = delimiters.iter().find(|(open, _)| rest.starts_with(open)) else {
            return Err(self.unexpected("a quoted string", &self.found()));
        };
        self.at += open.len();
        let mut text = Vec::new();
        loop {
            let rest = &self.bytes[self.at..];
            if rest.starts_with(close) {
                self.at += close.len();
                return Ok(String::from_utf8_lossy(&text).into_owned());
            }
            match rest {
                [] => return Err(self.unexpected("a closing quote", "the end of the file")),
                [b'\\', next, ..] if *open != b"@" => {
                    text.push(*next);
                    self.at += 2;
                }
                [byte, ..] => {
                    text.push(*byte);
                    self.at += 1;
                }
            }
        }
    }

    /// A value of any type; dictionaries are skipped.
    fn value(&mut self) -> Result<UsdValue, UsdError> {
        self.skip_space();
        match self.peek() {
            Some(b'"' | b'\'' | b'@' | b'<') => Ok(UsdValue::Texts(vec![self.quoted()?])),
            Some(open @ (b'[' | b'(')) => {
                self.enter()?;
                self.at += 1;
                let close = if open == b'[' { b']' } else { b')' };
                let (mut numbers, mut texts) = (Vec::new(), Vec::new());
                while !self.eat(close) {
                    match self.value()? {
                        UsdValue::Numbers(values) => numbers.extend(values),
                        UsdValue::Texts(values) => texts.extend(values),
                        UsdValue::Nothing => {}
                    }
                    self.eat(b',');
                }
                self.depth -= 1;
                Ok(if !texts.is_empty() { UsdValue::Texts(texts) } else { UsdValue::Numbers(numbers) })
            }
            Some(b'{') => {
                self.skip_block(b'{', b'}')?;
                Ok(UsdValue::Nothing)
            }
            Some(_) => {
                let word = self.word()?;
                Ok(match word.as_str() {
                    "None" => UsdValue::Nothing,
                    "true" => UsdValue::Numbers(vec![1.0]),
                    "false" => UsdValue::Numbers(vec![0.0]),
                    word => word
                        .parse()
                        .map_or_else(|_| UsdValue::Texts(vec![word.to_owned()]), |n| UsdValue::Numbers(vec![n])),
                })
            }
            None => Err(self.unexpected("a value", "the end of the file")),
        }
    }

    /// Skips a block; brackets in strings do not count.
    fn skip_block(&mut self, open: u8, close: u8) -> Result<(), UsdError> {
        self.expect(open)?;
        let mut level = 1;
        while level > 0 {
            self.skip_space();
            match self.peek() {
                Some(b'"' | b'\'' | b'@') => {
                    self.quoted()?;
                }
                Some(byte) => {
                    level += i32::from(byte == open) - i32::from(byte == close);
                    self.at += 1;
                }
                None => return Err(self.unexpected(&format!("`{}`", char::from(close)), &self.found())),
            }
        }
        Ok(())
    }

    fn skip_statement(&mut self) -> Result<(), UsdError> {
        while !self.eat(b'=') {
            self.word()?;
        }
        self.value().map(|_| ())
    }

    /// `( key = value … )`; keys may have qualifiers (`prepend references`).
    fn metadata(&mut self) -> Result<BTreeMap<String, UsdValue>, UsdError> {
        self.expect(b'(')?;
        let mut metadata = BTreeMap::new();
        while !self.eat(b')') {
            self.skip_space();
            if matches!(self.peek(), Some(b'"' | b'\'')) {
                self.quoted()?;
                continue;
            }
            let mut key = self.word()?;
            while !self.eat(b'=') {
                key = self.word()?;
            }
            let mut value = self.value()?;
            // A reference may have a prim path and a layer offset after the file.
            self.skip_space();
            while matches!(self.peek(), Some(b'<' | b'(')) {
                value = self.value()?;
                self.skip_space();
            }
            self.eat(b',');
            metadata.insert(key, value);
        }
        Ok(metadata)
    }

    fn prim(&mut self) -> Result<UsdPrim, UsdError> {
        self.enter()?;
        let mut prim = UsdPrim::default();
        self.skip_space();
        if self.peek() != Some(b'"') {
            prim.kind = self.word()?;
        }
        prim.name = self.quoted()?;
        self.skip_space();
        if self.peek() == Some(b'(') {
            let metadata = self.metadata()?;
            prim.composed =
                ["references", "payload", "inherits", "specializes"].iter().any(|key| metadata.contains_key(*key));
        }
        self.expect(b'{')?;
        while !self.eat(b'}') {
            let word = self.word()?;
            match word.as_str() {
                "def" | "over" | "class" => {
                    prim.children.push(self.prim()?);
                    continue;
                }
                "variantSet" => {
                    self.quoted()?;
                    self.expect(b'=')?;
                    self.skip_block(b'{', b'}')?;
                    continue;
                }
                "reorder" => {
                    self.skip_statement()?;
                    continue;
                }
                _ => {}
            }
            self.property(word, &mut prim)?;
        }
        self.depth -= 1;
        Ok(prim)
    }

    /// A property whose first word has been read: `custom uniform token[] name = value (metadata)`.
    fn property(&mut self, mut word: String, prim: &mut UsdPrim) -> Result<(), UsdError> {
        // The last word before the value is the name.
        loop {
            self.skip_space();
            match self.peek() {
                Some(b'=' | b'(' | b'}') | None => break,
                // A property without a value: the next line begins another.
                _ if self.starts_statement() => break,
                _ => word = self.word()?,
            }
        }
        let (mut value, mut samples) = (UsdValue::Nothing, Vec::new());
        if self.eat(b'=') {
            if word.ends_with(".timeSamples") {
                samples = self.samples()?;
            } else {
                value = self.value()?;
            }
        }
        self.skip_space();
        if self.peek() == Some(b'(') {
            self.metadata()?;
        }
        let name = word.trim_end_matches(".timeSamples").to_owned();
        if value != UsdValue::Nothing && !prim.properties.contains_key(&name) {
            prim.properties.insert(name.clone(), value);
        }
        prim.set_samples(&name, samples);
        Ok(())
    }

    /// Whether only white space precedes the cursor on its line: statements start on a new line.
    fn starts_statement(&self) -> bool {
        let before = &self.bytes[..self.at];
        let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        before[line..].iter().all(u8::is_ascii_whitespace)
    }

    /// The values of `{ time: value, … }`.
    fn samples(&mut self) -> Result<TimeSamples, UsdError> {
        self.expect(b'{')?;
        let mut samples = Vec::new();
        while !self.eat(b'}') {
            // The time, which may include its colon.
            let word = self.word()?;
            if !word.ends_with(':') {
                self.expect(b':')?;
            }
            let value = self.value()?;
            // Only transforms keep all their samples.
            let time = word.trim_end_matches(':').parse().unwrap_or(samples.len() as f64);
            samples.push((time, value));
            self.eat(b',');
        }
        Ok(samples)
    }
}

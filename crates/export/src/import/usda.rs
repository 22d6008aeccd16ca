//! USD's text layers, as far as a model needs them.

use std::collections::BTreeMap;

use super::usd::{UsdLayer, UsdPrim, UsdValue};

/// Deepest nesting of prims and values.
const DEEPEST: usize = 200;

/// Reads a layer; errors name the line.
pub fn parse(text: &str) -> Result<UsdLayer, String> {
    let mut parser = Parser { bytes: text.as_bytes(), at: 0, depth: 0 };
    // "#usda 1.0" is a comment to the rest of the grammar.
    parser.space();
    let mut layer = UsdLayer::default();
    if parser.peek() == Some(b'(') {
        layer.meta = parser.metadata()?;
    }
    loop {
        parser.space();
        if parser.peek().is_none() {
            return Ok(layer);
        }
        match parser.word()?.as_str() {
            "def" | "over" | "class" => layer.prims.push(parser.prim()?),
            // A layer may order its root prims.
            "reorder" => parser.skip_statement()?,
            other => return Err(parser.unexpected("a prim", other)),
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

    fn unexpected(&self, expected: &str, found: &str) -> String {
        format!("line {}: {expected} was expected, found {found:?}", self.line())
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
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
        self.space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.eat(byte) {
            return Ok(());
        }
        let found = self.peek().map_or("the end".to_owned(), |byte| char::from(byte).to_string());
        Err(self.unexpected(&format!("`{}`", char::from(byte)), &found))
    }

    /// Names, keywords and types: all that is not space or punctuation.
    fn word(&mut self) -> Result<String, String> {
        self.space();
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_:.!-+".contains(&byte) || byte >= 128) {
            self.at += 1;
        }
        // Types of arrays.
        if self.bytes[self.at..].starts_with(b"[]") {
            self.at += 2;
        }
        if self.at == start {
            let found = self.peek().map_or("the end".to_owned(), |byte| char::from(byte).to_string());
            return Err(self.unexpected("a word", &found));
        }
        Ok(String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned())
    }

    fn enter(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEEPEST { Err(self.unexpected("a less deep tree", "one more level")) } else { Ok(()) }
    }

    /// Text in quotes of one or three, or between the marks of paths and assets.
    fn quoted(&mut self) -> Result<String, String> {
        self.space();
        let rest = &self.bytes[self.at..];
        let marks: [(&[u8], &[u8]); 7] = [
            (b"\"\"\"", b"\"\"\""),
            (b"'''", b"'''"),
            (b"@@@", b"@@@"),
            (b"\"", b"\""),
            (b"'", b"'"),
            (b"@", b"@"),
            (b"<", b">"),
        ];
        let Some((open, close)) = marks.iter().find(|(open, _)| rest.starts_with(open)) else {
            return Err(self.unexpected("text", ""));
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
                [] => return Err(self.unexpected("the end of a text", "the end of the file")),
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

    /// A value of any kind; what is not needed comes back as nothing.
    fn value(&mut self) -> Result<UsdValue, String> {
        self.space();
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
            None => Err(self.unexpected("a value", "the end")),
        }
    }

    /// Passes over a block, with texts in it taken as such.
    fn skip_block(&mut self, open: u8, close: u8) -> Result<(), String> {
        self.expect(open)?;
        let mut level = 1;
        while level > 0 {
            self.space();
            match self.peek() {
                Some(b'"' | b'\'' | b'@') => {
                    self.quoted()?;
                }
                Some(byte) => {
                    level += i32::from(byte == open) - i32::from(byte == close);
                    self.at += 1;
                }
                None => return Err(self.unexpected(&format!("`{}`", char::from(close)), "the end")),
            }
        }
        Ok(())
    }

    fn skip_statement(&mut self) -> Result<(), String> {
        while !self.eat(b'=') {
            self.word()?;
        }
        self.value().map(|_| ())
    }

    /// `( key = value … )`; keys may have words before them (`prepend references`).
    fn metadata(&mut self) -> Result<BTreeMap<String, UsdValue>, String> {
        self.expect(b'(')?;
        let mut meta = BTreeMap::new();
        while !self.eat(b')') {
            self.space();
            if matches!(self.peek(), Some(b'"' | b'\'')) {
                self.quoted()?;
                continue;
            }
            let mut key = self.word()?;
            while !self.eat(b'=') {
                key = self.word()?;
            }
            let mut value = self.value()?;
            // A reference may name a prim behind the file, and a layer offset behind that.
            self.space();
            while matches!(self.peek(), Some(b'<' | b'(')) {
                value = self.value()?;
                self.space();
            }
            self.eat(b',');
            meta.insert(key, value);
        }
        Ok(meta)
    }

    fn prim(&mut self) -> Result<UsdPrim, String> {
        self.enter()?;
        let mut prim = UsdPrim::default();
        self.space();
        if self.peek() != Some(b'"') {
            prim.kind = self.word()?;
        }
        prim.name = self.quoted()?;
        self.space();
        if self.peek() == Some(b'(') {
            let meta = self.metadata()?;
            prim.composed =
                ["references", "payload", "inherits", "specializes"].iter().any(|key| meta.contains_key(*key));
        }
        self.expect(b'{')?;
        while !self.eat(b'}') {
            let mut word = self.word()?;
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
            // `custom uniform token[] name`: the last word before the value is the name.
            loop {
                self.space();
                match self.peek() {
                    Some(b'=' | b'(' | b'}') | None => break,
                    // A property without a value: the next line begins another.
                    _ if self.starts_statement() => break,
                    _ => word = self.word()?,
                }
            }
            let mut value = UsdValue::Nothing;
            if self.eat(b'=') {
                value = if word.ends_with(".timeSamples") { self.first_sample()? } else { self.value()? };
            }
            self.space();
            if self.peek() == Some(b'(') {
                self.metadata()?;
            }
            let name = word.trim_end_matches(".timeSamples").to_owned();
            if value != UsdValue::Nothing && !name.ends_with(".connect") && !prim.properties.contains_key(&name) {
                prim.properties.insert(name, value);
            }
        }
        self.depth -= 1;
        Ok(prim)
    }

    /// Whether what follows begins on a line of its own: statements do, and their words stand on one line.
    fn starts_statement(&self) -> bool {
        let before = &self.bytes[..self.at];
        let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        before[line..].iter().all(u8::is_ascii_whitespace)
    }

    /// The first of `{ time: value, … }`.
    fn first_sample(&mut self) -> Result<UsdValue, String> {
        self.expect(b'{')?;
        let mut first = None;
        while !self.eat(b'}') {
            // The time, with its colon.
            let word = self.word()?;
            if !word.ends_with(':') {
                self.expect(b':')?;
            }
            let value = self.value()?;
            first.get_or_insert(value);
            self.eat(b',');
        }
        Ok(first.unwrap_or(UsdValue::Nothing))
    }
}

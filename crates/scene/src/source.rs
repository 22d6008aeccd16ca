//! Sources of a scene's text and positions in them: the file, and the `--set` arguments.

use std::ops::Range;

/// One text that a scene was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file's name, or `--set`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// The texts of one scene: the file first, then the `--set` arguments in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// In the order of [`Place::source`].
    pub list: Vec<Source>,
}

/// A range of bytes in one source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Index into [`Sources::list`]; 0 is the file.
    pub source: usize,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Place {
    pub(crate) fn new(source: usize, span: Range<usize>) -> Self {
        Self { source, start: span.start, end: span.end }
    }
}

impl Sources {
    /// The text at a place.
    pub(crate) fn text(&self, place: &Place) -> &str {
        self.list.get(place.source).and_then(|s| s.text.get(place.start..place.end)).unwrap_or("")
    }

    /// Line and column of a place's first character, both counted from 1.
    pub fn line_column(&self, place: &Place) -> (usize, usize) {
        let Some(source) = self.list.get(place.source) else { return (1, 1) };
        let end = floor_boundary(&source.text, place.start);
        let before = &source.text[..end];
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }

    /// The position of `range` within the content of a string value; that of the whole value if the
    /// source contains escapes.
    pub(crate) fn within(&self, place: &Place, content: &str, range: &Range<usize>) -> Place {
        let raw = self.text(place);
        let offset = if raw == content {
            Some(0)
        } else if raw.len() == content.len() + 2 && &raw.as_bytes()[1..=content.len()] == content.as_bytes() {
            Some(1)
        } else {
            None
        };
        match offset {
            Some(offset) => Place {
                source: place.source,
                start: place.start + offset + range.start,
                end: place.start + offset + range.end,
            },
            None => place.clone(),
        }
    }
}

/// The nearest character boundary at or before `at`, inside the text.
pub(crate) fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The line of byte `at`, without its line break.
pub(crate) fn line_around(text: &str, at: usize) -> Range<usize> {
    let at = floor_boundary(text, at);
    let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
    let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    start..end
}

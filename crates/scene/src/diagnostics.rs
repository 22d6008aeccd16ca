//! Problems of a scene, with file, line, column, the source line and a caret.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::source::{Place, Source, Sources, floor_boundary, line_around};

/// Maximum number of problems shown; further ones are only counted.
const MOST_SHOWN: usize = 100;

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The problem in one sentence.
    pub message: String,
    /// Its position.
    pub place: Place,
    /// Text at the caret below `place`.
    pub label: String,
    /// Related positions and their labels.
    pub others: Vec<(Place, String)>,
    /// How to fix it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A problem at a place.
    pub fn new(place: &Place, message: impl Into<String>) -> Self {
        Self { message: message.into(), place: place.clone(), label: String::new(), others: Vec::new(), help: None }
    }

    /// The same with text at the caret.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    pub(crate) fn other(mut self, place: &Place, text: impl Into<String>) -> Self {
        self.others.push((place.clone(), text.into()));
        self
    }

    /// The same with how to fix it.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    pub(crate) fn maybe_help(mut self, text: Option<String>) -> Self {
        self.help = text;
        self
    }
}

/// Whether a list of diagnostics stops a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The scene cannot be used.
    Error,
    /// The scene can be used, but may not be what was intended.
    Warning,
}

/// All problems of one scene, in the order of the text; `Display` renders them for a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    /// Errors or warnings.
    pub severity: Severity,
    /// The problems, sorted by position.
    pub list: Vec<Diagnostic>,
    /// The texts that positions refer to.
    pub sources: Sources,
}

impl Diagnostics {
    pub(crate) fn new(severity: Severity, mut list: Vec<Diagnostic>, sources: Sources) -> Self {
        list.sort_by(|a, b| a.place.cmp(&b.place));
        list.dedup();
        Self { severity, list, sources }
    }

    /// The errors of a file that is not a scene; all places are in its text.
    pub fn errors(name: &str, text: &str, list: Vec<Diagnostic>) -> Self {
        let sources = Sources { list: vec![Source { name: name.to_owned(), text: text.to_owned() }] };
        Self::new(Severity::Error, list, sources)
    }

    /// The error of a file that cannot be read as text.
    pub fn file_error(name: &str, message: String) -> Self {
        let sources = Sources { list: vec![Source { name: name.to_owned(), text: String::new() }] };
        Self::new(Severity::Error, vec![Diagnostic::new(&Place::new(0, 0..0), message)], sources)
    }

    /// Whether there are no problems.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Number of problems.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Line and column of a problem, counted from 1.
    pub fn line_column(&self, diagnostic: &Diagnostic) -> (usize, usize) {
        self.sources.line_column(&diagnostic.place)
    }

    fn render(&self, diagnostic: &Diagnostic, renderer: &Renderer) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(diagnostic.message.as_str()));
        let marked = |source: usize| {
            let first = (diagnostic.place.source == source).then_some((
                AnnotationKind::Primary,
                &diagnostic.place,
                diagnostic.label.as_str(),
            ));
            let rest = diagnostic.others.iter().filter(move |(place, _)| place.source == source);
            first.into_iter().chain(rest.map(|(place, text)| (AnnotationKind::Context, place, text.as_str())))
        };
        let mut order: Vec<usize> = (0..self.sources.list.len()).collect();
        order.sort_by_key(|&s| s != diagnostic.place.source);
        for index in order {
            let source = &self.sources.list[index];
            if marked(index).next().is_none() || source.text.is_empty() {
                continue;
            }
            // Only the relevant lines, so that many errors in a long file are rendered quickly.
            let lines: Vec<Range<usize>> =
                marked(index).map(|(_, place, _)| line_around(&source.text, place.start)).collect();
            let start = lines.iter().map(|l| l.start).min().unwrap_or(0);
            let end = lines.iter().map(|l| l.end).max().unwrap_or(0);
            let annotations = marked(index).map(|(kind, place, text)| {
                let span = visible(&source.text, place);
                let annotation = kind.span(span.start - start..span.end - start);
                if text.is_empty() { annotation } else { annotation.label(text) }
            });
            let before = source.text[..start].bytes().filter(|&b| b == b'\n').count();
            group = group.element(
                Snippet::source(&source.text[start..end])
                    .line_start(before + 1)
                    .path(source.name.as_str())
                    .annotations(annotations),
            );
        }
        if let Some(help) = &diagnostic.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    }
}

/// The bytes to underline: on character boundaries, and only the first line of a longer range.
fn visible(text: &str, place: &Place) -> Range<usize> {
    let start = floor_boundary(text, place.start);
    let end = floor_boundary(text, place.end).max(start);
    let line_end = text[start..].find(['\n', '\r']).map_or(text.len(), |n| start + n);
    start..end.min(line_end)
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let renderer = Renderer::plain();
        for diagnostic in self.list.iter().take(MOST_SHOWN) {
            writeln!(f, "{}\n", self.render(diagnostic, &renderer))?;
        }
        let file = self.sources.list.first().map_or("the scene", |s| s.name.as_str());
        let what = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let plural = if self.list.len() == 1 { "" } else { "s" };
        write!(f, "{} {what}{plural} in {file}", self.list.len())?;
        if self.list.len() > MOST_SHOWN {
            write!(f, " (the first {MOST_SHOWN} are shown)")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

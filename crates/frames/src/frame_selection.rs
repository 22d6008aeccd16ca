//! Selection of frames on the command line: `12`, `10..20`, `10..`, `..20`, `last` or `all`.

use std::fmt;
use std::str::FromStr;

/// A selection of frames; ranges include both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameSelection {
    /// All frames.
    #[default]
    All,
    /// From the first number to the second; `None` for the first or last frame of the run.
    Range(Option<u64>, Option<u64>),
    /// The last frame.
    Last,
}

/// Why a selection of frames is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameSelectionError {
    /// The text is not a frame range.
    #[error("invalid frame range `{text}`: expected A..B (both ends included), A.., ..B, N, last or all")]
    Text {
        /// The text.
        text: String,
    },
    /// The first frame is after the last.
    #[error("invalid frame range {first}..{last}: the first frame is after the last")]
    Backwards {
        /// First.
        first: u64,
        /// Last.
        last: u64,
    },
    /// The run does not have this frame.
    #[error("there is no frame {wanted}; the run has frames {first} to {last}")]
    Missing {
        /// The frame.
        wanted: u64,
        /// First frame of the run.
        first: u64,
        /// Last frame of the run.
        last: u64,
    },
    /// The run has no frames.
    #[error("the run has no frames yet")]
    None,
}

impl fmt::Display for FrameSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |end: Option<u64>| end.map(|number| number.to_string()).unwrap_or_default();
        match *self {
            Self::All => f.write_str("all"),
            Self::Last => f.write_str("last"),
            Self::Range(first, last) if first.is_some() && first == last => f.write_str(&end(first)),
            Self::Range(first, last) => write!(f, "{}..{}", end(first), end(last)),
        }
    }
}

impl FromStr for FrameSelection {
    type Err = FrameSelectionError;

    fn from_str(text: &str) -> Result<Self, FrameSelectionError> {
        let wrong = || FrameSelectionError::Text { text: text.to_owned() };
        let number = |part: &str| {
            let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse().ok().filter(|_| digits).ok_or_else(wrong)
        };
        let end = |part: &str| if part.is_empty() { Ok(None) } else { number(part).map(Some) };
        match (text, text.split_once("..")) {
            ("last", _) => Ok(Self::Last),
            ("all", _) => Ok(Self::All),
            (_, None) => number(text).map(|frame| Self::Range(Some(frame), Some(frame))),
            (_, Some((first, last))) => match (end(first)?, end(last)?) {
                (Some(first), Some(last)) if first > last => Err(FrameSelectionError::Backwards { first, last }),
                (first, last) => Ok(Self::Range(first, last)),
            },
        }
    }
}

impl FrameSelection {
    /// The selected ones of `frames` (increasing); an error if an end of the range is not among
    /// them.
    pub fn of(self, frames: &[u64]) -> Result<Vec<u64>, FrameSelectionError> {
        let (Some(&start), Some(&end)) = (frames.first(), frames.last()) else { return Err(FrameSelectionError::None) };
        let (first, last) = match self {
            Self::All => (start, end),
            Self::Range(first, last) => (first.unwrap_or(start), last.unwrap_or(end)),
            Self::Last => (end, end),
        };
        if let Some(&wanted) = [first, last].iter().find(|wanted| frames.binary_search(wanted).is_err()) {
            return Err(FrameSelectionError::Missing { wanted, first: start, last: end });
        }
        Ok(frames.iter().copied().filter(|frame| (first..=last).contains(frame)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str) -> Result<Vec<u64>, FrameSelectionError> {
        text.parse::<FrameSelection>()?.of(&[0, 1, 2, 3, 4])
    }

    #[test]
    fn selections_are_printed_as_they_are_read() {
        for text in ["all", "last", "3..7", "3..", "..7", "5"] {
            assert_eq!(text.parse::<FrameSelection>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn ranges_include_both_ends() {
        assert_eq!(chosen("1..3"), Ok(vec![1, 2, 3]));
        assert_eq!(chosen("2"), Ok(vec![2]));
        assert_eq!(chosen("3.."), Ok(vec![3, 4]));
        assert_eq!(chosen("..1"), Ok(vec![0, 1]));
        assert_eq!(chosen(".."), Ok(vec![0, 1, 2, 3, 4]));
        assert_eq!(chosen("last"), Ok(vec![4]));
        assert_eq!(chosen("all"), Ok(vec![0, 1, 2, 3, 4]));
    }

    #[test]
    fn invalid_ranges_and_missing_frames_are_errors() {
        for text in ["", "a", "1..b", "-1", "+1", "1...3", "1-3", "1.5", "1..2..3", "99999999999999999999"] {
            assert!(matches!(chosen(text), Err(FrameSelectionError::Text { .. })), "{text:?}: {:?}", chosen(text));
        }
        assert_eq!(chosen("3..1"), Err(FrameSelectionError::Backwards { first: 3, last: 1 }));
        let error = chosen("3..9").unwrap_err().to_string();
        assert_eq!(error, "there is no frame 9; the run has frames 0 to 4");
        assert_eq!(FrameSelection::All.of(&[]), Err(FrameSelectionError::None));
    }
}

//! `measure.jsonl`: one JSON object per line and frame, appended during the run.
//!
//! A process killed while writing leaves an incomplete last line. Readers skip it, and
//! [`truncate_after`], which a resumed run calls first, removes it together with the lines of later
//! frames.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::atomic::FileError;
use crate::measures::FrameMeasures;

/// Why measures could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasuresError {
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// A complete line is not the measures of a frame.
    #[error("{}, line {line}: not the measures of a frame: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// The parser's message.
        reason: String,
    },
    /// The frame is not in the file.
    #[error("{}: no measures of frame {frame}; it has {available}", path.display())]
    NoFrame {
        /// The file.
        path: PathBuf,
        /// The frame.
        frame: u64,
        /// The frames that exist.
        available: String,
    },
}

/// Appends the measures of a frame in one write, without flushing them to the disk.
pub fn append(path: &Path, measures: &FrameMeasures) -> Result<(), FileError> {
    let mut line = measures.to_json();
    line.push('\n');
    let opened = File::options().create(true).append(true).open(path);
    opened.and_then(|mut file| file.write_all(line.as_bytes())).map_err(|cause| FileError::new("write", path, cause))
}

/// Calls `take` with number, end offset and text of each complete line; never if there is no file.
fn whole_lines(
    path: &Path,
    mut take: impl FnMut(usize, u64, &str) -> Result<bool, MeasuresError>,
) -> Result<(), MeasuresError> {
    let failed = |cause| FileError::new("read", path, cause);
    let mut reader = match sessile_input::open(path, u64::MAX) {
        Ok(file) => BufReader::with_capacity(1 << 20, file),
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(()),
        Err(cause) => return Err(failed(cause).into()),
    };
    let (mut line, mut number, mut end) = (Vec::new(), 0, 0);
    loop {
        line.clear();
        end += reader.read_until(b'\n', &mut line).map_err(failed)? as u64;
        if line.pop() != Some(b'\n') {
            return Ok(());
        }
        number += 1;
        let text = std::str::from_utf8(&line).map_err(|error| wrong(path, number, &error))?;
        if !take(number, end, text)? {
            return Ok(());
        }
    }
}

fn wrong(path: &Path, line: usize, reason: &dyn std::fmt::Display) -> MeasuresError {
    MeasuresError::Line { path: path.to_owned(), line, reason: reason.to_string() }
}

/// Calls `take` with the measures of each frame, in order, until it returns `false`; one frame is
/// in memory at a time.
pub fn for_each(path: &Path, mut take: impl FnMut(FrameMeasures) -> bool) -> Result<(), MeasuresError> {
    whole_lines(path, |number, _, text| {
        let measures = serde_json::from_str(text).map_err(|error| wrong(path, number, &error))?;
        Ok(take(measures))
    })
}

/// Reads the measures of all frames.
pub fn read_all(path: &Path) -> Result<Vec<FrameMeasures>, MeasuresError> {
    let mut all = Vec::new();
    for_each(path, |measures| {
        all.push(measures);
        true
    })?;
    Ok(all)
}

/// Reads the measures of the last frame; `None` if there are none.
pub fn read_last(path: &Path) -> Result<Option<FrameMeasures>, MeasuresError> {
    let mut last = None;
    whole_lines(path, |number, _, text| {
        last = Some((number, text.to_owned()));
        Ok(true)
    })?;
    last.map(|(number, text)| serde_json::from_str(&text).map_err(|error| wrong(path, number, &error))).transpose()
}

/// Reads the measures of one frame.
pub fn read_frame(path: &Path, frame: u64) -> Result<FrameMeasures, MeasuresError> {
    let (mut found, mut first, mut last) = (None, None, None);
    whole_lines(path, |number, _, text| {
        let available = frame_of(text).ok_or_else(|| wrong(path, number, &"no frame number"))?;
        first.get_or_insert(available);
        last = Some(available);
        if available == frame {
            found = Some(serde_json::from_str(text).map_err(|error| wrong(path, number, &error))?);
        }
        Ok(available != frame)
    })?;
    found.ok_or_else(|| {
        let available = match (first, last) {
            (Some(first), Some(last)) => format!("frames {first} to {last}"),
            _ => "none yet".to_owned(),
        };
        MeasuresError::NoFrame { path: path.to_owned(), frame, available }
    })
}

/// The frame number, which is the first field, without parsing the drops.
fn frame_of(line: &str) -> Option<u64> {
    let rest = line.trim_start().strip_prefix('{')?.trim_start().strip_prefix("\"frame\"")?;
    let digits = rest.trim_start().strip_prefix(':')?.trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    digits[..end].parse().ok()
}

/// Removes the lines of the frames after `last` (of all frames if `None`), and an incomplete line.
pub fn truncate_after(path: &Path, last: Option<u64>) -> Result<(), MeasuresError> {
    let mut keep = 0;
    whole_lines(path, |number, end, text| {
        let frame = frame_of(text).ok_or_else(|| wrong(path, number, &"no frame number"))?;
        let kept = last.is_some_and(|last| frame <= last);
        if kept {
            keep = end;
        }
        Ok(kept)
    })?;
    let shortened = match File::options().write(true).open(path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(()),
        opened => opened.and_then(|file| {
            if file.metadata()?.len() == keep {
                return Ok(());
            }
            file.set_len(keep)?;
            file.sync_all()
        }),
    };
    Ok(shortened.map_err(|cause| FileError::new("shorten", path, cause))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn sample(frame: u64) -> FrameMeasures {
        FrameMeasures { frame, time: 1e-3 * frame as f64, added_volume: 0.1 + 0.2, ..FrameMeasures::default() }
    }

    fn written(folder: &Path, count: u64) -> PathBuf {
        let path = folder.join("measure.jsonl");
        (0..count).for_each(|frame| append(&path, &sample(frame)).unwrap());
        path
    }

    #[test]
    fn lines_are_read_back_bit_identical() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 12);
        assert_eq!(read_all(&path).unwrap(), (0..12).map(sample).collect::<Vec<_>>());
        assert_eq!(read_last(&path).unwrap(), Some(sample(11)));
        assert_eq!(read_frame(&path, 3).unwrap(), sample(3));
        let error = read_frame(&path, 12).unwrap_err().to_string();
        assert!(error.ends_with("measure.jsonl: no measures of frame 12; it has frames 0 to 11"), "{error}");
    }

    #[test]
    fn an_incomplete_last_line_is_skipped_and_removed_on_resume() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 4);
        let whole = fs::read(&path).unwrap();
        let lines: Vec<usize> = whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1).collect();
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let left = lines.iter().filter(|&&end| end <= cut).count();
            assert_eq!(read_all(&path).unwrap().len(), left, "cut after {cut}");
            truncate_after(&path, Some(9)).unwrap();
            let expected = lines.iter().copied().filter(|&end| end <= cut).max().unwrap_or(0);
            assert_eq!(fs::metadata(&path).unwrap().len(), expected as u64, "cut after {cut}");
        }
    }

    #[test]
    fn removed_lines_are_bit_identical_when_appended_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 8);
        let whole = fs::read(&path).unwrap();
        truncate_after(&path, Some(4)).unwrap();
        assert_eq!(read_last(&path).unwrap(), Some(sample(4)));
        (5..8).for_each(|frame| append(&path, &sample(frame)).unwrap());
        assert_eq!(fs::read(&path).unwrap(), whole);
        truncate_after(&path, None).unwrap();
        assert_eq!(read_all(&path).unwrap(), []);
    }

    #[test]
    fn a_missing_file_has_no_measures_and_a_damaged_line_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("measure.jsonl");
        assert_eq!(read_all(&path).unwrap(), []);
        assert_eq!(read_last(&path).unwrap(), None);
        truncate_after(&path, Some(1)).unwrap();
        assert!(!path.exists());
        fs::write(&path, format!("{}\n{{\"frame\": x}}\n", sample(0).to_json())).unwrap();
        let error = read_all(&path).unwrap_err().to_string();
        assert!(error.contains("measure.jsonl, line 2: not the measures of a frame"), "{error}");
    }
}

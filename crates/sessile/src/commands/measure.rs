//! `sessile measure`: prints the measures of a run.

use std::io::{BufRead, BufReader, ErrorKind, Write, stdout};
use std::path::Path;

use sessile_frames::{DropMeasures, FrameMeasures, csv, measures_file};

use super::run_hint;
use crate::args::{MeasureArgs, WhichFrames};
use crate::failure::Failure;
use crate::table::table;

/// Drops that a table lists; JSON and CSV list all.
const MAX_ROWS: usize = 40;

/// Prints the measures of the selected frames.
pub fn measure(args: &MeasureArgs) -> Result<(), Failure> {
    let file = measures_of(&args.run)?;
    if args.json {
        return print_json(&file, args.frame);
    }
    let mut out = stdout().lock();
    if args.csv {
        csv::write_header(&mut out)?;
        return for_each(&file, args.frame, |frame| Ok(csv::write_frame(&mut out, frame)?));
    }
    if args.frame == WhichFrames::All {
        let mut rows = Vec::new();
        for_each(&file, args.frame, |frame| {
            rows.push(frame_row(frame));
            Ok(())
        })?;
        let heading =
            ["frame#", "time (s)", "drops#", "total (uL)", "added (uL)", "lost (uL)", "film (uL)", "fastest (mm/s)"];
        write!(out, "{}", table(&heading, &rows))?;
        return Ok(());
    }
    for_each(&file, args.frame, |frame| Ok(write!(out, "{}", describe(frame))?))
}

/// Path of a run's measures, or an error if `run` is not a run folder.
fn measures_of(run: &Path) -> Result<std::path::PathBuf, Failure> {
    let file = run.join("measure.jsonl");
    match std::fs::metadata(&file) {
        Ok(found) if found.is_file() => return Ok(file),
        Err(cause) if !matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Err(Failure::failed(format!("cannot read {}: {cause}", file.display())));
        }
        _ => {}
    }
    let hint = run_hint(run);
    let reason = if run.is_dir() {
        "has no measure.jsonl: it is not a run folder, or no frame has been written yet"
    } else {
        "is not a folder"
    };
    Err(Failure::wrong(format!("{} {reason}{hint}", run.display())))
}

/// Calls `take` with each selected frame.
fn for_each(
    file: &Path,
    which: WhichFrames,
    mut take: impl FnMut(&FrameMeasures) -> Result<(), Failure>,
) -> Result<(), Failure> {
    match which {
        WhichFrames::Number(number) => {
            let frame = measures_file::read_frame(file, u64::from(number)).map_err(Failure::wrong)?;
            take(&frame)
        }
        WhichFrames::Last => match measures_file::read_last(file).map_err(Failure::failed)? {
            Some(frame) => take(&frame),
            None => Err(Failure::failed(format!("{} has no frames yet", file.display()))),
        },
        WhichFrames::All => {
            let mut result = Ok(());
            let read = measures_file::for_each(file, |frame| {
                result = take(&frame);
                result.is_ok()
            });
            result.and(read.map_err(Failure::failed))
        }
    }
}

/// Prints the lines of the file unchanged, so that no digit is lost.
fn print_json(file: &Path, which: WhichFrames) -> Result<(), Failure> {
    let unreadable = |error: std::io::Error| Failure::failed(format!("cannot read {}: {error}", file.display()));
    let mut selected = None;
    // Reads up to the selected frame first, for an error if it does not exist.
    if which != WhichFrames::All {
        for_each(file, which, |frame| {
            selected = Some(frame.frame);
            Ok(())
        })?;
    }
    let mut out = stdout().lock();
    for line in BufReader::new(sessile_input::open(file, u64::MAX).map_err(unreadable)?).lines() {
        let line = line.map_err(unreadable)?;
        let matches = selected.is_none_or(|number| line.starts_with(&format!("{{\"frame\":{number},")));
        if matches && line.ends_with('}') {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

fn frame_row(frame: &FrameMeasures) -> Vec<String> {
    let fastest = frame.drops.iter().map(|drop| drop.speed_max).fold(0.0, f64::max);
    vec![
        frame.frame.to_string(),
        number(frame.time),
        frame.drops.len().to_string(),
        number(frame.total_volume * 1e9),
        number(frame.added_volume * 1e9),
        number(frame.lost_volume * 1e9),
        number(frame.film_volume * 1e9),
        number(fastest * 1e3),
    ]
}

/// A frame as text: totals, then the largest drops.
fn describe(frame: &FrameMeasures) -> String {
    // A product of the interval, without its last bits.
    let time = (frame.time * 1e9).round() / 1e9;
    let mut text = format!("frame {}, t = {time} s\n", frame.frame);
    let evaporated = match frame.evaporated_volume {
        0.0 => String::new(),
        volume => format!("{} uL evaporated, ", number(volume * 1e9)),
    };
    text += &format!(
        "{} drops, {} uL in total ({} uL as film), {} uL added, {} uL lost, {evaporated}{} triangles\n",
        frame.drops.len(),
        number(frame.total_volume * 1e9),
        number(frame.film_volume * 1e9),
        number(frame.added_volume * 1e9),
        number(frame.lost_volume * 1e9),
        frame.triangles
    );
    if frame.drops.is_empty() {
        return text;
    }
    let mut drops: Vec<&DropMeasures> = frame.drops.iter().collect();
    drops.sort_by(|a, b| b.volume.total_cmp(&a.volume).then(a.id.cmp(&b.id)));
    let rows: Vec<Vec<String>> = drops.iter().take(MAX_ROWS).map(|drop| drop_row(drop)).collect();
    text += &table(
        &["drop#", "volume (uL)", "height (mm)", "base radius (mm)", "contact angle (deg)", "speed (mm/s)", "on"],
        &rows,
    );
    if drops.len() > MAX_ROWS {
        text += &format!("… and {} smaller drops (use --json or --csv for all)\n", drops.len() - MAX_ROWS);
    }
    text
}

fn drop_row(drop: &DropMeasures) -> Vec<String> {
    let angle = drop
        .contact_angle_deg
        .map_or("-".into(), |angle| format!("{:.1} ({:.1} to {:.1})", angle.mean, angle.min, angle.max));
    vec![
        drop.id.to_string(),
        number(drop.volume * 1e9),
        number(drop.height * 1e3),
        number(drop.base_radius * 1e3),
        angle,
        number(drop.velocity.length() * 1e3),
        drop.on.clone().unwrap_or_else(|| "-".into()),
    ]
}

/// Formats a value with four significant digits.
fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..7).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    format!("{value:.*}", (3 - magnitude).clamp(0, 7) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_a_rounded_time_and_what_evaporated() {
        let mut frame = FrameMeasures { frame: 12, time: 12.0 * 0.05, added_volume: 4e-9, ..FrameMeasures::default() };
        let text = describe(&frame);
        assert!(text.starts_with("frame 12, t = 0.6 s\n") && !text.contains("evaporated"), "{text}");
        frame.evaporated_volume = 1.5e-9;
        assert!(describe(&frame).contains("4.000 uL added, 0 uL lost, 1.500 uL evaporated, 0 triangles"));
    }

    #[test]
    fn numbers_keep_four_significant_digits() {
        let cases = [
            (0.0, "0"),
            (4.19, "4.190"),
            (0.012_345, "0.01235"),
            (12345.6, "12346"),
            (1e-9, "1.000e-9"),
            (-2.5, "-2.500"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}

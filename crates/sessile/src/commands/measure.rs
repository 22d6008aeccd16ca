//! `sessile measure`: the numbers of a run.

use std::fs::File;
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::Path;

use sessile_frames::{DropMeasures, FrameMeasures, csv, measures_file};

use crate::args::{MeasureArgs, WhichFrames};
use crate::failure::Failure;
use crate::table::table;

/// Drops that a table shows; JSON and CSV have all.
const MOST_SHOWN: usize = 40;

/// Prints the chosen frames' measures.
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

/// The file with a run's measures, if `run` is a run folder.
fn measures_of(run: &Path) -> Result<std::path::PathBuf, Failure> {
    let file = run.join("measure.jsonl");
    if file.is_file() {
        return Ok(file);
    }
    let guess = Path::new("runs").join(run);
    let hint = if guess.join("measure.jsonl").is_file() {
        format!("; did you mean {}?", guess.display())
    } else {
        String::new()
    };
    let reason = if run.is_dir() {
        "has no measures: it is no run folder, or the run has written no frame"
    } else {
        "is no folder"
    };
    Err(Failure::wrong(format!("{} {reason}{hint}", run.display())))
}

/// Calls `take` with each of the chosen frames.
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
            None => Err(Failure::failed(format!("{} has no frame yet", file.display()))),
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

/// Prints the lines as they stand in the file, so that no digit changes on the way.
fn print_json(file: &Path, which: WhichFrames) -> Result<(), Failure> {
    let unreadable = |error: std::io::Error| Failure::failed(format!("cannot read {}: {error}", file.display()));
    let mut wanted = None;
    // Reads to the chosen frame, and says what is wrong if it is not there.
    if which != WhichFrames::All {
        for_each(file, which, |frame| {
            wanted = Some(frame.frame);
            Ok(())
        })?;
    }
    let mut out = stdout().lock();
    for line in BufReader::new(File::open(file).map_err(unreadable)?).lines() {
        let line = line.map_err(unreadable)?;
        let chosen = wanted.is_none_or(|number| line.starts_with(&format!("{{\"frame\":{number},")));
        if chosen && line.ends_with('}') {
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

/// A frame for reading: its sums, then its largest drops.
fn describe(frame: &FrameMeasures) -> String {
    let mut text = format!("frame {}, t = {} s\n", frame.frame, frame.time);
    text += &format!(
        "{} drops, {} uL in all ({} uL of it film), {} uL added, {} uL lost, {} triangles\n",
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
    let rows: Vec<Vec<String>> = drops.iter().take(MOST_SHOWN).map(|drop| drop_row(drop)).collect();
    text += &table(
        &["drop#", "volume (uL)", "height (mm)", "base radius (mm)", "contact angle (deg)", "speed (mm/s)", "on"],
        &rows,
    );
    if drops.len() > MOST_SHOWN {
        text += &format!("and {} smaller ones; --json and --csv have all\n", drops.len() - MOST_SHOWN);
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

/// Four digits; the unit of the column was chosen so that they suffice.
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
    fn numbers_keep_four_digits() {
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

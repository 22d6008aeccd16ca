//! Measures as a CSV table with one row per frame and drop.
//!
//! The columns of the frame repeat in each of its rows; a frame without drops has one row, empty
//! from `id` on. Units are SI, except in columns whose name gives the unit (`…_deg`). `events` and
//! `contacts` are JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use glam::DVec3;
use serde::Serialize;

use crate::measures::{DropMeasures, FrameMeasures};

/// Columns of a frame, then of a drop.
const FRAME_COLUMNS: &str =
    "frame,time,total_volume,added_volume,lost_volume,film_volume,active_cells,triangles,events";
const DROP_COLUMNS: &str = "id,volume,centroid_x,centroid_y,centroid_z,velocity_x,velocity_y,velocity_z,speed_max,\
    min_x,min_y,min_z,max_x,max_y,max_z,height,base_radius,max_radius,wetted_area,surface_area,\
    contact_angle_mean_deg,contact_angle_min_deg,contact_angle_max_deg,pressure,on,contacts";

/// Writes the line of column names.
pub fn write_header(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{FRAME_COLUMNS},{DROP_COLUMNS}")
}

/// Writes the rows of a frame.
pub fn write_frame(out: &mut impl Write, frame: &FrameMeasures) -> io::Result<()> {
    let mut start = String::new();
    let FrameMeasures { time, total_volume, added_volume, lost_volume, film_volume, .. } = frame;
    push(&mut start, &frame.frame);
    for value in [time, total_volume, added_volume, lost_volume, film_volume] {
        push(&mut start, value);
    }
    push(&mut start, &frame.active_cells);
    push(&mut start, &frame.triangles);
    push_text(&mut start, &json(&frame.events));
    if frame.drops.is_empty() {
        let empty = DROP_COLUMNS.matches(',').count();
        writeln!(out, "{start}{}", ",".repeat(empty))?;
    }
    let mut row = String::new();
    for drop in &frame.drops {
        row.clone_from(&start);
        push_drop(&mut row, drop);
        // Every field ends in a comma; that of the last one is removed.
        row.pop();
        writeln!(out, "{row}")?;
    }
    Ok(())
}

fn push_drop(row: &mut String, drop: &DropMeasures) {
    push(row, &drop.id);
    push(row, &drop.volume);
    push_vector(row, drop.centroid);
    push_vector(row, drop.velocity);
    push(row, &drop.speed_max);
    push_vector(row, drop.bounds[0]);
    push_vector(row, drop.bounds[1]);
    for value in [drop.height, drop.base_radius, drop.max_radius, drop.wetted_area, drop.surface_area] {
        push(row, &value);
    }
    match drop.contact_angle_deg {
        Some(angle) => [angle.mean, angle.min, angle.max].iter().for_each(|value| push(row, value)),
        None => row.push_str(",,,"),
    }
    match drop.pressure {
        Some(pressure) => push(row, &pressure),
        None => row.push(','),
    }
    push_text(row, drop.on.as_deref().unwrap_or_default());
    push_text(row, &json(&drop.contacts));
}

/// A number in the shortest form that is read back exactly.
fn push(row: &mut String, value: &dyn std::fmt::Debug) {
    write!(row, "{value:?},").expect("a string takes any text");
}

fn push_vector(row: &mut String, vector: DVec3) {
    vector.to_array().iter().for_each(|value| push(row, value));
}

/// Text, quoted where necessary.
fn push_text(row: &mut String, text: &str) {
    if text.contains([',', '"', '\n', '\r']) {
        row.push('"');
        row.push_str(&text.replace('"', "\"\""));
        row.push('"');
    } else {
        row.push_str(text);
    }
    row.push(',');
}

/// JSON of a list; empty for an empty list.
fn json<T: Serialize>(list: &[T]) -> String {
    if list.is_empty() {
        return String::new();
    }
    serde_json::to_string(list).expect("measures are plain data")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Event, Ids};
    use crate::measures::{AngleRange, ContactMeasures};

    fn drop(id: u32, on: Option<&str>) -> DropMeasures {
        let angle = on.map(|_| AngleRange { mean: 90.0, min: 88.5, max: 91.25 });
        let contact =
            |solid: &str| ContactMeasures { solid: solid.into(), wetted_area: 4.8e-6, contact_angle_deg: angle };
        DropMeasures {
            id,
            volume: 4.19e-9,
            centroid: DVec3::new(0.1, 0.2, 0.3),
            position: None,
            velocity: DVec3::ZERO,
            speed_max: 0.001,
            bounds: [DVec3::ZERO, DVec3::ONE],
            height: 0.5,
            base_radius: 0.25,
            max_radius: 0.125,
            wetted_area: 4.8e-6,
            surface_area: 1.1e-5,
            contact_angle_deg: angle,
            pressure: on.map(|_| 146.0),
            on: on.map(str::to_owned),
            contacts: on.map(contact).into_iter().collect(),
        }
    }

    /// Splits a line according to RFC 4180.
    fn cells(line: &str) -> Vec<String> {
        let (mut cells, mut quoted) = (vec![String::new()], false);
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '"' if quoted && chars.peek() == Some(&'"') => {
                    chars.next();
                    cells.last_mut().unwrap().push('"');
                }
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                c => cells.last_mut().unwrap().push(c),
            }
        }
        cells
    }

    #[test]
    fn each_drop_has_a_row_under_the_header_and_a_frame_without_drops_one() {
        let mut frames = [FrameMeasures::default(), FrameMeasures { frame: 1, time: 1e-3, ..FrameMeasures::default() }];
        frames[1].events.push(Event::Merge { merge: Ids::from_slice(&[3, 7]), into: 3 });
        frames[1].drops = vec![drop(3, Some("a \"round\", table")), drop(8, None)];
        let mut out = Vec::new();
        write_header(&mut out).unwrap();
        frames.iter().try_for_each(|frame| write_frame(&mut out, frame)).unwrap();
        let text = String::from_utf8(out).unwrap();
        let table: Vec<Vec<String>> = text.lines().map(cells).collect();
        assert_eq!(table.len(), 4);
        let at = |row: usize, column: &str| {
            let place = table[0].iter().position(|name| name == column).unwrap_or_else(|| panic!("no column {column}"));
            assert_eq!(table[row].len(), table[0].len(), "row {row}: {:?}", table[row]);
            table[row][place].as_str()
        };
        assert_eq!((at(1, "frame"), at(1, "time"), at(1, "id"), at(1, "contacts")), ("0", "0.0", "", ""));
        assert_eq!((at(2, "frame"), at(2, "id"), at(2, "volume"), at(2, "centroid_z")), ("1", "3", "4.19e-9", "0.3"));
        assert_eq!(
            (at(2, "events"), at(3, "events")),
            (r#"[{"merge":[3,7],"into":3}]"#, r#"[{"merge":[3,7],"into":3}]"#)
        );
        assert_eq!(
            (at(2, "on"), at(2, "contact_angle_max_deg"), at(2, "pressure")),
            ("a \"round\", table", "91.25", "146.0")
        );
        assert!(
            at(2, "contacts").starts_with(r#"[{"solid":"a \"round\", table","wetted_area""#),
            "{}",
            at(2, "contacts")
        );
        assert_eq!((at(3, "id"), at(3, "on"), at(3, "contact_angle_mean_deg"), at(3, "pressure")), ("8", "", "", ""));
    }
}

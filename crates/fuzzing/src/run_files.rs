//! Files of a run folder: an error that names the file, or sound contents.
//!
//! Sealed files end with a checksum of all bytes before it, which no fuzzer guesses. The targets
//! take the bytes without it and append it, so that everything behind the checksum is reached.

use sessile_frames::{RunFolder, RunInfo};
use sessile_frames::{drops_file, fields as fields_file, measures_file, ply};
use sessile_shapes::Detail;

use crate::scratch;

/// A readable `run.json`, so that a folder counts as a run folder.
const RUN_JSON: &str = include_str!("../../../fuzz/corpus/run_json/done");

pub fn sealed(data: &[u8]) -> Vec<u8> {
    let mut bytes = data.to_vec();
    bytes.extend_from_slice(blake3::hash(data).as_bytes());
    bytes
}

/// `wet/NAME/00000.png`.
pub fn wet(data: &[u8]) {
    scratch::write("run/run.json", RUN_JSON.as_bytes());
    let file = scratch::write("run/wet/window/00000.png", data);
    let root = file.ancestors().nth(3).expect("the file is in wet/NAME");
    let folder = RunFolder::open(root).expect("run.json is there");
    match folder.read_wet("window", 0, 0) {
        Ok(map) => {
            let map = map.expect("the file is there");
            let texels = map.width as usize * map.height as usize;
            assert_eq!((map.wetness.len(), map.film.len()), (texels, texels));
        }
        Err(error) => assert!(error.to_string().contains("00000.png"), "{error}"),
    }
}

/// `frames/00000.drops` without its checksum.
pub fn drops(data: &[u8]) {
    let file = scratch::write("00000.drops", &sealed(data));
    match drops_file::read_surface(&file, &|_| Detail::default()) {
        Ok((surface, _)) => surface.validate().unwrap_or_else(|error| panic!("{error}")),
        Err(error) => assert!(error.to_string().contains("00000.drops"), "{error}"),
    }
}

/// `fields/00000.grid` without its checksum.
pub fn fields(data: &[u8]) {
    let file = scratch::write("00000.grid", &sealed(data));
    match fields_file::read(&file) {
        Ok((fields, _)) => assert_eq!(fields.phi.len(), fields.pressure.len()),
        Err(error) => assert!(error.to_string().contains("00000.grid"), "{error}"),
    }
}

/// `frames/00000.ply`.
pub fn frame(data: &[u8]) {
    let file = scratch::write("00000.ply", data);
    match ply::read(&file) {
        Ok((surface, _)) => surface.validate().unwrap_or_else(|error| panic!("{error}")),
        Err(error) => assert!(error.to_string().contains("00000.ply"), "{error}"),
    }
}

/// `run.json`: an error, or information that is read again when written.
pub fn run_json(data: &[u8]) {
    let file = scratch::write("info/run.json", data);
    match RunInfo::read(&file) {
        Ok(info) => {
            let copy = file.with_file_name("copy.json");
            info.write(&copy, sessile_frames::Durability::Handed).expect("the scratch folder is writable");
            RunInfo::read(&copy).unwrap_or_else(|error| panic!("written, it is refused: {error}"));
        }
        Err(error) => assert!(error.to_string().contains("run.json"), "{error}"),
    }
}

/// `measure.jsonl`.
pub fn measures(data: &[u8]) {
    let file = scratch::write("measure.jsonl", data);
    let last = measures_file::read_last(&file);
    match measures_file::read_all(&file) {
        Ok(all) => assert_eq!(last.ok().flatten().map(|m| m.frame), all.last().map(|m| m.frame)),
        Err(error) => assert!(error.to_string().contains("measure.jsonl"), "{error}"),
    }
    let _ = measures_file::read_frame(&file, 1);
}

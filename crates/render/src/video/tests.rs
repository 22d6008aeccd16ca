use rusty_h264_decoder::Decoder;

use super::*;

/// A disc that moves over a gradient.
fn image(width: usize, height: usize, time: f32) -> Vec<u8> {
    let mut rgb = Vec::with_capacity(width * height * 3);
    for row in 0..height {
        for column in 0..width {
            let [x, y] = [column as f32 / width as f32, row as f32 / height as f32];
            let inside = (x - 0.3 - 0.3 * time).hypot(y - 0.5) < 0.2;
            let color = if inside { [230.0, 60.0, 30.0] } else { [40.0 + 150.0 * x, 90.0, 60.0 + 150.0 * y] };
            rgb.extend(color.map(|value| value as u8));
        }
    }
    rgb
}

fn make(width: usize, height: usize, fps: f64, images: usize) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mp4");
    let mut video = VideoWriter::create(&path, width, height, fps).unwrap();
    for index in 0..images {
        video.push(&image(width, height, index as f32 / images as f32)).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the file appears when it is whole");
    }
    video.finish("").unwrap();
    std::fs::read(path).unwrap()
}

/// Boxes at one depth: name and content.
fn boxes(mut bytes: &[u8]) -> Vec<(String, &[u8])> {
    let mut found = Vec::new();
    while bytes.len() >= 8 {
        let size = u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
        assert!((8..=bytes.len()).contains(&size), "a box of {size} bytes in {}", bytes.len());
        found.push((String::from_utf8_lossy(&bytes[4..8]).into_owned(), &bytes[8..size]));
        bytes = &bytes[size..];
    }
    assert!(bytes.is_empty(), "{} bytes after the last box", bytes.len());
    found
}

fn inside<'a>(bytes: &'a [u8], path: &[&str]) -> &'a [u8] {
    path.iter().fold(bytes, |bytes, name| {
        let found = boxes(bytes);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        found.iter().find(|(box_name, _)| box_name == name).unwrap_or_else(|| panic!("no {name} in {names:?}")).1
    })
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Demuxes the frames by the container's own tables and decodes them.
fn decode(file: &[u8]) -> Vec<YuvFrame> {
    let table = inside(file, &["moov", "trak", "mdia", "minf", "stbl"]);
    let description = inside(table, &["stsd"]);
    let avc1 = inside(&description[8..], &["avc1"]);
    let config = inside(&avc1[78..], &["avcC"]);
    let mut stream = Vec::new();
    let mut at = 6;
    for _ in ["sequence", "picture"] {
        let length = usize::from(u16::from_be_bytes([config[at], config[at + 1]]));
        stream.extend_from_slice(&[0, 0, 0, 1]);
        stream.extend_from_slice(&config[at + 2..at + 2 + length]);
        at += 2 + length + 1;
    }
    let sizes = inside(table, &["stsz"]);
    let mut place = number(inside(table, &["stco"]), 8) as usize;
    for sample in 0..number(sizes, 8) as usize {
        let size = number(sizes, 12 + 4 * sample) as usize;
        let mut bytes = &file[place..place + size];
        while !bytes.is_empty() {
            let length = number(bytes, 0) as usize;
            stream.extend_from_slice(&[0, 0, 0, 1]);
            stream.extend_from_slice(&bytes[4..4 + length]);
            bytes = &bytes[4 + length..];
        }
        place += size;
    }
    Decoder::new().decode_stream(&stream).unwrap()
}

fn signal_to_noise(found: &YuvFrame, expected: &YuvFrame) -> f64 {
    let planes = [(&found.y, &expected.y), (&found.u, &expected.u), (&found.v, &expected.v)];
    let (mut sum, mut count) = (0.0, 0.0);
    for (found, expected) in planes {
        assert_eq!(found.len(), expected.len());
        for (&found, &expected) in found.iter().zip(expected.iter()) {
            sum += (f64::from(found) - f64::from(expected)).powi(2);
            count += 1.0;
        }
    }
    10.0 * (255.0f64.powi(2) * count / sum.max(1e-9)).log10()
}

#[test]
fn a_video_has_its_index_first_and_decodes_to_its_input() {
    let (width, height, images) = (160, 90, 40);
    let file = make(width, height, 10.0, images);
    let names: Vec<String> = boxes(&file).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["ftyp", "moov", "mdat"]);
    let header = inside(&file, &["moov", "mvhd"]);
    let seconds = f64::from(number(header, 16)) / f64::from(number(header, 12));
    assert!((seconds - 4.0).abs() < 0.11, "it lasts {seconds} s");
    // A key frame every two seconds.
    let keys = inside(&file, &["moov", "trak", "mdia", "minf", "stbl", "stss"]);
    assert!(number(keys, 4) >= 2 && number(keys, 8) == 1, "{keys:?}");

    let frames = decode(&file);
    assert_eq!(frames.len(), images);
    for (index, frame) in frames.iter().enumerate() {
        let expected = to_yuv(&image(width, height, index as f32 / images as f32), [width, height]);
        let decibels = signal_to_noise(frame, &expected);
        assert!(decibels > 38.0, "frame {index} has {decibels} dB");
    }
}

#[test]
fn any_size_can_be_encoded_and_odd_ones_are_padded() {
    for (width, height) in [(1, 1), (2, 2), (15, 33), (17, 16), (641, 3)] {
        let frames = decode(&make(width, height, 30.0, 2));
        assert_eq!(frames.len(), 2, "{width} × {height}");
        assert_eq!([frames[0].width, frames[0].height], even([width, height]));
    }
}

#[test]
fn grays_and_primaries_have_the_expected_codes() {
    let code = |rgb: [u8; 3]| {
        let frame = to_yuv(&rgb.repeat(4), [2, 2]);
        [frame.y[0], frame.u[0], frame.v[0]]
    };
    assert_eq!(code([0; 3]), [16, 128, 128]);
    assert_eq!(code([255; 3]), [235, 128, 128]);
    assert_eq!(code([255, 0, 0]), [63, 102, 240]);
    assert_eq!(code([0, 0, 255]), [32, 240, 118]);
}

#[test]
fn encoding_is_deterministic() {
    assert_eq!(make(64, 48, 30.0, 5), make(64, 48, 30.0, 5));
}

#[test]
fn wrong_sizes_rates_and_images_are_errors_and_leave_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mp4");
    for (width, height, fps) in [(0, 4, 30.0), (4, 9000, 30.0), (4, 4, 0.0), (4, 4, f64::NAN), (4, 4, f64::INFINITY)] {
        assert!(VideoWriter::create(&path, width, height, fps).is_err(), "{width} × {height} at {fps}");
    }
    let mut video = VideoWriter::create(&path, 4, 4, 30.0).unwrap();
    let error = video.push(&[0; 47]).unwrap_err().to_string();
    assert!(error.contains("47") && error.contains("48"), "{error}");
    assert!(matches!(video.finish(""), Err(VideoError::Empty { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

//! H.264 parameters that the encoder leaves to its caller: the level and the color space.
//!
//! An encoded frame is a sequence of NAL units, each after a start code `00 00 01`. Inside a unit,
//! an emulation prevention byte `03` follows every `00 00` (h264, §7.4.1). The sequence parameter
//! set (type 7) from the encoder ends with a flag 0, "no video usability information"; here that
//! flag becomes 1 and the information follows (h264, §E.1.1): studio range, BT.709 primaries,
//! transfer and matrix.

const KEY_FRAME: u8 = 5;
const SEQUENCE_PARAMETERS: u8 = 7;

/// Levels: number, macroblocks per frame, macroblocks per second, and macroblocks of all reference
/// frames (h264, table A-1).
const LEVELS: [(u8, u32, f64, u32); 10] = [
    (30, 1_620, 40_500.0, 8_100),
    (31, 3_600, 108_000.0, 18_000),
    (32, 5_120, 216_000.0, 20_480),
    (40, 8_192, 245_760.0, 32_768),
    (42, 8_704, 522_240.0, 34_816),
    (50, 22_080, 589_824.0, 110_400),
    (51, 36_864, 983_040.0, 184_320),
    (52, 36_864, 2_073_600.0, 184_320),
    (60, 139_264, 4_177_920.0, 696_320),
    (62, 139_264, 16_711_680.0, 696_320),
];

/// Maximum number of reference frames of the encoder, plus the frame being decoded.
const FRAME_BUFFERS: u32 = 4;

/// The lowest level that allows a size and a frame rate; the highest one if none does.
pub(super) fn level(width: usize, height: usize, fps: f64) -> u8 {
    let frame = (width.div_ceil(16) * height.div_ceil(16)) as u32;
    let fits = |&&(_, size, rate, held): &&(u8, u32, f64, u32)| {
        frame <= size && f64::from(frame) * fps <= rate && frame * FRAME_BUFFERS <= held
    };
    LEVELS.iter().find(fits).map_or(62, |&(level, ..)| level)
}

/// The NAL units of an encoded frame, without their start codes.
pub(super) fn units(coded: &[u8]) -> Vec<&[u8]> {
    let starts: Vec<usize> = coded.windows(3).enumerate().filter(|(_, w)| w == b"\0\0\x01").map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([coded.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(&start, end)| {
            // A zero before the next start code belongs to that code; no unit ends with one.
            let unit = &coded[start + 3..end];
            let length = unit.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            &unit[..length]
        })
        .filter(|unit| !unit.is_empty())
        .collect()
}

fn kind(unit: &[u8]) -> u8 {
    unit[0] & 0x1f
}

/// Whether playback can start here.
pub(super) fn has_key_frame(coded: &[u8]) -> bool {
    units(coded).iter().any(|unit| kind(unit) == KEY_FRAME)
}

/// The same frame, with the color space added to its sequence parameter set, if it has one.
pub(super) fn state_colors(coded: &[u8]) -> Vec<u8> {
    let mut stated = Vec::with_capacity(coded.len() + 16);
    for unit in units(coded) {
        stated.extend_from_slice(&[0, 0, 0, 1]);
        match kind(unit) {
            SEQUENCE_PARAMETERS => stated.extend(with_colors(unit)),
            _ => stated.extend_from_slice(unit),
        }
    }
    stated
}

fn with_colors(unit: &[u8]) -> Vec<u8> {
    let plain = without_escapes(unit);
    let mut bits: Vec<bool> = plain.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect();
    // The unit ends with a 1 and zeros; before them is the flag.
    while bits.pop() == Some(false) {}
    if bits.pop() != Some(false) {
        return unit.to_vec(); // already present
    }
    let mut push = |value: u32, count: u32| bits.extend((0..count).rev().map(|bit| value >> bit & 1 == 1));
    push(1, 1); // usability information present
    push(0, 2); // no aspect ratio (square pixels), no overscan information
    push(1, 1); // video signal type present
    push(5, 3); // of no particular format
    push(0, 1); // studio range
    push(1, 1); // color description present
    for _ in ["primaries", "transfer", "matrix"] {
        push(1, 8); // BT.709
    }
    push(0, 6); // no chroma location, timing, two kinds of buffer model, picture structure, restrictions
    push(1, 1); // stop bit
    let bytes: Vec<u8> = bits
        .chunks(8)
        .map(|byte| byte.iter().enumerate().fold(0, |sum, (bit, &set)| sum | u8::from(set) << (7 - bit)))
        .collect();
    with_escapes(&bytes)
}

fn without_escapes(unit: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(unit.len());
    for (at, &byte) in unit.iter().enumerate() {
        let is_escape = byte == 3 && at >= 2 && unit[at - 2..at] == [0, 0];
        if !is_escape {
            plain.push(byte);
        }
    }
    plain
}

fn with_escapes(plain: &[u8]) -> Vec<u8> {
    let mut unit = Vec::with_capacity(plain.len() + 4);
    for &byte in plain {
        if byte <= 3 && unit.ends_with(&[0, 0]) {
            unit.push(3);
        }
        unit.push(byte);
    }
    unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_round_trip() {
        for plain in [vec![7, 0, 0, 1, 0, 0, 0, 2, 9], vec![7, 0, 0, 0, 0, 0, 0, 3], vec![7, 1, 2]] {
            let unit = with_escapes(&plain);
            assert!(!unit.windows(3).any(|w| w[..2] == [0, 0] && w[2] < 3), "{unit:?} holds a start code");
            assert_eq!(without_escapes(&unit), plain);
        }
    }

    #[test]
    fn levels_increase_with_size_and_rate() {
        assert_eq!(level(640, 360, 30.0), 30);
        assert_eq!(level(1280, 720, 30.0), 31);
        assert_eq!(level(1920, 1080, 30.0), 40);
        assert_eq!(level(1920, 1080, 60.0), 42);
        assert_eq!(level(3840, 2160, 60.0), 52);
        assert_eq!(level(8192, 8192, 1000.0), 62);
    }

    #[test]
    fn colors_are_declared_once_and_other_units_are_unchanged() {
        // A parameter set whose last data bit is the flag 0, then a slice.
        let coded = [0, 0, 0, 1, 0x67, 0b1010_0010, 0b0110_0010, 0, 0, 1, 0x65, 9, 8];
        let once = state_colors(&coded);
        assert_eq!(units(&once)[1], &[0x65, 9, 8]);
        assert!(has_key_frame(&once));
        assert_eq!(units(&once)[0].len(), units(&coded)[0].len() + 5, "{:?}", units(&once)[0]);
    }
}

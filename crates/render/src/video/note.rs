//! A note in an MP4: a last box of type `free`, which players ignore.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Prefix of our notes; other programs leave `free` boxes too.
const PREFIX: &[u8] = b"sessile:";

/// Maximum length of a note, in bytes.
const MAX_LENGTH: u64 = 4096;

/// The box that contains a note.
pub(super) fn to_box(note: &str) -> Vec<u8> {
    let length = 8 + PREFIX.len() + note.len();
    let size = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    [&size, b"free".as_slice(), PREFIX, note.as_bytes()].concat()
}

/// The note in a video; `None` without a file, a note or a video.
pub fn read_note(path: &Path) -> Option<String> {
    let mut file = sessile_input::open(path, u64::MAX).ok()?;
    loop {
        let mut head = [0; 8];
        file.read_exact(&mut head).ok()?;
        let [s0, s1, s2, s3, kind @ ..] = head;
        let mut length = u64::from(u32::from_be_bytes([s0, s1, s2, s3]));
        let mut read = 8;
        if length == 1 {
            let mut long = [0; 8];
            file.read_exact(&mut long).ok()?;
            (length, read) = (u64::from_be_bytes(long), 16);
        }
        // A length of 0 means up to the end of the file; one below its own header is invalid.
        let rest = length.checked_sub(read)?;
        if kind == *b"free" && (PREFIX.len() as u64..=MAX_LENGTH).contains(&rest) {
            let mut bytes = vec![0; rest as usize];
            file.read_exact(&mut bytes).ok()?;
            if let Some(note) = bytes.strip_prefix(PREFIX) {
                return String::from_utf8(note.to_vec()).ok();
            }
        } else {
            file.seek(SeekFrom::Current(i64::try_from(rest).ok()?)).ok()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_found_behind_other_boxes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mp4");
        assert_eq!(read_note(&path), None);
        let mut bytes = vec![0, 0, 0, 12, b'f', b't', b'y', b'p', 1, 2, 3, 4, 0, 0, 0, 9, b'f', b'r', b'e', b'e', 7];
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(read_note(&path), None);
        bytes.extend(to_box("of 3 images"));
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(read_note(&path).as_deref(), Some("of 3 images"));
        for cut in 1..bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            assert_eq!(read_note(&path), None, "cut after {cut} bytes");
        }
        std::fs::write(&path, [0; 64]).unwrap();
        assert_eq!(read_note(&path), None);
    }
}

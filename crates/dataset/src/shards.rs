//! WebDataset shards: tar archives in which the files of a sample follow each other, with names
//! that begin with its number.
//!
//! Archives have the `ustar` format of POSIX, without times and owners, so that they depend on the
//! samples only.

use std::io::{self, Write};

/// Size of a record of an archive, in bytes.
const RECORD: usize = 512;

/// Adds a file to an archive.
pub fn append(archive: &mut impl Write, name: &str, content: &[u8]) -> io::Result<()> {
    archive.write_all(&header(name, content.len()))?;
    archive.write_all(content)?;
    archive.write_all(&vec![0; content.len().next_multiple_of(RECORD) - content.len()])
}

/// Ends an archive.
pub fn finish(archive: &mut impl Write) -> io::Result<()> {
    archive.write_all(&[0; 2 * RECORD])
}

fn header(name: &str, length: usize) -> [u8; RECORD] {
    let mut header = [0; RECORD];
    let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, &name[..name.len().min(100)]);
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{length:011o}\0"));
    put(136, "00000000000\0");
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\x0000");
    // The checksum is that of the header with blanks in its place.
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_padded_files_and_an_end() {
        let mut archive = Vec::new();
        append(&mut archive, "000001.wet.png", &[7; 700]).unwrap();
        append(&mut archive, "000001.json", b"{}").unwrap();
        finish(&mut archive).unwrap();
        assert_eq!(archive.len(), 512 + 1024 + 512 + 512 + 1024);
        assert_eq!(&archive[..14], b"000001.wet.png");
        assert_eq!(&archive[124..135], b"00000001274", "length in octal");
        assert_eq!(&archive[1536..1547], b"000001.json");
        let sum: u32 = archive[..512].iter().map(|&b| u32::from(b)).sum::<u32>()
            - archive[148..156].iter().map(|&b| u32::from(b)).sum::<u32>()
            + 8 * 32;
        assert_eq!(&archive[148..154], format!("{sum:06o}").as_bytes());
    }
}

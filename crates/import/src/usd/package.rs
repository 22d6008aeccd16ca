//! USDZ packages: ZIP archives whose files are stored uncompressed (openusd).

use super::error::UsdError;

/// Signatures of the records of an archive.
const END_OF_DIRECTORY: [u8; 4] = *b"PK\x05\x06";
const DIRECTORY_ENTRY: [u8; 4] = *b"PK\x01\x02";
const LOCAL_HEADER: [u8; 4] = *b"PK\x03\x04";

/// Length of the record at the end, and the longest comment behind it.
const END_LENGTH: usize = 22;
const MAX_COMMENT: usize = 65_535;

/// Whether a file is a package.
pub fn is_package(bytes: &[u8]) -> bool {
    bytes.starts_with(&LOCAL_HEADER)
}

/// Names and contents of the files of a package, in its order.
pub fn files(bytes: &[u8]) -> Result<Vec<(String, &[u8])>, UsdError> {
    entries(bytes).map_err(|problem| UsdError::Malformed(format!("the package: {problem}")))
}

fn entries(bytes: &[u8]) -> Result<Vec<(String, &[u8])>, String> {
    let short = |at: usize| Ok::<usize, String>(usize::from(u16::from_le_bytes(array(bytes, at)?)));
    let long = |at: usize| Ok::<usize, String>(u32::from_le_bytes(array(bytes, at)?) as usize);
    let first = bytes.len().saturating_sub(END_LENGTH + MAX_COMMENT);
    let tail = &bytes[first..];
    let end = tail.windows(4).rposition(|window| window == END_OF_DIRECTORY).ok_or("it has no directory")? + first;
    slice(bytes, end, END_LENGTH)?;
    let (count, mut at) = (short(end + 10)?, long(end + 16)?);
    let mut files = Vec::new();
    for _ in 0..count {
        if array::<4>(bytes, at)? != DIRECTORY_ENTRY {
            return Err(format!("expected an entry of its directory at byte {at}"));
        }
        let (method, size, header) = (short(at + 10)?, long(at + 20)?, long(at + 42)?);
        let (name, extra, comment) = (short(at + 28)?, short(at + 30)?, short(at + 32)?);
        let name_bytes = slice(bytes, at + 46, name)?;
        if method != 0 {
            let name = String::from_utf8_lossy(name_bytes);
            return Err(format!("the file {name} in it is compressed; USDZ packages store files uncompressed"));
        }
        if array::<4>(bytes, header)? != LOCAL_HEADER {
            return Err(format!("expected a file at byte {header}"));
        }
        let start = header + 30 + short(header + 26)? + short(header + 28)?;
        files.push((String::from_utf8_lossy(name_bytes).into_owned(), slice(bytes, start, size)?));
        at += 46 + name + extra + comment;
    }
    Ok(files)
}

fn slice(bytes: &[u8], at: usize, length: usize) -> Result<&[u8], String> {
    let found = at.checked_add(length).and_then(|end| bytes.get(at..end));
    found.ok_or_else(|| format!("expected {length} bytes at byte {at}, found its end"))
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], String> {
    slice(bytes, at, N)?.try_into().map_err(|_| "a number is truncated".to_owned())
}

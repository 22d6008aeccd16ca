//! Decoding of the compressed integers in USD crate files (openusd).
//!
//! An integer is stored as the difference from the one before it. The most frequent difference
//! takes no byte, others 1, 2 or 4; two bits per integer select the size. Everything is then
//! compressed with LZ4.
//!
//! ```text
//! most frequent difference   i32
//! codes                      2 bits each, lowest first: 0 most frequent, 1 i8, 2 i16, 3 i32
//! differences                those that are not the most frequent, one after another
//! ```

/// Decompresses and decodes `count` integers; `None` when the bytes are malformed.
pub fn decode_integers(bytes: &[u8], count: usize) -> Option<Vec<i32>> {
    decode(&decompress(bytes, 4 + count.div_ceil(4) + 4 * count)?, count)
}

/// Decompresses an LZ4 block of a crate file to at most `limit` bytes.
///
/// A leading byte gives the number of further blocks; only files with gigabytes of data have any,
/// and those are not read.
pub fn decompress(bytes: &[u8], limit: usize) -> Option<Vec<u8>> {
    match bytes.split_first()? {
        (0, block) => lz4_flex::block::decompress(block, limit).ok(),
        _ => None,
    }
}

fn decode(bytes: &[u8], count: usize) -> Option<Vec<i32>> {
    let common = i32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    let codes = bytes.get(4..4 + count.div_ceil(4))?;
    let mut rest = bytes.get(4 + codes.len()..)?;
    let mut take = |n: usize| {
        let (taken, left) = rest.split_at_checked(n)?;
        rest = left;
        Some(taken)
    };
    let mut value = 0_i32;
    let mut numbers = Vec::with_capacity(count);
    for i in 0..count {
        let difference = match codes[i / 4] >> (2 * (i % 4)) & 3 {
            0 => common,
            1 => i32::from(i8::from_le_bytes(take(1)?.try_into().ok()?)),
            2 => i32::from(i16::from_le_bytes(take(2)?.try_into().ok()?)),
            _ => i32::from_le_bytes(take(4)?.try_into().ok()?),
        };
        value = value.wrapping_add(difference);
        numbers.push(value);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first path indices of a file that OpenUSD wrote.
    const CODED: [u8; 9] = [1, 0, 0, 0, 0x50, 0x01, 7, 0xeb, 0xff];

    #[test]
    fn integers_of_an_openusd_file_are_decoded() {
        assert_eq!(decode(&CODED, 5).unwrap(), [1, 2, 9, -12, -13]);
    }

    #[test]
    fn truncated_bytes_are_rejected() {
        for length in 0..CODED.len() {
            assert!(decode(&CODED[..length], 5).is_none(), "{length} bytes");
        }
    }
}

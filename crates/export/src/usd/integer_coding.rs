//! Encoding of integers as USD crate files compress them (openusd).
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

/// Encodes and compresses integers.
pub fn encode_integers(numbers: &[i32]) -> Vec<u8> {
    compress(&encode(numbers))
}

/// Compresses with LZ4; the leading byte says that there are no further blocks.
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![0];
    packed.extend_from_slice(&lz4_flex::block::compress(bytes));
    packed
}

fn encode(numbers: &[i32]) -> Vec<u8> {
    let mut before = 0_i32;
    let differences: Vec<i32> = numbers
        .iter()
        .map(|&number| {
            let difference = number.wrapping_sub(before);
            before = number;
            difference
        })
        .collect();
    let common = most_frequent(&differences);
    let mut codes = vec![0_u8; numbers.len().div_ceil(4)];
    let mut rest = Vec::with_capacity(differences.len());
    for (i, &difference) in differences.iter().enumerate() {
        let code = if difference == common {
            0
        } else if let Ok(small) = i8::try_from(difference) {
            rest.extend_from_slice(&small.to_le_bytes());
            1
        } else if let Ok(medium) = i16::try_from(difference) {
            rest.extend_from_slice(&medium.to_le_bytes());
            2
        } else {
            rest.extend_from_slice(&difference.to_le_bytes());
            3
        };
        codes[i / 4] |= code << (2 * (i % 4));
    }
    let mut bytes = Vec::with_capacity(4 + codes.len() + rest.len());
    bytes.extend_from_slice(&common.to_le_bytes());
    bytes.extend_from_slice(&codes);
    bytes.extend_from_slice(&rest);
    bytes
}

/// The most frequent integer; the largest of equally frequent ones.
fn most_frequent(numbers: &[i32]) -> i32 {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let (mut best, mut most, mut start) = (0, 0, 0);
    for i in 0..sorted.len() {
        if sorted[i] != sorted[start] {
            start = i;
        }
        if i - start + 1 >= most {
            (best, most) = (sorted[i], i - start + 1);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first path indices of a file that OpenUSD wrote.
    #[test]
    fn the_encoding_is_that_of_openusd() {
        assert_eq!(encode(&[1, 2, 9, -12, -13]), [1, 0, 0, 0, 0x50, 0x01, 7, 0xeb, 0xff]);
    }
}

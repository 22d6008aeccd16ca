//! Whole numbers packed the way USD's crate files want them (openusd).
//!
//! Each number is the difference to the one before; the most frequent difference takes no byte, others 1, 2 or 4. Two bits per number say which. The
//! whole is then LZ4.
//!
//! ```text
//! most frequent difference   i32
//! codes                      2 bits each, lowest first: 0 most frequent, 1 i8, 2 i16, 3 i32
//! differences                those that are not the most frequent, one after another
//! ```

/// Packs numbers.
pub fn pack(numbers: &[i32]) -> Vec<u8> {
    squeeze(&encode(numbers))
}

/// Unpacks `count` numbers; `None` when the bytes do not hold them.
pub fn unpack(bytes: &[u8], count: usize) -> Option<Vec<i32>> {
    decode(&unsqueeze(bytes, 4 + count.div_ceil(4) + 4 * count)?, count)
}

/// LZ4, with the leading byte by which crate files tell that it is one block.
pub fn squeeze(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![0];
    packed.extend_from_slice(&lz4_flex::block::compress(bytes));
    packed
}

/// Undoes [`squeeze`], for at most `most` bytes. Several blocks, which only gigabytes need, are not read.
pub fn unsqueeze(bytes: &[u8], most: usize) -> Option<Vec<u8>> {
    match bytes.split_first()? {
        (0, block) => lz4_flex::block::decompress(block, most).ok(),
        _ => None,
    }
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

/// The most frequent number; the largest of equally frequent ones.
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

    #[test]
    fn numbers_come_back_whatever_their_size() {
        let mut far = vec![0, 1, 2, 3, -4, 70_000, -70_000, i32::MAX, i32::MIN, 5, 5, 5, 300, -300];
        for _ in 0..3 {
            assert_eq!(unpack(&pack(&far), far.len()).unwrap(), far);
            far.extend(far.clone());
        }
        assert_eq!(unpack(&pack(&[]), 0).unwrap(), Vec::<i32>::new());
    }

    /// The first path indices of a file that OpenUSD wrote.
    #[test]
    fn the_packing_is_that_of_openusd() {
        assert_eq!(decode(&[1, 0, 0, 0, 0x50, 0x01, 7, 0xeb, 0xff], 5).unwrap(), [1, 2, 9, -12, -13]);
        assert_eq!(encode(&[1, 2, 9, -12, -13]), [1, 0, 0, 0, 0x50, 0x01, 7, 0xeb, 0xff]);
    }

    #[test]
    fn cut_bytes_are_no_numbers() {
        let bytes = encode(&[1, 1000, 100_000]);
        for cut in 0..bytes.len() {
            assert!(decode(&bytes[..cut], 3).is_none(), "cut after {cut}");
        }
    }
}

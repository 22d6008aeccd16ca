//! A sealed file: a header and blocks of bytes, compressed, with a checksum over everything.
//!
//! ```text
//! magic      8 bytes, what kind of file
//! version    u32, little-endian
//! header     u64 length, then that many bytes of postcard: the header, and each block's name and packed chunk lengths
//! blocks     LZ4 chunks, one after another
//! checksum   32 bytes, BLAKE3 of all the bytes before it
//! ```
//!
//! Magic, version and checksum keep their places in every version, so that damage is told from age: a flipped byte
//! anywhere, even in the version, fails the checksum first.

use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Bytes of a chunk before compression: small enough to spread over threads, far below LZ4's limit of 2 GiB.
const CHUNK: usize = 4 << 20;
const CHECKSUM: usize = blake3::OUT_LEN;
const FIXED: usize = 8 + 4 + 8;

/// What kind of sealed file, and which version of it this program writes and reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// First bytes of the file.
    pub magic: [u8; 8],
    /// Version.
    pub version: u32,
}

/// Named bytes inside a sealed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Why bytes are not a sealed file of the format asked for. The reader adds the path and the way on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// Fewer bytes than the shortest sealed file.
    #[error("is damaged: cut off after {found} bytes")]
    Short {
        /// Bytes found.
        found: usize,
    },
    /// Some byte is not what was written.
    #[error("is damaged (checksum {found}…, expected {expected}…)")]
    Checksum {
        /// Of the bytes as they are; first 8 digits.
        found: String,
        /// As written at the end of the file; first 8 digits.
        expected: String,
    },
    /// Whole, but something else.
    #[error("is not the expected kind of file")]
    Magic,
    /// Whole, but of another version.
    #[error("has format version {found}, and this program reads version {expected}")]
    Version {
        /// In the file.
        found: u32,
        /// Of this program.
        expected: u32,
    },
    /// Whole and of this version, but its parts do not fit together: written by a faulty program.
    #[error("has contents that do not fit together: {0}")]
    Contents(String),
}

#[derive(Serialize, Deserialize)]
struct Index<H> {
    header: H,
    blocks: Vec<BlockIndex>,
}

#[derive(Serialize, Deserialize)]
struct BlockIndex {
    name: String,
    length: u64,
    packed: Vec<u32>,
}

/// The bytes of a sealed file. The same input gives the same bytes, whatever the number of threads.
///
/// # Panics
/// When `header` cannot be serialized, which plain data always can.
pub fn seal<H: Serialize>(format: Format, header: &H, blocks: &[Block]) -> Vec<u8> {
    let packed: Vec<Vec<Vec<u8>>> =
        blocks.iter().map(|block| block.bytes.par_chunks(CHUNK).map(lz4_flex::block::compress).collect()).collect();
    let index = Index {
        header,
        blocks: blocks
            .iter()
            .zip(&packed)
            .map(|(block, chunks)| BlockIndex {
                name: block.name.clone(),
                length: block.bytes.len() as u64,
                // A chunk grows by less than a hundredth at worst, so its length fits.
                packed: chunks.iter().map(|chunk| chunk.len() as u32).collect(),
            })
            .collect(),
    };
    let index = postcard::to_stdvec(&index).expect("headers are plain data");
    let size = FIXED + index.len() + packed.iter().flatten().map(Vec::len).sum::<usize>() + CHECKSUM;
    let mut bytes = Vec::with_capacity(size);
    bytes.extend_from_slice(&format.magic);
    bytes.extend_from_slice(&format.version.to_le_bytes());
    bytes.extend_from_slice(&(index.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&index);
    for chunk in packed.iter().flatten() {
        bytes.extend_from_slice(chunk);
    }
    let checksum = blake3::hash(&bytes);
    bytes.extend_from_slice(checksum.as_bytes());
    bytes
}

/// Header and blocks of a sealed file, after every byte of it has been checked.
pub fn unseal<H: DeserializeOwned>(format: Format, bytes: &[u8]) -> Result<(H, Vec<Block>), SealError> {
    if bytes.len() < FIXED + CHECKSUM {
        return Err(SealError::Short { found: bytes.len() });
    }
    let (body, written) = bytes.split_at(bytes.len() - CHECKSUM);
    let computed = blake3::hash(body);
    if computed.as_bytes()[..] != *written {
        return Err(SealError::Checksum { found: hex(&computed.as_bytes()[..4]), expected: hex(&written[..4]) });
    }
    if body[..8] != format.magic {
        return Err(SealError::Magic);
    }
    let version = u32::from_le_bytes([body[8], body[9], body[10], body[11]]);
    if version != format.version {
        return Err(SealError::Version { found: version, expected: format.version });
    }
    let mut rest = &body[12..];
    let length = take(&mut rest, 8, "header length")?;
    let length = u64::from_le_bytes(length.try_into().expect("eight bytes were taken"));
    let length = usize::try_from(length).map_err(|_| SealError::Contents("header length".into()))?;
    let index: Index<H> = postcard::from_bytes(take(&mut rest, length, "header")?)
        .map_err(|error| SealError::Contents(format!("header: {error}")))?;
    let mut blocks = Vec::with_capacity(index.blocks.len());
    for block in index.blocks {
        let bytes = unpack(&block, &mut rest)?;
        blocks.push(Block { name: block.name, bytes });
    }
    if rest.is_empty() { Ok((index.header, blocks)) } else { Err(SealError::Contents("bytes left over".into())) }
}

fn unpack(block: &BlockIndex, rest: &mut &[u8]) -> Result<Vec<u8>, SealError> {
    let wrong = |what: &str| SealError::Contents(format!("block {:?}: {what}", block.name));
    let length = usize::try_from(block.length).map_err(|_| wrong("its length"))?;
    if length.div_ceil(CHUNK) != block.packed.len() {
        return Err(wrong("its number of chunks"));
    }
    let mut chunks = Vec::with_capacity(block.packed.len());
    for &packed in &block.packed {
        chunks.push(take(rest, packed as usize, "chunk")?);
    }
    // Allocated only now: the chunks are really there, and LZ4 cannot shrink more than 255-fold.
    if length / 256 > block.packed.iter().map(|&n| n as usize).sum::<usize>() {
        return Err(wrong("its length"));
    }
    let mut bytes = vec![0; length];
    let filled: Result<Vec<usize>, _> = bytes
        .par_chunks_mut(CHUNK)
        .zip(chunks)
        .map(|(out, packed)| lz4_flex::block::decompress_into(packed, out).map(|n| n.abs_diff(out.len())))
        .collect();
    match filled {
        Ok(missing) if missing.iter().all(|&n| n == 0) => Ok(bytes),
        Ok(_) => Err(wrong("a chunk is too short")),
        Err(error) => Err(wrong(&error.to_string())),
    }
}

fn take<'a>(rest: &mut &'a [u8], length: usize, what: &str) -> Result<&'a [u8], SealError> {
    let (taken, left) =
        rest.split_at_checked(length).ok_or_else(|| SealError::Contents(format!("{what} runs past the end")))?;
    *rest = left;
    Ok(taken)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: Format = Format { magic: *b"TESTSEAL", version: 3 };

    fn sample() -> Vec<Block> {
        let noise =
            (0..(CHUNK as u32 / 2 + 777)).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> 16).to_le_bytes()).collect();
        vec![
            Block { name: "small".into(), bytes: b"some bytes".to_vec() },
            Block { name: "nothing".into(), bytes: vec![] },
            Block { name: "several chunks".into(), bytes: noise },
        ]
    }

    #[test]
    fn what_was_sealed_comes_back() {
        let bytes = seal(FORMAT, &("header", 7_u32), &sample());
        let (header, blocks): ((String, u32), _) = unseal(FORMAT, &bytes).unwrap();
        assert_eq!(header, ("header".to_owned(), 7));
        assert!(blocks == sample());
    }

    #[test]
    fn any_flipped_bit_and_any_cut_is_found() {
        let bytes = seal(FORMAT, &1_u8, &sample()[..2]);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let error = unseal::<u8>(FORMAT, &damaged).unwrap_err();
                assert!(matches!(error, SealError::Checksum { .. }), "byte {at}, bit {bit}: {error}");
            }
            assert!(unseal::<u8>(FORMAT, &bytes[..at]).is_err(), "cut after {at} bytes");
        }
    }

    #[test]
    fn another_version_and_another_kind_are_told_from_damage() {
        let bytes = seal(Format { version: 4, ..FORMAT }, &1_u8, &[]);
        assert_eq!(unseal::<u8>(FORMAT, &bytes).unwrap_err(), SealError::Version { found: 4, expected: 3 });
        let bytes = seal(Format { magic: *b"OTHERONE", ..FORMAT }, &1_u8, &[]);
        assert_eq!(unseal::<u8>(FORMAT, &bytes).unwrap_err(), SealError::Magic);
    }

    #[test]
    fn the_same_bytes_come_out_for_any_number_of_threads() {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| seal(FORMAT, &1_u8, &sample()))
        };
        assert!(on(1) == on(4));
    }
}

//! Sealed files: a header and named blocks of bytes, compressed, with a checksum over all of it.
//!
//! ```text
//! magic      8 bytes, kind of file
//! version    u32, little-endian
//! header     u64 length, then that many bytes of postcard: the header, and each block's name and
//!            compressed chunk lengths
//! blocks     LZ4 chunks, concatenated
//! checksum   32 bytes, BLAKE3 of all bytes before it
//! ```
//!
//! Magic, version and checksum have the same position in every version, so that damage is
//! distinguished from another version: a flipped bit anywhere, even in the version, fails the
//! checksum first.

use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Uncompressed size of a chunk, in bytes: small enough for parallel work, far below LZ4's limit of
/// 2 GiB.
const CHUNK: usize = 4 << 20;
const CHECKSUM: usize = blake3::OUT_LEN;
const FIXED: usize = 8 + 4 + 8;

/// Kind and version of a sealed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// First bytes of the file: its kind.
    pub magic: [u8; 8],
    /// Version.
    pub version: u32,
}

/// A named block of a sealed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Name.
    pub name: String,
    /// Contents.
    pub bytes: Vec<u8>,
}

/// Why bytes are not a sealed file of the expected format. Readers add the path and advice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// Shorter than any sealed file.
    #[error("is damaged: truncated after {found} bytes")]
    Short {
        /// Number of bytes.
        found: usize,
    },
    /// Contents and checksum disagree.
    #[error("is damaged (checksum {found}…, expected {expected}…)")]
    Checksum {
        /// Checksum of the contents, first 8 digits.
        found: String,
        /// Checksum at the end of the file, first 8 digits.
        expected: String,
    },
    /// Intact, but another kind of file.
    #[error("is not the expected kind of file")]
    Magic,
    /// Intact, but of another version.
    #[error("has format version {found}, and this program reads version {expected}")]
    Version {
        /// Version of the file.
        found: u32,
        /// Version of this program.
        expected: u32,
    },
    /// Intact and of this version, but inconsistent: written by a faulty program.
    #[error("has inconsistent contents: {0}")]
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

/// The bytes of a sealed file; bit-identical for any number of threads.
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
                // LZ4 expands incompressible data by less than 1 %, so the length fits.
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

/// Verifies a sealed file and returns its header and blocks.
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

/// The same for a file of `format.version` or of an earlier version from `oldest` on.
pub fn unseal_versions<H: DeserializeOwned>(
    format: Format,
    oldest: u32,
    bytes: &[u8],
) -> Result<(H, Vec<Block>), SealError> {
    match unseal(format, bytes) {
        Err(SealError::Version { found, .. }) if (oldest..format.version).contains(&found) => {
            unseal(Format { version: found, ..format }, bytes)
        }
        result => result,
    }
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
    // Allocated only after checking that the chunks exist: LZ4 compresses at most 255-fold.
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
    fn sealed_contents_are_read_back_unchanged() {
        let bytes = seal(FORMAT, &("header", 7_u32), &sample());
        let (header, blocks): ((String, u32), _) = unseal(FORMAT, &bytes).unwrap();
        assert_eq!(header, ("header".to_owned(), 7));
        assert!(blocks == sample());
    }

    #[test]
    fn any_flipped_bit_and_any_truncation_is_detected() {
        let bytes = seal(FORMAT, &1_u8, &sample()[..2]);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let error = unseal::<u8>(FORMAT, &damaged).unwrap_err();
                assert!(matches!(error, SealError::Checksum { .. }), "byte {at}, bit {bit}: {error}");
            }
            assert!(unseal::<u8>(FORMAT, &bytes[..at]).is_err(), "truncated after {at} bytes");
        }
    }

    #[test]
    fn another_version_and_another_kind_are_distinguished_from_damage() {
        let bytes = seal(Format { version: 4, ..FORMAT }, &1_u8, &[]);
        assert_eq!(unseal::<u8>(FORMAT, &bytes).unwrap_err(), SealError::Version { found: 4, expected: 3 });
        let bytes = seal(Format { magic: *b"OTHERONE", ..FORMAT }, &1_u8, &[]);
        assert_eq!(unseal::<u8>(FORMAT, &bytes).unwrap_err(), SealError::Magic);
    }

    #[test]
    fn sealed_bytes_do_not_depend_on_the_number_of_threads() {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| seal(FORMAT, &1_u8, &sample()))
        };
        assert!(on(1) == on(4));
    }
}

//! Loops over the vertices of one drop, shared between threads where the drop is large.
//!
//! Vertices are taken in pieces of [`CHUNK`], and sums are taken piece by piece in order, whoever computed them: the same bits for any number of threads.

use std::ops::{AddAssign, Range};

use rayon::prelude::*;

/// Vertices of a piece.
pub const CHUNK: usize = 2048;
/// Vertices from which pieces go to several threads: below, handing them over costs more than it gains.
const SHARE_FROM: usize = 3 * CHUNK;

/// The sum of `f` over pieces of `0..count`.
pub fn sum<S, F>(count: usize, f: F) -> S
where
    S: Default + AddAssign + Send,
    F: Fn(Range<usize>) -> S + Sync,
{
    let piece = |k: usize| f(k * CHUNK..((k + 1) * CHUNK).min(count));
    let pieces = count.div_ceil(CHUNK);
    if count < SHARE_FROM {
        return add((0..pieces).map(piece));
    }
    add((0..pieces).into_par_iter().map(piece).collect::<Vec<S>>())
}

/// Does `f` with pieces of two slices of the same length, given where the piece begins; the sum of what it returns.
pub fn update<A, B, S, F>(a: &mut [A], b: &mut [B], f: F) -> S
where
    A: Send,
    B: Send,
    S: Default + AddAssign + Send,
    F: Fn(usize, &mut [A], &mut [B]) -> S + Sync,
{
    if a.len() < SHARE_FROM {
        let pieces = a.chunks_mut(CHUNK).zip(b.chunks_mut(CHUNK)).enumerate();
        return add(pieces.map(|(k, (a, b))| f(k * CHUNK, a, b)));
    }
    let pieces = a.par_chunks_mut(CHUNK).zip(b.par_chunks_mut(CHUNK)).enumerate();
    add(pieces.map(|(k, (a, b))| f(k * CHUNK, a, b)).collect::<Vec<S>>())
}

fn add<S: Default + AddAssign>(parts: impl IntoIterator<Item = S>) -> S {
    let mut total = S::default();
    for part in parts {
        total += part;
    }
    total
}

//! Loops over the vertices of one drop, distributed over threads where the drop is large.
//!
//! Vertices are processed in chunks of [`CHUNK`], and the sums of the chunks are added in order, so
//! results are bit-identical for any number of threads. The sums are of any type, and small drops
//! stay on one thread, because drops already run in parallel.

use std::ops::{AddAssign, Range};

use rayon::prelude::*;

/// Vertices of a chunk.
pub const CHUNK: usize = 2048;
/// Vertices from which chunks are distributed over threads: below, the overhead exceeds the gain.
const PARALLEL_FROM: usize = 3 * CHUNK;

/// Sum of `f` over chunks of `0..count`.
pub fn sum<S, F>(count: usize, f: F) -> S
where
    S: Default + AddAssign + Send,
    F: Fn(Range<usize>) -> S + Sync,
{
    let chunk = |k: usize| f(k * CHUNK..((k + 1) * CHUNK).min(count));
    let chunks = count.div_ceil(CHUNK);
    if count < PARALLEL_FROM {
        return add((0..chunks).map(chunk));
    }
    add((0..chunks).into_par_iter().map(chunk).collect::<Vec<S>>())
}

/// Applies `f` to chunks of a slice, given the index where each begins; returns the sum of the
/// results.
pub fn update_one<A, S, F>(a: &mut [A], f: F) -> S
where
    A: Send,
    S: Default + AddAssign + Send,
    F: Fn(usize, &mut [A]) -> S + Sync,
{
    if a.len() < PARALLEL_FROM {
        return add(a.chunks_mut(CHUNK).enumerate().map(|(k, a)| f(k * CHUNK, a)));
    }
    add(a.par_chunks_mut(CHUNK).enumerate().map(|(k, a)| f(k * CHUNK, a)).collect::<Vec<S>>())
}

/// Applies `f` to chunks of two slices of equal length; returns the sum of the results.
pub fn update<A, B, S, F>(a: &mut [A], b: &mut [B], f: F) -> S
where
    A: Send,
    B: Send,
    S: Default + AddAssign + Send,
    F: Fn(usize, &mut [A], &mut [B]) -> S + Sync,
{
    if a.len() < PARALLEL_FROM {
        let chunks = a.chunks_mut(CHUNK).zip(b.chunks_mut(CHUNK)).enumerate();
        return add(chunks.map(|(k, (a, b))| f(k * CHUNK, a, b)));
    }
    let chunks = a.par_chunks_mut(CHUNK).zip(b.par_chunks_mut(CHUNK)).enumerate();
    add(chunks.map(|(k, (a, b))| f(k * CHUNK, a, b)).collect::<Vec<S>>())
}

fn add<S: Default + AddAssign>(parts: impl IntoIterator<Item = S>) -> S {
    let mut total = S::default();
    for part in parts {
        total += part;
    }
    total
}

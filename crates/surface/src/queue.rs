//! Edges by how much they want to be changed, the most urgent first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// An edge that wants to be changed, by a half-edge of it.
#[derive(Clone, Copy, Debug)]
struct Wish {
    urgency: f64,
    half_edge: u32,
}

impl Ord for Wish {
    /// Of those that want it alike, the first half-edge, so that the order is the same on every run.
    fn cmp(&self, other: &Self) -> Ordering {
        self.urgency.total_cmp(&other.urgency).then(other.half_edge.cmp(&self.half_edge))
    }
}

impl PartialOrd for Wish {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Wish {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Wish {}

/// A heap of such edges, kept between calls for its memory. Changes around an edge do not reach what is in the heap: whoever takes one out looks at it again.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    heap: BinaryHeap<Wish>,
}

impl Queue {
    /// Takes everything out.
    pub fn clear(&mut self) {
        self.heap.clear();
    }

    /// How many are in it.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Puts an edge in if it wants to be changed: if its urgency is above 1.
    pub fn push(&mut self, urgency: f64, half_edge: u32) {
        if urgency > 1.0 {
            self.heap.push(Wish { urgency, half_edge });
        }
    }

    /// Takes out the most urgent, with its urgency when it was put in.
    pub fn pop(&mut self) -> Option<(f64, u32)> {
        self.heap.pop().map(|wish| (wish.urgency, wish.half_edge))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_urgent_comes_first_and_what_is_content_does_not_come() {
        let mut queue = Queue::default();
        for (urgency, half_edge) in [(1.5, 3), (0.9, 1), (2.0, 8), (1.5, 2), (f64::NAN, 5)] {
            queue.push(urgency, half_edge);
        }
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|(_, h)| h).collect();
        assert_eq!(order, [8, 2, 3]);
    }
}

//! Priority queue of the edges to change, the most urgent first.

use crate::mesh::index::HalfEdgeIndex;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// An edge in the queue, by one of its half-edges.
#[derive(Clone, Copy, Debug)]
struct QueuedEdge {
    priority: f64,
    half_edge: HalfEdgeIndex,
}

impl Ord for QueuedEdge {
    /// Ties are broken by the lower half-edge, so that the order is deterministic.
    fn cmp(&self, other: &Self) -> Ordering {
        self.priority.total_cmp(&other.priority).then(other.half_edge.cmp(&self.half_edge))
    }
}

impl PartialOrd for QueuedEdge {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for QueuedEdge {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for QueuedEdge {}

/// A heap of edges; keeps its memory between calls.
///
/// Priorities are not updated when the mesh changes: the caller evaluates an edge again when it is
/// popped.
#[derive(Clone, Debug, Default)]
pub struct EdgeQueue {
    heap: BinaryHeap<QueuedEdge>,
}

impl EdgeQueue {
    /// Empties the queue.
    pub fn clear(&mut self) {
        self.heap.clear();
    }

    /// Number of queued edges.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Queues an edge if its priority exceeds 1.
    pub fn push(&mut self, priority: f64, half_edge: HalfEdgeIndex) {
        if priority > 1.0 {
            self.heap.push(QueuedEdge { priority, half_edge });
        }
    }

    /// Removes the edge of highest priority; returns that priority and the half-edge.
    pub fn pop(&mut self) -> Option<(f64, HalfEdgeIndex)> {
        self.heap.pop().map(|edge| (edge.priority, edge.half_edge))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_popped_by_descending_priority_and_only_above_one() {
        let mut queue = EdgeQueue::default();
        for (priority, half_edge) in [(1.5, 3), (0.9, 1), (2.0, 8), (1.5, 2), (f64::NAN, 5)] {
            queue.push(priority, HalfEdgeIndex::new(half_edge));
        }
        let order: Vec<usize> = std::iter::from_fn(|| queue.pop()).map(|(_, h)| h.to_usize()).collect();
        assert_eq!(order, [8, 2, 3]);
    }
}

//! Disjoint sets of indices (union–find).

/// Disjoint sets of the indices `0..n`, each represented by its smallest index.
///
/// The representative does not depend on the order of unions, so results do not depend on the
/// number of threads that found the pairs. `find` halves paths as it climbs.
#[derive(Clone, Debug, Default)]
pub struct UnionFind {
    parents: Vec<u32>,
}

impl UnionFind {
    /// `n` sets of one index each.
    pub fn new(n: usize) -> Self {
        let mut sets = Self::default();
        sets.reset(n);
        sets
    }

    /// Starts over with `n` sets of one index each; keeps the memory.
    pub fn reset(&mut self, n: usize) {
        self.parents.clear();
        self.parents.extend(0..u32::try_from(n).expect("fewer than 2³² indices"));
    }

    /// Adds a set of one index and returns that index.
    pub fn push(&mut self) -> u32 {
        let index = self.parents.len() as u32;
        self.parents.push(index);
        index
    }

    /// Number of indices.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether there are no indices.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Smallest index of the set that `index` belongs to.
    pub fn find(&mut self, mut index: u32) -> u32 {
        while self.parents[index as usize] != index {
            let grandparent = self.parents[self.parents[index as usize] as usize];
            self.parents[index as usize] = grandparent;
            index = grandparent;
        }
        index
    }

    /// Joins the sets of `a` and `b`; returns whether they were two.
    pub fn union(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b) as usize] = a.min(b);
        a != b
    }
}

#[cfg(test)]
mod tests {
    use super::UnionFind;

    #[test]
    fn the_representative_is_the_smallest_index_in_any_order_of_unions() {
        let pairs = [(7, 3), (3, 5), (1, 2), (9, 8), (5, 9)];
        for rotation in 0..pairs.len() {
            let mut sets = UnionFind::new(10);
            for k in 0..pairs.len() {
                let (a, b) = pairs[(k + rotation) % pairs.len()];
                assert!(sets.union(a, b), "{a} and {b} were two sets");
            }
            assert!(!sets.union(7, 8), "7 and 8 are joined through 3, 5 and 9");
            let found: Vec<u32> = (0..10).map(|index| sets.find(index)).collect();
            assert_eq!(found, [0, 1, 1, 3, 4, 3, 6, 3, 3, 3], "rotation {rotation}");
        }
    }
}

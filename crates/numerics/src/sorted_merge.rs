//! Merging sorted lists of indices.

/// Merges the ascending indices of `new` into the ascending `list`, each index once.
///
/// `scratch` is memory that is kept from call to call.
pub fn merge_sorted<I: Copy + Ord>(list: &mut Vec<I>, new: impl Iterator<Item = I>, scratch: &mut Vec<I>) {
    scratch.clear();
    let mut new = new.peekable();
    for &index in &*list {
        while let Some(earlier) = new.next_if(|&candidate| candidate <= index) {
            if earlier < index {
                scratch.push(earlier);
            }
        }
        scratch.push(index);
    }
    scratch.extend(new);
    std::mem::swap(list, scratch);
}

#[cfg(test)]
mod tests {
    use super::merge_sorted;

    #[test]
    fn the_merged_list_is_ascending_and_has_every_index_once() {
        let mut list = vec![2, 5, 9];
        merge_sorted(&mut list, [1, 2, 6, 9, 11].into_iter(), &mut vec![7; 3]);
        assert_eq!(list, [1, 2, 5, 6, 9, 11]);
    }
}

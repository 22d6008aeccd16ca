//! Lists of slots that rise, each slot once.

/// Takes rising `new` ones into a rising list; `spare` is room that is kept from call to call.
pub fn merge_sorted(list: &mut Vec<u32>, new: impl Iterator<Item = u32>, spare: &mut Vec<u32>) {
    spare.clear();
    let mut new = new.peekable();
    for &slot in &*list {
        while let Some(earlier) = new.next_if(|&newcomer| newcomer <= slot) {
            if earlier < slot {
                spare.push(earlier);
            }
        }
        spare.push(slot);
    }
    spare.extend(new);
    std::mem::swap(list, spare);
}

#[cfg(test)]
mod tests {
    use super::merge_sorted;

    #[test]
    fn it_rises_and_has_everybody_once() {
        let mut list = vec![2, 5, 9];
        merge_sorted(&mut list, [1, 2, 6, 9, 11].into_iter(), &mut vec![7; 3]);
        assert_eq!(list, [1, 2, 5, 6, 9, 11]);
    }
}

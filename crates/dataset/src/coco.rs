//! Instances in COCO's format: masks as compressed run-length encodings (lin2014).
//!
//! A mask is read column by column, and its runs of zeros and ones alternate, starting with zeros.
//! From the third run on, the difference to the run before the last is stored. A number is written
//! in groups of five bits, the lowest first; each group is a character from `0`, its sixth bit says
//! that more follow, and the last group's highest bit is the sign.

use std::collections::BTreeMap;

/// One drop in an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Drop id.
    pub id: u32,
    /// Pixels.
    pub area: usize,
    /// Left, top, width, height, in pixels.
    pub bounds: [usize; 4],
    /// Lengths of runs, column by column.
    pub runs: Vec<u32>,
}

/// The drops of an image of ids, by ascending id; 0 is the background.
pub fn instances(ids: &[u32], [width, height]: [usize; 2]) -> Vec<Instance> {
    /// Where the last run of an instance ended, its runs, and its bounds.
    struct Open {
        end: usize,
        runs: Vec<u32>,
        low: [usize; 2],
        high: [usize; 2],
        area: usize,
    }
    let mut found: BTreeMap<u32, Open> = BTreeMap::new();
    for at in 0..width * height {
        let (x, y) = (at / height, at % height);
        let id = ids[y * width + x];
        if id == 0 {
            continue;
        }
        let open = found.entry(id).or_insert(Open { end: 0, runs: Vec::new(), low: [x, y], high: [x, y], area: 0 });
        if open.end == at && !open.runs.is_empty() {
            if let Some(last) = open.runs.last_mut() {
                *last += 1;
            }
        } else {
            open.runs.extend([(at - open.end) as u32, 1]);
        }
        open.end = at + 1;
        open.area += 1;
        open.low = [open.low[0].min(x), open.low[1].min(y)];
        open.high = [open.high[0].max(x), open.high[1].max(y)];
    }
    let close = |(id, mut open): (u32, Open)| {
        if open.end < width * height {
            open.runs.push((width * height - open.end) as u32);
        }
        let bounds = [open.low[0], open.low[1], open.high[0] - open.low[0] + 1, open.high[1] - open.low[1] + 1];
        Instance { id, area: open.area, bounds, runs: open.runs }
    };
    found.into_iter().map(close).collect()
}

/// The compressed text of runs.
pub fn compressed(runs: &[u32]) -> String {
    let mut text = String::new();
    for (i, &run) in runs.iter().enumerate() {
        let mut left = i64::from(run) - if i > 2 { i64::from(runs[i - 2]) } else { 0 };
        loop {
            let group = left & 0x1f;
            left >>= 5;
            let more = if group & 0x10 != 0 { left != -1 } else { left != 0 };
            text.push(char::from(48 + (group | if more { 0x20 } else { 0 }) as u8));
            if !more {
                break;
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inverse of [`compressed`].
    fn expanded(text: &str) -> Vec<u32> {
        let mut runs: Vec<i64> = Vec::new();
        let mut bytes = text.bytes().map(|byte| i64::from(byte) - 48);
        while let Some(first) = bytes.next() {
            let (mut value, mut shift, mut group) = (first & 0x1f, 5, first);
            while group & 0x20 != 0 {
                group = bytes.next().unwrap();
                value |= (group & 0x1f) << shift;
                shift += 5;
            }
            if group & 0x10 != 0 {
                value |= -1 << shift;
            }
            if runs.len() > 2 {
                value += runs[runs.len() - 2];
            }
            runs.push(value);
        }
        runs.into_iter().map(|run| run as u32).collect()
    }

    #[test]
    fn runs_go_down_the_columns_and_cover_the_image() {
        // Columns: 0 7 7, 7 7 0, 0 0 9.
        let ids = [0, 7, 0, 7, 7, 0, 7, 0, 9];
        let found = instances(&ids, [3, 3]);
        assert_eq!(found[0], Instance { id: 7, area: 4, bounds: [0, 0, 2, 3], runs: vec![1, 4, 4] });
        assert_eq!(found[1], Instance { id: 9, area: 1, bounds: [2, 2, 1, 1], runs: vec![8, 1] });
    }

    #[test]
    fn a_mask_that_begins_in_the_first_pixel_begins_with_an_empty_run() {
        assert_eq!(instances(&[5, 0, 5, 5], [2, 2])[0].runs, [0, 2, 1, 1]);
    }

    #[test]
    fn compression_round_trips() {
        for runs in [vec![0, 1, 2, 3], vec![1000, 5, 70_000, 3, 2, 1, 230_000], vec![16, 15, 17, 31, 32, 33, 0, 1]] {
            assert_eq!(expanded(&compressed(&runs)), runs);
        }
        // By hand: 6 is one group, 17 needs a second one because its fifth bit would be a sign.
        assert_eq!(compressed(&[6, 17]), "6a0");
    }
}

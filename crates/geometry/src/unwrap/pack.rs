//! Packing of charts into the unit square by their outlines.
//!
//! As in the game of Tetris (levy2002), the square is a row of columns, each filled up to some
//! height. A chart, in one of four rotations, is placed with its lower outline on the columns that
//! it covers, where its top plus the mean gap below it is lowest. Tall charts are placed first. The
//! common scale is the largest that fits, found by bisection.

use glam::DVec2;

use super::flatten::FlatChart;

/// Columns of the square, unless there are so many charts that each would get too few.
const MIN_COLUMNS: usize = 1024;

/// Empty columns between charts, and at the border of the square.
const PADDING: usize = 2;

/// Least number of columns of a chart of average size.
const MIN_COLUMNS_PER_CHART: usize = 8;

/// With more charts than this, each is placed beside the previous one, which is fast, instead of at
/// the best position.
const MAX_SEARCHED: usize = 1500;

/// Steps of bisection: the scale is within 0.2 % of the largest.
const BISECTION_STEPS: usize = 9;

/// Placement of a chart: `uv = rotate(corner) · scale + shift`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    /// Counterclockwise rotation in units of 90°.
    quarter_turns: usize,
    shift: DVec2,
}

/// A packing of all charts.
pub(super) struct Packing {
    /// Texture coordinates per meter.
    pub scale: f64,
    placements: Vec<Placement>,
}

impl Packing {
    /// The texture coordinates of a point of a flat chart.
    pub fn uv(&self, chart: usize, corner: DVec2) -> DVec2 {
        let Placement { quarter_turns, shift } = self.placements[chart];
        (rotate(quarter_turns, corner) * self.scale + shift).clamp(DVec2::ZERO, DVec2::ONE)
    }
}

fn rotate(quarter_turns: usize, p: DVec2) -> DVec2 {
    [p, p.perp(), -p, -p.perp()][quarter_turns % 4]
}

/// Packs charts of some total area (in m²).
pub(super) fn pack(charts: &[FlatChart], area: f64) -> Packing {
    let outlines: Vec<Vec<[DVec2; 2]>> = charts.iter().map(|chart| outline(&chart.corners)).collect();
    let mut order: Vec<usize> = (0..charts.len()).collect();
    order.sort_by(|&a, &b| charts[b].size.max_element().total_cmp(&charts[a].size.max_element()).then(a.cmp(&b)));
    let per_chart = (charts.len() as f64).sqrt() * MIN_COLUMNS_PER_CHART as f64;
    let mut columns = MIN_COLUMNS.max((per_chart as usize).next_power_of_two());
    let longest = charts.iter().map(|chart| chart.size.max_element()).fold(0.0, f64::max);
    let full = if longest > 0.0 { area.sqrt().max(longest).recip() } else { 1.0 };
    loop {
        let (mut fits, mut too_large) = (0.0, full);
        let mut best = None;
        for _ in 0..BISECTION_STEPS {
            let scale = 0.5 * (fits + too_large);
            if let Some(placements) = try_scale(charts, &outlines, &order, scale, columns) {
                (fits, best) = (scale, Some(placements));
            } else {
                too_large = scale;
            }
        }
        if let Some(placements) = best {
            return Packing { scale: fits, placements };
        }
        // The padding alone fills the square.
        columns *= 2;
    }
}

/// The edges that belong to one triangle only.
fn outline(corners: &[[DVec2; 3]]) -> Vec<[DVec2; 2]> {
    let key = |p: DVec2| (p.x.to_bits(), p.y.to_bits());
    let mut sides: Vec<[DVec2; 2]> = corners.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    let undirected = |[a, b]: &[DVec2; 2]| if key(*a) < key(*b) { (key(*a), key(*b)) } else { (key(*b), key(*a)) };
    sides.sort_by_cached_key(undirected);
    sides
        .chunk_by(|a, b| undirected(a) == undirected(b))
        .filter(|sides| sides.len() == 1)
        .map(|sides| sides[0])
        .collect()
}

/// Lowest and highest point of a chart in each column that it covers, in columns.
struct Profile {
    bottom: Vec<usize>,
    top: Vec<usize>,
    /// Moves the rotated and scaled chart to the start of the profile.
    shift: DVec2,
}

impl Profile {
    fn new(size: DVec2, outline: &[[DVec2; 2]], scale: f64, quarter_turns: usize) -> Self {
        let turned = rotate(quarter_turns, size);
        let shift = -turned.min(DVec2::ZERO) * scale;
        let width = (turned.x.abs() * scale) as usize + 1;
        let height = (turned.y.abs() * scale) as usize + 1;
        let (mut bottom, mut top) = (vec![height; width], vec![0; width]);
        for side in outline {
            let [mut a, mut b] = side.map(|p| rotate(quarter_turns, p) * scale + shift);
            if a.x > b.x {
                (a, b) = (b, a);
            }
            for column in (a.x.max(0.0) as usize).min(width - 1)..=(b.x.max(0.0) as usize).min(width - 1) {
                // Heights at which the edge enters and leaves the column.
                let ends = [column as f64, column as f64 + 1.0].map(|x| {
                    let t = if b.x > a.x { ((x - a.x) / (b.x - a.x)).clamp(0.0, 1.0) } else { 0.0 };
                    a.y + t * (b.y - a.y)
                });
                let (low, high) =
                    if b.x > a.x { (ends[0].min(ends[1]), ends[0].max(ends[1])) } else { (a.y.min(b.y), a.y.max(b.y)) };
                bottom[column] = bottom[column].min(low.max(0.0) as usize);
                top[column] = top[column].max((high.max(0.0) as usize + 1).min(height));
            }
        }
        // A degenerate chart may have no outline.
        for (bottom, top) in bottom.iter_mut().zip(&mut top) {
            if *top == 0 {
                (*bottom, *top) = (0, 1);
            }
        }
        Self { bottom, top, shift }
    }

    /// Height of the chart above the baseline when it rests on these columns, and the empty area
    /// below it.
    fn rest_on(&self, heights: &[usize]) -> (usize, usize) {
        let base =
            heights.iter().zip(&self.bottom).map(|(height, bottom)| height.saturating_sub(*bottom)).max().unwrap_or(0);
        let waste = heights.iter().zip(&self.bottom).map(|(height, bottom)| base + bottom - height).sum();
        (base, waste)
    }
}

/// Packs all charts at one scale; none if they do not fit.
fn try_scale(
    charts: &[FlatChart],
    outlines: &[Vec<[DVec2; 2]>],
    order: &[usize],
    scale: f64,
    columns: usize,
) -> Option<Vec<Placement>> {
    let mut placements = vec![Placement { quarter_turns: 0, shift: DVec2::ZERO }; charts.len()];
    let mut heights = vec![PADDING; columns];
    let mut cursor = PADDING;
    let searches = charts.len() <= MAX_SEARCHED;
    for &chart in order {
        let upright = usize::from(charts[chart].size.x > charts[chart].size.y);
        let turns: &[usize] = if searches { &[0, 2, 1, 3] } else { &[0] };
        let mut best: Option<(usize, usize, usize, usize, Profile)> = None;
        for &turn in turns {
            let quarter_turns = (upright + turn) % 4;
            let profile = Profile::new(charts[chart].size, &outlines[chart], scale * columns as f64, quarter_turns);
            let width = profile.top.len();
            let height = profile.top.iter().copied().max().unwrap_or(0);
            let Some(last) = columns.checked_sub(width + PADDING).filter(|&last| last >= PADDING) else { continue };
            if cursor > last {
                cursor = PADDING;
            }
            let candidates = if searches { PADDING..last + 1 } else { cursor..cursor + 1 };
            let mut found: Option<(usize, usize, usize)> = None;
            for x in candidates.step_by((width / 24).max(1)) {
                let (base, waste) = profile.rest_on(&heights[x..x + width]);
                if base + height + PADDING <= columns {
                    let score = base + height + waste / width;
                    if found.is_none_or(|(least, ..)| score < least) {
                        found = Some((score, x, base));
                    }
                }
            }
            if let Some((score, x, base)) = found
                && best.as_ref().is_none_or(|(least, ..)| score < *least)
            {
                best = Some((score, x, base, quarter_turns, profile));
            }
        }
        let (_, x, base, quarter_turns, profile) = best?;
        // Padding on all sides of the chart.
        let width = profile.top.len();
        let first = x.saturating_sub(PADDING);
        let last = (x + width + PADDING).min(columns);
        for (column, height) in heights[first..last].iter_mut().enumerate() {
            let nearest = (first + column).saturating_sub(x).min(width - 1);
            *height = (*height).max(base + profile.top[nearest] + PADDING);
        }
        cursor = x + width + PADDING;
        let shift = (profile.shift + DVec2::new(x as f64, base as f64)) / columns as f64;
        placements[chart] = Placement { quarter_turns, shift };
    }
    Some(placements)
}

//! Reading order: which segments make a column, and which column is read first.
//!
//! A page is cut into bands, from top to bottom. In a band of columns one gutter runs from its top to its bottom and
//! running text stands on both sides; everything else is read row by row.

use super::lines::{Line, rows};

const DEEPEST: usize = 12;
/// A gutter is at least this part of the font size wide.
const GUTTER: f32 = 0.9;

const MOST_COLUMNS: usize = 200;
const MOST_PAIRS: usize = 4_000_000;

/// Lines that are read one after the other.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) lines: Vec<Line>,
    /// From where to where there is room for them, whether they fill it or not.
    pub(crate) sides: (f32, f32),
}

/// The columns of a page in reading order.
pub(crate) fn columns(segments: Vec<Line>, right_to_left: bool) -> Vec<Column> {
    let mut found = Vec::new();
    let left = segments.iter().map(|line| line.x0).fold(f32::MAX, f32::min);
    let right = segments.iter().map(|line| line.x1).fold(f32::MIN, f32::max);
    cut(segments, right_to_left, 0, (left, right), &mut found);
    found.retain(|column| !column.lines.is_empty());
    found
}

fn cut(mut segments: Vec<Line>, right_to_left: bool, depth: usize, sides: (f32, f32), found: &mut Vec<Column>) {
    if segments.len() < 6 || depth >= DEEPEST {
        found.push(Column { lines: rows(segments), sides });
        return;
    }
    segments.sort_by(|one, other| one.base.total_cmp(&other.base));
    let mut plain: Vec<Line> = Vec::new();
    for band in join_bands(bands(segments)) {
        match band.gutter {
            Some(gutter) if is_columns(&band.segments, gutter) => {
                if !plain.is_empty() {
                    found.push(Column { lines: rows(std::mem::take(&mut plain)), sides });
                }
                let middle = f32::midpoint(gutter.0, gutter.1);
                let (left, right): (Vec<_>, Vec<_>) =
                    band.segments.into_iter().partition(|line| is_left_of(line, middle));
                let left = (left, (sides.0, gutter.0));
                let right = (right, (gutter.1, sides.1));
                for (side, sides) in if right_to_left { [right, left] } else { [left, right] } {
                    cut(side, right_to_left, depth + 1, sides, found);
                }
            }
            _ => plain.extend(band.segments),
        }
    }
    if !plain.is_empty() {
        found.push(Column { lines: rows(plain), sides });
    }
}

struct Band {
    segments: Vec<Line>,
    /// The widest gap that goes through the whole band with text on both sides.
    gutter: Option<(f32, f32)>,
}

/// Cuts segments, sorted from top to bottom, where a gutter begins or ends.
fn bands(segments: Vec<Line>) -> Vec<Band> {
    let mut bands: Vec<Band> = Vec::new();
    let mut open: Vec<Line> = Vec::new();
    let mut covered = Coverage::default();
    for row in rough_rows(segments) {
        let size = row.iter().map(|line| line.size).fold(0.0, f32::max);
        let narrowest = (GUTTER * size).max(5.0);
        if covered.0.len() > MOST_COLUMNS {
            // Text strewn over the page has no columns, and looking for them would take long.
            covered = Coverage::default();
            bands.push(Band { gutter: None, segments: std::mem::take(&mut open) });
        }
        let alone = Coverage::default().with(&row);
        let together = covered.with(&row);
        let before = covered.gutter(narrowest);
        let after = together.gutter(narrowest);
        // A gutter ends, or begins under lines that would hide it.
        let ends = before.is_some() && after.is_none();
        let begins = before.is_none() && after.is_none() && alone.gutter(narrowest).is_some() && !open.is_empty();
        if ends || begins {
            bands.push(Band { gutter: before, segments: std::mem::take(&mut open) });
            covered = alone;
        } else {
            covered = together;
        }
        open.extend(row);
    }
    let gutter = covered.gutter(5.0);
    bands.push(Band { gutter, segments: open });
    bands
}

/// A line that is too long for its column still belongs to it.
fn is_left_of(line: &Line, middle: f32) -> bool {
    f32::midpoint(line.x0, line.x1) <= middle
}

/// Joins bands of columns that only a line which reaches into the gutter parts: where the lines of both columns go on, the
/// columns do.
fn join_bands(bands: Vec<Band>) -> Vec<Band> {
    let mut joined: Vec<Band> = Vec::with_capacity(bands.len());
    for band in bands {
        match joined.last_mut() {
            Some(last) if last.goes_on_with(&band) => last.segments.extend(band.segments),
            _ => joined.push(band),
        }
    }
    joined
}

impl Band {
    fn goes_on_with(&self, next: &Self) -> bool {
        let Some(gutter) = self.gutter else { return false };
        let middle = f32::midpoint(gutter.0, gutter.1);
        let reaches_over = |line: &Line| (line.x1 - middle).min(middle - line.x0) > LONGER * line.width();
        if next.segments.iter().any(|line| line.table.is_some() || reaches_over(line)) {
            return false;
        }
        if !is_columns(&self.segments, gutter) {
            return false;
        }
        [true, false].into_iter().all(|left| {
            let of_side = |line: &&Line| is_left_of(line, middle) == left && line.table.is_none();
            let above = self.segments.iter().filter(of_side).max_by(|one, other| one.base.total_cmp(&other.base));
            let below = next.segments.iter().filter(of_side).min_by(|one, other| one.base.total_cmp(&other.base));
            above.zip(below).is_some_and(|(above, below)| {
                let step = below.base - above.base;
                let size = above.size.max(below.size);
                step > 0.3 * size && step <= 1.7 * size && (0.87..=1.15).contains(&(below.size / above.size))
            })
        })
    }
}

/// A line may reach over the middle of the gutter by this part of its length; what reaches further spans the columns.
const LONGER: f32 = 0.1;

/// Segments side by side, sorted from top to bottom.
fn rough_rows(segments: Vec<Line>) -> Vec<Vec<Line>> {
    let mut rows: Vec<Vec<Line>> = Vec::new();
    for segment in segments {
        match rows.last_mut() {
            Some(row)
                if row.first().is_some_and(|first| segment.base - first.base <= 0.5 * segment.size.min(first.size)) =>
            {
                row.push(segment);
            }
            _ => rows.push(vec![segment]),
        }
    }
    rows
}

/// Which parts of the width hold text: intervals, sorted and apart.
#[derive(Debug, Default, Clone)]
struct Coverage(Vec<(f32, f32)>);

impl Coverage {
    fn with<'l>(&self, lines: impl IntoIterator<Item = &'l Line>) -> Self {
        let mut intervals = self.0.clone();
        intervals.extend(lines.into_iter().map(|line| (line.x0, line.x1)));
        intervals.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut joined: Vec<(f32, f32)> = Vec::with_capacity(intervals.len());
        for (start, end) in intervals {
            match joined.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((start, end)),
            }
        }
        Self(joined)
    }

    /// How many lines there are, each once in its part of the width, into however many pieces a formula parts it.
    fn lines(&self, lines: &[&Line]) -> usize {
        let place = |line: &Line| self.0.partition_point(|(from, _)| *from <= line.x0);
        let mut places = lines.iter().map(|line| (place(line), line.base, line.size)).collect::<Vec<_>>();
        places.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
        places.dedup_by(|next, last| next.0 == last.0 && next.1 - last.1 < 0.3 * last.2.min(next.2));
        places.len()
    }

    /// The widest gap between two texts.
    fn gutter(&self, narrowest: f32) -> Option<(f32, f32)> {
        let gaps = self.0.windows(2).filter_map(|pair| Some((pair.first()?.1, pair.last()?.0)));
        let widest = gaps.max_by(|one, other| (one.1 - one.0).total_cmp(&(other.1 - other.0)))?;
        (widest.1 - widest.0 >= narrowest).then_some(widest)
    }
}

/// Whether at least two lines of each side have the other side next to them; what stands below is read below.
fn stand_beside(left: &[&Line], right: &[&Line]) -> bool {
    let top = |side: &[&Line]| side.iter().map(|line| line.base - line.size).fold(f32::MAX, f32::min);
    let bottom = |side: &[&Line]| side.iter().map(|line| line.base).fold(f32::MIN, f32::max);
    let from = top(left).max(top(right));
    let to = bottom(left).min(bottom(right));
    let within = |side: &[&Line]| side.iter().filter(|line| line.base >= from && line.base - line.size <= to).count();
    within(left) >= 2 && within(right) >= 2
}

/// Columns hold running text; short pieces side by side on the same baselines are a table or a form, and read in rows.
fn is_columns(segments: &[Line], gutter: (f32, f32)) -> bool {
    let middle = f32::midpoint(gutter.0, gutter.1);
    let (left, right): (Vec<&Line>, Vec<&Line>) = segments.iter().partition(|line| is_left_of(line, middle));
    if left.len() < 3 || right.len() < 3 || !stand_beside(&left, &right) {
        return false;
    }
    let running = |side: &[&Line]| {
        // A side may hold several columns itself.
        let covered = Coverage::default().with(side.iter().copied());
        let count = covered.lines(side) as f32;
        let column = covered.0.iter().map(|(from, to)| to - from).sum::<f32>() / covered.0.len().max(1) as f32;
        let filled = side.iter().map(|line| line.width()).sum::<f32>() / count / column.max(1.0);
        let letters = side.iter().map(|line| line.letters()).sum::<u32>() as f32 / count;
        letters >= 12.0 && filled >= 0.45
    };
    let is_running = running(&left) && running(&right);
    if left.len() * right.len() > MOST_PAIRS {
        return is_running;
    }
    let shared =
        left.iter().filter(|line| right.iter().any(|other| (line.base - other.base).abs() < 0.15 * line.size)).count();
    let fewer = left.len().min(right.len());
    if is_running {
        // Short lines that stand beside each other one by one are a list in two columns.
        let letters = |side: &[&Line]| {
            let mut heights = side.iter().map(|line| line.base).collect::<Vec<_>>();
            heights.sort_by(f32::total_cmp);
            heights.dedup_by(|next, last| (*next - *last).abs() < 2.0);
            side.iter().map(|line| line.letters()).sum::<u32>() as usize / heights.len().max(1)
        };
        return !(letters(&left).min(letters(&right)) < 20 && shared * 10 >= left.len().max(right.len()) * 8);
    }
    // Text beside other text that does not share its baselines belongs to nobody's row.
    fewer >= 4 && shared * 4 < fewer
}

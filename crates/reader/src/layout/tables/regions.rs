//! Where drawn lines suggest a table: lines across and down that meet, and lines across of one length under each other.

use super::{
    groups::Groups,
    rules::{Line, Lines, SNAP},
    text::{self, Chunk, Item},
};
use crate::model::Rect;

/// A place where a table may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Region {
    pub bbox: Rect,
    /// Whether lines across and down meet there.
    pub grid: bool,
    /// Whether they enclose almost every cell on all of its sides: then there is nothing to judge by but that.
    pub closed: bool,
}

const NARROWEST: f32 = 40.0;
const LOWEST: f32 = 12.0;
/// Pieces of one line across, one for each column, may be this far apart.
const COLUMN_SPACE: f32 = 25.0;

/// Places where lines meet, then places between lines across.
pub(super) fn find(items: &[Item<'_>], rows: &[Vec<usize>], lines: &Lines) -> Vec<Region> {
    let (mut regions, used) = grids(lines);
    let loose: Vec<Line> = lines.across.iter().zip(&used).filter(|(_, used)| !**used).map(|(line, _)| *line).collect();
    for bbox in stacks(items, rows, &loose) {
        // A grid may be only the head of a table that goes on with lines across. Lines at the head and foot of a page
        // are rarely of the same width as a table.
        let belongs = |region: &&mut Region| {
            let same_ends = (region.bbox.x0 - bbox.x0).abs() < 3.0 && (region.bbox.x1 - bbox.x1).abs() < 3.0;
            overlap(&region.bbox, &bbox) > 0.5 && (same_ends || bbox.area() < 1.25 * region.bbox.area())
        };
        match regions.iter_mut().find(belongs) {
            Some(region) => region.bbox = region.bbox.union(&bbox),
            None => regions.push(Region { bbox, grid: false, closed: false }),
        }
    }
    regions
}

/// Where lines across and down meet.
pub(super) fn grid_areas(lines: &Lines) -> Vec<Rect> {
    grids(lines).0.into_iter().map(|region| region.bbox).collect()
}

/// The share of the smaller one that both cover.
pub(super) fn overlap(a: &Rect, b: &Rect) -> f32 {
    let smaller = a.area().min(b.area()).max(1.0);
    a.intersection(b).map_or(0.0, |both| both.area() / smaller)
}

/// Lines that meet, as areas; and which lines across they used.
fn grids(lines: &Lines) -> (Vec<Region>, Vec<bool>) {
    let across = &lines.across;
    let apart = Groups::closed(lines);
    let mut groups = Groups::join(lines, 2.0 * SNAP, &apart);
    let found = groups.lines(lines);
    let mut areas: Vec<(usize, Rect, bool)> = Vec::new();
    let mut kept = Vec::new();
    for (root, across, down) in found {
        let closed = apart.get(root).copied().flatten().is_some();
        let (heights, widths) = (levels(&across), levels(&down));
        // Two by two lines are a frame around something, and tell nothing of its inside.
        if heights < 2 || widths < 1 || heights + widths < 5 {
            continue;
        }
        let bbox = across
            .iter()
            .map(|line| Rect::new(line.from, line.at, line.to, line.at))
            .chain(down.iter().map(|line| Rect::new(line.at, line.from, line.at, line.to)))
            .reduce(|a, b| a.union(&b))
            .unwrap_or_default();
        if bbox.width() >= NARROWEST && bbox.height() >= LOWEST {
            kept.push(root);
            areas.push((heights + widths, bbox, closed));
        }
    }
    // What has the most lines comes first. Lines that go around it with fewer of their own are the page's decoration.
    areas.sort_by_key(|(lines, ..)| std::cmp::Reverse(*lines));
    let mut regions: Vec<Region> = Vec::new();
    for (_, bbox, closed) in areas {
        let part_of =
            |region: &&mut Region| overlap(&region.bbox, &bbox) > 0.3 && bbox.area() < 1.5 * region.bbox.area();
        match regions.iter_mut().find(part_of) {
            Some(region) => {
                region.bbox = region.bbox.union(&bbox);
                region.closed |= closed;
            }
            None => regions.push(Region { bbox, grid: true, closed }),
        }
    }
    let used = (0..across.len()).map(|at| kept.contains(&groups.root(at))).collect();
    (regions, used)
}

fn levels(lines: &[Line]) -> usize {
    let mut count = 0;
    let mut last = f32::MIN;
    for line in lines {
        if line.at - last > 2.0 * SNAP {
            count += 1;
            last = line.at;
        }
    }
    count
}

/// Lines across of about the same ends, with rows of a table between them.
fn stacks(items: &[Item<'_>], rows: &[Vec<usize>], across: &[Line]) -> Vec<Rect> {
    let mut stacks: Vec<Vec<Line>> = Vec::new();
    for line in whole_lines(across) {
        let fits = |stack: &&mut Vec<Line>| {
            stack.first().is_some_and(|first| {
                let slack = (0.03 * first.length()).max(6.0);
                (first.from - line.from).abs() <= slack && (first.to - line.to).abs() <= slack
            })
        };
        match stacks.iter_mut().find(fits) {
            Some(stack) => stack.push(line),
            None => stacks.push(vec![line]),
        }
    }
    let mut regions = Vec::new();
    for stack in stacks {
        let mut current: Option<Rect> = None;
        let mut title: Option<Rect> = None;
        for pair in stack.windows(2) {
            let (from, to) = (pair[0].from.min(pair[1].from), pair[0].to.max(pair[1].to));
            let band = Rect::new(from, pair[0].at, to, pair[1].at);
            match content(items, rows, &band) {
                Content::Columns => {
                    let whole = title.take().map_or(band, |title| title.union(&band));
                    current = Some(current.map_or(whole, |region| region.union(&whole)));
                }
                Content::Nothing if band.height() < 8.0 => {}
                // The name of a group of rows, if rows go on below it.
                Content::Title if current.is_some() && title.is_none() => title = Some(band),
                _ => {
                    regions.extend(current.take());
                    title = None;
                }
            }
        }
        regions.extend(current);
    }
    regions
}

/// Pieces at one height, each over a column, are one line.
fn whole_lines(across: &[Line]) -> Vec<Line> {
    let mut whole: Vec<Line> = Vec::new();
    for line in across {
        match whole.last_mut() {
            Some(last) if (last.at - line.at).abs() < 0.01 && line.from - last.to <= COLUMN_SPACE => {
                last.to = last.to.max(line.to);
            }
            _ => whole.push(*line),
        }
    }
    whole.retain(|line| line.length() >= NARROWEST);
    whole
}

/// What stands between two lines across.
enum Content {
    Nothing,
    Columns,
    /// One short line of text.
    Title,
    Text,
}

fn content(items: &[Item<'_>], rows: &[Vec<usize>], band: &Rect) -> Content {
    let (mut tabular, mut all, mut words) = (0, 0, 0);
    let mut lines: Vec<Rect> = Vec::new();
    for row in rows {
        let inside: Vec<usize> = row.iter().copied().filter(|&at| band.contains(items[at].bbox.center())).collect();
        if inside.is_empty() {
            continue;
        }
        all += 1;
        words += inside.len();
        lines.extend(inside.iter().map(|&at| items[at].bbox).reduce(|a, b| a.union(&b)));
        let chunks = text::chunks_of(items, &inside, 0.9, &[]);
        tabular += usize::from(is_tabular_row(&chunks));
    }
    match all {
        0 => Content::Nothing,
        _ if falls_apart(&lines) => Content::Text,
        _ if tabular * 5 >= all * 2 => Content::Columns,
        1 if words <= 8 => Content::Title,
        _ => Content::Text,
    }
}

/// A space between two lines of text, in their heights and beside the other spaces, that no row of a table has: above it is
/// something else, such as the address over the table of an invoice.
const APART: f32 = 3.0;

fn falls_apart(lines: &[Rect]) -> bool {
    let mut spaces = lines.windows(2).map(|pair| (pair[1].y0 - pair[0].y1).max(0.0)).collect::<Vec<_>>();
    spaces.sort_by(f32::total_cmp);
    let height = lines.iter().map(Rect::height).fold(0.0, f32::max);
    let usual = spaces.get(spaces.len() / 2).copied().unwrap_or_default();
    spaces.last().is_some_and(|widest| *widest > APART * height && *widest > APART * usual)
}

/// Several pieces of text, and not columns of running text.
fn is_tabular_row(chunks: &[Chunk]) -> bool {
    let long = chunks.iter().filter(|chunk| chunk.items.len() >= 5).count();
    chunks.len() >= 2 && long * 2 <= chunks.len()
}

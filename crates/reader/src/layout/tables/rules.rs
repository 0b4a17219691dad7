//! The lines drawn on a page, tidied: pieces of one line are one, and what is not a straight line is gone.
//!
//! Programs draw a table's line in many ways: as a stroke, as a thin filled box, as one piece for each cell, as dashes,
//! twice. All of these come out as the one line that a person sees.

use super::{Shade, text::Item};
use crate::model::{Rect, Size};

/// How far lines may be apart and still be one line to the eye.
pub(super) const SNAP: f32 = 2.5;
/// A gap within a line up to this is drawn over: dashes, and pieces that do not quite meet.
const BRIDGE: f32 = 3.5;
/// What is thicker is a box, not a line.
const THICKEST: f32 = 4.0;
/// What is shorter separates nothing.
const SHORTEST: f32 = 6.0;
/// A page with more pieces than this is a drawing; its lines say nothing of tables, and are not worth the time.
const MOST_PIECES: usize = 20_000;
/// The same for lines that are left once their pieces are joined.
const MOST_LINES: usize = 1_500;

/// How far a line that leads from one text to another begins behind the one and ends before the other.
const LEAD: f32 = 30.0;

/// A line across (`at` is its y) or down (`at` is its x).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    pub at: f32,
    pub from: f32,
    pub to: f32,
}

impl Line {
    pub(super) fn length(&self) -> f32 {
        self.to - self.from
    }

    /// How much of `from..to` the line covers, from 0 to 1.
    pub(super) fn covers(&self, from: f32, to: f32) -> f32 {
        let shared = self.to.min(to) - self.from.max(from);
        if to > from { (shared / (to - from)).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// The lines of a page, or of a part of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    /// By y, then x.
    pub across: Vec<Line>,
    /// By x, then y.
    pub down: Vec<Line>,
}

impl Lines {
    /// From thin boxes, and from the edges of larger ones that have a colour.
    pub(super) fn gather(rules: &[Rect], fills: &[Shade], size: Size) -> Self {
        if rules.len() + fills.len() > MOST_PIECES {
            return Self::default();
        }
        let mut across = Vec::new();
        let mut down = Vec::new();
        for rule in rules {
            let (width, height) = (rule.width(), rule.height());
            let (x, y) = rule.center();
            if ![x, y, width, height].iter().all(|value| value.is_finite()) {
                continue;
            }
            if height <= THICKEST && height <= width {
                across.push(Line { at: y, from: rule.x0, to: rule.x1 });
            } else if width <= THICKEST {
                down.push(Line { at: x, from: rule.y0, to: rule.y1 });
            }
        }
        for (horizontal, line) in edges(fills, size) {
            if horizontal { across.push(line) } else { down.push(line) }
        }
        if size.width > 0.0 && size.height > 0.0 {
            clip(&mut across, size.height, size.width);
            clip(&mut down, size.width, size.height);
        }
        let lines = Self { across: join(across), down: join(down) };
        if lines.across.len() + lines.down.len() > MOST_LINES { Self::default() } else { lines }
    }

    /// Without those that only lead the eye from the text before them to the one behind, along the row of both: they part
    /// no rows.
    pub(super) fn without_leaders(mut self, items: &[Item<'_>], rows: &[Vec<usize>]) -> Self {
        let mut leads = vec![false; self.across.len()];
        for row in rows {
            let Some(bbox) = row.iter().map(|&at| items[at].bbox).reduce(|a, b| a.union(&b)) else { continue };
            let start = self.across.partition_point(|line| line.at < f32::midpoint(bbox.y0, bbox.y1));
            let end = self.across.partition_point(|line| line.at <= bbox.y1 + 0.5);
            let level = &self.across[start..end];
            // A line that runs below text of the row underlines it, and so do those beside it.
            let under =
                |line: &Line, at: &usize| items[*at].bbox.x0 < line.to - SNAP && items[*at].bbox.x1 > line.from + SNAP;
            if level.is_empty() || level.iter().any(|line| row.iter().any(|at| under(line, at))) {
                continue;
            }
            for (at, line) in level.iter().enumerate() {
                let before = row.iter().any(|&at| (-SNAP..=LEAD).contains(&(line.from - items[at].bbox.x1)));
                let behind = row.iter().any(|&at| (-SNAP..=LEAD).contains(&(items[at].bbox.x0 - line.to)));
                leads[start + at] |= before && behind;
            }
        }
        let mut leads = leads.into_iter();
        self.across.retain(|_| !leads.next().unwrap_or_default());
        self
    }

    /// Those within a box, cut to it.
    pub(super) fn cut_to(&self, area: &Rect) -> Self {
        let cut = |lines: &[Line], at: (f32, f32), along: (f32, f32)| {
            lines
                .iter()
                .filter(|line| line.at >= at.0 - SNAP && line.at <= at.1 + SNAP)
                .map(|line| Line { at: line.at, from: line.from.max(along.0 - SNAP), to: line.to.min(along.1 + SNAP) })
                .filter(|line| line.length() >= SHORTEST)
                .collect()
        };
        Self {
            across: cut(&self.across, (area.y0, area.y1), (area.x0, area.x1)),
            down: cut(&self.down, (area.x0, area.x1), (area.y0, area.y1)),
        }
    }
}

/// What is beside the page is not seen.
fn clip(lines: &mut Vec<Line>, farthest: f32, longest: f32) {
    lines.retain_mut(|line| {
        line.from = line.from.max(0.0);
        line.to = line.to.min(longest);
        (0.0..=farthest).contains(&line.at) && line.from < line.to
    });
}

/// The edges of coloured boxes that can be seen: not those of white ones, and not where a box of the same colour goes
/// on, such as between the lines of a shaded paragraph.
fn edges(fills: &[Shade], size: Size) -> Vec<(bool, Line)> {
    let finite = |bbox: &Rect| [bbox.x0, bbox.y0, bbox.x1, bbox.y1].iter().all(|value| value.is_finite());
    let mut boxes: Vec<(u32, Rect)> = fills
        .iter()
        .filter(|fill| !is_near_white(fill.colour) && finite(&fill.bbox))
        .filter(|fill| !is_background(&fill.bbox, size))
        .filter(|fill| fill.bbox.width() >= SHORTEST || fill.bbox.height() >= SHORTEST)
        .map(|fill| (fill.colour, fill.bbox))
        .collect();
    if boxes.len() > MOST_SHADES {
        return Vec::new();
    }
    boxes.sort_by(|a, b| a.1.y0.total_cmp(&b.1.y0));
    let tallest = boxes.iter().map(|(_, bbox)| bbox.height()).fold(0.0, f32::max);
    let goes_on = |own: usize, colour: u32, x: f32, y: f32| {
        let start = boxes.partition_point(|(_, bbox)| bbox.y0 < y - tallest);
        let mut near = boxes.iter().enumerate().skip(start).take_while(|(_, (_, bbox))| bbox.y0 <= y);
        near.any(|(at, (other, bbox))| at != own && *other == colour && bbox.contains((x, y)))
    };
    let mut found = Vec::new();
    for (at, (colour, bbox)) in boxes.iter().enumerate() {
        if bbox.width() < SHORTEST || bbox.height() < SHORTEST {
            continue;
        }
        let hidden = |x: f32, y: f32| usize::from(goes_on(at, *colour, x, y));
        let along = |share: f32| (bbox.x0 + share * bbox.width(), bbox.y0 + share * bbox.height());
        for (y, outside) in [(bbox.y0, bbox.y0 - TOUCH), (bbox.y1, bbox.y1 + TOUCH)] {
            if [0.25, 0.5, 0.75].iter().map(|share| hidden(along(*share).0, outside)).sum::<usize>() < 2 {
                found.push((true, Line { at: y, from: bbox.x0, to: bbox.x1 }));
            }
        }
        for (x, outside) in [(bbox.x0, bbox.x0 - TOUCH), (bbox.x1, bbox.x1 + TOUCH)] {
            if [0.25, 0.5, 0.75].iter().map(|share| hidden(outside, along(*share).1)).sum::<usize>() < 2 {
                found.push((false, Line { at: x, from: bbox.y0, to: bbox.y1 }));
            }
        }
    }
    found
}

/// How far boxes that touch may be apart.
const TOUCH: f32 = 0.6;
/// A page with more coloured boxes than this is a picture.
const MOST_SHADES: usize = 3_000;

/// What reaches from one edge of the page to the other is the page's own colour, or a band across it.
fn is_background(bbox: &Rect, size: Size) -> bool {
    let across = bbox.x0 <= 0.02 * size.width && bbox.x1 >= 0.98 * size.width;
    let down = bbox.y0 <= 0.02 * size.height && bbox.y1 >= 0.98 * size.height;
    size.width > 0.0 && (across || down)
}

fn is_near_white(colour: u32) -> bool {
    (0..3).all(|channel| (colour >> (8 * channel)) & 0xff >= 0xfa)
}

/// Pieces at about the same height are brought to one height, and what then touches is one line.
fn join(mut pieces: Vec<Line>) -> Vec<Line> {
    pieces.sort_by(|a, b| a.at.total_cmp(&b.at));
    let mut lines = Vec::new();
    let mut start = 0;
    while let Some(first) = pieces.get(start) {
        // Measured from the first piece, so that a staircase of pieces does not become one line.
        let end = start + pieces[start..].partition_point(|piece| piece.at - first.at <= SNAP);
        let level = &mut pieces[start..end];
        #[expect(clippy::cast_precision_loss, reason = "a count of lines")]
        let at = level.iter().map(|piece| piece.at).sum::<f32>() / level.len().max(1) as f32;
        level.sort_by(|a, b| a.from.total_cmp(&b.from));
        let mut current: Option<Line> = None;
        for piece in level.iter() {
            match &mut current {
                Some(line) if piece.from <= line.to + BRIDGE => line.to = line.to.max(piece.to),
                _ => lines.extend(current.replace(Line { at, from: piece.from, to: piece.to })),
            }
        }
        lines.extend(current);
        start = end;
    }
    lines.retain(|line| line.length() >= SHORTEST);
    lines
}

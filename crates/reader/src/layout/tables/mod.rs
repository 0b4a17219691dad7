//! Tables on a page, with or without lines, from words and lines alone: it does not matter who read them.
//!
//! ```text
//!  lines ──► regions ─┐
//!                     ├─► build ──► trim ──► judge ──► FoundTable
//!  words ──► aligned ─┘   (columns, then closed or open rows)
//! ```
//!
//! What is drawn comes first: where lines meet or stand under each other, a table is looked for between them. Text that
//! is left is searched for rows in columns. Whatever is found must pass the judge, for a page of prose that is broken
//! into a table is worse than a table that is read as prose.

mod aligned;
mod build;
mod closed;
mod columns;
mod extend;
mod groups;
mod header;
mod judge;
mod open;
mod regions;
mod rules;
mod signs;
mod subdivide;
#[cfg(test)]
mod tests;
mod text;
mod trim;

use super::{
    content::{PageContent, Rule},
    hyphens,
};
use crate::model::{Cell, Inlines, Rect, Size, Table};
use build::{Area, Grid, GridCell};
use judge::Evidence;
use regions::Region;
use rules::Lines;
use text::Item;

/// A word and where it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacedWord<'a> {
    pub text: &'a str,
    pub bbox: Rect,
}

/// A box with a colour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shade {
    pub bbox: Rect,
    /// Red, green, blue from the highest of the lower 24 bits.
    pub colour: u32,
}

/// What of a page is needed to find its tables. Words are those that run from left to right or right to left across
/// the page, in any order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Input<'a> {
    pub words: &'a [PlacedWord<'a>],
    /// Lines across and down, as thin boxes.
    pub rules: &'a [Rect],
    /// Boxes with a colour.
    pub fills: &'a [Shade],
    /// The size of the page; nothing if it is not known.
    pub size: Size,
}

/// A table and what it took from the page.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundTable {
    pub table: Table,
    pub bbox: Rect,
    /// Indexes of the words that are in it, ascending.
    pub words: Vec<usize>,
}

/// A page with more words than this is no page that a person reads; its tables are not worth the time.
const MOST_WORDS: usize = 50_000;

/// The tables of a page, from top to bottom.
pub fn find(input: &Input<'_>) -> Vec<FoundTable> {
    find_beside(input, &[])
}

/// The tables of a page that also draws curved and slanted shapes: what is drawn across rows is no table.
pub fn find_beside(input: &Input<'_>, drawings: &[Rect]) -> Vec<FoundTable> {
    if input.words.len() < 4 || input.words.len() > MOST_WORDS {
        return Vec::new();
    }
    let (items, drawn, _) = text::items(input.words);
    let lines = if drawn.is_empty() {
        Lines::gather(input.rules, input.fills, input.size)
    } else {
        let rules: Vec<Rect> = input.rules.iter().chain(&drawn).copied().collect();
        Lines::gather(&rules, input.fills, input.size)
    };
    let all: Vec<usize> = (0..items.len()).collect();
    let rows = text::rows_of(&items, &all);
    let lines = lines.without_leaders(&items, &rows);
    let mut finder =
        Finder { input, drawings, items: &items, lines: &lines, taken: vec![false; items.len()], found: Vec::new() };

    for region in regions::find(&items, &rows, &lines) {
        let evidence = match region {
            Region { closed: true, .. } => Evidence::Closed,
            Region { grid: true, .. } => Evidence::Grid,
            _ => Evidence::Across,
        };
        let inside = finder.inside(&region.bbox);
        let mut which = inside.clone();
        let free: Vec<bool> = finder.taken.iter().map(|taken| !taken).collect();
        which.extend(extend::headings_above(&items, &rows, &which, &region.bbox, &free));
        if which.len() == inside.len() && !region.closed {
            which.extend(extend::row_above(&items, &rows, &which, &region.bbox, &free));
        }
        which.extend(extend::rows_below(&items, &rows, &which, &region.bbox, &free));
        let names = if evidence == Evidence::Across {
            extend::names_beside(&items, &rows, &which, &region.bbox, &free)
        } else {
            Vec::new()
        };
        if !names.is_empty() && finder.try_area([names, which.clone()].concat(), region.bbox, evidence) {
            continue;
        }
        let extended = which.len() > inside.len();
        if !finder.try_area(which, region.bbox, evidence) && extended && region.closed {
            finder.try_area(inside, region.bbox, evidence);
        }
    }
    let left: Vec<Vec<usize>> = rows
        .into_iter()
        .map(|row| row.into_iter().filter(|&at| !finder.taken[at]).collect::<Vec<_>>())
        .filter(|row| !row.is_empty())
        .collect();
    for zone in aligned::find(&items, &left) {
        finder.try_area(zone.which, zone.bbox, Evidence::Text);
    }
    let mut found = finder.found;
    found.sort_by(|a, b| a.bbox.y0.total_cmp(&b.bbox.y0).then(a.bbox.x0.total_cmp(&b.bbox.x0)));
    found
}

/// Where lines across and down enclose cells on a page, whatever stands in them.
pub(crate) fn ruled_areas(content: &PageContent) -> Vec<Rect> {
    let rules: Vec<Rect> = content.rules.iter().map(Rule::bbox).collect();
    let fills: Vec<Shade> = content.fills.iter().map(|fill| Shade { bbox: fill.bbox, colour: fill.colour }).collect();
    regions::grid_areas(&Lines::gather(&rules, &fills, content.size))
}

struct Finder<'a> {
    input: &'a Input<'a>,
    drawings: &'a [Rect],
    items: &'a [Item<'a>],
    lines: &'a Lines,
    taken: Vec<bool>,
    found: Vec<FoundTable>,
}

impl Finder<'_> {
    fn inside(&self, bbox: &Rect) -> Vec<usize> {
        let wider = Rect { x0: bbox.x0 - 2.0, x1: bbox.x1 + 2.0, ..*bbox };
        (0..self.items.len()).filter(|&at| !self.taken[at] && wider.contains(self.items[at].bbox.center())).collect()
    }

    /// Whether a table was found there.
    fn try_area(&mut self, which: Vec<usize>, bbox: Rect, evidence: Evidence) -> bool {
        if which.len() < 4 {
            return false;
        }
        let bbox = which.iter().fold(bbox, |bbox, &at| bbox.union(&self.items[at].bbox));
        let area = Area { items: self.items, which, bbox, lines: self.lines.cut_to(&bbox) };
        let Some(mut grid) = build::build(&area) else { return false };
        trim::trim(&mut grid, &bbox);
        signs::join(&mut grid, self.items);
        let is_table = judge::is_table(&grid, self.items, evidence, self.leaders(&bbox))
            && !judge::is_drawing(&grid, self.drawings);
        if is_table {
            self.accept(&grid);
        }
        is_table
    }

    /// How many words in the area lead the eye from one column to the next.
    fn leaders(&self, bbox: &Rect) -> usize {
        let inside = self.input.words.iter().filter(|word| bbox.contains(word.bbox.center()));
        inside.filter(|word| word.text.ends_with("...") || word.text.ends_with('…') || word.text == ".").count()
    }

    fn accept(&mut self, grid: &Grid) {
        let Some(bbox) = grid.cells.iter().filter(|c| !c.is_empty()).map(|cell| cell.bbox).reduce(|a, b| a.union(&b))
        else {
            return;
        };
        let mut words = Vec::new();
        for &at in grid.cells.iter().flat_map(|cell| &cell.chunks).flat_map(|chunk| &chunk.items) {
            self.taken[at] = true;
            words.push(self.items[at].word);
        }
        // Leaders and lines made of characters are the table's, too.
        let items: Vec<bool> = {
            let mut is_item = vec![false; self.input.words.len()];
            for item in self.items {
                is_item[item.word] = true;
            }
            is_item
        };
        for (at, word) in self.input.words.iter().enumerate() {
            if !items[at] && bbox.contains(word.bbox.center()) {
                words.push(at);
            }
        }
        words.sort_unstable();
        words.dedup();
        let cells = grid.cells.iter().map(|cell| self.cell(cell)).collect();
        let table =
            Table { rows: grid.rows, columns: grid.columns, cells, header_rows: grid.header_rows.min(grid.rows) };
        self.found.push(FoundTable { table, bbox, words });
    }

    fn cell(&self, cell: &GridCell) -> Cell {
        let mut text = String::new();
        // Rows of the table may hold lines of a cell that stand at other heights than its neighbours'.
        let which: Vec<usize> = cell.chunks.iter().flat_map(|chunk| chunk.items.iter().copied()).collect();
        for line in text::rows_of(self.items, &which) {
            let piece = text::line_text(self.items, &line);
            hyphens::push_line(&mut text, &piece);
        }
        Cell {
            row: cell.row,
            column: cell.column,
            row_span: cell.row_span,
            column_span: cell.column_span,
            text: if text.is_empty() { Inlines::default() } else { Inlines::plain(text) },
            bbox: Some(cell.bbox),
        }
    }
}

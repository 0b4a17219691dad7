//! Tables whose rows are not separated by lines: the text itself says where a row ends.

use super::{
    build::{Area, Bands, Grid, GridCell},
    columns::Columns,
    header,
    text::{Chunk, TextRow},
};
use crate::model::Rect;

/// A piece of text with the columns it stands in.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub first: usize,
    pub last: usize,
    pub chunk: Chunk,
    pub numeric: bool,
}

/// A line of text across the table.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub placed: Vec<Placed>,
    pub bbox: Rect,
    pub band: usize,
}

impl Row {
    pub(super) fn has(&self, column: usize) -> bool {
        self.placed.iter().any(|placed| placed.first <= column && column <= placed.last)
    }

    pub(super) fn figures(&self) -> usize {
        self.placed.iter().filter(|placed| placed.numeric && placed.first > 0).count()
    }

    fn only_label(&self) -> bool {
        self.placed.len() == 1 && self.placed.first().is_some_and(|placed| placed.first == 0)
    }

    fn label(&self) -> Option<&Placed> {
        self.placed.first().filter(|placed| placed.first == 0)
    }

    fn middle(&self) -> f32 {
        self.bbox.center().1
    }
}

pub(super) fn build(area: &Area<'_>, rows: &[TextRow], columns: &Columns, bands: &Bands) -> Grid {
    let rows: Vec<Row> = rows.iter().map(|row| place(area, row, columns, bands)).collect();
    let header_lines = header::count(&rows, columns, bands);
    let (head, body) = rows.split_at(header_lines.min(rows.len()));
    let (mut cells, header_rows) = header::cells(area, head, columns, body.first());
    let mut row = header_rows;
    for group in groups(area, body) {
        cells.extend(body_row(&group, row, columns));
        row += 1;
    }
    Grid { rows: row, columns: columns.count(), cells, header_rows, closed: false, ruled_columns: 0 }
}

fn place(area: &Area<'_>, row: &TextRow, columns: &Columns, bands: &Bands) -> Row {
    let placed = row
        .chunks
        .iter()
        .map(|chunk| {
            let (first, last) = columns.spanned_by(&chunk.bbox);
            Placed { first, last, numeric: chunk.is_numeric(area.items), chunk: chunk.clone() }
        })
        .collect();
    Row { placed, bbox: row.bbox, band: bands.band(row.middle()) }
}

/// Lines of text that are one row of the table.
fn groups<'a>(area: &Area<'_>, rows: &'a [Row]) -> Vec<Vec<&'a Row>> {
    let mut pitches: Vec<f32> = rows
        .windows(2)
        .filter(|pair| pair[0].band == pair[1].band)
        .map(|pair| pair[1].middle() - pair[0].middle())
        .collect();
    pitches.sort_by(f32::total_cmp);
    let pitch = pitches.get(pitches.len() / 2).copied().unwrap_or(f32::MAX);
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let continues = groups.last().is_some_and(|group| continues(area, group, row, rows.get(at + 1), pitch));
        match groups.last_mut() {
            Some(group) if continues => group.push(row),
            _ => groups.push(vec![row]),
        }
    }
    groups
}

/// Whether a line of text goes on with the row above it.
fn continues(area: &Area<'_>, group: &[&Row], row: &Row, next: Option<&Row>, pitch: f32) -> bool {
    let Some(previous) = group.last() else { return false };
    if previous.band != row.band {
        return false;
    }
    let step = row.middle() - previous.middle();
    // Lines of text that stand beside each other in part, each in columns of its own: a label of two lines with its
    // figures at half height.
    if previous.bbox.y1 - row.bbox.y0 > 0.15 * row.bbox.height()
        && !row.placed.iter().any(|placed| (placed.first..=placed.last).any(|column| previous.has(column)))
    {
        return true;
    }
    if step > 1.3 * pitch || step > 2.2 * row.bbox.height().max(previous.bbox.height()) {
        return false;
    }
    let group_has = |column: usize| group.iter().any(|row| row.has(column));
    let tight = step < 0.86 * pitch;
    let group_figures: usize = group.iter().map(|row| row.figures()).sum();
    if row.figures() > 0 && group_figures > 0 {
        return false;
    }
    let within = row.placed.iter().all(|placed| (placed.first..=placed.last).all(group_has));
    match (group.iter().find_map(|row| row.label()), row.label()) {
        // The label goes on, or a new row begins with a label that has nothing beside it.
        (Some(label), Some(own)) => {
            let wrapped = begins_small(area, &own.chunk) || ends_open(area, &last_label(group).chunk);
            let hangs = own.chunk.bbox.x0 > label.chunk.bbox.x0 + 2.0
                && group.len() == 1
                && next.and_then(Row::label).is_none_or(|next| next.chunk.bbox.x0 < own.chunk.bbox.x0 - 1.0);
            if row.only_label() {
                group_figures > 0 && (tight || wrapped || hangs) || group_figures == 0 && (tight || wrapped)
            } else if group.iter().all(|row| row.only_label()) {
                tight || wrapped
            } else {
                (tight || wrapped) && within
            }
        }
        // Text in other columns goes on while the label has ended.
        (Some(_), None) => within && row.figures() == 0,
        (None, _) => false,
    }
}

fn last_label<'a>(group: &[&'a Row]) -> &'a Placed {
    group.iter().rev().find_map(|row| row.label()).unwrap_or(&group[0].placed[0])
}

fn begins_small(area: &Area<'_>, chunk: &Chunk) -> bool {
    let text = chunk.items.first().map_or("", |&index| area.items[index].text);
    text.chars().next().is_some_and(|c| c.is_lowercase() || matches!(c, ')' | '(')) && text.chars().count() > 1
}

fn ends_open(area: &Area<'_>, chunk: &Chunk) -> bool {
    let text = chunk.items.last().map_or("", |&index| area.items[index].text);
    text.ends_with(['-', '/', ',', '(', '&'])
        || matches!(text, "and" | "or" | "of" | "the" | "for" | "in" | "to" | "with")
}

/// The cells of one row of the table.
fn body_row(group: &[&Row], row: usize, columns: &Columns) -> Vec<GridCell> {
    let alone = group.iter().map(|row| row.placed.len()).sum::<usize>() == 1;
    let mut cells: Vec<GridCell> = Vec::new();
    for placed in group.iter().flat_map(|row| &row.placed) {
        let starts_left = placed.first == 0;
        // A label that has the row to itself may run into the next columns without belonging to them.
        let last = if alone && starts_left { 0 } else { placed.last };
        let found = cells.iter_mut().find(|cell| cell.column <= last && placed.first < cell.column + cell.column_span);
        if let Some(cell) = found {
            cell.bbox = cell.bbox.union(&placed.chunk.bbox);
            cell.chunks.push(placed.chunk.clone());
            continue;
        }
        cells.push(GridCell {
            row,
            column: placed.first,
            row_span: 1,
            column_span: last - placed.first + 1,
            chunks: vec![placed.chunk.clone()],
            bbox: placed.chunk.bbox,
        });
    }
    // Every cell of the row is as high as the row, and as wide as its columns.
    let height = group.iter().map(|row| row.bbox).reduce(|a, b| a.union(&b)).unwrap_or_default();
    for column in 0..columns.count() {
        if !cells.iter().any(|cell| (cell.column..cell.column + cell.column_span).contains(&column)) {
            cells.push(GridCell {
                row,
                column,
                row_span: 1,
                column_span: 1,
                chunks: Vec::new(),
                bbox: Rect::default(),
            });
        }
    }
    for cell in &mut cells {
        let (left, _) = columns.extent(cell.column);
        let (_, right) = columns.extent(cell.column + cell.column_span - 1);
        cell.bbox = Rect::new(left, height.y0, right, height.y1);
    }
    cells
}

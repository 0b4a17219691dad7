//! Where text alone suggests a table: rows under each other, each in several pieces, that are not running text.

use super::text::{self, Item, TextRow};
use crate::model::Rect;

/// How wide a space must be to set two pieces apart where no line helps, in heights of the text.
const GAP: f32 = 1.0;

/// A piece of a row with what is known of it.
struct Piece {
    row: usize,
    bbox: Rect,
    words: usize,
    numeric: bool,
    prose: bool,
}

/// A run of rows that may be a table: its items.
pub(super) struct Zone {
    pub which: Vec<usize>,
    pub bbox: Rect,
}

/// Part of a row that is not interrupted by running text.
struct Part {
    bbox: Rect,
    pieces: usize,
    items: Vec<usize>,
}

pub(super) fn find(items: &[Item<'_>], rows: &[Vec<usize>]) -> Vec<Zone> {
    let rows: Vec<TextRow> = rows
        .iter()
        .filter_map(|row| {
            let chunks = text::chunks_of(items, row, GAP, &[]);
            let bbox = chunks.iter().map(|chunk| chunk.bbox).reduce(|a, b| a.union(&b))?;
            Some(TextRow { chunks, bbox })
        })
        .collect();
    // Most pages end here.
    if rows.iter().filter(|row| row.chunks.len() >= 2).count() < 3 {
        return Vec::new();
    }
    let mut pieces: Vec<Vec<Piece>> = rows
        .iter()
        .enumerate()
        .map(|(at, row)| {
            row.chunks
                .iter()
                .map(|chunk| Piece {
                    row: at,
                    bbox: chunk.bbox,
                    words: chunk.items.len(),
                    numeric: chunk.is_numeric(items),
                    prose: false,
                })
                .collect()
        })
        .collect();
    mark_prose(&mut pieces);
    zones(&rows, &pieces)
}

/// Pieces of several words under each other, with nothing but other such pieces beside them, are running text.
fn mark_prose(rows: &mut [Vec<Piece>]) {
    // Blocks: each piece is joined to the one right above it.
    let mut blocks: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (row_at, row) in rows.iter().enumerate() {
        let mut next_open = Vec::new();
        for (at, piece) in row.iter().enumerate() {
            let above = open.iter().copied().find(|&block| {
                blocks[block].last().is_some_and(|&(r, c)| {
                    let last = &rows[r][c];
                    let height = last.bbox.height().max(piece.bbox.height());
                    let shared = last.bbox.x1.min(piece.bbox.x1) - last.bbox.x0.max(piece.bbox.x0);
                    piece.row > last.row
                        && piece.bbox.y0 - last.bbox.y1 < 0.9 * height
                        && shared > 0.6 * last.bbox.width().min(piece.bbox.width())
                        && (last.bbox.x0 - piece.bbox.x0).abs() < 3.0 * height
                })
            });
            let block = above.unwrap_or_else(|| {
                blocks.push(Vec::new());
                blocks.len() - 1
            });
            blocks[block].push((row_at, at));
            next_open.push(block);
        }
        // A block may skip a row that belongs to another column.
        open.retain(|&block| {
            blocks[block].last().is_some_and(|&(r, _)| row_at.saturating_sub(r) <= 2) && !next_open.contains(&block)
        });
        open.extend(next_open);
        open.dedup();
    }
    for block in blocks {
        let lines = block.len();
        let words: usize = block.iter().map(|&(r, c)| rows[r][c].words).sum();
        if words < 4 * lines || (lines == 1 && words < 9) {
            continue;
        }
        let beside_short = block
            .iter()
            .filter(|&&(r, c)| rows[r].get(c + 1).is_some_and(|right| right.numeric || right.words <= 2))
            .count();
        if beside_short * 2 > lines {
            continue;
        }
        for (r, c) in block {
            rows[r][c].prose = true;
        }
    }
}

fn zones(rows: &[TextRow], pieces: &[Vec<Piece>]) -> Vec<Zone> {
    let mut done: Vec<Vec<Part>> = Vec::new();
    let mut open: Vec<Vec<Part>> = Vec::new();
    for (row, pieces) in rows.iter().zip(pieces) {
        for part in parts(row, pieces) {
            let fits = open.iter_mut().position(|zone| {
                let wide = zone.iter().map(|part| part.bbox).reduce(|a, b| a.union(&b)).unwrap_or_default();
                zone.last().is_some_and(|last| {
                    let height = last.bbox.height().max(part.bbox.height());
                    let shared = wide.x1.min(part.bbox.x1) - wide.x0.max(part.bbox.x0);
                    part.bbox.y0 - last.bbox.y1 < 1.7 * height && shared > 0.5 * wide.width().min(part.bbox.width())
                })
            });
            match fits {
                Some(at) => open[at].push(part),
                None if part.pieces >= 2 => open.push(vec![part]),
                None => {}
            }
        }
        let (still, ended): (Vec<_>, Vec<_>) = open
            .drain(..)
            .partition(|zone| zone.last().is_some_and(|last| row.bbox.y0 - last.bbox.y1 < 4.0 * last.bbox.height()));
        done.extend(ended);
        open = still;
    }
    done.extend(open);
    done.into_iter().filter_map(zone).collect()
}

/// The stretches of a row between pieces of running text.
fn parts(row: &TextRow, pieces: &[Piece]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut fresh = true;
    for (chunk, piece) in row.chunks.iter().zip(pieces) {
        if piece.prose {
            fresh = true;
            continue;
        }
        match parts.last_mut() {
            Some(part) if !fresh => {
                part.bbox = part.bbox.union(&chunk.bbox);
                part.pieces += 1;
                part.items.extend(&chunk.items);
            }
            _ => parts.push(Part { bbox: chunk.bbox, pieces: 1, items: chunk.items.clone() }),
        }
        fresh = false;
    }
    parts
}

/// Ends where the last row in several pieces is; at least three such rows.
fn zone(mut parts: Vec<Part>) -> Option<Zone> {
    while parts.last().is_some_and(|part| part.pieces < 2) {
        parts.pop();
    }
    if parts.iter().filter(|part| part.pieces >= 2).count() < 3 {
        return None;
    }
    let bbox = parts.iter().map(|part| part.bbox).reduce(|a, b| a.union(&b))?;
    Some(Zone { which: parts.into_iter().flat_map(|part| part.items).collect(), bbox })
}

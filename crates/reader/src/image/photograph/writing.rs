//! Whether there is writing beside what was taken for the paper: then its outline was none, but the edge of a shadow or of
//! one sheet among several, and nothing may be cut off.

use crate::model::PageImage;

/// Writing is looked for in a picture of about so many pixels along its longer side: its strokes must not run together.
pub(super) const LOOK: u32 = 1600;
/// In tiles of so many pixels: two or three letters of usual text.
const TILE: usize = 16;
/// Ink has at most this part of the brightness of what it stands on, in shadow as in light; the grain of a table has more.
const INK: f32 = 0.7;
/// And is darker by this much, which noise is not.
const DARKER: f32 = 20.0;
/// Ink takes up this part of a tile; less is a speck, more an edge.
const FILLED: std::ops::RangeInclusive<f32> = 0.04..=0.5;
/// In how many rows or columns of a tile brightness must change again and again.
const CROSSED: usize = 4;
/// So many tiles with ink are writing, each with another one no further away than this.
const ENOUGH: usize = 6;
const REACH: usize = 2;

/// Whether words stand where `is_beside` says that there is no paper. Places are in pixels of the picture.
pub(super) fn is_beside(picture: &PageImage, is_beside: impl Fn(f32, f32) -> bool) -> bool {
    let (across, down) = (picture.width as usize / TILE, picture.height as usize / TILE);
    let mut inked = vec![false; across * down];
    for (at, inked) in inked.iter_mut().enumerate() {
        let (x, y) = (at % across * TILE, at / across * TILE);
        let corners = [(x, y), (x + TILE, y), (x, y + TILE), (x + TILE, y + TILE)];
        *inked = corners.iter().all(|(x, y)| is_beside(*x as f32, *y as f32)) && has_ink(picture, x, y);
    }
    let has_ink = |x: usize, y: usize| x < across && y < down && inked.get(y * across + x).copied().unwrap_or(false);
    let has_neighbour = |x: usize, y: usize| {
        let near = (y.saturating_sub(REACH)..=y + REACH)
            .flat_map(|j| (x.saturating_sub(REACH)..=x + REACH).map(move |i| (i, j)));
        near.filter(|place| *place != (x, y)).any(|(x, y)| has_ink(x, y))
    };
    let together = (0..inked.len()).map(|at| (at % across, at / across));
    together.filter(|(x, y)| has_ink(*x, *y) && has_neighbour(*x, *y)).take(ENOUGH).count() == ENOUGH
}

/// Whether a tile has thin dark strokes on something brighter.
fn has_ink(picture: &PageImage, x: usize, y: usize) -> bool {
    let width = picture.width as usize;
    let mut values = [[0.0_f32; TILE]; TILE];
    for (row, values) in values.iter_mut().enumerate() {
        let pixels = picture.pixels.get((y + row) * width + x..(y + row) * width + x + TILE).unwrap_or_default();
        for (value, pixel) in values.iter_mut().zip(pixels) {
            *value = f32::from(*pixel);
        }
    }
    let mut sorted = values.concat();
    sorted.sort_by(f32::total_cmp);
    let paper = sorted.get(sorted.len() * 9 / 10).copied().unwrap_or_default();
    let limit = (paper * INK).min(paper - DARKER);
    let share = sorted.partition_point(|value| *value < limit) as f32 / sorted.len() as f32;
    if !FILLED.contains(&share) {
        return false;
    }
    let changes = |line: &mut dyn Iterator<Item = f32>| {
        let (mut before, mut count) = (false, 0);
        for value in line {
            count += usize::from((value < limit) != before);
            before = value < limit;
        }
        count >= 3
    };
    let rows = values.iter().filter(|row| changes(&mut row.iter().copied())).count();
    let columns = (0..TILE).filter(|column| changes(&mut values.iter().map(|row| row[*column]))).count();
    rows.max(columns) >= CROSSED
}

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

/// So many of them must lie beyond the outline, or closer to it than anything is printed: what only comes near to it, such
/// as the header of a page, is on the paper.
const BEYOND: usize = 2;
const CLOSE: f32 = 0.02;

/// How far a place is on the paper: 0 at its outline and less beyond it, in parts of its size. Writing counts that comes
/// nearer than `margin`, if some of it stands at the outline or beyond it.
pub(super) fn goes_beyond(picture: &PageImage, margin: f32, depth: impl Fn(f32, f32) -> f32) -> bool {
    let (across, down) = (picture.width as usize / TILE, picture.height as usize / TILE);
    let mut inked = vec![None; across * down];
    for (at, inked) in inked.iter_mut().enumerate() {
        let (x, y) = (at % across * TILE, at / across * TILE);
        let corners = [(x, y), (x + TILE, y), (x, y + TILE), (x + TILE, y + TILE)];
        let deepest = corners.iter().map(|(x, y)| depth(*x as f32, *y as f32)).fold(f32::MIN, f32::max);
        *inked = (deepest < margin && has_ink(picture, x, y)).then_some(deepest);
    }
    let ink = |x: usize, y: usize| if x < across && y < down { inked[y * across + x] } else { None };
    let has_neighbour = |x: usize, y: usize| {
        let near = (y.saturating_sub(REACH)..=y + REACH)
            .flat_map(|j| (x.saturating_sub(REACH)..=x + REACH).map(move |i| (i, j)));
        near.filter(|place| *place != (x, y)).any(|(x, y)| ink(x, y).is_some())
    };
    let places = (0..inked.len()).map(|at| (at % across, at / across));
    let writing = places.filter(|(x, y)| has_neighbour(*x, *y)).filter_map(|(x, y)| ink(x, y)).collect::<Vec<_>>();
    writing.len() >= ENOUGH && writing.iter().filter(|depth| **depth < CLOSE).count() >= BEYOND
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

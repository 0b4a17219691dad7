//! In which order the shapes of a slide are read.
//!
//! Shapes are stored in the order in which they were drawn, which need not be the order in which they are read. The
//! slide is cut along empty stripes instead: first from top to bottom, then, where no stripe goes across, from left to
//! right, and so on within each piece. Shapes without a place keep the order of the file.

/// Left, top, width, height, in whatever unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::office) struct Place {
    pub(in crate::office) left: i64,
    pub(in crate::office) top: i64,
    pub(in crate::office) width: i64,
    pub(in crate::office) height: i64,
}

impl Place {
    fn begin(&self, down: bool) -> i64 {
        if down { self.top } else { self.left }
    }

    /// A little is taken off: shapes that touch or overlap by a hair are still apart.
    fn end(&self, down: bool) -> i64 {
        let (begin, size) = if down { (self.top, self.height) } else { (self.left, self.width) };
        begin.saturating_add(size.max(0).saturating_sub(size.max(0) / 10).max(1))
    }
}

/// Cutting deeper than this means shapes are heaped on one another.
const DEEPEST: usize = 12;

/// The indices of the places in reading order.
pub(in crate::office) fn reading_order(places: &[Place]) -> Vec<usize> {
    let mut out = Vec::with_capacity(places.len());
    cut(places, (0..places.len()).collect(), true, false, 0, &mut out);
    out
}

/// Cuts in one direction; `other_failed` says that the other direction did not cut these shapes.
fn cut(places: &[Place], mut members: Vec<usize>, down: bool, other_failed: bool, depth: usize, out: &mut Vec<usize>) {
    let begin = |index: &usize| places.get(*index).map_or(0, |place| place.begin(down));
    if members.len() < 2 {
        out.extend(members);
        return;
    }
    members.sort_by_key(|index| begin(index));
    let mut pieces: Vec<Vec<usize>> = Vec::new();
    let mut end = i64::MIN;
    for index in members {
        let (from, to) = places.get(index).map_or((0, 0), |place| (place.begin(down), place.end(down)));
        match pieces.last_mut() {
            Some(piece) if from < end => piece.push(index),
            _ => pieces.push(vec![index]),
        }
        end = end.max(to);
    }
    if pieces.len() == 1 && (other_failed || depth >= DEEPEST) {
        let mut heap = pieces.pop().unwrap_or_default();
        heap.sort_by_key(|index| places.get(*index).map_or((0, 0), |place| (place.top, place.left)));
        out.extend(heap);
        return;
    }
    let failed = pieces.len() == 1;
    for piece in pieces {
        cut(places, piece, !down, failed, depth + 1, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(left: i64, top: i64, width: i64, height: i64) -> Place {
        Place { left, top, width, height }
    }

    #[test]
    fn columns_are_read_one_after_the_other_below_what_goes_across() {
        let places = [
            place(500, 200, 400, 300),
            place(0, 350, 400, 150),
            place(0, 0, 900, 100),
            place(0, 200, 400, 155),
            place(0, 600, 900, 50),
        ];
        assert_eq!(reading_order(&places), [2, 3, 1, 0, 4]);
    }

    #[test]
    fn heaps_end_somewhere() {
        let same = vec![place(0, 0, 100, 100); 50];
        assert_eq!(reading_order(&same).len(), 50);
        assert_eq!(reading_order(&[place(i64::MAX, i64::MAX, i64::MAX, i64::MAX)]), [0]);
    }
}

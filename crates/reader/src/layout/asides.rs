//! Text that runs in another direction than most of the page, as the tables of the page see it: the names of narrow
//! columns are often written upwards or slanted, and so are names of groups of rows at the side.
//!
//! A table takes each as one word of the height of a letter, at the foot of a column's name and in the middle of a cell:
//! there it stands in a row with others. What no table takes stays text of its own.

use super::{
    content::PageContent,
    decoration::Decorations,
    inlines::Writer,
    lines::{Line, segments},
    tables,
    turned::Turned,
    words::Frame,
};
use crate::model::Rect;
use std::collections::HashSet;

/// Names side by side end within this part of their size at one height.
const LEVEL: f32 = 1.5;
/// Lines of one name are no further apart than this part of their size.
const LEADING: f32 = 1.35;

/// A name in another direction.
#[derive(Debug)]
pub(super) struct Aside {
    pub(super) text: String,
    /// On the page.
    pub(super) bbox: Rect,
    /// Where a table looks for it, on the turned page.
    pub(super) place: Rect,
    /// The frame it is of, and the first glyphs of its words.
    frame: usize,
    words: Vec<u32>,
}

/// What tables of the first frame may take from the others.
pub(super) fn find(content: &PageContent, frames: &[Frame], turned: &Turned) -> Vec<Aside> {
    let mut found = Vec::new();
    for (index, frame) in frames.iter().enumerate().skip(1) {
        let decorations = Decorations::default();
        let writer = Writer { content, frame, decorations: &decorations, hyphenated: HashSet::new(), starred: false };
        let mut lines = segments(frame);
        for line in &mut lines {
            line.tidy(frame, content);
        }
        lines.sort_by(|one, other| one.base.total_cmp(&other.base).then(one.x0.total_cmp(&other.x0)));
        let names = names(lines).into_iter().map(|name| aside(&name, index, &writer, turned));
        found.extend(names.filter(|(aside, _)| !aside.text.is_empty()));
    }
    if found.is_empty() {
        return Vec::new();
    }
    let mut ruled: Vec<Rect> = tables::ruled_areas(content).into_iter().map(|area| turned.rect(area)).collect();
    // A table whose own text runs that way stands sideways, and is read in its own direction.
    ruled.retain(|area| {
        let names = found.iter().filter(|(aside, _)| area.contains(turned.rect(aside.bbox).center())).count();
        names == 0 || host_words(content, frames, area, turned) > names
    });
    let is_ruled = |aside: &Aside| ruled.iter().any(|area| area.contains(turned.rect(aside.bbox).center()));
    let beside = side_by_side(&found, turned);
    let mut asides = Vec::new();
    for ((mut aside, size), beside) in found.into_iter().zip(beside) {
        if is_ruled(&aside) {
            let middle = aside.place.center().1;
            (aside.place.y0, aside.place.y1) = (middle - 0.5 * size, middle + 0.5 * size);
        } else if beside {
            aside.place.y0 = aside.place.y1 - size;
        } else {
            continue;
        }
        asides.push(aside);
    }
    asides
}

/// How many words of the first frame stand in an area.
fn host_words(content: &PageContent, frames: &[Frame], area: &Rect, turned: &Turned) -> usize {
    let Some(frame) = frames.first() else { return 0 };
    let glyph = |at: u32| frame.glyphs.get(at as usize).and_then(|placed| content.glyphs.get(placed.glyph as usize));
    let firsts = frame.words.iter().filter_map(|word| glyph(word.start));
    firsts.filter(|glyph| area.contains(turned.rect(glyph.bbox).center())).count()
}

/// Which of them stand side by side at one height. Where that is so at several heights, they are rows of their own.
fn side_by_side(found: &[(Aside, f32)], turned: &Turned) -> Vec<bool> {
    let feet: Vec<f32> = found.iter().map(|(aside, _)| turned.rect(aside.bbox).y1).collect();
    let beside: Vec<bool> = (0..found.len())
        .map(|at| {
            let (own, size) = &found[at];
            let level =
                |other: &usize| own.frame == found[*other].0.frame && (feet[*other] - feet[at]).abs() <= LEVEL * size;
            (0..found.len()).filter(level).count() >= 2
        })
        .collect();
    let mut levels: Vec<(f32, f32)> =
        (0..found.len()).filter(|at| beside[*at]).map(|at| (feet[at], found[at].1)).collect();
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    levels.dedup_by(|next, last| next.0 - last.0 <= LEVEL * last.1);
    if levels.len() > 1 { vec![false; found.len()] } else { beside }
}

/// Removes from the other frames what a table has taken.
pub(super) fn remove(frames: &mut [Frame], taken: &[Aside]) {
    for aside in taken {
        if let Some(frame) = frames.get_mut(aside.frame) {
            frame.words.retain(|word| !aside.words.contains(&word.start));
        }
    }
}

/// Lines right under each other are one name.
fn names(lines: Vec<Line>) -> Vec<Vec<Line>> {
    let mut names: Vec<Vec<Line>> = Vec::new();
    for line in lines {
        let goes_on = |name: &&mut Vec<Line>| {
            name.last().is_some_and(|last| {
                let shared = last.x1.min(line.x1) - last.x0.max(line.x0);
                let step = line.base - last.base;
                step > 0.5 * line.size
                    && step <= LEADING * line.size.min(last.size)
                    && shared >= 0.6 * last.width().min(line.width())
            })
        };
        match names.iter_mut().find(goes_on) {
            Some(name) => name.push(line),
            None => names.push(vec![line]),
        }
    }
    names
}

/// A name, and the size of its letters.
fn aside(lines: &[Line], frame: usize, writer: &Writer<'_>, turned: &Turned) -> (Aside, f32) {
    let words: Vec<_> = lines.iter().flat_map(|line| &line.words).collect();
    let text = words.iter().map(|word| writer.plain(word)).collect::<Vec<_>>().join(" ");
    let boxes: Vec<Rect> = words.iter().map(|word| writer.bbox(word)).collect();
    let bbox = boxes.iter().copied().reduce(|a, b| a.union(&b)).unwrap_or_default();
    let size = lines.iter().map(|line| line.size).fold(1.0, f32::max);
    let mut place = turned.rect(bbox);
    if writer.frame.angle % 90 != 0 {
        // Slanted text reaches over the columns beside its own, and stands with its lower end over its own.
        let lower = boxes.iter().map(|bbox| turned.rect(*bbox)).max_by(|a, b| a.y1.total_cmp(&b.y1)).unwrap_or(place);
        let ends_low = boxes.last().is_some_and(|last| turned.rect(*last) == lower) && boxes.len() > 1;
        let x = if ends_low { lower.x1 } else { lower.x0 };
        (place.x0, place.x1) = if ends_low { (x - size, x) } else { (x, x + size) };
    }
    let words = words.iter().map(|word| word.start).collect();
    (Aside { text, bbox, place, frame, words }, size)
}

//! Glyphs become words, in the order in which the page draws them.
//!
//! Text that runs in another direction than to the right is turned first, so that everything behind this module deals
//! with lines from left to right only.

use super::{
    characters::{is_cjk, is_mark, is_right_to_left},
    content::{Glyph, GlyphFlags, PageContent},
    drop_caps,
};

/// A gap of more than this part of the font size parts two words.
pub(crate) const WORD_GAP: f32 = 0.105;
/// Ideographs are set apart by justification, but never by spaces.
const CJK_GAP: f32 = 0.55;

/// A glyph in the frame of its direction: `x` grows along the text, `y` from line to line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    /// Into [`PageContent::glyphs`].
    pub(crate) glyph: u32,
    pub(crate) x0: f32,
    pub(crate) x1: f32,
    pub(crate) base: f32,
    pub(crate) size: f32,
    /// Its first character.
    pub(crate) first: char,
}

/// Glyphs without a gap between them.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "they say different things of a word")]
pub(crate) struct Word {
    /// A range of [`Frame::glyphs`].
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) x0: f32,
    pub(crate) x1: f32,
    pub(crate) base: f32,
    /// Of its largest glyph.
    pub(crate) size: f32,
    /// The page itself draws a space to its left.
    pub(crate) blank_left: bool,
    /// The page itself draws a space to its right.
    pub(crate) blank_right: bool,
    pub(crate) right_to_left: bool,
    pub(crate) cjk: bool,
    pub(crate) letters: u32,
}

impl Word {
    pub(crate) fn width(&self) -> f32 {
        self.x1 - self.x0
    }

    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A word of so many letters that is drawn twice begins again within the reach of its last letter, as if it went on.
const SHORT_WORD: u32 = 4;

/// All text of one direction.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// In degrees, clockwise.
    pub(crate) angle: i16,
    pub(crate) glyphs: Vec<Placed>,
    pub(crate) words: Vec<Word>,
}

/// The words of a page by their directions; the direction of most text comes first.
pub(crate) fn frames(content: &PageContent) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    let mut builders: Vec<Builder> = Vec::new();
    for (index, glyph) in (0u32..).zip(&content.glyphs) {
        let angle = steady(glyph.angle);
        let at = frames.iter().position(|frame| frame.angle == angle).unwrap_or_else(|| {
            frames.push(Frame { angle, ..Frame::default() });
            builders.push(Builder::default());
            frames.len() - 1
        });
        if let (Some(frame), Some(builder)) = (frames.get_mut(at), builders.get_mut(at)) {
            builder.add(frame, content, index, glyph);
        }
    }
    for (frame, builder) in frames.iter_mut().zip(&mut builders) {
        builder.finish(frame);
        drop_caps::set_on_first_line(frame);
    }
    frames.sort_by_key(|frame| std::cmp::Reverse(frame.glyphs.len()));
    frames
}

/// Text that leans a little still runs along the page; scans and slanted fonts do that.
fn steady(angle: i16) -> i16 {
    let nearest = ((i32::from(angle) + 720 + 45) / 90 * 90 - 720) as i16;
    let nearest = if nearest == -180 { 180 } else { nearest };
    if (angle - nearest).abs() <= 4 || (angle + 360 - nearest).abs() <= 4 { nearest } else { angle }
}

#[derive(Debug, Default)]
struct Builder {
    open: Option<Word>,
    last: Option<Placed>,
    /// The space that was drawn last, if no glyph came after it.
    blank: Option<Placed>,
}

impl Builder {
    fn add(&mut self, frame: &mut Frame, content: &PageContent, index: u32, glyph: &Glyph) {
        if glyph.flags.has(GlyphFlags::BLANK) {
            let blank = place(index, glyph, frame.angle, ' ');
            if let Some(word) = &mut self.open {
                let (left, right) = touches(&blank, word.x0, word.x1, word.base, word.size);
                word.blank_left |= left;
                word.blank_right |= right;
            }
            self.blank = Some(blank);
            return;
        }
        let text = content.glyph_text(glyph);
        let Some(first) = text.chars().next() else { return };
        let placed = place(index, glyph, frame.angle, first);
        let joined = self.blank.is_none() && self.open.is_some() && self.last.is_some_and(|last| joins(&last, &placed));
        if self.is_drawn_again(frame, content, &placed, text) {
            return;
        }
        if joined && let Some(word) = &mut self.open {
            // The baseline of a word is that of its largest glyphs, not of its superscripts.
            if placed.size > word.size * 1.05 {
                word.base = placed.base;
            }
            word.x0 = word.x0.min(placed.x0);
            word.x1 = word.x1.max(placed.x1);
            word.size = word.size.max(placed.size);
            word.end += 1;
            word.letters += 1;
            word.right_to_left |= is_right_to_left(first);
            word.cjk |= is_cjk(first);
        } else {
            self.finish(frame);
            let blank = self.blank.map(|blank| touches(&blank, placed.x0, placed.x1, placed.base, placed.size));
            let (blank_left, blank_right) = blank.unwrap_or_default();
            let start = u32::try_from(frame.glyphs.len()).unwrap_or(u32::MAX - 1);
            self.open = Some(Word {
                start,
                end: start + 1,
                x0: placed.x0,
                x1: placed.x1,
                base: placed.base,
                size: placed.size,
                blank_left,
                blank_right,
                right_to_left: is_right_to_left(first),
                cjk: is_cjk(first),
                letters: 1,
            });
        }
        frame.glyphs.push(placed);
        self.blank = None;
        self.last = Some(placed);
    }

    /// Whether the glyph is the last one once more, or, where a whole short word is drawn again, one of the open word.
    fn is_drawn_again(&self, frame: &Frame, content: &PageContent, placed: &Placed, text: &str) -> bool {
        let Some(last) = &self.last else { return false };
        if is_double(content, last, placed, text) {
            return true;
        }
        let word = self.open.filter(|word| word.letters <= SHORT_WORD && placed.x0 < last.x0 && self.blank.is_none());
        let glyphs = word.and_then(|word| frame.glyphs.get(word.range())).unwrap_or_default();
        glyphs.iter().any(|drawn| is_double(content, drawn, placed, text))
    }

    fn finish(&mut self, frame: &mut Frame) {
        frame.words.extend(self.open.take());
    }
}

/// Whether a space lies at the left or right end of something on its line.
fn touches(blank: &Placed, x0: f32, x1: f32, base: f32, size: f32) -> (bool, bool) {
    let near = 0.6 * size;
    if (blank.base - base).abs() > 0.6 * size {
        return (false, false);
    }
    let left = (x0 - blank.x1).abs() < near && blank.x0 <= x0;
    let right = (blank.x0 - x1).abs() < near && blank.x1 >= x1;
    (left, right)
}

fn place(index: u32, glyph: &Glyph, angle: i16, first: char) -> Placed {
    let (x, base) = turn(glyph.origin, angle);
    let vertical = glyph.flags.has(GlyphFlags::VERTICAL);
    let (x0, base) = if vertical { (glyph.bbox.y0, -glyph.bbox.x0) } else { (x, base) };
    Placed { glyph: index, x0, x1: x0 + glyph.advance.max(0.0), base, size: glyph.size, first }
}

/// From the page to the frame of a direction.
pub(crate) fn turn((x, y): (f32, f32), angle: i16) -> (f32, f32) {
    match angle {
        0 => (x, y),
        90 => (y, -x),
        180 => (-x, -y),
        -90 => (-y, x),
        _ => {
            let (sine, cosine) = f32::from(angle).to_radians().sin_cos();
            (x * cosine + y * sine, y * cosine - x * sine)
        }
    }
}

/// Whether nothing parts two glyphs that are drawn one after the other.
fn joins(last: &Placed, next: &Placed) -> bool {
    let large = last.size.max(next.size);
    let small = last.size.min(next.size);
    let step = (next.base - last.base).abs();
    let script = small < large * 0.85;
    let level = step <= 0.12 * large || (script && step <= 0.6 * large);
    if !level || small < large * 0.3 {
        return is_mark(next.first) && step <= large;
    }
    // A font that does not tell its widths has none; half the size is what letters have.
    let last_end = if last.x1 - last.x0 <= 0.0 && !is_mark(last.first) { last.x0 + 0.5 * last.size } else { last.x1 };
    let gap = next.x0 - last_end;
    let widest =
        if is_cjk(last.first) && is_cjk(next.first) { CJK_GAP } else { WORD_GAP } * if script { small } else { large };
    if gap >= -0.5 * large && gap <= widest {
        return true;
    }
    if is_mark(next.first) || is_mark(last.first) {
        return gap.abs() <= 1.5 * large;
    }
    // Right-to-left text may be drawn from right to left.
    let leftward = last.x0 - next.x1;
    (is_right_to_left(last.first) || is_right_to_left(next.first)) && leftward >= -0.5 * large && leftward <= widest
}

/// Bold type is sometimes made by drawing a glyph twice.
fn is_double(content: &PageContent, last: &Placed, next: &Placed, text: &str) -> bool {
    let near = (next.x0 - last.x0).abs() < 0.12 * next.size && (next.base - last.base).abs() < 0.12 * next.size;
    near && last.x1 - last.x0 > 0.15 * next.size
        && content.glyphs.get(last.glyph as usize).is_some_and(|glyph| content.glyph_text(glyph) == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slight_leaning_does_not_count() {
        assert_eq!([0, 3, -4, 88, -179, 180, -92, 30].map(steady), [0, 0, 0, 90, 180, 180, -90, 30]);
    }
}

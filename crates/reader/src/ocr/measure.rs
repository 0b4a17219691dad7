//! How large the letters of a picture are, and where its words would lie if the page had been laid straight.
//!
//! A picture has no fonts: the size of a line's letters is told by where they begin and end, as far as they are known to
//! reach up to the height of capitals or to stand on the line. The height of a line's box would not do: "sea" is half as
//! high as "Gap" of the same letters.

use super::{OcrPage, OcrWord};
use crate::model::Rect;

/// In parts of the font size: what capitals and small letters rise above the line, and what letters hang below it.
const CAPITALS: f32 = 0.70;
const SMALL_LETTERS: f32 = 0.49;
const BELOW: f32 = 0.21;
/// Sizes that differ by less are the same size, measured twice.
const SAME: f32 = 0.16;

/// Where a line of words stands, and how large its letters are.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Line {
    base: f32,
    size: f32,
}

/// How places on a page that was laid crookedly and on the same page laid straight are found from each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slant {
    middle: f32,
    fall: f32,
}

impl Slant {
    /// In pixels.
    pub(super) fn new(page: &OcrPage) -> Self {
        Self { middle: page.width as f32 / 2.0, fall: page.slant.to_radians().tan() }
    }

    fn straight(self, bbox: Rect) -> Rect {
        self.moved(bbox, -1.0)
    }

    pub(super) fn crooked(self, bbox: Rect) -> Rect {
        self.moved(bbox, 1.0)
    }

    /// The lines of a page that leans a few degrees are moved up and down as if they were level.
    fn moved(self, bbox: Rect, sign: f32) -> Rect {
        let by = sign * (bbox.center().0 - self.middle) * self.fall;
        Rect { y0: bbox.y0 + by, y1: bbox.y1 + by, ..bbox }
    }
}

/// The words of a page laid straight, with how large the letters of each are. All is in pixels.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) words: Vec<OcrWord>,
    /// Of each word.
    lines: Vec<Line>,
    /// The size of most letters.
    pub(super) usual: f32,
}

impl Measured {
    pub(super) fn straighten(page: &OcrPage) -> Self {
        let slant = Slant::new(page);
        let straight = |word: &OcrWord| OcrWord { bbox: slant.straight(word.bbox), ..word.clone() };
        let words: Vec<OcrWord> = page.words.iter().map(straight).collect();
        let lines: Vec<&[OcrWord]> = words.chunk_by(|one, next| one.line == next.line).collect();
        let mut measured: Vec<Line> = lines.iter().map(|words| measure(words)).collect();
        let usual = even_out(&lines, &mut measured);
        let lines = lines.iter().zip(measured).flat_map(|(words, line)| vec![line; words.len()]).collect();
        Self { words, lines, usual }
    }

    /// How large the letters of words are; what most of them have.
    pub(super) fn size(&self, words: &[usize]) -> f32 {
        let sizes = words.iter().filter_map(|word| Some((self.lines.get(*word)?.size, *word)));
        let letters = |word: usize| self.words.get(word).map_or(0, |word| word.text.chars().count());
        median_by_weight(sizes.map(|(size, word)| (size, letters(word))))
    }
}

/// Letters and signs that hang below the line.
fn hangs(letter: char) -> bool {
    "gjpqyQç,;()[]{}|/\\_ţşțșµ".contains(letter) || !letter.is_alphanumeric()
}

/// Letters that reach up as far as capitals do.
fn is_high(letter: char) -> bool {
    letter.is_uppercase() || letter.is_ascii_digit() || "bdfhklß".contains(letter)
}

fn is_small(letter: char) -> bool {
    "acegmnopqrsuvwxyz".contains(letter)
}

fn measure(words: &[OcrWord]) -> Line {
    let bottoms =
        |wanted: &dyn Fn(&OcrWord) -> bool| median(words.iter().filter(|word| wanted(word)).map(|word| word.bbox.y1));
    let tops =
        |wanted: &dyn Fn(&OcrWord) -> bool| median(words.iter().filter(|word| wanted(word)).map(|word| word.bbox.y0));
    let has = |word: &OcrWord, is: fn(char) -> bool| word.text.chars().any(is);
    let lowest = bottoms(&|_| true).unwrap_or_default();
    let highest = tops(&|_| true).unwrap_or_default();
    let standing = bottoms(&|word| has(word, char::is_alphanumeric) && !has(word, hangs));
    let base = standing.unwrap_or_else(|| lowest - BELOW / (CAPITALS + BELOW) * (lowest - highest));
    let capitals = tops(&|word| has(word, is_high)).map(|top| (base - top) / CAPITALS);
    let small = || tops(&|word| word.text.chars().all(is_small)).map(|top| (base - top) / SMALL_LETTERS);
    let size = capitals.or_else(small).unwrap_or((lowest - highest) / (CAPITALS + BELOW));
    Line { base, size: size.max(1.0) }
}

/// Lines of one paragraph have one size, and paragraphs of about the size of most text have that, which is given back.
fn even_out(lines: &[&[OcrWord]], measured: &mut [Line]) -> f32 {
    let letters = |words: &[OcrWord]| words.iter().map(|word| word.text.chars().count()).sum::<usize>();
    let usual = median_by_weight(measured.iter().zip(lines).map(|(line, words)| (line.size, letters(words))));
    let paragraph = |at: usize| lines.get(at).and_then(|words| words.first()).map(|word| word.paragraph);
    let mut from = 0;
    while from < measured.len() {
        let to = (from..measured.len()).find(|at| paragraph(*at) != paragraph(from)).unwrap_or(measured.len());
        let Some(lines_of) = measured.get_mut(from..to) else { break };
        let Some(size) = median(lines_of.iter().map(|line| line.size)) else { break };
        let near = |one: f32, other: f32| (one - other).abs() <= SAME * other;
        for line in lines_of {
            if near(line.size, size) {
                line.size = size;
            }
            if near(line.size, usual) {
                line.size = usual;
            }
        }
        from = to;
    }
    usual
}

fn median(values: impl Iterator<Item = f32>) -> Option<f32> {
    let mut values: Vec<f32> = values.collect();
    values.sort_by(f32::total_cmp);
    values.get(values.len() / 2).copied()
}

fn median_by_weight(values: impl Iterator<Item = (f32, usize)>) -> f32 {
    let mut values: Vec<(f32, usize)> = values.collect();
    values.sort_by(|one, other| one.0.total_cmp(&other.0));
    let half = values.iter().map(|(_, weight)| weight).sum::<usize>() / 2;
    let mut passed = 0;
    let reached = |(_, weight): &&(f32, usize)| {
        passed += weight;
        passed >= half
    };
    values.iter().find(reached).map_or(0.0, |(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, top: f32, bottom: f32, line: usize) -> OcrWord {
        let bbox = Rect::new(0.0, top, 100.0, bottom);
        OcrWord { text: text.to_owned(), bbox, confidence: 0.9, line, paragraph: line, block: 1 }
    }

    #[test]
    fn lines_are_as_large_as_their_letters_not_as_their_boxes() {
        // The same letters of 100 pixels: with and without capitals, with and without letters that hang below.
        let lines = [
            vec![word("Hello", 30.0, 100.0, 1), word("you", 51.0, 121.0, 1)],
            vec![word("sea", 51.0, 100.0, 2)],
            vec![word("gap", 51.0, 121.0, 3), word("more", 51.0, 100.0, 3)],
        ];
        for line in &lines {
            let measured = measure(line);
            assert!((measured.base - 100.0).abs() < 1.0 && (measured.size - 100.0).abs() < 2.0, "{measured:?}");
        }
    }

    #[test]
    fn a_page_that_lies_crookedly_is_laid_straight() {
        let mut page = OcrPage { width: 1000, slant: 2.0, dpi: 72, ..OcrPage::default() };
        let fall = 2.0_f32.to_radians().tan() * 800.0;
        for (left, down) in [(100.0, 0.0), (900.0, fall)] {
            let bbox = Rect::new(left - 20.0, 100.0 + down, left + 20.0, 120.0 + down);
            page.words.push(OcrWord { bbox, ..word("Hi", 0.0, 1.0, 1) });
        }
        let straight = Measured::straighten(&page);
        assert!((straight.words[0].bbox.y0 - straight.words[1].bbox.y0).abs() < 0.1, "{straight:?}");
        let back = Slant::new(&page).crooked(straight.words[1].bbox);
        assert!((back.y0 - page.words[1].bbox.y0).abs() < 0.1);
    }
}

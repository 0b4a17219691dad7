//! Reading order of the lines that were read: rows, columns and paragraphs.

use super::recognition::LineWord;
use crate::{
    layout::{Segment, reading_order},
    model::Rect,
    ocr::OcrWord,
};

/// A piece of a line, as it was detected and read, in pixels of the page turned upright and laid straight.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    /// The whole place of the line, from the top of capitals to the foot of `g`.
    pub(super) place: Rect,
    pub(super) words: Vec<PlacedWord>,
}

/// A word with its place on the page as it lies.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlacedWord {
    pub(super) word: LineWord,
    pub(super) bbox: Rect,
}

/// Above this part of the usual step from line to line, a paragraph begins.
const WIDE_STEP: f32 = 1.4;
/// Letters that are so much larger or smaller than those above begin a paragraph.
const OTHER_SIZE: f32 = 1.35;

/// The words of the pieces in reading order, with their lines, paragraphs and blocks.
pub(super) fn in_order(pieces: &[Piece]) -> Vec<OcrWord> {
    let segments: Vec<Segment> = pieces.iter().map(segment).collect();
    let (mut line, mut paragraph, mut block) = (0, 0, 0);
    let mut words = Vec::new();
    for rows in reading_order(&segments) {
        block += 1;
        let heights: Vec<(f32, f32)> = rows.iter().map(|row| base_and_size(row, &segments)).collect();
        let mut steps: Vec<f32> =
            heights.windows(2).map(|pair| pair[1].0 - pair[0].0).filter(|step| *step > 0.0).collect();
        steps.sort_by(f32::total_cmp);
        let usual = steps.get(steps.len() / 2).copied().unwrap_or(f32::MAX);
        for (at, row) in rows.iter().enumerate() {
            line += 1;
            let begins = at.checked_sub(1).is_none_or(|before| {
                let ((above, size_above), (base, size)) = (heights[before], heights[at]);
                base - above > usual * WIDE_STEP || size.max(size_above) > size.min(size_above) * OTHER_SIZE
            });
            paragraph += usize::from(begins);
            for found in row.iter().filter_map(|index| pieces.get(*index)).flat_map(|piece| &piece.words) {
                let LineWord { text, confidence, .. } = found.word.clone();
                words.push(OcrWord { text, bbox: found.bbox, confidence, line, paragraph, block });
            }
        }
    }
    words
}

fn segment(piece: &Piece) -> Segment {
    let letters: usize = piece.words.iter().map(|word| word.word.text.chars().count()).sum();
    let place = &piece.place;
    Segment {
        x0: place.x0,
        x1: place.x1,
        // Places with and without letters that hang below differ least in their middle.
        base: place.center().1,
        size: place.height(),
        letters: u32::try_from(letters).unwrap_or(u32::MAX),
    }
}

/// Where a row stands and how large its letters are, by its longest segment.
fn base_and_size(row: &[usize], segments: &[Segment]) -> (f32, f32) {
    let longest = row.iter().filter_map(|index| segments.get(*index)).max_by_key(|segment| segment.letters);
    longest.map_or((0.0, 1.0), |segment| (segment.base, segment.size.max(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ocr::ppocr::ink::Area;

    fn piece(text: &str, x0: f32, y0: f32, x1: f32) -> Piece {
        let place = Rect::new(x0, y0, x1, y0 + 20.0);
        let area = Area { from: 0.0, to: 1.0, top: 0.0, foot: 1.0 };
        let word = LineWord { text: text.to_owned(), confidence: 0.9, area };
        Piece { place, words: vec![PlacedWord { word, bbox: place }] }
    }

    #[test]
    fn a_price_stands_in_the_line_of_its_goods_and_a_wide_gap_begins_a_paragraph() {
        let pieces = [
            piece("6.00", 300.0, 42.0, 340.0),
            piece("SHOP", 100.0, 0.0, 200.0),
            piece("TEA", 10.0, 40.0, 60.0),
            piece("MILK", 10.0, 70.0, 60.0),
            piece("2.00", 300.0, 69.0, 340.0),
            piece("BREAD", 10.0, 100.0, 60.0),
            piece("TOTAL", 10.0, 180.0, 60.0),
            piece("8.00", 300.0, 181.0, 340.0),
        ];
        let words = in_order(&pieces);
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        assert_eq!(texts, ["SHOP", "TEA", "6.00", "MILK", "2.00", "BREAD", "TOTAL", "8.00"]);
        let lines: Vec<usize> = words.iter().map(|word| word.line).collect();
        assert_eq!(lines, [1, 2, 2, 3, 3, 4, 5, 5]);
        assert!(words[6].paragraph > words[5].paragraph && words[4].paragraph == words[1].paragraph, "{words:?}");
    }

    #[test]
    fn columns_of_running_text_are_read_one_after_the_other() {
        let mut pieces = Vec::new();
        for row in 0..8_u8 {
            let top = f32::from(row) * 26.0;
            pieces.push(piece("this runs on in the left column", 0.0, top, 300.0));
            pieces.push(piece("and this in the right column too", 340.0, top + 9.0, 640.0));
        }
        let words = in_order(&pieces);
        let left = words.iter().take(8).all(|word| word.text.contains("left"));
        assert!(left && words[8].text.contains("right") && words[8].block == 2, "{words:?}");
    }
}

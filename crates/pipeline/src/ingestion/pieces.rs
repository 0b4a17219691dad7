//! What a page is made of: the pieces between which it may be cut.

use super::chunk::{Strategy, length, slices};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation as _;

/// A part of a page that is not cut. Together, the pieces are the whole page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) range: Range<usize>,
    /// In characters.
    pub(super) length: usize,
    /// How good a place its beginning is to cut: 0 between words, then [`SENTENCE`], [`PARAGRAPH`], [`HEADING`].
    pub(super) begins: u8,
    pub(super) is_heading: bool,
}

pub(super) const SENTENCE: u8 = 1;
pub(super) const PARAGRAPH: u8 = 2;
pub(super) const HEADING: u8 = 3;

/// The words of a page, none longer than `most` characters, each with what begins there.
pub(super) fn pieces(text: &str, most: usize, strategy: Strategy) -> Vec<Piece> {
    let begins = match strategy {
        Strategy::Simple => Vec::new(),
        Strategy::Universal => beginnings(text),
    };
    let mut begins = begins.into_iter().peekable();
    let mut all = Vec::new();
    for word in words(text) {
        let mut best = 0;
        while let Some((_, begin)) = begins.next_if(|(at, _)| *at <= word.start) {
            best = best.max(begin);
        }
        for range in slices(text, &word, most) {
            let begins = std::mem::take(&mut best);
            all.push(Piece { length: length(&text[range.clone()]), range, begins, is_heading: begins == HEADING });
        }
    }
    all
}

/// Words with the spaces and signs behind them: cutting before a word cuts neither it nor its full stop.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    let mut space_before = true;
    for (at, part) in text.split_word_bound_indices() {
        let end = at + part.len();
        let is_space = part.chars().all(char::is_whitespace);
        let is_word = part.chars().any(char::is_alphanumeric);
        match all.last_mut() {
            // Signs belong to the word before, unless there is a space between.
            Some(before) if is_space || !is_word && !space_before || is_word && glued(text, before, at) => {
                before.end = end;
            }
            _ => all.push(at..end),
        }
        space_before = is_space;
    }
    all
}

/// A word behind a sign that stands behind no space, such as the second half of `first-second` or `"quoted`. Scripts
/// without spaces have words beside each other, which may be parted.
fn glued(text: &str, before: &Range<usize>, at: usize) -> bool {
    let last = text[before.start..at].chars().next_back();
    last.is_some_and(|last| !last.is_whitespace() && !last.is_alphanumeric())
}

/// Where sentences, paragraphs and headings begin, in their order.
fn beginnings(text: &str) -> Vec<(usize, u8)> {
    let mut all = Vec::new();
    let mut behind_heading = false;
    for paragraph in paragraphs(text) {
        let is_heading = is_heading(text[paragraph.clone()].trim_start());
        let begin = match (is_heading, behind_heading) {
            (true, _) => HEADING,
            // A heading stays with what it is the heading of.
            (false, true) => 0,
            (false, false) => PARAGRAPH,
        };
        behind_heading = is_heading;
        let start = paragraph.start;
        all.push((start, begin));
        if !is_heading {
            // Lines end where the paper did, which is no end of a sentence.
            let flat = text[paragraph].replace(['\n', '\r'], " ");
            all.extend(flat.split_sentence_bound_indices().skip(1).map(|(at, _)| (start + at, SENTENCE)));
        }
    }
    all
}

/// Runs of lines with no empty line between them. A heading, a row of a table and a point of a list are ones of their own.
fn paragraphs(text: &str) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    let (mut at, mut begins) = (0, true);
    for line in text.split_inclusive('\n') {
        let (start, content) = (at, line.trim());
        at += line.len();
        let stands_alone = is_heading(content) || content.starts_with(['|', '•']) || is_point(content);
        match all.last_mut() {
            _ if content.is_empty() => {}
            Some(last) if !begins && !stands_alone => last.end = at,
            _ => all.push(start..at),
        }
        begins = content.is_empty() || is_heading(content);
    }
    all
}

fn is_heading(line: &str) -> bool {
    let signs = line.chars().take_while(|sign| *sign == '#').count();
    (1..=6).contains(&signs) && line[signs..].starts_with([' ', '\t'])
}

/// `- so`, `* so`, `3. so`.
fn is_point(line: &str) -> bool {
    let behind = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let numbered = behind.len() < line.len() && behind.starts_with([')', '.']);
    (numbered && behind[1..].starts_with(' ')) || ["- ", "* ", "+ "].iter().any(|point| line.starts_with(point))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        words(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn signs_stay_with_their_words() {
        assert_eq!(texts("\"Well-known,\" he  said. (Yes!)"), ["\"Well-known,\" ", "he  ", "said. ", "(Yes!)"]);
        assert_eq!(texts("東京都。です").concat(), "東京都。です");
        assert_eq!(texts(" - a"), [" ", "- ", "a"]);
    }

    #[test]
    fn the_pieces_are_the_whole_page() {
        let text = "# One\n\nTwo three. Four\nfive.\n\n| six | seven |\n- eight\n\n## Nine\nTen.";
        for strategy in [Strategy::Simple, Strategy::Universal] {
            let all = pieces(text, 5, strategy);
            let whole: String = all.iter().map(|piece| &text[piece.range.clone()]).collect();
            assert_eq!(whole, text);
            assert!(all.iter().all(|piece| piece.length <= 5));
        }
        let all = pieces(text, 50, Strategy::Universal);
        let begin = |word: &str| {
            all.iter().find(|piece| text[piece.range.clone()].contains(word)).map_or(9, |piece| piece.begins)
        };
        assert_eq!((begin("One"), begin("Two"), begin("Four"), begin("five")), (0, 0, SENTENCE, 0));
        assert_eq!((begin("eight"), begin("Nine"), begin("Ten")), (0, 0, 0));
        let at =
            |sign: &str| all.iter().find(|piece| text[piece.range.clone()].starts_with(sign)).map(|piece| piece.begins);
        assert_eq!(
            (at("# "), at("- "), at("## "), at("| ")),
            (Some(HEADING), Some(PARAGRAPH), Some(HEADING), Some(PARAGRAPH))
        );
    }
}

//! Texts cut into chunks that are small enough to be looked up, and large enough to be understood.
//!
//! Sizes are counted in characters. A chunk is a part of one page as it stands, so that every chunk has its page. Chunks
//! overlap, so that what stands at a cut is whole in one of them. No word is cut, unless it is longer than a chunk; no
//! character that is written with several code points is cut at all, unless it alone is longer than a chunk.

use super::pieces::{Piece, pieces};
use bindery_store::search::TextChunk;
use serde::Serialize;
use serde_json::{Map, Value};
use std::{fmt, ops::Range};
use unicode_segmentation::UnicodeSegmentation as _;

/// The sizes that a chunk may have. More would not be found word by word in every store.
const SIZES: std::ops::RangeInclusive<u64> = 50..=20_000;

/// Where texts are cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// Between words, after as many characters as a chunk may have.
    #[default]
    Simple,
    /// At headings, else between paragraphs, else between sentences, else between words.
    Universal,
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Simple => "simple",
            Self::Universal => "universal",
        })
    }
}

/// How texts are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ChunkParams {
    /// The most characters of a chunk.
    pub chunk_size: usize,
    /// The most characters that a chunk has in common with the one before it.
    pub overlap: usize,
    pub strategy: Strategy,
}

impl Default for ChunkParams {
    fn default() -> Self {
        Self { chunk_size: 1_000, overlap: 100, strategy: Strategy::Simple }
    }
}

/// The names that callers give to one and the same thing.
const SIZE_NAMES: [&str; 3] = ["chunk_size", "chunkSize", "size"];
const OVERLAP_NAMES: [&str; 3] = ["overlap", "chunk_overlap", "chunkOverlap"];
const STRATEGY_NAMES: [&str; 3] = ["strategy", "chunk_strategy", "chunkStrategy"];

impl ChunkParams {
    /// Checks `ingest_params`. What is not there is as usual; what is there and has nothing to do with chunks is for
    /// others.
    pub fn parse(params: &Value) -> Result<Self, String> {
        let none = Map::new();
        let params = match params {
            Value::Null => &none,
            Value::Object(params) => params,
            found => {
                return Err(format!(
                    "ingest_params: expected an object such as {{\"chunk_size\": 1000}}, found {found}"
                ));
            }
        };
        let usual = Self::default();
        let chunk_size = match find_param(params, &SIZE_NAMES) {
            None => usual.chunk_size,
            Some((name, found)) => number(name, found, &SIZES, "")?,
        };
        let overlap = match find_param(params, &OVERLAP_NAMES) {
            None => usual.overlap.min(chunk_size / 2),
            Some((name, found)) => number(name, found, &(0..=chunk_size as u64 / 2), ", half of a chunk")?,
        };
        let strategy = match find_param(params, &STRATEGY_NAMES) {
            None => usual.strategy,
            Some((name, found)) => match found.as_str() {
                Some("simple") => Strategy::Simple,
                Some("universal") => Strategy::Universal,
                _ => return Err(format!("ingest_params.{name}: expected simple or universal, found {found}")),
            },
        };
        Ok(Self { chunk_size, overlap, strategy })
    }
}

fn find_param<'a>(params: &'a Map<String, Value>, names: &[&'static str]) -> Option<(&'static str, &'a Value)> {
    names.iter().find_map(|name| Some((*name, params.get(*name).filter(|value| !value.is_null())?)))
}

/// Numbers come as numbers and, from some callers, as text.
fn number(name: &str, found: &Value, range: &std::ops::RangeInclusive<u64>, why: &str) -> Result<usize, String> {
    let number = found.as_u64().or_else(|| found.as_str()?.trim().parse().ok());
    let number = number.filter(|number| range.contains(number)).and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        format!("ingest_params.{name}: expected a whole number from {least} to {most}{why}, found {found}")
    })
}

/// The chunks of all pages in their order. Pages without text have none.
pub fn chunks<'a>(pages: impl IntoIterator<Item = (u32, &'a str)>, params: ChunkParams) -> Vec<TextChunk> {
    let mut all = Vec::new();
    for (page, text) in pages {
        for range in cut(text, params) {
            let ordinal = u32::try_from(all.len()).unwrap_or(u32::MAX);
            all.push(TextChunk { page, ordinal, text: text[range].to_owned() });
        }
    }
    all
}

/// The parts of a page.
fn cut(text: &str, params: ChunkParams) -> Vec<Range<usize>> {
    let pieces = pieces(text, params.chunk_size, params.strategy);
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut first = 0;
    while first < pieces.len() {
        let end = end_of_chunk(&pieces, first, params);
        let part = trimmed(text, &(pieces[first].range.start..pieces[end - 1].range.end));
        // What begins with the end of another must bring more than that.
        let is_new = parts.last().is_none_or(|before| part.end > before.end);
        if !part.is_empty() && is_new {
            parts.push(part);
        }
        if end >= pieces.len() {
            break;
        }
        first = start_of_next(&pieces, first, end, params);
    }
    parts
}

/// Behind the last piece of the chunk that begins with a piece: as many as fit, or fewer where there is a better place to
/// cut in the second half.
fn end_of_chunk(pieces: &[Piece], first: usize, params: ChunkParams) -> usize {
    let mut length = 0;
    let mut fits = first;
    let mut best = None;
    while let Some(piece) = pieces.get(fits) {
        if fits > first && length + piece.length > params.chunk_size {
            // The best place, and the last one of those that are equally good.
            return best.map_or(fits, |(_, place)| place);
        }
        if fits > first && piece.begins > 0 && length * 2 >= params.chunk_size {
            best = best.max(Some((piece.begins, fits)));
        }
        length += piece.length;
        fits += 1;
    }
    fits
}

/// The piece that the next chunk begins with: so many before the end as the overlap has room for, but not in the middle
/// of something where it could be avoided.
fn start_of_next(pieces: &[Piece], first: usize, end: usize, params: ChunkParams) -> usize {
    // A new section has nothing to do with the one before.
    if params.strategy == Strategy::Universal && pieces[end].is_heading {
        return end;
    }
    let mut start = end;
    let mut sentence = None;
    let mut length = 0;
    // The next chunk must have room for at least one piece that this one has not.
    let room = params.overlap.min(params.chunk_size.saturating_sub(pieces[end].length));
    while start > first + 1 && length + pieces[start - 1].length <= room {
        start -= 1;
        length += pieces[start].length;
        if pieces[start].begins > 0 {
            sentence = Some(start);
        }
    }
    if params.strategy == Strategy::Universal { sentence.unwrap_or(start) } else { start }
}

fn trimmed(text: &str, range: &Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    start..start + part.trim().len()
}

/// How long a text is to people.
pub(super) fn length(text: &str) -> usize {
    text.chars().count()
}

/// A part that is too long, in parts that are not: cut between characters, as people see them.
pub(super) fn slices(text: &str, range: &Range<usize>, most: usize) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let (mut start, mut at, mut length) = (range.start, range.start, 0);
    for grapheme in text[range.clone()].graphemes(true) {
        // One that alone is longer than a chunk is no character of any script.
        let parts: Vec<&str> =
            if grapheme.chars().count() > most { grapheme.split("").collect() } else { vec![grapheme] };
        for part in parts {
            let characters = part.chars().count();
            if length + characters > most {
                all.push(start..at);
                (start, length) = (at, 0);
            }
            at += part.len();
            length += characters;
        }
    }
    all.push(start..at);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn params(chunk_size: usize, overlap: usize, strategy: Strategy) -> ChunkParams {
        ChunkParams { chunk_size, overlap, strategy }
    }

    fn texts(text: &str, params: ChunkParams) -> Vec<String> {
        chunks([(1, text)], params).into_iter().map(|chunk| chunk.text).collect()
    }

    #[test]
    fn windows_end_between_words_and_overlap() {
        let parts = texts("one two three four five six", params(14, 4, Strategy::Simple));
        assert_eq!(parts, ["one two three", "four five six"], "three does not fit into four characters");
        let parts = texts("one two three four five six", params(14, 6, Strategy::Simple));
        assert_eq!(parts, ["one two three", "three four", "four five six"]);
    }

    #[test]
    fn every_word_is_in_a_chunk_and_no_chunk_is_too_long() {
        let text = (0..2_000).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
        for strategy in [Strategy::Simple, Strategy::Universal] {
            let parts = texts(&text, params(1_000, 100, strategy));
            assert!(parts.iter().all(|part| part.chars().count() <= 1_000));
            let mut expected = 0;
            for part in &parts {
                let numbers: Vec<usize> =
                    part.split(' ').map(|word| word.strip_prefix("word").unwrap().parse().unwrap()).collect();
                let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
                assert!(first <= expected && last >= expected, "{first} to {last}, expected {expected}");
                assert!(expected - first <= 12, "{} words are there twice", expected - first);
                expected = last + 1;
            }
            assert_eq!(expected, 2_000);
        }
    }

    #[test]
    fn pages_stay_apart_and_empty_ones_have_no_chunk() {
        let found = chunks([(1, "first page"), (2, " \n "), (3, "third page")], ChunkParams::default());
        let shown: Vec<_> = found.iter().map(|chunk| (chunk.page, chunk.ordinal, chunk.text.as_str())).collect();
        assert_eq!(shown, [(1, 0, "first page"), (3, 1, "third page")]);
    }

    #[test]
    fn what_people_see_as_one_character_is_not_cut() {
        let family = "👨‍👩‍👧";
        let parts = texts(&family.repeat(10), params(12, 0, Strategy::Simple));
        assert_eq!(parts, vec![family.repeat(2); 5]);
        let parts = texts(&"e\u{301}".repeat(5), params(3, 0, Strategy::Simple));
        assert_eq!(parts, vec!["e\u{301}"; 5]);
    }

    #[test]
    fn scripts_without_spaces_are_cut_between_characters_and_overlap() {
        let parts = texts("東京都は日本の首都です", params(6, 2, Strategy::Simple));
        assert!(parts.iter().all(|part| part.chars().count() <= 6), "{parts:?}");
        assert!(parts.windows(2).all(|pair| {
            let end: String = pair[0].chars().rev().take(1).collect();
            pair[1].contains(&end)
        }));
    }

    #[test]
    fn texts_are_cut_along_headings_paragraphs_and_sentences() {
        let section =
            |name: &str| format!("# {name}\n\nFirst sentence of it. Second sentence of it.\n\nAnother paragraph.\n\n");
        let text = section("Alpha") + &section("Beta");
        let parts = texts(&text, params(100, 20, Strategy::Universal));
        assert_eq!(parts.len(), 2, "{parts:?}");
        assert!(parts[0].starts_with("# Alpha") && parts[1].starts_with("# Beta"), "{parts:?}");
        let parts = texts(&text, params(70, 0, Strategy::Universal));
        assert_eq!(parts[0], "# Alpha\n\nFirst sentence of it. Second sentence of it.");
        let parts = texts("One is here. Two is there. Three is gone.", params(30, 15, Strategy::Universal));
        assert_eq!(parts, ["One is here. Two is there.", "Two is there. Three is gone."]);
    }

    #[test]
    fn a_heading_is_never_left_alone_at_the_end() {
        let text =
            format!("{}\n\n## Terms\n\n{}", "Words of a paragraph. ".repeat(8), "More words follow here. ".repeat(8));
        let parts = texts(&text, params(190, 0, Strategy::Universal));
        assert!(parts.iter().all(|part| !part.ends_with("## Terms")), "{parts:?}");
    }

    #[test]
    fn no_text_can_break_it() {
        let texts = ["", " ", "\n\n#", "a", &"x".repeat(333), &"\u{301}".repeat(200), "a\r\n\r\nb", &"ab ".repeat(100)];
        for text in texts {
            for size in [1, 2, 50] {
                for overlap in [0, size / 2] {
                    for strategy in [Strategy::Simple, Strategy::Universal] {
                        let found = chunks([(1, text)], params(size, overlap, strategy));
                        assert!(found.iter().all(|chunk| length(&chunk.text) <= size && !chunk.text.trim().is_empty()));
                        assert_eq!(found.is_empty(), text.trim().is_empty(), "{text:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn parameters_are_checked_one_by_one() {
        let usual = ChunkParams::default();
        assert_eq!(ChunkParams::parse(&Value::Null), Ok(usual));
        assert_eq!(ChunkParams::parse(&json!({"embedding_model": "m", "overlap": null})), Ok(usual));
        let own = json!({"chunk_size": 500, "overlap": "50", "chunkStrategy": "universal"});
        assert_eq!(ChunkParams::parse(&own), Ok(params(500, 50, Strategy::Universal)));
        assert_eq!(ChunkParams::parse(&json!({"chunk_size": 60})), Ok(params(60, 30, Strategy::Simple)));
        for (wrong, why) in [
            (json!([]), "ingest_params: expected an object"),
            (json!({"chunk_size": 3}), "ingest_params.chunk_size: expected a whole number from 50 to 20000, found 3"),
            (json!({"chunk_size": "many"}), "found \"many\""),
            (json!({"overlap": 501}), "ingest_params.overlap: expected a whole number from 0 to 500, half of a chunk"),
            (json!({"strategy": "best"}), "ingest_params.strategy: expected simple or universal, found \"best\""),
        ] {
            let error = ChunkParams::parse(&wrong).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}

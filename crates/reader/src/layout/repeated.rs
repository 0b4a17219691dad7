//! Headers and footers: text that other pages of the file have at the same height.

use super::{
    content::{GlyphFlags, PageContent},
    lines::{rows, segments},
    margins::Margins,
    page_numbers::{PageNumber, page_number},
    sizes::Sizes,
    words::{Frame, frames},
};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// What some pages tell of all pages of their file: the text at their edges, and the usual size of their text.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Repeated {
    /// On which pages of the file a text is, and at which heights.
    seen: HashMap<String, Vec<(usize, f32)>>,
    pages: usize,
    /// How many letters there are of each size.
    #[serde(default)]
    sizes: Sizes,
}

/// What other pages of the file have at their edges, as seen from one page.
#[derive(Debug, Clone, Copy)]
pub struct RepeatedOnPage<'r> {
    repeated: &'r Repeated,
    /// From 0.
    page: usize,
}

impl Repeated {
    /// Looks at the edges of some pages, which come with their indexes in the file.
    pub fn look_at(pages: &[(usize, PageContent)]) -> Self {
        let mut found = Self { pages: pages.len(), ..Self::default() };
        for (page, content) in pages {
            let letters = content.glyphs.iter().filter(|glyph| !glyph.flags.has(GlyphFlags::BLANK));
            let letters = letters.map(|glyph| glyph.size).collect::<Vec<_>>();
            for run in letters.chunk_by(|one, other| one.total_cmp(other).is_eq()) {
                found.sizes.add(run[0], u32::try_from(run.len()).unwrap_or(u32::MAX));
            }
            let margins = Margins::usual(content);
            let mut edge = content.clone_edges(margins);
            edge.rules.clear();
            for frame in &frames(&edge) {
                if frame.angle != 0 {
                    found.see_sides(&edge, frame, *page);
                    continue;
                }
                for line in rows(segments(frame)) {
                    let parts = segments_of(&line);
                    let texts = parts.iter().map(|part| text_of(&edge, frame, part)).collect::<Vec<_>>();
                    let of_parts = texts.iter().flat_map(|text| keys(text, *page));
                    for (_, key) in of_parts.chain(row_keys(&texts.join(" "), *page)) {
                        found.seen.entry(key).or_default().push((*page, line.base));
                    }
                }
            }
        }
        found
    }

    /// What runs up or down at the sides of a page.
    fn see_sides(&mut self, edge: &PageContent, frame: &Frame, page: usize) {
        for line in segments(frame) {
            let text = text_of(edge, frame, &line.words);
            self.seen.entry(side_key(&text, frame.angle)).or_default().push((page, from_edge(edge, line.base)));
        }
    }

    /// As seen from a page, by its index in the file.
    pub fn on_page(&self, page: usize) -> RepeatedOnPage<'_> {
        RepeatedOnPage { repeated: self, page }
    }
}

impl RepeatedOnPage<'_> {
    /// The size of most text of the file.
    pub(crate) fn usual_size(&self) -> Option<f32> {
        self.repeated.sizes.usual()
    }

    /// Whether there is no more than one other page to compare with: then chance, or the same form twice, is likely.
    pub(crate) fn is_weak(&self) -> bool {
        self.repeated.pages < 3
    }

    /// How more pages than this one have the text at about that height, if they do.
    pub(crate) fn find(&self, text: &str, base: f32) -> Option<Likeness> {
        self.find_key(&keys(text, self.page), base)
    }

    /// The same for all that stands in one row, in whatever order: left and right pages have their numbers outside.
    pub(crate) fn find_row(&self, text: &str, base: f32) -> Option<Likeness> {
        self.find_key(&row_keys(text, self.page), base)
    }

    /// Whether more pages have the text at the same place at their side, running in the same direction.
    pub(crate) fn is_at_side(&self, content: &PageContent, text: &str, angle: i16, base: f32) -> bool {
        self.find_key(&[(Likeness::Same, side_key(text, angle))], from_edge(content, base)).is_some()
    }

    fn find_key(&self, keys: &[(Likeness, String)], base: f32) -> Option<Likeness> {
        let least = if self.repeated.pages <= 3 { 2 } else { self.repeated.pages / 2 };
        let found = keys.iter().filter(|(_, key)| {
            let places = self.repeated.seen.get(key).map(Vec::as_slice).unwrap_or_default();
            let near = places.iter().filter(|(_, height)| (height - base).abs() < 6.0).map(|(page, _)| *page);
            near.collect::<HashSet<_>>().len() >= least
        });
        found.map(|(likeness, _)| *likeness).min()
    }
}

/// How a text is like that of other pages; what says most comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Likeness {
    /// A number in it counts the pages; all else is the same.
    Counts,
    /// It is the same.
    Same,
    /// It is the same but for a number at its beginning or end, which need not count the pages of this file.
    Numbered,
}

fn segments_of(line: &super::lines::Line) -> Vec<Vec<super::words::Word>> {
    let mut parts: Vec<Vec<super::words::Word>> = Vec::new();
    let mut words = line.words.clone();
    words.sort_by(|one, other| one.x0.total_cmp(&other.x0));
    for word in words {
        match parts.last_mut() {
            Some(part) if part.last().is_some_and(|last| word.x0 - last.x1 <= 1.1 * word.size) => part.push(word),
            _ => parts.push(vec![word]),
        }
    }
    parts
}

fn text_of(content: &PageContent, frame: &Frame, words: &[super::words::Word]) -> String {
    let mut text = String::new();
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        let glyphs = frame.glyphs.get(word.range()).unwrap_or_default();
        for glyph in glyphs.iter().filter_map(|placed| content.glyphs.get(placed.glyph as usize)) {
            text.push_str(content.glyph_text(glyph));
        }
    }
    text
}

/// How far from the nearer side of the page a line runs up or down; pages may be wide and narrow. The left side is below 0.
fn from_edge(content: &PageContent, base: f32) -> f32 {
    let (x, width) = (base.abs(), content.size.width);
    if x > width / 2.0 { width - x } else { -x }
}

fn side_key(text: &str, angle: i16) -> String {
    format!("side {angle} {}", text.split_whitespace().collect::<String>())
}

/// How a text is looked up: as it is, and once for each number in it that may count the pages, with the number's distance
/// from the page in its place. "12" on page 14 and "13" on page 15 are then the same, and so are "Page 3 of 9" and "Page 4
/// of 9"; the figures of a table, which do not count pages, are not.
fn keys(text: &str, page: usize) -> Vec<(Likeness, String)> {
    keys_of(text, page, |pieces| pieces.concat())
}

/// The same for a row, without the order of what stands in it.
fn row_keys(text: &str, page: usize) -> Vec<(Likeness, String)> {
    keys_of(text, page, |mut pieces| {
        pieces.sort_unstable();
        format!("row {}", pieces.join(" "))
    })
}

fn keys_of(text: &str, page: usize, join: impl Fn(Vec<String>) -> String) -> Vec<(Likeness, String)> {
    let pieces = pieces(text);
    if pieces.is_empty() {
        return Vec::new();
    }
    let without = |hidden: &dyn Fn(usize, &Piece) -> Option<String>| {
        let sign = |(at, piece): (usize, &Piece)| match hidden(at, piece) {
            Some(sign) => sign,
            None if piece.number.is_some() => format!("|{}|", piece.text),
            None => piece.text.clone(),
        };
        join(pieces.iter().enumerate().map(sign).collect())
    };
    // Says nothing but which page this is, by a name in front of it.
    if page_number(text) == Some(PageNumber::Named) {
        return vec![(Likeness::Counts, without(&|_, piece| piece.number.map(|_| "#".to_owned())))];
    }
    let mut keys = vec![(Likeness::Same, without(&|_, _| None))];
    let page = i64::try_from(page).unwrap_or(i64::MAX);
    let distance = |piece: &Piece| Some(piece.number?.saturating_sub(page)).filter(|_| piece.may_count);
    let mut distances = pieces.iter().filter_map(distance).take(MOST_COUNTS).collect::<Vec<_>>();
    distances.sort_unstable();
    distances.dedup();
    // A page may say its number twice.
    keys.extend(distances.into_iter().map(|own| {
        let sign =
            |_: usize, piece: &Piece| distance(piece).filter(|found| *found == own).map(|own| format!("#{own}#"));
        (Likeness::Counts, without(&sign))
    }));
    let letters = pieces.iter().filter(|piece| piece.number.is_none()).map(|piece| piece.text.chars().count());
    if letters.sum::<usize>() >= FEWEST_LETTERS {
        for place in [0, pieces.len() - 1] {
            if pieces[place].may_count {
                keys.push((Likeness::Numbered, without(&|at, _| (at == place).then(|| "~".to_owned()))));
            }
        }
    }
    keys
}

/// With so many letters, a text that differs in a number alone is the title of a book or chapter with its page.
const FEWEST_LETTERS: usize = 8;

/// No header has more numbers that may be that of the page.
const MOST_COUNTS: usize = 6;

/// A run of letters or of digits.
#[derive(Debug)]
struct Piece {
    text: String,
    /// What it counts to, if it is digits.
    number: Option<i64>,
    /// Whether that may be the number of a page: no year, no part of an amount.
    may_count: bool,
}

fn pieces(text: &str) -> Vec<Piece> {
    let characters = text.chars().collect::<Vec<_>>();
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(first) = characters.get(at) {
        if !first.is_alphanumeric() {
            at += 1;
            continue;
        }
        let digits = first.is_numeric();
        let alike = |character: &&char| character.is_alphanumeric() && character.is_numeric() == digits;
        let run = characters[at..].iter().take_while(alike).collect::<String>();
        let end = at + run.chars().count();
        let number = if digits { Some(run.parse::<i64>().unwrap_or(-1)) } else { None };
        // "1,234.50", "12.5 %" and "$ 12" are amounts.
        let digit_at = |at: Option<usize>| at.and_then(|at| characters.get(at)).is_some_and(|next| next.is_numeric());
        let sign_at = |at: Option<usize>| at.and_then(|at| characters.get(at)).copied().unwrap_or(' ');
        let joins = |sign: char| matches!(sign, '.' | ',' | '\'' | ':');
        let amount = joins(sign_at(at.checked_sub(1))) && digit_at(at.checked_sub(2))
            || joins(sign_at(Some(end))) && digit_at(Some(end + 1))
            || matches!(sign_at(Some(end)), '%' | '€' | '$' | '£')
            || matches!(sign_at(at.checked_sub(1)), '€' | '$' | '£');
        let year = run.len() == 4 && (run.starts_with("19") || run.starts_with("20"));
        let may_count = number.is_some_and(|number| number >= 0) && run.len() <= 9 && !amount && !year;
        pieces.push(Piece { text: run.to_lowercase(), number, may_count });
        at = end;
    }
    pieces
}

impl PageContent {
    /// Only the glyphs at the upper and lower edge, and what runs up or down at the sides.
    fn clone_edges(&self, margins: Margins) -> Self {
        let at_edge = self.glyphs.iter().filter(|glyph| {
            let (x, y) = glyph.origin;
            y < margins.top || y > margins.bottom || glyph.angle.abs() == 90 && margins.is_at_side(x)
        });
        Self { size: self.size, glyphs: at_edge.copied().collect(), text: self.text.clone(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Likeness, keys};

    fn share_a_key(one: (&str, usize), other: (&str, usize)) -> bool {
        let others = keys(other.0, other.1);
        keys(one.0, one.1)
            .iter()
            .filter(|(likeness, _)| *likeness != Likeness::Numbered)
            .any(|key| others.contains(key))
    }

    #[test]
    fn numbers_that_count_the_pages_are_the_same_text() {
        assert!(share_a_key(("Page 3 of 12", 2), ("Page 14 of 12", 9)));
        assert!(share_a_key(("– 7 –", 6), ("– 9 –", 8)));
        assert!(share_a_key(("Annual report 2024 | 7", 6), ("Annual report 2024 | 8", 7)));
        assert!(share_a_key(("The Journal 2009 – 115/312 115", 6), ("The Journal 2009 – 116/312 116", 7)));
        assert!(share_a_key(("ABC-000123", 0), ("ABC-000124", 1)));
        assert!(share_a_key(("Printed 2024-05-19", 0), ("Printed 2024-05-19", 4)));
    }

    #[test]
    fn figures_are_no_page_numbers() {
        assert!(!share_a_key(("7", 0), ("9", 1)));
        assert!(!share_a_key(("Total 1,234.50", 0), ("Total 1,235.50", 1)));
        assert!(!share_a_key(("12.5 %", 0), ("13.5 %", 1)));
        assert!(!share_a_key(("Budget 2024", 0), ("Budget 2025", 1)));
        assert!(!share_a_key(("$ 12", 0), ("$ 30", 1)));
        assert!(!share_a_key(("1 23", 0), ("12 3", 0)));
    }
}

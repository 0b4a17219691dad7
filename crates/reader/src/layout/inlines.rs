//! Lines become running text: spaces between words, hyphens at line ends, directions, and the looks of each part.

use super::{
    accents, arabic,
    characters::{is_cjk, is_hyphen, is_mark, is_right_to_left, mirrored},
    content::{Glyph, GlyphFlags, PageContent},
    decoration::Decorations,
    formulas, hyphens,
    lines::Line,
    words::{Frame, Placed, WORD_GAP, Word},
};
use crate::model::{Inlines, Rect, Span, Style, Word as PageWord};
use std::collections::HashSet;

/// What is needed to write the text of lines.
pub(crate) struct Writer<'c> {
    pub(crate) content: &'c PageContent,
    pub(crate) frame: &'c Frame,
    pub(crate) decorations: &'c Decorations,
    /// Words with a hyphen inside, in small letters: such a hyphen is kept at the end of a line too.
    pub(crate) hyphenated: HashSet<String>,
    /// Words refer to notes by asterisks: one at the beginning of a line is then that of the note, and no bullet.
    pub(crate) starred: bool,
}

/// Text under construction; a span ends where the looks change.
#[derive(Debug, Default)]
pub(crate) struct Text {
    spans: Inlines,
    open: String,
    style: Style,
    link: Option<u32>,
}

impl Text {
    fn push(&mut self, text: &str, style: Style, link: Option<u32>, content: &PageContent) {
        if (style != self.style || link != self.link) && !self.open.is_empty() {
            self.flush(content);
        }
        self.style = style;
        self.link = link;
        self.open.push_str(text);
    }

    fn flush(&mut self, content: &PageContent) {
        let link = self.link.and_then(|link| content.links.get(link as usize)).map(|link| link.target.clone());
        self.spans.push(Span { text: std::mem::take(&mut self.open), style: self.style, link });
    }

    /// Adds a space or line break in the looks of what stands before it.
    fn space(&mut self, space: char) {
        if !self.open.is_empty() || !self.spans.0.is_empty() {
            self.open.push(space);
        }
    }

    pub(crate) fn finish(mut self, content: &PageContent) -> Inlines {
        let length = self.open.trim_end().len();
        self.open.truncate(length);
        self.flush(content);
        self.spans
    }

    fn last(&self) -> Option<char> {
        self.open.chars().next_back()
    }
}

/// How two lines of one paragraph meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joint {
    Flow,
    /// The line ends there for a reason.
    Break,
}

impl Writer<'_> {
    fn glyph_text(&self, placed: &Placed) -> &str {
        self.content.glyphs.get(placed.glyph as usize).map_or("", |glyph| self.content.glyph_text(glyph))
    }

    fn glyphs(&self, word: &Word) -> &[Placed] {
        self.frame.glyphs.get(word.range()).unwrap_or_default()
    }

    /// Appends a line to text that may hold lines already.
    pub(crate) fn line(&self, text: &mut Text, line: &Line, joint: Joint) {
        let words = reading_order(line);
        if let Some(first) = words.first() {
            self.join_lines(text, line, first, joint);
        }
        let mut before: Option<&Word> = None;
        for word in words {
            if before.is_some_and(|before| parted(before, word)) {
                text.space(' ');
            }
            self.word(text, word, line);
            before = Some(word);
        }
    }

    fn join_lines(&self, text: &mut Text, line: &Line, first: &Word, joint: Joint) {
        let Some(last) = text.last() else { return };
        if joint == Joint::Break {
            text.space('\n');
            return;
        }
        let next = self.glyphs(first).first().map_or(' ', |placed| placed.first);
        if is_hyphen(last) {
            let mut before = text.open.chars().rev().skip(1);
            let after_letter = before.next().is_some_and(char::is_alphabetic);
            if last == '\u{AD}' || (after_letter && next.is_lowercase() && !self.keeps_hyphen(text, line)) {
                text.open.pop();
            }
            if !after_letter && last == '-' {
                text.space(' ');
            }
        } else if !(is_cjk(last) && is_cjk(next)) {
            text.space(' ');
        }
    }

    /// Whether the hyphen at the end of the text belongs to the word that a line break parts.
    fn keeps_hyphen(&self, text: &Text, line: &Line) -> bool {
        let edge = |character: char| !character.is_alphanumeric();
        let start = text.open.rsplit(|character: char| character.is_whitespace()).next().unwrap_or_default();
        let start = start.trim_start_matches(edge).to_lowercase();
        let first = start.trim_end_matches(edge);
        let second = line.words.first().map(|word| self.plain(word).to_lowercase()).unwrap_or_default();
        let second = second.trim_end_matches(edge);
        hyphens::belongs(first, second, &self.hyphenated)
    }

    pub(crate) fn plain(&self, word: &Word) -> String {
        let mut text = String::with_capacity(word.letters as usize);
        self.each_piece(word, |piece, _| text.push_str(piece));
        text
    }

    fn word(&self, text: &mut Text, word: &Word, line: &Line) {
        let mark = self.decorations.decoration_of(word);
        // A ligature of another font within a word is no code.
        let mut glyphs = self.glyphs(word).iter().filter_map(|placed| self.content.glyphs.get(placed.glyph as usize));
        let is_typed =
            |glyph: &Glyph| self.content.fonts.get(usize::from(glyph.font)).is_none_or(|facts| is_typed(glyph, facts));
        let is_code = self.content.fonts.iter().any(|facts| facts.monospace) && glyphs.all(is_typed);
        self.each_piece(word, |piece, placed| {
            let mut style = Style { struck: mark.struck, underlined: mark.underlined, ..Style::default() };
            if let Some(facts) = self
                .content
                .glyphs
                .get(placed.glyph as usize)
                .and_then(|glyph| self.content.fonts.get(usize::from(glyph.font)))
            {
                style.bold = facts.bold;
                style.italic = facts.italic;
                style.code = is_code;
            }
            if placed.size < 0.85 * line.size && (word.size >= 0.85 * line.size || stands_beside_larger(word, line)) {
                let rise = line.base - placed.base;
                style.superscript = rise > 0.15 * line.size;
                style.subscript = rise < -0.05 * line.size;
            }
            text.push(piece, style, mark.link, self.content);
        });
    }

    /// Gives the glyphs of a word as they are read.
    fn each_piece<'s>(&'s self, word: &Word, mut give: impl FnMut(&str, &'s Placed)) {
        let glyphs = self.glyphs(word);
        if !word.right_to_left {
            let last = glyphs.len().saturating_sub(1);
            let mut index = 0;
            while let Some(placed) = glyphs.get(index) {
                let next = glyphs.get(index + 1);
                if let Some((letter, next)) = next.and_then(|next| Some((accents::combined(placed, next)?, next))) {
                    let larger = if placed.first.is_alphabetic() { placed } else { next };
                    give(letter.encode_utf8(&mut [0; 4]), larger);
                    index += 2;
                    continue;
                }
                let piece = self.glyph_text(placed);
                // A soft hyphen that is drawn within a word is a hyphen.
                give(if index < last && piece == "\u{AD}" { "-" } else { piece }, placed);
                index += 1;
            }
            return;
        }
        let mut buffer = String::new();
        for placed in from_right(glyphs) {
            buffer.clear();
            for character in self.glyph_text(placed).chars() {
                arabic::push_plain(if glyphs.len() > 1 { mirrored(character) } else { character }, &mut buffer);
            }
            give(&buffer, placed);
        }
    }

    /// The words of a line for the page's own list, each with its box.
    pub(crate) fn page_words(&self, line: &Line, words: &mut Vec<PageWord>) {
        let mut before: Option<&Word> = None;
        for word in reading_order(line) {
            let text = self.plain(word);
            let bbox = self.bbox(word);
            match words.last_mut() {
                Some(last) if before.is_some_and(|before| !parted(before, word)) => {
                    last.text.push_str(&text);
                    last.bbox = last.bbox.union(&bbox);
                }
                _ => words.push(PageWord { text, bbox, confidence: None }),
            }
            before = Some(word);
        }
    }

    pub(crate) fn bbox(&self, word: &Word) -> Rect {
        let boxes = self
            .glyphs(word)
            .iter()
            .filter_map(|placed| self.content.glyphs.get(placed.glyph as usize))
            .map(|glyph| glyph.bbox);
        boxes.reduce(|one, other| one.union(&other)).unwrap_or_default()
    }

    pub(crate) fn line_bbox(&self, line: &Line) -> Rect {
        line.words.iter().map(|word| self.bbox(word)).reduce(|one, other| one.union(&other)).unwrap_or_default()
    }

    fn share_is(&self, line: &Line, is: impl Fn(&Glyph, &super::FontFacts) -> bool) -> bool {
        let mut yes = 0;
        let mut all = 0;
        for word in &line.words {
            let first = self.glyphs(word).first();
            let glyph = first.and_then(|placed| self.content.glyphs.get(placed.glyph as usize));
            let facts = glyph.and_then(|glyph| Some((glyph, self.content.fonts.get(usize::from(glyph.font))?)));
            all += word.letters;
            yes += if facts.is_some_and(|(glyph, facts)| is(glyph, facts)) { word.letters } else { 0 };
        }
        yes * 10 >= all * 9
    }

    pub(crate) fn is_bold(&self, line: &Line) -> bool {
        self.share_is(line, |_, facts| facts.bold)
    }

    /// Whether a word begins with a piece of a large bracket, in the fonts that TeX has for them.
    pub(crate) fn is_piece_of_bracket(&self, word: &Word) -> bool {
        let first = self.glyphs(word).first();
        let glyph = first.and_then(|first| self.content.glyphs.get(first.glyph as usize));
        let facts = glyph.and_then(|glyph| self.content.fonts.get(usize::from(glyph.font)));
        facts.is_some_and(|facts| formulas::has_large_brackets(&facts.name))
    }

    /// Whether the first word of a line is bold.
    pub(crate) fn begins_bold(&self, line: &Line) -> bool {
        let first = line.words.first().and_then(|word| self.glyphs(word).first());
        let glyph = first.and_then(|placed| self.content.glyphs.get(placed.glyph as usize));
        glyph.and_then(|glyph| self.content.fonts.get(usize::from(glyph.font))).is_some_and(|facts| facts.bold)
    }

    /// Whether a line is set in a typewriter's font.
    pub(crate) fn is_monospace(&self, line: &Line) -> bool {
        self.share_is(line, is_typed)
    }

    /// Whether a line begins with the small sign of a footnote.
    pub(crate) fn begins_with_mark(&self, line: &Line) -> bool {
        let first = line.words.first().and_then(|word| self.glyphs(word).first());
        first.is_some_and(|placed| {
            let raised = placed.size < 0.85 * line.size && line.base - placed.base > 0.15 * line.size;
            raised && placed.first.is_ascii_digit() || matches!(placed.first, '†' | '‡' | '¹' | '²' | '³')
        })
    }

    /// Where in a word a raised sign behind its letters begins: the mark of a footnote.
    pub(crate) fn mark_within(&self, word: &Word) -> Option<usize> {
        let glyphs = self.glyphs(word);
        let raised = |placed: &&Placed| {
            placed.size < 0.8 * word.size
                && word.base - placed.base > 0.15 * word.size
                && (placed.first.is_alphanumeric() || matches!(placed.first, '*' | '†' | '‡' | '§'))
        };
        let count = glyphs.iter().rev().take_while(raised).count();
        let (text, mark) = glyphs.split_at(glyphs.len() - count);
        let before = text.last()?.first;
        // "1st", "m2": letters that count and powers of units belong to the word.
        let counts = mark.len() > 1 && mark.iter().any(|placed| placed.first.is_alphabetic());
        let unit = before == 'm' && matches!(mark, [power] if matches!(power.first, '2' | '3'));
        (!mark.is_empty() && !counts && !unit && !word.right_to_left).then_some(text.len())
    }

    /// The word, and the mark of a footnote behind it as another.
    pub(crate) fn without_mark(&self, word: &Word) -> Vec<Word> {
        let Some(at) = self.mark_within(word) else { return vec![*word] };
        let start = word.start + u32::try_from(at).unwrap_or_default();
        let x0 = self.frame.glyphs.get(start as usize).map_or(word.x1, |placed| placed.x0);
        vec![Word { end: start, x1: x0, ..*word }, Word { start, x0, ..*word }]
    }

    /// Whether the producer says that the line belongs to a header or footer.
    pub(crate) fn is_paging(&self, line: &Line) -> bool {
        let first = line.words.first().and_then(|word| self.glyphs(word).first());
        first
            .and_then(|placed| self.content.glyphs.get(placed.glyph as usize))
            .is_some_and(|glyph| glyph.flags.has(GlyphFlags::PAGING))
    }

    pub(crate) fn plain_line(&self, line: &Line) -> String {
        let mut text = String::new();
        let mut before: Option<&Word> = None;
        for word in reading_order(line) {
            if before.is_some_and(|before| parted(before, word)) {
                text.push(' ');
            }
            self.each_piece(word, |piece, _| text.push_str(piece));
            before = Some(word);
        }
        text
    }
}

/// Whether a glyph is of a typewriter's font. The text that OCR puts behind a picture has a font for its widths alone.
fn is_typed(glyph: &Glyph, facts: &super::FontFacts) -> bool {
    facts.monospace && !glyph.flags.has(GlyphFlags::INVISIBLE)
}

/// Whether larger text is right beside a small word: only then it is a script of it.
fn stands_beside_larger(word: &Word, line: &Line) -> bool {
    line.words.iter().filter(|other| other.size * 0.8 > word.size).any(|other| {
        let gap = (word.x0 - other.x1).max(other.x0 - word.x1);
        gap <= other.size
    })
}

/// Whether a space stands between two words of a line.
pub(crate) fn parted(before: &Word, word: &Word) -> bool {
    let large = before.size.max(word.size);
    let gap = (word.x0 - before.x1).max(before.x0 - word.x1);
    if before.cjk && word.cjk {
        return gap > 0.8 * large;
    }
    // Words that lie over each other are not one word either.
    let (left, right) = if before.x0 <= word.x0 { (before, word) } else { (word, before) };
    let turns = left.right_to_left != right.right_to_left && left.letters > 1 && right.letters > 1;
    // A script over another is a word of its own.
    let stacked = (before.base - word.base).abs() > 0.45 * before.size.min(word.size);
    turns || stacked || left.blank_right || right.blank_left || gap > WORD_GAP * large || gap < -0.3 * large
}

/// The words of a line in the order in which they are read.
fn reading_order(line: &Line) -> Vec<&Word> {
    let mut words = line.words.iter().collect::<Vec<_>>();
    if !words.iter().any(|word| word.right_to_left) {
        return words;
    }
    if line.is_right_to_left() {
        words.reverse();
        turn_runs(&mut words, |word| !word.right_to_left);
    } else {
        turn_runs(&mut words, |word| word.right_to_left);
    }
    words
}

/// Reverses each run of words of the lesser direction.
fn turn_runs(words: &mut [&Word], belongs: impl Fn(&Word) -> bool) {
    for run in words.chunk_by_mut(|one, other| belongs(one) == belongs(other)) {
        if run.first().is_some_and(|word| belongs(word)) {
            run.reverse();
        }
    }
}

/// The glyphs of a right-to-left word in reading order; numbers and Latin letters inside keep theirs.
fn from_right(glyphs: &[Placed]) -> Vec<&Placed> {
    let mut keyed = Vec::with_capacity(glyphs.len());
    let mut base = f32::MAX;
    for placed in glyphs {
        // An accent stays with the letter that it was drawn for.
        if !is_mark(placed.first) {
            base = placed.x0 + placed.x1;
        }
        keyed.push((base, placed));
    }
    keyed.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut ordered = keyed.into_iter().map(|(_, placed)| placed).collect::<Vec<_>>();
    let left = |placed: &Placed| {
        placed.first.is_alphanumeric() && !is_right_to_left(placed.first) || placed.first.is_ascii_digit()
    };
    for run in ordered.chunk_by_mut(|one, other| left(one) == left(other)) {
        if run.first().is_some_and(|placed| left(placed)) {
            run.reverse();
        }
    }
    ordered
}

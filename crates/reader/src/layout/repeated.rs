//! Headers and footers: text that other pages of the file have at the same height.

use super::{
    content::PageContent,
    lines::{rows, segments},
    margins::Margins,
    words::frames,
};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// What some pages of a file have at their edges.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Repeated {
    /// On which of the pages a text is, and at which heights.
    seen: HashMap<String, Vec<(usize, f32)>>,
    pages: usize,
}

impl Repeated {
    /// Looks at the edges of some pages.
    pub fn look_at(pages: &[PageContent]) -> Self {
        let mut found = Self { pages: pages.len(), ..Self::default() };
        for (page, content) in pages.iter().enumerate() {
            let margins = Margins::of(content);
            let mut edge = content.clone_edges(margins.top, margins.bottom);
            edge.rules.clear();
            for frame in frames(&edge).iter().filter(|frame| frame.angle == 0) {
                for line in rows(segments(frame)) {
                    for part in &segments_of(&line) {
                        let key = key(&text_of(&edge, frame, part));
                        if !key.is_empty() {
                            found.seen.entry(key).or_default().push((page, line.base));
                        }
                    }
                }
            }
        }
        found
    }

    /// Whether there is no more than one other page to compare with: then chance, or the same form twice, is likely.
    pub(crate) fn is_weak(&self) -> bool {
        self.pages < 3
    }

    /// Whether more pages than this one have the text at about that height.
    pub(crate) fn has(&self, text: &str, base: f32) -> bool {
        let least = if self.pages <= 3 { 2 } else { self.pages / 2 };
        let Some(places) = self.seen.get(&key(text)) else { return false };
        let near = places.iter().filter(|(_, height)| (height - base).abs() < 6.0).map(|(page, _)| *page);
        near.collect::<HashSet<_>>().len() >= least
    }
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

fn text_of(content: &PageContent, frame: &super::words::Frame, words: &[super::words::Word]) -> String {
    let mut text = String::new();
    for word in words {
        let glyphs = frame.glyphs.get(word.range()).unwrap_or_default();
        for glyph in glyphs.iter().filter_map(|placed| content.glyphs.get(placed.glyph as usize)) {
            text.push_str(content.glyph_text(glyph));
        }
    }
    text
}

/// Letters as they are, any number as one sign, nothing else.
fn key(text: &str) -> String {
    let mut key = String::with_capacity(text.len());
    for character in text.chars().filter(|character| character.is_alphanumeric()) {
        if character.is_numeric() {
            if !key.ends_with('#') {
                key.push('#');
            }
        } else {
            key.extend(character.to_lowercase());
        }
    }
    key
}

impl PageContent {
    /// Only the glyphs above and below the two heights.
    fn clone_edges(&self, top: f32, bottom: f32) -> Self {
        let at_edge = self.glyphs.iter().filter(|glyph| glyph.origin.1 < top || glyph.origin.1 > bottom);
        Self { size: self.size, glyphs: at_edge.copied().collect(), text: self.text.clone(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn page_numbers_are_the_same_text() {
        assert_eq!(key("Page 3 of 12"), key("Page 14 of 12"));
        assert_eq!(key("– 7 –"), "#");
    }
}

//! Marked content: hidden layers, the text that a producer gives for what is drawn, and what belongs to the page rather
//! than to its text.

use super::strings::text_string;
use crate::layout::{Glyph, GlyphFlags, PageContent};
use hayro_syntax::object::{self, Dict, Name};

#[derive(Debug, Default)]
pub(super) struct Marks {
    open: Vec<Mark>,
    hiding: usize,
    paging: usize,
}

#[derive(Debug)]
struct Mark {
    hides: bool,
    paging: bool,
    /// What the glyphs inside say, whatever their codes mean.
    actual_text: Option<String>,
    first_glyph: usize,
}

impl Marks {
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) fn hides(&self) -> bool {
        self.hiding > 0
    }

    /// Whether the producer says that this is a header or footer.
    pub(super) fn is_paging(&self) -> bool {
        self.paging > 0
    }

    pub(super) fn begin(&mut self, tag: &Name<'_>, properties: Option<&Dict<'_>>, hides: bool, content: &PageContent) {
        let actual = properties.and_then(|properties| properties.get::<object::String<'_>>(b"ActualText"));
        let paging = tag.as_ref() == b"Artifact"
            && properties
                .and_then(|dict| dict.get::<Name<'_>>(b"Type"))
                .is_some_and(|kind| kind.as_ref() == b"Pagination");
        self.hiding += usize::from(hides);
        self.paging += usize::from(paging);
        self.open.push(Mark {
            hides,
            paging,
            actual_text: actual.map(|text| text_string(text.as_bytes())),
            first_glyph: content.glyphs.len(),
        });
    }

    pub(super) fn end(&mut self, content: &mut PageContent) {
        let Some(mark) = self.open.pop() else { return };
        self.hiding -= usize::from(mark.hides);
        self.paging -= usize::from(mark.paging);
        if let Some(text) = mark.actual_text {
            replace(content, mark.first_glyph, &text);
        }
    }
}

/// Lets the glyphs from `first` on say `text`.
fn replace(content: &mut PageContent, first: usize, text: &str) {
    let Some(glyphs) = content.glyphs.get(first..) else { return };
    let Some((head, tail)) = glyphs.split_first() else { return };
    // Where one text stands for several lines, nothing says which part stands where.
    if tail.iter().any(|glyph| {
        (glyph.origin.1 - head.origin.1).abs() > head.size && (glyph.origin.0 - head.origin.0).abs() > head.size
    }) {
        return;
    }
    let said = glyphs.iter().map(|glyph| content.glyph_text(glyph)).collect::<String>();
    if said == text || (text.len() > 255 && !said.contains('\u{FFFD}')) {
        return;
    }
    let text = text.trim_matches('\0');
    let length = u8::try_from(text.len()).unwrap_or(0);
    let Ok(text_start) = u32::try_from(content.text.len()) else { return };
    let blank = text.trim().is_empty();
    let bbox = tail.iter().fold(head.bbox, |bbox, glyph| bbox.union(&glyph.bbox));
    let advance = if head.angle % 180 == 0 { bbox.width() } else { bbox.height() };
    let replaced = Glyph {
        text_start,
        text_length: length,
        flags: GlyphFlags::default()
            .with(GlyphFlags::INVISIBLE, head.flags.has(GlyphFlags::INVISIBLE))
            .with(GlyphFlags::PAGING, head.flags.has(GlyphFlags::PAGING))
            .with(GlyphFlags::BLANK, blank),
        bbox,
        advance,
        ..*head
    };
    content.text.push_str(if length == 0 { "" } else { text });
    content.glyphs.truncate(first);
    if length > 0 {
        content.glyphs.push(replaced);
    }
}

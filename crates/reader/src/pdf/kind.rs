//! What a page is: text, a scan, both or nothing; and why.

use super::{code_pages, fonts::is_private};
use crate::{
    layout::{GlyphFlags, PageContent},
    model::{PageKind, ReadBy, Rect},
};

/// What was decided, with the reason in one sentence.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) kind: PageKind,
    pub(super) read_by: ReadBy,
    pub(super) reason: String,
    /// Of a text layer that cannot be trusted.
    pub(super) confidence: Option<f32>,
}

/// A text layer with more glyphs without a meaning than this cannot be used.
const MOST_UNKNOWN: f32 = 0.3;
/// A few odd signs are no text of another code page.
const FEWEST_FOREIGN: usize = 16;
/// So many drawn shapes on a page without text may be letters drawn as outlines.
const MANY_SHAPES: usize = 200;

pub(super) fn decide(content: &PageContent) -> Decision {
    let mut letters = 0usize;
    let mut unknown = 0usize;
    let mut invisible = 0usize;
    let mut guessed = Guesses::default();
    for glyph in content.glyphs.iter().filter(|glyph| !glyph.flags.has(GlyphFlags::BLANK)) {
        letters += 1;
        invisible += usize::from(glyph.flags.has(GlyphFlags::INVISIBLE));
        if glyph.flags.has(GlyphFlags::GUESSED) {
            guessed.add(content.glyph_text(glyph));
        }
        let private = content.glyph_text(glyph).chars().next().is_some_and(is_private);
        unknown += usize::from(private || glyph.flags.has(GlyphFlags::UNMAPPED));
    }
    if !guessed.are_likely() {
        unknown += guessed.all;
    }
    let foreign = code_pages::foreign(content);
    let pictures = covered(content);
    let percent = |part: f32| format!("{:.0} %", part * 100.0);
    if letters == 0 {
        return empty(content, pictures);
    }
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
    let (unknown_share, invisible_share) = (unknown as f32 / letters as f32, invisible as f32 / letters as f32);
    if unknown_share > MOST_UNKNOWN && letters >= 8 {
        return Decision {
            kind: PageKind::Scan,
            read_by: ReadBy::Embedded,
            reason: format!(
                "the text layer is unusable: the file does not say what {} of its letters mean",
                percent(unknown_share)
            ),
            confidence: Some(1.0 - unknown_share),
        };
    }
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
    let foreign_share = foreign as f32 / letters as f32;
    if foreign_share > MOST_UNKNOWN && foreign >= FEWEST_FOREIGN {
        return Decision {
            kind: PageKind::Scan,
            read_by: ReadBy::Embedded,
            reason: format!(
                "the text layer is unusable: {} of its letters are of another code page than the file says",
                percent(foreign_share)
            ),
            confidence: Some(1.0 - foreign_share),
        };
    }
    let (kind, reason) = if invisible_share > 0.9 && pictures > 0.5 {
        (PageKind::Text, "the page is a scan with a text layer from an earlier OCR".to_owned())
    } else if pictures > 0.4 && letters < 150 {
        (
            PageKind::Mixed,
            format!("the page has {letters} letters of text, and pictures on {} of it", percent(pictures)),
        )
    } else {
        let reason = match content.code_page {
            Some(code_page) => {
                format!("the text of the page is in the file, in {code_page}, which the file does not say")
            }
            None => "the text of the page is in the file".to_owned(),
        };
        (PageKind::Text, reason)
    };
    Decision { kind, read_by: ReadBy::Embedded, reason, confidence: None }
}

/// Glyphs whose codes were taken for characters.
#[derive(Debug, Default)]
struct Guesses {
    all: usize,
    letters: usize,
    vowels: usize,
}

impl Guesses {
    fn add(&mut self, text: &str) {
        self.all += 1;
        self.letters += usize::from(text.bytes().all(|byte| byte.is_ascii_alphabetic()));
        self.vowels += usize::from(matches!(text, "a" | "e" | "i" | "o" | "u" | "A" | "E" | "I" | "O" | "U"));
    }

    /// Text has mostly letters, and a third of them are vowels; codes that were given out by chance have not.
    fn are_likely(&self) -> bool {
        self.letters * 5 >= self.all * 3 && self.vowels * 9 >= self.letters * 2 && self.vowels * 5 <= self.letters * 3
    }
}

fn empty(content: &PageContent, pictures: f32) -> Decision {
    let (kind, reason) = if pictures > 0.03 {
        (PageKind::Scan, format!("the page has no text, and pictures on {:.0} % of it", pictures * 100.0))
    } else if content.shapes > MANY_SHAPES {
        (PageKind::Scan, format!("the page has no text, but {} shapes that may be letters", content.shapes))
    } else {
        (PageKind::Blank, "the page has neither text nor pictures".to_owned())
    };
    Decision { kind, read_by: ReadBy::Nothing, reason, confidence: None }
}

/// How much of the page is under pictures, from 0 to 1. Scans come in strips, so areas are added up.
fn covered(content: &PageContent) -> f32 {
    let page = content.size.width * content.size.height;
    let area = content.images.iter().map(Rect::area).sum::<f32>();
    if page > 0.0 { (area / page).min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{layout::Glyph, model::Size};

    fn page(letters: usize, flags: GlyphFlags, picture: f32) -> PageContent {
        let glyph = Glyph {
            text_start: 0,
            text_length: 1,
            flags,
            font: 0,
            angle: 0,
            size: 10.0,
            origin: (0.0, 10.0),
            advance: 5.0,
            bbox: Rect::default(),
            colour: 0,
        };
        PageContent {
            size: Size { width: 100.0, height: 100.0 },
            glyphs: vec![glyph; letters],
            text: "a".to_owned(),
            images: vec![Rect::new(0.0, 0.0, 100.0, 100.0 * picture)],
            ..PageContent::default()
        }
    }

    #[test]
    fn text_of_another_code_page_is_not_trusted() {
        let text = "¹ØÓÚ¼ÓÇ¿¸Û¿Ú¹ÜÀíµÄÍ¨Öª";
        let mut page = page(text.chars().count(), GlyphFlags::default(), 0.0);
        page.text = text.to_owned();
        for (glyph, (start, sign)) in page.glyphs.iter_mut().zip(text.char_indices()) {
            glyph.text_start = u32::try_from(start).unwrap_or(0);
            glyph.text_length = u8::try_from(sign.len_utf8()).unwrap_or(0);
        }
        let decision = decide(&page);
        assert_eq!(decision.kind, PageKind::Scan);
        assert!(decision.reason.contains("100 % of its letters are of another code page"), "{}", decision.reason);
    }

    #[test]
    fn pages_are_told_apart() {
        let plain = GlyphFlags::default();
        assert_eq!(decide(&page(500, plain, 0.0)).kind, PageKind::Text);
        assert_eq!(decide(&page(20, plain, 0.9)).kind, PageKind::Mixed);
        assert_eq!(decide(&page(0, plain, 0.9)).kind, PageKind::Scan);
        assert_eq!(decide(&page(0, plain, 0.0)).kind, PageKind::Blank);
        assert_eq!(decide(&page(500, GlyphFlags::INVISIBLE, 1.0)).kind, PageKind::Text);
        let bad = decide(&page(500, GlyphFlags::UNMAPPED, 1.0));
        assert_eq!((bad.kind, bad.confidence), (PageKind::Scan, Some(0.0)));
    }
}

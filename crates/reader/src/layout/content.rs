//! What a page shows before anybody tries to make sense of it: glyphs, ruled lines, filled areas, pictures and links,
//! all in points from the top left corner of the page as it is shown.
//!
//! A page may hold a hundred thousand glyphs, so a glyph owns no text: it names a range of [`PageContent::text`].

use crate::model::{Rect, Size};
use std::sync::Arc;

#[derive(Debug, Clone, Default)]
pub struct PageContent {
    pub size: Size,
    /// By how many degrees, clockwise, the page was turned. Everything here is already turned.
    pub rotation: u16,
    /// In the order in which the page draws them.
    pub glyphs: Vec<Glyph>,
    /// What the glyphs say; see [`PageContent::glyph_text`].
    pub text: String,
    pub fonts: Vec<Arc<FontFacts>>,
    /// Thin straight lines along the page's axes: strokes, thin filled boxes and the edges of stroked boxes.
    pub rules: Vec<Rule>,
    /// Filled boxes that are too thick to be lines.
    pub fills: Vec<Fill>,
    /// Where pictures are.
    pub images: Vec<Rect>,
    pub links: Vec<Link>,
    /// How many curved or slanted shapes the page draws: many of them and no glyphs may be text drawn as outlines.
    pub shapes: usize,
    /// Where those are that are larger than a letter.
    pub drawings: Vec<Rect>,
    /// The legacy code page in which the text was written, where the file says that it is Latin.
    pub code_page: Option<&'static str>,
    /// What could not be read, one sentence each.
    pub warnings: Vec<String>,
}

/// One glyph where it is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Glyph {
    pub text_start: u32,
    pub text_length: u8,
    pub flags: GlyphFlags,
    /// Into [`PageContent::fonts`].
    pub font: u16,
    /// The direction in which the text runs, in degrees clockwise: 0 is to the right, 90 down the page.
    pub angle: i16,
    /// The font size as shown.
    pub size: f32,
    /// Where the glyph stands on its baseline.
    pub origin: (f32, f32),
    /// How far the text goes on along its direction, without added letter or word spacing.
    pub advance: f32,
    /// From the font's ascent to its descent, over the advance.
    pub bbox: Rect,
    /// Red, green, blue from the highest of the lower 24 bits.
    pub colour: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GlyphFlags(u8);

impl GlyphFlags {
    /// Drawn without ink: the text layer of a scan.
    pub const INVISIBLE: Self = Self(1);
    /// The file does not say what the glyph means; its text is U+FFFD.
    pub const UNMAPPED: Self = Self(2);
    /// Written from top to bottom.
    pub const VERTICAL: Self = Self(4);
    /// Nothing but space.
    pub const BLANK: Self = Self(8);
    /// The producer says that it belongs to a header or footer.
    pub const PAGING: Self = Self(16);
    /// The file does not say what the glyph means; its code was taken for a character.
    pub const GUESSED: Self = Self(32);

    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    #[must_use]
    pub fn with(self, other: Self, set: bool) -> Self {
        if set { Self(self.0 | other.0) } else { self }
    }
}

/// What is known of a font, once for all its glyphs.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "looks are independent of each other")]
pub struct FontFacts {
    /// Without the prefix of a subset.
    pub name: String,
    pub bold: bool,
    pub italic: bool,
    pub monospace: bool,
    pub serif: bool,
    /// In parts of the font size, above the baseline.
    pub ascent: f32,
    /// In parts of the font size, below the baseline; not above 0.
    pub descent: f32,
}

/// A thin straight line along an axis of the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Between its two ends; the middle of its thickness.
    pub from: (f32, f32),
    pub to: (f32, f32),
    pub thickness: f32,
    pub colour: u32,
}

impl Rule {
    pub fn is_horizontal(&self) -> bool {
        (self.to.0 - self.from.0).abs() >= (self.to.1 - self.from.1).abs()
    }

    pub fn length(&self) -> f32 {
        (self.to.0 - self.from.0).abs().max((self.to.1 - self.from.1).abs())
    }

    /// With its thickness.
    pub fn bbox(&self) -> Rect {
        let half = self.thickness / 2.0;
        let line = Rect::new(self.from.0, self.from.1, self.to.0, self.to.1);
        if self.is_horizontal() {
            Rect { y0: line.y0 - half, y1: line.y1 + half, ..line }
        } else {
            Rect { x0: line.x0 - half, x1: line.x1 + half, ..line }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fill {
    pub bbox: Rect,
    pub colour: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    pub bbox: Rect,
    /// An address.
    pub target: String,
}

impl PageContent {
    /// What a glyph says; a ligature says several letters.
    pub fn glyph_text(&self, glyph: &Glyph) -> &str {
        let start = glyph.text_start as usize;
        self.text.get(start..start + usize::from(glyph.text_length)).unwrap_or_default()
    }
}

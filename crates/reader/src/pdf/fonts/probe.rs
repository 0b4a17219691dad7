//! Asks the renderer what the codes of a font mean: it reads the font's program, which costs time but knows every
//! built-in encoding and glyph name. The answer is plain data.

use super::FontPlace;
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, SoftMask,
    font::{Glyph, GlyphRun},
    hayro_cmap::BfString,
    interpret,
    kurbo::{Affine, BezPath, Rect},
};
use hayro_syntax::content::TypedIter;
use std::fmt::Write as _;

/// What the renderer knows of a code.
#[derive(Debug, Clone)]
pub(super) struct Probed {
    pub(super) text: Option<String>,
    /// In parts of the font size.
    pub(super) width: f32,
}

/// All 256 codes of a simple font.
pub(super) fn simple_font(place: &FontPlace<'_, '_>) -> Vec<Option<Probed>> {
    let mut content = String::with_capacity(600);
    content.push_str("BT /");
    for byte in place.name {
        // Any byte may be written as a number, so none has to be understood.
        let _ = write!(content, "#{byte:02X}");
    }
    content.push_str(" 1 Tf <");
    for code in 0..=255u8 {
        let _ = write!(content, "{code:02X}");
    }
    content.push_str("> Tj ET");

    let mut collector = Collector { found: vec![None; 256] };
    let page = Rect::new(0.0, 0.0, 1000.0, 1000.0);
    let cache = InterpreterCache::new();
    let mut context = Context::new(Affine::IDENTITY, page, &cache, place.xref, InterpreterSettings::default());
    interpret(TypedIter::new(content.as_bytes()), place.resources, &mut context, &mut collector);
    collector.found
}

struct Collector {
    found: Vec<Option<Probed>>,
}

impl<'a> Device<'a> for Collector {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, _: DrawProps<'a>, _: &DrawMode) {
        for glyph in run.glyphs() {
            let width = match &**glyph {
                Glyph::Outline(outline) => outline.advance_width(),
                Glyph::Type3(_) => None,
            };
            let text = glyph.as_unicode().map(|text| match text {
                BfString::Char(character) => character.to_string(),
                BfString::String(text) => text,
            });
            let text = text.filter(|text| !text.chars().all(|character| character == '\0'));
            if let Some(slot) = self.found.get_mut(glyph.char_code() as usize) {
                *slot = Some(Probed { text, width: width.unwrap_or(0.0) / 1000.0 });
            }
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

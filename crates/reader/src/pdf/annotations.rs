//! What lies on a page: the values of form fields, text boxes, and what reviewers wrote.

use super::{interpreter::Interpreter, matrix::Matrix, paths::rect, state::State, streams, strings};
use crate::{
    layout::{FontFacts, Glyph, GlyphFlags},
    model::{Block, BlockKind, Inlines, Rect, Role},
};
use hayro_syntax::{
    object::{self, Array, Dict, Name, Object, Stream},
    page::{Page, Resources},
};
use std::{rc::Rc, sync::Arc};

const MOST_ANNOTATIONS: usize = 20_000;
const HIDDEN: u32 = 1 << 1;
const NO_VIEW: u32 = 1 << 5;

fn each(page: &Page<'_>, mut visit: impl FnMut(&Dict<'_>, &[u8])) {
    let Some(annotations) = page.raw().get::<Array<'_>>(b"Annots") else { return };
    for annotation in annotations.iter::<Dict<'_>>().take(MOST_ANNOTATIONS) {
        let hidden = annotation.get::<u32>(b"F").unwrap_or(0) & (HIDDEN | NO_VIEW) != 0;
        if let Some(subtype) = annotation.get::<Name<'_>>(b"Subtype").filter(|_| !hidden) {
            visit(&annotation, subtype.as_ref());
        }
    }
}

/// Draws what form fields and text boxes show. Fields without a drawn value show the value itself.
pub(super) fn draw<'a>(
    page: &Page<'a>,
    interpreter: &mut Interpreter<'_, 'a>,
    state: &State,
    resources: &Rc<Resources<'a>>,
) {
    let Some(annotations) = page.raw().get::<Array<'a>>(b"Annots") else { return };
    let mut values = Vec::new();
    for annotation in annotations.iter::<Dict<'a>>().take(MOST_ANNOTATIONS) {
        let hidden = annotation.get::<u32>(b"F").unwrap_or(0) & (HIDDEN | NO_VIEW) != 0;
        let Some(subtype) = annotation.get::<Name<'_>>(b"Subtype").filter(|_| !hidden) else { continue };
        let field = subtype.as_ref() == b"Widget";
        if !field && !matches!(subtype.as_ref(), b"FreeText" | b"Stamp") {
            continue;
        }
        let Some(bounds) = annotation.get::<[f32; 4]>(b"Rect") else { continue };
        let bounds = bounds.map(f64::from);
        let before = interpreter.content.glyphs.len();
        if let Some(stream) = appearance(&annotation) {
            let placed = place(&stream, bounds).then(&state.ctm);
            if placed.is_finite() {
                interpreter.form(&stream, resources, &State { ctm: placed, ..*state });
            }
        }
        if field
            && interpreter.content.glyphs.len() == before
            && let Some(value) = field_value(&annotation)
        {
            values.push((rect(state.ctm.bounds(bounds)), value));
        }
    }
    for (bounds, value) in values {
        interpreter.write_value(bounds, &value);
    }
}

fn appearance<'a>(annotation: &Dict<'a>) -> Option<Stream<'a>> {
    match annotation.get::<Dict<'a>>(b"AP")?.get::<Object<'a>>(b"N")? {
        Object::Stream(stream) => Some(stream),
        Object::Dict(states) => states.get::<Stream<'a>>(annotation.get::<Name<'_>>(b"AS")?),
        _ => None,
    }
}

/// Fits the box of an appearance into the rectangle of its annotation.
fn place(stream: &Stream<'_>, bounds: [f64; 4]) -> Matrix {
    let dict = stream.dict();
    let matrix = dict.get::<[f32; 6]>(b"Matrix").map_or(Matrix::IDENTITY, |matrix| Matrix::new(matrix.map(f64::from)));
    let own = dict.get::<[f32; 4]>(b"BBox").map_or(bounds, |bounds| bounds.map(f64::from));
    let own = matrix.bounds(own);
    let (x0, y0) = (bounds[0].min(bounds[2]), bounds[1].min(bounds[3]));
    let scale = |target: f64, source: f64| if source > 0.0 { target / source } else { 1.0 };
    let sx = scale((bounds[2] - bounds[0]).abs(), own[2] - own[0]);
    let sy = scale((bounds[3] - bounds[1]).abs(), own[3] - own[1]);
    Matrix::new([sx, 0.0, 0.0, sy, x0 - sx * own[0], y0 - sy * own[1]])
}

/// What was put into a field of text or choice; it may stand with the field's parent.
fn field_value(annotation: &Dict<'_>) -> Option<String> {
    let parent = annotation.get::<Dict<'_>>(b"Parent");
    let find = |key: &[u8]| annotation.get::<Object<'_>>(key).or_else(|| parent.as_ref()?.get::<Object<'_>>(key));
    let kind = find(b"FT")?.into_name()?;
    if !matches!(kind.as_ref(), b"Tx" | b"Ch") {
        return None;
    }
    match find(b"V")? {
        Object::String(value) => strings::line(value.as_bytes()),
        Object::Stream(value) => strings::line(&streams::unpack(&value, 1 << 20)?),
        _ => None,
    }
}

impl Interpreter<'_, '_> {
    /// A value that is not drawn stands in its field, as one glyph with all its text.
    fn write_value(&mut self, bounds: Rect, value: &str) {
        let Ok(text_start) = u32::try_from(self.content.text.len()) else { return };
        let mut end = value.len().min(255);
        while !value.is_char_boundary(end) {
            end -= 1;
        }
        let value = value.get(..end).unwrap_or_default();
        let Ok(font) = u16::try_from(self.fonts.len()) else { return };
        self.plain_font = true;
        let size = (0.7 * bounds.height()).clamp(4.0, 12.0);
        self.content.text.push_str(value);
        self.content.glyphs.push(Glyph {
            text_start,
            text_length: u8::try_from(value.len()).unwrap_or(0),
            flags: GlyphFlags::default(),
            font,
            angle: 0,
            size,
            origin: (bounds.x0 + 2.0, bounds.y1 - 0.3 * bounds.height()),
            advance: (bounds.width() - 4.0).max(1.0),
            bbox: bounds,
            colour: 0,
        });
    }
}

/// What reviewers wrote, each as a block of its own.
pub(super) fn comments(page: &Page<'_>, transform: &Matrix) -> Vec<Block> {
    let mut blocks = Vec::new();
    each(page, |annotation, subtype| {
        if !matches!(
            subtype,
            b"Text" | b"Highlight" | b"Underline" | b"StrikeOut" | b"Squiggly" | b"Caret" | b"Square" | b"Circle"
        ) {
            return;
        }
        let contents =
            annotation.get::<object::String<'_>>(b"Contents").map(|text| strings::text_string(text.as_bytes()));
        let Some(contents) =
            contents.map(|text| text.replace("\r\n", "\n").replace('\r', "\n")).filter(|text| !text.trim().is_empty())
        else {
            return;
        };
        let author = annotation.get::<object::String<'_>>(b"T").and_then(|author| strings::line(author.as_bytes()));
        let text = match author {
            Some(author) => format!("{author}: {}", contents.trim()),
            None => contents.trim().to_owned(),
        };
        let bbox = annotation.get::<[f32; 4]>(b"Rect").map(|bounds| rect(transform.bounds(bounds.map(f64::from))));
        blocks.push(Block { kind: BlockKind::Paragraph { text: Inlines::plain(text) }, role: Role::Comment, bbox });
    });
    blocks
}

/// What is known of the font of a value: nothing.
pub(super) fn plain_facts() -> Arc<FontFacts> {
    Arc::new(FontFacts { name: String::new(), ascent: 0.8, descent: -0.2, ..FontFacts::default() })
}

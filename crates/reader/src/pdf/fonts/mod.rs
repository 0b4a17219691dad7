//! What the codes of a PDF's text mean and how wide they are.
//!
//! A page's text needs no glyph outlines, so font programs are left alone unless the file says in no other way what a
//! code means. What was found is plain data, shared by all pages and threads of a file.

mod cid_text;
mod composite;
mod facts;
mod names;
mod probe;
mod sfnt;
mod simple;

pub(super) use names::is_private;

use crate::layout::FontFacts;
use hayro_syntax::{
    object::{Dict, Name},
    page::Resources,
    xref::XRef,
};
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// A font as text needs it.
#[derive(Debug)]
pub(super) struct Font {
    pub(super) facts: Arc<FontFacts>,
    /// How large its letters are at size 1: Type 3 fonts may be of any size.
    pub(super) em: f64,
    /// Its letters stand on their heads, for text that does so too.
    pub(super) flipped: bool,
    codes: Codes,
}

#[derive(Debug)]
enum Codes {
    Simple(Box<simple::SimpleCodes>),
    Composite(Box<composite::CompositeCodes>),
}

/// One code of a shown string.
#[derive(Debug, Clone, Copy)]
pub(super) struct Code {
    pub(super) value: u32,
    /// How many bytes it took.
    pub(super) length: usize,
}

/// How sure it is what a code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    Known,
    /// Nothing says it, but the code itself is a printable character.
    Guessed,
    Unknown,
}

/// How far a vertical glyph goes, and where it hangs from its origin; in parts of the font size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vertical {
    pub(super) advance: f32,
    pub(super) hang: (f32, f32),
}

impl Font {
    /// The next code of a string; `bytes` is not empty.
    pub(super) fn next_code(&self, bytes: &[u8]) -> Code {
        match &self.codes {
            Codes::Simple(_) => Code { value: bytes.first().copied().unwrap_or(0).into(), length: 1 },
            Codes::Composite(codes) => codes.next_code(bytes),
        }
    }

    /// In parts of the font size.
    pub(super) fn width(&self, code: Code) -> f32 {
        match &self.codes {
            Codes::Simple(codes) => codes.width(code.value),
            Codes::Composite(codes) => codes.width(code),
        }
    }

    pub(super) fn is_vertical(&self) -> bool {
        match &self.codes {
            Codes::Simple(_) => false,
            Codes::Composite(codes) => codes.is_vertical(),
        }
    }

    /// None for horizontal writing.
    pub(super) fn vertical(&self, code: Code) -> Option<Vertical> {
        match &self.codes {
            Codes::Simple(_) => None,
            Codes::Composite(codes) => codes.vertical(code),
        }
    }

    /// Appends what the code means; nothing if that is not known.
    pub(super) fn write_text(&self, code: Code, text: &mut String, place: &FontPlace<'_, '_>) -> Certainty {
        match &self.codes {
            Codes::Simple(codes) => codes.write_text(code.value, text, place),
            Codes::Composite(codes) => codes.write_text(code, text),
        }
    }

    fn stand_in() -> Self {
        let facts =
            Arc::new(FontFacts { name: "Helvetica".to_owned(), ascent: 0.8, descent: -0.2, ..FontFacts::default() });
        Self { facts, em: 1.0, flipped: false, codes: Codes::Simple(Box::new(simple::SimpleCodes::stand_in())) }
    }

    fn load<'a>(dict: &Dict<'a>, place: &FontPlace<'_, 'a>) -> Self {
        let composite = dict.get::<Name<'_>>(b"Subtype").is_some_and(|name| name.as_ref() == b"Type0");
        let descendant = composite.then(|| composite::descendant(dict)).flatten();
        let facts = Arc::new(facts::read(dict, descendant.as_ref()));
        let codes = match descendant {
            Some(descendant) => Codes::Composite(Box::new(composite::CompositeCodes::read(dict, &descendant))),
            None => Codes::Simple(Box::new(simple::SimpleCodes::read(dict, place))),
        };
        let (em, flipped) = if simple::is_type3(dict) { simple::type3_em(dict) } else { (1.0, false) };
        Self { facts, em, flipped, codes }
    }
}

/// Where a font was named, in case the renderer has to be asked about it.
pub(super) struct FontPlace<'p, 'a> {
    pub(super) name: &'p [u8],
    pub(super) resources: &'p Resources<'a>,
    pub(super) xref: &'a XRef,
}

/// The fonts of a file, each read once.
#[derive(Debug, Default)]
pub(super) struct FontCache {
    known: Mutex<HashMap<u64, Arc<Font>>>,
    stand_in: OnceLock<Arc<Font>>,
}

impl FontCache {
    /// The font of that name. Viewers show text in a font that is missing in another one, so it is read here too.
    pub(super) fn font(&self, place: &FontPlace<'_, '_>) -> Arc<Font> {
        let Some(dict) = place.resources.fonts.get::<Dict<'_>>(place.name) else {
            return Arc::clone(self.stand_in.get_or_init(|| Arc::new(Font::stand_in())));
        };
        let mut hasher = DefaultHasher::new();
        // Fonts that are written into another object have its number, so the number alone does not tell them apart.
        dict.obj_id().hash(&mut hasher);
        dict.data().hash(&mut hasher);
        let key = hasher.finish();
        if let Some(font) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Arc::clone(font);
        }
        // Read without the lock: two threads may do it twice, but nobody waits for a large font.
        let font = Arc::new(Font::load(&dict, place));
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&font));
        font
    }
}

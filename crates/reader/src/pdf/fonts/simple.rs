//! Fonts with one byte a code: Type 1, `TrueType` and Type 3.

use super::{
    Certainty, FontPlace,
    names::{self, Base},
    probe::{self, Probed},
};
use crate::pdf::streams;
use hayro_interpret::hayro_cmap::{BfString, CMap, load_embedded};
use hayro_syntax::object::{Array, Dict, Name, Object, Stream};
use std::sync::OnceLock;

/// What a code means.
#[derive(Debug, Clone, PartialEq, Default)]
enum Meaning {
    #[default]
    Unknown,
    Character(char),
    Characters(Box<str>),
}

#[derive(Debug)]
pub(super) struct SimpleCodes {
    meanings: Vec<Meaning>,
    widths: Vec<f32>,
    /// What the renderer says; asked only once a code is shown that nothing else explains.
    probed: OnceLock<Vec<Option<Probed>>>,
}

impl SimpleCodes {
    pub(super) fn width(&self, code: u32) -> f32 {
        self.widths.get(code as usize).copied().unwrap_or(0.0)
    }

    pub(super) fn write_text(&self, code: u32, text: &mut String, place: &FontPlace<'_, '_>) -> Certainty {
        match self.meanings.get(code as usize) {
            Some(Meaning::Character(character)) => text.push(*character),
            Some(Meaning::Characters(characters)) => text.push_str(characters),
            _ => {
                let probed = self.probed.get_or_init(|| probe::simple_font(place));
                let found = probed.get(code as usize).and_then(|found| found.as_ref()?.text.as_deref());
                match (found, u8::try_from(code)) {
                    (Some(found), _) => text.push_str(found),
                    // Glyphs with names of their own, in fonts that were put together by hand, often keep their codes.
                    (None, Ok(code @ 0x21..=0x7E)) => {
                        text.push(char::from(code));
                        return Certainty::Guessed;
                    }
                    _ => return Certainty::Unknown,
                }
            }
        }
        Certainty::Known
    }

    /// For a font that is missing: Latin letters with about the widths that they usually have.
    pub(super) fn stand_in() -> Self {
        let characters = (0..=255u8).map(|code| Base::WinAnsi.character(code));
        let width = |character: char| match character {
            'i' | 'j' | 'l' | 't' | 'f' | 'I' | ' ' | '.' | ',' | ':' | ';' | '!' | '\'' | '|' | '(' | ')' | '['
            | ']' => 0.278,
            'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.833,
            character if character.is_uppercase() => 0.667,
            _ => 0.556,
        };
        let widths = characters.clone().map(|character| character.map_or(0.0, width)).collect();
        let meanings = characters.map(|character| character.map_or(Meaning::Unknown, Meaning::Character)).collect();
        Self { meanings, widths, probed: OnceLock::from(Vec::new()) }
    }

    pub(super) fn read(dict: &Dict<'_>, place: &FontPlace<'_, '_>) -> Self {
        let type3 = is_type3(dict);
        let descriptor = dict.get::<Dict<'_>>(b"FontDescriptor").unwrap_or_default();
        let embedded =
            [b"FontFile".as_slice(), b"FontFile2", b"FontFile3"].iter().any(|key| descriptor.contains_key(key));

        let mut meanings = vec![Meaning::Unknown; 256];
        // Names that the small table does not know are left to the renderer, which knows them all.
        read_encoding(dict, embedded || type3, &mut meanings);
        read_to_unicode(dict, &mut meanings);

        let probed = OnceLock::new();
        let widths = if dict.contains_key(b"Widths") {
            read_widths(dict, &descriptor, type3)
        } else {
            let glyphs = probed.get_or_init(|| probe::simple_font(place));
            glyphs.iter().map(|glyph| glyph.as_ref().map_or(0.0, |glyph| glyph.width)).collect()
        };
        Self { meanings, widths, probed }
    }
}

pub(super) fn is_type3(dict: &Dict<'_>) -> bool {
    dict.get::<Name<'_>>(b"Subtype").is_some_and(|name| name.as_ref() == b"Type3")
}

/// The size of a Type 3 font's letters at size 1, and whether they stand on their heads: from their widths, and from
/// the box around them all where that says much the same.
pub(super) fn type3_em(dict: &Dict<'_>) -> (f64, bool) {
    let matrix = dict.get::<[f32; 6]>(b"FontMatrix").unwrap_or([0.001, 0.0, 0.0, 0.001, 0.0, 0.0]);
    let height =
        dict.get::<[f32; 4]>(b"FontBBox").map_or(0.0, |bounds| (bounds[3] - bounds[1]).abs() * matrix[3].abs());
    let widths = read_widths(dict, &Dict::default(), true);
    let wide = widths.into_iter().filter(|width| *width > 0.0).collect::<Vec<_>>();
    #[expect(clippy::cast_precision_loss, reason = "there are at most 256")]
    let by_width = 2.0 * wide.iter().sum::<f32>() / wide.len().max(1) as f32;
    let em = if height > 0.7 * by_width && height < 2.2 * by_width { height } else { by_width };
    // Near to 1 the size is what the file says it is.
    let em = if em > 0.0 && em.is_finite() && !(0.5..=1.8).contains(&em) { f64::from(em) } else { 1.0 };
    (em, matrix[3] < 0.0)
}

fn read_widths(dict: &Dict<'_>, descriptor: &Dict<'_>, type3: bool) -> Vec<f32> {
    // The widths of a Type 3 font are in the font's own space.
    let unit = if type3 {
        dict.get::<[f32; 6]>(b"FontMatrix").map_or(0.001, |matrix| matrix[0].hypot(matrix[1]))
    } else {
        0.001
    };
    let missing = descriptor.get::<f32>(b"MissingWidth").unwrap_or(0.0);
    let mut widths = vec![missing * unit; 256];
    let first = usize::try_from(dict.get::<i32>(b"FirstChar").unwrap_or(0)).unwrap_or(0);
    if let Some(array) = dict.get::<Array<'_>>(b"Widths") {
        for (slot, width) in widths.iter_mut().skip(first).zip(array.iter::<Object<'_>>()) {
            *slot = width.into_f32().filter(|width| width.is_finite()).unwrap_or(0.0) * unit;
        }
    }
    widths
}

fn read_encoding(dict: &Dict<'_>, own_encoding: bool, meanings: &mut [Meaning]) {
    let mut base = None;
    let mut differences = None;
    match dict.get::<Object<'_>>(b"Encoding") {
        Some(Object::Name(name)) => base = Base::by_name(name.as_ref()),
        Some(Object::Dict(encoding)) => {
            base = encoding.get::<Name<'_>>(b"BaseEncoding").and_then(|name| Base::by_name(name.as_ref()));
            differences = encoding.get::<Array<'_>>(b"Differences");
        }
        _ => {}
    }
    let font_name = dict.get::<Name<'_>>(b"BaseFont");
    let symbols = font_name.is_some_and(|name| {
        let name = name.as_str();
        name.contains("Symbol") || name.contains("Dingbats") || name.contains("Wingdings")
    });
    // Without a base, an embedded font's codes mean what the font itself says.
    let base = base.or((!own_encoding && !symbols).then_some(Base::Standard));
    if let Some(base) = base.filter(|_| !symbols) {
        for (code, slot) in (0..=255u8).zip(meanings.iter_mut()) {
            *slot = base.character(code).map_or(Meaning::Unknown, Meaning::Character);
        }
    }
    let Some(differences) = differences else { return };
    let mut code = 0usize;
    for item in differences.iter::<Object<'_>>() {
        match item {
            Object::Number(number) => code = usize::try_from(number.as_i64()).unwrap_or(256),
            Object::Name(name) => {
                if let Some(slot) = meanings.get_mut(code) {
                    *slot = names::character(name.as_ref()).map_or(Meaning::Unknown, Meaning::Character);
                }
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
}

fn read_to_unicode(dict: &Dict<'_>, meanings: &mut [Meaning]) {
    let Some(cmap) = to_unicode(dict) else { return };
    for (code, slot) in (0u32..).zip(meanings.iter_mut()) {
        let found = match cmap.lookup_bf_string(code) {
            Some(BfString::Char(character)) => Meaning::Character(character),
            Some(BfString::String(text)) => meaning(&text),
            None => continue,
        };
        // A map to nothing or to a private character says less than a glyph's name.
        if *slot == Meaning::Unknown || is_useful(&found) {
            *slot = if is_nothing(&found) { Meaning::Unknown } else { found };
        }
    }
}

/// The map from codes to text that a font brings along.
pub(super) fn to_unicode(dict: &Dict<'_>) -> Option<CMap> {
    let stream = dict.get::<Stream<'_>>(b"ToUnicode")?;
    let data = streams::unpack(&stream, streams::MOST_BYTES)?;
    CMap::parse(&data, load_embedded)
}

fn meaning(text: &str) -> Meaning {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (None, _) => Meaning::Unknown,
        (Some(character), None) => Meaning::Character(character),
        _ => Meaning::Characters(text.into()),
    }
}

fn is_nothing(meaning: &Meaning) -> bool {
    matches!(meaning, Meaning::Unknown | Meaning::Character('\0' | '\u{FFFD}'))
}

fn is_useful(meaning: &Meaning) -> bool {
    match meaning {
        Meaning::Character(character) => !is_nothing(meaning) && !super::names::is_private(*character),
        Meaning::Characters(_) => true,
        Meaning::Unknown => false,
    }
}

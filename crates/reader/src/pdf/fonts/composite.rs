//! Fonts with codes of several bytes: Type 0 with its descendant.

use super::{
    Certainty, Code, Vertical,
    cid_text::{self, CidText},
    names::is_private,
    simple::to_unicode,
};
use crate::pdf::streams;
use hayro_interpret::hayro_cmap::{BfString, CMap, CMapName, CidFamily, WritingMode, load_embedded};
use hayro_syntax::object::{self, Array, Dict, Name, Object, Stream};
use std::collections::HashMap;

/// No font has more; a file that says so is not believed.
const MOST_CIDS: u32 = 0xFFFF;

/// Most `TrueType` fonts have their glyphs in the order of ASCII, the space being the fourth.
const USUAL_ORDER: u32 = 29;

#[derive(Debug)]
pub(super) struct CompositeCodes {
    encoding: Encoding,
    to_unicode: Option<CMap>,
    cid_text: CidText,
    default_width: f32,
    /// By CID; NaN where the default counts.
    widths: Vec<f32>,
    /// Only for vertical writing.
    vertical: Option<VerticalWidths>,
}

#[derive(Debug)]
enum Encoding {
    /// Two bytes, and the code is the CID.
    Identity,
    Map(Box<CMap>),
}

#[derive(Debug)]
struct VerticalWidths {
    default: (f32, f32),
    by_cid: HashMap<u32, [f32; 3]>,
}

/// The font that has the glyphs.
pub(super) fn descendant<'a>(dict: &Dict<'a>) -> Option<Dict<'a>> {
    match dict.get::<Object<'_>>(b"DescendantFonts")? {
        Object::Array(array) => array.iter::<Dict<'_>>().next(),
        Object::Dict(dict) => Some(dict),
        _ => None,
    }
}

impl CompositeCodes {
    pub(super) fn read(dict: &Dict<'_>, descendant: &Dict<'_>) -> Self {
        let (encoding, name) = read_encoding(dict);
        let (is_vertical, named_family) = match &encoding {
            Encoding::Identity => (name.ends_with(b"V"), None),
            Encoding::Map(map) => {
                let metadata = map.metadata();
                let family = metadata.character_collection.as_ref().map(|collection| collection.family.clone());
                (metadata.writing_mode == Some(WritingMode::Vertical), family)
            }
        };
        let family =
            named_family.filter(|family| *family != CidFamily::AdobeIdentity).or_else(|| system_info(descendant));
        let to_unicode = to_unicode(dict).or_else(|| named_to_unicode(dict)).filter(|map| !is_empty(map));
        let by_code = dict.get::<Name<'_>>(b"ToUnicode").is_some_and(|name| name.as_ref().starts_with(b"Identity"));
        let code_is_unicode = by_code || name.starts_with(b"Uni");
        let cid_text = CidText::new(code_is_unicode, family, descendant, to_unicode.is_none());
        let vertical = is_vertical.then(|| VerticalWidths {
            default: descendant
                .get::<[f32; 2]>(b"DW2")
                .map_or((0.88, -1.0), |[y, advance]| (y / 1000.0, advance / 1000.0)),
            by_cid: descendant.get::<Array<'_>>(b"W2").map(|array| read_vertical_widths(&array)).unwrap_or_default(),
        });
        Self {
            encoding,
            to_unicode,
            cid_text,
            default_width: descendant.get::<f32>(b"DW").unwrap_or(1000.0) / 1000.0,
            widths: descendant.get::<Array<'_>>(b"W").map(|array| read_widths(&array)).unwrap_or_default(),
            vertical,
        }
    }

    pub(super) fn next_code(&self, bytes: &[u8]) -> Code {
        match &self.encoding {
            Encoding::Identity => match bytes {
                [high, low, ..] => Code { value: u32::from(*high) << 8 | u32::from(*low), length: 2 },
                _ => Code { value: bytes.first().copied().unwrap_or(0).into(), length: 1 },
            },
            Encoding::Map(map) => {
                let mut value = 0;
                for (byte, length) in bytes.iter().zip(1u8..=4) {
                    value = value << 8 | u32::from(*byte);
                    if map.lookup_cid_code(value, length).is_some() {
                        return Code { value, length: length.into() };
                    }
                }
                Code { value: 0, length: 1 }
            }
        }
    }

    fn cid(&self, code: Code) -> u32 {
        match &self.encoding {
            Encoding::Identity => code.value,
            Encoding::Map(map) => {
                let length = u8::try_from(code.length).unwrap_or(1);
                map.lookup_cid_code(code.value, length).unwrap_or(0)
            }
        }
    }

    pub(super) fn width(&self, code: Code) -> f32 {
        let width = self.widths.get(self.cid(code) as usize).copied().filter(|width| !width.is_nan());
        width.unwrap_or(self.default_width)
    }

    pub(super) fn is_vertical(&self) -> bool {
        self.vertical.is_some()
    }

    pub(super) fn vertical(&self, code: Code) -> Option<Vertical> {
        let vertical = self.vertical.as_ref()?;
        let cid = self.cid(code);
        Some(match vertical.by_cid.get(&cid) {
            Some([advance, x, y]) => Vertical { advance: *advance, hang: (*x, *y) },
            None => Vertical { advance: vertical.default.1, hang: (self.width(code) / 2.0, vertical.default.0) },
        })
    }

    pub(super) fn write_text(&self, code: Code, text: &mut String) -> Certainty {
        let mut private = None;
        match self.to_unicode.as_ref().and_then(|map| map.lookup_bf_string(code.value)) {
            Some(BfString::Char('\0' | '\u{FFFD}')) | None => {}
            Some(BfString::Char(character)) if is_private(character) => private = Some(character),
            Some(BfString::Char(character)) => {
                text.push(character);
                return Certainty::Known;
            }
            Some(BfString::String(characters)) if !characters.is_empty() => {
                text.push_str(&characters);
                return Certainty::Known;
            }
            Some(BfString::String(_)) => {}
        }
        let cid = self.cid(code);
        if self.cid_text.write(code.value, cid, text) {
            return Certainty::Known;
        }
        if let Encoding::Map(map) = &self.encoding
            && let Some(BfString::Char(character)) = map.lookup_bf_string(code.value)
        {
            // Some files give the meaning of codes where their numbers belong.
            text.push(character);
            return Certainty::Known;
        }
        if let Some(character) = private {
            text.push(character);
            return Certainty::Known;
        }
        match u8::try_from(cid.saturating_add(USUAL_ORDER)) {
            Ok(character @ 0x20..=0x7E) => {
                text.push(char::from(character));
                Certainty::Guessed
            }
            _ => Certainty::Unknown,
        }
    }
}

fn read_encoding(dict: &Dict<'_>) -> (Encoding, Vec<u8>) {
    match dict.get::<Object<'_>>(b"Encoding") {
        Some(Object::Name(name)) => {
            let bytes = name.as_ref().to_vec();
            let cmap = match CMapName::from_bytes(&bytes) {
                CMapName::IdentityH | CMapName::IdentityV => None,
                name => load_embedded(name).and_then(|data| CMap::parse(data, load_embedded)),
            };
            (cmap.map_or(Encoding::Identity, |cmap| Encoding::Map(Box::new(cmap))), bytes)
        }
        Some(Object::Stream(stream)) => {
            let data = streams::unpack(&stream, streams::MOST_BYTES);
            let cmap = data.and_then(|data| CMap::parse(&data, load_embedded));
            let name =
                stream.dict().get::<Name<'_>>(b"CMapName").map(|name| name.as_ref().to_vec()).unwrap_or_default();
            (cmap.map_or(Encoding::Identity, |cmap| Encoding::Map(Box::new(cmap))), name)
        }
        _ => (Encoding::Identity, Vec::new()),
    }
}

/// Some files name a predefined map instead of bringing one along.
fn named_to_unicode(dict: &Dict<'_>) -> Option<CMap> {
    if dict.get::<Stream<'_>>(b"ToUnicode").is_some() {
        return None;
    }
    let name = dict.get::<Name<'_>>(b"ToUnicode")?;
    CMap::parse(load_embedded(CMapName::from_bytes(name.as_ref()))?, load_embedded)
}

/// Some files bring a map without a single entry along.
fn is_empty(map: &CMap) -> bool {
    (0..=MOST_CIDS).all(|code| map.lookup_bf_string(code).is_none())
}

fn system_info(descendant: &Dict<'_>) -> Option<CidFamily> {
    let info = descendant.get::<Dict<'_>>(b"CIDSystemInfo")?;
    let registry = info.get::<object::String<'_>>(b"Registry")?;
    let ordering = info.get::<object::String<'_>>(b"Ordering")?;
    Some(cid_text::family(registry.as_bytes(), ordering.as_bytes()))
}

fn read_widths(array: &Array<'_>) -> Vec<f32> {
    let mut widths = Vec::new();
    let mut set = |cid: u32, width: f32| {
        let index = cid as usize;
        if cid <= MOST_CIDS && width.is_finite() {
            if widths.len() <= index {
                widths.resize(index + 1, f32::NAN);
            }
            widths[index] = width / 1000.0;
        }
    };
    let mut items = array.flex_iter();
    loop {
        if let Some((first, list)) = items.next::<(u32, Array<'_>)>() {
            for (offset, width) in (0u32..).zip(list.iter::<f32>()) {
                set(first.saturating_add(offset), width);
            }
        } else if let Some((first, last, width)) = items.next::<(u32, u32, f32)>() {
            for cid in first..=last.min(MOST_CIDS) {
                set(cid, width);
            }
        } else {
            return widths;
        }
    }
}

fn read_vertical_widths(array: &Array<'_>) -> HashMap<u32, [f32; 3]> {
    let mut widths = HashMap::new();
    let mut items = array.flex_iter();
    loop {
        if let Some((first, list)) = items.next::<(u32, Array<'_>)>() {
            let numbers = list.iter::<f32>().map(|number| number / 1000.0).collect::<Vec<_>>();
            for (offset, numbers) in (0u32..).zip(numbers.as_chunks::<3>().0) {
                widths.insert(first.saturating_add(offset), *numbers);
            }
        } else if let Some((first, last, advance, x, y)) = items.next::<(u32, u32, f32, f32, f32)>() {
            for cid in first..=last.min(MOST_CIDS) {
                widths.insert(cid, [advance, x, y].map(|number| number / 1000.0));
            }
        } else {
            return widths;
        }
    }
}

//! What CIDs mean in fonts that do not say it themselves: by the code where it is Unicode already, by Adobe's character
//! collections, by the embedded font's own tables.

use super::sfnt;
use crate::pdf::streams;
use hayro_interpret::hayro_cmap::{BfString, CMap, CMapName, CidFamily, load_embedded};
use hayro_syntax::object::{Dict, Stream};
use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

#[derive(Debug)]
pub(super) struct CidText {
    /// The code is UTF-16, by the name of its encoding or of its map.
    code_is_unicode: bool,
    family: Option<CidFamily>,
    glyphs: Option<HashMap<u32, char>>,
}

impl CidText {
    /// `needed` says that the font brings no map of its own along, so that its program is worth reading.
    pub(super) fn new(code_is_unicode: bool, family: Option<CidFamily>, descendant: &Dict<'_>, needed: bool) -> Self {
        let family = family.filter(|family| family.ucs2_cmap().is_some());
        // An embedded font of no known collection can only be asked for its own tables.
        let glyphs = (needed && family.is_none() && !code_is_unicode).then(|| glyph_characters(descendant)).flatten();
        Self { code_is_unicode, family, glyphs }
    }

    /// Appends what the CID means; false if nothing says it.
    pub(super) fn write(&self, code: u32, cid: u32, text: &mut String) -> bool {
        if self.code_is_unicode
            && let Some(character) = utf16_code(code)
        {
            text.push(character);
            return true;
        }
        match self.family.as_ref().and_then(collection).and_then(|map| map.lookup_bf_string(cid)) {
            Some(BfString::Char(character)) if character != '\0' && character != '\u{FFFD}' => {
                text.push(character);
                return true;
            }
            Some(BfString::String(characters)) if !characters.is_empty() => {
                text.push_str(&characters);
                return true;
            }
            _ => {}
        }
        let character = self.glyphs.as_ref().and_then(|glyphs| glyphs.get(&cid));
        text.extend(character);
        character.is_some()
    }
}

pub(super) fn family(registry: &[u8], ordering: &[u8]) -> CidFamily {
    CidFamily::from_registry_ordering(registry, ordering)
}

fn utf16_code(code: u32) -> Option<char> {
    if code <= 0xFFFF {
        return char::from_u32(code).filter(|character| *character != '\0');
    }
    let units = [u16::try_from(code >> 16).ok()?, u16::try_from(code & 0xFFFF).ok()?];
    char::decode_utf16(units).next()?.ok()
}

/// Unpacked once for the life of the program: they are large, and few.
fn collection(family: &CidFamily) -> Option<Arc<CMap>> {
    static COLLECTIONS: [OnceLock<Option<Arc<CMap>>>; 4] = [const { OnceLock::new() }; 4];
    let (slot, name) = match family {
        CidFamily::AdobeJapan1 => (&COLLECTIONS[0], CMapName::AdobeJapan1Ucs2),
        CidFamily::AdobeGB1 => (&COLLECTIONS[1], CMapName::AdobeGb1Ucs2),
        CidFamily::AdobeCNS1 => (&COLLECTIONS[2], CMapName::AdobeCns1Ucs2),
        CidFamily::AdobeKorea1 => (&COLLECTIONS[3], CMapName::AdobeKorea1Ucs2),
        _ => return None,
    };
    slot.get_or_init(|| CMap::parse(load_embedded(name)?, load_embedded).map(Arc::new)).clone()
}

/// By CID, through the font's map from CIDs to glyphs.
fn glyph_characters(descendant: &Dict<'_>) -> Option<HashMap<u32, char>> {
    let descriptor = descendant.get::<Dict<'_>>(b"FontDescriptor")?;
    let program = descriptor.get::<Stream<'_>>(b"FontFile2").or_else(|| descriptor.get::<Stream<'_>>(b"FontFile3"))?;
    let data = streams::unpack(&program, streams::MOST_BYTES)?;
    let by_glyph = sfnt::glyph_characters(&data)?;
    let Some(map) = descendant.get::<Stream<'_>>(b"CIDToGIDMap") else { return Some(by_glyph) };
    let map = streams::unpack(&map, 1 << 20)?;
    let glyphs = (0u32..).zip(map.as_chunks::<2>().0);
    Some(glyphs.filter_map(|(cid, bytes)| Some((cid, *by_glyph.get(&u16::from_be_bytes(*bytes).into())?))).collect())
}

//! Text of a legacy code page (GBK, Big5, EUC-KR, Shift JIS, Windows-1251) that a file calls Latin, decoded as what it is.
//!
//! Old programs write the bytes of the system's code page and name no encoding. Where the bytes are plausible in one of
//! these code pages, each of their characters takes the place of the glyphs that its bytes were taken for.

use super::code_pages::is_upper_half;
use crate::layout::{Glyph, GlyphFlags, PageContent};
use encoding_rs::{BIG5, EUC_KR, Encoding, GBK, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};

/// A few odd signs are no text of another code page.
const FEWEST: usize = 12;
/// How much of the text must be usual in its language.
const PLAUSIBLE: f32 = 0.85;

/// Decodes text that is Latin by mistake; the name of its code page, or None if it is not or is in none of those known here.
pub(super) fn recode(content: &mut PageContent) -> Option<&'static str> {
    if content.text.is_ascii() {
        return None;
    }
    let bytes: Vec<Option<u8>> = content.glyphs.iter().map(|glyph| byte(content, glyph)).collect();
    let letters = content.glyphs.iter().filter(|glyph| !glyph.flags.has(GlyphFlags::BLANK)).count();
    // Second bytes may be ASCII; of the first there are at least half as many as signs.
    let high = bytes.iter().flatten().filter(|byte| **byte >= 0x80).count();
    if high < FEWEST || high * 4 < letters {
        return None;
    }
    let sample: Vec<u8> = bytes.iter().map(|byte| byte.unwrap_or(b' ')).collect();
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(&sample, true);
    let guess = detector.guess(None, chardetng::Utf8Detection::Deny);
    let encoding = [guess, GBK, BIG5, EUC_KR, SHIFT_JIS, WINDOWS_1251]
        .into_iter()
        .find(|encoding| plausibility(encoding, &sample).is_some_and(|share| share >= PLAUSIBLE))?;
    replace(content, &bytes, encoding);
    Some(encoding.name())
}

/// What was in the file, if the glyph was taken for a sign of Windows-1252.
fn byte(content: &PageContent, glyph: &Glyph) -> Option<u8> {
    if glyph.flags.has(GlyphFlags::BLANK) || glyph.flags.has(GlyphFlags::UNMAPPED) {
        return None;
    }
    let mut signs = content.glyph_text(glyph).chars();
    let (sign, None) = (signs.next()?, signs.next()) else { return None };
    match sign {
        '\u{21}'..='\u{7e}' | '\u{80}'..='\u{9f}' => u8::try_from(sign).ok(),
        _ if is_upper_half(sign) => {
            let mut buffer = [0; 4];
            let (bytes, _, failed) = WINDOWS_1252.encode(sign.encode_utf8(&mut buffer));
            (!failed).then(|| bytes.first().copied()).flatten()
        }
        _ => None,
    }
}

/// The share of the signs beyond ASCII that are usual in the language of a code page; None for other code pages.
fn plausibility(encoding: &'static Encoding, sample: &[u8]) -> Option<f32> {
    let is_usual: fn(char) -> bool = match encoding.name() {
        "GBK" | "gb18030" => |sign| is_in_rows(GBK, sign, 0xb0, 0xd7) || is_punctuation(sign),
        "Big5" => |sign| is_in_rows(BIG5, sign, 0xa4, 0xc6) || is_punctuation(sign),
        "EUC-KR" => |sign| matches!(sign, '\u{ac00}'..='\u{d7a3}') || is_punctuation(sign),
        "Shift_JIS" => |sign| {
            matches!(sign, '\u{3040}'..='\u{30ff}') || is_in_rows(SHIFT_JIS, sign, 0x88, 0x97) || is_punctuation(sign)
        },
        "windows-1251" => |sign| matches!(sign, '\u{410}'..='\u{44f}' | 'ё' | 'Ё'),
        _ => return None,
    };
    let (text, _) = encoding.decode_without_bom_handling(sample);
    let (mut all, mut usual, mut capitals_inside) = (0_usize, 0_usize, 0_usize);
    let mut last = ' ';
    for sign in text.chars() {
        if !sign.is_ascii() {
            all += 1;
            usual += usize::from(is_usual(sign));
            capitals_inside += usize::from(last.is_lowercase() && sign.is_uppercase());
        }
        last = sign;
    }
    // Letters of any single-byte code page are letters of another one; a capital within a word tells that they are not.
    let odd = if encoding.is_single_byte() { capitals_inside * 3 } else { 0 };
    Some(usual.saturating_sub(odd) as f32 / all.max(1) as f32)
}

/// Whether a sign has its first byte within those of the usual characters: they come first in these code pages.
fn is_in_rows(encoding: &'static Encoding, sign: char, from: u8, to: u8) -> bool {
    let mut buffer = [0; 4];
    let (bytes, _, failed) = encoding.encode(sign.encode_utf8(&mut buffer));
    !failed && bytes.len() == 2 && bytes.first().is_some_and(|first| (from..=to).contains(first))
}

fn is_punctuation(sign: char) -> bool {
    matches!(sign, '\u{2010}'..='\u{2027}' | '\u{3000}'..='\u{3020}' | '\u{ff01}'..='\u{ff5e}' | '·' | '×' | '°')
}

/// Puts each character in the place of its one or two glyphs.
fn replace(content: &mut PageContent, bytes: &[Option<u8>], encoding: &'static Encoding) {
    let mut dropped = vec![false; content.glyphs.len()];
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let Some(first) = byte.filter(|byte| *byte >= 0x80) else {
            at += 1;
            continue;
        };
        let second = bytes.get(at + 1).copied().flatten();
        let length = if encoding.is_single_byte() { 1 } else { 2 };
        let pair = [first, second.unwrap_or(b' ')];
        let (text, failed) = encoding.decode_without_bom_handling(pair.get(..length).unwrap_or_default());
        if failed || (length == 2 && second.is_none()) {
            at += 1;
            continue;
        }
        if let Ok(start) = u32::try_from(content.text.len())
            && let Ok(bytes) = u8::try_from(text.len())
        {
            content.text.push_str(&text);
            let next = content.glyphs.get(at + 1).copied().filter(|_| length == 2);
            if let Some(glyph) = content.glyphs.get_mut(at) {
                (glyph.text_start, glyph.text_length) = (start, bytes);
                if let Some(next) = next {
                    glyph.advance += next.advance;
                    glyph.bbox = glyph.bbox.union(&next.bbox);
                }
            }
            if length == 2
                && let Some(dropped) = dropped.get_mut(at + 1)
            {
                *dropped = true;
            }
        }
        at += length;
    }
    let mut dropped = dropped.into_iter();
    content.glyphs.retain(|_| !dropped.next().unwrap_or(false));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{layout::FontFacts, model::Rect};
    use std::sync::Arc;

    /// What a file says whose bytes are of a code page and whose font is said to be Latin.
    fn page(text: &str, encoding: &'static Encoding) -> PageContent {
        let (bytes, ..) = encoding.encode(text);
        let (latin, _) = WINDOWS_1252.decode_without_bom_handling(&bytes);
        let mut content = PageContent { fonts: vec![Arc::new(FontFacts::default())], ..PageContent::default() };
        for (index, sign) in latin.chars().enumerate() {
            let x = index as f32 * 5.0;
            content.glyphs.push(Glyph {
                text_start: u32::try_from(content.text.len()).unwrap(),
                text_length: u8::try_from(sign.len_utf8()).unwrap(),
                flags: GlyphFlags::default().with(GlyphFlags::BLANK, sign == ' '),
                font: 0,
                angle: 0,
                size: 10.0,
                origin: (x, 50.0),
                advance: 5.0,
                bbox: Rect::new(x, 40.0, x + 5.0, 52.0),
                colour: 0,
            });
            content.text.push(sign);
        }
        content
    }

    fn text_of(content: &PageContent) -> String {
        content.glyphs.iter().map(|glyph| content.glyph_text(glyph)).collect()
    }

    #[test]
    fn legacy_code_pages_are_decoded() {
        for (text, encoding) in [
            ("关于加强港口管理的通知 2026 年", GBK),
            ("關於加強港口管理與圖書館開放時間的通知 2026", BIG5),
            ("항구 관리 강화에 관한 통지 2026", EUC_KR),
            ("ふねのりばのじかんについてのおしらせ 2026", SHIFT_JIS),
            ("О порядке работы портовой библиотеки в 2026 году", WINDOWS_1251),
        ] {
            let mut content = page(text, encoding);
            assert_eq!(recode(&mut content), Some(encoding.name()), "{text}");
            assert_eq!(text_of(&content), text);
            assert!(content.glyphs[0].bbox.width() > 4.0);
        }
    }

    #[test]
    fn languages_with_accents_and_rows_of_signs_are_left_alone() {
        for text in ["Ærø, Öland, Ærø, Åland, Übersee", "¡¿«»¬±·¸÷¡¿«»¬±·¸÷", "Čeština s háčky žluťoučký kůň"]
        {
            let mut content = page(text, WINDOWS_1252);
            let before = text_of(&content);
            assert_eq!(recode(&mut content), None, "{text}");
            assert_eq!(text_of(&content), before);
        }
    }
}

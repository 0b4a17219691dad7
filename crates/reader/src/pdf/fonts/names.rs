//! The encodings and glyph names that nearly all simple fonts use. Rarer names are left to the renderer.

use encoding_rs::{MACINTOSH, WINDOWS_1252};

/// The encodings that a PDF may name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Base {
    Standard,
    WinAnsi,
    MacRoman,
}

impl Base {
    pub(super) fn by_name(name: &[u8]) -> Option<Self> {
        match name {
            b"StandardEncoding" => Some(Self::Standard),
            b"WinAnsiEncoding" => Some(Self::WinAnsi),
            b"MacRomanEncoding" => Some(Self::MacRoman),
            _ => None,
        }
    }

    pub(super) fn character(self, code: u8) -> Option<char> {
        if code < 0x20 {
            return None;
        }
        match self {
            Self::Standard => standard(code),
            // Unused places show a bullet, by the standard's own word.
            Self::WinAnsi if matches!(code, 0x7F | 0x81 | 0x8D | 0x8F | 0x90 | 0x9D) => Some('•'),
            Self::WinAnsi => WINDOWS_1252.decode_without_bom_handling(&[code]).0.chars().next(),
            Self::MacRoman => MACINTOSH.decode_without_bom_handling(&[code]).0.chars().next(),
        }
    }
}

fn standard(code: u8) -> Option<char> {
    const HIGH: &str =
        " ¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ –†‡· ¶•‚„”»…‰ ¿ `´ˆ˜¯˘˙¨ ˚¸ ˝˛ˇ—                Æ ª    ŁØŒº     æ   ı  łøœß    ";
    match code {
        b'\'' => Some('’'),
        b'`' => Some('‘'),
        0x20..=0x7E => Some(char::from(code)),
        0xA1..=0xFF => HIGH.chars().nth(usize::from(code - 0xA0)).filter(|character| *character != ' '),
        _ => None,
    }
}

/// Letters and digits of the Adobe Glyph List by their names, in the order of [`NAMED`].
const NAMES: &str = "space exclam quotedbl numbersign dollar percent ampersand quotesingle parenleft parenright asterisk plus \
comma hyphen period slash zero one two three four five six seven eight nine colon semicolon less equal greater question at \
bracketleft backslash bracketright asciicircum underscore grave braceleft bar braceright asciitilde nbspace exclamdown cent \
sterling currency yen brokenbar section dieresis copyright ordfeminine guillemotleft logicalnot sfthyphen registered macron \
degree plusminus twosuperior threesuperior acute mu paragraph periodcentered cedilla onesuperior ordmasculine guillemotright \
onequarter onehalf threequarters questiondown Agrave Aacute Acircumflex Atilde Adieresis Aring AE Ccedilla Egrave Eacute \
Ecircumflex Edieresis Igrave Iacute Icircumflex Idieresis Eth Ntilde Ograve Oacute Ocircumflex Otilde Odieresis multiply \
Oslash Ugrave Uacute Ucircumflex Udieresis Yacute Thorn germandbls agrave aacute acircumflex atilde adieresis aring ae ccedilla \
egrave eacute ecircumflex edieresis igrave iacute icircumflex idieresis eth ntilde ograve oacute ocircumflex otilde odieresis \
divide oslash ugrave uacute ucircumflex udieresis yacute thorn ydieresis quoteleft quoteright quotedblleft quotedblright \
quotesinglbase quotedblbase guilsinglleft guilsinglright endash emdash bullet ellipsis dagger daggerdbl perthousand fraction \
florin Euro trademark minus fi fl ff ffi ffl dotlessi circumflex tilde breve dotaccent ring hungarumlaut ogonek caron OE oe \
Scaron scaron Zcaron zcaron Ydieresis Lslash lslash Ccaron ccaron Cacute cacute Eogonek eogonek Aogonek aogonek Sacute sacute \
Zacute zacute Zdotaccent zdotaccent Nacute nacute Ecaron ecaron Rcaron rcaron Abreve abreve dcroat Dcroat Uring uring Odblacute \
odblacute Udblacute udblacute Gbreve gbreve Idotaccent Scedilla scedilla alpha beta gamma delta epsilon zeta eta theta iota \
kappa lambda nu xi omicron pi rho sigma tau upsilon phi chi psi omega Gamma Theta Lambda Xi Pi Sigma Phi Psi lessequal \
greaterequal notequal infinity integral summation product radical partialdiff approxequal lozenge arrowright arrowleft \
arrowup arrowdown element";

const NAMED: &str = " !\"#$%&'()*+,-./0123456789:;<=>?@[\\]^_`{|}~\u{A0}¡¢£¤¥¦§¨©ª«¬\u{AD}®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×\
ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ‘’“”‚„‹›–—•…†‡‰⁄ƒ€™−ﬁﬂﬀﬃﬄıˆ˜˘˙˚˝˛ˇŒœŠšŽžŸŁłČčĆćĘęĄąŚśŹźŻżŃńĚěŘřĂăđĐŮůŐőŰűĞğİŞşαβγδεζ\
ηθικλνξοπρστυφχψωΓΘΛΞΠΣΦΨ≤≥≠∞∫∑∏√∂≈◊→←↑↓∈";

/// What a glyph name means; None for names that are not in the table.
pub(super) fn character(name: &[u8]) -> Option<char> {
    use std::{collections::HashMap, sync::OnceLock};
    static TABLE: OnceLock<HashMap<&'static [u8], char>> = OnceLock::new();
    if let [letter @ (b'A'..=b'Z' | b'a'..=b'z')] = name {
        return Some(char::from(*letter));
    }
    let table = TABLE.get_or_init(|| NAMES.split_ascii_whitespace().map(str::as_bytes).zip(NAMED.chars()).collect());
    table.get(name).copied().or_else(|| by_number(name))
}

/// "uni0041" and "u1F600".
fn by_number(name: &[u8]) -> Option<char> {
    let name = std::str::from_utf8(name).ok()?;
    let digits = match name.strip_prefix("uni") {
        Some(digits) if digits.len() == 4 => digits,
        _ => name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len()))?,
    };
    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
}

/// Characters that mean something in one font only.
pub(in crate::pdf) fn is_private(character: char) -> bool {
    matches!(character, '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_tables_fit() {
        assert_eq!(NAMES.split_ascii_whitespace().count(), NAMED.chars().count());
        assert_eq!(character(b"germandbls"), Some('ß'));
        assert_eq!(character(b"element"), Some('∈'));
        assert_eq!(character(b"Q"), Some('Q'));
        assert_eq!(character(b"uni20AC"), Some('€'));
        assert_eq!(character(b"unicorn"), None);
    }

    #[test]
    fn encodings_give_characters() {
        assert_eq!(Base::WinAnsi.character(0x80), Some('€'));
        assert_eq!(Base::MacRoman.character(0x80), Some('Ä'));
        assert_eq!(Base::Standard.character(0xAE), Some('ﬁ'));
        assert_eq!(Base::Standard.character(0xFB), Some('ß'));
        assert_eq!(Base::Standard.character(0xE1), Some('Æ'));
        assert_eq!(Base::Standard.character(0xB0), None);
        assert_eq!(Base::Standard.character(0xD0), Some('—'));
    }
}

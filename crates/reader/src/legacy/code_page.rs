//! Which letters a byte stands for, by the numbers that old programs write: Windows code pages, font character sets, DOS.

use crate::plain::encoding;
use encoding_rs::{Encoding, WINDOWS_1252};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodePage {
    Standard(&'static Encoding),
    /// DOS code pages, which the Encoding Standard does not have: the letters of the upper half.
    Dos(&'static str),
}

impl CodePage {
    pub(crate) const WESTERN: Self = Self::Standard(WINDOWS_1252);

    pub(crate) fn by_number(number: u32) -> Option<Self> {
        match number {
            437 => Some(Self::Dos(DOS_437)),
            850 | 858 => Some(Self::Dos(DOS_850)),
            852 => Some(Self::Dos(DOS_852)),
            number => encoding::by_code_page(number).map(Self::Standard),
        }
    }

    /// By the character set of a font; None where the set says nothing but "the usual".
    pub(crate) fn by_charset(charset: u32) -> Option<Self> {
        let number = match charset {
            77 => 10000,
            128 => 932,
            129 => 949,
            130 => 1361,
            134 => 936,
            136 => 950,
            161 => 1253,
            162 => 1254,
            163 => 1258,
            177 => 1255,
            178..=180 => 1256,
            186 => 1257,
            204 => 1251,
            222 => 874,
            238 => 1250,
            254 => 437,
            255 => 850,
            _ => return None,
        };
        Self::by_number(number)
    }

    pub(crate) fn decode(self, bytes: &[u8]) -> String {
        match self {
            Self::Standard(encoding) => encoding.decode_without_bom_handling(bytes).0.into_owned(),
            Self::Dos(upper) => {
                let upper_half = |byte: u8| upper.chars().nth(usize::from(byte & 0x7f)).unwrap_or('\u{fffd}');
                bytes.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { upper_half(*byte) }).collect()
            }
        }
    }
}

/// What a sign of the Symbol and Wingdings fonts looks like. Their letters have codes of their own, as bytes or from
/// U+F000; None where nothing like it is known.
pub(crate) fn symbol(font: &str, code: u32) -> Option<char> {
    let byte = match code {
        0x20..=0xff => code,
        0xf020..=0xf0ff => code - 0xf000,
        _ => return None,
    };
    if font.eq_ignore_ascii_case("symbol") {
        return match byte {
            0x41..=0x7a => SYMBOL_LETTERS.chars().nth((byte - 0x41) as usize),
            0xa3 => Some('≤'),
            0xa5 => Some('∞'),
            0xab => Some('↔'),
            0xac => Some('←'),
            0xae => Some('→'),
            0xb0 => Some('°'),
            0xb1 => Some('±'),
            0xb3 => Some('≥'),
            0xb4 => Some('×'),
            0xb7 => Some('•'),
            0xb9 => Some('≠'),
            0xbb => Some('≈'),
            0xd6 => Some('√'),
            0xde => Some('⇒'),
            0xe5 => Some('∑'),
            0xf2 => Some('∫'),
            0x20..=0x7e => char::from_u32(byte),
            _ => None,
        };
    }
    match byte {
        0x20 => Some(' '),
        0x6c | 0x9f => Some('●'),
        0x6e | 0xa7 => Some('▪'),
        0x6f | 0xa8 | 0x71 => Some('☐'),
        0x78 | 0xfd => Some('☒'),
        0xfb => Some('✗'),
        0xfc => Some('✓'),
        0xfe => Some('☑'),
        0xd8 => Some('➢'),
        0x76 => Some('❖'),
        0xe0 | 0xf0 => Some('→'),
        0xdf | 0xef => Some('←'),
        0xb7 => Some('•'),
        0x4a => Some('☺'),
        0x4c => Some('☹'),
        _ => None,
    }
}

/// Whether letters of the font stand for signs.
pub(crate) fn is_symbol_font(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "symbol" || name.starts_with("wingdings") || name.starts_with("webdings")
}

const SYMBOL_LETTERS: &str = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ";

const DOS_437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";
const DOS_850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";
const DOS_852: &str = "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u{ad}˝˛ˇ˘§÷¸°¨˙űŘř■\u{a0}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_whole() {
        for upper in [DOS_437, DOS_850, DOS_852] {
            assert_eq!(upper.chars().count(), 128);
        }
        assert_eq!(SYMBOL_LETTERS.chars().count(), 0x7a - 0x41 + 1);
        assert_eq!(symbol("Symbol", 0x61), Some('α'));
        assert_eq!(symbol("Wingdings", 0xf0fc), Some('✓'));
    }

    #[test]
    fn bytes_become_letters() {
        assert_eq!(CodePage::by_number(437).unwrap().decode(b"na\x8bve"), "naïve");
        assert_eq!(CodePage::by_number(850).unwrap().decode(b"\x84"), "ä");
        assert_eq!(CodePage::by_charset(204).unwrap().decode(b"\xcf"), "П");
        assert_eq!(CodePage::by_charset(0), None);
        assert_eq!(CodePage::WESTERN.decode(b"\x93x\x94"), "“x”");
    }
}

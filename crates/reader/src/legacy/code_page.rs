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

//! Bytes to text, whatever wrote them: a byte order mark is believed, then valid UTF-8, then what the file declares,
//! then what the letters look like. Nothing is an error; what cannot be decoded becomes U+FFFD, and that is said.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Enough to tell one encoding from another; more only costs time.
const SAMPLE_BYTES: usize = 256 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    pub text: String,
    /// As the Encoding Standard names it: "UTF-8", "windows-1252".
    pub encoding: &'static str,
    /// Some bytes were not of the encoding.
    pub lossy: bool,
}

impl Decoded {
    /// What a reader should be told, if anything.
    pub fn warning(&self) -> Option<String> {
        self.lossy.then(|| format!("some bytes are not {} and are shown as \u{fffd}", self.encoding))
    }
}

/// `declared` is what the file says of itself; it is believed only where the bytes do not speak against it.
pub fn decode(bytes: &[u8], declared: Option<&'static Encoding>) -> Decoded {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return decode_as(bytes.get(mark..).unwrap_or_default(), encoding);
    }
    if let Some(encoding) = wide_without_mark(bytes) {
        return decode_as(bytes, encoding);
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && declared.is_none_or(Encoding::is_ascii_compatible)
    {
        // Escape sequences of ISO-2022-JP are ASCII too.
        let declared_japanese = declared == Some(encoding_rs::ISO_2022_JP) && bytes.contains(&0x1b);
        if !declared_japanese {
            return Decoded { text: text.to_owned(), encoding: UTF_8.name(), lossy: false };
        }
    }
    if let Some(encoding) = declared.filter(|encoding| *encoding != UTF_8) {
        return decode_as(bytes, encoding);
    }
    decode_as(bytes, guess(bytes))
}

/// The encoding with this label, if there is one that decodes.
pub fn by_label(label: &str) -> Option<&'static Encoding> {
    let label = label.trim().trim_matches(['"', '\'']);
    Encoding::for_label_no_replacement(label.as_bytes())
}

/// A Windows code page by its number.
pub fn by_code_page(number: u32) -> Option<&'static Encoding> {
    let label = match number {
        874 => "windows-874",
        932 | 10001 => "shift_jis",
        936 | 10008 => "gbk",
        949 | 1361 | 10003 => "euc-kr",
        950 | 10002 => "big5",
        866 => "ibm866",
        1200 => "utf-16le",
        1201 => "utf-16be",
        1250..=1258 => return Encoding::for_label(format!("windows-{number}").as_bytes()),
        10000 => "macintosh",
        10007 => "x-mac-cyrillic",
        20866 => "koi8-r",
        21866 => "koi8-u",
        28591 => "windows-1252",
        28592..=28606 => return Encoding::for_label(format!("iso-8859-{}", number - 28590).as_bytes()),
        50220..=50222 => "iso-2022-jp",
        51932 => "euc-jp",
        54936 => "gb18030",
        65001 => "utf-8",
        _ => return None,
    };
    Encoding::for_label_no_replacement(label.as_bytes())
}

/// Decodes without looking for marks.
pub fn decode_as(bytes: &[u8], encoding: &'static Encoding) -> Decoded {
    let (text, lossy) = encoding.decode_without_bom_handling(bytes);
    Decoded { text: text.into_owned(), encoding: encoding.name(), lossy }
}

/// UTF-16 whose mark was lost: every other byte of mostly Latin text is zero.
pub(crate) fn wide_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = bytes.get(..bytes.len().min(4096)).unwrap_or_default();
    if sample.len() < 4 || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let pairs = sample.len() / 2;
    let zeros = |offset: usize| sample.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count();
    let (first, second) = (zeros(0), zeros(1));
    let mostly = pairs * 7 / 10;
    match (first > mostly, second > mostly) {
        (true, false) if second * 20 < pairs => Some(UTF_16BE),
        (false, true) if first * 20 < pairs => Some(UTF_16LE),
        _ => None,
    }
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let sample = bytes.get(..bytes.len().min(SAMPLE_BYTES)).unwrap_or_default();
    // A file that is UTF-8 but for a few broken bytes is not anything else.
    let mut broken = 0usize;
    let mut wide = 0usize;
    for chunk in sample.utf8_chunks() {
        wide += chunk.valid().chars().filter(|letter| !letter.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    if wide > broken * 8 {
        return UTF_8;
    }
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Allow);
    detector.feed(sample, sample.len() == bytes.len());
    detector.guess(None, chardetng::Utf8Detection::Deny)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_believed() {
        assert_eq!(decode(b"\xef\xbb\xbfa\xc3\xa4", None).text, "aä");
        assert_eq!(decode(b"\xff\xfea\0\xe4\0", None).text, "aä");
        assert_eq!(decode(b"\xfe\xff\0a\0\xe4", None).text, "aä");
    }

    #[test]
    fn utf_16_without_a_mark_is_recognised() {
        let bytes: Vec<u8> = "name;town\nAnna;Köln\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&bytes, None).text, "name;town\nAnna;Köln\n");
    }

    #[test]
    fn valid_utf_8_wins_over_what_is_declared() {
        assert_eq!(decode("Köln".as_bytes(), by_label("iso-8859-1")).text, "Köln");
    }

    #[test]
    fn a_declared_encoding_wins_over_a_guess() {
        assert_eq!(decode(b"\xe9\xf2", by_label("iso-8859-7")).text, "ις");
    }

    #[test]
    fn old_western_text_is_guessed() {
        let decoded = decode(b"Die Stra\xdfe f\xfchrt \xfcber den H\xfcgel nach K\xf6ln.", None);
        assert_eq!(decoded.text, "Die Straße führt über den Hügel nach Köln.");
        assert!(!decoded.lossy);
    }

    #[test]
    fn a_broken_byte_does_not_spoil_utf_8() {
        let mut bytes = "Größe, Höhe, Länge, Stärke, Süden".repeat(3).into_bytes();
        bytes.push(0xff);
        let decoded = decode(&bytes, None);
        assert!(decoded.text.starts_with("Größe, Höhe"), "{decoded:?}");
        assert!(decoded.warning().is_some());
    }

    #[test]
    fn code_pages_have_encodings() {
        assert_eq!(by_code_page(1251).map(Encoding::name), Some("windows-1251"));
        assert_eq!(by_code_page(932).map(Encoding::name), Some("Shift_JIS"));
        assert_eq!(by_code_page(28605).map(Encoding::name), Some("ISO-8859-15"));
        assert_eq!(by_code_page(1), None);
    }
}

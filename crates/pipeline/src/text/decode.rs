//! Bytes to text. Files do not say how they are encoded, so the bytes have to.

use serde::{Deserialize, Serialize};

/// How a text was encoded, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Encoding {
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "utf-16")]
    Utf16,
    /// Every byte means something in it, so this is a guess.
    #[serde(rename = "windows-1252")]
    Windows1252,
}

impl Encoding {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Windows1252 => "windows-1252",
        }
    }
}

/// What the bytes 0x80 to 0x9f mean in windows-1252. The five that mean nothing stay what they are, as browsers do it.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The text, or where a byte was found that no text has. Bytes that are text already are not copied.
pub(crate) fn decode(bytes: impl Into<Vec<u8>>) -> Result<(String, Encoding), String> {
    let mut bytes: Vec<u8> = bytes.into();
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return decode_utf16(rest, u16::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return decode_utf16(rest, u16::from_be_bytes);
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Err(format!("binary data: byte {} is NUL, which no text has", at + 1));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text, Encoding::Utf8)),
        Err(error) => {
            let text = error.as_bytes().iter().copied().map(from_windows_1252).collect();
            Ok((text, Encoding::Windows1252))
        }
    }
}

fn from_windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<(String, Encoding), String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err("binary data: marked as UTF-16, but of an odd number of bytes".to_owned());
    }
    let text: Result<String, _> = char::decode_utf16(pairs.iter().copied().map(unit)).collect();
    let text = text.map_err(|error| format!("binary data: marked as UTF-16, but {error}"))?;
    if text.contains('\0') {
        return Err("binary data: marked as UTF-16, but it has a NUL".to_owned());
    }
    Ok((text, Encoding::Utf16))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> (String, Encoding) {
        decode(bytes).unwrap()
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_text() {
        assert_eq!(text(b"\xef\xbb\xbfna\xc3\xafve"), ("naïve".to_owned(), Encoding::Utf8));
        assert_eq!(text(b"\xff\xfeh\0i\0"), ("hi".to_owned(), Encoding::Utf16));
        assert_eq!(text(b"\xfe\xff\0h\0i"), ("hi".to_owned(), Encoding::Utf16));
    }

    #[test]
    fn what_is_not_utf8_is_taken_for_windows_1252() {
        assert_eq!(text(b"caf\xe9 \x80 5"), ("café € 5".to_owned(), Encoding::Windows1252));
    }

    #[test]
    fn binary_data_is_refused_with_the_place() {
        assert_eq!(decode(b"ab\0").unwrap_err(), "binary data: byte 3 is NUL, which no text has");
        assert!(decode(b"\xff\xfea").unwrap_err().contains("odd number"));
        assert!(decode(b"\xff\xfe\x00\xd8").unwrap_err().contains("UTF-16"));
    }

    #[test]
    fn nothing_is_an_empty_text() {
        assert_eq!(text(b""), (String::new(), Encoding::Utf8));
    }
}

//! Strings that people read: titles, field values, file names.

/// Decodes a text string: UTF-16 or UTF-8 behind its mark, else `PDFDocEncoding`.
pub(super) fn text_string(bytes: &[u8]) -> String {
    match bytes {
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => bytes.iter().map(|byte| pdf_doc_character(*byte)).collect(),
    }
}

/// As [`text_string`], on one line and without control characters; None if nothing is left.
pub(super) fn line(bytes: &[u8]) -> Option<String> {
    line_of(&text_string(bytes))
}

/// Text on one line and without control characters; None if nothing is left.
pub(super) fn line_of(text: &str) -> Option<String> {
    let line = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|part| !part.is_empty());
    let line = line.collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    let mut text = String::with_capacity(bytes.len() / 2);
    let mut escaped = false;
    for character in char::decode_utf16(units) {
        // A language code may stand between two escape characters.
        match character.unwrap_or(char::REPLACEMENT_CHARACTER) {
            '\u{1B}' => escaped = !escaped,
            _ if escaped => {}
            character => text.push(character),
        }
    }
    text
}

/// Where `PDFDocEncoding` differs from Latin-1.
fn pdf_doc_character(byte: u8) -> char {
    const LOW: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
    const HIGH: [char; 33] = [
        '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ', 'Ł',
        'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{FFFD}', '€',
    ];
    match byte {
        0x18..=0x1F => LOW[usize::from(byte - 0x18)],
        0x80..=0xA0 => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_encoding_is_told_by_its_mark() {
        assert_eq!(text_string(b"\xFE\xFF\x00\xDC\x00b"), "Üb");
        assert_eq!(text_string(b"\xFF\xFE\xDC\x00b\x00"), "Üb");
        assert_eq!(text_string(b"\xEF\xBB\xBF\xC3\x9Cb"), "Üb");
        assert_eq!(text_string(b"\xDCb \x80 \xA0"), "Üb • €");
        assert_eq!(text_string(b"\xFE\xFF\x00\x1B\x00e\x00n\x00\x1B\x00a"), "a");
    }

    #[test]
    fn a_line_has_no_breaks() {
        assert_eq!(line(b" A title\r\nin two lines\0"), Some("A title in two lines".to_owned()));
        assert_eq!(line(b" \0 "), None);
    }
}

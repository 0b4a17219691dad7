//! What the signs of symbol fonts look like: fonts whose letters are arrows, boxes and Greek.
//!
//! Their codes are bytes, which Office also writes from U+F000 on.

/// Whether letters of the font stand for signs.
pub(crate) fn is_symbol_font(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "symbol" || name.starts_with("wingdings") || name.starts_with("webdings")
}

/// The sign that a font shows for a code; None where nothing like it is known.
pub(crate) fn symbol(font: &str, code: u32) -> Option<char> {
    let byte = match code {
        0x20..=0xff => code,
        0xf020..=0xf0ff => code - 0xf000,
        _ => return None,
    };
    match font.to_ascii_lowercase().as_str() {
        "symbol" => greek(byte),
        name if name.starts_with("wingdings 2") => wingdings_2(byte),
        name if name.starts_with("wingdings") => wingdings(byte),
        name if name.starts_with("webdings") => webdings(byte),
        _ => None,
    }
}

/// The sign, or what stands for one that is not known: a bullet. A font with letters shows the letter.
pub(crate) fn shown_symbol(font: &str, code: u32) -> Option<char> {
    let unknown =
        || if is_symbol_font(font) || (0xf000..=0xf0ff).contains(&code) { Some('•') } else { char::from_u32(code) };
    symbol(font, code).or_else(unknown)
}

const GREEK_LETTERS: &str = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ";

fn greek(byte: u32) -> Option<char> {
    Some(match byte {
        0x41..=0x7a => return GREEK_LETTERS.chars().nth((byte - 0x41) as usize),
        0x20..=0x7e => return char::from_u32(byte),
        0xa3 => '≤',
        0xa5 => '∞',
        0xab => '↔',
        0xac => '←',
        0xad => '↑',
        0xae => '→',
        0xaf => '↓',
        0xb0 => '°',
        0xb1 => '±',
        0xb3 => '≥',
        0xb4 => '×',
        0xb6 => '∂',
        0xb7 => '•',
        0xb8 => '÷',
        0xb9 => '≠',
        0xba => '≡',
        0xbb => '≈',
        0xbc => '…',
        0xce => '∈',
        0xd1 => '∇',
        0xd2 => '®',
        0xd3 => '©',
        0xd4 => '™',
        0xd6 => '√',
        0xd9 => '∧',
        0xda => '∨',
        0xdb => '⇔',
        0xdc => '⇐',
        0xde => '⇒',
        0xe5 => '∑',
        0xf2 => '∫',
        _ => return None,
    })
}

fn wingdings(byte: u32) -> Option<char> {
    Some(match byte {
        0x20 => ' ',
        0x28 => '☎',
        0x2a => '✉',
        0x4a => '☺',
        0x4c => '☹',
        0x6c | 0x9f => '●',
        0x6e | 0xa7 => '▪',
        0x6f | 0x71 | 0x72 | 0xa8 => '☐',
        0x76 => '❖',
        0x78 | 0xfd => '☒',
        0xb7 => '•',
        0xd8 => '➢',
        0xdf | 0xe7 | 0xef => '←',
        0xe0 | 0xe8 | 0xf0 => '→',
        0xe1 => '↑',
        0xe2 => '↓',
        0xf3 => '↔',
        0xfb => '✗',
        0xfc => '✓',
        0xfe => '☑',
        _ => return None,
    })
}

fn wingdings_2(byte: u32) -> Option<char> {
    Some(match byte {
        0x20 => ' ',
        0x2a | 0xa3 => '☐',
        0x4f | 0x51 | 0x53 | 0x54 => '☒',
        0x50 => '✓',
        0x52 => '☑',
        _ => return None,
    })
}

fn webdings(byte: u32) -> Option<char> {
    Some(match byte {
        0x20 => ' ',
        0x61 => '✓',
        0x63 => '☐',
        0x72 => '✗',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_and_letters_of_symbol_fonts_are_shown() {
        assert_eq!(GREEK_LETTERS.chars().count(), 0x7a - 0x41 + 1);
        assert_eq!(symbol("Wingdings", 0xf0fe), Some('☑'));
        assert_eq!(symbol("Wingdings 2", 0x52), Some('☑'));
        assert_eq!(symbol("Symbol", 0xf061), Some('α'));
        assert_eq!(symbol("Arial", 0x41), None);
        assert_eq!(shown_symbol("Arial", 0x41), Some('A'));
        assert_eq!(shown_symbol("Wingdings", 0xf021), Some('•'));
    }
}

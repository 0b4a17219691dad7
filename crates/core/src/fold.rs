//! Letters as they are compared: small and without accents, so that neither capitals nor OCR that loses accents matter.

/// An accent that follows its letter as a character of its own, or a soft hyphen.
pub fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{ad}')
}

/// Appends the letter in the form in which letters are compared: small, and without its accent.
pub fn fold_letter(letter: char, out: &mut String) {
    for small in letter.to_lowercase().filter(|small| !is_mark(*small)) {
        match small {
            'à'..='å' | 'ā' | 'ă' | 'ą' => out.push('a'),
            'ç' | 'ć' | 'č' => out.push('c'),
            'ď' | 'đ' => out.push('d'),
            'è'..='ë' | 'ē' | 'ę' | 'ě' => out.push('e'),
            'ğ' => out.push('g'),
            'ì'..='ï' | 'ī' | 'ı' => out.push('i'),
            'ł' => out.push('l'),
            'ñ' | 'ń' | 'ň' => out.push('n'),
            'ò'..='ö' | 'ø' | 'ō' | 'ő' => out.push('o'),
            'ř' => out.push('r'),
            'ś' | 'ş' | 'š' => out.push('s'),
            'ť' | 'ţ' => out.push('t'),
            'ù'..='ü' | 'ū' | 'ů' | 'ű' => out.push('u'),
            'ý' | 'ÿ' => out.push('y'),
            'ź' | 'ż' | 'ž' => out.push('z'),
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            // Letters that a font draws as one.
            'ﬀ' => out.push_str("ff"),
            'ﬁ' => out.push_str("fi"),
            'ﬂ' => out.push_str("fl"),
            '\u{2018}' | '\u{2019}' => out.push('\''),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push('-'),
            '\u{a0}' | '\u{202f}' | '\u{2009}' => out.push(' '),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_accents_and_ligatures_do_not_matter() {
        let mut folded = String::new();
        "ÉÇŁØßﬁ".chars().for_each(|letter| fold_letter(letter, &mut folded));
        assert_eq!(folded, "eclossfi");
        assert!(is_mark('\u{301}') && !is_mark('e'));
    }
}

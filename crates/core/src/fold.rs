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

/// A word of a text, folded, with the bytes of the text it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub folded: String,
    pub start: usize,
    pub end: usize,
}

/// The words of a text: runs of letters and digits, and the sign `§`. All else parts words.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut all = Vec::new();
    let mut folded = String::new();
    let mut start = 0;
    for (at, letter) in text.char_indices() {
        if is_mark(letter) {
            continue;
        }
        let parts = !letter.is_alphanumeric() || matches!(letter, 'º' | 'ª') || letter == '§';
        if parts && !folded.is_empty() {
            all.push(Token { folded: std::mem::take(&mut folded), start, end: at });
        }
        if letter == '§' {
            all.push(Token { folded: "§".to_owned(), start: at, end: at + letter.len_utf8() });
        }
        if parts {
            continue;
        }
        if folded.is_empty() {
            start = at;
        }
        fold_letter(letter, &mut folded);
    }
    if !folded.is_empty() {
        all.push(Token { folded, start, end: text.len() });
    }
    all
}

/// The text in small letters without accents; everything else as it is.
pub fn fold_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars().filter(|letter| !is_mark(*letter)) {
        fold_letter(letter, &mut out);
    }
    out
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

    fn words(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.folded).collect()
    }

    #[test]
    fn case_accents_and_signs_do_not_matter() {
        assert_eq!(words("FACTURA N.º 12"), ["factura", "n", "12"]);
        assert_eq!(words("Straße, Œuvre"), ["strasse", "oeuvre"]);
        assert_eq!(words("Re\u{301}sume\u{301}"), words("Résumé"));
        assert_eq!(words("§ 3 Kün\u{ad}digung"), ["§", "3", "kundigung"]);
        assert_eq!(words("d’avoir"), ["d", "avoir"]);
        assert!(words(" … ").is_empty());
    }

    #[test]
    fn tokens_know_where_they_stood() {
        let text = "«Über die Rechnung»";
        let last = tokens(text).pop().unwrap();
        assert_eq!(&text[last.start..last.end], "Rechnung");
    }
}

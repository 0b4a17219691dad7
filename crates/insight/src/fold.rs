//! Text as phrases are compared in: small letters without accents, word by word.
//!
//! OCR that was trained on another language loses accents, and people write titles in capitals; neither may matter.

pub(crate) use bindery_core::fold::fold_letter;
use bindery_core::fold::is_mark;

/// A word of a text, folded, with the bytes of the text it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) folded: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The words of a text: runs of letters and digits, and the sign `§`. All else parts words.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
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
pub(crate) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars().filter(|letter| !is_mark(*letter)) {
        fold_letter(letter, &mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

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

//! The words of a text, as they are compared: the same for what is indexed and for what is looked for, on every backend.
//!
//! A word is a run of letters and digits, in small letters without accents. Scripts that are written without spaces have
//! no such runs: there, each character is a word, and several in a row are looked for as a phrase.

use bindery_core::fold::{fold_letter, is_mark};
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Nobody types more, and no backend has to keep more, of a word.
const LONGEST_WORD: usize = 64;

/// A word with the bytes of the text that it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) folded: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The words of a text in their order.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut all = Vec::new();
    let mut run: Option<(usize, usize)> = None;
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        if letter.is_alphanumeric() && stands_alone(letter) {
            close(text, run.take(), &mut all);
            close(text, Some((at, end)), &mut all);
        } else if letter.is_alphanumeric() || run.is_some() && holds_together(letter) {
            run = Some((run.map_or(at, |(start, _)| start), end));
        } else {
            close(text, run.take(), &mut all);
        }
    }
    close(text, run, &mut all);
    all
}

/// The words of a text, separated by spaces.
pub(crate) fn word_list(text: &str) -> String {
    let folded: Vec<String> = words(text).into_iter().map(|word| word.folded).collect();
    folded.join(" ")
}

fn close(text: &str, run: Option<(usize, usize)>, all: &mut Vec<Word>) {
    let Some((start, end)) = run else { return };
    let mut folded = String::new();
    for letter in text[start..end].nfkd().filter(|letter| !is_mark(*letter)) {
        fold_letter(letter, &mut folded);
    }
    // Signs that a letter was made of, such as the stroke of a fraction, are no letters.
    folded.retain(|letter| letter.is_alphanumeric() || is_combining_mark(letter));
    if let Some((cut, _)) = folded.char_indices().nth(LONGEST_WORD) {
        folded.truncate(cut);
    }
    if !folded.is_empty() {
        all.push(Word { folded, start, end });
    }
}

/// What belongs to the letter before it: accents, vowel signs, soft hyphens, joiners.
fn holds_together(letter: char) -> bool {
    is_mark(letter) || is_combining_mark(letter) || matches!(letter, '\u{200c}' | '\u{200d}')
}

/// Letters of scripts without spaces between words: Thai, Lao, Burmese, Khmer, kana and Han.
fn stands_alone(letter: char) -> bool {
    matches!(u32::from(letter),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_accents_and_signs_make_no_difference() {
        assert_eq!(word_list("Das CAFÉ, „Größe“ (12.5 %)"), "das cafe grosse 12 5");
        assert_eq!(word_list("Re\u{301}sume\u{301}"), word_list("Résumé"));
        assert_eq!(word_list("Tiếng Việt, ά, ﬁne"), "tieng viet α fine");
        assert_eq!(word_list("O'Brien & invoice_2024-07@example.com"), "o brien invoice 2024 07 example com");
        assert_eq!(word_list(" … — "), "");
    }

    #[test]
    fn a_soft_hyphen_parts_no_word() {
        assert_eq!(word_list("Kün\u{ad}digung"), "kundigung");
    }

    #[test]
    fn scripts_without_spaces_are_taken_letter_by_letter() {
        assert_eq!(word_list("東京2024年"), "東 京 2024 年");
        assert_eq!(word_list("हिन्दी भाषा").split(' ').count(), 2);
    }

    #[test]
    fn words_know_where_they_stood() {
        let text = "«Über die Rechnung»";
        let last = words(text).pop().unwrap();
        assert_eq!(&text[last.start..last.end], "Rechnung");
    }

    #[test]
    fn a_word_without_end_is_cut() {
        assert_eq!(word_list(&"é".repeat(5_000)), "e".repeat(LONGEST_WORD));
    }
}

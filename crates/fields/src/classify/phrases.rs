//! Phrases, and finding all of them in one pass over a page's words.

use bindery_core::fold::{Token, tokens};
use std::collections::HashMap;

/// Words that follow each other. `*` at the beginning or the end of a word stands for any letters: `*rechnung`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phrase(Vec<Word>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    letters: String,
    open_before: bool,
    open_behind: bool,
}

impl Phrase {
    /// None if there is no word in the text.
    pub(super) fn new(text: &str) -> Option<Self> {
        let mut words = Vec::new();
        for written in text.split_whitespace() {
            let parts = tokens(written);
            let last = parts.len().saturating_sub(1);
            words.extend(parts.into_iter().enumerate().map(|(index, token)| Word {
                letters: token.folded,
                open_before: index == 0 && written.starts_with('*'),
                open_behind: index == last && written.ends_with('*'),
            }));
        }
        (!words.is_empty()).then_some(Self(words))
    }

    fn stands_at(&self, text: &[Token]) -> bool {
        self.0.len() <= text.len() && self.0.iter().zip(text).all(|(word, token)| word.fits(&token.folded))
    }
}

impl Word {
    fn fits(&self, text: &str) -> bool {
        match (self.open_before, self.open_behind) {
            (false, false) => text == self.letters,
            (false, true) => text.starts_with(&self.letters),
            (true, false) => text.ends_with(&self.letters),
            (true, true) => text.contains(&self.letters),
        }
    }
}

/// Many phrases, each with a number of its own, by the word they begin with.
#[derive(Debug, Default)]
pub(super) struct PhraseIndex {
    phrases: Vec<Phrase>,
    by_first: HashMap<String, Vec<usize>>,
    /// Those whose first word has a `*`.
    open: Vec<usize>,
}

impl PhraseIndex {
    /// Gives the phrase the next number.
    pub(super) fn add(&mut self, phrase: &Phrase) -> usize {
        let number = self.phrases.len();
        match phrase.0.first() {
            Some(first) if !first.open_before && !first.open_behind => {
                self.by_first.entry(first.letters.clone()).or_default().push(number);
            }
            _ => self.open.push(number),
        }
        self.phrases.push(phrase.clone());
        number
    }

    /// Calls back for each place where a phrase stands: its number, the first of its words, and how many there are.
    /// Places come in their order, and of those that begin together the longest first.
    pub(super) fn find(&self, text: &[Token], mut found: impl FnMut(usize, usize, usize)) {
        let mut here: Vec<(usize, usize)> = Vec::new();
        for (at, token) in text.iter().enumerate() {
            let exact = self.by_first.get(&token.folded).map_or(&[][..], Vec::as_slice);
            let fitting = exact.iter().chain(&self.open).filter(|number| self.phrases[**number].stands_at(&text[at..]));
            here.extend(fitting.map(|number| (*number, self.phrases[*number].0.len())));
            here.sort_by_key(|(number, words)| (std::cmp::Reverse(*words), *number));
            for (number, words) in here.drain(..) {
                found(number, at, words);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_phrases(phrases: &[&str], text: &str) -> Vec<usize> {
        let mut index = PhraseIndex::default();
        for phrase in phrases {
            index.add(&Phrase::new(phrase).unwrap());
        }
        let mut all = Vec::new();
        index.find(&tokens(text), |number, _, _| all.push(number));
        all
    }

    #[test]
    fn phrases_are_whole_words_whatever_their_looks() {
        assert_eq!(find_phrases(&["Invoice no."], "INVOICE\nNO: 12"), [0]);
        assert_eq!(find_phrases(&["invoice"], "invoiced"), [0_usize; 0]);
        assert_eq!(find_phrases(&["relevé de compte"], "RELEVE DE COMPTE"), [0]);
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        assert_eq!(find_phrases(&["*rechnung", "rechnung*", "*vertrag*"], "Abschlagsrechnung"), [0]);
        assert_eq!(find_phrases(&["*rechnung", "rechnung*"], "Rechnungsnummer"), [1]);
        assert_eq!(find_phrases(&["*rechnung nr"], "Teilrechnung Nr. 5"), [0]);
    }

    #[test]
    fn signs_alone_are_no_phrase() {
        assert_eq!(Phrase::new(" * - "), None);
    }
}

//! Words that are looked for, and texts that they are looked for in: whole words, whatever their case and their ending.
//!
//! A word stands for its *forms*: itself and what it may be a plural, an -ing or an -ed of. Two words are the same where
//! they share one. So `zoning`, `zones` and `zone` are, and `art` and `party` are not. The rules are English.

use bindery_core::fold::{fold_letter, is_mark};
use std::collections::{HashMap, HashSet};

/// Plurals by their look, and not by what they mean.
const NOT_PLURAL: [&str; 8] = ["news", "gas", "lens", "series", "species", "always", "texas", "kansas"];

/// A word or several that stand beside each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phrase(Vec<Vec<String>>);

impl Phrase {
    /// None where there is no word in it.
    pub(super) fn new(text: &str) -> Option<Self> {
        let words: Vec<Vec<String>> = split(text).iter().map(|word| forms(word)).collect();
        (!words.is_empty()).then_some(Self(words))
    }
}

/// A text that phrases are looked for in.
#[derive(Debug, Default)]
pub(super) struct Text {
    words: Vec<String>,
    /// Where each form stands.
    places: HashMap<String, Vec<usize>>,
}

impl Text {
    /// Parts are apart: no phrase goes from one into the next.
    pub(super) fn new<'t>(parts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut text = Self::default();
        let mut known: HashMap<String, Vec<String>> = HashMap::new();
        for part in parts {
            for word in split(part) {
                let place = text.words.len();
                let forms = known.entry(word.clone()).or_insert_with(|| forms(&word));
                for form in forms.iter() {
                    text.places.entry(form.clone()).or_default().push(place);
                }
                text.words.push(word);
            }
            text.words.push(String::new());
        }
        text
    }

    pub(super) fn has(&self, phrase: &Phrase) -> bool {
        let Some((first, rest)) = phrase.0.split_first() else { return false };
        let begins: HashSet<usize> = first.iter().filter_map(|form| self.places.get(form)).flatten().copied().collect();
        let goes_on = |begin: usize| {
            rest.iter().zip(begin + 1..).all(|(forms, place)| {
                forms
                    .iter()
                    .any(|form| self.places.get(form).is_some_and(|places| places.binary_search(&place).is_ok()))
            })
        };
        begins.into_iter().any(goes_on)
    }
}

/// The words of a text in small letters without accents. An apostrophe parts none.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for letter in text.chars() {
        if letter.is_alphanumeric() {
            fold_letter(letter, &mut word);
        } else if !is_mark(letter) && !matches!(letter, '\'' | '’') && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The word itself, and what it may be a form of.
fn forms(word: &str) -> Vec<String> {
    let mut all = vec![word.to_owned()];
    singulars(word, &mut all);
    for singular in all.clone() {
        stems(&singular, &mut all);
    }
    all.sort_unstable();
    all.dedup();
    all
}

fn singulars(word: &str, all: &mut Vec<String>) {
    let is_plural = word.len() > 3
        && word.is_ascii()
        && word.ends_with('s')
        && !["ss", "us", "is"].iter().any(|end| word.ends_with(end))
        && !NOT_PLURAL.contains(&word);
    if !is_plural {
        return;
    }
    if let Some(stem) = word.strip_suffix("ies") {
        all.push(format!("{stem}y"));
        all.push(format!("{stem}ie"));
        return;
    }
    let hissing = ["ses", "xes", "zes", "ches", "shes", "oes"];
    if hissing.iter().any(|end| word.ends_with(end)) {
        all.extend(word.strip_suffix("es").map(str::to_owned));
    }
    all.extend(word.strip_suffix('s').map(str::to_owned));
}

/// What an -ing or -ed was put behind.
fn stems(word: &str, all: &mut Vec<String>) {
    if !word.is_ascii() || word.ends_with("eed") {
        return;
    }
    if let Some(stem) = word.strip_suffix("ied").filter(|stem| stem.len() > 1) {
        all.push(format!("{stem}y"));
        return;
    }
    let Some(stem) = word.strip_suffix("ing").or_else(|| word.strip_suffix("ed")) else { return };
    let letters = stem.as_bytes();
    let is_vowel = |place: usize| letters.get(place).is_some_and(|letter| b"aeiouy".contains(letter));
    let count = letters.len();
    if count < 3 || !(0..count).any(is_vowel) {
        return;
    }
    let last = letters.get(count - 1).copied().unwrap_or_default();
    let is_double = letters.get(count - 2) == Some(&last) && !is_vowel(count - 1);
    if is_double {
        // `planning` of plan, `passing` of pass, `selling` of sell and `controlling` of control.
        let one = stem.get(..count - 1).unwrap_or(stem).to_owned();
        match last {
            b's' | b'z' | b'f' => all.push(stem.to_owned()),
            b'l' | b'd' | b'g' => all.extend([stem.to_owned(), one]),
            _ => all.push(one),
        }
        return;
    }
    let syllables = (0..count).filter(|place| is_vowel(*place) && (*place == 0 || !is_vowel(place - 1))).count();
    let ends_short = !is_vowel(count - 1) && is_vowel(count - 2) && !is_vowel(count.wrapping_sub(3));
    // `caring` is of care: of car it would be carring.
    if !(syllables == 1 && ends_short) || matches!(last, b'w' | b'x' | b'y') {
        all.push(stem.to_owned());
    }
    all.push(format!("{stem}e"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(keyword: &str, text: &str) -> bool {
        Text::new([text]).has(&Phrase::new(keyword).unwrap())
    }

    #[test]
    fn forms_of_a_word_are_the_word() {
        for (keyword, text) in [
            ("housing", "HOUSES on Elm Street"),
            ("house", "Affordable Housing plan"),
            ("zoning", "Ordinance to rezone: the zones change"),
            ("rezoning", "the site was rezoned"),
            ("plan", "Planning and plans"),
            ("city", "Cities of the county"),
            ("lease", "Leasing of the pier"),
            ("tax", "new taxes"),
            ("church", "churches and a park"),
            ("buildings", "to build"),
            ("apply", "it applies, they applied"),
            ("hire", "hiring of staff"),
            ("café", "the CAFE's terrace"),
            ("permits", "permitted uses"),
            ("control", "controlled burns"),
        ] {
            assert!(finds(keyword, text), "{keyword} in {text}");
        }
    }

    #[test]
    fn parts_of_words_are_other_words() {
        for (keyword, text) in [
            ("art", "the party started in part"),
            ("car", "caring for carpets"),
            ("plan", "a plane and a plant"),
            ("new", "the news"),
            ("rat", "the rates rating"),
            ("bus", "business"),
            ("king", "asking"),
        ] {
            assert!(!finds(keyword, text), "{keyword} in {text}");
        }
    }

    #[test]
    fn phrases_stand_in_their_order_in_one_part() {
        assert!(finds("rent control", "Ordinance on Rent-Controls"));
        assert!(!finds("rent control", "control of rents"));
        assert!(!finds("rent control", "rent and control"));
        assert!(!Text::new(["the rent", "control it"]).has(&Phrase::new("rent control").unwrap()));
        assert_eq!(Phrase::new(" — "), None);
    }
}

//! The words of all pages and where each stands, in little memory: a submission may have a million pages.

use hashbrown::HashTable;
use serde::{
    Serialize, Serializer,
    ser::{SerializeMap as _, SerializeSeq as _},
};
use std::hash::{BuildHasher as _, RandomState};

/// A word on a page: the number of the word, and the place of the page in the list of pages.
#[derive(Debug, Clone, Copy)]
struct Occurrence {
    word: u32,
    page: u32,
}

/// Different words by their numbers, one behind the other in one text: a million short strings of their own would take
/// several times as much.
#[derive(Debug, Default)]
struct Words {
    text: String,
    /// Where each word ends in the text.
    ends: Vec<usize>,
}

impl Words {
    fn push(&mut self, word: &str) {
        self.text.push_str(word);
        self.ends.push(self.text.len());
    }

    fn get(&self, number: u32) -> &str {
        let number = number as usize;
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[begin..self.ends[number]]
    }
}

/// An inverted index: words, and a flat list of where they stand.
#[derive(Debug, Default)]
pub(super) struct WordIndex {
    /// In the order in which they first came, and how often each did.
    words: Words,
    counts: Vec<u64>,
    /// The numbers of the words, to be found by a word's hash.
    numbers: HashTable<u32>,
    hasher: RandomState,
    /// File and number of each page with words.
    pages: Vec<(u32, u32)>,
    occurrences: Vec<Occurrence>,
}

impl WordIndex {
    /// The words that are added next stand on this page. Files and pages are counted from 1.
    pub(super) fn begin_page(&mut self, file: u32, page: u32) {
        self.pages.push((file, page));
    }

    /// A word that stands `count` times on the page.
    pub(super) fn add(&mut self, word: &str, count: u64) {
        let number = self.number_of(word);
        self.counts[number as usize] += count;
        let page = bounded(self.pages.len().saturating_sub(1));
        self.occurrences.push(Occurrence { word: number, page });
    }

    fn number_of(&mut self, word: &str) -> u32 {
        let Self { words, numbers, hasher, .. } = self;
        let hash = hasher.hash_one(word);
        if let Some(known) = numbers.find(hash, |number| words.get(*number) == word) {
            return *known;
        }
        let number = bounded(words.ends.len());
        words.push(word);
        self.counts.push(0);
        numbers.insert_unique(hash, number, |number| hasher.hash_one(words.get(*number)));
        number
    }

    pub(super) fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// Each word with how often it came.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&str, u64)> {
        (0..).zip(&self.counts).map(|(number, count)| (self.words.get(number), *count))
    }

    /// The finished index: words by the alphabet, each with its places in order.
    pub(super) fn into_places(self) -> Places {
        let Self { words, counts, numbers, pages, mut occurrences, .. } = self;
        drop(numbers);
        let mut sorted = (0..bounded(counts.len())).collect::<Vec<_>>();
        drop(counts);
        sorted.sort_unstable_by_key(|number| words.get(*number));
        let mut rank = vec![0_u32; sorted.len()];
        for (place, number) in sorted.iter().enumerate() {
            rank[*number as usize] = bounded(place);
        }
        for occurrence in &mut occurrences {
            occurrence.word = rank[occurrence.word as usize];
        }
        let on = |page: u32| pages.get(page as usize).copied().unwrap_or_default();
        occurrences.sort_unstable_by_key(|at| (at.word, on(at.page)));
        Places { words, sorted, pages, occurrences }
    }
}

/// A text of a submission has fewer words and pages than that.
fn bounded(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// Word to places, each a file and a page; written as a map of lists.
#[derive(Debug)]
pub(super) struct Places {
    words: Words,
    /// The numbers of the words by the alphabet.
    sorted: Vec<u32>,
    pages: Vec<(u32, u32)>,
    /// With the places of their words in that order.
    occurrences: Vec<Occurrence>,
}

impl Serialize for Places {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.sorted.len()))?;
        for places in self.occurrences.chunk_by(|one, other| one.word == other.word) {
            if let Some(number) = places.first().and_then(|first| self.sorted.get(first.word as usize)) {
                map.serialize_entry(self.words.get(*number), &OnPages { places, pages: &self.pages })?;
            }
        }
        map.end()
    }
}

struct OnPages<'a> {
    places: &'a [Occurrence],
    pages: &'a [(u32, u32)],
}

impl Serialize for OnPages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.places.len()))?;
        for at in self.places {
            list.serialize_element(&self.pages.get(at.page as usize))?;
        }
        list.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_come_by_the_alphabet_and_places_in_order() {
        let mut index = WordIndex::default();
        for (word, count, file, page) in [("ink", 2, 2, 1), ("a", 1, 1, 9), ("ink", 1, 1, 3), ("ink", 1, 1, 2)] {
            index.begin_page(file, page);
            index.add(word, count);
        }
        assert_eq!(index.distinct(), 2);
        assert_eq!(index.counts().map(|(_, count)| count).sum::<u64>(), 5);
        let places = index.into_places();
        assert_eq!(serde_json::to_string(&places).unwrap(), r#"{"a":[[1,9]],"ink":[[1,2],[1,3],[2,1]]}"#);
        assert_eq!(json!(WordIndex::default().into_places()), json!({}));
    }
}

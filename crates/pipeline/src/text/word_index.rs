//! The words of all pages and where each stands, in little memory: a submission may have a million pages.

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap as _, SerializeSeq as _},
};
use std::collections::BTreeMap;

/// A word on a page: the number of the word, and the place of the page in the list of pages.
#[derive(Debug, Clone, Copy)]
struct Occurrence {
    word: u32,
    page: u32,
}

/// An inverted index: words, and a flat list of where they stand. A tree, because a hash table that grows takes three
/// times as much.
#[derive(Debug, Default)]
pub(super) struct WordIndex {
    /// In the order in which they first came, and how often each did.
    numbers: BTreeMap<Box<str>, u32>,
    counts: Vec<u64>,
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
        let known = self.numbers.get(word).copied();
        let number = known.unwrap_or_else(|| {
            let number = number_of(self.counts.len());
            self.numbers.insert(word.into(), number);
            self.counts.push(0);
            number
        });
        if let Some(known) = self.counts.get_mut(number as usize) {
            *known += count;
        }
        let page = number_of(self.pages.len().saturating_sub(1));
        self.occurrences.push(Occurrence { word: number, page });
    }

    pub(super) fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// Each word with how often it came.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&str, u64)> {
        self.numbers.iter().map(|(word, number)| (&**word, self.counts.get(*number as usize).copied().unwrap_or(0)))
    }

    /// The finished index: words by the alphabet, each with its places in order.
    pub(super) fn into_places(self) -> Places {
        let Self { numbers, counts, pages, mut occurrences } = self;
        let mut rank = vec![0_u32; counts.len()];
        drop(counts);
        let mut words = Vec::with_capacity(rank.len());
        for (word, number) in numbers {
            if let Some(rank) = rank.get_mut(number as usize) {
                *rank = number_of(words.len());
            }
            words.push(word);
        }
        for occurrence in &mut occurrences {
            occurrence.word = rank.get(occurrence.word as usize).copied().unwrap_or(0);
        }
        let on = |page: u32| pages.get(page as usize).copied().unwrap_or_default();
        occurrences.sort_unstable_by_key(|at| (at.word, on(at.page)));
        Places { words, pages, occurrences }
    }
}

/// A text of a submission has fewer words and pages than that.
fn number_of(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// Word to places, each a file and a page; written as a map of lists.
#[derive(Debug)]
pub(super) struct Places {
    words: Vec<Box<str>>,
    pages: Vec<(u32, u32)>,
    occurrences: Vec<Occurrence>,
}

impl Serialize for Places {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.words.len()))?;
        for places in self.occurrences.chunk_by(|one, other| one.word == other.word) {
            if let Some(word) = places.first().and_then(|first| self.words.get(first.word as usize)) {
                map.serialize_entry(word, &OnPages { places, pages: &self.pages })?;
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

//! The words of all pages and where each stands, in little memory: a submission may have a million pages.

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap as _, SerializeSeq as _},
};
use std::collections::HashMap;

/// A word on a page.
#[derive(Debug, Clone, Copy)]
struct Occurrence {
    word: u32,
    file: u32,
    page: u32,
}

/// An inverted index: words in the order in which they first came, and a flat list of where they stand.
#[derive(Debug, Default)]
pub(super) struct WordIndex {
    numbers: HashMap<Box<str>, u32>,
    /// How often each word came, by its number.
    counts: Vec<u64>,
    occurrences: Vec<Occurrence>,
}

impl WordIndex {
    /// A word that stands `count` times on a page. Files and pages are counted from 1.
    pub(super) fn add(&mut self, word: &str, count: u64, file: u32, page: u32) {
        let number = match self.numbers.get(word) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.counts.len()).unwrap_or(u32::MAX);
                self.numbers.insert(word.into(), number);
                self.counts.push(0);
                number
            }
        };
        if let Some(known) = self.counts.get_mut(number as usize) {
            *known += count;
        }
        self.occurrences.push(Occurrence { word: number, file, page });
    }

    pub(super) fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// Each word with how often it came.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&str, u64)> {
        self.numbers.iter().map(|(word, number)| (&**word, self.counts.get(*number as usize).copied().unwrap_or(0)))
    }

    /// The finished index: words by the alphabet, each with its places in order.
    pub(super) fn into_places(mut self) -> Places {
        let mut words: Vec<(Box<str>, u32)> = self.numbers.drain().collect();
        words.sort_unstable();
        let mut rank = vec![0_u32; words.len()];
        for (place, (_, number)) in (0_u32..).zip(&words) {
            if let Some(rank) = rank.get_mut(*number as usize) {
                *rank = place;
            }
        }
        for occurrence in &mut self.occurrences {
            occurrence.word = rank.get(occurrence.word as usize).copied().unwrap_or(0);
        }
        self.occurrences.sort_unstable_by_key(|at| (at.word, at.file, at.page));
        Places { words: words.into_iter().map(|(word, _)| word).collect(), occurrences: self.occurrences }
    }
}

/// Word to places, each a file and a page; written as a map of lists.
#[derive(Debug)]
pub(super) struct Places {
    words: Vec<Box<str>>,
    occurrences: Vec<Occurrence>,
}

impl Serialize for Places {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.words.len()))?;
        for places in self.occurrences.chunk_by(|one, other| one.word == other.word) {
            if let Some(word) = places.first().and_then(|first| self.words.get(first.word as usize)) {
                map.serialize_entry(word, &OnPages(places))?;
            }
        }
        map.end()
    }
}

struct OnPages<'a>(&'a [Occurrence]);

impl Serialize for OnPages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for at in self.0 {
            list.serialize_element(&(at.file, at.page))?;
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
            index.add(word, count, file, page);
        }
        assert_eq!(index.distinct(), 2);
        assert_eq!(index.counts().map(|(_, count)| count).sum::<u64>(), 5);
        let places = index.into_places();
        assert_eq!(serde_json::to_string(&places).unwrap(), r#"{"a":[[1,9]],"ink":[[1,2],[1,3],[2,1]]}"#);
        assert_eq!(json!(WordIndex::default().into_places()), json!({}));
    }
}

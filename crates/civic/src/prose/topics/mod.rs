//! Topics of agenda items: sixteen that every jurisdiction shares, and what a jurisdiction adds.
//!
//! Words for topics come from anywhere, a model or a vendor; [`Topics::normalise`] turns them into the known ones and
//! gives back what it does not know, so that nothing is lost in silence. Where nobody names topics, [`Topics::assign`]
//! finds up to three from an item's title and text by rules. [`aggregate`] makes a meeting's topics out of its items'.
//!
//! | module | what it owns |
//! |---|---|
//! | `table` | the topics, their names, synonyms and cues |
//! | `assign` | topics of a text, with scores |

mod assign;
mod table;

pub use assign::Assigned;

use bindery_core::fold::tokens;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use table::CANONICAL;

/// The topic of what fits no other.
pub const OTHER: &str = "other";

/// A topic that a jurisdiction adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalTopic {
    /// As it is stored: `harbor`.
    pub key: String,
    /// As it is shown: `Harbor & Waterfront`.
    pub name: String,
    pub synonyms: Vec<String>,
}

/// What came of words for topics.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Normalised {
    /// Keys, sorted, each once.
    pub topics: Vec<String>,
    /// What no topic was found for, as it was given; for counting.
    pub unknown: Vec<String>,
}

/// The topics that are known, ready for questions.
#[derive(Debug, Clone)]
pub struct Topics {
    /// Key and name, in the order of the table.
    names: Vec<(String, String)>,
    /// Words of keys, names and synonyms, folded; the topic by its place.
    words: HashMap<String, usize>,
    cues: assign::Cues,
}

impl Default for Topics {
    fn default() -> Self {
        Self::with_local(&[])
    }
}

impl Topics {
    /// The sixteen, and those of a jurisdiction. A local topic with a key of the sixteen adds to that one's synonyms.
    pub fn with_local(local: &[LocalTopic]) -> Self {
        let mut names: Vec<(String, String)> = Vec::new();
        let mut words = HashMap::new();
        let mut cues = assign::Cues::default();
        for (at, topic) in CANONICAL.iter().enumerate() {
            names.push((topic.key.to_owned(), topic.name.to_owned()));
            for word in [topic.key, topic.name].iter().chain(&topic.synonyms) {
                words.entry(folded_words(word)).or_insert(at);
            }
            for synonym in &topic.synonyms {
                cues.add(synonym, at, table::SYNONYM_WEIGHT);
            }
            for (cue, weight) in &topic.cues {
                cues.add(cue, at, *weight);
            }
        }
        for topic in local {
            let known = names.iter().position(|(key, _)| *key == topic.key);
            let at = known.unwrap_or_else(|| {
                names.push((topic.key.clone(), topic.name.clone()));
                names.len() - 1
            });
            for word in [&topic.key, &topic.name].into_iter().chain(&topic.synonyms) {
                // What a jurisdiction says of its own words counts.
                words.insert(folded_words(word), at);
                cues.add(word, at, table::LOCAL_WEIGHT);
            }
        }
        words.remove("");
        Self { names, words, cues }
    }

    /// The name that a topic is shown by.
    pub fn name(&self, key: &str) -> Option<&str> {
        self.names.iter().find(|(known, _)| known == key).map(|(_, name)| name.as_str())
    }

    /// Keys with their names, the canonical ones first.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().map(|(key, name)| (key.as_str(), name.as_str()))
    }

    /// The topic that words mean: exactly, or by the longest synonym that stands in them as whole words.
    pub fn topic_of(&self, words: &str) -> Option<&str> {
        let wanted = folded_words(words);
        let exact = self.words.get(&wanted).copied();
        let place = exact.or_else(|| {
            let around = format!(" {wanted} ");
            let held = self.words.iter().filter(|(synonym, _)| around.contains(&format!(" {synonym} ")));
            // Of equally long ones the topic that comes first in the table.
            held.max_by_key(|(synonym, at)| (synonym.len(), std::cmp::Reverse(**at))).map(|(_, at)| *at)
        })?;
        self.names.get(place).map(|(key, _)| key.as_str())
    }

    /// The known topics among words for topics, and the words that mean none.
    pub fn normalise<W: AsRef<str>>(&self, words: impl IntoIterator<Item = W>) -> Normalised {
        let mut topics = BTreeSet::new();
        let mut unknown = Vec::new();
        for word in words {
            let word = word.as_ref().trim();
            match self.topic_of(word) {
                Some(topic) => {
                    topics.insert(topic.to_owned());
                }
                None if !word.is_empty() => unknown.push(word.to_owned()),
                None => {}
            }
        }
        Normalised { topics: topics.into_iter().collect(), unknown }
    }

    /// One to three topics of an item, the likeliest first; [`OTHER`] alone where no rule fits.
    pub fn assign(&self, title: &str, text: &str) -> Vec<Assigned> {
        let scores = self.cues.scores(title, text, self.names.len());
        let key = |at: usize| self.names.get(at).map(|(key, _)| key.clone());
        let chosen = assign::choose(&scores);
        let assigned: Vec<Assigned> =
            chosen.into_iter().filter_map(|(at, score)| Some(Assigned { topic: key(at)?, score })).collect();
        if assigned.is_empty() { vec![Assigned { topic: OTHER.to_owned(), score: 0.0 }] } else { assigned }
    }
}

/// Words as they are compared: small letters without accents, single spaces, `_` and `-` as spaces.
fn folded_words(words: &str) -> String {
    tokens(words).into_iter().map(|token| token.folded).collect::<Vec<_>>().join(" ")
}

/// The topics of a meeting: those of its items, the most frequent first, equals by their names. What is merely
/// [`OTHER`] comes last.
pub fn aggregate<'t>(items: impl IntoIterator<Item = &'t [String]>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for item in items {
        let each: BTreeSet<&str> = item.iter().map(String::as_str).collect();
        for topic in each {
            *counts.entry(topic).or_default() += 1;
        }
    }
    let mut all: Vec<(String, usize)> = counts.into_iter().map(|(topic, count)| (topic.to_owned(), count)).collect();
    all.sort_by_key(|(topic, count)| (topic == OTHER, std::cmp::Reverse(*count)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_sixteen_topics_and_no_synonym_means_two() {
        assert_eq!(CANONICAL.len(), 16);
        let topics = Topics::default();
        for topic in CANONICAL.iter() {
            for synonym in &topic.synonyms {
                assert_eq!(topics.topic_of(synonym), Some(topic.key), "{synonym}");
            }
            assert_eq!(topics.topic_of(&topic.key.to_uppercase()), Some(topic.key));
            assert_eq!(topics.topic_of(topic.name), Some(topic.key));
        }
    }

    #[test]
    fn the_longest_synonym_wins_and_the_unknown_is_given_back() {
        let topics = Topics::default();
        // "water" is of utilities; the longer one decides.
        assert_eq!(topics.topic_of("Regional water conservation plan"), Some("environment"));
        assert_eq!(topics.topic_of("Police budget review"), Some("public_safety"));
        assert_eq!(topics.topic_of("waterfall"), None);
        let found = topics.normalise(["Affordable Housing ", "rezoning", "housing", "underwater basketry", ""]);
        assert_eq!(found.topics, ["housing", "zoning"]);
        assert_eq!(found.unknown, ["underwater basketry"]);
    }

    #[test]
    fn jurisdictions_add_topics_of_their_own() {
        let harbor = LocalTopic { key: "harbor".into(), name: "Harbor".into(), synonyms: vec!["marina".into()] };
        let topics = Topics::with_local(&[harbor]);
        assert_eq!(topics.topic_of("Marina dredging"), Some("harbor"));
        assert_eq!(topics.name("harbor"), Some("Harbor"));
        assert_eq!(topics.assign("Dredging of the marina", "")[0].topic, "harbor");
        assert_eq!(topics.all().count(), 17);
    }

    #[test]
    fn titles_find_their_topics() {
        let topics = Topics::default();
        for (title, expected) in [
            ("Ordinance rezoning 12 Mill Road from R-1 to C-2", "zoning"),
            ("Award of contract for resurfacing of Main Street", "transportation"),
            ("Second amendment to the agreement with Brook Steel, Inc. for pump maintenance", "contracts"),
            ("Appointment of two members to the Library Board", "appointments"),
            ("Adoption of the fiscal year 2027 budget", "budget"),
            ("Purchase of two fire engines for the Fire Department", "public_safety"),
            ("Replacement of the sewer main in Elm Street", "utilities"),
            ("Lease of city property for affordable housing", "housing"),
            ("Playground renovation in Riverside Park", "parks"),
            ("Liquor licence for 5 Main Street", "permits"),
        ] {
            let found = topics.assign(title, "");
            assert!((1..=3).contains(&found.len()), "{title}");
            assert!(found.iter().any(|assigned| assigned.topic == expected), "{title}: {found:?}");
        }
        assert_eq!(topics.assign("Roll call", "")[0].topic, OTHER);
    }

    #[test]
    fn a_meeting_has_the_topics_of_its_items_by_frequency() {
        let items =
            [vec!["zoning", "housing"], vec!["housing"], vec!["other"], vec!["other"], vec!["other"], vec!["parks"]];
        let items: Vec<Vec<String>> =
            items.into_iter().map(|item| item.into_iter().map(str::to_owned).collect()).collect();
        let all = aggregate(items.iter().map(Vec::as_slice));
        let keys: Vec<(&str, usize)> = all.iter().map(|(topic, count)| (topic.as_str(), *count)).collect();
        assert_eq!(keys, [("housing", 2), ("parks", 1), ("zoning", 1), ("other", 3)]);
    }
}

//! The topics as data: `topics.txt` beside this module, read once.
//!
//! Synonyms are the words that mean a topic when somebody names one. Cues are the words that make a topic likely when
//! they stand in a title or a text, each with a weight; synonyms are cues, too.

use crate::prose::word_lists::{sections, with_remark};
use std::sync::LazyLock;

/// What a synonym counts as a cue.
pub(super) const SYNONYM_WEIGHT: f32 = 1.0;
/// What the words of a jurisdiction's own topic count.
pub(super) const LOCAL_WEIGHT: f32 = 1.2;

/// One topic.
#[derive(Debug)]
pub(super) struct CanonicalTopic {
    pub(super) key: &'static str,
    pub(super) name: &'static str,
    pub(super) synonyms: Vec<&'static str>,
    /// With their weights, which count instead of that of a synonym.
    pub(super) cues: Vec<(&'static str, f32)>,
}

pub(super) static CANONICAL: LazyLock<Vec<CanonicalTopic>> = LazyLock::new(|| {
    let topics = sections(include_str!("topics.txt")).into_iter().map(|list| {
        let (key, name) = list.heading.split_once(": ").unwrap_or((list.heading, list.heading));
        let mut topic = CanonicalTopic { key, name, synonyms: Vec::new(), cues: Vec::new() };
        for line in list.lines {
            let (words, weight) = with_remark(line);
            match weight.parse() {
                Ok(weight) => topic.cues.push((words, weight)),
                Err(_) => topic.synonyms.push(words),
            }
        }
        topic
    });
    topics.collect()
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prose::word_lists::entries;

    #[test]
    fn every_remark_is_a_weight() {
        for line in entries(include_str!("topics.txt")) {
            let (_, weight) = with_remark(line);
            assert!(weight.is_empty() || weight.parse::<f32>().is_ok_and(|it| (0.0..=2.0).contains(&it)), "{line}");
        }
        assert!(
            CANONICAL.iter().all(|topic| topic.key != topic.name && !topic.cues.is_empty() || topic.key == "other")
        );
    }
}

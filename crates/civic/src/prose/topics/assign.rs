//! Topics of a text by the words in it. A cue in the title counts for much; in a long text, one mention for little.

use super::folded_words;
use bindery_core::fold::tokens;
use std::collections::HashMap;

/// How much more a title's word counts.
const IN_TITLE: f32 = 4.0;
/// A topic with less is no topic of the item.
const LEAST: f32 = 1.6;
/// A further topic has at least this share of the best one's score.
const SHARE: f32 = 0.45;
const MOST_TOPICS: usize = 3;
/// What comes behind this many words is not looked at, so that no packet takes long.
const MOST_WORDS: usize = 30_000;

/// A topic that the rules found.
#[derive(Debug, Clone, PartialEq)]
pub struct Assigned {
    pub topic: String,
    /// Comparable within one item only.
    pub score: f32,
}

#[derive(Debug, Clone)]
struct Cue {
    words: Vec<String>,
    topic: usize,
    weight: f32,
}

/// Cues by their first words.
#[derive(Debug, Clone, Default)]
pub(super) struct Cues {
    all: Vec<Cue>,
    by_first: HashMap<String, Vec<usize>>,
}

impl Cues {
    pub(super) fn add(&mut self, cue: &str, topic: usize, weight: f32) {
        let words: Vec<String> = folded_words(cue).split(' ').map(singular).collect();
        let Some(first) = words.first().filter(|word| !word.is_empty()).cloned() else { return };
        let places = self.by_first.entry(first).or_default();
        // A cue that was weighed by hand comes behind its topic's synonyms, and counts instead of them.
        let known =
            places.iter().find(|at| self.all.get(**at).is_some_and(|cue| cue.words == words && cue.topic == topic));
        if let Some(known) = known.and_then(|at| self.all.get_mut(*at)) {
            known.weight = weight;
        } else {
            places.push(self.all.len());
            self.all.push(Cue { words, topic, weight });
        }
    }

    /// The score of each topic.
    pub(super) fn scores(&self, title: &str, text: &str, topics: usize) -> Vec<f32> {
        let mut scores = vec![0.0; topics];
        let mut add = |topic: usize, points: f32| {
            if let Some(score) = scores.get_mut(topic) {
                *score += points;
            }
        };
        for at in self.count_cues(title).0.keys() {
            if let Some(cue) = self.all.get(*at) {
                add(cue.topic, cue.weight * IN_TITLE);
            }
        }
        let (counts, words) = self.count_cues(text);
        // In a short text every word was meant.
        let damping = 0.5 + (words as f32 / 100.0).max(1.0).ln() * 0.8;
        for (at, count) in counts {
            if let Some(cue) = self.all.get(at) {
                add(cue.topic, cue.weight * (1.0 + (count as f32).ln()) / damping);
            }
        }
        scores
    }

    /// How often each cue stands in a text, and how many words it has. Where several begin at one word the longest
    /// counts: "water conservation" says nothing of water pipes.
    fn count_cues(&self, text: &str) -> (std::collections::BTreeMap<usize, usize>, usize) {
        let words: Vec<String> =
            tokens(text).into_iter().take(MOST_WORDS).map(|token| singular(&token.folded)).collect();
        let mut counts = std::collections::BTreeMap::new();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let rest = words.get(at..).unwrap_or_default();
            let fits = |place: &&usize| self.all.get(**place).is_some_and(|cue| rest.starts_with(&cue.words));
            let length = |place: &usize| self.all.get(*place).map_or(0, |cue| cue.words.len());
            let fitting: Vec<usize> = self.by_first.get(word).into_iter().flatten().filter(fits).copied().collect();
            let longest = fitting.iter().map(length).max().unwrap_or(1);
            for place in fitting.into_iter().filter(|place| length(place) == longest) {
                *counts.entry(place).or_default() += 1;
            }
            at += longest.max(1);
        }
        (counts, words.len())
    }
}

/// "Permits" is the same as "permit".
fn singular(word: &str) -> String {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word.to_owned(),
    }
}

/// The topics with enough score, the best first; of equals the first in the table.
pub(super) fn choose(scores: &[f32]) -> Vec<(usize, f32)> {
    let mut ranked: Vec<(usize, f32)> =
        scores.iter().copied().enumerate().filter(|(_, score)| *score >= LEAST).collect();
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let best = ranked.first().map_or(0.0, |(_, score)| *score);
    ranked.retain(|(_, score)| *score >= best * SHARE);
    ranked.truncate(MOST_TOPICS);
    ranked
}

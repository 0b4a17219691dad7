//! The score of a page for each type, and what it is made of.

use super::{
    class::PageClass,
    confidence::ClassCalibration,
    phrases::PhraseIndex,
    reason::{Reason, quote},
    recognition::{Position, Rule, Turn, Wanted},
    signals::{Signal, detect_signals},
    view::{TextSegment, View},
};
use crate::doctype::{DocTypes, OTHER};
use bindery_core::Name;
use bindery_reader::{Page, model::PageKind};
use std::collections::HashMap;

/// How many other types a result names.
const RUNNERS_UP: usize = 3;
/// Less likely ones are not worth a line.
const LEAST_LIKELIHOOD: f64 = 0.005;
/// How sure it is that a page without text is none of the types: a picture may still show one.
const BLANK_CONFIDENCE: f64 = 0.97;
const UNREAD_CONFIDENCE: f64 = 0.5;

/// Tells what pages are. Made once, used for all pages, from any number of threads.
#[derive(Debug)]
pub struct Classifier {
    types: Vec<Type>,
    other: Name,
    index: PhraseIndex,
    /// For each phrase of the index, the type and the rule it belongs to.
    owners: Vec<(usize, usize)>,
    calibration: ClassCalibration,
}

#[derive(Debug)]
struct Type {
    name: Name,
    rules: Vec<Rule>,
    looks: Vec<(Signal, f64)>,
}

/// A phrase or pattern that was found: how much it weighs there, and in which words.
#[derive(Debug, Clone)]
struct RuleHit {
    phrase: usize,
    weight: f64,
    in_title: bool,
    quote: String,
}

impl Classifier {
    pub fn new(doctypes: &DocTypes) -> Self {
        let types: Vec<Type> = doctypes
            .iter()
            .map(|doctype| Type {
                name: doctype.name.clone(),
                rules: doctype.recognise.rules.clone(),
                looks: doctype.recognise.looks.clone(),
            })
            .collect();
        let mut index = PhraseIndex::default();
        let mut owners = Vec::new();
        for (type_number, doctype) in types.iter().enumerate() {
            for (rule_number, rule) in doctype.rules.iter().enumerate() {
                let (Wanted::Any(phrases) | Wanted::Each(phrases, _)) = &rule.wanted else { continue };
                for (at, phrase) in phrases.iter().enumerate() {
                    // Languages share words; one that is listed twice counts once.
                    if !phrases[..at].contains(phrase) {
                        index.add(phrase);
                        owners.push((type_number, rule_number));
                    }
                }
            }
        }
        Self { types, other: Name::from(OTHER), index, owners, calibration: ClassCalibration::default() }
    }

    /// What this page is, judged alone.
    pub fn classify(&self, page: &Page) -> PageClass {
        let view = View::new(page);
        if view.words == 0 {
            return self.without_text(page);
        }
        conclude(self.verdicts(page, &view), self.calibration, view.words)
    }

    /// The sum of what speaks for each type, `other` without its head start: for those who fit the calibration.
    pub fn scores(&self, page: &Page) -> Vec<(Name, f64)> {
        let verdicts = self.verdicts(page, &View::new(page));
        verdicts.into_iter().map(|verdict| (verdict.name, verdict.score)).collect()
    }

    /// One for each type; there is always one for `other`.
    fn verdicts(&self, page: &Page, view: &View) -> Vec<TypeScore> {
        let signals = detect_signals(page, view);
        let hits = self.hits(view);
        let mut verdicts: Vec<TypeScore> =
            self.types.iter().zip(hits).map(|(doctype, hits)| TypeScore::new(doctype, hits, &signals)).collect();
        if !self.types.iter().any(|doctype| doctype.name == self.other) {
            verdicts.push(TypeScore::empty(self.other.clone()));
        }
        verdicts
    }

    fn without_text(&self, page: &Page) -> PageClass {
        let blank = page.kind == PageKind::Blank && page.warnings.is_empty();
        let (text, confidence) = if blank {
            ("the page is blank", BLANK_CONFIDENCE)
        } else {
            ("there is no text on the page that could be read", UNREAD_CONFIDENCE)
        };
        let because = vec![Reason::new(text, 0.0)];
        PageClass { doctype: self.other.clone(), confidence, because, runners_up: Vec::new(), begins: 0.0, ends: 0.0 }
    }

    /// For each type, for each of its rules, what was found.
    fn hits(&self, view: &View) -> Vec<Vec<Vec<RuleHit>>> {
        let mut hits: Vec<Vec<Vec<RuleHit>>> =
            self.types.iter().map(|doctype| vec![Vec::new(); doctype.rules.len()]).collect();
        for segment in &view.segments {
            // Where the last phrase of each rule ended: "experience" within "work experience" is not another hit.
            let mut ends: HashMap<(usize, usize), usize> = HashMap::new();
            self.index.find(&segment.tokens, |phrase, at, count| {
                let (type_number, rule_number) = self.owners[phrase];
                let rule = &self.types[type_number].rules[rule_number];
                let Some(weight) = weight_at(rule, segment, count) else { return };
                let end = ends.entry((type_number, rule_number)).or_default();
                if at + count <= *end {
                    return;
                }
                *end = at + count;
                let (first, last) = (&segment.tokens[at], &segment.tokens[at + count - 1]);
                let found = &segment.text[first.start..last.end];
                keep(&mut hits[type_number][rule_number], phrase, weight, segment, found);
            });
        }
        let patterns = self.types.iter().zip(&mut hits).flat_map(|(doctype, hits)| doctype.rules.iter().zip(hits));
        for (rule, hits) in patterns {
            if let Wanted::Pattern(pattern) = &rule.wanted {
                for segment in &view.segments {
                    let Some(found) = pattern.find(&segment.folded) else { continue };
                    let words = found.as_str().split_whitespace().count();
                    if let Some(weight) = weight_at(rule, segment, words) {
                        keep(hits, usize::MAX, weight, segment, found.as_str());
                    }
                }
            }
        }
        hits
    }
}

/// Keeps a hit unless the same phrase already counts as much.
fn keep(hits: &mut Vec<RuleHit>, phrase: usize, weight: f64, segment: &TextSegment, found: &str) {
    let known = hits.iter_mut().find(|hit| hit.phrase == phrase);
    match known {
        Some(hit) if hit.weight.abs() >= weight.abs() => {}
        Some(hit) => *hit = RuleHit { phrase, weight, in_title: segment.zones.title, quote: quote(found) },
        None => hits.push(RuleHit { phrase, weight, in_title: segment.zones.title, quote: quote(found) }),
    }
}

/// What a rule weighs for so many words of a segment; None if it does not hold there.
fn weight_at(rule: &Rule, segment: &TextSegment, words: usize) -> Option<f64> {
    let zones = segment.zones;
    let holds = match rule.place {
        Position::Anywhere | Position::AnywhereRatherTitle => true,
        Position::Title if rule.turn == Turn::First && segment.is_numbered() => false,
        Position::Title => segment.is_title_of(words),
        Position::Top => zones.top,
        Position::Bottom => zones.bottom,
        Position::TableHeader => zones.table_header,
    };
    let twice = rule.place == Position::AnywhereRatherTitle && segment.is_title_of(words);
    holds.then_some(if twice { rule.weight * 2.0 } else { rule.weight })
}

/// What speaks for one type.
#[derive(Debug)]
struct TypeScore {
    name: Name,
    score: f64,
    begins: f64,
    ends: f64,
    because: Vec<Reason>,
}

impl TypeScore {
    fn empty(name: Name) -> Self {
        Self { name, score: 0.0, begins: 0.0, ends: 0.0, because: Vec::new() }
    }

    fn new(doctype: &Type, hits: Vec<Vec<RuleHit>>, signals: &[Signal]) -> Self {
        let mut verdict = Self::empty(doctype.name.clone());
        for (rule, mut hits) in doctype.rules.iter().zip(hits) {
            // The heaviest count; a sort that keeps the order of equal ones keeps the answer the same every time.
            hits.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
            let most = if let Wanted::Each(_, most) = rule.wanted { most as usize } else { 1 };
            hits.truncate(most);
            if hits.is_empty() {
                continue;
            }
            let weight: f64 = hits.iter().map(|hit| hit.weight).sum();
            match rule.turn {
                Turn::Any => {}
                Turn::First => verdict.begins += weight.max(0.0),
                Turn::Later => verdict.begins -= weight.abs(),
                Turn::Last => verdict.ends += weight.max(0.0),
            }
            verdict.score += weight;
            verdict.because.push(Reason::new(describe(rule, &hits), weight));
        }
        for (signal, weight) in &doctype.looks {
            if signals.contains(signal) {
                verdict.score += weight;
                verdict.because.push(Reason::new(signal.sentence(), *weight));
            }
        }
        verdict.because.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        verdict
    }
}

/// What was found, as a sentence.
fn describe(rule: &Rule, hits: &[RuleHit]) -> String {
    let quotes: Vec<&str> = hits.iter().map(|hit| hit.quote.as_str()).collect();
    let quotes = match quotes.as_slice() {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => quotes.join(""),
    };
    let place = match rule.place {
        _ if hits.iter().all(|hit| hit.in_title) => "the title says",
        Position::TableHeader => "a table's columns are called",
        Position::Top => "the top of the page says",
        Position::Bottom => "the lower part of the page says",
        _ => "the page says",
    };
    match &rule.because {
        Some(label) => format!("{place} {quotes} ({label})"),
        None => format!("{place} {quotes}"),
    }
}

fn conclude(verdicts: Vec<TypeScore>, calibration: ClassCalibration, words: usize) -> PageClass {
    let scores: Vec<(Name, f64)> = verdicts.iter().map(|verdict| (verdict.name.clone(), verdict.score)).collect();
    let mut ranked: Vec<(TypeScore, f64)> = verdicts.into_iter().zip(calibration.likelihoods(&scores)).collect();
    // By name where all else is equal, so that the order of the files does not matter.
    ranked.sort_by(|(a, likely_a), (b, likely_b)| {
        likely_b.total_cmp(likely_a).then(b.score.total_cmp(&a.score)).then_with(|| a.name.cmp(&b.name))
    });
    let mut ranked = ranked.into_iter();
    let Some((best, confidence)) = ranked.next() else {
        // There is always `other`; this keeps the promise without a panic.
        let because = vec![Reason::new("no type is known", 0.0)];
        let doctype = Name::from(OTHER);
        return PageClass { doctype, confidence: 0.0, because, runners_up: Vec::new(), begins: 0.0, ends: 0.0 };
    };
    let mut because = best.because;
    if because.is_empty() {
        because.push(Reason::new(nothing_fits(words), 0.0));
    }
    let runners_up = ranked
        .take(RUNNERS_UP)
        .filter(|(_, likelihood)| *likelihood >= LEAST_LIKELIHOOD)
        .map(|(verdict, likelihood)| (verdict.name, likelihood))
        .collect();
    PageClass { doctype: best.name, confidence, because, runners_up, begins: best.begins, ends: best.ends }
}

fn nothing_fits(words: usize) -> String {
    match words {
        1 => "there is only one word on the page".to_owned(),
        2..=12 => format!("there are only {words} words on the page"),
        _ => "no type's phrases and looks fit well enough".to_owned(),
    }
}

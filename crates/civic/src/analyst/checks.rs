//! A model's answer is not believed: what it says is looked up in the texts that it was given.

use super::{
    Document, Reading,
    schema::{MOST_TOPICS, STAGES, Said},
};
use crate::prose::{
    numbers,
    subject::{shared_stems, speaks_of, telling_stems},
    topics::{OTHER, Topics},
};
use bindery_models::{Answer, Soundness};
use std::sync::Arc;

/// A summary that does not speak of its title has at least this share of its telling words from the texts.
const SHARE: f64 = 0.5;
/// So many numbers are named in a note.
const MOST_NAMED: usize = 8;
/// Stands below a summary that broke off.
const BROKEN: &str = "*The language model's answer broke off here; its end is missing.*";

/// What an answer is held against.
pub(super) struct Given<'a> {
    pub(super) title: &'a str,
    /// Everything that was sent.
    pub(super) source: &'a str,
    pub(super) documents: &'a [Arc<Document>],
    pub(super) topics: &'a Topics,
}

/// An answer as a reading, with notes on what it states and the texts do not; or why it cannot be used.
pub(super) fn checked(answer: Answer, given: &Given<'_>, method: String) -> Result<Reading, String> {
    let mut said: Said =
        serde_json::from_value(answer.value).map_err(|error| format!("the answer cannot be read: {error}"))?;
    let summary = said.summary_markdown.trim().to_owned();
    if summary.is_empty() {
        return Err("the answer has no summary".to_owned());
    }
    if !is_about(&summary, given) {
        return Err("the answer speaks of something else than the item".to_owned());
    }
    said.summary_markdown = summary;
    let mut notes = Vec::new();
    if matches!(answer.soundness, Soundness::Salvaged { .. }) {
        notes.push("the answer of the language model broke off, and its end is missing".to_owned());
        said.summary_markdown.extend(["\n\n", BROKEN]);
    }
    notes.extend(number_note(&said.summary_markdown, given.source));
    notes.extend(keep_facts_that_are_stated(&mut said, given.source));
    keep_citations_that_exist(&mut said, given.documents);
    said.decision_stage = said.decision_stage.take().filter(|stage| STAGES.contains(&stage.as_str()));
    let words = said.topics.iter().chain(&answer.dropped).take(MOST_TOPICS);
    let normalised = given.topics.normalise(words);
    let topics = if normalised.topics.is_empty() { topics_by_rules(&said, given) } else { normalised.topics };
    Ok(Reading {
        topics,
        unknown_topics: normalised.unknown,
        details: said.details(&answer.model),
        summary: said.summary_markdown,
        method,
        notes,
        cost_micros: answer.cost_micros,
        from_cache: answer.from_cache,
    })
}

/// An answer with no topic of the list has none; one that broke off before it named any has those that the rules find.
fn topics_by_rules(said: &Said, given: &Given<'_>) -> Vec<String> {
    let broke_off = said.summary_markdown.ends_with(BROKEN);
    if !broke_off {
        return vec![OTHER.to_owned()];
    }
    let assigned = given.topics.assign(given.title, &said.summary_markdown);
    assigned.into_iter().map(|assigned| assigned.topic).collect()
}

/// Answers of a batch were mixed up once; this is the second look, behind the echoed id.
fn is_about(summary: &str, given: &Given<'_>) -> bool {
    if !telling_stems(given.title).is_empty() && speaks_of(summary, given.title) {
        return true;
    }
    let said = telling_stems(summary);
    said.is_empty() || shared_stems(&said, given.source) as f64 >= said.len() as f64 * SHARE
}

fn number_note(summary: &str, source: &str) -> Option<String> {
    let absent = numbers::unsupported(summary, source);
    let named: Vec<&str> = absent.iter().take(MOST_NAMED).map(|number| number.text.as_str()).collect();
    let more = if absent.len() > MOST_NAMED { " and others" } else { "" };
    let note = || format!("numbers of the summary that stand in no document: {}{more}", named.join(", "));
    (!named.is_empty()).then(note)
}

/// Facts are for programs, which cannot doubt: one that the texts do not state is left out.
fn keep_facts_that_are_stated(said: &mut Said, source: &str) -> Option<String> {
    let amounts = said.key_facts.money.iter().map(|fact| fact.amount.as_str());
    let dates = said.key_facts.dates.iter().map(|fact| fact.date.as_str());
    let addresses = said.key_facts.addresses.iter().map(String::as_str);
    // All at once: the source is long, and reading its numbers takes time.
    let all: Vec<&str> = amounts.chain(dates).chain(addresses).collect();
    let absent = numbers::unsupported(&all.join(" ; "), source);
    let is_stated = |text: &str| !absent.iter().any(|number| text.contains(&number.text));
    let source_words = telling_stems(source);
    let is_named = |text: &str| {
        let words = telling_stems(text);
        words.iter().all(|word| source_words.contains(word))
    };
    let facts = &mut said.key_facts;
    let before = facts.money.len() + facts.dates.len() + facts.addresses.len() + facts.parties.len();
    facts.money.retain(|fact| is_stated(&fact.amount) && fact.amount.contains(|c: char| c.is_ascii_digit()));
    facts.dates.retain(|fact| is_stated(&fact.date) && !fact.date.trim().is_empty());
    facts.addresses.retain(|address| is_stated(address) && is_named(address) && !address.trim().is_empty());
    facts.parties.retain(|fact| is_named(&fact.name) && !fact.name.trim().is_empty());
    let after = facts.money.len() + facts.dates.len() + facts.addresses.len() + facts.parties.len();
    match before - after {
        0 => None,
        1 => Some("one fact that stands in no document was left out".to_owned()),
        count => Some(format!("{count} facts that stand in no document were left out")),
    }
}

fn keep_citations_that_exist(said: &mut Said, documents: &[Arc<Document>]) {
    let mut kept = Vec::new();
    for mut cited in std::mem::take(&mut said.citations) {
        let wanted = cited.doc.trim().trim_matches('=').trim();
        let Some(document) = documents.iter().find(|document| document.name.trim().eq_ignore_ascii_case(wanted)) else {
            continue;
        };
        cited.doc.clone_from(&document.name);
        cited.page = cited.page.filter(|page| (1..=i64::from(document.page_count)).contains(page));
        if !kept.contains(&cited) {
            kept.push(cited);
        }
    }
    said.citations = kept;
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_models::Usage;
    use serde_json::{Value, json};
    use std::time::Duration;

    const SOURCE: &str = "Agenda item: Pump maintenance\n=== Staff report ===\nBrook Steel, Inc. repairs the pumps at 12 \
        Mill Road for $450,000 until June 30, 2029.";

    fn read(value: Value, soundness: Soundness, dropped: &[&str]) -> Result<Reading, String> {
        let document = Document { name: "Staff report".to_owned(), text: SOURCE.to_owned(), page_count: 3 };
        let answer = Answer {
            value,
            model: "small-model".to_owned(),
            usage: Usage::default(),
            cost_micros: 7,
            latency: Duration::ZERO,
            from_cache: false,
            soundness,
            dropped: dropped.iter().map(|word| (*word).to_owned()).collect(),
        };
        let topics = Topics::default();
        let documents = [Arc::new(document)];
        let given = Given { title: "Pump maintenance", source: SOURCE, documents: &documents, topics: &topics };
        checked(answer, &given, "small-model item/1".to_owned())
    }

    #[test]
    fn a_number_that_stands_nowhere_becomes_a_note_and_an_invented_fact_is_left_out() {
        let read = read(
            json!({"summary_markdown": "**Brook Steel** keeps the pumps for **$450,000**, or $150,000 a year.",
                "topics": ["utilities"],
                "key_facts": {"money": [{"amount": "$450,000"}, {"amount": "$9 million"}], "dates": [{"date": "2029-06-30"}],
                    "addresses": ["12 Mill Road", "7 Elm Street"], "parties": [{"name": "Brook Steel, Inc."}, {"name": "Ann Nobody"}]},
                "citations": [{"doc": "staff report", "page": 2}, {"doc": "Staff report", "page": 9}, {"doc": "Budget"}],
                "decision_stage": "soon", "confidence": 0.8}),
            Soundness::Whole,
            &[],
        )
        .unwrap();
        assert_eq!(
            read.notes,
            [
                "numbers of the summary that stand in no document: $150,000",
                "3 facts that stand in no document were left out"
            ]
        );
        let facts = &read.details["key_facts"];
        assert_eq!(facts["amounts"], json!([{"text": "$450,000", "what_for": null}]));
        assert_eq!(facts["dates"][0]["date"], "2029-06-30");
        assert_eq!(facts["addresses"], json!([{"text": "12 Mill Road"}]));
        assert_eq!(facts["parties"].as_array().map(Vec::len), Some(1));
        assert_eq!(facts["decision_stage"], Value::Null);
        let citations = json!([{"document": "Staff report", "page": 2}, {"document": "Staff report", "page": null}]);
        assert_eq!(read.details["citations"], citations);
        assert_eq!((read.cost_micros, read.method.as_str()), (7, "small-model item/1"));
    }

    #[test]
    fn topics_are_those_that_are_known_and_the_others_are_given_back() {
        let summary = "The pumps are repaired.";
        let topics = |topics: Value, dropped: &[&str]| {
            let read = read(json!({"summary_markdown": summary, "topics": topics}), Soundness::Whole, dropped).unwrap();
            (read.topics, read.unknown_topics)
        };
        let texts = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(topics(json!(["utilities", "contracts"]), &[]), (texts(&["contracts", "utilities"]), vec![]));
        assert_eq!(topics(json!([]), &["Affordable housing", "cats"]), (texts(&["housing"]), texts(&["cats"])));
        assert_eq!(topics(json!([]), &["cats"]), (texts(&["other"]), texts(&["cats"])), "all dropped");
        assert_eq!(topics(json!([]), &[]), (texts(&["other"]), vec![]));
    }

    #[test]
    fn an_answer_about_something_else_is_refused_and_a_broken_one_is_marked() {
        let other =
            json!({"summary_markdown": "The library hires two librarians for its evening hours.", "topics": []});
        assert!(read(other, Soundness::Whole, &[]).unwrap_err().contains("something else"));
        assert!(read(json!({"topics": ["parks"]}), Soundness::Whole, &[]).unwrap_err().contains("no summary"));
        let missing = vec!["topics".to_owned()];
        let broken = json!({"summary_markdown": "The pumps of the sewer are rep"});
        let read = read(broken, Soundness::Salvaged { missing }, &[]).unwrap();
        assert!(read.summary.ends_with(BROKEN) && read.notes[0].contains("broke off"), "{read:?}");
        assert_eq!(read.topics, ["utilities"], "by rules");
    }
}

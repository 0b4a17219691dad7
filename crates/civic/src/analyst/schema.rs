//! The shape of a model's answer, and what becomes of it: one shape of details for all summaries.
//!
//! Two fields are required, the summary and its topics. The others make a summary better and are not worth a second bill:
//! one that does not fit is left out.

use crate::prose::topics::{OTHER, Topics};
use bindery_models::{Schema, SchemaError};
use serde::Deserialize;
use serde_json::{Value, json};

/// Of the fields beside the summary and its topics; stands in the details.
pub(super) const DETAILS_VERSION: u32 = 1;

/// No item is about more.
pub(super) const MOST_TOPICS: usize = 3;

/// How far a decision has come, as the summaries by rules say it too.
pub(super) const STAGES: &[&str] = &["information", "first_reading", "hearing", "final"];

pub(super) fn schema(topics: &Topics) -> Result<Schema, SchemaError> {
    let keys: Vec<&str> = topics.all().map(|(key, _)| key).filter(|key| *key != OTHER).collect();
    let list = |item: Value| json!({"type": "array", "items": item});
    let text = |description: &str| json!({"type": "string", "description": description});
    Schema::new(json!({
        "type": "object",
        "required": ["summary_markdown", "topics"],
        "properties": {
            "summary_markdown": text("the summary, as Markdown"),
            "topics": {
                "type": "array",
                "description": "one to three, the weightiest first",
                "items": {"type": "string", "enum": keys},
            },
            "key_facts": {
                "type": "object",
                "properties": {
                    "money": list(json!({
                        "type": "object",
                        "required": ["amount"],
                        "properties": {"amount": text("as printed: $1,250,000"), "what_for": text("in a few words")},
                    })),
                    "dates": list(json!({
                        "type": "object",
                        "required": ["date"],
                        "properties": {"date": text("2026-03-05 where the day is known"), "what": text("what happens")},
                    })),
                    "addresses": list(text("as printed")),
                    "parties": list(json!({
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": text("as printed"), "role": text("applicant, contractor, appellant …")},
                    })),
                },
            },
            "action_requested": text("what the body is asked to do, in one sentence"),
            "decision_stage": text(&format!("one of {}", STAGES.join(", "))),
            "consent": {"type": "boolean", "description": "decided without discussion, together with others"},
            "citations": list(json!({
                "type": "object",
                "required": ["doc"],
                "properties": {"doc": text("the document's name, as above its text"), "page": {"type": "integer"}},
            })),
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        },
    }))
}

/// An answer, read leniently: it fits the schema, and a broken one may lack its end.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Said {
    pub(super) summary_markdown: String,
    pub(super) topics: Vec<String>,
    pub(super) key_facts: Facts,
    pub(super) action_requested: Option<String>,
    pub(super) decision_stage: Option<String>,
    pub(super) consent: Option<bool>,
    pub(super) citations: Vec<Cited>,
    pub(super) confidence: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Facts {
    pub(super) money: Vec<Money>,
    pub(super) dates: Vec<Dated>,
    pub(super) addresses: Vec<String>,
    pub(super) parties: Vec<Named>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Money {
    pub(super) amount: String,
    pub(super) what_for: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Dated {
    pub(super) date: String,
    pub(super) what: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) role: Option<String>,
}

#[derive(Debug, Default, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Cited {
    pub(super) doc: String,
    pub(super) page: Option<i64>,
}

impl Said {
    /// The fields beside the summary and its topics, in the words of the summaries by rules where they have the same.
    pub(super) fn details(&self, model: &str) -> Value {
        let amounts: Vec<Value> =
            self.key_facts.money.iter().map(|fact| json!({"text": fact.amount, "what_for": fact.what_for})).collect();
        let dates: Vec<Value> =
            self.key_facts.dates.iter().map(|fact| json!({"date": fact.date, "quote": fact.what})).collect();
        let addresses: Vec<Value> = self.key_facts.addresses.iter().map(|text| json!({"text": text})).collect();
        let parties: Vec<Value> =
            self.key_facts.parties.iter().map(|fact| json!({"name": fact.name, "role": fact.role})).collect();
        let citations: Vec<Value> =
            self.citations.iter().map(|cited| json!({"document": cited.doc, "page": cited.page})).collect();
        let actions: Vec<Value> = self.action_requested.iter().map(|action| json!({"quote": action})).collect();
        json!({
            "version": DETAILS_VERSION,
            "model": model,
            "key_facts": {
                "action_requested": actions,
                "amounts": amounts,
                "dates": dates,
                "addresses": addresses,
                "parties": parties,
                "decision_stage": self.decision_stage,
            },
            "consent": self.consent,
            "citations": citations,
            "confidence": self.confidence,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_offers_all_topics_but_the_one_for_the_rest() {
        let schema = schema(&Topics::default()).unwrap();
        let topics = &schema.as_json()["properties"]["topics"]["items"]["enum"];
        assert_eq!(topics.as_array().map(Vec::len), Some(15));
        assert!(!topics.to_string().contains(OTHER));
        assert_eq!(schema.required_fields(), ["summary_markdown", "topics"]);
    }

    #[test]
    fn what_does_not_fit_and_is_not_needed_is_left_out() {
        let mut answer = json!({"summary_markdown": "A park.", "topics": ["parks", "cats"], "confidence": "very",
            "citations": [{"doc": "Report", "page": 2}], "key_facts": {"money": [{"amount": 5}], "addresses": ["1 Elm"]}});
        let schema = schema(&Topics::default()).unwrap();
        assert_eq!(schema.prune(&mut answer), ["cats"]);
        assert_eq!(schema.faults(&answer), [""; 0]);
        let said: Said = serde_json::from_value(answer).unwrap();
        let details = said.details("small-model");
        assert_eq!(details["citations"][0], json!({"document": "Report", "page": 2}));
        assert_eq!(details["key_facts"]["addresses"][0]["text"], "1 Elm");
        assert_eq!((&details["confidence"], &details["version"]), (&Value::Null, &json!(1)));
        assert_eq!(details["key_facts"]["amounts"], json!([]));
    }
}

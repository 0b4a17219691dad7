//! The contract between a stage and a program: what the program gets, and what it may answer, as JSON Schemas.
//!
//! | module | what it owns |
//! |---|---|
//! | [`given`] | the types of what a program gets beside its input |
//! | [`answer`] | the types of what it may answer |
//! | [`shape`] | schemas of types |
//!
//! The schemas are made of the very types that requests are written with and answers are read into. Answers are held
//! against them when they come in; requests are, in builds with debug assertions, when they go out.

pub(crate) mod answer;
pub(crate) mod given;
pub(crate) mod shape;

use crate::declared::schema::InputSchema;
use answer::{CostReturned, ErrorReturned, Said};
use bindery_engine::workflow::{Over, Workflow};
use given::{DocumentGiven, PartGiven, WorkGiven};
use serde_json::{Map, Value, json};
use shape::Described;
use std::{
    collections::HashMap,
    fmt::Write as _,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

/// The processor that makes documents with fields: behind it the input of a stage over documents is one.
const FIELD_EXTRACTOR: &str = "field_extractor";

/// What a stage works on, as far as it decides what its programs get and may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StageContract {
    pub over: Over,
    /// The parts that it waits for, behind a join.
    pub waits_for: Option<Over>,
    /// What it may take its items apart into: what the next stage works on, where that is finer.
    pub makes: Option<Over>,
    /// Whether its input is a document with fields.
    pub gets_document: bool,
}

impl StageContract {
    /// That of a workflow's stage.
    pub fn of_stage(workflow: &Workflow, index: usize) -> Option<Self> {
        let stage = workflow.stages.get(index)?;
        let finer = |next: &Over| *next > stage.over && matches!(next, Over::Page | Over::Document);
        let extracts = |index: &usize| workflow.stages[*index].processor(FIELD_EXTRACTOR).is_some();
        let before = (0..index).rev().take_while(|before| workflow.stages[*before].over == stage.over);
        Some(Self {
            over: stage.over,
            waits_for: stage.aggregation.map(|aggregation| aggregation.counts),
            makes: workflow
                .stages
                .get(index + 1)
                .map(|next| next.over)
                .filter(finer)
                .filter(|_| stage.processors.len() == 1),
            gets_document: stage.over == Over::Document && before.into_iter().any(|before| extracts(&before)),
        })
    }

    /// The schema of a request.
    pub fn request_schema(&self) -> Value {
        let mut work = WorkGiven::schema();
        if let Some(properties) = work.get_mut("properties").and_then(Value::as_object_mut) {
            let given = |name: &str| match name {
                "item" | "file" | "results" => self.over != Over::Submission,
                "page" => self.over == Over::Page,
                "parts" => self.waits_for.is_some(),
                _ => true,
            };
            properties.retain(|name, _| given(name));
            if let Some(counted) = self.waits_for {
                let mut parts = properties.get("parts").cloned().unwrap_or_default();
                parts["properties"]["items"] = json!({
                    "description": format!("For an endpoint: the {counted}s themselves, up to 32 MB. The lines of `path` look the same."),
                    "type": ["array", "null"], "items": PartGiven::schema(),
                });
                properties.insert("parts".to_owned(), parts);
            }
        }
        let input = if self.gets_document {
            let mut document = DocumentGiven::schema();
            document["description"] =
                "The document, with the fields that all stages before have read or stated.".into();
            document
        } else if self.waits_for.is_some() {
            json!({"description": "Nothing: what was found is in `work.parts`."})
        } else {
            json!({"description": "What the stage before has found about the item; for the first one, what intake or the stage that made the item says of it."})
        };
        json!({
            "$schema": DRAFT,
            "title": "What a program gets",
            "type": "object",
            "properties": {
                "id": {"description": "For a persistent program: the number that its answer repeats.", "type": "integer"},
                "processor": {"description": "The processor's name.", "type": "string"},
                "version": {"description": "The processor's version.", "type": "integer"},
                "attempt": {"description": "1 for the first try.", "type": "integer"},
                "job": {"description": "The job's id; null outside of a workflow.", "type": ["string", "null"]},
                "idempotency_key": {"description": "The same for every try of the same work.", "type": "string"},
                "settings": {"description": "The stage's `settings`.", "type": "object"},
                "work": work,
                "input": input,
            },
            "required": ["processor", "version", "attempt", "idempotency_key", "settings", "input"],
        })
    }

    /// The schema of an answer.
    pub fn answer_schema(&self) -> Value {
        let output = match self.over {
            Over::Document => answer::document_output(),
            Over::Submission => json!({"description": "What was found. Of the last stage: the submission's result."}),
            _ => json!({"description": "What was found: the input of the next stage, and part of the result."}),
        };
        let mut properties = Map::from_iter([("output".to_owned(), output)]);
        if let Some(Value::Object(said)) = Said::schema().get_mut("properties").map(Value::take) {
            let allowed = |name: &str| match name {
                "item" => self.over != Over::Submission,
                "children" => self.makes.is_some(),
                _ => true,
            };
            properties.extend(said.into_iter().filter(|(name, _)| allowed(name)));
        }
        if let (Some(made), Some(children)) = (self.makes, properties.get_mut("children")) {
            children["description"] = format!("The {made}s that the next stage works on, in their order.").into();
        }
        let cost = CostReturned::schema();
        let one_cost = json!({
            "description": "Money spent; one of these or a list of them.", "type": ["object", "array", "null"],
            "properties": cost["properties"], "required": cost["required"], "items": cost,
        });
        properties.insert("cost".to_owned(), one_cost);
        let mut error = ErrorReturned::schema();
        error["description"] = "Instead of `output`: it could not be found, and why.".into();
        properties.insert("error".to_owned(), error);
        properties.insert("id".to_owned(), json!({"description": "From a persistent program: the request's."}));
        json!({
            "$schema": DRAFT,
            "title": "What a program may answer",
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
            "oneOf": [{"required": ["output"]}, {"required": ["error"]}],
        })
    }

    /// What the stage works on, in a few words.
    pub fn title(&self) -> String {
        let each = match self.over {
            Over::Submission => "once for the submission".to_owned(),
            over => format!("once for each {over}"),
        };
        let behind = self.waits_for.map(|counted| format!(", when all {counted}s have arrived")).unwrap_or_default();
        let makes = self.makes.map(|made| format!(", and may make {made}s")).unwrap_or_default();
        format!("runs {each}{behind}{makes}")
    }

    /// Both schemas as two lists, for people.
    pub fn in_words(&self) -> String {
        let mut words = String::from("  gets:\n");
        list_in_words(&self.request_schema(), "", 0, &mut words);
        words.push_str("  may answer:\n");
        list_in_words(&self.answer_schema(), "", 0, &mut words);
        words
    }

    /// Holds an answer against its schema; `Err` with what does not fit and where.
    pub(crate) fn check_answer(self, answer: &Value) -> Result<(), String> {
        find_schema(self).check_as("the answer", answer)
    }

    /// The same for a request of ours.
    pub(crate) fn check_request(self, request: &Value) -> Result<(), String> {
        let schema = InputSchema::compile(self.request_schema()).map_err(|error| error.to_string())?;
        schema.check_as("the request", request)
    }
}

/// How deep lists in words go.
const DEEPEST: usize = 3;

fn list_in_words(schema: &Value, prefix: &str, depth: usize, words: &mut String) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, field) in properties {
        let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let meaning = field.get("description").and_then(Value::as_str).unwrap_or_default();
        let _ = writeln!(words, "    {name:<30} {:<18} {meaning}", kind_in_words(field));
        if depth < DEEPEST {
            let with_fields = |key: &str| field.get(key).filter(|entry| entry.get("properties").is_some());
            match (with_fields("items"), with_fields("additionalProperties")) {
                (Some(entries), _) => list_in_words(entries, &format!("{name}[]"), depth + 1, words),
                (None, Some(entries)) => list_in_words(entries, &format!("{name}.NAME"), depth + 1, words),
                (None, None) => list_in_words(field, &name, depth + 1, words),
            }
        }
    }
}

/// Its type as people say it; nothing where it may be anything.
fn kind_in_words(schema: &Value) -> String {
    let in_words = |kind: &str| match kind {
        "string" => "text",
        "integer" => "whole number",
        "array" => "list",
        "boolean" => "true or false",
        "object" => "object",
        _ => "number",
    };
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return choices.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|");
    }
    match schema.get("type") {
        Some(Value::String(one)) => in_words(one).to_owned(),
        Some(Value::Array(several)) => {
            let kinds: Vec<&str> = several.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect();
            if kinds.len() == 1 { in_words(kinds[0]).to_owned() } else { "value".to_owned() }
        }
        _ => "anything".to_owned(),
    }
}

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// There are a few dozen contracts at most, and compiling one takes longer than most answers.
fn find_schema(contract: StageContract) -> Arc<InputSchema> {
    static COMPILED: LazyLock<Mutex<HashMap<StageContract, Arc<InputSchema>>>> = LazyLock::new(Mutex::default);
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(compiled.entry(contract).or_insert_with(|| {
        let schema =
            InputSchema::compile(contract.answer_schema()).or_else(|_| InputSchema::compile(Value::Bool(true)));
        Arc::new(schema.unwrap_or_else(|error| unreachable!("`true` is a schema: {error}")))
    }))
}

#[cfg(test)]
mod tests;

//! OpenAI's `/chat/completions`, as Ollama, vLLM, the llama.cpp server and many others speak it too.
//!
//! The schema goes along as `response_format: json_schema`. A server that refuses that is asked with `json_object`
//! instead, the schema in words, and from then on that way at once. The same goes for `max_tokens`, which newer models
//! of OpenAI only know as `max_completion_tokens`, and for `temperature`, which some do not take.

use super::{
    Failure, Message, Prompt, Provider, Reply, Thinking,
    http::{Endpoint, ExchangeLimits, quoted},
};
use crate::{error::ErrorKind, key::Secret, request::Usage};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// A server that speaks OpenAI's protocol.
#[derive(Debug)]
pub(crate) struct OpenAiCompatible {
    endpoint: Endpoint,
    /// What each model turned out not to know.
    habits: Mutex<HashMap<String, Habits>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Habits {
    no_schema: bool,
    other_limit_name: bool,
    no_temperature: bool,
}

impl OpenAiCompatible {
    /// `base_url` ends before `/chat/completions`, for instance `http://localhost:11434/v1`.
    pub(crate) fn new(base_url: &str, limits: ExchangeLimits) -> Self {
        Self { endpoint: Endpoint::new(base_url, limits), habits: Mutex::default() }
    }

    fn habits(&self, model: &str) -> Habits {
        let habits = self.habits.lock().unwrap_or_else(PoisonError::into_inner);
        habits.get(model).copied().unwrap_or_default()
    }

    fn learn(&self, model: &str, habits: Habits) {
        self.habits.lock().unwrap_or_else(PoisonError::into_inner).insert(model.to_owned(), habits);
    }
}

impl Provider for OpenAiCompatible {
    fn name(&self) -> &'static str {
        "openai"
    }

    fn ask(&self, model: &str, prompt: &Prompt, key: Option<&Secret>) -> Result<Reply, Failure> {
        let mut habits = self.habits(model);
        loop {
            let auth = key.map(|key| ("authorization", format!("Bearer {}", key.expose())));
            let failure = match self.endpoint.post("/chat/completions", &body(model, prompt, habits), auth) {
                Ok(answer) => return read(&answer, model),
                Err(failure) => failure,
            };
            // Each is learnt once, so this ends.
            match what_it_does_not_know(&failure, habits) {
                Some(learnt) => habits = learnt,
                None => return Err(failure),
            }
            self.learn(model, habits);
        }
    }
}

/// What a refusal teaches about the server, if anything new.
fn what_it_does_not_know(failure: &Failure, habits: Habits) -> Option<Habits> {
    if failure.kind != ErrorKind::Refused {
        return None;
    }
    let text = failure.message.to_ascii_lowercase();
    if !habits.other_limit_name && text.contains("max_completion_tokens") {
        return Some(Habits { other_limit_name: true, ..habits });
    }
    if !habits.no_temperature && text.contains("temperature") {
        return Some(Habits { no_temperature: true, ..habits });
    }
    let is_about_schema =
        ["response_format", "json_schema", "schema", "grammar"].iter().any(|word| text.contains(word));
    (!habits.no_schema && is_about_schema).then_some(Habits { no_schema: true, ..habits })
}

fn body(model: &str, prompt: &Prompt, habits: Habits) -> Value {
    let mut system = prompt.system.clone();
    let format = if habits.no_schema {
        system.push_str("\n\nAnswer with one JSON object and nothing else. It has to fit this JSON Schema:\n");
        system.push_str(&prompt.schema.as_json().to_string());
        json!({"type": "json_object"})
    } else {
        let (schema, strict) = prompt.schema.with_closed_objects();
        json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": strict, "schema": schema}})
    };
    let mut messages = vec![json!({"role": "system", "content": system})];
    messages.extend(prompt.messages.iter().map(|message| match message {
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Model(text) => json!({"role": "assistant", "content": text}),
    }));
    let limit = if habits.other_limit_name { "max_completion_tokens" } else { "max_tokens" };
    let mut body = json!({
        "model": model,
        "messages": messages,
        limit: prompt.max_output_tokens,
        "response_format": format,
        "stream": false,
    });
    if !habits.no_temperature {
        body["temperature"] = json!(prompt.temperature);
    }
    if let Some(Thinking::Level(level)) = &prompt.thinking {
        body["reasoning_effort"] = json!(level);
    }
    body
}

fn read(answer: &Value, asked: &str) -> Result<Reply, Failure> {
    // Some servers report an error with a status that says all is well.
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        let message = format!("{asked} answered with an error: {}", quoted(&error.to_string()));
        return Err(Failure::new(ErrorKind::ServerFault, message));
    }
    let choice = answer.pointer("/choices/0").ok_or_else(|| {
        let message = format!("{asked} answered without `choices`: {}", quoted(&answer.to_string()));
        Failure::new(ErrorKind::ServerFault, message)
    })?;
    if let Some(refusal) = choice.pointer("/message/refusal").and_then(Value::as_str) {
        return Err(Failure::new(ErrorKind::Refused, format!("{asked} declines to answer: {}", quoted(refusal))));
    }
    let reason = choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default();
    if reason == "content_filter" {
        return Err(Failure::new(
            ErrorKind::Refused,
            format!("{asked} does not answer: its filter withheld the answer"),
        ));
    }
    let text = match choice.pointer("/message/content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    };
    let count = |path: &str| answer.pointer(path).and_then(Value::as_u64);
    let usage = count("/usage/prompt_tokens").map(|input| Usage {
        input,
        output: count("/usage/completion_tokens").unwrap_or(0),
        cached: count("/usage/prompt_tokens_details/cached_tokens").unwrap_or(0),
    });
    let model = answer.get("model").and_then(Value::as_str).filter(|name| !name.is_empty()).unwrap_or(asked);
    Ok(Reply { text, usage, model: model.to_owned(), is_cut: reason == "length" })
}

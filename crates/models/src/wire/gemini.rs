//! Google's Gemini: `generateContent` with a response schema.

use super::{
    Failure, Message, Prompt, Provider, Reply, Thinking,
    http::{Endpoint, ExchangeLimits, quoted},
};
use crate::{error::ErrorKind, key::Secret, request::Usage};
use serde_json::{Value, json};

/// The public address of the service.
pub(crate) const GEMINI_URL: &str = "https://generativelanguage.googleapis.com/v1beta";

/// Google's service, or another that speaks its protocol.
#[derive(Debug)]
pub(crate) struct Gemini {
    endpoint: Endpoint,
}

impl Gemini {
    pub(crate) fn new(base_url: &str, limits: ExchangeLimits) -> Self {
        Self { endpoint: Endpoint::new(base_url, limits) }
    }
}

/// In a header and not in the address, which is written into logs on the way.
fn auth(key: Option<&Secret>) -> Option<(&'static str, String)> {
    key.map(|key| ("x-goog-api-key", key.expose().to_owned()))
}

impl Provider for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn ask(&self, model: &str, prompt: &Prompt, key: Option<&Secret>) -> Result<Reply, Failure> {
        let answer = self.endpoint.post(&format!("/models/{model}:generateContent"), &body(prompt), auth(key))?;
        read(&answer, model)
    }
}

/// A `GenerateContentRequest`.
fn body(prompt: &Prompt) -> Value {
    let contents: Vec<Value> = prompt
        .messages
        .iter()
        .map(|message| {
            let role = if matches!(message, Message::User(_)) { "user" } else { "model" };
            json!({"role": role, "parts": [{"text": message.text()}]})
        })
        .collect();
    let mut body = json!({
        "systemInstruction": {"parts": [{"text": prompt.system}]},
        "contents": contents,
        "generationConfig": {
            "temperature": prompt.temperature,
            "maxOutputTokens": prompt.max_output_tokens,
            "responseMimeType": "application/json",
            "responseSchema": prompt.schema.for_gemini(),
        },
    });
    if let Some(thinking) = &prompt.thinking {
        body["generationConfig"]["thinkingConfig"] = match thinking {
            Thinking::Budget(tokens) => json!({"thinkingBudget": tokens}),
            Thinking::Level(level) => json!({"thinkingLevel": level}),
        };
    }
    body
}

/// A `GenerateContentResponse`.
fn read(answer: &Value, asked: &str) -> Result<Reply, Failure> {
    let refused = |what: String| Failure::new(ErrorKind::Refused, format!("{asked} does not answer: {what}"));
    if let Some(reason) = answer.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
        return Err(refused(format!("the question was blocked ({})", quoted(reason))));
    }
    let Some(candidate) = answer.pointer("/candidates/0") else {
        let message = format!("{asked} answered without `candidates`: {}", quoted(&answer.to_string()));
        return Err(Failure::new(ErrorKind::ServerFault, message));
    };
    let reason = candidate.get("finishReason").and_then(Value::as_str).unwrap_or("STOP");
    if ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"].contains(&reason) {
        return Err(refused(format!("the answer was withheld ({reason})")));
    }
    let parts = candidate.pointer("/content/parts").and_then(Value::as_array).into_iter().flatten();
    let is_thought = |part: &&Value| part.get("thought").and_then(Value::as_bool) == Some(true);
    let text = parts.filter(|part| !is_thought(part)).filter_map(|part| part.get("text")?.as_str()).collect();
    let count = |name: &str| answer.get("usageMetadata").and_then(|usage| usage.get(name)?.as_u64());
    let usage = count("promptTokenCount").map(|input| Usage {
        input,
        output: count("candidatesTokenCount").unwrap_or(0) + count("thoughtsTokenCount").unwrap_or(0),
        cached: count("cachedContentTokenCount").unwrap_or(0),
    });
    let model = answer.get("modelVersion").and_then(Value::as_str).unwrap_or(asked).to_owned();
    Ok(Reply { text, usage, model, is_cut: reason == "MAX_TOKENS" })
}

//! Gemini's batch mode: many requests in one, answered within a day at a lower price.
//!
//! Requests go inline; answers come inline or as a file of JSON lines. Each carries the key that its request had, where
//! the service repeats it: whoever reads the answers must not rely on the order or on the keys alone.

use super::{
    BatchEntry, BatchProgress, Batches, Failure, Prompt,
    gemini::{self, Gemini},
    http::quoted,
};
use crate::{error::ErrorKind, key::Secret};
use serde_json::{Value, json};

/// What the service takes inline, with room for what JSON adds.
const MOST_BYTES: usize = 18 * 1024 * 1024;

impl Batches for Gemini {
    fn create(&self, model: &str, entries: &[(String, Prompt)], key: Option<&Secret>) -> Result<String, Failure> {
        let requests: Vec<Value> = entries
            .iter()
            .map(|(name, prompt)| json!({"request": gemini::body(prompt), "metadata": {"key": name}}))
            .collect();
        let body = json!({"batch": {
            "displayName": format!("bindery, {} requests", entries.len()),
            "inputConfig": {"requests": {"requests": requests}},
        }});
        let bytes = body.to_string().len();
        if bytes > MOST_BYTES {
            let message = format!(
                "a batch of {} requests has {bytes} bytes, and the most is {MOST_BYTES}: make smaller batches",
                entries.len()
            );
            return Err(Failure::new(ErrorKind::TooLong, message));
        }
        let path = format!("/models/{model}:batchGenerateContent");
        let created = self.endpoint.post(&path, &body, gemini::auth(key))?;
        let name = created.get("name").and_then(Value::as_str).filter(|name| is_batch_name(name));
        name.map(str::to_owned).ok_or_else(|| {
            let message = format!("a batch was created without a usable name: {}", quoted(&created.to_string()));
            Failure::new(ErrorKind::ServerFault, message)
        })
    }

    fn poll(&self, batch: &str, key: Option<&Secret>) -> Result<BatchProgress, Failure> {
        check_name(batch)?;
        let told = self.endpoint.get(&format!("/{batch}"), gemini::auth(key))?;
        let state = told.pointer("/metadata/state").or(told.get("state")).and_then(Value::as_str).unwrap_or_default();
        // `BATCH_STATE_…` or `JOB_STATE_…`.
        match state.rsplit_once("STATE_").map_or(state, |(_, state)| state) {
            "SUCCEEDED" => {}
            ended @ ("FAILED" | "CANCELLED" | "EXPIRED") => {
                let why = told.pointer("/error/message").and_then(Value::as_str).map(quoted).unwrap_or_default();
                let because = if why.is_empty() { why } else { format!(": {why}") };
                return Ok(BatchProgress::Ended(format!("{batch} has {}{because}", ended.to_ascii_lowercase())));
            }
            _ => return Ok(BatchProgress::Running),
        }
        let output = told.get("response").or(told.pointer("/metadata/output")).unwrap_or(&Value::Null);
        let inline = output.pointer("/inlinedResponses/inlinedResponses").or(output.get("inlinedResponses"));
        if let Some(answers) = inline.and_then(Value::as_array) {
            return Ok(BatchProgress::Done(answers.iter().map(entry).collect()));
        }
        match output.get("responsesFile").and_then(Value::as_str) {
            Some(file) => self.download(file, key).map(BatchProgress::Done),
            // It has ended, and what it came to is not there yet.
            None => Ok(BatchProgress::Running),
        }
    }

    fn cancel(&self, batch: &str, key: Option<&Secret>) -> Result<(), Failure> {
        check_name(batch)?;
        self.endpoint.post(&format!("/{batch}:cancel"), &json!({}), gemini::auth(key)).map(drop)
    }
}

impl Gemini {
    /// The answers as a file of JSON lines.
    fn download(&self, file: &str, key: Option<&Secret>) -> Result<Vec<BatchEntry>, Failure> {
        if !file.starts_with("files/") || file.contains(['?', '#', ' ']) || file.contains("..") {
            let message = format!("the answers of a batch are said to be in {}, which is no file's name", quoted(file));
            return Err(Failure::new(ErrorKind::ServerFault, message));
        }
        // Downloads live beside the versions: …/download/v1beta/files/….
        let base = self.endpoint.base();
        let (host, version) = base.rsplit_once('/').unwrap_or((base, ""));
        let endpoint = self.endpoint.at(&format!("{host}/download/{version}"));
        let bytes = endpoint.get_bytes(&format!("/{file}:download?alt=media"), gemini::auth(key))?;
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        Ok(lines
            .map(|(number, line)| match serde_json::from_str(line) {
                Ok(value) => entry(&value),
                // One bad line is one answer less, not the end of the others.
                Err(error) => {
                    let message = format!("line {} of {file} is no JSON: {error}", number + 1);
                    BatchEntry { key: None, reply: Err(Failure::new(ErrorKind::ServerFault, message)) }
                }
            })
            .collect())
    }
}

/// `batches/…`, and nothing that leads elsewhere.
fn is_batch_name(name: &str) -> bool {
    name.strip_prefix("batches/")
        .is_some_and(|id| !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'))
}

fn check_name(name: &str) -> Result<(), Failure> {
    if is_batch_name(name) {
        return Ok(());
    }
    let message = format!("{} is not the name of a batch; expected batches/…", quoted(name));
    Err(Failure::new(ErrorKind::Refused, message))
}

fn entry(value: &Value) -> BatchEntry {
    let key = value.pointer("/metadata/key").or(value.get("key")).and_then(Value::as_str).map(str::to_owned);
    let shown = key.as_deref().unwrap_or("a request of a batch");
    let reply = match (value.get("response"), value.get("error")) {
        (Some(response), _) => gemini::read(response, shown),
        (None, Some(error)) => {
            let message = error.get("message").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned);
            Err(Failure::new(ErrorKind::ServerFault, format!("{shown} was not answered: {}", quoted(&message))))
        }
        (None, None) => {
            Err(Failure::new(ErrorKind::ServerFault, format!("{shown} has neither an answer nor an error")))
        }
    };
    BatchEntry { key, reply }
}

//! A delivery as the stage's `settings:` describe it.

use super::OUTPUT;
use crate::{
    http::{self, Environment},
    settings,
};
use bindery_core::StepError;
use bindery_engine::context::StepContext;
use bindery_http::{
    HeaderName, HeaderValue, Uri,
    signature::{self, Secret},
};
use bindery_processors::outside::{Template, client::missing_variable};
use serde_json::Value;
use std::time::Duration;

const KEYS: [&str; 7] = ["url", "send", "secret_env", "api_key_env", "headers", "timeout_seconds", "allow_private"];

/// Headers that are made here, or by the protocol.
const OURS: [&str; 6] =
    [signature::ID, signature::TIMESTAMP, signature::SIGNATURE, "content-length", "host", "transfer-encoding"];

const API_KEY: &str = "x-api-key";

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// What the stage before has found: behind the consolidation, the result.
    Found,
    /// What is stored under a readable key, in which `{submission}` and `{item}` stand for their ids.
    Stored(String),
}

/// Where to, with what, and how long. Holds secrets in the clear, so it lives as long as one attempt.
pub(super) struct Delivery {
    pub(super) url: Uri,
    /// For sentences and records.
    pub(super) shown: String,
    pub(super) what: What,
    pub(super) secrets: Vec<Secret>,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) time: Duration,
    pub(super) allow_private: bool,
}

impl Delivery {
    pub(super) fn read(context: &StepContext, environment: &Environment) -> Result<Self, StepError> {
        let known = |key: &&String| !KEYS.contains(&key.as_str());
        if let Some(unknown) = context.settings().keys().find(known) {
            return Err(bad(context, unknown, &format!("is not known here; known are {}", KEYS.join(", "))));
        }
        let url = url(context, environment)?;
        let shown = http::redact(&url);
        let limit = context.stage()?.timeout;
        let time = settings::whole(context, "timeout_seconds", 20, 1..=3600)?;
        Ok(Self {
            what: what(context)?,
            secrets: secrets(context, environment)?,
            headers: headers(context, environment)?,
            // The stage gives up at its own limit; ours should say so before.
            time: Duration::from_secs(time).min(limit.mul_f64(0.95)),
            allow_private: flag(context, "allow_private")?,
            url,
            shown,
        })
    }
}

/// A setting that is wrong. What it says is not repeated: people put secrets where they should not.
fn bad(context: &StepContext, key: &str, what: &str) -> StepError {
    let stage = context.stage().map(|stage| format!("stage {}: ", stage.name)).unwrap_or_default();
    StepError::reject(format!("{stage}settings.{key} {what}")).named("BadSettings")
}

fn text<'c>(context: &'c StepContext, key: &str) -> Result<Option<&'c str>, StepError> {
    match context.settings().get(key) {
        None => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.trim())),
        Some(_) => Err(bad(context, key, "should be a text")),
    }
}

fn flag(context: &StepContext, key: &str) -> Result<bool, StepError> {
    match context.settings().get(key) {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(bad(context, key, "should be true or false")),
    }
}

/// A text in which `${NAME}` stands for a variable of the environment.
fn fill(context: &StepContext, key: &str, text: &str, environment: &Environment) -> Result<String, StepError> {
    let template = Template::parse(text).map_err(|why| bad(context, key, &format!("cannot be read: {why}")))?;
    let filled = template.fill(&|name| environment.get(name));
    filled.map_err(|missing| missing_variable(&missing, &format!("settings.{key} of the stage {OUTPUT}")))
}

fn url(context: &StepContext, environment: &Environment) -> Result<Uri, StepError> {
    let written = text(context, "url")?
        .ok_or_else(|| bad(context, "url", "is missing: say where the result goes, such as https://example.com/in"))?;
    let address = fill(context, "url", written, environment)?;
    http::checked(&address).map_err(|why| bad(context, "url", &why))
}

fn what(context: &StepContext) -> Result<What, StepError> {
    Ok(match text(context, "send")? {
        None | Some("result") => What::Found,
        Some(key) if key.contains('/') => What::Stored(key.to_owned()),
        Some(_) => {
            let expected = "should be result, or a key of what is stored, such as text-docs/{item}.json";
            return Err(bad(context, "send", expected));
        }
    })
}

fn secrets(context: &StepContext, environment: &Environment) -> Result<Vec<Secret>, StepError> {
    let Some(name) = text(context, "secret_env")? else { return Ok(Vec::new()) };
    let value = environment.require(name, "the signature of the stage output")?;
    signature::secrets(&value).ok_or_else(|| {
        let message = format!(
            "the environment variable {name} should hold a secret of the form whsec_… (whsec_ and base64), and does not"
        );
        StepError::park(format!("environment variable {name}"), message).named("BadSecret")
    })
}

fn headers(context: &StepContext, environment: &Environment) -> Result<Vec<(HeaderName, HeaderValue)>, StepError> {
    let mut headers = Vec::new();
    match context.settings().get("headers") {
        None => {}
        Some(Value::Object(written)) => {
            for (name, value) in written {
                let key = format!("headers.{name}");
                let value = value.as_str().ok_or_else(|| bad(context, &key, "should be a text"))?;
                let value = fill(context, &key, value, environment)?;
                headers.push(checked_header(context, &key, name, &value)?);
            }
        }
        Some(_) => return Err(bad(context, "headers", "should be a mapping of names to texts")),
    }
    if let Some(name) = text(context, "api_key_env")? {
        let value = environment.require(name, "the header x-api-key of the stage output")?;
        headers.push(checked_header(context, "api_key_env", API_KEY, &value)?);
    }
    Ok(headers)
}

fn checked_header(
    context: &StepContext,
    key: &str,
    name: &str,
    value: &str,
) -> Result<(HeaderName, HeaderValue), StepError> {
    let name = HeaderName::try_from(name).map_err(|_| bad(context, key, "is not the name of a header"))?;
    if OURS.contains(&name.as_str()) {
        return Err(bad(context, key, "names a header that is not yours to set"));
    }
    let mut value = HeaderValue::from_str(value.trim())
        .map_err(|_| bad(context, key, "would hold characters that no header may"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

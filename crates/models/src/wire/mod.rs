//! The services as they are: one exchange each, without retries, limits or memory.

mod gemini;
mod http;
mod openai;

pub(crate) use gemini::{GEMINI_URL, Gemini};
pub(crate) use http::ExchangeLimits;
pub(crate) use openai::OpenAiCompatible;

use super::{answers::Schema, error::ErrorKind, key::Secret, request::Usage};
use std::{fmt, time::Duration};

/// What is said to a model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prompt {
    pub(crate) system: String,
    /// The user's first.
    pub(crate) messages: Vec<Message>,
    pub(crate) schema: Schema,
    pub(crate) max_output_tokens: u32,
    pub(crate) temperature: f64,
    pub(crate) thinking: Option<Thinking>,
}

/// How much a model may think before it answers. What it thinks is paid for, and counts as output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// In tokens; 0 is none, -1 is up to the model. Gemini 2.5 takes this.
    Budget(i32),
    /// `minimal`, `low`, `medium` or `high`. Gemini 3 takes this, and OpenAI as `reasoning_effort`.
    Level(String),
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message {
    User(String),
    Model(String),
}

impl Message {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::User(text) | Self::Model(text) => text,
        }
    }
}

/// What a model said, not yet looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) text: String,
    /// None where the service does not count.
    pub(crate) usage: Option<Usage>,
    pub(crate) model: String,
    /// It broke off because it had said as much as it may.
    pub(crate) is_cut: bool,
}

/// An exchange that gave no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: ErrorKind,
    /// One sentence, without secrets.
    pub(crate) message: String,
    /// How long the service wants to be left alone.
    pub(crate) wait: Option<Duration>,
}

impl Failure {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), wait: None }
    }
}

/// A service with language models. Blocks; one serves any number of threads.
pub(crate) trait Provider: Send + Sync + fmt::Debug {
    /// A stable short name, part of what answers are cached under.
    fn name(&self) -> &'static str;

    fn ask(&self, model: &str, prompt: &Prompt, key: Option<&Secret>) -> Result<Reply, Failure>;
}

//! The services as they are: one exchange each, without retries, limits or memory.

mod gemini;
mod gemini_batch;
mod http;
mod openai;

pub use gemini::{GEMINI_URL, Gemini};
pub use http::ExchangeLimits;
pub use openai::OpenAiCompatible;

use super::{answers::Schema, error::ErrorKind, key::Secret, request::Usage};
use std::{fmt, time::Duration};

/// What is said to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    pub system: String,
    /// In turns, the user's first.
    pub turns: Vec<Said>,
    pub schema: Schema,
    pub max_output_tokens: u32,
    pub temperature: f64,
    pub thinking: Option<Thinking>,
}

/// How much a model may think before it answers. What it thinks is paid for, and counts as output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thinking {
    /// In tokens; 0 is none, -1 is up to the model. Gemini 2.5 takes this.
    Budget(i32),
    /// `minimal`, `low`, `medium` or `high`. Gemini 3 takes this, and OpenAI as `reasoning_effort`.
    Level(String),
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    ByUser(String),
    ByModel(String),
}

impl Said {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::ByUser(text) | Self::ByModel(text) => text,
        }
    }
}

/// What a model said, not yet looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub text: String,
    /// None where the service does not count.
    pub usage: Option<Usage>,
    pub model: String,
    /// It broke off because it had said as much as it may.
    pub is_cut: bool,
}

/// An exchange that gave no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub kind: ErrorKind,
    /// One sentence, without secrets.
    pub message: String,
    /// How long the service wants to be left alone.
    pub wait: Option<Duration>,
}

impl Failure {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), wait: None }
    }
}

/// A service with language models. Blocks; one serves any number of threads.
pub trait Provider: Send + Sync + fmt::Debug {
    /// A stable short name, part of what answers are cached under.
    fn name(&self) -> &'static str;

    fn ask(&self, model: &str, prompt: &Prompt, key: Option<&Secret>) -> Result<Reply, Failure>;

    /// Its way to take many questions at once and answer them later, if it has one.
    fn batches(&self) -> Option<&dyn Batches> {
        None
    }
}

/// Many questions at once, answered within a day, for less money.
pub trait Batches: Send + Sync + fmt::Debug {
    /// Returns the name under which the service knows the batch.
    fn create(&self, model: &str, entries: &[(String, Prompt)], key: Option<&Secret>) -> Result<String, Failure>;

    fn poll(&self, batch: &str, key: Option<&Secret>) -> Result<BatchProgress, Failure>;

    fn cancel(&self, batch: &str, key: Option<&Secret>) -> Result<(), Failure>;
}

/// How far a batch is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchProgress {
    Running,
    /// It will not be answered, for this reason.
    Ended(String),
    Done(Vec<BatchEntry>),
}

/// One answer of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchEntry {
    /// The key of the question, where the service repeats it.
    pub key: Option<String>,
    pub reply: Result<Reply, Failure>,
}

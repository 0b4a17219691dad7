//! What `command:` and `http:` say, with the defaults filled in.

use super::template::Template;
use bindery_engine::{runner::IO_THREADS, workflow::Backoff};
pub use bindery_http::BreakerConfig;
use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// For the output of a command and for the body of an HTTP answer.
pub const DEFAULT_ANSWER_BYTES: usize = 64 * MEGABYTE;
pub(super) const MEGABYTE: usize = 1024 * 1024;

/// A program to run.
#[derive(Debug, Clone)]
pub struct CommandConfig {
    /// As it was written; a name without a slash is looked up in `PATH`.
    pub program: String,
    pub arguments: Vec<String>,
    /// The folder of the YAML file, where the program runs and relative paths begin.
    pub folder: PathBuf,
    pub mode: Mode,
    pub framing: Framing,
    /// Set for the program, by name.
    pub environment: Vec<(String, Template)>,
    /// Hand on our whole environment, secrets included.
    pub inherit_environment: bool,
    pub timeout: Duration,
    pub memory_bytes: Option<u64>,
    pub max_output_bytes: usize,
    pub common: Common,
}

impl CommandConfig {
    /// With all defaults, for one process for each input.
    pub fn new(program: impl Into<String>, arguments: Vec<String>, folder: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments,
            folder: folder.into(),
            mode: Mode::default(),
            framing: Framing::default(),
            environment: Vec::new(),
            inherit_environment: false,
            timeout: DEFAULT_TIMEOUT,
            memory_bytes: None,
            max_output_bytes: DEFAULT_ANSWER_BYTES,
            common: Common::with_concurrency(std::thread::available_parallelism().map_or(1, NonZeroUsize::get)),
        }
    }
}

/// How often a program is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Once for each input.
    #[default]
    PerInput,
    /// Once for many inputs, which it is given one after the other.
    Persistent,
}

/// How messages to and from a persistent program are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Framing {
    /// One message is one line.
    #[default]
    Lines,
    /// Four bytes with the length, most significant first, then the message.
    Length,
}

/// An HTTP endpoint to ask.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    pub url: String,
    pub method: Method,
    pub headers: Vec<(String, Template)>,
    pub answer: AnswerShape,
    pub timeout: Duration,
    pub max_response_bytes: usize,
    pub common: Common,
}

impl HttpConfig {
    /// With all defaults.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            method: Method::default(),
            headers: Vec::new(),
            answer: AnswerShape::default(),
            timeout: DEFAULT_TIMEOUT,
            max_response_bytes: DEFAULT_ANSWER_BYTES,
            common: Common::with_concurrency(IO_THREADS),
        }
    }
}

/// The methods that carry a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    #[default]
    Post,
    Put,
    Patch,
}

/// What a good answer looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerShape {
    /// `{"output": …}` or `{"error": …}`.
    #[default]
    Envelope,
    /// The body is the output.
    Bare,
}

/// What every call to the outside has.
#[derive(Debug, Clone)]
pub struct Common {
    /// How many calls run at the same time in this process.
    pub concurrency: usize,
    pub retry: Retry,
    /// None when it is switched off.
    pub breaker: Option<BreakerConfig>,
    pub wants: Wants,
}

/// What a program over pages wants to see of them beside their text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wants {
    /// Every word with its box.
    pub words: bool,
    /// The page as an image of so many dots per inch.
    pub image_dpi: Option<u32>,
}

impl Wants {
    /// Enough to read small print, and a page of A4 is about 1,250 by 1,750 dots.
    pub const DEFAULT_DPI: u32 = 150;
}

impl Common {
    pub fn with_concurrency(concurrency: usize) -> Self {
        Self { concurrency, retry: Retry::default(), breaker: Some(BreakerConfig::default()), wants: Wants::default() }
    }
}

/// Tries within one call, before the engine hears of a failure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retry {
    pub max_attempts: u32,
    pub backoff: Backoff,
}

impl Default for Retry {
    /// One try: trying again is the engine's business, which keeps count of it.
    fn default() -> Self {
        Self { max_attempts: 1, backoff: Backoff::default() }
    }
}

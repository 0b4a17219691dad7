//! Why something was decided, as people read it.

use serde::{Deserialize, Serialize};

/// One thing that spoke for a decision, or against it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// Finishes a sentence that begins with "because": `the title says "Rechnung"`.
    pub text: String,
    /// How much it counted; below zero it spoke against.
    pub weight: f64,
}

impl Reason {
    pub fn new(text: impl Into<String>, weight: f64) -> Self {
        Self { text: text.into(), weight }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "because {}", self.text)
    }
}

/// What a page says, short enough for a sentence.
pub(super) fn quote(text: &str) -> String {
    const LONGEST: usize = 60;
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("\"{}…\"", &text[..at]),
        None => format!("\"{text}\""),
    }
}

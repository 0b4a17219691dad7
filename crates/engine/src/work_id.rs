//! Which piece of work a step belongs to, so that those outside can tell a second try from other work.

use bindery_core::ContentHash;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write as _;

/// The identity of a piece of work: the same for every attempt, in whichever process it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkId {
    /// The id of the job, or of the run or execution that the work is a part of.
    pub job: String,
    /// What tells it from all other work: submission, item and stage.
    pub about: String,
}

impl WorkId {
    /// The idempotency key of what a processor does with an input as this work.
    pub fn key(&self, processor: &str, input: &Value) -> String {
        let input = ContentHash::of(input.to_string().as_bytes()).to_string();
        idempotency_key(&[&self.about, processor, &input])
    }
}

/// An idempotency key for the work that these parts describe: 32 hexadecimal digits.
pub fn idempotency_key(parts: &[&str]) -> String {
    let mut about = String::new();
    for part in parts {
        // With its length, so that no two lists of parts read the same.
        let _ = write!(about, "{}:{part}", part.len());
    }
    let mut key = ContentHash::of(about.as_bytes()).to_string();
    key.truncate(32);
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_tell_work_apart() {
        let work = WorkId { job: "job_1".to_owned(), about: "sub_1/item_2/extract".to_owned() };
        let key = work.key("p", &json!({"a": 1}));
        assert_eq!(key.len(), 32);
        assert_eq!(key, WorkId { job: "job_9".to_owned(), ..work.clone() }.key("p", &json!({"a": 1})));
        assert_ne!(key, work.key("q", &json!({"a": 1})));
        assert_ne!(key, work.key("p", &json!({"a": 2})));
        assert_ne!(idempotency_key(&["ab", "c"]), idempotency_key(&["a", "bc"]));
    }
}

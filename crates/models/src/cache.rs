//! Answers kept by what was asked, so that nothing is paid for twice.

use super::{
    ledger::BookError,
    request::{Request, Soundness},
};
use bindery_core::{ContentHash, hash::Hasher};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Mutex, PoisonError},
};

/// An answer as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptAnswer {
    pub value: Value,
    pub model: String,
    pub soundness: Soundness,
    /// As in an answer.
    #[serde(default)]
    pub dropped: Vec<String>,
}

/// Keeps answers. What was put may be forgotten, but not changed.
pub trait AnswerCache: Send + Sync + fmt::Debug {
    fn get(&self, key: &ContentHash) -> Result<Option<KeptAnswer>, BookError>;

    fn put(&self, key: &ContentHash, answer: &KeptAnswer) -> Result<(), BookError>;
}

/// The key of a request's answer: everything that it depends on. The item is not part of it; the same question about
/// another item has the same answer.
pub(crate) fn cache_key(provider: &str, model: &str, request: &Request) -> ContentHash {
    let mut hasher = Hasher::default();
    let schema = request.schema.as_json().to_string();
    let limits = format!("{} {}", request.max_output_tokens, request.temperature);
    for part in [provider, model, &request.prompt_version, &request.system, &request.user, &schema, &limits] {
        // With their lengths, so that no two lists of parts look the same.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finish()
}

/// A cache that ends with the process, and forgets the oldest answers when it is full.
#[derive(Debug)]
pub struct MemoryCache {
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    answers: HashMap<ContentHash, KeptAnswer>,
    order: VecDeque<ContentHash>,
}

impl MemoryCache {
    pub fn new(most_answers: usize) -> Self {
        Self { most: most_answers.max(1), kept: Mutex::default() }
    }
}

impl Default for MemoryCache {
    fn default() -> Self {
        Self::new(10_000)
    }
}

impl AnswerCache for MemoryCache {
    fn get(&self, key: &ContentHash) -> Result<Option<KeptAnswer>, BookError> {
        Ok(self.kept.lock().unwrap_or_else(PoisonError::into_inner).answers.get(key).cloned())
    }

    fn put(&self, key: &ContentHash, answer: &KeptAnswer) -> Result<(), BookError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.answers.insert(*key, answer.clone()).is_none() {
            kept.order.push_back(*key);
        }
        if kept.order.len() > self.most
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.answers.remove(&oldest);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_full_cache_forgets_the_oldest() {
        let cache = MemoryCache::new(2);
        let answer = |n: i32| KeptAnswer {
            value: json!({"n": n}),
            model: "m".to_owned(),
            soundness: Soundness::Whole,
            dropped: Vec::new(),
        };
        let keys: Vec<ContentHash> = (0..3).map(|n: u8| ContentHash::of(&[n])).collect();
        for (n, key) in (0..).zip(&keys) {
            cache.put(key, &answer(n)).unwrap();
        }
        assert_eq!(cache.get(&keys[0]), Ok(None));
        assert_eq!(cache.get(&keys[2]), Ok(Some(answer(2))));
    }
}

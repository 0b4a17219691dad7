//! Factors of many inputs as one set.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Which value counts where several inputs have found different ones for the same factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactorPolicy {
    /// That of the later input.
    #[default]
    Last,
    /// That of the earlier input.
    First,
    /// All of them, as a list in the order of the inputs.
    All,
}

/// The policy of each factor.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MergePolicy {
    pub default: FactorPolicy,
    pub factors: BTreeMap<String, FactorPolicy>,
}

/// A factor for which inputs disagree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    pub factor: String,
    pub policy: FactorPolicy,
    /// What each input found, in the order of the inputs.
    pub found: Vec<InputValue>,
}

/// What one input found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InputValue {
    pub input_id: String,
    pub value: Value,
}

/// Merges in the order given. Nothing is overwritten silently: every disagreement is reported.
pub(super) fn merge<'a>(
    results: impl Iterator<Item = (&'a str, &'a Map<String, Value>)>,
    policy: &MergePolicy,
) -> (Map<String, Value>, Vec<Conflict>) {
    let mut merged = Map::new();
    let mut finders: BTreeMap<&str, Vec<(&str, &Value)>> = BTreeMap::new();
    for (input_id, factors) in results {
        for (factor, value) in factors {
            finders.entry(factor).or_default().push((input_id, value));
        }
    }
    let mut conflicts = Vec::new();
    for (factor, found) in finders {
        let Some((_, first)) = found.first() else { continue };
        if found.iter().all(|(_, value)| value == first) {
            merged.insert(factor.to_owned(), (*first).clone());
            continue;
        }
        let policy = policy.factors.get(factor).copied().unwrap_or(policy.default);
        let values = || found.iter().map(|(_, value)| (*value).clone());
        let chosen = match policy {
            FactorPolicy::First => values().next(),
            FactorPolicy::Last => values().next_back(),
            FactorPolicy::All => Some(values().collect()),
        };
        merged.insert(factor.to_owned(), chosen.unwrap_or_default());
        let found = found.into_iter().map(|(id, value)| InputValue { input_id: id.to_owned(), value: value.clone() });
        conflicts.push(Conflict { factor: factor.to_owned(), policy, found: found.collect() });
    }
    (merged, conflicts)
}

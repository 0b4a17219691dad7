//! What a page was found to be.

use super::reason::Reason;
use bindery_core::Name;
use serde::{Deserialize, Serialize};

/// The type of a page, how sure that is, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageClass {
    pub doctype: Name,
    /// From 0 to 1: of the pages with 0.8, about four in five are what they are said to be.
    pub confidence: f64,
    /// What spoke for the type, the heaviest first; then what spoke against it.
    pub because: Vec<Reason>,
    /// The other types that come into question, the likeliest first.
    pub runners_up: Vec<(Name, f64)>,
    /// How much speaks for this being the first page of a document; below zero it is rather a later one.
    #[serde(default)]
    pub begins: f64,
    /// How much speaks for this being the last page of a document.
    #[serde(default)]
    pub ends: f64,
}

impl PageClass {
    /// How likely the page is of this type.
    pub fn likelihood(&self, doctype: &str) -> f64 {
        if self.doctype == *doctype {
            return self.confidence;
        }
        self.runners_up.iter().find(|(name, _)| *name == *doctype).map_or(0.0, |(_, likelihood)| *likelihood)
    }
}

//! Cities as people enter them: on a command line, or as lines of a file.
//!
//! ```text
//!  fields ──read──► Entry ──plan: with all that is stored──► edits, or every fault with its field and line
//! ```
//!
//! Nothing here speaks to a store or to the network, so a list of a thousand cities is checked before anything is
//! changed. What an entry does not say stays as it is.

mod check;
mod fields;
pub mod file;
pub mod plan;

pub use plan::{Plan, Purpose, plan};

use crate::records::VendorPlace;
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt;

/// Words for how a jurisdiction is followed; only the first is visited.
pub const STATUSES: &[&str] = &["active", "paused", "closed"];

/// A jurisdiction as somebody entered it. What is not said is none, and what is taken away is empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entry {
    pub city_key: String,
    pub name: Option<String>,
    /// Must be the one of the city key.
    pub state: Option<String>,
    pub vendor: Option<String>,
    pub slug: Option<String>,
    pub extra: Option<Vec<VendorPlace>>,
    pub kind: Option<String>,
    pub county: Option<Option<String>>,
    pub status: Option<String>,
    pub tz: Option<String>,
    pub population: Option<Option<i64>>,
    pub settings: Option<Map<String, Value>>,
    pub participation: Option<Option<Value>>,
    /// The first is the primary one.
    pub zipcodes: Option<Vec<String>>,
}

/// What is wrong with a field of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldFault {
    pub field: String,
    pub message: String,
}

impl FieldFault {
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}

impl fmt::Display for FieldFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// `VENDOR:SLUG`, as a further place is written.
pub fn vendor_place(text: &str) -> Result<VendorPlace, String> {
    match text.trim().split_once(':') {
        Some((vendor, slug)) if !vendor.trim().is_empty() && !slug.trim().is_empty() => {
            Ok(VendorPlace { vendor: vendor.trim().to_owned(), slug: slug.trim().to_owned() })
        }
        _ => {
            Err(format!("expected VENDOR:SLUG such as onbase:docs.springfield.gov/OnBaseAgendaOnline, found {text:?}"))
        }
    }
}

//! A checklist: the documents that a submission must hold, and the rules across them.

use super::{compare::Comparison, paper::Paper};
use bindery_core::Name;
use bindery_core::fold::fold_text;
use std::fmt;

/// The documents that a kind of submission must hold, such as a loan application, and what must agree across them.
#[derive(Debug, Clone, PartialEq)]
pub struct Checklist {
    /// As results name it: "loan_application".
    pub name: Name,
    /// As people read it: "Loan application".
    pub title: String,
    pub version: u32,
    /// The day that ages are counted from; the day of reception where no such value was read.
    pub as_of: Option<FieldRef>,
    pub documents: Vec<Requirement>,
    pub agree: Vec<Agreement>,
    pub in_order: Vec<DateSequence>,
}

/// A document, or several of one kind, that must be there.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    /// What rules call it: "income".
    pub name: Name,
    /// As people read it: "Payslips".
    pub title: String,
    /// The types of documents that count.
    pub types: Vec<String>,
    /// Words of which a field must hold one, where documents of the same type are told apart.
    pub only_where: Vec<(String, Vec<String>)>,
    pub at_least: u32,
    pub at_most: Option<u32>,
    /// Nothing is missing without it.
    pub is_optional: bool,
    /// Its share of the completeness score.
    pub weight: f64,
    /// The fields that must have been read.
    pub fields: Vec<String>,
    /// The date after which it does not count.
    pub valid_until: Option<String>,
    pub recent: Option<Recent>,
}

/// How old a document may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recent {
    /// The date that it is as old as.
    pub field: String,
    pub days: u32,
}

/// Values that must be the same in all documents that state them.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    pub name: Name,
    pub title: String,
    pub comparison: Comparison,
    pub fields: Vec<FieldRef>,
}

/// Two dates of which the first may not be after the second.
#[derive(Debug, Clone, PartialEq)]
pub struct DateSequence {
    pub name: Name,
    pub title: String,
    pub earlier: FieldRef,
    pub later: FieldRef,
}

/// A value of the documents that fulfil a requirement: `identity.given_names+surname`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldRef {
    pub requirement: String,
    /// One field, or several whose values are read one after the other.
    pub fields: Vec<String>,
}

impl fmt::Display for FieldRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.requirement, self.fields.join("+"))
    }
}

impl Requirement {
    /// Whether a document is one of those that are asked for here.
    pub(super) fn matches(&self, paper: &Paper) -> bool {
        self.types.contains(&paper.doc_type)
            && self.only_where.iter().all(|(field, words)| {
                let text = paper.value(field).map(|value| fold_text(&value.text)).unwrap_or_default();
                words.iter().any(|word| text.contains(&fold_text(word)))
            })
    }
}

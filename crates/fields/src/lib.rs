//! What pages are and what they say: types of documents, classes of pages, fields with evidence and confidence.
//!
//! ```text
//!  pages ──classify──► a class each, because … ──group──► documents ──extract──► values, each with page, quote and box
//!             ▲                                                           ▲
//!             └────────────── doctypes/*.yaml ────────────────────────────┘
//! ```
//!
//! | module | what it owns |
//! |---|---|
//! | [`checklist`] | which documents a submission must hold, and what must agree across them |
//! | [`doctype`] | a type of document, as one YAML file describes it |
//! | [`classify`] | which type a page is of, how sure, and why; which pages make one document |
//! | [`extract`] | the values that a document states, where it states them, and what is doubtful about them |
//! | [`learn`] | gradient-boosted trees: trainer, evaluator, calibration, the file of models |
//! | [`papers`] | makers of papers whose values are known, to train and test on |
//!
//! Nothing here speaks to a network, and nothing touches a disk but [`doctype::DocTypes::with_folder`] and
//! [`extract::Templates::load`]: the same pages always give the same answer.

pub mod checklist;
pub mod classify;
pub mod doctype;
pub mod extract;
pub mod learn;
pub mod papers;
mod pattern;

pub use doctype::{DocType, DocTypes};

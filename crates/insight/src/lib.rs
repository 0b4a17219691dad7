//! What pages are and what they say: classes, documents, fields with evidence and confidence; and language models.
//!
//! ```text
//!  pages ──classify──► a class each, because … ──group──► documents ──fields──► values, each with page, quote and box
//!             ▲                                                          ▲
//!             └────────────── doctypes/*.yaml ───────────────────────────┘
//! ```
//!
//! | module | what it owns |
//! |---|---|
//! | [`checklist`] | which documents a submission must hold, and what must agree across them |
//! | [`doctype`] | a type of document, as one YAML file describes it |
//! | [`classify`] | which type a page is of, how sure, and why; which pages make one document |
//! | [`fields`] | the values that a document states, where it states them, and what is doubtful about them |
//! | [`learn`] | gradient-boosted trees: trainer, evaluator, calibration, the file of models |
//! | [`papers`] | makers of papers whose values are known, to train and test on |
//! | [`models`] | language models: OpenAI-compatible servers and Gemini, within limits and a budget |
//! | [`summary`] | what an item of an agenda is about, in its documents' own words |
//! | [`topics`] | which topics an item belongs to |
//!
//! Only [`models`] speaks to a network, and only with the service that is configured. Nothing else touches a disk but
//! [`doctype::DocTypes::with_folder`] and [`fields::Templates::load`]; there the same pages always give the same answer.

pub mod checklist;
pub mod classify;
pub mod doctype;
pub mod fields;
mod fold;
pub mod learn;
pub mod models;
pub mod papers;
mod pattern;
pub mod summary;
pub mod topics;

pub use doctype::{DocType, DocTypes};

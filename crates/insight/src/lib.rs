//! What pages are and what they say, without a network: classes, documents, fields with evidence and confidence.
//!
//! ```text
//!  pages ──classify──► a class each, because … ──group──► documents ──fields──► values, each with page, quote and box
//!             ▲                                                          ▲
//!             └────────────── doctypes/*.yaml ───────────────────────────┘
//! ```
//!
//! | module | what it owns |
//! |---|---|
//! | [`doctype`] | a type of document, as one YAML file describes it |
//! | [`classify`] | which type a page is of, how sure, and why; which pages make one document |
//! | [`fields`] | the values that a document states, where it states them, and what is doubtful about them |
//! | [`summary`] | what an item of an agenda is about, in its documents' own words |
//! | [`topics`] | which topics an item belongs to |
//!
//! Nothing here touches a disk or a network but [`doctype::DocTypes::with_folder`] and [`fields::Templates::load`]. The same pages always give the same answer.

pub mod classify;
pub mod doctype;
pub mod fields;
mod fold;
mod pattern;
pub mod summary;
pub mod topics;

pub use doctype::{DocType, DocTypes};

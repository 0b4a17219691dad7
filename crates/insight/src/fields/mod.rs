//! The values that a document states: each with the page, the words and the box that state it, and what is doubtful.

mod schema;

pub use schema::Schema;

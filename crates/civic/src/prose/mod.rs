//! What agendas and their documents say in sentences, by rules alone: no model, no network, no clock.
//!
//! | module | what it owns |
//! |---|---|
//! | [`summary`] | what an item of an agenda is about, in its documents' own words |
//! | [`topics`] | which topics an item belongs to |
//! | [`numbers`] | the numbers of a summary, looked up in its source |
//! | [`subject`] | whether a summary speaks of what its title names |
//!
//! The rules are English. Their words stand in text files beside the modules that use them, which `word_lists` reads.

pub mod numbers;
pub mod subject;
pub mod summary;
pub mod topics;
mod word_lists;

//! Where Bindery keeps its state.
//!
//! [`Store`] is what the engine knows of a database. It is split by purpose into [`Queue`] (claim work and commit its
//! effects), [`Feed`] (the event log and its consumers), [`Control`] (what people do) and [`Records`] (what people
//! see), and [`Executions`] (state machines under way). Every method states its durability promise, works on batches in
//! one round trip, and assumes neither a single process nor a single writer. [`Search`] finds pages by their words,
//! [`RowStore`] keeps the rows of domains, which own their nouns ([`rows`]); [`Portable`] carries everything to another
//! store. [`Blobs`](blobs::Blobs) keeps the bytes, in a folder or in object storage.
//!
//! Backends: [`sqlite`] (one file, no set-up) and `postgres` (many machines). Every backend passes the same suite, `bindery-conformance`.
//!
//! On a crash: what a method acknowledged is there after a restart, what it did not acknowledge is there whole or not
//! at all. Nothing needs repair; expired leases are given back by [`Queue::sweep`].
//!
//! The log has every statement, without its values, at the level `trace` of the target [`STATEMENTS`].

pub mod blobs;
mod blocking;
pub mod commit;
pub mod error;
pub mod executions;
mod gather;
mod join_counts;
mod lease;
pub mod pages;
pub mod portable;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod query;
pub mod retention;
pub mod rows;
pub mod search;
pub mod sqlite;
pub mod store;
pub mod suspects;

pub use blocking::allow_blocking_on_this_thread;
pub use commit::{Again, Changes, Commit, CommitResult, Guard, JobEnd, JoinProgress, Rejection, SubmissionChange};
pub use error::{StoreError, StoreResult};
pub use executions::Executions;
pub use portable::Portable;
pub use retention::Retention;
pub use rows::RowStore;
pub use search::Search;
pub use store::{Control, Feed, Queue, Records, Store};

/// The target of the log that has every statement.
pub const STATEMENTS: &str = "bindery_store::statements";

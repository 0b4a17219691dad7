//! The nouns of Bindery and the few pure rules that belong to them.
//!
//! This crate does no I/O and knows no runtime: it defines what a submission, an item, a job, an outcome, a join,
//! an event and a review *are*, so that the store can keep them, the engine can move them and the command line can
//! show them, all in the same words.
//!
//! | module | noun |
//! |---|---|
//! | [`submission`] | one intake, its workflow version, deadline and state |
//! | [`item`] | a file, page or document that work is done on |
//! | [`artifact`] | immutable bytes addressed by their hash |
//! | [`job`] | a durable queue row, and the reason why it waits |
//! | [`outcome`] | the one current result of (item, stage, processor) |
//! | [`join`] | the rule that closes a stage exactly once |
//! | [`event`] | the append-only log's envelope |
//! | [`review`] | a task for a person about one outcome |
//! | [`fold`] | letters as they are compared |
//! | [`cell`] | cells of tables for spreadsheets |
//! | [`address`] | URLs as messages show them |
//! | [`backoff`] | how long to wait before another attempt |
//! | [`progress`] | what the command line and the pages show |

pub mod address;
pub mod artifact;
pub mod awake;
pub mod backoff;
pub mod cell;
pub mod error;
pub mod event;
pub mod fault;
pub mod fold;
pub mod hash;
pub mod id;
pub mod item;
pub mod job;
pub mod join;
pub mod name;
pub mod outcome;
pub mod payload;
pub mod progress;
pub mod review;
pub mod submission;
pub mod time;

pub use awake::AwakeInstant;
pub use backoff::Backoff;
pub use error::{Disposition, StepError};
pub use hash::ContentHash;
pub use id::{EventSeq, ExecutionId, ItemId, JobId, JoinId, ReviewId, SubmissionId};
pub use name::Name;
pub use payload::Payload;
pub use time::{Clock, Timestamp};

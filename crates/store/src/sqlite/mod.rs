//! The embedded backend: one SQLite file, no set-up.
//!
//! **Durability.** WAL with `synchronous=FULL`: what was acknowledged survives a power cut. That costs an fsync per
//! transaction, so one writer thread gathers whatever callers want at the moment into one transaction (*group commit*)
//! and acknowledges them together after it.
//!
//! **Sharing.** Several processes may use one file: every transaction begins `IMMEDIATE`, and a lock is waited for. The
//! position of an event is its commit order, because SQLite has one writer at a time.
//!
//! | file | what it does |
//! |---|---|
//! | `open` | opens the file, checks that it is ours and not newer, migrates it forward |
//! | `writer` | the writer thread and its group commits |
//! | `reader` | a few read-only connections |
//! | `jobs`, `claim`, `joins`, `repair`, `commit`, `events`, `sweep`, `control` | the statements, each on one transaction |
//! | `executions` | state machines: statements, reads and their trait |
//! | `progress` | counters of outcomes and items, kept with the rows |
//! | `records` | the reads |
//! | `retention`, `removal`, `blob_refs`, `reclaim`, `use_lock` | holds, deleting rows, which blobs are named, giving space back, who else uses the file |
//! | `blob_rows` | small blobs |
//! | `search` | the index of texts |
//! | `row_store`, `dead_letters` | the rows of domains, and what they ask of the queue |
//! | `rows` | between rows and nouns |
//! | `backend` | the traits, delegating to the above |

mod backend;
mod blob_refs;
mod blob_rows;
mod broker_claims;
mod claim;
mod commit;
mod control;
mod dead_letters;
mod events;
mod executions;
mod jobs;
mod joins;
mod open;
mod portable;
mod progress;
mod reader;
mod reclaim;
mod records;
mod removal;
mod repair;
mod report_limits;
mod retention;
mod reviews;
mod row_store;
mod rows;
mod search;
mod suspects;
mod sweep;
mod use_lock;
mod workers;
mod writer;

pub use backend::SqliteStore;
pub use blob_rows::SqliteBlobRows;
pub use open::Options;

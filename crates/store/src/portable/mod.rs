//! Carrying a whole store to another one, whatever backend either is on.
//!
//! [`Portable`] is what a backend does for it: hand over every row of one consistent snapshot, and take all rows in one
//! transaction. [`tables`] says what a row is, the same for every backend. [`export`] and [`import`] put rows and blobs
//! into one stream (a tar) and take them out again:
//!
//! ```text
//! bindery-export.json       what it is, and in which version of the format
//! rows/submission/0.jsonl   rows of a table, one JSON object on each line; as many files as are needed
//! …
//! blobs/<sha256>            the blobs, in the order of their hashes
//! end.json                  how many rows and blobs there are, and their hashes
//! ```
//!
//! What is promised: the rows of an import are there whole or not at all, and only when everything that the end says
//! has come and every blob has the bytes that its name says. Work that was running is ready again, its attempt not
//! counted: the leases were those of workers of the other store. Ids, tokens and positions go on above the imported
//! ones. Memory is bounded by the largest chunk of rows. Workers are not carried: they belong to the other store.

mod archive;
mod export;
mod import;
pub mod tables;

pub use archive::{ArchiveError, Carried};
pub use export::export;
pub use import::import;
pub use tables::{Row, TABLES};

use crate::{error::StoreResult, rows::Table};
use async_trait::async_trait;
use tokio::sync::mpsc::{Receiver, Sender};

/// How many rows go together, and about how many bytes of them.
pub(crate) const CHUNK_ROWS: usize = 500;
pub(crate) const CHUNK_BYTES: usize = 1 << 20;

/// Some rows of a table.
#[derive(Debug)]
pub struct Chunk {
    pub table: &'static Table,
    pub rows: Vec<Row>,
}

/// What a load is told.
#[derive(Debug)]
pub enum Load {
    Rows(Chunk),
    /// That was all, and it is good.
    Commit,
}

/// A store whose rows can be carried.
#[async_trait]
pub trait Portable: Send + Sync {
    /// What is carried, in this order: [`TABLES`], and the tables of the domains that the store was opened with.
    fn tables(&self) -> Vec<&'static Table>;

    /// Hands over every row, table by table, as they were at one moment. Ends early when nobody takes them any more.
    /// Refuses where the store has tables of a domain that it was not opened with.
    async fn dump(&self, to: Sender<Chunk>) -> StoreResult<()>;

    /// Takes rows into a store that holds no work, in one transaction. Nothing is stored unless [`Load::Commit`] comes.
    /// Returns how many rows there were.
    async fn load(&self, from: Receiver<Load>) -> StoreResult<u64>;
}

/// A store that is in use takes no rows of another.
pub(crate) fn not_empty(table: &str) -> crate::StoreError {
    crate::StoreError::Invalid(format!("the store is in use already (it has rows in {table}); import into a new one"))
}

/// Nobody said that the rows are complete.
pub(crate) fn ended_early() -> crate::StoreError {
    crate::StoreError::Invalid("the rows ended early; nothing was stored".to_owned())
}

/// Rows of a domain that the program does not know would be left behind.
pub(crate) fn unknown_domain(domain: &str) -> crate::StoreError {
    let message = format!("the store has tables of {domain}, which this program does not know; use one that does");
    crate::StoreError::Invalid(message)
}

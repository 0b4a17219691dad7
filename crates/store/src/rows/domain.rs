//! What a domain registers with a store when it is opened.

use super::table::Table;
use crate::{
    error::{StoreError, StoreResult},
    portable::TABLES,
    retention::{BLOB_COLUMNS, Owner},
    store::Store,
};
use async_trait::async_trait;
use std::{fmt, path::Path};

/// Columns of a table in which blobs are named: any hash in a text counts.
#[derive(Debug, Clone, Copy)]
pub struct BlobColumns {
    pub table: &'static str,
    /// Its rows are those of a submission.
    pub of_submission: bool,
    pub columns: &'static [&'static str],
}

/// The tables of a domain.
#[derive(Debug)]
pub struct Schema {
    /// Of the domain. Stores know by it how many migrations they have.
    pub name: &'static str,
    /// Applied in order, each once. Never edit one that was released.
    pub sqlite: &'static [&'static str],
    pub postgres: &'static [&'static str],
    /// What is carried to another store, in this order.
    pub tables: &'static [&'static Table],
    /// Who deletes the rows of each of them.
    pub owners: &'static [Owner],
    pub blob_columns: &'static [BlobColumns],
    /// Tables that shrink, so that their space is given back.
    pub pruned: &'static [&'static str],
}

/// A domain that keeps rows in a store, and the part of retention that is its own.
#[async_trait]
pub trait Domain: fmt::Debug + Send + Sync {
    fn schema(&self) -> &'static Schema;

    /// Does what time does to its rows, now and then: above all, deletes what has been kept for long enough and nobody
    /// asked to keep. Returns how many rows went.
    async fn age_out(&self, store: &dyn Store) -> StoreResult<u64>;

    /// Deletes everything of a person. Returns how many rows went.
    async fn delete_owner(&self, _store: &dyn Store, _owner: &str) -> StoreResult<u64> {
        Ok(0)
    }
}

/// The tables of a store with these domains, in the order in which they are carried.
pub(crate) fn tables(domains: &[&'static dyn Domain]) -> Vec<&'static Table> {
    let theirs = domains.iter().flat_map(|domain| domain.schema().tables.iter().copied());
    TABLES.iter().chain(theirs).collect()
}

/// Where rows of a store with these domains name blobs.
pub(crate) fn blob_columns(domains: &[&'static dyn Domain]) -> Vec<BlobColumns> {
    let theirs = domains.iter().flat_map(|domain| domain.schema().blob_columns);
    BLOB_COLUMNS.iter().chain(theirs).copied().collect()
}

/// The migrations that a domain lacks of which so many are applied; an error where a newer program has applied more.
pub(crate) fn pending_migrations<'m>(
    applied: i64,
    migrations: &'m [&'static str],
    path: &Path,
) -> StoreResult<&'m [&'static str]> {
    let known = migrations.len() as i64;
    if applied > known {
        return Err(StoreError::Newer { path: path.to_owned(), found: applied, known });
    }
    Ok(migrations.get(usize::try_from(applied).unwrap_or(0)..).unwrap_or(&[]))
}

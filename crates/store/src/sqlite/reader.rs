//! A few read-only connections. Readers never wait for the writer, and see only whole transactions. Where the store cannot
//! be written, each query has a connection of its own: what SQLite knows of such a file holds for a moment only.

use super::open::{Options, explain, open_frozen, open_reader};
use crate::{
    blocking,
    error::{StoreError, StoreResult},
};
use rusqlite::Connection;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug)]
pub(super) struct Readers {
    options: Options,
    idle: Mutex<Vec<Connection>>,
    is_frozen: bool,
}

impl Readers {
    pub(super) fn new(options: Options) -> Self {
        Self { options, idle: Mutex::default(), is_frozen: false }
    }

    /// For a store that cannot be written.
    pub(super) fn of_frozen(options: Options) -> Self {
        Self { options, idle: Mutex::default(), is_frozen: true }
    }

    /// Runs `query` in one consistent snapshot, off the async threads.
    pub(super) async fn read<T, F>(self: &Arc<Self>, query: F) -> StoreResult<T>
    where
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let readers = Arc::clone(self);
        blocking::run(move || readers.read_now(query)).await.map_err(|_| StoreError::Closed)?
    }

    fn read_now<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> StoreResult<T> {
        let explain = |error: rusqlite::Error| explain(&error, &self.options.path, self.options.busy_timeout);
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let db = match idle {
            Some(db) => db,
            None if self.is_frozen => open_frozen(&self.options)?,
            None => open_reader(&self.options)?,
        };
        let snapshot = db.unchecked_transaction().map_err(explain)?;
        let result = query(&snapshot).map_err(explain);
        drop(snapshot);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < 4 && !self.is_frozen {
            idle.push(db);
        }
        result
    }
}

//! The row layer: how a domain keeps rows in a store, in the same way on every backend.
//!
//! The store owns connections, transactions and SQL; a domain owns its nouns and what becomes of them. A domain
//! declares its tables ([`Table`], [`Record`]) and registers them when a store is opened ([`Domain`], [`Schema`]). It
//! asks with [`Query`], a statement that each backend renders in its own dialect, and changes rows with a
//! [`UnitOfWork`]: queries, a decision and [`RowWrites`] in one transaction, durable when [`run`] returns, and one at a
//! time for all that name the same lock key.
//!
//! | module | what it owns |
//! |---|---|
//! | `value` | values of columns and parameters, rows of answers |
//! | `table` | tables, and nouns that are rows of one |
//! | `query` | statements as values |
//! | `render` | statements as text, by the dialect of a backend |
//! | `unit_of_work` | changes that are decided in their transaction |
//! | `domain` | what a domain registers |

mod domain;
mod query;
pub(crate) mod render;
mod table;
mod unit_of_work;
mod value;

pub use domain::{BlobColumns, Domain, Schema};
pub use query::{Column, Condition, Order, Query, any_of, column, joined};
pub use table::{ColumnType, Record, Table, decode};
pub use unit_of_work::{Answers, AnyUnitOfWork, OnConflict, RowStore, RowWrites, TableRows, UnitOfWork, run};
pub use value::{QueryRow, Value};

pub(crate) use domain::{blob_columns, pending_migrations, tables};

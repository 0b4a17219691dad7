//! Tables, and nouns that are rows of one.

use super::value::{QueryRow, Value};
use crate::error::StoreResult;
use serde::{Serialize, de::DeserializeOwned};

/// What a column holds, and how it is written in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    Integer,
    Real,
    /// `true` or `false`.
    Truth,
    Text,
    /// Bytes, in hexadecimal digits.
    Bytes,
}

/// A table, the same on every backend.
#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    /// Rows come in the order of these columns. Those of a domain begin with them: they are its key.
    pub order: &'static str,
    pub columns: &'static [(&'static str, ColumnType)],
    /// Rows here mean that the store is in use. Those of other tables give way to imported ones.
    pub is_work: bool,
}

impl Table {
    /// Separated by commas, for statements.
    pub(crate) fn column_list(&self) -> String {
        self.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    /// How many columns the key has.
    pub(crate) fn key_length(&self) -> usize {
        self.order.split(',').count()
    }
}

/// A noun that is a row of a table: the columns that it is found by, and the whole of it as JSON in the last column,
/// `data`.
pub trait Record: Serialize + DeserializeOwned {
    const TABLE: &'static Table;

    /// The values of its columns, without `data`.
    fn columns(&self) -> Vec<Value>;

    /// The whole row. What is not said takes no room: reading gives the default back.
    fn row(&self) -> Vec<Value> {
        let mut data = serde_json::to_value(self).unwrap_or_default();
        if let Some(fields) = data.as_object_mut() {
            fields.retain(|_, field| !field.is_null() && field.as_array().is_none_or(|list| !list.is_empty()));
        }
        let mut row = self.columns();
        row.push(Value::Text(data.to_string()));
        row
    }
}

/// The nouns of an answer.
pub fn decode<R: Record>(rows: &[QueryRow]) -> StoreResult<Vec<R>> {
    rows.iter().map(QueryRow::record).collect()
}

/// Declares tables of a domain: the columns that rows are found by, key columns first in the order of the key, and
/// `data` behind them. `ALL_TABLES` lists them.
#[macro_export]
macro_rules! tables {
    ($($(#[$doc:meta])* $constant:ident = $name:literal by $order:literal { $($column:ident: $type:ident),* })*) => {
        $(
            $(#[$doc])*
            pub(crate) static $constant: $crate::rows::Table = $crate::rows::Table {
                name: $name,
                order: $order,
                columns: &[
                    $((stringify!($column), $crate::rows::ColumnType::$type),)*
                    ("data", $crate::rows::ColumnType::Text),
                ],
                is_work: true,
            };
        )*
        /// All tables that are declared here, in the order in which they are exported.
        pub(crate) static ALL_TABLES: &[&$crate::rows::Table] = &[$(&$constant),*];
    };
}

/// Says which table each noun is a row of, and what its columns hold.
#[macro_export]
macro_rules! records {
    ($($noun:ty: $table:ident = |$row:ident| [$($value:expr),* $(,)?];)*) => {
        $(impl $crate::rows::Record for $noun {
            const TABLE: &'static $crate::rows::Table = &$table;

            fn columns(&self) -> Vec<$crate::rows::Value> {
                let $row = self;
                vec![$($crate::rows::Value::from($value)),*]
            }
        })*
    };
}

//! Values of columns and parameters, and rows of answers.

use super::table::Record;
use crate::error::{StoreError, StoreResult};
use bindery_core::Timestamp;

/// A value of a column, or a parameter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    Null,
    Number(i64),
    Text(String),
    /// Only as parameters, of which a column has one.
    Texts(Vec<String>),
    Numbers(Vec<i64>),
}

/// Not every database takes a zero character in a text.
fn without_zero(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(without_zero(text))
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Number(truth.into())
    }
}

impl From<Timestamp> for Value {
    fn from(at: Timestamp) -> Self {
        Self::Number(at.as_millis())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: AsRef<str>> From<&[T]> for Value {
    fn from(texts: &[T]) -> Self {
        Self::Texts(texts.iter().map(|text| without_zero(text.as_ref())).collect())
    }
}

impl<T: AsRef<str>> From<&Vec<T>> for Value {
    fn from(texts: &Vec<T>) -> Self {
        Self::from(texts.as_slice())
    }
}

/// A row of an answer, column by column.
#[derive(Debug, Clone)]
pub struct QueryRow(pub(crate) Vec<Value>);

impl QueryRow {
    pub fn text(&self, column: usize) -> StoreResult<&str> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Ok(text),
            other => Err(StoreError::Database(format!("column {column} of a row: expected a text, found {other:?}"))),
        }
    }

    /// A number; 0 where there is none.
    pub fn number(&self, column: usize) -> StoreResult<i64> {
        match self.0.get(column) {
            Some(Value::Number(number)) => Ok(*number),
            Some(Value::Null) => Ok(0),
            other => Err(StoreError::Database(format!("column {column} of a row: expected a number, found {other:?}"))),
        }
    }

    /// A count; 0 where there is none.
    pub fn count(&self, column: usize) -> StoreResult<u64> {
        Ok(u64::try_from(self.number(column)?).unwrap_or(0))
    }

    pub fn time(&self, column: usize) -> StoreResult<Option<Timestamp>> {
        match self.0.get(column) {
            Some(Value::Null) => Ok(None),
            _ => self.number(column).map(Timestamp::from_millis).map(Some),
        }
    }

    /// The noun whose `data` is in the first column.
    pub fn record<R: Record>(&self) -> StoreResult<R> {
        let wrong = |error| StoreError::Database(format!("a row of {}: {error}", R::TABLE.name));
        serde_json::from_str(self.text(0)?).map_err(wrong)
    }
}

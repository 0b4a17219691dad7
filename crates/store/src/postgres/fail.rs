//! The server's errors in our words.

use crate::error::StoreError;
use std::{error::Error as _, io};
use tokio_postgres::{
    Error,
    error::{DbError, SqlState},
};

/// Why a transaction failed: the server said no, or we did.
#[derive(Debug)]
pub(super) enum TxError {
    Sql(Error),
    Store(StoreError),
}

impl From<Error> for TxError {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for TxError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

pub(super) type TxResult<T> = Result<T, TxError>;

impl TxError {
    /// The server gave the transaction up because of another one: the same again will work.
    pub(super) fn is_conflict(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        error
            .code()
            .is_some_and(|code| [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(code))
            || is_overtaken(error)
    }

    /// The connection is gone, or the server is going.
    pub(super) fn is_disconnect(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        match error.code() {
            Some(code) => is_going(code),
            None => error.is_closed() || error.source().and_then(|source| source.downcast_ref::<io::Error>()).is_some(),
        }
    }

    pub(super) fn explain(self, place: &str) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Sql(error) => explain(&error, place),
        }
    }
}

/// What came of statements that were under way at the same time. After the first that fails, the server refuses all
/// others, and what it says of them is not the reason.
pub(super) fn join_results<A, B>(one: TxResult<A>, other: TxResult<B>) -> TxResult<(A, B)> {
    let is_aftermath = |error: &TxError| matches!(error, TxError::Sql(error) if error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION));
    match (one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(error), Err(cause)) if is_aftermath(&error) => Err(cause),
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

/// The outcome of the same work is there already, or a job with the same key: run again, the transaction looks first.
fn is_overtaken(error: &Error) -> bool {
    let constraint = error.as_db_error().and_then(DbError::constraint);
    error.code() == Some(&SqlState::UNIQUE_VIOLATION)
        && constraint.is_some_and(|name| ["outcome_pkey", "job_dedup"].contains(&name))
}

/// The server shuts down, has just started, or has no room for one more.
pub(super) fn is_going(code: &SqlState) -> bool {
    [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW, SqlState::TOO_MANY_CONNECTIONS]
        .contains(code)
        || code.code().starts_with("08")
}

/// The message with its detail, without what only a programmer would read, and without anybody's data.
pub(super) fn message(error: &Error) -> String {
    match error.as_db_error() {
        Some(answer) => match answer.detail().filter(|detail| !detail.starts_with("Failing row")) {
            Some(detail) => format!("{}; {detail}", answer.message()),
            None => answer.message().to_owned(),
        },
        None => error.source().map_or_else(|| error.to_string(), ToString::to_string),
    }
}

/// An error of a connection that has worked before.
pub(super) fn explain(error: &Error, place: &str) -> StoreError {
    let detail = message(error);
    let path = place.into();
    let Some(code) = error.code() else {
        return StoreError::Unreachable { path, detail: format!("the connection was lost: {detail}") };
    };
    if is_going(code) {
        return StoreError::Unreachable { path, detail };
    }
    match code.code() {
        "53100" => StoreError::Full { path },
        "25006" => {
            let detail = "the server is read-only; use the URL of the primary server".to_owned();
            StoreError::NotWritable { path, detail }
        }
        // What a replica answers to a transaction that wants to write.
        "0A000" => StoreError::NotWritable { path, detail: format!("{detail}; use the URL of the primary server") },
        "42501" => StoreError::NotWritable { path, detail: format!("{detail}; grant the user of the URL that right") },
        // What the caller wants cannot be stored, now or later: a broken constraint, a text with a zero byte.
        state if state.starts_with("23") || state.starts_with("22") => {
            StoreError::Invalid(format!("the database refused it: {detail}"))
        }
        "XX001" | "XX002" => StoreError::Corrupt { path, detail },
        _ => StoreError::Database(detail),
    }
}

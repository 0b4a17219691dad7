//! The parser is made by others and its input by anybody: a panic in it is caught here and becomes a sentence.

use crate::error::{ReadError, ReadResult};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work`; a panic in it is damage of the file. `what` names what was being read.
pub(super) fn catch_panics<T>(what: &str, work: impl FnOnce() -> ReadResult<T>) -> ReadResult<T> {
    // What the work shares with others is either behind a lock that survives a panic or only read.
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(ReadError::damaged("PDF", format!("{what} cannot be understood"))))
}

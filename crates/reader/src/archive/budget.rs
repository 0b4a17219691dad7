//! How much work one archive may cause, with the archives inside of it.

use crate::{
    error::{ReadError, ReadResult, bytes},
    options::Limits,
};
use std::time::Instant;

/// So many archives inside of one may break a limit; then no more are opened. Each has cost as much as a limit allows.
const MOST_BROKEN: usize = 8;

/// What may still be unpacked of one file: bytes and members of all archives inside of it, and time. Whoever unpacks what
/// was unpacked asks it before each member.
#[derive(Debug)]
pub struct UnpackBudget {
    limits: Limits,
    bytes: u64,
    members: usize,
    broken: usize,
    until: Option<Instant>,
}

impl UnpackBudget {
    pub fn new(limits: &Limits) -> Self {
        let until = Instant::now().checked_add(limits.time_to_unpack);
        Self { limits: limits.clone(), bytes: 0, members: 0, broken: 0, until }
    }

    /// Counts a member; an error says which limit it is over.
    pub fn take(&mut self, size: u64) -> ReadResult<()> {
        let Limits { unpacked_bytes, archive_entries, time_to_unpack, .. } = self.limits;
        let over = |what: String| Err(ReadError::too_large(what));
        if self.bytes.saturating_add(size) > unpacked_bytes {
            return over(format!("the file unpacks to more than {}", bytes(unpacked_bytes)));
        }
        if self.members >= archive_entries {
            return over(format!("the file has more than {archive_entries} files inside"));
        }
        if self.broken >= MOST_BROKEN {
            return over(format!("{MOST_BROKEN} archives inside the file were over a limit already"));
        }
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return over(format!("unpacking the file took longer than {} s", time_to_unpack.as_secs()));
        }
        self.bytes += size;
        self.members += 1;
        Ok(())
    }

    /// Counts a member that could not be opened.
    pub fn note_failure(&mut self, error: &ReadError) {
        let over_a_limit =
            matches!(error, ReadError::TooLarge { .. } | ReadError::OutOfMemory { .. } | ReadError::OutOfTime { .. });
        self.broken += usize::from(over_a_limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: ReadResult<()>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn bytes_members_and_broken_archives_are_counted() {
        let limits = Limits { unpacked_bytes: 100, archive_entries: 3, ..Limits::default() };
        let mut budget = UnpackBudget::new(&limits);
        budget.take(60).unwrap();
        assert_eq!(message(budget.take(41)), "the file unpacks to more than 100 bytes");
        budget.take(40).unwrap();
        budget.take(0).unwrap();
        assert_eq!(message(budget.take(0)), "the file has more than 3 files inside");
        let mut budget = UnpackBudget::new(&limits);
        for _ in 0..8 {
            budget.take(0).unwrap();
            budget.note_failure(&ReadError::too_large("bomb"));
            budget.members = 0;
        }
        budget.note_failure(&ReadError::Empty);
        assert_eq!(message(budget.take(0)), "8 archives inside the file were over a limit already");
    }

    #[test]
    fn time_is_counted() {
        let limits = Limits { time_to_unpack: std::time::Duration::ZERO, ..Limits::default() };
        assert_eq!(message(UnpackBudget::new(&limits).take(1)), "unpacking the file took longer than 0 s");
    }
}

//! Patterns that stand in the code.

use regex::Regex;

/// A pattern that is a constant. Each is used by a test, so that one with a mistake in it does not get far.
#[expect(clippy::unwrap_used, reason = "the patterns are constants, and tests use each")]
pub(crate) fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

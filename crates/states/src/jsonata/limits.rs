//! How much an evaluation may use.

use std::time::Duration;

/// The most that one evaluation may use. What goes beyond ends with an error that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Looked at between steps.
    pub time: Duration,
    /// Levels of nested evaluation; a recursive call takes about three.
    pub depth: usize,
    /// Values in one list, and in a result altogether.
    pub items: usize,
    /// Bytes in one text, and in a result altogether.
    pub bytes: usize,
    /// Whether `$eval` may run text as an expression.
    pub eval: bool,
}

impl Limits {
    /// Results nest no deeper. Common JSON readers refuse more than 128 levels.
    pub const MAX_NESTING: usize = 120;
    /// Longer expressions are not parsed.
    pub const MAX_SOURCE: usize = 256 * 1024;
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(5), depth: 3_000, items: 1_000_000, bytes: 16 << 20, eval: false }
    }
}

//! Patterns that are written in the source.

use regex::Regex;

/// A pattern of the source, which can only be wrong where the tests see it.
#[expect(clippy::expect_used, reason = "constant, and tested")]
pub(crate) fn constant_regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("patterns of the source are tested")
}

/// A static pattern.
macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| $crate::pattern::constant_regex($text));
    };
}
pub(crate) use pattern;

//! Asking before something is done that costs much or cannot be undone.

use crate::failure::Failure;
use std::io::{self, IsTerminal as _, Write as _};

/// Asks on the terminal; anything but yes is no. Where nobody can be asked, that is a failure with this hint.
pub(crate) fn ask(question: &str, unasked: impl Into<String>, hint: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(unasked.into()).hint(hint).into());
    }
    let mut err = io::stderr().lock();
    write!(err, "{question} [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "Yes"))
}

//! Progress over pages, on stderr: a bar on a terminal, nothing elsewhere but what went wrong.

use crate::output;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal as _};

/// The bar of the file in hand.
pub(super) struct Bar(Option<ProgressBar>);

impl Bar {
    pub(super) fn of(wanted: bool, name: &str, pages: usize) -> Self {
        if !wanted || pages < 2 || !io::stderr().is_terminal() {
            return Self(None);
        }
        let bar = output::bars().add(ProgressBar::new(pages as u64));
        if let Ok(style) = ProgressStyle::with_template("  {prefix}  {bar:30}  {pos:>5}/{len:<5} pages, {eta} left") {
            bar.set_style(style);
        }
        bar.set_prefix(output::short(name, 40));
        Self(Some(bar))
    }

    pub(super) fn step(&self) {
        if let Some(bar) = &self.0 {
            bar.inc(1);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
            output::leave_bars();
        }
    }
}

//! Progress over pages, on stderr: a bar on a terminal, nothing elsewhere but what went wrong.

use crate::output;
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{self, IsTerminal as _},
    sync::atomic::{AtomicUsize, Ordering},
};

/// How many there are: files are read side by side.
static BARS: AtomicUsize = AtomicUsize::new(0);

/// The bar of a file in hand.
pub(super) struct Bar(Option<ProgressBar>);

impl Bar {
    pub(super) fn new(wanted: bool, name: &str, pages: usize) -> Self {
        if !wanted || pages < 2 || !io::stderr().is_terminal() {
            return Self(None);
        }
        BARS.fetch_add(1, Ordering::SeqCst);
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
            if BARS.fetch_sub(1, Ordering::SeqCst) == 1 {
                output::leave_bars();
            }
        }
    }
}

//! Live progress of a run on stderr: a bar on a terminal, a plain line a second elsewhere. What is counted is stored.

use super::short_id;
use crate::output;
use bindery_app::runs::RunProgress;
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{self, IsTerminal as _},
    time::{Duration, Instant},
};

/// On a log, a line a second is enough.
const LINE_EVERY: Duration = Duration::from_secs(1);

const TEMPLATE: &str = "  {prefix}  {bar:30}  {pos:>6}/{len:<6} {msg}";

#[derive(Debug)]
pub(super) enum Display {
    Bar(Option<ProgressBar>),
    Lines { last: Option<Instant> },
    Off,
}

impl Display {
    pub(super) fn new(wanted: bool) -> Self {
        if !wanted {
            Self::Off
        } else if io::stderr().is_terminal() {
            Self::Bar(None)
        } else {
            Self::Lines { last: None }
        }
    }

    pub(super) fn update(&mut self, progress: &RunProgress) {
        match self {
            Self::Bar(bar) => {
                let bar = bar.get_or_insert_with(|| begin(progress));
                bar.set_position(progress.done() as u64);
                bar.set_message(rest(progress));
            }
            Self::Lines { last } => {
                if last.is_none_or(|at| at.elapsed() >= LINE_EVERY) {
                    *last = Some(Instant::now());
                    output::note(line(progress));
                }
            }
            Self::Off => {}
        }
    }

    /// Leaves the last state on the screen.
    pub(super) fn finish(&mut self) {
        if let Self::Bar(Some(bar)) = self {
            bar.abandon();
            output::leave_bars();
        }
    }
}

fn begin(progress: &RunProgress) -> ProgressBar {
    let bar = output::bars().add(ProgressBar::new(progress.inputs as u64));
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style.progress_chars("━╸─"));
    }
    bar.set_prefix(format!("run {}", short_id(&progress.run_id)));
    bar
}

fn line(progress: &RunProgress) -> String {
    let rest = rest(progress);
    let rest = if rest.is_empty() { rest } else { format!(" ({rest})") };
    format!("run {}: {}/{}{rest}", short_id(&progress.run_id), progress.done(), progress.inputs)
}

fn rest(progress: &RunProgress) -> String {
    let parts = [(progress.failed, "failed"), (progress.skipped, "skipped")];
    let said: Vec<String> =
        parts.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")).collect();
    said.join(", ")
}

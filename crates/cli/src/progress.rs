//! Live progress on stderr: bars on a terminal, plain lines elsewhere. Every number is counted; where the total is not
//! certain yet there is a spinner, not a percentage.

use crate::output;
use bindery_core::progress::{Progress, StageProgress};
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{self, IsTerminal as _},
    time::{Duration, Instant},
};

/// On a log, a line a second is enough.
const LINE_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) enum Display {
    /// What there is, and one bar for each stage.
    Bars {
        about: Option<ProgressBar>,
        bars: Vec<ProgressBar>,
    },
    Lines {
        last: String,
        at: Option<Instant>,
    },
    Off,
}

impl Display {
    pub(crate) fn new(wanted: bool) -> Self {
        if !wanted {
            Self::Off
        } else if io::stderr().is_terminal() {
            Self::Bars { about: None, bars: Vec::new() }
        } else {
            Self::Lines { last: String::new(), at: None }
        }
    }

    pub(crate) fn update(&mut self, progress: &Progress) {
        match self {
            Self::Bars { about, bars } => {
                let about = about.get_or_insert_with(|| output::bars().add(ProgressBar::no_length()));
                if let Ok(style) = ProgressStyle::with_template("{msg}") {
                    about.set_style(style);
                }
                about.set_message(format!("{} {}: {}", progress.submission, progress.status, parts(progress)));
                about.tick();
                while bars.len() < progress.stages.len() {
                    bars.push(output::bars().add(ProgressBar::no_length()));
                }
                let width = progress.stages.iter().map(|stage| stage.stage.chars().count()).max().unwrap_or(0);
                for (bar, stage) in bars.iter().zip(&progress.stages) {
                    draw(bar, stage, width);
                }
            }
            Self::Lines { last, at } => {
                let line = summary(progress);
                let due = at.is_none_or(|at| at.elapsed() >= LINE_EVERY) || progress.status.is_final();
                if due && line != *last {
                    output::note(&line);
                    *last = line;
                    *at = Some(Instant::now());
                }
            }
            Self::Off => {}
        }
    }

    /// Leaves the last state on the screen.
    pub(crate) fn finish(&mut self) {
        if let Self::Bars { about, bars } = self {
            for bar in about.take().into_iter().chain(bars.drain(..)) {
                bar.abandon();
            }
            output::leave_bars();
        }
    }
}

fn draw(bar: &ProgressBar, stage: &StageProgress, width: usize) {
    let name = format!("{:width$}", output::short(&stage.stage, usize::MAX));
    let (template, message) = match stage.expected {
        Some(expected) => {
            bar.set_length(expected);
            bar.set_position(stage.counts.done().min(expected));
            ("  {prefix}  {bar:30}  {pos:>6}/{len:<6} {msg}", rest(stage))
        }
        None if stage.counts.total() > 0 => {
            let (done, rest) = (stage.counts.done(), rest(stage));
            ("  {prefix}  {spinner} {msg}", if rest.is_empty() { done.to_string() } else { format!("{done}, {rest}") })
        }
        None => ("  {prefix}  - {msg}", String::new()),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸─"));
    }
    bar.set_prefix(name);
    bar.set_message(message);
    bar.tick();
}

/// One line for the whole submission.
pub(crate) fn summary(progress: &Progress) -> String {
    let stages: Vec<String> = progress.stages.iter().map(stage_summary).collect();
    format!("{} {}: {}; {}", progress.submission, progress.status, parts(progress), stages.join(", "))
}

/// What there is so far: files, pages, documents.
fn parts(progress: &Progress) -> String {
    let counts = [(progress.files, "file"), (progress.pages, "page"), (progress.documents, "document")];
    let known = counts.into_iter().filter(|(number, _)| *number > 0);
    known.map(|(number, noun)| output::count(number, noun)).collect::<Vec<_>>().join(", ")
}

fn stage_summary(stage: &StageProgress) -> String {
    let total = stage.expected.map_or_else(|| "?".to_owned(), |expected| expected.to_string());
    let rest = rest(stage);
    let rest = if rest.is_empty() { rest } else { format!(" ({rest})") };
    format!("{} {}/{total}{rest}", stage.stage, stage.counts.done())
}

/// What is not simply done: failures, and what is under way or waits.
pub(crate) fn rest(stage: &StageProgress) -> String {
    let counts = &stage.counts;
    let parts = [
        (counts.failed, "failed"),
        (counts.skipped, "skipped"),
        (counts.running, "in hand"),
        (counts.waiting, "waiting"),
        (counts.scheduled, "to be retried"),
        (counts.review, "for review"),
        (counts.parked, "parked"),
        (counts.awaiting, "outside"),
        (counts.cancelled, "cancelled"),
    ];
    let said: Vec<String> =
        parts.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")).collect();
    said.join(", ")
}

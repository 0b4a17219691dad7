//! Documents that are read, with a bar on a terminal, and how a command ends that has read them.

use super::fetching::Fetching;
use crate::{exit::Exit, output};
use bindery_app::{
    Settings,
    councils::documents::{DocumentCandidate, DocumentReader, DocumentReport, DocumentStatus},
    reading::OcrMode,
};
use indicatif::ProgressBar;
use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

/// Reads documents for one command.
pub(super) struct Reading {
    reader: DocumentReader,
    /// On a terminal.
    bar: Option<ProgressBar>,
}

impl Reading {
    pub(super) fn begin(
        settings: &Settings,
        fetching: &Fetching,
        ocr: OcrMode,
        vendor: &str,
        city_key: &str,
    ) -> anyhow::Result<Self> {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = output::bars().add(ProgressBar::new_spinner());
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Ok(Self { reader: DocumentReader::new(settings, fetching.client()?, ocr, vendor, city_key)?, bar })
    }

    /// What a document came to, and its text.
    pub(super) async fn read(&mut self, candidate: &DocumentCandidate) -> (DocumentReport, Option<&str>) {
        let bar = self.bar.as_ref();
        let tell = |name: &str| {
            if let Some(bar) = bar {
                bar.set_message(format!("reading {}", output::short(name, 60)));
            }
        };
        self.reader.read(candidate, tell).await
    }

    /// Somebody wants it to end.
    pub(super) fn is_stopping(&self) -> bool {
        self.reader.is_stopping()
    }

    /// Everything is read. How the command ends after that.
    pub(super) fn finish<'a>(self, reports: impl IntoIterator<Item = &'a DocumentReport>) -> Exit {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
            output::leave_bars();
        }
        let (mut read, mut failed) = (0, 0);
        for report in reports {
            read += usize::from(report.status == DocumentStatus::Read);
            failed += usize::from(report.status == DocumentStatus::Failed);
        }
        match (read, failed) {
            _ if self.is_stopping() => Exit::Interrupted,
            (_, 0) => Exit::Ok,
            (0, _) => Exit::Unexpected,
            _ => Exit::Partial,
        }
    }
}

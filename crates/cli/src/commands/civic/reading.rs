//! Documents of a meeting or an item, fetched and read one after the other. Each is read once, however many items share
//! it; one that cannot be read says why, and the others go on.

use super::fetching::Fetching;
use crate::{exit::Exit, output};
use bindery_app::{
    Settings,
    councils::{
        client::Session,
        filter::Decision,
        records::{AgendaItem, Attachment, Meeting},
        text::{DocumentText, NoText, Texts, Why},
    },
    reading::OcrMode,
    signals::stop_on_signal,
    supervisor::StopSignal,
};
use indicatif::ProgressBar;
use serde::Serialize;
use std::{
    collections::HashMap,
    io::{self, IsTerminal as _},
    sync::Arc,
    time::Duration,
};

/// A document that might be read.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) url: String,
    /// Why it is not.
    pub(super) skipped: Option<Decision>,
}

/// What became of a document.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Report {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) status: Status,
    /// The rule by which it is skipped, or the kind of trouble.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<Why>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text_length: Option<usize>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) about: Option<About>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Read,
    Skipped,
    Failed,
    /// Nobody has tried.
    Listed,
}

/// What is known of a document that was read.
#[derive(Debug, Clone, Serialize)]
pub(super) struct About {
    found_at: String,
    #[serde(rename = "type")]
    file_type: &'static str,
    bytes: u64,
    content_sha256: String,
    pub(super) page_count: u32,
    pages_by_ocr: u32,
    warnings: Vec<String>,
}

impl Report {
    /// What would become of it, before anybody has tried.
    pub(super) fn from_candidate(candidate: &Candidate) -> Self {
        let Candidate { name, url, skipped } = candidate.clone();
        let status = if skipped.is_some() { Status::Skipped } else { Status::Listed };
        let rule = skipped.as_ref().map(|decision| decision.rule.to_owned());
        let reason = skipped.map(|decision| decision.reason);
        Self { name, url, status, rule, why: None, reason, text_length: None, about: None }
    }
}

/// Which documents of an item are read, by the rules of today.
pub(super) fn of_item(item: &AgendaItem, decisions: &[Decision]) -> Vec<Candidate> {
    let candidate = |(document, decision): (&Attachment, &Decision)| Candidate {
        name: named(&document.name, &document.url),
        url: document.url.clone(),
        skipped: decision.is_skipped().then(|| decision.clone()),
    };
    item.attachments.iter().zip(decisions).map(candidate).collect()
}

/// A document without a name is called by the end of its address.
pub(super) fn named(name: &str, url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let end = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if name.trim().is_empty() { end.to_owned() } else { name.trim().to_owned() }
}

/// Reads documents for one command.
pub(super) struct Reading {
    texts: Texts,
    session: Session,
    stop: StopSignal,
    /// By their addresses.
    known: HashMap<String, Result<DocumentText, NoText>>,
    /// On a terminal.
    bar: Option<ProgressBar>,
}

impl Reading {
    pub(super) fn begin(
        settings: &Settings,
        fetching: &Fetching,
        ocr: OcrMode,
        vendor: &str,
        scope: &str,
    ) -> anyhow::Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let opener = Arc::new(settings.isolated_reader(cores)?);
        let texts = Texts::usual(Arc::new(fetching.client()?), ocr).with_opener(opener);
        let bar = io::stderr().is_terminal().then(|| {
            let bar = output::bars().add(ProgressBar::new_spinner());
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        let session = Session::new(vendor, scope);
        Ok(Self { texts, session, stop: stop_on_signal()?, known: HashMap::new(), bar })
    }

    pub(super) fn of_meeting(
        settings: &Settings,
        fetching: &Fetching,
        ocr: OcrMode,
        meeting: &Meeting,
    ) -> anyhow::Result<Self> {
        Self::begin(settings, fetching, ocr, &meeting.vendor, &meeting.city_key)
    }

    /// What a document came to, and its text.
    pub(super) async fn read(&mut self, candidate: &Candidate) -> (Report, Option<&str>) {
        let mut report = Report::from_candidate(candidate);
        if report.status == Status::Skipped {
            return (report, None);
        }
        if !self.known.contains_key(&candidate.url) {
            if let Some(bar) = &self.bar {
                bar.set_message(format!("reading {}", output::short(&candidate.name, 60)));
            }
            let read = self.texts.fetch(&self.session, &candidate.url, &self.stop).await;
            self.known.insert(candidate.url.clone(), read);
        }
        match self.known.get(&candidate.url) {
            Some(Ok(read)) => {
                report.status = Status::Read;
                report.text_length = Some(read.length());
                report.about = Some(About {
                    found_at: read.url.clone(),
                    file_type: read.file_type,
                    bytes: read.bytes,
                    content_sha256: read.content_sha256.clone(),
                    page_count: read.page_count,
                    pages_by_ocr: read.pages_by_ocr,
                    warnings: read.warnings.clone(),
                });
                (report, Some(read.text.as_str()))
            }
            Some(Err(fault)) => {
                report.status = Status::Failed;
                report.why = Some(fault.why);
                report.reason = Some(fault.message.clone());
                (report, None)
            }
            None => (report, None),
        }
    }

    /// Somebody wants it to end.
    pub(super) fn is_stopping(&self) -> bool {
        self.stop.is_stopping()
    }

    /// Everything is read. How the command ends after that.
    pub(super) fn finish<'a>(self, reports: impl IntoIterator<Item = &'a Report>) -> Exit {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
            output::leave_bars();
        }
        let (mut read, mut failed) = (0, 0);
        for report in reports {
            read += usize::from(report.status == Status::Read);
            failed += usize::from(report.status == Status::Failed);
        }
        match (read, failed) {
            _ if self.stop.is_stopping() => Exit::Interrupted,
            (_, 0) => Exit::Ok,
            (0, _) => Exit::Unexpected,
            _ => Exit::Partial,
        }
    }
}

/// Texts of several documents as one: each below its name.
pub(super) fn under_name(name: &str, text: &str) -> String {
    format!("=== {name} ===\n\n{}\n\n", text.trim_end())
}

//! Documents of a meeting or an item, fetched and read one after the other. Each is read once, however many items share
//! it; one that cannot be read says why, and the others go on.

use crate::{error::AppResult, settings::Settings, signals::stop_on_signal, supervisor::StopSignal};
use bindery_civic::{
    client::{Client, Session},
    filter::Decision,
    records::{AgendaItem, Attachment},
    text::{DocumentText, NoText, Texts, Why},
};
use bindery_reader::OcrMode;
use serde::Serialize;
use std::{collections::HashMap, sync::Arc};

/// A document that might be read.
#[derive(Debug, Clone)]
pub struct DocumentCandidate {
    pub name: String,
    pub url: String,
    /// Why it is not.
    pub skipped: Option<Decision>,
}

/// What became of a document.
#[derive(Debug, Clone, Serialize)]
pub struct DocumentReport {
    pub name: String,
    pub url: String,
    pub status: DocumentStatus,
    /// The rule by which it is skipped, or the kind of trouble.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_length: Option<usize>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub about: Option<DocumentAbout>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentStatus {
    Read,
    Skipped,
    Failed,
    /// Nobody has tried.
    Listed,
}

/// What is known of a document that was read.
#[derive(Debug, Clone, Serialize)]
pub struct DocumentAbout {
    pub found_at: String,
    #[serde(rename = "type")]
    pub file_type: &'static str,
    pub bytes: u64,
    pub content_sha256: String,
    pub page_count: u32,
    pub pages_by_ocr: u32,
    pub warnings: Vec<String>,
}

impl DocumentReport {
    /// What would become of it, before anybody has tried.
    pub fn from_candidate(candidate: &DocumentCandidate) -> Self {
        let DocumentCandidate { name, url, skipped } = candidate.clone();
        let status = if skipped.is_some() { DocumentStatus::Skipped } else { DocumentStatus::Listed };
        let rule = skipped.as_ref().map(|decision| decision.rule.to_owned());
        let reason = skipped.map(|decision| decision.reason);
        Self { name, url, status, rule, why: None, reason, text_length: None, about: None }
    }
}

/// Which documents of an item are read, by the rules of today.
pub fn candidates_of_item(item: &AgendaItem, decisions: &[Decision]) -> Vec<DocumentCandidate> {
    let candidate = |(document, decision): (&Attachment, &Decision)| DocumentCandidate {
        name: name_document(&document.name, &document.url),
        url: document.url.clone(),
        skipped: decision.is_skipped().then(|| decision.clone()),
    };
    item.attachments.iter().zip(decisions).map(candidate).collect()
}

/// A document without a name is called by the end of its address.
pub fn name_document(name: &str, url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let end = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if name.trim().is_empty() { end.to_owned() } else { name.trim().to_owned() }
}

/// Reads documents until a signal asks to stop.
#[derive(Debug)]
pub struct DocumentReader {
    texts: Texts,
    session: Session,
    stop: StopSignal,
    /// By their addresses.
    known: HashMap<String, Result<DocumentText, NoText>>,
}

impl DocumentReader {
    /// For the documents of a vendor's site about a city.
    pub fn new(settings: &Settings, client: Client, ocr: OcrMode, vendor: &str, city_key: &str) -> AppResult<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let opener = Arc::new(settings.isolated_reader(cores)?);
        let texts = Texts::usual(Arc::new(client), ocr).with_opener(opener);
        Ok(Self { texts, session: Session::new(vendor, city_key), stop: stop_on_signal()?, known: HashMap::new() })
    }

    /// What a document came to, and its text. `tell` hears of it before it is fetched.
    pub async fn read(
        &mut self,
        candidate: &DocumentCandidate,
        tell: impl FnOnce(&str),
    ) -> (DocumentReport, Option<&str>) {
        let mut report = DocumentReport::from_candidate(candidate);
        if report.status == DocumentStatus::Skipped {
            return (report, None);
        }
        if !self.known.contains_key(&candidate.url) {
            tell(&candidate.name);
            let read = self.texts.fetch(&self.session, &candidate.url, &self.stop).await;
            self.known.insert(candidate.url.clone(), read);
        }
        match self.known.get(&candidate.url) {
            Some(Ok(read)) => {
                report.status = DocumentStatus::Read;
                report.text_length = Some(read.length());
                report.about = Some(DocumentAbout {
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
                report.status = DocumentStatus::Failed;
                report.why = Some(fault.why);
                report.reason = Some(fault.message.clone());
                (report, None)
            }
            None => (report, None),
        }
    }

    /// Somebody wants it to end.
    pub fn is_stopping(&self) -> bool {
        self.stop.is_stopping()
    }
}

/// Texts of several documents as one: each below its name.
pub fn under_name(name: &str, text: &str) -> String {
    format!("=== {name} ===\n\n{}\n\n", text.trim_end())
}

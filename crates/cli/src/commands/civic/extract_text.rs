//! `bindery civic extract-text`: the text of a meeting's packet, of an item's documents, or of one document.

use super::{fetching::Fetching, reading::Reading};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings,
    councils::{
        client::{address, vendors},
        documents::{DocumentCandidate, DocumentReport, DocumentStatus, candidates_of_item, name_document, under_name},
        filter, ids,
        records::Meeting,
    },
    reading::OcrMode,
};
use serde::Serialize;
use std::path::PathBuf;

/// Fetch documents of a meeting or an item, or one document, and read their text
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic extract-text paloaltoCA_3c961ffe17f6 -o packet.txt       the meeting's packet, else its agenda
  bindery civic extract-text paloaltoCA_3c961ffe17f6_17864 -o item.txt   the documents of an item
  bindery civic extract-text https://example.gov/packet.pdf              one document; needs no store
  bindery civic extract-text ID --record pages                           keep what the sites answered
Prints JSON: how many pages and characters there are, how the text begins, and what became of each document.
Exit code 3: some documents could not be read; 1: none could.")]
pub(super) struct Args {
    /// The id of a meeting or an item, or an address
    #[arg(value_name = "MEETING|ITEM|URL")]
    target: String,

    /// Write the text to this file
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,

    /// How many characters of the text the answer shows
    #[arg(long, value_name = "NUMBER", default_value_t = 500)]
    preview: usize,

    /// Also documents that the rules leave out
    #[arg(long)]
    all: bool,

    /// Read no scans
    #[arg(long)]
    no_ocr: bool,

    #[command(flatten)]
    fetching: Fetching,

    /// Print JSON, which this command always does
    #[arg(long)]
    json: bool,
}

/// What the command answers.
#[derive(Debug, Serialize)]
struct Answer {
    target: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    meeting_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    page_count: u64,
    /// In characters.
    text_length: usize,
    preview: String,
    /// The file that the text was written to.
    output: Option<String>,
    documents: Vec<DocumentReport>,
}

/// What is to be read.
struct Wanted {
    meeting: Option<Meeting>,
    item_id: Option<String>,
    title: Option<String>,
    /// Text that is known without reading.
    body: Option<String>,
    documents: Vec<DocumentCandidate>,
    /// One of them is enough: they are forms of the same.
    first_only: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let mut wanted = find_target(settings, &args.target).await?;
    if args.all {
        wanted.documents.iter_mut().for_each(|document| document.skipped = None);
    }
    let ocr = if args.no_ocr { OcrMode::Never } else { OcrMode::Auto };
    let mut reading = match &wanted.meeting {
        Some(meeting) => Reading::begin(settings, &args.fetching, ocr, &meeting.vendor, &meeting.city_key)?,
        None => Reading::begin(settings, &args.fetching, ocr, vendor_of(&args.target), "")?,
    };
    let mut text = String::new();
    if let Some(body) = &wanted.body {
        text.push_str(&under_name(wanted.title.as_deref().unwrap_or("text of the item"), body));
    }
    let single = wanted.documents.len() == 1 || wanted.first_only;
    let mut documents = Vec::new();
    for candidate in &wanted.documents {
        let (report, read) = reading.read(candidate).await;
        match read {
            Some(read) if single && text.is_empty() => text.push_str(read),
            Some(read) => text.push_str(&under_name(&candidate.name, read)),
            None => {}
        }
        let is_enough = wanted.first_only && report.status == DocumentStatus::Read;
        documents.push(report);
        if is_enough || reading.is_stopping() {
            break;
        }
    }
    let exit = reading.finish(&documents);
    let mut output_file = None;
    if let Some(path) = args.out.filter(|_| !text.is_empty()) {
        let shown = path.display().to_string();
        bindery_files::write(path, &text).map_err(|error| {
            Failure::new(Exit::Unexpected, format!("{shown} cannot be written: {error}"))
                .hint("is its folder there, and may it be written to?")
        })?;
        output_file = Some(shown);
    }
    for failed in documents.iter().filter(|report| report.status == DocumentStatus::Failed) {
        output::note(failed.reason.as_deref().unwrap_or_default());
    }
    let pages = documents.iter().filter_map(|report| report.about.as_ref()).map(|about| u64::from(about.page_count));
    output::json(&Answer {
        meeting_id: wanted.meeting.map(|meeting| meeting.id),
        item_id: wanted.item_id,
        title: wanted.title,
        page_count: pages.sum(),
        text_length: text.chars().count(),
        preview: text.chars().take(args.preview).collect(),
        output: output_file,
        target: args.target,
        documents,
    })?;
    Ok(exit)
}

async fn find_target(settings: &Settings, target: &str) -> anyhow::Result<Wanted> {
    if target.contains("://") {
        address::checked(target).map_err(|why| Failure::usage(format!("{target} {why}")))?;
        let documents =
            vec![DocumentCandidate { name: name_document("", target), url: target.to_owned(), skipped: None }];
        return Ok(Wanted { meeting: None, item_id: None, title: None, body: None, documents, first_only: true });
    }
    let app = settings.existing().await?;
    if ids::is_item_id(target) {
        let (item, meeting) = app.find_agenda_item(target).await?;
        let documents = candidates_of_item(&item, &filter::stored::of_documents(&item));
        let body = item.body_text.clone().filter(|body| !body.trim().is_empty());
        if documents.is_empty() && body.is_none() {
            return Err(Failure::usage(format!("{target} has no documents")).into());
        }
        let (meeting, item_id, title) = (Some(meeting), Some(item.id), Some(item.title));
        return Ok(Wanted { meeting, item_id, title, body, documents, first_only: false });
    }
    let meeting = app.find_meeting(target).await?;
    let documents = of_meeting(&meeting);
    if documents.is_empty() {
        let failure = Failure::usage(format!("{target} has neither a packet nor an agenda yet"));
        return Err(failure.hint(format!("`bindery civic preview-items {target}` lists what its items have")).into());
    }
    let title = Some(meeting.title.clone());
    Ok(Wanted { meeting: Some(meeting), item_id: None, title, body: None, documents, first_only: true })
}

/// The packet has everything in it; the agenda says at least what it is about.
fn of_meeting(meeting: &Meeting) -> Vec<DocumentCandidate> {
    let own = [("Packet", &meeting.packet_url), ("Agenda", &meeting.agenda_url)];
    let own = own.into_iter().filter_map(|(name, url)| Some((name.to_owned(), url.clone()?)));
    let others = meeting.agenda_sources.iter().map(|source| {
        (name_document(source.label.as_deref().unwrap_or(&source.kind), &source.url), source.url.clone())
    });
    let documents =
        meeting.documents.iter().map(|document| (name_document(&document.name, &document.url), document.url.clone()));
    let mut candidates: Vec<DocumentCandidate> = Vec::new();
    for (name, url) in own.chain(others).chain(documents) {
        if !candidates.iter().any(|known| known.url == url) {
            candidates.push(DocumentCandidate { name, url, skipped: None });
        }
    }
    candidates
}

/// Whose site it is, for messages.
fn vendor_of(url: &str) -> &'static str {
    match address::checked(url).map(|uri| vendors::vendor_of(&uri)) {
        Ok(vendors::UNKNOWN) | Err(_) => "the site",
        Ok(vendor) => vendor,
    }
}

//! `bindery civic preview-items`: what of an agenda would be read, and why; on demand with the texts.

use super::{fetching::Fetching, reading::Reading, shown};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings,
    councils::{
        documents::{DocumentCandidate, DocumentReport, DocumentStatus, candidates_of_item, under_name},
        filter::{self, Decision, Treatment},
        records::{AgendaItem, Meeting},
    },
    reading::OcrMode,
};
use serde::Serialize;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// List the items of a meeting: what would be read of each, what not, and by which rule
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic preview-items paloaltoCA_3c961ffe17f6
  bindery civic preview-items paloaltoCA_3c961ffe17f6 --json | jq '.items[] | select(.treatment != \"skip\")'
  bindery civic preview-items paloaltoCA_3c961ffe17f6 --extract-text -o texts   a text file for each item
Exit code 3: some documents could not be read; 1: none could.")]
#[expect(clippy::struct_excessive_bools, reason = "flags")]
pub(super) struct Args {
    /// The id of the meeting
    meeting: String,

    /// Fetch the documents that would be read, and read them
    #[arg(long)]
    extract_text: bool,

    /// Write a text file for each item into this folder
    #[arg(long, short, value_name = "DIR", requires = "extract_text")]
    out: Option<PathBuf>,

    /// Also items and documents that the rules leave out
    #[arg(long)]
    all: bool,

    /// Read no scans
    #[arg(long)]
    no_ocr: bool,

    #[command(flatten)]
    fetching: Fetching,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Preview {
    item_id: String,
    sequence: i64,
    agenda_number: Option<String>,
    section: Option<String>,
    title: String,
    /// How much work it gets.
    treatment: Treatment,
    filter_reason: Option<&'static str>,
    rule: &'static str,
    reason: String,
    /// Of what was read; none where nothing was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    text_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    documents: Vec<DocumentReport>,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let meeting = app.find_meeting(&args.meeting).await?;
    let mut items = app.civic().agenda(&meeting.id).await?;
    items.retain(|item| item.removed_at.is_none());
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder)
            .map_err(|error| Failure::usage(format!("the folder {} cannot be made: {error}", folder.display())))?;
    }
    let (previews, exit) = if args.extract_text {
        with_texts(settings, &args, &meeting, &items).await?
    } else {
        (items.iter().map(|item| preview(item, args.all)).collect(), Exit::Ok)
    };
    if args.json {
        let count = previews.len();
        output::json(&serde_json::json!({
            "meeting_id": meeting.id, "title": meeting.title, "starts_at_local": meeting.starts_at_local,
            "item_count": count, "items": previews,
        }))?;
    } else {
        show(&meeting, &previews)?;
    }
    Ok(exit)
}

fn preview(item: &AgendaItem, all: bool) -> Preview {
    let decision = filter::stored::of_item(item);
    let mut candidates = candidates_of_item(item, &filter::stored::of_documents(item));
    for candidate in &mut candidates {
        if all {
            candidate.skipped = None;
        } else if decision.is_skipped() && candidate.skipped.is_none() {
            candidate.skipped = Some(Decision { reason: "the item is not read".to_owned(), ..decision.clone() });
        }
    }
    Preview {
        item_id: item.id.clone(),
        sequence: item.sequence,
        agenda_number: item.agenda_number.clone(),
        section: item.section.clone(),
        title: item.title.clone(),
        treatment: decision.treatment,
        filter_reason: decision.filter_reason(),
        rule: decision.rule,
        reason: decision.reason,
        text_length: None,
        output: None,
        documents: candidates.iter().map(DocumentReport::from_candidate).collect(),
    }
}

async fn with_texts(
    settings: &Settings,
    args: &Args,
    meeting: &Meeting,
    items: &[AgendaItem],
) -> anyhow::Result<(Vec<Preview>, Exit)> {
    let ocr = if args.no_ocr { OcrMode::Never } else { OcrMode::Auto };
    let mut reading = Reading::begin(settings, &args.fetching, ocr, &meeting.vendor, &meeting.city_key)?;
    let mut previews = Vec::with_capacity(items.len());
    for item in items {
        let mut preview = preview(item, args.all);
        if reading.is_stopping() {
            previews.push(preview);
            continue;
        }
        let mut text = String::new();
        let is_read = args.all || preview.treatment != Treatment::Skip;
        if let Some(body) = item.body_text.as_deref().filter(|body| is_read && !body.trim().is_empty()) {
            text.push_str(body.trim_end());
            text.push_str("\n\n");
        }
        for report in &mut preview.documents {
            if report.status != DocumentStatus::Listed {
                continue;
            }
            let candidate = DocumentCandidate { name: report.name.clone(), url: report.url.clone(), skipped: None };
            let (read, said) = reading.read(&candidate).await;
            if let Some(said) = said {
                text.push_str(&under_name(&candidate.name, said));
            }
            if let Some(reason) = read.reason.as_ref().filter(|_| args.json) {
                output::note(reason);
            }
            *report = read;
        }
        preview.text_length = Some(text.chars().count());
        if let Some(folder) = args.out.as_deref().filter(|_| !text.is_empty()) {
            preview.output = Some(write(folder, item, &text)?);
        }
        previews.push(preview);
    }
    let exit = reading.finish(previews.iter().flat_map(|preview| &preview.documents));
    Ok((previews, exit))
}

/// `003-17864.txt`: in the order of the agenda, and the same every time.
fn write(folder: &Path, item: &AgendaItem, text: &str) -> anyhow::Result<String> {
    let own = item.id.strip_prefix(&item.meeting_id).unwrap_or(&item.id).trim_start_matches('_');
    let own: String =
        own.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).take(60).collect();
    let path = folder.join(format!("{:03}-{own}.txt", item.sequence));
    let number = item.agenda_number.as_deref().map(|number| format!("{number} ")).unwrap_or_default();
    let shown = path.display().to_string();
    bindery_files::write(path, format!("{number}{}\n\n{text}", item.title))
        .map_err(|error| Failure::new(Exit::Unexpected, format!("{shown} cannot be written: {error}")))?;
    Ok(shown)
}

fn show(meeting: &Meeting, previews: &[Preview]) -> anyhow::Result<()> {
    let (day, time) = shown::begins(meeting);
    output::line(format!("{}, {day} {time}", meeting.title).trim_end())?;
    output::line("")?;
    if previews.is_empty() {
        output::note("no agenda of it is known yet");
        return Ok(());
    }
    let room = shown::room(54, 30, 60);
    let mut rows: Vec<[String; 4]> = Vec::new();
    for preview in previews {
        let treatment = match preview.treatment {
            Treatment::Full => "full",
            Treatment::Brief => "brief",
            Treatment::Skip => "no",
        };
        let why = match preview.rule {
            "item.kept" => String::new(),
            rule => format!("{rule}: {}", preview.reason),
        };
        let number = preview.agenda_number.clone().unwrap_or_default();
        rows.push([output::short(&number, 8), output::short(&preview.title, room), treatment.to_owned(), why]);
        for report in &preview.documents {
            let (word, why) = of_document(report);
            let name = format!("  · {}", output::short(&report.name, room.saturating_sub(4)));
            rows.push([String::new(), name, word.to_owned(), why]);
        }
    }
    output::fitted_table(&["NUMBER", "ITEM", "READ", "WHY"], rows)?;
    Ok(())
}

fn of_document(report: &DocumentReport) -> (&'static str, String) {
    let reason = report.reason.clone().unwrap_or_default();
    match report.status {
        DocumentStatus::Listed => ("yes", String::new()),
        DocumentStatus::Skipped => {
            let rule = report.rule.as_deref().unwrap_or_default();
            ("no", if rule.starts_with("attachment.") { format!("{rule}: {reason}") } else { reason })
        }
        DocumentStatus::Failed => ("FAILED", reason),
        DocumentStatus::Read => {
            let pages = report.about.as_ref().map_or(0, |about| u64::from(about.page_count));
            let length = report.text_length.unwrap_or(0);
            ("yes", format!("{}, {length} characters", output::count(pages, "page")))
        }
    }
}

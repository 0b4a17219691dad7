//! `bindery status`: how submissions stand.

use crate::{
    exit::Exit,
    output,
    pretty_json::{PrettyJson, write_around},
    progress::{self, Display},
    report,
    terminal::{DataForm, stdout},
};
use bindery_app::{
    App, Settings, StoredResult, follow,
    submissions::{self, SubmissionFilter, TableName},
};
use bindery_core::{
    SubmissionId,
    progress::{Progress, StageProgress},
    submission::{Submission, SubmissionStatus, senders_id},
};
use serde_json::Value;
use std::{
    io::{BufWriter, Write as _},
    time::Duration,
};

/// Show how submissions stand
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery status                  the newest submissions
  bindery status sub_1            one, stage by stage, with what it waits for
  bindery status sub_1 --watch    until it is final
  bindery status monday --json    by your own id, for a program")]
pub(crate) struct Args {
    /// sub_N, or your own id; none lists the newest
    submission: Option<String>,

    /// Follow it until it is final
    #[arg(long, requires = "submission")]
    watch: bool,

    /// Print JSON; with --watch one line for each change
    #[arg(long)]
    json: bool,

    /// Print the states of the submission and of its documents, as JSON
    #[arg(long, requires = "submission", conflicts_with_all = ["watch", "aggregation"])]
    documents: bool,

    /// Print how far the aggregations are, as JSON
    #[arg(long, requires = "submission", conflicts_with_all = ["watch", "tables"])]
    aggregation: bool,

    /// Print it as rows of requests, pages, documents, backoffice_tasks and aggregation_state, as JSON
    #[arg(long, requires = "submission", conflicts_with_all = ["watch", "documents"])]
    tables: bool,

    /// How many to list
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: usize,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let Some(named) = &args.submission else { return list(&app, args.limit, args.json).await };
    let id = app.engine.find_submission(named).await?.id;
    if args.documents {
        print_documents(&app, id).await?;
    } else if args.aggregation {
        print_aggregations(&app, id).await?;
    } else if args.tables {
        print_tables(&app, id).await?;
    } else if args.watch {
        return watch(&app, id, args.json).await;
    } else {
        let progress = submissions::progress(&app.engine, id).await?;
        if args.json {
            print_with_request(&app, &progress).await?;
        } else {
            show(&app, &progress).await?;
        }
    }
    Ok(Exit::Ok)
}

/// The progress with what a status request over HTTP is answered with: the result is there, and a missed deadline is a
/// status. The result is copied as it is stored, however long.
async fn print_with_request(app: &App, progress: &Progress) -> anyhow::Result<()> {
    let mut answer = serde_json::to_value(progress)?;
    let request = submissions::request_summary(&app.engine, progress.submission).await?;
    if let (Value::Object(answer), Value::Object(request)) = (&mut answer, request) {
        answer.extend(request);
    }
    let result = StoredResult::find(app, progress.submission).await?;
    let answer = answer.as_object().cloned().unwrap_or_default();
    Ok(write_around(&answer, "result", result.as_ref(), stdout(DataForm::Json))?)
}

/// The aggregations, page by page.
async fn print_aggregations(app: &App, id: SubmissionId) -> anyhow::Result<()> {
    let mut pages = submissions::AggregationStates::new(&app.engine, id).await?;
    let mut out = PrettyJson::new(BufWriter::new(stdout(DataForm::Json)));
    let mut before = b'[';
    loop {
        let page = pages.next().await?;
        if page.is_empty() {
            break;
        }
        for state in page {
            out.write_all(&[std::mem::replace(&mut before, b',')])?;
            serde_json::to_writer(&mut out, &state)?;
        }
    }
    out.write_all(if before == b'[' { b"[]" } else { b"]" })?;
    out.finish()?;
    Ok(())
}

/// The states of the submission and of its documents, page by page.
async fn print_documents(app: &App, id: SubmissionId) -> anyhow::Result<()> {
    let submission = submissions::submission_state(&app.engine, id).await?;
    let mut pages = submissions::DocumentStates::new(&app.engine, id).await?;
    let mut out = PrettyJson::new(BufWriter::new(stdout(DataForm::Json)));
    let mut before = b'[';
    out.write_all(b"{\"documents\":")?;
    loop {
        let page = pages.next().await?;
        if page.is_empty() {
            break;
        }
        for document in page {
            out.write_all(&[std::mem::replace(&mut before, b',')])?;
            serde_json::to_writer(&mut out, &document)?;
        }
    }
    out.write_all(if before == b'[' { b"[]" } else { b"]" })?;
    out.write_all(b",\"submission\":")?;
    serde_json::to_writer(&mut out, &submission)?;
    out.write_all(b"}")?;
    out.finish()?;
    Ok(())
}

/// The rows of all tables, each written as it is made.
async fn print_tables(app: &App, id: SubmissionId) -> anyhow::Result<()> {
    let result = StoredResult::find(app, id).await?;
    let mut out = PrettyJson::new(BufWriter::new(stdout(DataForm::Json)));
    out.write_all(b"{")?;
    // The tables come one after the other, and those without rows not at all.
    let mut begun: Vec<TableName> = Vec::new();
    let write = |table: TableName, row: Value| -> anyhow::Result<()> {
        if begun.last() == Some(&table) {
            out.write_all(b",")?;
        } else {
            let before = if begun.is_empty() { "" } else { "]," };
            write!(out, "{before}\"{}\":[", table.as_str())?;
            begun.push(table);
        }
        let mut before = b'{';
        for (key, value) in row.as_object().into_iter().flatten() {
            out.write_all(&[std::mem::replace(&mut before, b',')])?;
            serde_json::to_writer(&mut out, key)?;
            out.write_all(b":")?;
            match &result {
                Some(result) if table == TableName::Requests && key == "result_payload" => result.copy_to(&mut out)?,
                _ => serde_json::to_writer(&mut out, value)?,
            }
        }
        Ok(out.write_all(b"}")?)
    };
    submissions::each_row(&app.engine, id, write).await?;
    out.write_all(b"]")?;
    for table in TableName::ALL.into_iter().filter(|table| !begun.contains(table)) {
        write!(out, ",\"{}\":[]", table.as_str())?;
    }
    out.write_all(b"}")?;
    out.finish()?;
    Ok(())
}

async fn list(app: &App, limit: usize, as_json: bool) -> anyhow::Result<Exit> {
    let filter = SubmissionFilter { limit: Some(limit), ..SubmissionFilter::default() };
    let submissions = app.store().submissions(filter).await?;
    if as_json {
        output::json(&submissions)?;
        return Ok(Exit::Ok);
    }
    if submissions.is_empty() {
        output::note("nothing has been taken in yet; `bindery run PATHS…` does");
        return Ok(Exit::Ok);
    }
    let listed = submissions.len();
    let rows = submissions.into_iter().map(|submission| {
        [
            submission.id.to_string(),
            senders_id(submission.external_id.as_deref()).unwrap_or_default().to_owned(),
            format!("{} {}", submission.workflow, submission.workflow_version),
            submission.status.to_string(),
            output::ago(submission.received_at),
            remark(&submission),
        ]
    });
    output::table(&["SUBMISSION", "YOUR ID", "WORKFLOW", "STATUS", "RECEIVED", ""], rows)?;
    if listed == limit {
        output::note(format!("the newest {limit}; --limit shows more"));
    }
    Ok(Exit::Ok)
}

fn remark(submission: &Submission) -> String {
    let late = submission.deadline.breached_at.map(|_| "deadline missed".to_owned());
    let said = submission.error.clone().filter(|_| submission.status != SubmissionStatus::Cancelled);
    said.into_iter().chain(late).collect::<Vec<_>>().join("; ")
}

async fn show(app: &App, progress: &Progress) -> anyhow::Result<()> {
    let id = progress.submission;
    let external = progress.external_id.as_ref().map(|external| format!(" ({external})")).unwrap_or_default();
    output::line(format!(
        "{id}{external}: {}, workflow {} version {}, received {}",
        progress.status,
        progress.workflow,
        progress.workflow_version,
        output::ago(progress.received_at)
    ))?;
    let parts = [(progress.files, "file"), (progress.pages, "page"), (progress.documents, "document")];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0).map(|(number, noun)| output::count(number, noun));
    output::line(parts.collect::<Vec<_>>().join(", "))?;
    output::line("")?;
    let rows = progress.stages.iter().map(|stage| {
        let expected = stage.expected.map_or_else(|| "?".to_owned(), |expected| expected.to_string());
        let percent = stage.percent().map(|percent| format!("{percent} %")).unwrap_or_default();
        [stage.stage.to_string(), stage.counts.done().to_string(), expected, percent, progress::rest(stage)]
    });
    output::table(&["STAGE", "DONE#", "OF#", "#", ""], rows)?;
    if let Some(line) = deadline(app, progress) {
        output::line("")?;
        output::line(line)?;
    }
    let failed = follow::failed_parts(app, progress, report::MOST_LISTED).await?;
    let waits = follow::waits(app, progress).await?;
    if !failed.is_empty() || !waits.is_empty() {
        output::line("")?;
    }
    report::print_failed(&failed)?;
    report::print_waits(&waits)?;
    note_without_worker(app, progress).await?;
    if let Some(error) = progress.error.as_ref().filter(|_| progress.status == SubmissionStatus::Failed) {
        output::line(format!("error: {error}"))?;
    }
    if let Some(stored) = follow::stored_result(app, id).await? {
        output::line("")?;
        output::line(format!("result: {} in {}", stored.key, stored.path))?;
    }
    Ok(())
}

/// Whether anything that waits for a worker waits in vain.
async fn note_without_worker(app: &App, progress: &Progress) -> anyhow::Result<()> {
    let waits = |stage: &StageProgress| stage.counts.waiting + stage.counts.running + stage.counts.scheduled > 0;
    if !progress.status.is_final() && progress.stages.iter().any(waits) && !follow::has_worker(app).await? {
        output::note("no worker is running: start `bindery worker`");
    }
    Ok(())
}

fn deadline(app: &App, progress: &Progress) -> Option<String> {
    let at = progress.deadline_at?;
    let now = app.engine.clock().now();
    Some(match (progress.completed_at, progress.sla_breached) {
        (_, true) => format!("deadline {at}: missed"),
        (Some(_), false) => format!("deadline {at}: met"),
        (None, false) => format!("deadline {at}: in {}", output::duration(at.since(now))),
    })
}

async fn watch(app: &App, id: SubmissionId, as_json: bool) -> anyhow::Result<Exit> {
    let mut display = Display::new(!as_json);
    let mut last = None;
    let mut warned = false;
    loop {
        let mark = app.store().change_mark();
        let progress = submissions::progress(&app.engine, id).await?;
        display.update(&progress);
        if as_json && last.as_ref() != Some(&progress) {
            output::json_line(&progress)?;
        }
        if progress.status.is_final() {
            display.finish();
            if !as_json {
                show(app, &progress).await?;
            }
            return Ok(Exit::Ok);
        }
        if !warned && !as_json && !follow::has_worker(app).await? {
            note_without_worker(app, &progress).await?;
            warned = true;
        }
        last = Some(progress);
        tokio::time::sleep(Duration::from_millis(100)).await;
        app.store().changed(mark, Duration::from_secs(1)).await;
    }
}

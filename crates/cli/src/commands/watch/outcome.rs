//! What became of what was taken in: one line for each submission.

use crate::{config::App, output, result_tables, work};
use bindery_core::{SubmissionId, progress::Progress, submission::SubmissionStatus};
use bindery_engine::{intake::Received, view};
use serde_json::{Value, json};

/// The submissions whose end is still to be told.
#[derive(Debug)]
pub(super) struct Outcomes {
    as_json: bool,
    /// Whether somebody here works on them.
    works: bool,
    open: Vec<(SubmissionId, String)>,
}

impl Outcomes {
    pub(super) fn new(as_json: bool, works: bool) -> Self {
        Self { as_json, works, open: Vec::new() }
    }

    /// A file was taken in, now or before.
    pub(super) async fn follow(&mut self, app: &App, received: Received, name: &str) -> anyhow::Result<()> {
        let id = received.id();
        if matches!(received, Received::Already(_)) {
            // One that ended before this process began was told by another.
            if self.works && !view::progress(&app.engine, id).await?.status.is_final() {
                self.open.push((id, name.to_owned()));
            }
        } else if self.works {
            self.open.push((id, name.to_owned()));
            output::note(format!("took in {name} as {id}"));
        } else if self.as_json {
            output::json_line(&json!({"submission": id, "file": name, "status": "received"}))?;
        } else {
            output::line(format!("{id}  {name}  taken in"))?;
        }
        Ok(())
    }

    pub(super) fn none_open(&self) -> bool {
        self.open.is_empty()
    }

    /// Tells of those that have come to their end, or to where they wait for somebody.
    pub(super) async fn report(&mut self, app: &App) -> anyhow::Result<()> {
        let mut still_open = Vec::new();
        for (id, name) in std::mem::take(&mut self.open) {
            let progress = view::progress(&app.engine, id).await?;
            if progress.status.is_final() || work::is_stuck(app, id, &progress).await? {
                self.tell(app, &progress, &name).await?;
            } else {
                still_open.push((id, name));
            }
        }
        self.open = still_open;
        Ok(())
    }

    async fn tell(&self, app: &App, progress: &Progress, name: &str) -> anyhow::Result<()> {
        let result = view::result(&app.engine, progress.submission).await?.unwrap_or_default();
        let id = progress.submission;
        if self.as_json {
            let documents: Vec<Value> = documents(&result)
                .map(|one| json!({"document_id": one["document_id"], "doc_type": one["doc_type"], "status": one["status"]}))
                .collect();
            return output::json_line(&json!({
                "submission": id, "file": name, "status": progress.status, "error": progress.error,
                "documents": documents, "failed": result["failed"], "open_reviews": progress.open_reviews(),
            }));
        }
        Ok(output::line(format!("{id}  {name}  {}", said(progress, &result)))?)
    }

    /// What was not finished goes on with the next worker.
    pub(super) fn note_open(&self) {
        if !self.open.is_empty() {
            let number = output::count(self.open.len() as u64, "submission");
            output::note(format!(
                "{number} not finished; what is done is kept. The same command, or `bindery worker`, goes on"
            ));
        }
    }
}

fn documents(result: &Value) -> impl Iterator<Item = &Value> {
    result["documents"].as_array().into_iter().flatten()
}

fn said(progress: &Progress, result: &Value) -> String {
    match progress.status {
        SubmissionStatus::Failed => {
            format!("failed: {}", progress.error.as_deref().unwrap_or("no reason was given"))
        }
        SubmissionStatus::Completed => {
            let kinds: Vec<String> = documents(result).map(result_tables::in_short).collect();
            let kinds = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join("; ")) };
            let gaps = progress.error.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
            format!("completed{kinds}{gaps}")
        }
        status if status.is_final() => status.to_string(),
        _ if progress.open_reviews() > 0 => "waits for a person; `bindery reviews` lists what to decide".to_owned(),
        _ => format!("waits; `bindery status {}` says why", progress.submission),
    }
}

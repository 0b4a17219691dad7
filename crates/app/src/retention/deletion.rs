//! Submissions, or everything of an owner, deleted for good.

use super::{
    DeletionReport,
    extent::{Size, size_of},
    find_all, reclaim,
};
use crate::{
    app::App,
    error::{AppError, AppResult},
};
use bindery_civic::records::{CIVIC_WORKFLOW, NOTICES_WORKFLOW};
use bindery_core::{
    SubmissionId,
    submission::{Submission, SubmissionStatus},
};
use bindery_engine::{
    SILENT_AFTER,
    retention::{OwnedDeletions, delete, delete_owned},
    runs::CHANNEL,
};
use bindery_store::{
    executions::DeletedExecutions,
    retention::{Reason, Reclaimed, Retained, RetentionFilter},
};

/// What may not be deleted; nothing was.
#[derive(Debug, thiserror::Error)]
pub enum DeletionRefused {
    #[error("{id} is on hold ({reason}){others}; nothing was deleted")]
    OnHold { id: SubmissionId, reason: String, others: String },
    #[error("{id} stands for a city council and is never final; nothing was deleted")]
    Council { id: SubmissionId },
    #[error("{id} stands for all messages about councils and is never final; nothing was deleted")]
    Notices { id: SubmissionId },
    #[error("{id} is a run that is under way; nothing was deleted")]
    LiveRun { id: SubmissionId },
    #[error("{id} is still at work ({status}); nothing was deleted")]
    AtWork { id: SubmissionId, status: SubmissionStatus },
    #[error("{count} execution{} of {owner} {} still running; nothing was deleted", if *count == 1 { "" } else { "s" }, if *count == 1 { "is" } else { "are" })]
    Executions { count: u64, owner: String },
}

/// What is going to be deleted, looked at and allowed.
#[derive(Debug)]
pub struct Deletion {
    pub submissions: Vec<SubmissionId>,
    /// Of them, those that are cancelled first.
    under_way: Vec<SubmissionId>,
    pub owner: Option<String>,
    /// What the owner has besides submissions.
    executions: u64,
    documents: u64,
    size: Size,
}

/// What a deletion came to.
#[derive(Debug)]
pub struct DeletionDone {
    pub report: DeletionReport,
    pub reclaimed: Reclaimed,
    /// What was placed on hold, or taken up again, since it was looked at.
    pub refused: Vec<(SubmissionId, String)>,
}

impl Deletion {
    /// Of submissions as people name them. What is still at work is refused unless it is forced.
    pub async fn of_named(app: &App, names: &[String], force: bool) -> AppResult<Self> {
        Self::new(app, find_all(app, names).await?, None, force).await
    }

    /// Of everything that an owner has.
    pub async fn of_owner(app: &App, owner: &str, force: bool) -> AppResult<Self> {
        let mut all = Vec::new();
        let mut filter = RetentionFilter { owner: Some(owner.to_owned()), limit: 1_000, ..RetentionFilter::default() };
        loop {
            let page = app.store().list_retained(filter.clone()).await?;
            let Some(last) = page.last() else { break };
            filter.after = Some(last.id);
            all.extend(page);
        }
        Self::new(app, all, Some(owner), force).await
    }

    async fn new(app: &App, meant: Vec<Retained>, owner: Option<&str>, force: bool) -> AppResult<Self> {
        let under_way = refuse_what_must_stay(app, &meant, force).await?;
        let (executions, documents) = match owner {
            Some(owner) => (executions_of(app, owner, force).await?, app.store().owned_documents(owner).await?),
            None => (0, 0),
        };
        let submissions: Vec<SubmissionId> = meant.iter().map(|it| it.id).collect();
        let size = size_of(app, &submissions).await?;
        Ok(Self { submissions, under_way, owner: owner.map(str::to_owned), executions, documents, size })
    }

    /// Whether there is nothing to delete.
    pub fn is_empty(&self) -> bool {
        self.submissions.is_empty() && self.owner.is_none()
    }

    /// What would go.
    pub fn extent(&self) -> DeletionReport {
        let Self { submissions, executions, size: Size { rows, files, bytes }, .. } = self;
        DeletionReport {
            dry_run: true,
            submissions: submissions.len() as u64,
            executions: *executions,
            rows: *rows,
            files: *files,
            bytes: *bytes,
            ..DeletionReport::default()
        }
    }

    /// The same with the texts in the index that belong to the owner alone.
    pub fn whole_extent(&self) -> DeletionReport {
        let extent = self.extent();
        DeletionReport { rows: extent.rows + self.documents, ..extent }
    }

    pub async fn carry_out(self, app: &App) -> AppResult<DeletionDone> {
        let store = app.store();
        // First what could take in more.
        let also = match &self.owner {
            Some(owner) => delete_owned(store, owner).await?,
            None => OwnedDeletions::default(),
        };
        for id in self.under_way {
            store.cancel_submission(id).await?;
        }
        let done = delete(store, self.submissions, Reason::Asked, |_| ()).await?;
        let (submissions, executions) = (done.submissions, also.executions);
        let mut report =
            DeletionReport { submissions, executions, rows: done.rows + also.rows, ..DeletionReport::default() };
        let reclaimed = reclaim(app, &mut report, false).await?;
        let refused = done.refused.into_iter().map(|(id, why)| (id, why.to_string())).collect();
        Ok(DeletionDone { report, reclaimed, refused })
    }
}

/// How many executions an owner has. Those under way are told before anything is deleted.
async fn executions_of(app: &App, owner: &str, force: bool) -> AppResult<u64> {
    let executions = app.store().count_executions(DeletedExecutions::OwnedBy(owner.to_owned())).await?;
    if executions.under_way > 0 && !force {
        return Err(DeletionRefused::Executions { count: executions.under_way, owner: owner.to_owned() }.into());
    }
    Ok(executions.all)
}

/// What may not be deleted is told before anything is. Returns what is to be cancelled first.
async fn refuse_what_must_stay(app: &App, meant: &[Retained], force: bool) -> AppResult<Vec<SubmissionId>> {
    let held: Vec<&Retained> = meant.iter().filter(|it| it.hold.is_some()).collect();
    if let Some(first) = held.first() {
        let others = match held.len() - 1 {
            0 => String::new(),
            others => format!(", and {others} more are"),
        };
        let reason = first.hold.clone().unwrap_or_default();
        return Err(DeletionRefused::OnHold { id: first.id, reason, others }.into());
    }
    let mut under_way = Vec::new();
    for it in meant.iter().filter(|it| !it.status.is_final()) {
        let id = it.id;
        if let Some(refused) = standing_refusal(app, it).await? {
            return Err(refused.into());
        }
        if !force {
            return Err(DeletionRefused::AtWork { id, status: it.status }.into());
        }
        under_way.push(id);
    }
    Ok(under_way)
}

/// Why a submission that is not final is not even deleted by force.
async fn standing_refusal(app: &App, it: &Retained) -> Result<Option<DeletionRefused>, AppError> {
    let id = it.id;
    Ok(if it.workflow == *CIVIC_WORKFLOW {
        Some(DeletionRefused::Council { id })
    } else if it.workflow == *NOTICES_WORKFLOW {
        Some(DeletionRefused::Notices { id })
    } else if is_live_run(app, id).await? {
        Some(DeletionRefused::LiveRun { id })
    } else {
        None
    })
}

/// A run stores its results without asking whether it is still wanted.
async fn is_live_run(app: &App, id: SubmissionId) -> AppResult<bool> {
    let Some(Submission { channel, external_id: Some(run), .. }) = app.store().submission(id).await? else {
        return Ok(false);
    };
    if channel != CHANNEL {
        return Ok(false);
    }
    let since = app.store().clock().now() - SILENT_AFTER;
    let name = format!("run-{run}");
    Ok(app.store().workers().await?.iter().any(|worker| worker.worker == *name && worker.seen_at >= since))
}

//! `bindery delete`: deletes submissions for good, or everything of an owner.

use super::{Report, and_executions, extent::size_of, finish, remarks};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use bindery_app::App;
use bindery_app::Settings;
use bindery_civic::records::{CIVIC_WORKFLOW, NOTICES_WORKFLOW};
use bindery_core::{SubmissionId, submission::Submission};
use bindery_engine::{
    SILENT_AFTER,
    retention::{Deletions, OwnedDeletions, delete, delete_owned},
    runs::CHANNEL,
};
use bindery_store::executions::DeletedExecutions;
use bindery_store::retention::{Reason, Retained, RetentionFilter};
use std::io::{self, IsTerminal as _, Write as _};

/// Delete submissions for good, or everything of an owner
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery delete sub_3 sub_4                     with their files, results, events and texts in the index
  bindery delete --owner ann@example.org         everything of an owner
  bindery delete --owner ann --dry-run           say what would go, and delete nothing
  bindery delete sub_3 --yes                     without asking, for scripts
Deleting cannot be undone. A submission on hold is not deleted (`bindery hold`). Files of which others use the
same content stay. docs/retention.md says what is kept for how long.")]
pub(crate) struct Args {
    /// sub_N, or your own id of a submission
    #[arg(required_unless_present = "owner", value_name = "SUBMISSION")]
    ids: Vec<String>,

    /// Everything of this owner: submissions, executions, alerts, watches and messages
    #[arg(long, value_name = "NAME", conflicts_with = "ids", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    owner: Option<String>,

    /// Cancel what is still at work, and delete it, too
    #[arg(long)]
    force: bool,

    /// Only say what would be deleted
    #[arg(long)]
    dry_run: bool,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let meant = match &args.owner {
        Some(owner) => of_owner(&app, owner).await?,
        None => named(&app, &args.ids).await?,
    };
    let under_way = refuse_what_must_stay(&app, &meant, args.force).await?;
    let owned = Owned::find(&app, args.owner.as_deref(), args.force).await?;
    let ids: Vec<SubmissionId> = meant.iter().map(|it| it.id).collect();
    let size = size_of(&app, &ids).await?;
    let said = format!(
        "{}{} ({}, {} with {})",
        output::count(ids.len() as u64, "submission"),
        and_executions(owned.executions),
        output::count(size.rows, "row"),
        output::count(size.files, "file"),
        output::bytes(size.bytes)
    );
    if args.dry_run {
        let report = Report {
            dry_run: true,
            submissions: ids.len() as u64,
            executions: owned.executions,
            rows: size.rows + owned.documents,
            files: size.files,
            bytes: size.bytes,
            ..Report::default()
        };
        if args.json {
            output::json(&report)?;
        } else {
            output::line(format!("would delete {said}"))?;
        }
        return Ok(Exit::Ok);
    }
    if ids.is_empty() && args.owner.is_none() {
        return Ok(Exit::Ok);
    }
    if !args.yes && !confirmed(&said, args.owner.as_deref())? {
        output::note("nothing was deleted");
        return Ok(Exit::Ok);
    }
    // First what could take in more.
    let also = match &args.owner {
        Some(owner) => delete_owned(app.store(), owner).await?,
        None => OwnedDeletions::default(),
    };
    for id in under_way {
        app.store().cancel_submission(id).await?;
    }
    let done = delete(app.store(), ids, Reason::Asked, |_| ()).await?;
    let (submissions, executions) = (done.submissions, also.executions);
    let mut report = Report { submissions, executions, rows: done.rows + also.rows, ..Report::default() };
    let reclaimed = finish(&app, &mut report, false).await?;
    if args.json {
        output::json(&report)?;
    } else {
        output::line(format!(
            "deleted {}{} ({}, {} with {})",
            output::count(report.submissions, "submission"),
            and_executions(report.executions),
            output::count(report.rows, "row"),
            output::count(report.files, "file"),
            output::bytes(report.bytes)
        ))?;
        remarks(&report, reclaimed);
    }
    Ok(report_refused(&done))
}

/// What was placed on hold, or taken up again, since it was looked at.
fn report_refused(done: &Deletions) -> Exit {
    for (id, why) in &done.refused {
        output::note(format!("{id} was not deleted: {why}"));
    }
    if done.refused.is_empty() { Exit::Ok } else { Exit::Partial }
}

/// What an owner has besides submissions.
#[derive(Debug, Default)]
struct Owned {
    executions: u64,
    documents: u64,
}

impl Owned {
    /// What is under way is told before anything is deleted.
    async fn find(app: &App, owner: Option<&str>, force: bool) -> anyhow::Result<Self> {
        let Some(owner) = owner else { return Ok(Self::default()) };
        let executions = app.store().count_executions(DeletedExecutions::OwnedBy(owner.to_owned())).await?;
        if executions.under_way > 0 && !force {
            let count = output::count(executions.under_way, "execution");
            let are = if executions.under_way == 1 { "is" } else { "are" };
            let message = format!("{count} of {owner} {are} still running; nothing was deleted");
            let hint = "`bindery machine stop EXECUTION` stops one, or --force deletes them as they are";
            return Err(Failure::usage(message).hint(hint).into());
        }
        Ok(Self { executions: executions.all, documents: app.store().owned_documents(owner).await? })
    }
}

async fn of_owner(app: &App, owner: &str) -> anyhow::Result<Vec<Retained>> {
    let mut all = Vec::new();
    let mut filter = RetentionFilter { owner: Some(owner.to_owned()), limit: 1_000, ..RetentionFilter::default() };
    loop {
        let page = app.store().list_retained(filter.clone()).await?;
        let Some(last) = page.last() else { return Ok(all) };
        filter.after = Some(last.id);
        all.extend(page);
    }
}

pub(super) async fn named(app: &App, ids: &[String]) -> anyhow::Result<Vec<Retained>> {
    let mut all: Vec<Retained> = Vec::new();
    for named in ids {
        let id = app.engine.find_submission(named).await?.id;
        if all.iter().any(|known| known.id == id) {
            continue;
        }
        let after = Some(SubmissionId::from_raw(id.raw() - 1));
        let found =
            app.store().list_retained(RetentionFilter { after, limit: 1, ..RetentionFilter::default() }).await?;
        all.extend(found.into_iter().filter(|found| found.id == id));
    }
    Ok(all)
}

/// What may not be deleted is told before anything is. Returns what is to be cancelled first.
async fn refuse_what_must_stay(app: &App, meant: &[Retained], force: bool) -> anyhow::Result<Vec<SubmissionId>> {
    let held: Vec<&Retained> = meant.iter().filter(|it| it.hold.is_some()).collect();
    if let Some(first) = held.first() {
        let others = match held.len() - 1 {
            0 => String::new(),
            others => format!(", and {others} more are"),
        };
        let reason = first.hold.as_deref().unwrap_or_default();
        let message = format!("{} is on hold ({reason}){others}; nothing was deleted", first.id);
        let hint = format!("`bindery holds` lists them, `bindery release {}` takes it off hold", first.id);
        return Err(Failure::usage(message).hint(hint).into());
    }
    let mut under_way = Vec::new();
    for it in meant.iter().filter(|it| !it.status.is_final()) {
        let id = it.id;
        if it.workflow == *CIVIC_WORKFLOW {
            let message = format!("{id} stands for a city council and is never final; nothing was deleted");
            return Err(Failure::usage(message).hint("`bindery civic city remove` removes a city").into());
        }
        if it.workflow == *NOTICES_WORKFLOW {
            let message =
                format!("{id} stands for all messages about councils and is never final; nothing was deleted");
            return Err(Failure::usage(message).hint("`bindery delete --owner` deletes those to a person").into());
        }
        if is_live_run(app, id).await? {
            let message = format!("{id} is a run that is under way; nothing was deleted");
            return Err(Failure::usage(message)
                .hint("stop the program that runs it, or wait until it has ended")
                .into());
        }
        if !force {
            let message = format!("{id} is still at work ({}); nothing was deleted", it.status);
            let hint = format!("`bindery cancel {id}` stops it, or --force cancels and deletes it");
            return Err(Failure::usage(message).hint(hint).into());
        }
        under_way.push(id);
    }
    Ok(under_way)
}

/// A run stores its results without asking whether it is still wanted.
async fn is_live_run(app: &App, id: SubmissionId) -> anyhow::Result<bool> {
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

fn confirmed(said: &str, owner: Option<&str>) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        let message = "deleting cannot be undone, and there is nobody to ask";
        return Err(Failure::usage(message).hint("--yes deletes without asking, --dry-run says what would go").into());
    }
    let whose = owner.map(|owner| format!(" of {owner}")).unwrap_or_default();
    let mut err = io::stderr().lock();
    write!(err, "Delete {said}{whose} for good? This cannot be undone. [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "Yes"))
}

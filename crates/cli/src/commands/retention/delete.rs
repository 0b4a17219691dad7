//! `bindery delete`: deletes submissions for good, or everything of an owner.

use super::{and_executions, remarks, size_words};
use crate::{confirm, exit::Exit, output};
use bindery_app::{
    Settings,
    retention::{Deletion, DeletionRefused},
};

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
    let deletion = match &args.owner {
        Some(owner) => Deletion::of_owner(&app, owner, args.force).await?,
        None => Deletion::of_named(&app, &args.ids, args.force).await?,
    };
    let extent = deletion.extent();
    let said = format!(
        "{}{} {}",
        output::count(extent.submissions, "submission"),
        and_executions(extent.executions),
        size_words(&extent)
    );
    if args.dry_run {
        if args.json {
            output::json(&deletion.whole_extent())?;
        } else {
            output::line(format!("would delete {said}"))?;
        }
        return Ok(Exit::Ok);
    }
    if deletion.is_empty() {
        return Ok(Exit::Ok);
    }
    if !args.yes && !is_confirmed(&said, args.owner.as_deref())? {
        output::note("nothing was deleted");
        return Ok(Exit::Ok);
    }
    let done = deletion.carry_out(&app).await?;
    if args.json {
        output::json(&done.report)?;
    } else {
        output::line(format!(
            "deleted {}{} {}",
            output::count(done.report.submissions, "submission"),
            and_executions(done.report.executions),
            size_words(&done.report)
        ))?;
        remarks(&done.report, done.reclaimed);
    }
    for (id, why) in &done.refused {
        output::note(format!("{id} was not deleted: {why}"));
    }
    Ok(if done.refused.is_empty() { Exit::Ok } else { Exit::Partial })
}

/// What can be done instead.
pub(crate) fn hint(refused: &DeletionRefused) -> String {
    match refused {
        DeletionRefused::OnHold { id, .. } => {
            format!("`bindery holds` lists them, `bindery release {id}` takes it off hold")
        }
        DeletionRefused::Council { .. } => "`bindery civic city remove` removes a city".to_owned(),
        DeletionRefused::Notices { .. } => "`bindery delete --owner` deletes those to a person".to_owned(),
        DeletionRefused::LiveRun { .. } => "stop the program that runs it, or wait until it has ended".to_owned(),
        DeletionRefused::AtWork { id, .. } => {
            format!("`bindery cancel {id}` stops it, or --force cancels and deletes it")
        }
        DeletionRefused::Executions { .. } => {
            "`bindery machine stop EXECUTION` stops one, or --force deletes them as they are".to_owned()
        }
    }
}

fn is_confirmed(said: &str, owner: Option<&str>) -> anyhow::Result<bool> {
    let whose = owner.map(|owner| format!(" of {owner}")).unwrap_or_default();
    confirm::ask(
        &format!("Delete {said}{whose} for good? This cannot be undone."),
        "deleting cannot be undone, and there is nobody to ask",
        "--yes deletes without asking, --dry-run says what would go",
    )
}

//! `bindery dead-letters`: what was given up, and why.

use super::jobs;
use crate::{exit::Exit, output};
use bindery_app::{Settings, jobs::JobFilter};
use bindery_core::job::JobState;
use clap::Subcommand;

/// List what was given up, with the reasons
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery dead-letters
  bindery dead-letters list --json
`bindery retry job_N`, or `bindery retry --all`, runs them again.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    /// How many to list
    #[arg(long, global = true, default_value_t = 100, value_name = "N")]
    limit: usize,

    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List them (what happens without a word, too)
    List,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let Some(Action::List) = args.action.or(Some(Action::List)) else { return Ok(Exit::Ok) };
    let filter = JobFilter { states: vec![JobState::Dead], ..JobFilter::default() };
    let (dead, more) = app.jobs(filter, args.limit).await?;
    if more {
        output::note(format!("the first {}; --limit shows more", args.limit));
    }
    if args.json {
        output::json(&dead)?;
        return Ok(Exit::Ok);
    }
    if dead.is_empty() {
        output::note("there are no dead letters");
        return Ok(Exit::Ok);
    }
    jobs::show(&app, &dead).await?;
    output::note("`bindery retry JOB…` runs some of them again, `bindery retry --all` all of them");
    Ok(Exit::Ok)
}

//! `bindery runs`: the stored runs of `bindery process`, and going on with them.

mod list;
mod retry;
mod show;
mod stats;

use crate::exit::Exit;
use bindery_app::Settings;
use clap::Subcommand;

/// List, show and retry runs of processors
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  bindery runs                             the newest runs
  bindery runs --processor bank_statement --limit 5
  bindery runs show 1f0c9a2e --steps       one run, input by input and step by step
  bindery runs show latest --result        the whole result, as it was printed
  bindery runs retry 1f0c9a2e              go on with what did not succeed
  bindery runs stats                       rates, times and costs of each processor
RUN is the id of a run, the beginning of it (6 characters or more), or latest.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the newest (what happens without a word, too)
    List(list::ListArgs),
    Show(show::Args),
    Retry(retry::Args),
    Stats(stats::Args),
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action.unwrap_or(Action::List(args.list)) {
        Action::List(args) => list::run(settings, args).await,
        Action::Show(args) => show::run(settings, args).await,
        Action::Retry(args) => retry::run(settings, args).await,
        Action::Stats(args) => stats::run(settings, args).await,
    }
}

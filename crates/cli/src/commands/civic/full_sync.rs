//! `bindery civic full-sync`: every active city that is due, once.

use super::visiting::{self, Flags, Told};
use crate::{exit::Exit, output};
use bindery_app::{
    App, Settings, Signals,
    councils::{
        conductor::{SyncResult, Which},
        records::SyncStatus,
        visits,
    },
    names,
    supervisor::stop_pair,
};
use serde_json::json;

/// Visit every active city that is due, once
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic full-sync                what is due, the busiest cities of each vendor first
  bindery civic full-sync --all          every active city
  bindery civic full-sync --json
One process at a time visits everything that is due: politeness towards vendors is kept within it.
Exit codes: 0 all visited, 3 some failed or were skipped, 1 all did, 130 stopped before the end.")]
pub(super) struct Args {
    /// Also those that are not due
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    flags: Flags,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let which = if args.all { Which::All } else { Which::Due };
    run_once(&app, which, &args.flags).await
}

/// One round over the cities.
pub(super) async fn run_once(app: &App, which: Which, flags: &Flags) -> anyhow::Result<Exit> {
    let mut signals = Signals::new()?;
    let conductor = flags.conductor(app, names::of_fetcher(), Told::Remarks)?;
    let (handle, stop) = stop_pair();
    let work = async {
        visits::must_be_alone(&conductor).await?;
        anyhow::Ok(conductor.full_sync(which, &stop).await?)
    };
    let Some(results) = visits::attended(app, &conductor, &handle, &mut signals, work).await? else {
        return Ok(Exit::Interrupted);
    };
    let results = results?;
    show(&results, flags.json)?;
    if stop.is_stopping() {
        return Ok(Exit::Interrupted);
    }
    Ok(visiting::exit_of(&results))
}

fn show(results: &[SyncResult], json: bool) -> anyhow::Result<()> {
    let count = |status| results.iter().filter(|result| result.status == status).count();
    let (completed, failed, skipped) =
        (count(SyncStatus::Completed), count(SyncStatus::Failed), count(SyncStatus::Skipped));
    if json {
        let summary = json!({
            "cities_processed": results.len(), "completed": completed, "failed": failed, "skipped": skipped,
            "results": results,
        });
        return output::json(&summary);
    }
    let wanting: Vec<SyncResult> =
        results.iter().filter(|result| result.status != SyncStatus::Completed).cloned().collect();
    if !wanting.is_empty() {
        visiting::show(&wanting, false)?;
    }
    let cities = if results.len() == 1 { "1 city".to_owned() } else { format!("{} cities", results.len()) };
    Ok(output::line(format!(
        "Full sync complete: {cities} processed ({completed} completed, {failed} failed, {skipped} skipped)"
    ))?)
}

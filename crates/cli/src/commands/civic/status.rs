//! `bindery civic status`: how following councils stands.

use super::shown::money;
use crate::{exit::Exit, output};
use bindery_app::{
    Settings,
    councils::conductor::{
        get_sync_status,
        sync_status::{Failing, SyncStatusReport},
    },
    model_costs::SpendingToday,
    names,
};
use bindery_core::Timestamp;
use serde::Serialize;

/// So many of a kind are shown; --json has them all.
const SHOWN: usize = 20;

/// Show how following councils stands
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic status
  bindery civic status --json | jq -r '.stopped_yielding[] | .city_banana + \" \" + .since'
Cities that had meetings and have had none in three visits, and those that were visited and never
had one, are named: their sites may have changed.")]
pub(super) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let standing = get_sync_status(app.store(), names::is_dead).await?;
    let model = match settings.models() {
        Some(model) => Some(Model {
            name: model.small.model.clone(),
            today: SpendingToday::look(&app, settings, app.store().clock().now()).await?,
        }),
        None => None,
    };
    let told = Told { standing: &standing, model };
    if args.json {
        output::json(&told)?;
    } else {
        show(&standing, told.model.as_ref())?;
    }
    Ok(Exit::Ok)
}

/// As programs are told it.
#[derive(Debug, Serialize)]
struct Told<'s> {
    #[serde(flatten)]
    standing: &'s SyncStatusReport,
    /// None: summaries are made by rules.
    model: Option<Model>,
}

#[derive(Debug, Serialize)]
struct Model {
    name: String,
    #[serde(flatten)]
    today: SpendingToday,
}

fn show(standing: &SyncStatusReport, model: Option<&Model>) -> anyhow::Result<()> {
    let running = match (standing.is_running, standing.running.len()) {
        (false, _) => "nobody visits cities (`bindery civic fetcher` does)".to_owned(),
        (true, 0) => "waits until a city is due".to_owned(),
        (true, under_way) => format!("visits {}", count_line(under_way)),
    };
    let due = standing.next_sync_at.map(|at| format!("; the next is due at {at}")).unwrap_or_default();
    output::line(format!("fetcher    {running}{due}"))?;
    output::line(format!("processor  {}", processors(standing)))?;
    if let Some(Model { name, today }) = model {
        let left = today.left_micros.zip(today.cap_micros);
        let left = left.map(|(left, cap)| format!(", {} left of {}", money(left), money(cap))).unwrap_or_default();
        output::line(format!("model      {name}: {} spent today{left}", money(today.spent_micros)))?;
    }
    output::line(format!("cities     {} active, {} failing", standing.active_cities, standing.failed_count))?;
    output::line(format!(
        "meetings   {} in all, {} summarised, {} pending",
        standing.total_meetings, standing.summarized_meetings, standing.pending_meetings
    ))?;
    let queue = &standing.queue;
    let paused = if queue.is_paused { "; the queue is paused (`bindery resume q.civic` goes on)" } else { "" };
    output::line(format!(
        "queue      {} waiting, {} being read, {} given up{paused}",
        queue.pending, queue.processing, queue.failed
    ))?;
    if !standing.failures.is_empty() {
        output::line("")?;
        let row = |failing: &Failing| {
            [
                failing.city_key.clone(),
                failing.consecutive_failures.to_string(),
                moment(failing.last_success_at, "never"),
                moment(failing.next_sync_at, "now"),
                output::short(failing.error.as_deref().unwrap_or_default(), 160),
            ]
        };
        let failures = standing.failures.iter().take(SHOWN).map(row);
        output::fitted_table(&["FAILING", "TIMES#", "LAST WENT WELL", "TRIED AGAIN", "WHY"], failures)?;
        more(standing.failures.len());
    }
    if !standing.skipped.is_empty() {
        output::line("")?;
        let skipped = standing.skipped.iter().take(SHOWN);
        let rows = skipped.map(|skipped| [skipped.city_key.clone(), output::short(&skipped.reason, 160)]);
        output::fitted_table(&["NOT VISITED", "WHY"], rows)?;
        more(standing.skipped.len());
    }
    if !standing.stopped_yielding.is_empty() {
        output::line("")?;
        let silent = standing.stopped_yielding.iter().take(SHOWN);
        let rows =
            silent.map(|silent| [silent.city_key.clone(), moment(silent.since, ""), silent.empty_runs.to_string()]);
        output::table(&["STOPPED YIELDING", "LAST FOUND", "EMPTY VISITS#"], rows)?;
        more(standing.stopped_yielding.len());
    }
    if !standing.never_yielded.is_empty() {
        output::line("")?;
        let names: Vec<&str> = standing.never_yielded.iter().take(SHOWN).map(String::as_str).collect();
        output::line(format!("never had a meeting: {}", names.join(", ")))?;
        more(standing.never_yielded.len());
    }
    Ok(())
}

/// Who reads what waits.
fn processors(standing: &SyncStatusReport) -> String {
    let (running, finished) = standing
        .processors
        .iter()
        .fold((0, 0), |(running, finished), one| (running + one.running, finished + one.finished));
    match standing.processors.as_slice() {
        [] => "nobody reads what waits (`bindery civic processor` does)".to_owned(),
        [one] => format!("{}: {running} in hand, {} done", one.worker, output::count(finished, "job")),
        several => format!("{} at work: {running} in hand, {} done", several.len(), output::count(finished, "job")),
    }
}

fn count_line(cities: usize) -> String {
    if cities == 1 { "1 city".to_owned() } else { format!("{cities} cities") }
}

fn moment(at: Option<Timestamp>, without: &str) -> String {
    at.map_or_else(|| without.to_owned(), |at| at.to_string())
}

fn more(all: usize) {
    if all > SHOWN {
        output::note(format!("and {} more; --json lists them all", all - SHOWN));
    }
}

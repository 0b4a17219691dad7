//! `bindery civic sync-and-process-city` and `sync-and-process-cities`: visits, and what they found is read.

use super::{
    estimating,
    process_cities::sums,
    processing::{self, RunFlags, Told},
    sync_cities,
    visiting::{self, Flags},
};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings, Signals,
    councils::{conductor::wanted, processing::run::Visited, visits},
    names,
    supervisor::stop_pair,
};

/// Visit one city now, and read what was found and what waits
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic sync-and-process-city paloaltoCA
  bindery civic sync-and-process-city paloaltoCA --record visit     keep what the sites said
  bindery civic sync-and-process-city paloaltoCA --replay visit     and do it again, asking nobody
  bindery civic sync-and-process-city paloaltoCA --dry-run          what waits now, and what it could cost
The city is visited whether or not it is due; what waits of it is read also if the visit fails.
Exit codes: 0 visited and read, 3 some of it failed or waits, 1 nothing was done, 130 stopped.")]
pub(super) struct CityArgs {
    /// The key of the city, e.g. paloaltoCA
    city: String,

    #[command(flatten)]
    how: How,
}

/// Visit several cities now, and read what was found and what waits
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic sync-and-process-cities paloaltoCA,nashvilleTN
  bindery civic sync-and-process-cities CA                    all that are stored of a state
  bindery civic sync-and-process-cities @cities.txt --json    a line of JSON for each city as it ends
Each city is read as soon as it was visited, three at a time; what waits of it is read also if its
visit fails. Exit codes: 0 all visited and read, 3 some, 1 none, 130 stopped before the end.")]
pub(super) struct CitiesArgs {
    /// Keys of cities, states or counties, separated by commas; or @FILE
    #[arg(value_name = "LIST")]
    list: String,

    #[command(flatten)]
    how: How,
}

/// With --json a line of JSON is printed for each city as it ends.
#[derive(Debug, Clone, clap::Args)]
struct How {
    #[command(flatten)]
    run: RunFlags,

    #[command(flatten)]
    visits: Flags,
}

pub(super) async fn city(settings: &Settings, args: CityArgs) -> anyhow::Result<Exit> {
    let city_key = sync_cities::city_key(&args.city)?;
    let (app, client) = args.how.run.open(settings, &args.how.visits.fetching, args.how.telling()).await?;
    sync_cities::expect_city(&app, &city_key).await?;
    args.how.process(&app, client, &[city_key]).await
}

pub(super) async fn cities(settings: &Settings, args: CitiesArgs) -> anyhow::Result<Exit> {
    let targets = visiting::targets(&args.list)?;
    let (app, client) = args.how.run.open(settings, &args.how.visits.fetching, args.how.telling()).await?;
    let city_keys = wanted::expand(app.store(), &targets).await?;
    if city_keys.is_empty() {
        let message = format!("{:?} means no city that is stored", args.list);
        return Err(Failure::usage(message).hint("`bindery civic city add …` adds one").into());
    }
    args.how.process(&app, client, &city_keys).await
}

impl How {
    const fn telling(&self) -> Told {
        if self.visits.json { Told::Visits } else { Told::Remarks }
    }

    async fn process(
        &self,
        app: &bindery_app::App,
        client: std::sync::Arc<bindery_app::councils::client::Client>,
        city_keys: &[String],
    ) -> anyhow::Result<Exit> {
        if self.run.dry_run {
            return estimating::estimate(app, city_keys, self.visits.json).await;
        }
        let mut signals = Signals::new()?;
        visits::recover(app).await?;
        let conductor = self.visits.conductor_with(app, names::of_visitor(), visiting::Told::Remarks, client)?;
        let presence = visits::enter(app, &conductor).await?;
        let work = self.run.processing(app)?;
        let (handle, stop) = stop_pair();
        let work = work.sync_and_process_cities(&conductor, city_keys, &stop);
        let done = processing::until_done(app, &handle, &mut signals, work).await;
        presence.leave(0).await?;
        let Some(results) = done else { return Ok(Exit::Interrupted) };
        self.show(&results)?;
        Ok(processing::exit_of(results.iter().map(|result| &result.processed)))
    }

    fn show(&self, results: &[Visited]) -> anyhow::Result<()> {
        if self.visits.json {
            return Ok(());
        }
        processing::show(&results.iter().map(|result| &result.processed).collect::<Vec<_>>())?;
        let found: u64 = results.iter().map(|result| result.sync.meetings_found).sum();
        let processed: u64 = results.iter().map(|result| result.processed.meetings_processed).sum();
        let (_, new) = sums(results.iter().map(|result| &result.processed));
        Ok(output::line(format!("Complete: {found} found, {processed} processed, {new}"))?)
    }
}

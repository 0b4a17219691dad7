//! `bindery civic`: city councils, followed on their vendors' sites. One module for each group of words after it.
//!
//! | module | needs a store |
//! |---|---|
//! | `parse`, `detect_vendor` | no |
//! | `city`, `city_requests`, `alerts` | yes: what is followed, and who wants what |
//! | `sync_cities`, `full_sync`, `fetcher`, `watchlist` | yes: they visit cities, with what is in `visiting` |
//! | `process_cities`, `sync_and_process`, `processor`, `daemon` | yes: they read what waits, with what is in `processing` |
//! | `status` | yes: how it goes |
//! | `preview_queue`, `queue` | yes: what waits to be read |
//! | `meetings`, `show`, `votes`, `matter`, `changes` | yes: what is known |
//! | `watch`, `notices`, `digest` | yes: what people follow, and what they are told |
//! | `search` | yes: what is known, by its words |
//! | `explain` | `explain` does, `filters explain` does not |
//! | `export` | yes: what is known, for other programs |
//! | `costs`, `topics` | yes: what the language model cost, and words that it used |
//! | `extract_text`, `preview_items` | yes, unless an address is given: documents, fetched and read |
//! | `days`, `estimating`, `fetching`, `finding`, `outbox`, `reading`, `shown`, `summaries` | what several of them share |

mod alerts;
mod changes;
mod city;
mod city_requests;
mod costs;
mod daemon;
mod days;
mod detect_vendor;
mod digest;
mod estimating;
mod explain;
mod export;
mod extract_text;
mod fetcher;
mod fetching;
mod finding;
mod full_sync;
mod matter;
mod meetings;
mod notices;
mod outbox;
mod parse;
mod preview_items;
mod preview_queue;
mod process_cities;
mod processing;
mod processor;
mod queue;
mod reading;
mod search;
mod show;
mod shown;
mod status;
mod summaries;
mod sync_and_process;
mod sync_cities;
mod topics;
mod visiting;
mod votes;
mod watch;
mod watchlist;

pub(crate) use finding::hint;

use crate::exit::Exit;
use bindery_app::Settings;
use clap::Subcommand;

/// City councils: follow their meetings on the vendors' sites
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic parse legistar events.json        what a kept page of a vendor says
  bindery civic detect-vendor 'Palo Alto, CA'     which vendor its site is with
  bindery civic city add paloaltoCA --name 'Palo Alto' --vendor legistar --slug paloalto
  bindery civic preview-queue                     how much waits to be read
  bindery civic sync-city paloaltoCA              visit a city now
  bindery civic fetcher                           visit all cities whenever they are due
  bindery civic process-cities paloaltoCA         read what was found, and say what it is about
  bindery civic daemon                            both, for all cities, as a service
  bindery civic status                            how that goes
  bindery civic meetings paloaltoCA               what is known of a city
  bindery civic show paloaltoCA_3c961ffe17f6      a meeting with its agenda, votes and history
  bindery civic digest paloaltoCA                 what a citizen would read of it
  bindery civic search 'rent control'             items, meetings and matters, by their words
  bindery civic export paloaltoCA --format ics    a calendar, a feed, a table, JSON
docs/civic.md tells what is followed and how.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Parse(parse::Args),
    City(city::Args),
    DetectVendor(detect_vendor::Args),
    CityRequests(city_requests::Args),
    Alert(alerts::Args),
    Watch(watch::Args),
    Notices(notices::Args),
    Digest(digest::Args),
    Search(search::Args),
    PreviewQueue(preview_queue::Args),
    Queue(queue::Args),
    SyncCity(sync_cities::CityArgs),
    SyncCities(sync_cities::CitiesArgs),
    FullSync(full_sync::Args),
    Fetcher(fetcher::Args),
    PreviewWatchlist(watchlist::PreviewArgs),
    SyncWatchlist(watchlist::SyncArgs),
    ProcessCities(process_cities::CitiesArgs),
    SyncAndProcessCity(sync_and_process::CityArgs),
    SyncAndProcessCities(sync_and_process::CitiesArgs),
    ProcessWatchlist(process_cities::WatchlistArgs),
    Processor(processor::Args),
    Daemon(daemon::Args),
    Status(status::Args),
    Meetings(meetings::Args),
    Show(show::Args),
    Votes(votes::Args),
    Matter(matter::Args),
    Changes(changes::Args),
    Explain(explain::Args),
    Filters(explain::FilterArgs),
    Export(export::Args),
    Costs(costs::Args),
    Topics(topics::Args),
    ExtractText(extract_text::Args),
    PreviewItems(preview_items::Args),
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action {
        Action::Parse(args) => parse::run(&args),
        Action::City(args) => city::run(settings, args).await,
        Action::DetectVendor(args) => detect_vendor::run(args).await,
        Action::CityRequests(args) => city_requests::run(settings, args).await,
        Action::Alert(args) => alerts::run(settings, args).await,
        Action::Watch(args) => watch::run(settings, args).await,
        Action::Notices(args) => notices::run(settings, args).await,
        Action::Digest(args) => digest::run(settings, args).await,
        Action::Search(args) => search::run(settings, args).await,
        Action::PreviewQueue(args) => preview_queue::run(settings, args).await,
        Action::Queue(args) => queue::run(settings, args).await,
        Action::SyncCity(args) => sync_cities::city(settings, args).await,
        Action::SyncCities(args) => sync_cities::cities(settings, args).await,
        Action::FullSync(args) => full_sync::run(settings, args).await,
        Action::Fetcher(args) => fetcher::run(settings, args).await,
        Action::PreviewWatchlist(args) => watchlist::preview(settings, args).await,
        Action::SyncWatchlist(args) => watchlist::sync(settings, args).await,
        Action::ProcessCities(args) => process_cities::cities(settings, args).await,
        Action::SyncAndProcessCity(args) => sync_and_process::city(settings, args).await,
        Action::SyncAndProcessCities(args) => sync_and_process::cities(settings, args).await,
        Action::ProcessWatchlist(args) => process_cities::of_watchlist(settings, args).await,
        Action::Processor(args) => processor::run(settings, args).await,
        Action::Daemon(args) => daemon::run(settings, args).await,
        Action::Status(args) => status::run(settings, args).await,
        Action::Meetings(args) => meetings::run(settings, args).await,
        Action::Show(args) => show::run(settings, args).await,
        Action::Votes(args) => votes::run(settings, args).await,
        Action::Matter(args) => matter::run(settings, args).await,
        Action::Changes(args) => changes::run(settings, args).await,
        Action::Explain(args) => explain::run(settings, args).await,
        Action::Filters(args) => explain::filters(args),
        Action::Export(args) => export::run(settings, args).await,
        Action::Costs(args) => costs::run(settings, args).await,
        Action::Topics(args) => topics::run(settings, args).await,
        Action::ExtractText(args) => extract_text::run(settings, args).await,
        Action::PreviewItems(args) => preview_items::run(settings, args).await,
    }
}

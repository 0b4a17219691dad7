//! `bindery civic`: city councils, followed on their vendors' sites. One module for each group of words after it.
//!
//! | module | needs a store |
//! |---|---|
//! | `parse` | no |
//! | `meetings`, `show`, `votes`, `matter`, `changes` | yes: what is known |
//! | `explain` | `explain` does, `filters explain` does not |
//! | `export` | yes: what is known, for other programs |
//! | `extract_text`, `preview_items` | yes, unless an address is given: documents, fetched and read |
//! | `days`, `fetching`, `finding`, `reading`, `shown` | what several of them share |

mod changes;
mod days;
mod explain;
mod export;
mod extract_text;
mod fetching;
mod finding;
mod matter;
mod meetings;
mod parse;
mod preview_items;
mod reading;
mod show;
mod shown;
mod votes;

use crate::{config::Settings, exit::Exit};
use clap::Subcommand;

/// City councils: follow their meetings on the vendors' sites
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic parse legistar events.json        what a kept page of a vendor says
  bindery civic meetings paloaltoCA               what is known of a city
  bindery civic show paloaltoCA_3c961ffe17f6      a meeting with its agenda, votes and history
  bindery civic export paloaltoCA --format ics    a calendar, a feed, a table, JSON
docs/civic.md tells what is followed and how.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Parse(parse::Args),
    Meetings(meetings::Args),
    Show(show::Args),
    Votes(votes::Args),
    Matter(matter::Args),
    Changes(changes::Args),
    Explain(explain::Args),
    Filters(explain::FilterArgs),
    Export(export::Args),
    ExtractText(extract_text::Args),
    PreviewItems(preview_items::Args),
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action {
        Action::Parse(args) => parse::run(&args),
        Action::Meetings(args) => meetings::run(settings, args).await,
        Action::Show(args) => show::run(settings, args).await,
        Action::Votes(args) => votes::run(settings, args).await,
        Action::Matter(args) => matter::run(settings, args).await,
        Action::Changes(args) => changes::run(settings, args).await,
        Action::Explain(args) => explain::run(settings, args).await,
        Action::Filters(args) => explain::filters(args),
        Action::Export(args) => export::run(settings, args).await,
        Action::ExtractText(args) => extract_text::run(settings, args).await,
        Action::PreviewItems(args) => preview_items::run(settings, args).await,
    }
}

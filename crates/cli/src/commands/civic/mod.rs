//! `bindery civic`: city councils, followed on their vendors' sites. One module for each group of words after it.
//!
//! | module | needs a store |
//! |---|---|
//! | `parse`, `detect_vendor` | no |
//! | `city`, `city_requests`, `alerts` | yes: what is followed, and who wants what |
//! | `preview_queue`, `queue` | yes: what waits to be read |

mod alerts;
mod city;
mod city_requests;
mod detect_vendor;
mod parse;
mod preview_queue;
mod queue;

use crate::{config::Settings, exit::Exit};
use clap::Subcommand;

/// City councils: follow their meetings on the vendors' sites
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic parse legistar events.json        what a kept page of a vendor says
  bindery civic detect-vendor 'Palo Alto, CA'     which vendor its site is with
  bindery civic city add paloaltoCA --name 'Palo Alto' --vendor legistar --slug paloalto
  bindery civic preview-queue                     how much waits to be read
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
    PreviewQueue(preview_queue::Args),
    Queue(queue::Args),
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action {
        Action::Parse(args) => parse::run(&args),
        Action::City(args) => city::run(settings, args).await,
        Action::DetectVendor(args) => detect_vendor::run(args).await,
        Action::CityRequests(args) => city_requests::run(settings, args).await,
        Action::Alert(args) => alerts::run(settings, args).await,
        Action::PreviewQueue(args) => preview_queue::run(settings, args).await,
        Action::Queue(args) => queue::run(settings, args).await,
    }
}

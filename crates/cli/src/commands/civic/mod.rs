//! `bindery civic`: city councils, followed on their vendors' sites. One module for each group of words after it.
//!
//! | module | needs a store |
//! |---|---|
//! | `parse` | no |

mod parse;

use crate::{config::Settings, exit::Exit};
use clap::Subcommand;

/// City councils: follow their meetings on the vendors' sites
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic parse legistar events.json        what a kept page of a vendor says
docs/civic.md tells what is followed and how.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Parse(parse::Args),
}

pub(crate) async fn run(_settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action {
        Action::Parse(args) => parse::run(&args),
    }
}

//! `bindery civic city`: the jurisdictions that are followed.
//!
//! Whatever is entered is checked as a whole before anything is stored, and stored only if nobody has changed the same
//! meanwhile: who was too late is told, or what they said is laid over the change.

mod edit;
mod fields;
mod import;
mod list;
mod remove;
mod show;
mod storing;

pub(super) use storing::add_command;

use crate::{exit::Exit, failure::Failure};
use bindery_app::{
    App, Settings,
    councils::{CouncilRefused, records::Jurisdiction},
};
use clap::Subcommand;

/// Enter, change and list the cities that are followed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic city add paloaltoCA --name 'Palo Alto' --vendor legistar --slug paloalto
  bindery civic city import cities.csv --dry-run     what a list would change
  bindery civic city list --state CA
  bindery civic city show paloaltoCA                 how visits went, and when the next one is
  bindery civic city set paloaltoCA --status paused  no visits until it is active again
docs/civic-cities.md tells what each field means.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Add(edit::AddArgs),
    Set(edit::SetArgs),
    List(list::Args),
    Show(show::Args),
    Remove(remove::Args),
    Import(import::Args),
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action {
        Action::Add(args) => edit::add(settings, args).await,
        Action::Set(args) => edit::set(settings, args).await,
        Action::List(args) => list::run(settings, args).await,
        Action::Show(args) => show::run(settings, args).await,
        Action::Remove(args) => remove::run(settings, args).await,
        Action::Import(args) => import::run(settings, args).await,
    }
}

/// The store that cities are in. Looking for a city makes none.
pub(super) async fn existing(settings: &Settings) -> anyhow::Result<App> {
    settings.if_existing().await?.ok_or_else(|| {
        Failure::new(Exit::StoreUnavailable, "there is no store, so no city is followed yet")
            .hint("`bindery civic city add` makes one; --store or BINDERY_STORE names another place")
            .into()
    })
}

/// A jurisdiction that must be stored.
pub(super) async fn find_city(app: &App, city_key: &str) -> anyhow::Result<Jurisdiction> {
    let found = app.civic().jurisdiction(city_key).await?;
    Ok(found.ok_or_else(|| unknown(city_key))?)
}

fn unknown(city_key: &str) -> CouncilRefused {
    CouncilRefused::NotFollowed { city_key: city_key.to_owned() }
}

//! `bindery civic watch`: single things that people follow.

use super::city::existing;
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings,
    councils::{new_watch, records::Watch},
};
use clap::{Subcommand, ValueEnum};
use serde_json::json;

/// Follow one thing: a matter, a meeting, a topic, a city, a body, a member
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic watch add ann@example.org matter paloaltoCA_0123456789abcdef
  bindery civic watch add ann@example.org city paloaltoCA
  bindery civic watch add ann@example.org topic housing
  bindery civic watch list ann@example.org
  bindery civic watch remove ann@example.org topic housing
What happens to it comes by mail, once a day at most; a cancellation or a new hour at once.
`bindery civic alert` looks for words, and knows webhooks.")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Follow something from now on; doing it twice does it once
    Add(ThingArgs),
    /// Follow something no longer
    Remove(ThingArgs),
    /// List what is followed
    List(ListArgs),
}

#[derive(Debug, clap::Args)]
struct ThingArgs {
    /// Who follows: a mail address
    owner: String,

    /// What kind of thing
    kind: Kind,

    /// Its id; a topic's name; a city's key
    id: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Kind {
    Matter,
    Meeting,
    Topic,
    City,
    Committee,
    CouncilMember,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Matter => "matter",
            Self::Meeting => "meeting",
            Self::Topic => "topic",
            Self::City => "city",
            Self::Committee => "committee",
            Self::CouncilMember => "council_member",
        }
    }
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Only of this person
    owner: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action {
        Action::Add(args) => add(settings, args).await,
        Action::Remove(args) => remove(settings, args).await,
        Action::List(args) => list(settings, args).await,
    }
}

async fn add(settings: &Settings, args: ThingArgs) -> anyhow::Result<Exit> {
    let watch = new_watch(&args.owner, args.kind.name(), &args.id)?;
    let app = existing(settings).await?;
    app.check_watched(&watch).await?;
    app.civic().watch(watch.clone()).await?;
    tell(&watch, "watches", args.json)
}

async fn remove(settings: &Settings, args: ThingArgs) -> anyhow::Result<Exit> {
    let watch = new_watch(&args.owner, args.kind.name(), &args.id)?;
    let app = existing(settings).await?;
    if !app.civic().unwatch(&watch).await? {
        let said = format!("{} does not watch {} {}", watch.owner, watch.entity_type, watch.entity_id);
        return Err(Failure::usage(said).hint("`bindery civic watch list` shows what is watched").into());
    }
    tell(&watch, "no longer watches", args.json)
}

fn tell(watch: &Watch, does: &str, as_json: bool) -> anyhow::Result<Exit> {
    if as_json {
        output::json(&json!({"watch": watch, "is_watched": does == "watches"}))?;
    } else {
        let kind = watch.entity_type.replace('_', " ");
        output::line(format!("{} {does} {kind} {}", watch.owner, watch.entity_id))?;
    }
    Ok(Exit::Ok)
}

async fn list(settings: &Settings, args: ListArgs) -> anyhow::Result<Exit> {
    let app = existing(settings).await?;
    let civic = app.civic();
    let watches = match &args.owner {
        Some(owner) => civic.watches(owner).await?,
        None => civic.all_watches().await?,
    };
    if args.json {
        output::json(&watches)?;
        return Ok(Exit::Ok);
    }
    if watches.is_empty() {
        output::note("nothing is watched; `bindery civic watch add` begins to");
        return Ok(Exit::Ok);
    }
    let row = |watch: &Watch| [watch.owner.clone(), watch.entity_type.clone(), watch.entity_id.clone()];
    output::table(&["OWNER", "KIND", "WHAT"], watches.iter().map(row))?;
    Ok(Exit::Ok)
}

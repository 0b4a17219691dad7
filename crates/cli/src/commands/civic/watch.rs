//! `bindery civic watch`: single things that people follow.

use super::{city::existing, finding};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    App, Settings,
    councils::{city_key::CityKey, ids, notices::eml, records::Watch, topics::Topics},
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

/// Whether an id can be one of its kind.
pub(super) fn check(kind: &str, id: &str) -> Result<(), Failure> {
    let (is_one, example) = match kind {
        "matter" => (ids::is_matter_id(id), "paloaltoCA_0123456789abcdef"),
        "meeting" => (ids::is_meeting_id(id), "paloaltoCA_3c961ffe17f6"),
        "committee" => (id.contains("_comm_") && ids::city_key_of(id).is_some(), "paloaltoCA_comm_0123456789abcdef"),
        "council_member" => (id.contains("_cm_") && ids::city_key_of(id).is_some(), "paloaltoCA_cm_0123456789abcdef"),
        _ => (true, ""),
    };
    if is_one {
        return Ok(());
    }
    let said = format!("{}: expected an id such as {example}, found {id:?}", kind.replace('_', " "));
    Err(Failure::usage(said).hint("`bindery civic show MEETING --json` shows the ids of a meeting's matters and body"))
}

/// The key of a topic that is named by its key, its name or another word for it.
pub(super) fn topic(said: &str) -> Result<String, Failure> {
    let topics = Topics::with_local(&[]);
    let key = said.trim().to_lowercase();
    let known = topics.all().find(|(known, name)| *known == key || name.eq_ignore_ascii_case(&key));
    if let Some((known, _)) = known {
        return Ok(known.to_owned());
    }
    topics.topic_of(&key).map(str::to_owned).ok_or_else(|| {
        let all: Vec<&str> = topics.all().map(|(known, _)| known).collect();
        Failure::usage(format!("topic: {said:?} is none that is known")).hint(format!("known are {}", all.join(", ")))
    })
}

fn watch(args: &ThingArgs) -> Result<Watch, Failure> {
    let owner = args.owner.trim();
    eml::check_address(owner).map_err(|why| Failure::usage(format!("owner: {why}")))?;
    let id = args.id.trim();
    let kind = args.kind.name();
    let entity_id = match args.kind {
        Kind::Topic => topic(id)?,
        Kind::City => CityKey::parse(id).map_err(|fault| Failure::usage(format!("city: {fault}")))?.into(),
        _ => {
            check(kind, id)?;
            id.to_owned()
        }
    };
    Ok(Watch { owner: owner.to_owned(), entity_type: kind.to_owned(), entity_id, created_at: None })
}

/// What is followed is there, or else it was mistyped.
async fn must_exist(app: &App, watch: &Watch) -> anyhow::Result<()> {
    let id = watch.entity_id.as_str();
    let civic = app.civic();
    let city_key = id.split('_').next().unwrap_or_default();
    let (what, known): (&str, Vec<(String, String)>) = match watch.entity_type.as_str() {
        "matter" => return finding::matter(app, id).await.map(drop),
        "meeting" => return finding::meeting(app, id).await.map(drop),
        "city" => return finding::city(app, id).await.map(drop),
        "committee" => ("body", civic.committees(city_key).await?.into_iter().map(|one| (one.id, one.name)).collect()),
        "council_member" => {
            ("member", civic.people(city_key).await?.into_iter().map(|one| (one.id, one.name)).collect())
        }
        _ => return Ok(()),
    };
    if known.iter().any(|(known, _)| known == id) {
        return Ok(());
    }
    let some: Vec<String> = known.into_iter().take(5).map(|(id, name)| format!("{name} ({id})")).collect();
    let hint = if some.is_empty() {
        format!("none of {city_key} is stored")
    } else {
        format!("known are {}", some.join(", "))
    };
    Err(Failure::usage(format!("there is no {what} {id}")).hint(hint).into())
}

async fn add(settings: &Settings, args: ThingArgs) -> anyhow::Result<Exit> {
    let watch = watch(&args)?;
    let app = existing(settings).await?;
    must_exist(&app, &watch).await?;
    app.civic().watch(watch.clone()).await?;
    tell(&watch, "watches", args.json)
}

async fn remove(settings: &Settings, args: ThingArgs) -> anyhow::Result<Exit> {
    let watch = watch(&args)?;
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

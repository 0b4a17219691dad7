//! `bindery civic alert`: what people want to hear of. The cities of all active alerts are the watchlist.

use super::{city::existing, shown::without_secrets};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings,
    councils::{AlertRequest, records::Alert},
};
use clap::Subcommand;
use serde_json::json;

/// Say what people want to hear of: words, in cities
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic alert add --owner ann@example.org --name housing \\
    --city paloaltoCA,oaklandCA --keyword housing --keyword 'rent control'
  bindery civic alert add --owner ann@example.org --name budget --city paloaltoCA \\
    --topic budget --committee paloaltoCA_comm_0123456789abcdef --frequency daily
  bindery civic alert list --owner ann@example.org
  bindery civic alert remove alert_5d41402abc4b
The cities of all alerts are the watchlist. One that is not followed yet becomes a request.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Add(AddArgs),
    List(ListArgs),
    Remove(RemoveArgs),
}

/// Store an alert
#[derive(Debug, clap::Args)]
struct AddArgs {
    /// Whose it is: a mail address
    #[arg(long, value_name = "ADDRESS")]
    owner: String,

    /// What its owner calls it; an owner has one of each name
    #[arg(long)]
    name: String,

    /// The cities, separated by commas
    #[arg(long = "city", value_name = "BANANAS", value_delimiter = ',', required = true)]
    cities: Vec<String>,

    /// A word or some words together; again for each. Without words, matters, committees and topics: everything
    #[arg(long = "keyword", value_name = "WORDS")]
    keywords: Vec<String>,

    /// A matter, by its id; again for each
    #[arg(long = "matter", value_name = "ID")]
    matters: Vec<String>,

    /// A body that meets, by its id; again for each
    #[arg(long = "committee", value_name = "ID")]
    committees: Vec<String>,

    /// A topic such as housing; again for each
    #[arg(long = "topic", value_name = "TOPIC")]
    topics: Vec<String>,

    /// How often its owner gets a digest; what cannot wait, such as a cancellation, is told at once
    #[arg(long, value_parser = ["weekly", "daily", "immediate"], default_value = "weekly")]
    frequency: String,

    /// Also tell this address, which takes signed messages (a webhook)
    #[arg(long, value_name = "URL")]
    webhook: Vec<String>,

    /// In place of the owner's alert of this name
    #[arg(long)]
    replace: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// List alerts
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Only of this owner
    #[arg(long, value_name = "ADDRESS")]
    owner: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Take an alert away
#[derive(Debug, clap::Args)]
struct RemoveArgs {
    /// Its id, as `bindery civic alert list` shows it
    id: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action {
        Action::Add(args) => add(settings, args).await,
        Action::List(args) => list(settings, args).await,
        Action::Remove(args) => remove(settings, args).await,
    }
}

async fn add(settings: &Settings, args: AddArgs) -> anyhow::Result<Exit> {
    let AddArgs { owner, name, cities, keywords, matters, committees, topics, frequency, webhook, replace, json } =
        args;
    let webhooks = webhook;
    let wanted = AlertRequest { owner, name, cities, keywords, matters, committees, topics, frequency, webhooks };
    let alert = wanted.into_alert()?;
    let (stored, requested) = settings.create().await?.put_alert(alert.clone(), replace).await?;
    if json {
        output::json(&json!({"alert": without_secrets(&stored), "requested": requested}))?;
        return Ok(Exit::Ok);
    }
    output::line(format!("{}: {} for {}, {}", alert.id, alert.name, alert.owner, alert.cities.join(", ")))?;
    if !requested.is_empty() {
        output::note(format!("not followed yet, and asked for: {}", requested.join(", ")));
    }
    Ok(Exit::Ok)
}

async fn list(settings: &Settings, args: ListArgs) -> anyhow::Result<Exit> {
    let app = existing(settings).await?;
    let alerts = app.civic().alerts(args.owner.as_deref(), false).await?;
    if args.json {
        output::json(&without_secrets(&alerts))?;
        return Ok(Exit::Ok);
    }
    if alerts.is_empty() {
        output::note("there are no such alerts; `bindery civic alert add` stores one");
        return Ok(Exit::Ok);
    }
    let row = |alert: &Alert| {
        [
            alert.id.clone(),
            alert.owner.clone(),
            output::short(&alert.name, 30),
            output::short(&alert.cities.join(", "), 50),
            output::short(&criteria(alert), 50),
            if alert.active { alert.frequency.clone() } else { "never".to_owned() },
        ]
    };
    output::table(&["ALERT", "OWNER", "NAME", "CITIES", "ABOUT", "TOLD"], alerts.iter().map(row))?;
    Ok(Exit::Ok)
}

/// What it is about, in short.
fn criteria(alert: &Alert) -> String {
    let all = [&alert.keywords, &alert.topics, &alert.matters, &alert.committees].into_iter().flatten();
    let all: Vec<&str> = all.map(String::as_str).collect();
    if all.is_empty() { "everything".to_owned() } else { all.join(", ") }
}

async fn remove(settings: &Settings, args: RemoveArgs) -> anyhow::Result<Exit> {
    let app = existing(settings).await?;
    if !app.civic().remove_alert(&args.id).await? {
        let failure = Failure::usage(format!("there is no alert {:?}", args.id));
        return Err(failure.hint("`bindery civic alert list` lists them").into());
    }
    if args.json {
        output::json(&json!({"removed": args.id}))?;
    } else {
        output::line(format!("removed {}", args.id))?;
    }
    Ok(Exit::Ok)
}

//! `bindery civic notices`: messages that wait, were sent or were given up; and sending them.

use super::{city::existing, outbox::Outbox, shown::without_secrets};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings, Signals,
    councils::{
        client::address,
        notices::{self, Produced, Sending},
        records::Notification,
        visits::{self, DIGESTS_EVERY},
    },
    supervisor::stop_pair,
};
use clap::Subcommand;
use serde_json::json;

/// List messages to those who follow something, or send what is due
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  bindery civic notices --waiting             what is to be sent, and what waits for a digest
  bindery civic notices send --once           find out what is to be told, send it, and end
  bindery civic notices send --sendmail '/usr/sbin/sendmail -t' --mail-from council@example.org
  bindery civic notices retry KEY             at once, also after it was given up
Mails become files in the folder outbox beside the store's data unless --sendmail is given. Messages to
webhooks are signed with BINDERY_WEBHOOK_SECRET. docs/civic-notices.md tells what is told, and when."
)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    Send(SendArgs),
    /// Send a message that was given up, or that waits for its next try
    Retry(RetryArgs),
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Only those that are not sent yet
    #[arg(long)]
    waiting: bool,

    /// At most so many, the newest
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Find out what is to be told and send it: until it is told to stop, or once
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic notices send --once
  bindery civic notices send                  as a service, beside the fetcher
Exit code with --once: 0 all that was due was sent, 3 some of it, 1 none.")]
struct SendArgs {
    /// What is due now, then end
    #[arg(long)]
    once: bool,

    #[command(flatten)]
    outbox: Outbox,

    /// Print JSON
    #[arg(long, requires = "once")]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct RetryArgs {
    /// Its key, as `bindery civic notices` shows it
    key: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action {
        None => list(settings, args.list).await,
        Some(Action::Send(args)) => send(settings, args).await,
        Some(Action::Retry(args)) => retry(settings, args).await,
    }
}

async fn list(settings: &Settings, args: ListArgs) -> anyhow::Result<Exit> {
    let app = existing(settings).await?;
    let mut messages = app.civic().notifications(args.waiting).await?;
    messages.retain(|message| !notices::is_internal(message));
    messages.sort_by(|one, other| (other.created_at, &one.key).cmp(&(one.created_at, &other.key)));
    let all = messages.len();
    messages.truncate(usize::try_from(args.limit).unwrap_or(usize::MAX));
    if args.json {
        let told = messages.iter().map(|message| {
            let mut told = without_secrets(message);
            told["state"] = json!(state(message));
            told
        });
        output::json(&told.collect::<Vec<_>>())?;
        return Ok(Exit::Ok);
    }
    if messages.is_empty() {
        output::note(if args.waiting { "no message waits" } else { "there are no messages" });
        return Ok(Exit::Ok);
    }
    let row = |message: &Notification| {
        let to = message.channel.as_ref().map(|channel| address::redact(&channel.address));
        let error = message.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        [
            message.created_at.map(|at| at.to_string().chars().take(16).collect()).unwrap_or_default(),
            message.kind.clone(),
            output::short(&to.or_else(|| message.alert_id.clone()).unwrap_or_default(), 40),
            output::short(&message.key, 60),
            output::short(&format!("{}{error}", state(message)), 120),
        ]
    };
    output::fitted_table(&["FOUND", "KIND", "TO", "KEY", "STATE"], messages.iter().map(row))?;
    if all > messages.len() {
        output::note(format!("these are the newest {} of {all}; --limit shows more", messages.len()));
    }
    Ok(Exit::Ok)
}

fn state(message: &Notification) -> &'static str {
    match message {
        _ if message.is_gathered() => "waits for a digest",
        Notification { told_in: Some(_), .. } => "told in a digest",
        Notification { sent_at: Some(_), .. } => "sent",
        Notification { due_at: None, .. } => "given up",
        Notification { attempts: 0, .. } => "due",
        _ => "tried, due again",
    }
}

async fn send(settings: &Settings, args: SendArgs) -> anyhow::Result<Exit> {
    let mut signals = Signals::new()?;
    let app = existing(settings).await?;
    let channels = args.outbox.channels(&app)?;
    let sender = visits::sender(&app, channels);
    visits::recover(&app).await?;
    let (handle, stop) = stop_pair();
    let asked_twice = async {
        signals.next().await;
        handle.stop();
        signals.next().await;
    };
    if !args.once {
        output::note("sends what is due; Ctrl-C ends it");
        tokio::select! {
            () = sender.run(DIGESTS_EVERY, stop) => return Ok(Exit::Ok),
            () = asked_twice => return Ok(Exit::Interrupted),
        }
    }
    let done = tokio::select! {
        done = sender.run_once(&stop) => done?,
        () = asked_twice => return Ok(Exit::Interrupted),
    };
    report(done, args.json)
}

fn report((produced, sending): (Produced, Sending), as_json: bool) -> anyhow::Result<Exit> {
    if as_json {
        output::json(&json!({"found": produced, "sent": sending}))?;
    } else {
        output::line(format!(
            "{} found, {} made; {} sent, {} to be tried again, {} given up",
            output::count(produced.messages as u64, "message"),
            output::count(produced.digests as u64, "digest"),
            sending.delivered,
            sending.later,
            sending.given_up
        ))?;
    }
    Ok(match (sending.delivered, sending.later + sending.given_up) {
        (_, 0) => Exit::Ok,
        (0, _) => Exit::Unexpected,
        _ => Exit::Partial,
    })
}

async fn retry(settings: &Settings, args: RetryArgs) -> anyhow::Result<Exit> {
    let app = existing(settings).await?;
    if !app.civic().retry_notification(&args.key).await? {
        let failure = Failure::usage(format!("there is no message {:?} that could be sent once more", args.key));
        return Err(failure.hint("`bindery civic notices` lists them").into());
    }
    if args.json {
        output::json(&json!({"due": args.key}))?;
    } else {
        output::line(format!("{} is due again; `bindery civic notices send --once` sends it", args.key))?;
    }
    Ok(Exit::Ok)
}

//! `bindery events`: the log of what happened, and events from outside.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{App, Settings};
use bindery_core::{EventSeq, Name, event::Event};
use bindery_engine::aggregator::outside_event;
use bindery_store::query::EventFilter;
use clap::Subcommand;
use serde_json::{Value, json};
use std::{
    io::{self, Read as _},
    path::PathBuf,
    time::Duration,
};

/// How many events are read at a time.
const PAGE: usize = 1_000;

/// How many are shown unless --limit or --follow says otherwise.
const SHOWN: usize = 1_000;

/// Show what happened, or append events from outside
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  bindery events --submission sub_1         the first 1000; --limit shows more, 0 all
  bindery events --follow --json            one JSON object on each line, as they come
  bindery events --after 120 --kind OutcomeRecorded,StageClosed
  bindery events append events.ndjson       results of outside processors
  bindery events consumers                  how far each consumer of the log has read")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    /// Go on with what happens from now on, until Ctrl-C
    #[arg(long)]
    follow: bool,

    /// Only after this position
    #[arg(long, default_value = "0", value_name = "N", value_parser = position)]
    after: EventSeq,

    /// Show at most so many, 0 for all: 1000 by default, and all with --follow
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Only these kinds, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "KINDS")]
    kind: Vec<String>,

    /// Only of this submission: sub_N, or your own id
    #[arg(long)]
    submission: Option<String>,

    /// Print JSON, one event on each line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Append events from outside: one JSON object on each line, or a JSON array of them. All or none are stored; an
    /// event whose id is known changes nothing
    #[command(after_help = "\
Examples:
  bindery events append events.ndjson
  echo '{\"eventType\": \"DocumentProcessedEvent\", \"submissionId\": \"s-1\",
         \"data\": {\"documentId\": \"d-1\", \"processor\": \"foundry\", \"status\": \"completed\"}}' |
    tr -d '\\n' | bindery events append -
An event has eventType, and where they apply id, submissionId, userId, timestamp and data.")]
    Append {
        /// The file, or - for standard input
        #[arg(default_value = "-", value_name = "FILE")]
        file: PathBuf,
    },
    /// Show how far each consumer of the log has read
    Consumers {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

fn position(text: &str) -> Result<EventSeq, String> {
    let digits = text.strip_prefix("evt_").unwrap_or(text);
    let number = digits.parse::<i64>().ok().filter(|number| *number >= 0);
    number.map(EventSeq::from_raw).ok_or_else(|| "expected a position such as 120".to_owned())
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action {
        Some(Action::Append { file }) => return append(settings, file).await,
        Some(Action::Consumers { json }) => return consumers(&settings.existing().await?, json).await,
        None => {}
    }
    let app = settings.existing().await?;
    let submission = match &args.submission {
        Some(named) => Some(app.engine.find_submission(named).await?.id),
        None => None,
    };
    let filter = EventFilter { kinds: args.kind.iter().map(|kind| Name::from(kind.as_str())).collect(), submission };
    let mut after = args.after;
    let limit = args.limit.unwrap_or(if args.follow { 0 } else { SHOWN });
    let mut left = if limit == 0 { usize::MAX } else { limit };
    loop {
        let mark = app.store().change_mark();
        // One more than is shown tells whether there are more.
        let asked = PAGE.min(left.saturating_add(1));
        let events = app.store().read_events(after, filter.clone(), asked).await?;
        for event in events.iter().take(left) {
            show(event, args.json)?;
            after = event.seq;
        }
        if events.len() > left {
            output::note(format!("there are more: `--after {}` goes on from here, `--limit 0` shows all", after.raw()));
            return Ok(Exit::Ok);
        }
        left -= events.len();
        if events.len() == asked {
            continue;
        }
        if !args.follow {
            return Ok(Exit::Ok);
        }
        app.store().changed(mark, Duration::from_secs(1)).await;
    }
}

fn show(event: &Event, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return output::json_line(&event.envelope());
    }
    let about = match (&event.subject, event.submission) {
        (Some(subject), _) => subject.to_string(),
        (None, Some(id)) => id.to_string(),
        (None, None) => String::new(),
    };
    let data = output::short(&event.data, 100);
    Ok(output::line(format!("{:>6}  {}  {:<28} {about}  {data}", event.seq.raw(), event.at, &*event.kind))?)
}

/// The stored positions: after a restart each consumer goes on from there.
async fn consumers(app: &App, as_json: bool) -> anyhow::Result<Exit> {
    let newest = app.store().last_event().await?;
    for view in app.store().consumers().await? {
        let (name, position) = (&view.consumer, view.position.raw());
        let behind = (newest.raw() - position).max(0);
        if as_json {
            let shown =
                json!({"consumer": name, "position": position, "behind": behind, "updated_at": view.updated_at});
            output::json_line(&shown)?;
        } else {
            output::line(format!("{name:<24} {position:>8}  {behind} behind  {}", view.updated_at))?;
        }
    }
    Ok(Exit::Ok)
}

async fn append(settings: &Settings, file: PathBuf) -> anyhow::Result<Exit> {
    let text = read(&file)?;
    let envelopes = envelopes(&text)?;
    let app = settings.create().await?;
    let stored = append_all(&app, &envelopes).await?;
    let known = match envelopes.len() as u64 - stored {
        0 => String::new(),
        1 => "; 1 was known already".to_owned(),
        more => format!("; {more} were known already"),
    };
    output::line(format!("appended {}{known}", output::count(stored, "event")))?;
    output::note("`bindery worker` follows them");
    Ok(Exit::Ok)
}

async fn append_all(app: &App, envelopes: &[Value]) -> anyhow::Result<u64> {
    let stored = app.engine.append_outside(envelopes).await?;
    Ok(stored.iter().flatten().count() as u64)
}

fn read(file: &PathBuf) -> anyhow::Result<String> {
    let (shown, bytes) = if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        ("standard input".to_owned(), io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes))
    } else {
        (file.display().to_string(), std::fs::read(file))
    };
    let bytes = bytes.map_err(|error| Failure::usage(format!("{shown} cannot be read: {error}")))?;
    String::from_utf8(bytes).map_err(|_| Failure::usage(format!("{shown} is not UTF-8 text")).into())
}

/// The events of a text, each checked. The first that is wrong is named by its place.
fn envelopes(text: &str) -> anyhow::Result<Vec<Value>> {
    let mut found = Vec::new();
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('[') {
        let array: Vec<Value> = serde_json::from_str(text).map_err(|error| bad("the array", error))?;
        for (index, envelope) in array.into_iter().enumerate() {
            outside_event(&envelope).map_err(|error| bad(&format!("event {}", index + 1), error))?;
            found.push(envelope);
        }
    } else {
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let place = format!("line {}", index + 1);
            let envelope: Value = serde_json::from_str(line).map_err(|error| bad(&place, error))?;
            outside_event(&envelope).map_err(|error| bad(&place, error))?;
            found.push(envelope);
        }
    }
    if found.is_empty() {
        return Err(Failure::usage("there are no events in the input").into());
    }
    Ok(found)
}

fn bad(place: &str, error: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("{place}: {error}")).hint("nothing was appended")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_event_is_named_by_its_line() {
        let good = r#"{"eventType": "Anything"}"#;
        let message = |text: &str| envelopes(text).unwrap_err().to_string();
        assert_eq!(message(&format!("{good}\n\n{{}}")), "line 3: event: eventType is missing");
        assert!(message(&format!("{good}\n{{")).starts_with("line 2: EOF"));
        assert_eq!(message(&format!("[{good}, 3]")), "event 2: event: expected a JSON object");
        assert_eq!(message(" \n"), "there are no events in the input");
        assert_eq!(envelopes(&format!("\n{good}\r\n{good}")).unwrap().len(), 2);
    }
}

//! `bindery events`: the log of what happened, and events from outside.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    App, Settings,
    events::{EventFilter, EventsRefused, parse_events},
};
use bindery_core::{EventSeq, Name, event::Event};
use clap::Subcommand;
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

async fn consumers(app: &App, as_json: bool) -> anyhow::Result<Exit> {
    for one in app.consumers().await? {
        if as_json {
            output::json_line(&one)?;
        } else {
            output::line(format!(
                "{:<24} {:>8}  {} behind  {}",
                one.consumer, one.position, one.behind, one.updated_at
            ))?;
        }
    }
    Ok(Exit::Ok)
}

async fn append(settings: &Settings, file: PathBuf) -> anyhow::Result<Exit> {
    let text = read(&file)?;
    let envelopes = parse_events(&text).map_err(|refused| explain(&refused))?;
    let stored = settings.create().await?.append_outside(&envelopes).await?;
    let known = match envelopes.len() as u64 - stored {
        0 => String::new(),
        1 => "; 1 was known already".to_owned(),
        more => format!("; {more} were known already"),
    };
    output::line(format!("appended {}{known}", output::count(stored, "event")))?;
    output::note("`bindery worker` follows them");
    Ok(Exit::Ok)
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

fn explain(refused: &EventsRefused) -> Failure {
    let failure = Failure::usage(refused.to_string());
    match refused {
        EventsRefused::Bad { .. } => failure.hint("nothing was appended"),
        EventsRefused::None => failure,
    }
}

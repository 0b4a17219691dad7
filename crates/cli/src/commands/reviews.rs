//! `bindery reviews`: what people have to decide.

use super::submit::key_value;
use crate::{config::Settings, exit::Exit, failure::Failure, items::Names, output, report};
use bindery_core::ReviewId;
use bindery_store::query::ReviewFilter;
use clap::Subcommand;
use serde_json::{Map, Value};

/// List what people have to decide, or decide it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery reviews
  bindery reviews complete rev_1 --set words=12 --by marta
  bindery reviews complete rev_1 --json-value '{\"type\": \"invoice\"}'")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List what is open (what happens without a word, too)
    List {
        /// Also what is decided or cancelled
        #[arg(long)]
        all: bool,
    },
    /// Decide. Your fields are laid over what the processor found
    Complete {
        /// rev_N
        review: ReviewId,
        /// A field as key=value. The value is JSON where it can be read as JSON, or else a text
        #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
        set: Vec<(String, String)>,
        /// All fields at once, as JSON
        #[arg(long, value_name = "JSON", conflicts_with = "set")]
        json_value: Option<String>,
        /// Who decides
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action.unwrap_or(Action::List { all: false }) {
        Action::List { all } => list(settings, all, args.json).await,
        Action::Complete { review, set, json_value, by } => {
            let decided = decision(set, json_value)?;
            let app = settings.existing().await?;
            let output = app.engine.complete_review(review, by.as_deref(), decided).await?;
            if args.json {
                output::json(&output)?;
            } else {
                output::line(format!("completed {review}"))?;
                output::note("`bindery worker` goes on with it");
            }
            Ok(Exit::Ok)
        }
    }
}

/// JSON where it can be read as JSON, or else a text.
pub(crate) fn json_or_text(value: String) -> Value {
    serde_json::from_str(&value).unwrap_or(Value::String(value))
}

fn decision(set: Vec<(String, String)>, json_value: Option<String>) -> anyhow::Result<Value> {
    if let Some(text) = json_value {
        return Ok(serde_json::from_str(&text)
            .map_err(|error| Failure::usage(format!("--json-value: expected JSON: {error}")))?);
    }
    let fields: Map<String, Value> = set.into_iter().map(|(key, value)| (key, json_or_text(value))).collect();
    Ok(Value::Object(fields))
}

async fn list(settings: &Settings, all: bool, as_json: bool) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let mut reviews = app.store().reviews(ReviewFilter::default()).await?;
    reviews.retain(|review| all || report::is_open(review.status));
    if as_json {
        output::json(&reviews)?;
        return Ok(Exit::Ok);
    }
    if reviews.is_empty() {
        output::note("there is nothing to decide");
        return Ok(Exit::Ok);
    }
    let mut names = Names::new(&app);
    let mut rows = Vec::with_capacity(reviews.len());
    for review in reviews {
        rows.push([
            review.id.to_string(),
            review.queue.to_string(),
            review.submission.to_string(),
            review.stage.to_string(),
            names.of(review.submission, review.item).await?,
            review.assigned_to.map_or_else(|| review.status.to_string(), |who| format!("{}: {who}", review.status)),
            output::short(&review.reason, 80),
        ]);
    }
    output::table(&["REVIEW", "QUEUE", "SUBMISSION", "STAGE", "ON", "STATUS", "WHY"], rows)?;
    output::note("`bindery reviews complete REVIEW --set key=value` decides");
    Ok(Exit::Ok)
}

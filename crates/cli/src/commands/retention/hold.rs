//! `bindery hold`, `release` and `holds`: submissions that must not be deleted.

use crate::{exit::Exit, output};
use bindery_app::{Settings, retention::Hold};

/// Place submissions on hold: nothing of them is deleted
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery hold sub_3 --reason 'case 12/2026'
  bindery release sub_3
A submission on hold is refused by `bindery delete`, skipped by `bindery prune`, and no part of it expires.")]
pub(crate) struct HoldArgs {
    /// sub_N, or your own id of a submission
    #[arg(required = true, value_name = "SUBMISSION")]
    ids: Vec<String>,

    /// Why it must be kept
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    reason: String,
}

pub(crate) async fn hold(settings: &Settings, args: HoldArgs) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    for (id, is_new) in app.hold(&args.ids, &args.reason).await? {
        if is_new {
            output::line(format!("{id} is on hold"))?;
        } else {
            output::line(format!("{id} was on hold already; its reason is changed"))?;
        }
    }
    Ok(Exit::Ok)
}

/// Take submissions off hold
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery release sub_3
What its workflow lets expire goes with the next sweep.")]
pub(crate) struct ReleaseArgs {
    /// sub_N, or your own id of a submission
    #[arg(required = true, value_name = "SUBMISSION")]
    ids: Vec<String>,
}

pub(crate) async fn release(settings: &Settings, args: ReleaseArgs) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    for (id, was_held) in app.release_hold(&args.ids).await? {
        if was_held {
            output::line(format!("{id} is off hold"))?;
        } else {
            output::note(format!("{id} was not on hold; nothing was changed"));
        }
    }
    Ok(Exit::Ok)
}

/// List the submissions on hold
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery holds
  bindery holds --json")]
pub(crate) struct HoldsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn holds(settings: &Settings, args: HoldsArgs) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let holds = app.store().holds().await?;
    if args.json {
        output::json(&holds)?;
        return Ok(Exit::Ok);
    }
    if holds.is_empty() {
        output::note("nothing is on hold");
        return Ok(Exit::Ok);
    }
    let row = |hold: &Hold| [hold.submission.to_string(), hold.held_at.to_string(), hold.reason.clone()];
    output::fitted_table(&["SUBMISSION", "SINCE", "REASON"], holds.iter().map(row))?;
    Ok(Exit::Ok)
}

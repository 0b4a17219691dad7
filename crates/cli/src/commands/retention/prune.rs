//! `bindery prune`: deletes what is old, and gives space back.

use super::{and_executions, remarks, size_words};
use crate::{exit::Exit, output};
use bindery_app::{
    Settings,
    retention::{DeletionReport, Prune, prune},
};
use std::time::Duration;

/// Delete what is older than its workflow, or than you say, lets it become
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery prune                              what the retention of workflows and the defaults let go
  bindery prune --older-than 90d             also every submission, execution and event that ended 90 days ago
  bindery prune --older-than 90d --dry-run   say what would go, and delete nothing
  bindery prune --compact                    also rewrite the database, which stops others while it takes place
Running workers do the first by themselves, once an hour. What is on hold stays. docs/retention.md has the defaults.")]
pub(crate) struct Args {
    /// Delete submissions that ended longer ago: 90d, 12h, 2w
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<Duration>,

    /// Only say what would be deleted
    #[arg(long)]
    dry_run: bool,

    /// Rewrite the database, so that deleted content leaves no trace in it
    #[arg(long, conflicts_with = "dry_run")]
    compact: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn age(text: &str) -> Result<Duration, String> {
    let expected = || "expected a number with m, h, d or w behind it, for example 90d".to_owned();
    let unit = text.chars().last().ok_or_else(expected)?;
    let seconds = match unit {
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        'w' => 7 * 24 * 60 * 60,
        _ => return Err(expected()),
    };
    let number: u32 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| expected())?;
    Ok(Duration::from_secs(u64::from(number) * seconds))
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let Args { older_than, dry_run, compact, json } = args;
    let app = settings.existing().await?;
    let (report, reclaimed) = prune(&app, Prune { older_than, dry_run, compact }).await?;
    let Some(reclaimed) = reclaimed else {
        say(&report, json, "would delete")?;
        if older_than.is_none() && !json {
            output::note("what workflows and defaults let go is not counted here; --older-than says what to look for");
        }
        return Ok(Exit::Ok);
    };
    say(&report, json, "deleted")?;
    if !json {
        remarks(&report, reclaimed);
    }
    Ok(Exit::Ok)
}

fn say(report: &DeletionReport, json: bool, what: &str) -> anyhow::Result<()> {
    if json {
        return output::json(report);
    }
    output::line(format!(
        "{what} {}{} {}",
        output::count(report.submissions, "submission"),
        and_executions(report.executions),
        size_words(report)
    ))?;
    if report.database_bytes > 0 {
        output::line(format!("the database is {} smaller", output::bytes(report.database_bytes)))?;
    }
    if report.on_hold > 0 {
        output::note(format!("{} on hold and kept", are(report.on_hold)));
    }
    Ok(())
}

fn are(number: u64) -> String {
    if number == 1 { "1 submission is".to_owned() } else { format!("{number} submissions are") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read() {
        let hours = |text: &str| age(text).unwrap().as_secs() / 3600;
        assert_eq!((hours("12h"), hours("90d"), hours("2w"), hours("120m")), (12, 2160, 336, 2));
        for wrong in ["", "d", "90", "90 days", "-1d", "1.5d", "90x", "9é"] {
            assert!(age(wrong).unwrap_err().contains("for example 90d"), "{wrong}");
        }
    }
}

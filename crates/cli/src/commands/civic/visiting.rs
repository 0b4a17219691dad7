//! What all commands that visit councils have in common: their flags, the client, signals, progress and exit codes.

use super::{
    days::{day, in_order},
    fetching::Fetching,
};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    App,
    councils::{
        city_key::{self, Target},
        client::Client,
        conductor::{Conductor, SyncObserver, SyncResult, WindowRule},
        records::SyncStatus,
        visits,
    },
};
use bindery_core::Name;
use jiff::civil::Date;
use std::{fs, sync::Arc, time::Duration};

/// What a site says of itself can be long.
const LONGEST_REASON: usize = 300;

/// Which days are asked about, and through what.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Flags {
    /// Ask about meetings from this day on (default: 14 days ago)
    #[arg(long, value_name = "DAY", value_parser = day)]
    from: Option<Date>,

    /// Ask about meetings up to this day (default: 45 days from now)
    #[arg(long, value_name = "DAY", value_parser = day)]
    to: Option<Date>,

    #[command(flatten)]
    pub(super) fetching: Fetching,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl Flags {
    fn window(&self) -> anyhow::Result<WindowRule> {
        in_order(self.from, self.to)?;
        Ok(WindowRule { from: self.from, to: self.to, ..WindowRule::default() })
    }

    /// Visits under this name, and tells of each city as it ends.
    pub(super) fn conductor(&self, app: &App, name: Name, told: Told) -> anyhow::Result<Conductor> {
        self.conductor_with(app, name, told, Arc::new(self.fetching.client()?))
    }

    /// The same with a client that others use, too.
    pub(super) fn conductor_with(
        &self,
        app: &App,
        name: Name,
        told: Told,
        client: Arc<Client>,
    ) -> anyhow::Result<Conductor> {
        let window = self.window()?;
        Ok(visits::conductor(app, client, window, Arc::new(Progress(told)), name))
    }
}

/// How each city is told of as it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// A remark for people.
    Remarks,
    /// A line of JSON, for programs.
    JsonLines,
}

#[derive(Debug)]
struct Progress(Told);

impl SyncObserver for Progress {
    fn city_ended(&self, _: &str, result: &SyncResult) {
        match self.0 {
            Told::Remarks => output::note(sentence(result)),
            // Whoever read our output may have gone away; the visits go on.
            Told::JsonLines => drop(output::json_line(result)),
        }
    }
}

/// One line about a city.
fn sentence(result: &SyncResult) -> String {
    let took = output::duration(Duration::from_secs_f64(result.duration_seconds.max(0.0)));
    let found = output::count(result.meetings_found, "meeting");
    let said = match &result.error_message {
        Some(error) => error.clone(),
        None => format!("{found}, {} changed, {took}", result.meetings_changed),
    };
    let mut line = format!("{}  {}: {said}", result.city_key, result.status.as_str());
    for alarm in &result.alarms {
        line.extend(["\n  alarm: ", alarm]);
    }
    line
}

/// The entries of a list: `paloaltoCA,CA`, or `@file`.
pub(super) fn targets(list: &str) -> anyhow::Result<Vec<Target>> {
    let (text, from) = match city_key::file_of_list(list) {
        None => (list.to_owned(), "the list".to_owned()),
        Some(path) => {
            let text = fs::read_to_string(path).map_err(|error| {
                Failure::usage(format!("{path} cannot be read: {error}"))
                    .hint("a list is either names with commas, or @FILE with a name on each line")
            })?;
            (text, path.to_owned())
        }
    };
    Ok(city_key::parse_targets(&text, &from).map_err(Failure::usage)?)
}

/// A table of what visits came to, or JSON.
pub(super) fn show(results: &[SyncResult], json: bool) -> anyhow::Result<()> {
    if json {
        return output::json(&results);
    }
    let header = ["CITY", "STATUS", "FOUND#", "STORED#", "SKIPPED#", "ITEMS#", "CHANGED#", "WHY"];
    let rows = results.iter().map(|result| {
        [
            result.city_key.clone(),
            result.status.as_str().to_owned(),
            result.meetings_found.to_string(),
            result.meetings_processed.to_string(),
            result.meetings_skipped.to_string(),
            result.items_stored.to_string(),
            result.meetings_changed.to_string(),
            output::short(result.error_message.as_deref().unwrap_or_default(), LONGEST_REASON),
        ]
    });
    Ok(output::fitted_table(&header, rows)?)
}

/// All went well, some of it, or nothing.
pub(super) fn exit_of(results: &[SyncResult]) -> Exit {
    let count = |status| results.iter().filter(|result| result.status == status).count();
    let (completed, stopped) = (count(SyncStatus::Completed), count(SyncStatus::Pending));
    if completed == results.len() {
        Exit::Ok
    } else if stopped > 0 {
        Exit::Interrupted
    } else if completed > 0 {
        Exit::Partial
    } else {
        Exit::Unexpected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_says_how_much_went_well() {
        use SyncStatus::{Completed, Failed, Pending, Skipped};
        let of = |statuses: &[SyncStatus]| {
            let result = |status: &SyncStatus| SyncResult { status: *status, ..SyncResult::default() };
            exit_of(&statuses.iter().map(result).collect::<Vec<_>>())
        };
        assert_eq!((of(&[]), of(&[Completed])), (Exit::Ok, Exit::Ok));
        assert_eq!((of(&[Completed, Failed]), of(&[Skipped, Completed])), (Exit::Partial, Exit::Partial));
        assert_eq!((of(&[Failed, Skipped]), of(&[Completed, Pending])), (Exit::Unexpected, Exit::Interrupted));
    }
}

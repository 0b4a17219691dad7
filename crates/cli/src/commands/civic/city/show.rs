//! `bindery civic city show`: a city, how visits to it went, and when the next one is.

use super::{
    super::shown::without_secrets,
    existing, find_city,
    list::{health_word, next_visit},
};
use crate::{exit::Exit, output};
use bindery_app::{
    Settings,
    councils::{
        client::address,
        records::{CityRequest, Jurisdiction, Meeting, MeetingFilter, SkippedMeeting, SyncRun, SyncRunFilter},
    },
};
use bindery_core::{Clock as _, Timestamp, time::SystemClock};
use serde::Serialize;

/// Show a city: where it is found, how visits went, when the next one is
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic city show paloaltoCA
  bindery civic city show paloaltoCA --runs 20
  bindery civic city show paloaltoCA --json | jq .health.last_error")]
pub(super) struct Args {
    /// Its key, e.g. paloaltoCA
    #[arg(value_name = "BANANA")]
    city_key: String,

    /// How many visits to show
    #[arg(long, value_name = "N", default_value_t = 5)]
    runs: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    city: Jurisdiction,
    meetings: Meetings,
    /// The newest first.
    runs: Vec<SyncRun>,
    request: Option<CityRequest>,
    /// Meetings that the site names and that are not taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<SkippedMeeting>,
}

/// How many meetings are known.
#[derive(Debug, Serialize)]
struct Meetings {
    total: usize,
    upcoming: usize,
    next_at: Option<Timestamp>,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = existing(settings).await?;
    let city = find_city(&app, &args.city_key).await?;
    let civic = app.civic();
    let city_key = Some(args.city_key.clone());
    let meetings = civic.meetings(MeetingFilter { city_key: city_key.clone(), ..MeetingFilter::default() }).await?;
    let runs = civic.sync_runs(SyncRunFilter { city_key, limit: Some(args.runs), ..SyncRunFilter::default() }).await?;
    let request = civic.city_requests(None).await?.into_iter().find(|request| request.city_key == args.city_key);
    let skipped = civic.skipped_meetings(&args.city_key).await?;
    let shown = Shown { city, meetings: count(&meetings, SystemClock.now()), runs, request, skipped };
    if args.json {
        output::json(&without_secrets(&shown))?;
    } else {
        show(&shown)?;
    }
    Ok(Exit::Ok)
}

fn count(meetings: &[Meeting], now: Timestamp) -> Meetings {
    let upcoming: Vec<Timestamp> =
        meetings.iter().filter_map(|meeting| meeting.starts_at).filter(|start| *start >= now).collect();
    Meetings { total: meetings.len(), upcoming: upcoming.len(), next_at: upcoming.iter().min().copied() }
}

fn show(shown: &Shown) -> anyhow::Result<()> {
    let Shown { city, meetings, runs, request, skipped } = shown;
    let mut rows: Vec<[String; 2]> = Vec::new();
    let mut row = |what: &str, value: String| rows.push([what.to_owned(), value]);
    row("name", format!("{}, {} ({})", city.name, city.state, city.kind));
    row("found at", format!("{} {}", city.vendor, city.slug));
    city.extra_vendors.iter().for_each(|place| row("and at", format!("{} {}", place.vendor, place.slug)));
    for (key, value) in &city.settings {
        // Whoever looks over a shoulder learns no token.
        row(
            "setting",
            if address::is_secret(key) {
                format!("{key} (hidden)")
            } else {
                format!("{key} = {}", address::redact(&value.to_string()))
            },
        );
    }
    city.tz.iter().for_each(|zone| row("time zone", zone.clone()));
    city.county.iter().for_each(|county| row("county", county.clone()));
    city.population.iter().for_each(|people| row("population", people.to_string()));
    row("status", city.status.clone());
    row("health", health_word(city));
    city.health.last_error.iter().for_each(|error| row("last error", error.clone()));
    city.health.last_attempt_at.iter().for_each(|at| row("last visit", output::ago(*at)));
    city.health.last_success_at.iter().for_each(|at| row("last success", output::ago(*at)));
    row("next visit", next_visit(city));
    row("meetings", format!("{}, {} upcoming", meetings.total, meetings.upcoming));
    if let Some(request) = request {
        let asked = output::count(request.request_count, "time");
        row("asked for", format!("{asked}, {}", request.status.as_str()));
    }
    for meeting in skipped {
        row("not taken", format!("{} ({})", meeting.title, meeting.reason));
    }
    output::table(&[&city.city_key, ""], rows)?;
    if runs.is_empty() {
        return Ok(());
    }
    output::line("")?;
    let visits = runs.iter().map(|run| {
        [
            run.started_at.map(output::ago).unwrap_or_default(),
            run.status.as_str().to_owned(),
            run.meetings_found.to_string(),
            run.meetings_processed.to_string(),
            run.items_stored.to_string(),
            format!("{:.1} s", run.duration_seconds),
            output::short(run.error_message.as_deref().unwrap_or_default(), 100),
        ]
    });
    output::table(&["VISIT", "STATUS", "FOUND#", "TAKEN#", "ITEMS#", "TOOK#", "ERROR"], visits)?;
    for alarm in runs.iter().flat_map(|run| &run.alarms) {
        let url = alarm.url.as_deref().map(|url| format!(" ({url})")).unwrap_or_default();
        output::line(format!("alarm {}: {}{url}", alarm.kind, alarm.message))?;
    }
    Ok(())
}

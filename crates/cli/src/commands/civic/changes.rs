//! `bindery civic changes`: what has happened to a city's meetings.

use super::{days::day, finding, shown};
use crate::{exit::Exit, output};
use bindery_app::{
    Settings,
    councils::{
        export, history,
        records::{ChangeFilter, Meeting, MeetingChange, MeetingFilter},
    },
};
use jiff::civil::Date;
use serde_json::json;
use std::collections::HashMap;

/// Show what has happened to a city's meetings, the newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic changes paloaltoCA
  bindery civic changes paloaltoCA --since 2026-03-01 --limit 500
  bindery civic changes paloaltoCA --json | jq '.[] | select(.kind == \"cancelled\")'")]
pub(super) struct Args {
    /// The city, e.g. paloaltoCA
    #[arg(value_name = "BANANA")]
    city_key: String,

    /// Only what was seen on this day or later
    #[arg(long, value_name = "DAY", value_parser = day)]
    since: Option<Date>,

    /// At most so many
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let city = finding::city(&app, &args.city_key).await?;
    let civic = app.civic();
    let (since, _) = export::between(&city, args.since, None);
    let limit = usize::try_from(args.limit).ok();
    let filter = ChangeFilter { city_key: Some(city.city_key.clone()), since, limit, ..ChangeFilter::default() };
    let changes = civic.meeting_changes(filter).await?;
    let mut ids: Vec<String> = changes.iter().map(|change| change.meeting_id.clone()).collect();
    ids.sort_unstable();
    ids.dedup();
    let of_ids = MeetingFilter { ids: ids.clone(), with_removed: true, ..MeetingFilter::default() };
    // An empty list of ids would mean all.
    let meetings = if ids.is_empty() { Vec::new() } else { civic.meetings(of_ids).await? };
    let meetings: HashMap<&str, &Meeting> = meetings.iter().map(|meeting| (meeting.id.as_str(), meeting)).collect();
    let items: HashMap<String, String> =
        civic.agendas(&ids).await?.into_iter().map(|item| (item.id, item.title)).collect();
    let item = |change: &MeetingChange| change.item_id.as_ref().and_then(|id| items.get(id)).map(String::as_str);
    if args.json {
        let told = changes.iter().map(|change| {
            let mut told = json!(change);
            told["meeting_title"] = json!(meetings.get(change.meeting_id.as_str()).map(|meeting| &meeting.title));
            told["item_title"] = json!(item(change));
            told["headline"] = json!(history::headline(change.kind));
            told["sentence"] = json!(history::sentence(change, item(change)));
            told
        });
        output::json(&told.collect::<Vec<_>>())?;
        return Ok(Exit::Ok);
    }
    if changes.is_empty() {
        output::note(format!("nothing is known to have happened in {}", city.city_key));
        return Ok(Exit::Ok);
    }
    let room = shown::room(68, 16, 36);
    let rows = changes.iter().map(|change| {
        let meeting = meetings.get(change.meeting_id.as_str());
        let title = meeting.map_or(change.meeting_id.as_str(), |meeting| meeting.title.as_str());
        let day = meeting.map(|meeting| shown::day_and_time(meeting).0).unwrap_or_default();
        let what = change_line(change, item(change));
        [shown::moment(change.at, city.tz.as_deref()), day, output::short(title, room), what]
    });
    output::fitted_table(&["SEEN", "OF", "MEETING", "CHANGE"], rows)?;
    if limit == Some(changes.len()) {
        output::note(format!("these are the newest {}; --limit shows more", changes.len()));
    }
    Ok(Exit::Ok)
}

/// What happened, and from what to what.
pub(super) fn change_line(change: &MeetingChange, item: Option<&str>) -> String {
    let (what, said) = (history::headline(change.kind), history::sentence(change, item));
    if said.is_empty() { what.to_owned() } else { format!("{what}: {}", output::short(&said, 160)) }
}

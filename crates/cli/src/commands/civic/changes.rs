//! `bindery civic changes`: what has happened to a city's meetings.

use super::{days::day, shown};
use crate::{exit::Exit, output};
use bindery_app::{
    Settings,
    councils::{
        export, history,
        records::{ChangeFilter, MeetingChange},
    },
};
use jiff::civil::Date;

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
    let city = app.find_city(&args.city_key).await?;
    let (since, _) = export::between(&city, args.since, None);
    let limit = usize::try_from(args.limit).ok();
    let filter = ChangeFilter { city_key: Some(city.city_key.clone()), since, limit, ..ChangeFilter::default() };
    let changes = app.view_changes(filter).await?;
    if args.json {
        output::json(&changes)?;
        return Ok(Exit::Ok);
    }
    if changes.is_empty() {
        output::note(format!("nothing is known to have happened in {}", city.city_key));
        return Ok(Exit::Ok);
    }
    let room = shown::room(68, 16, 36);
    let rows = changes.iter().map(|view| {
        let title = view.meeting_title.as_deref().unwrap_or(&view.change.meeting_id);
        let day = view.meeting.as_ref().map(|meeting| shown::day_and_time(meeting).0).unwrap_or_default();
        let what = in_words(view.headline, &view.sentence);
        [shown::moment(view.change.at, city.tz.as_deref()), day, output::short(title, room), what]
    });
    output::fitted_table(&["SEEN", "OF", "MEETING", "CHANGE"], rows)?;
    if limit == Some(changes.len()) {
        output::note(format!("these are the newest {}; --limit shows more", changes.len()));
    }
    Ok(Exit::Ok)
}

/// What happened, and from what to what.
pub(super) fn change_line(change: &MeetingChange, item: Option<&str>) -> String {
    in_words(history::headline(change.kind), &history::sentence(change, item))
}

fn in_words(headline: &str, sentence: &str) -> String {
    if sentence.is_empty() { headline.to_owned() } else { format!("{headline}: {}", output::short(sentence, 160)) }
}

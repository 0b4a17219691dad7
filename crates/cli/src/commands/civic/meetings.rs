//! `bindery civic meetings`: the meetings of a city.

use super::{days::Days, shown};
use crate::{exit::Exit, output};
use bindery_app::{
    Settings,
    councils::{records::MeetingFilter, views::ListedMeeting},
};

/// List the meetings of a city
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic meetings paloaltoCA
  bindery civic meetings paloaltoCA --from 2026-03-01 --to 2026-03-31
  bindery civic meetings paloaltoCA --status cancelled --json")]
pub(super) struct Args {
    /// The city, e.g. paloaltoCA
    #[arg(value_name = "BANANA")]
    city_key: String,

    #[command(flatten)]
    days: Days,

    /// Only those: cancelled, postponed, deferred, rescheduled or revised
    #[arg(long)]
    status: Option<String>,

    /// Also those that the vendor does not list any more
    #[arg(long)]
    removed: bool,

    /// At most so many, the latest
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    args.days.check()?;
    let app = settings.existing().await?;
    let city = app.find_city(&args.city_key).await?;
    let (from, until) = args.days.between(&city);
    let most = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let filter = MeetingFilter {
        city_key: Some(city.city_key.clone()),
        from,
        until,
        status: args.status,
        with_removed: args.removed,
        ..MeetingFilter::default()
    };
    let (listed, are_more) = app.list_meetings(filter, most).await?;
    if args.json {
        output::json(&listed)?;
        return Ok(Exit::Ok);
    }
    if listed.is_empty() {
        output::note(format!("no meeting of {} is known here", city.city_key));
        return Ok(Exit::Ok);
    }
    let room = shown::room(64, 18, 56);
    output::table(
        &["DAY", "TIME", "STATUS", "MEETING", "ITEMS#", "HAS", "ID"],
        listed.iter().map(|one| row(one, room)),
    )?;
    if are_more {
        output::note(format!("these are the latest {most}; --limit or --from and --to show others"));
    }
    output::note("A agenda, P packet, M minutes, V recording; `bindery civic show ID` shows one");
    Ok(Exit::Ok)
}

fn row(listed: &ListedMeeting, room: usize) -> [String; 7] {
    let meeting = &listed.meeting;
    let (day, time) = shown::day_and_time(meeting);
    let has = [
        ('A', &meeting.agenda_url),
        ('P', &meeting.packet_url),
        ('M', &meeting.minutes_url),
        ('V', &meeting.video_url),
    ];
    let has: String = has.into_iter().map(|(letter, url)| if url.is_some() { letter } else { '·' }).collect();
    [
        day,
        time,
        shown::status(meeting),
        output::short(&meeting.title, room),
        listed.item_count.to_string(),
        has,
        meeting.id.clone(),
    ]
}

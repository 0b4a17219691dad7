//! `bindery civic parse`: what a kept page of a vendor says, without a store and without the network.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::councils::vendor::{
    self, Adapter, FetchedPage, PageReading, Site, VendorMeeting, Window, model::Start,
};
use jiff::{civil::Date, tz::TimeZone};
use serde_json::Map;
use std::{borrow::Cow, fs, path::PathBuf};

/// Show what a kept page of a vendor says
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic parse legistar events.json
  bindery civic parse iqm2 calendar.html --json | jq '.meetings[] | select(.status == \"cancelled\")'
  bindery civic parse granicus agenda.html --items
The page may be a listing, an agenda or an item's own page; which one it is, is told by what is on it.")]
pub(super) struct Args {
    /// The vendor, e.g. legistar
    vendor: String,

    /// The page, as it was saved: HTML, JSON or XML
    file: PathBuf,

    /// The vendor's key of the jurisdiction, which addresses are made with
    #[arg(long, default_value = "example")]
    slug: String,

    /// The zone of the jurisdiction, for vendors that give instants instead of times on the wall
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    zone: String,

    /// What the page is for, when it cannot be told, in the vendor's adapter's words
    #[arg(long, value_name = "PURPOSE")]
    purpose: Option<String>,

    /// List the items of agendas, too
    #[arg(long)]
    items: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let adapter = known_adapter(&args.vendor)?;
    let zone = TimeZone::get(&args.zone).map_err(|_| {
        Failure::usage(format!("there is no time zone {:?}", args.zone)).hint("zones are named like America/Chicago")
    })?;
    let file = args.file.display().to_string();
    let bytes = fs::read(&args.file).map_err(|error| Failure::usage(format!("cannot read {file}: {error}")))?;
    let mut page =
        FetchedPage { url: file.clone(), content_type: None, bytes, purpose: Cow::Borrowed(""), about: Vec::new() };
    page.purpose = match &args.purpose {
        Some(purpose) => Cow::Owned(purpose.clone()),
        None => Cow::Borrowed(adapter.recognise(&page).ok_or_else(|| unrecognised(adapter, &file, &page))?),
    };
    let site = Site { slug: args.slug.clone(), zone, settings: Map::new() };
    let window = Window { from: Date::MIN, to: Date::MAX };
    let reading = adapter.read(&site, &window, &page).map_err(|fault| Failure::usage(fault.to_string()))?;
    if args.json {
        output::json(&reading)?;
    } else {
        show(&reading, args.items)?;
    }
    Ok(Exit::Ok)
}

pub(super) fn known_adapter(name: &str) -> Result<&'static dyn Adapter, Failure> {
    vendor::adapter(name).ok_or_else(|| {
        let known: Vec<_> = vendor::adapters().iter().map(|adapter| adapter.name()).collect();
        Failure::usage(format!("there is no vendor {name:?}")).hint(format!("known are {}", known.join(", ")))
    })
}

fn unrecognised(adapter: &dyn Adapter, file: &str, page: &FetchedPage) -> Failure {
    let others: Vec<_> = vendor::adapters()
        .iter()
        .filter(|other| other.name() != adapter.name() && other.recognise(page).is_some())
        .map(|other| other.name())
        .collect();
    let failure = Failure::usage(format!("{file} is not a page of {} that is known", adapter.name()));
    if others.is_empty() { failure } else { failure.hint(format!("it looks like one of {}", others.join(" or "))) }
}

fn show(reading: &PageReading, with_items: bool) -> anyhow::Result<()> {
    let row = |meeting: &VendorMeeting| {
        [
            meeting.vendor_id.clone(),
            meeting.start.as_ref().map(when).unwrap_or_default(),
            meeting.status.map(status).unwrap_or_default(),
            output::short(meeting.body.as_deref().unwrap_or_default(), 40),
            output::short(meeting.title.as_deref().unwrap_or_default(), 50),
            meeting.items.len().to_string(),
        ]
    };
    output::table(&["ID", "BEGINS", "STATUS", "BODY", "TITLE", "ITEMS#"], reading.meetings.iter().map(row))?;
    if with_items {
        let items = reading.meetings.iter().flat_map(|meeting| &meeting.items).map(|item| {
            [
                item.agenda_number.clone().unwrap_or_default(),
                item.matter_file.clone().unwrap_or_default(),
                output::short(&item.title, 80),
                item.attachments.len().to_string(),
            ]
        });
        output::table(&["NUMBER", "FILE", "ITEM", "ATTACHMENTS#"], items)?;
    }
    for doubt in &reading.doubts {
        output::note(doubt);
    }
    let pages = reading.follow.len() as u64;
    output::note(format!(
        "{}; a sync would go on to {}",
        output::count(reading.meetings.len() as u64, "meeting"),
        output::count(pages, "page"),
    ));
    Ok(())
}

fn when(start: &Start) -> String {
    match start.time {
        Some(time) => format!("{} {}", start.date, time.strftime("%H:%M")),
        None => start.date.to_string(),
    }
}

fn status(status: vendor::model::MeetingStatus) -> String {
    format!("{status:?}").to_lowercase()
}

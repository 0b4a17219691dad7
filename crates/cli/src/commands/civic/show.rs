//! `bindery civic show`: a meeting with its agenda, summaries, documents, votes and history; or one item.

use super::{changes, shown, summaries, votes};
use crate::{exit::Exit, output};
use bindery_app::{
    App, Settings,
    councils::{
        ids,
        records::{AgendaItem, Meeting, VoteEvent},
        views::{ItemView, MeetingView, titles_of},
    },
};

/// Show a meeting: its agenda, what its items are about, documents, votes, and what has changed; or one item
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic show paloaltoCA_3c961ffe17f6
  bindery civic show paloaltoCA_3c961ffe17f6_17864                 one item
  bindery civic show paloaltoCA_3c961ffe17f6 --json | jq '.items[].summary'
An item that has changed since it was summarised is shown as it was, with what it became.")]
pub(super) struct Args {
    /// The id of the meeting or the item
    #[arg(value_name = "MEETING|ITEM")]
    id: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    if ids::is_item_id(&args.id) {
        return item(&app, &args.id, args.json).await;
    }
    let meeting = app.find_meeting(&args.id).await?;
    let view = app.view_meeting(meeting).await?;
    if args.json {
        output::json(&view)?;
        return Ok(Exit::Ok);
    }
    let MeetingView { meeting, items, item_revisions: revisions, votes: voted, history } = view;
    head(&meeting)?;
    summaries::participation(meeting.participation.as_ref())?;
    agenda(&items, &voted)?;
    let zone = meeting.tz.as_deref();
    for item in items.iter().filter(|item| item.summary.is_some() || item.reading_error.is_some()) {
        output::line("")?;
        summaries::item(item, &revisions, zone)?;
    }
    if !meeting.documents.is_empty() {
        output::line("")?;
        let rows = meeting.documents.iter().map(|one| [output::short(&one.name, 50), one.url.clone()]);
        output::table(&["DOCUMENT", "ADDRESS"], rows)?;
    }
    let titles = titles_of(&items);
    for vote in &voted {
        output::line("")?;
        votes::show(vote, vote.item_id.as_deref().and_then(|id| titles.get(id).copied()))?;
    }
    output::line("")?;
    let rows = history.iter().map(|change| {
        let item = change.item_id.as_deref().and_then(|id| titles.get(id).copied());
        [shown::moment(change.at, zone), changes::change_line(change, item)]
    });
    output::fitted_table(&["SEEN", "CHANGE"], rows)?;
    Ok(Exit::Ok)
}

/// One item, with its meeting and its votes.
async fn item(app: &App, id: &str, json: bool) -> anyhow::Result<Exit> {
    let view = app.view_item(id).await?;
    if json {
        output::json(&view)?;
        return Ok(Exit::Ok);
    }
    let ItemView { item, meeting, item_revisions: revisions, votes: voted } = view;
    summaries::item(&item, &revisions, meeting.tz.as_deref())?;
    let (day, time) = shown::begins(&meeting);
    shown::fact("meeting", Some(&format!("{}, {day} {time} ({})", meeting.title, meeting.id)))?;
    if !item.attachments.is_empty() {
        output::line("")?;
        let rows = item.attachments.iter().map(|one| [output::short(&one.name, 50), one.url.clone()]);
        output::table(&["DOCUMENT", "ADDRESS"], rows)?;
    }
    for vote in &voted {
        output::line("")?;
        votes::show(vote, None)?;
    }
    Ok(Exit::Ok)
}

fn head(meeting: &Meeting) -> anyhow::Result<()> {
    let (day, time) = shown::begins(meeting);
    output::line(output::short(&meeting.title, 110))?;
    let zone = meeting.tz.as_deref().filter(|_| !time.is_empty()).map(|zone| format!("({zone})"));
    let status = shown::status(meeting).to_uppercase();
    let when = [day, time, zone.unwrap_or_default(), status].into_iter().filter(|part| !part.is_empty());
    shown::fact("when", Some(&when.collect::<Vec<_>>().join(" ")))?;
    shown::fact("note", meeting.start_note.as_deref())?;
    shown::fact("body", meeting.body.as_deref())?;
    shown::fact("where", meeting.location.as_deref())?;
    shown::fact("agenda", meeting.agenda_url.as_deref())?;
    shown::fact("packet", meeting.packet_url.as_deref())?;
    shown::fact("minutes", meeting.minutes_url.as_deref())?;
    shown::fact("recording", meeting.video_url.as_deref())?;
    shown::fact("topics", Some(&meeting.topics.join(", ")))?;
    shown::fact("not read", meeting.processing_error.as_deref())?;
    if let Some(summary) = &meeting.summary {
        summaries::text(summary)?;
    }
    shown::fact("id", Some(&meeting.id))?;
    Ok(())
}

/// The agenda below its headings. What was taken off it stands at the end.
fn agenda(items: &[AgendaItem], voted: &[VoteEvent]) -> anyhow::Result<()> {
    if items.is_empty() {
        output::note("no agenda of it is known yet");
        return Ok(());
    }
    output::line("")?;
    let room = shown::room(64, 26, 60);
    let mut rows: Vec<[String; 6]> = Vec::new();
    let mut section = None;
    let (removed, listed): (Vec<&AgendaItem>, Vec<&AgendaItem>) =
        items.iter().partition(|item| item.removed_at.is_some());
    for item in listed {
        if item.section != section {
            section.clone_from(&item.section);
            rows.push(heading(section.as_deref().unwrap_or("—"), room));
        }
        rows.push(row(item, voted, room));
    }
    if !removed.is_empty() {
        rows.push(heading("taken off the agenda", room));
        rows.extend(removed.into_iter().map(|item| row(item, voted, room)));
    }
    output::table(&["NUMBER", "ITEM", "FILE", "DOCS#", "READ", "RESULT"], rows)?;
    Ok(())
}

fn heading(text: &str, room: usize) -> [String; 6] {
    let blank = String::new;
    [blank(), output::short(&text.to_uppercase(), room), blank(), blank(), blank(), blank()]
}

fn row(item: &AgendaItem, voted: &[VoteEvent], room: usize) -> [String; 6] {
    let last = voted.iter().rfind(|vote| vote.item_id.as_ref() == Some(&item.id));
    let passed = item.passed.map(|passed| if passed { "passed" } else { "failed" });
    let result = match last {
        Some(vote) => format!("{} {}", vote.result.as_deref().unwrap_or("voted"), shown::tally(&vote.tally)),
        None => passed.or(item.action.as_deref()).unwrap_or_default().to_owned(),
    };
    let read = match (&item.filter_reason, &item.summary) {
        (Some(reason), _) => reason.clone(),
        (None, Some(_)) if item.revisions > 0 => "yes, changed".to_owned(),
        (None, Some(_)) => "yes".to_owned(),
        (None, None) => String::new(),
    };
    [
        output::short(item.agenda_number.as_deref().unwrap_or_default(), 8),
        output::short(&item.title, room),
        output::short(item.matter_file.as_deref().unwrap_or_default(), 14),
        item.attachments.len().to_string(),
        read,
        output::short(&result, 24),
    ]
}

//! A table for spreadsheets: a row for each item of each agenda, with its meeting in front. A meeting without an agenda
//! is a row by itself.

use super::{Begins, Shape, Whole};
use crate::records::{AgendaItem, Meeting, VoteEvent};
use bindery_core::cell::harmless;
use std::io::{self, Write};

/// Stable: new columns come last.
pub(super) const COLUMNS: [&str; 34] = [
    "meeting_id",
    "date",
    "time",
    "time_zone",
    "status",
    "body",
    "meeting_title",
    "location",
    "agenda_url",
    "packet_url",
    "minutes_url",
    "video_url",
    "meeting_removed_at",
    "item_id",
    "sequence",
    "agenda_number",
    "section",
    "is_consent",
    "item_title",
    "matter_id",
    "matter_file",
    "matter_type",
    "sponsors",
    "action",
    "mover",
    "seconder",
    "result",
    "yes",
    "no",
    "filter_reason",
    "attachments",
    "topics",
    "summary",
    "item_removed_at",
];

pub(super) struct Sheet;

impl Shape for Sheet {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        row(out, COLUMNS.map(str::to_owned).into())
    }

    fn meeting(&mut self, out: &mut dyn Write, whole: &Whole) -> io::Result<()> {
        let of_meeting = meeting_cells(&whole.meeting);
        if whole.items.is_empty() {
            let blanks = COLUMNS.len() - of_meeting.len();
            return row(out, of_meeting.into_iter().chain(vec![String::new(); blanks]).collect());
        }
        for item in &whole.items {
            // Of several motions the last one decides.
            let vote = whole.votes.iter().rfind(|vote| vote.item_id.as_ref() == Some(&item.id));
            row(out, of_meeting.iter().cloned().chain(item_cells(item, vote)).collect())?;
        }
        Ok(())
    }

    fn end(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

fn row(out: &mut dyn Write, cells: Vec<String>) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
    writer.write_record(cells.into_iter().map(harmless))?;
    writer.flush()
}

fn text(value: Option<&str>) -> String {
    value.unwrap_or_default().to_owned()
}

fn meeting_cells(meeting: &Meeting) -> Vec<String> {
    let (date, time) = Begins::from_meeting(meeting).map(|begins| begins.day_and_hour()).unwrap_or_default();
    vec![
        meeting.id.clone(),
        date,
        time,
        text(meeting.tz.as_deref()),
        text(meeting.status.as_deref()),
        text(meeting.body.as_deref()),
        meeting.title.clone(),
        text(meeting.location.as_deref()),
        text(meeting.agenda_url.as_deref()),
        text(meeting.packet_url.as_deref()),
        text(meeting.minutes_url.as_deref()),
        text(meeting.video_url.as_deref()),
        meeting.removed_at.map(|at| at.to_string()).unwrap_or_default(),
    ]
}

fn item_cells(item: &AgendaItem, vote: Option<&VoteEvent>) -> Vec<String> {
    let passed = item.passed.map(|passed| if passed { "passed" } else { "failed" });
    let result = vote.and_then(|vote| vote.result.as_deref()).or(passed).unwrap_or_default();
    let count = |key: &str| vote.and_then(|vote| vote.tally.get(key)).map(i64::to_string).unwrap_or_default();
    vec![
        item.id.clone(),
        item.sequence.to_string(),
        text(item.agenda_number.as_deref()),
        text(item.section.as_deref()),
        item.is_consent.map(|is| if is { "yes" } else { "no" }).unwrap_or_default().to_owned(),
        item.title.clone(),
        text(item.matter_id.as_deref()),
        text(item.matter_file.as_deref()),
        text(item.matter_type.as_deref()),
        item.sponsors.join("; "),
        text(item.action.as_deref()),
        text(item.mover.as_deref()),
        text(item.seconder.as_deref()),
        result.to_owned(),
        count("yes"),
        count("no"),
        text(item.filter_reason.as_deref()),
        item.attachments.iter().map(|document| document.url.as_str()).collect::<Vec<_>>().join(" "),
        item.topics.join("; "),
        text(item.summary.as_deref()),
        item.removed_at.map(|at| at.to_string()).unwrap_or_default(),
    ]
}

//! Everything that is stored of a city's meetings, in the names of the store.

use super::{ExportRequest, Shape, Whole};
use crate::records::{AgendaItem, ItemRevision, Matter, Meeting, MeetingChange, VoteEvent};
use serde::Serialize;
use serde_json::json;
use std::io::{self, Write};

/// Grows when a field changes its meaning or goes away; new ones may come at any time.
const VERSION: u32 = 1;

pub(super) struct Json {
    head: serde_json::Value,
    meetings: usize,
    matters: usize,
}

#[derive(Serialize)]
struct WholeMeeting<'a> {
    #[serde(flatten)]
    meeting: &'a Meeting,
    items: &'a [AgendaItem],
    item_revisions: &'a [ItemRevision],
    votes: &'a [VoteEvent],
    history: &'a [MeetingChange],
}

impl Json {
    pub(super) fn new(request: &ExportRequest) -> Self {
        let city = &request.city;
        let head = json!({
            "banana": city.city_key, "name": city.name, "state": city.state, "kind": city.kind, "tz": city.tz,
            "vendor": city.vendor, "slug": city.slug, "participation": city.participation,
        });
        let head = json!({"export_version": VERSION, "city": head, "from": request.from, "to": request.to});
        Self { head, meetings: 0, matters: 0 }
    }

    /// One object on one line, so that differences between two exports are differences between lines.
    fn line(out: &mut dyn Write, count: &mut usize, value: &impl Serialize) -> io::Result<()> {
        let comma = if *count == 0 { "" } else { "," };
        *count += 1;
        write!(out, "{comma}\n{}", serde_json::to_string(value)?)
    }

    fn open_matters(out: &mut dyn Write) -> io::Result<()> {
        write!(out, "\n],\"matters\":[")
    }
}

impl Shape for Json {
    fn takes_everything(&self) -> bool {
        true
    }

    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let head = self.head.to_string();
        write!(out, "{},\"meetings\":[", head.strip_suffix('}').unwrap_or(&head))
    }

    fn meeting(&mut self, out: &mut dyn Write, whole: &Whole) -> io::Result<()> {
        let Whole { meeting, items, votes, history, revisions } = whole;
        let row = WholeMeeting { meeting, items, item_revisions: revisions, votes, history };
        Self::line(out, &mut self.meetings, &row)
    }

    fn matter(&mut self, out: &mut dyn Write, matter: &Matter) -> io::Result<()> {
        if self.matters == 0 {
            Self::open_matters(out)?;
        }
        Self::line(out, &mut self.matters, matter)
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.matters == 0 {
            Self::open_matters(out)?;
        }
        out.write_all(b"\n]}\n")
    }
}

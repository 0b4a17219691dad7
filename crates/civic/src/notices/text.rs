//! A digest as text, 76 columns wide.

use super::{
    digest::{AlertLine, ChangeLine, CityDigest, Digest, ItemDigest, MatterLine, MeetingDigest, MeetingLine},
    markdown::{self, Block},
};
use crate::prose::summary::EXTRACTED_LABEL;

const WIDTH: usize = 76;

pub fn digest(digest: &Digest) -> String {
    let mut out = Lines::default();
    out.wrapped("", &digest.title);
    out.line(&"=".repeat(digest.title.chars().count().min(WIDTH)));
    out.wrapped("", &format!("Meetings from {} to {}", digest.from, digest.until));
    if let Some(caution) = digest.caution() {
        out.wrapped("", caution);
    }
    for city in &digest.cities {
        self::city(&mut out, city, digest.cities.len() > 1);
    }
    if digest.is_empty() {
        out.blank();
        out.line("There is nothing new.");
    }
    if let Some(footer) = footer(digest.alert.as_ref()) {
        out.blank();
        out.line("-- ");
        out.wrapped("", &footer);
    }
    out.0
}

/// Why somebody gets it, and how they get no more.
pub(super) fn footer(alert: Option<&AlertLine>) -> Option<String> {
    let alert = alert?;
    Some(if alert.id.starts_with("watches_") {
        format!("You get this because of what {} watches. `bindery civic watch list` shows it.", alert.owner)
    } else {
        format!(
            "You get this because of the alert “{}” of {}. `bindery civic alert remove {}` ends it.",
            alert.name, alert.owner, alert.id
        )
    })
}

/// The paragraph that extractive summaries begin with; it is said in other words here.
pub(super) fn is_label(block: &Block) -> bool {
    block.point.is_none()
        && block.spans.iter().all(|span| span.italic)
        && block.plain() == EXTRACTED_LABEL.trim_matches('*')
}

/// What of an agenda is not shown, a sentence each.
pub(super) fn left_out(meeting: &MeetingDigest) -> Vec<String> {
    let counted =
        |number: usize, noun: &str| if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") };
    let mut notes = Vec::new();
    if meeting.has_no_agenda {
        notes.push("No agenda has been posted yet.".to_owned());
    }
    if meeting.more_items > 0 {
        let other = if meeting.items.is_empty() { "item" } else { "other item" };
        let titles = meeting.more_titles.join("; ");
        let (mark, end) = if titles.is_empty() { ("", ".") } else { (": ", "") };
        notes.push(format!("{} on this agenda{mark}{titles}{end}", counted(meeting.more_items, other)));
    }
    if meeting.skipped_items > 0 {
        notes.push(format!(
            "{} without business left out (minutes, roll call, presentations).",
            counted(meeting.skipped_items, "item")
        ));
    }
    notes
}

fn city(out: &mut Lines, city: &CityDigest, with_name: bool) {
    if city.is_empty() {
        return;
    }
    if with_name {
        out.blank();
        out.wrapped("", &city.name.to_uppercase());
    }
    if !city.changes.is_empty() {
        out.heading("What has changed");
        city.changes.iter().for_each(|line| change(out, line));
    }
    if !city.meetings.is_empty() {
        out.heading("Meetings");
        city.meetings.iter().for_each(|one| meeting(out, one));
    }
    if !city.also.is_empty() {
        out.heading(if city.meetings.is_empty() { "Meetings" } else { "Also on the calendar" });
        city.also.iter().for_each(|line| out.point("- ", &brief(line)));
    }
    if !city.votes.is_empty() {
        out.heading("Votes");
        city.votes.iter().for_each(|line| change(out, line));
    }
    if !city.matters.is_empty() {
        out.heading("Matters that you follow");
        city.matters.iter().for_each(|one| matter(out, one));
    }
}

fn brief(line: &MeetingLine) -> String {
    let place = line.place.as_deref().map(|place| format!(", {place}")).unwrap_or_default();
    let status = line.status.as_deref().map(|status| format!(" ({})", status.to_uppercase())).unwrap_or_default();
    format!("{}{place}: {}{status}", line.when, line.title)
}

fn change(out: &mut Lines, line: &ChangeLine) {
    out.point("- ", &sentence(line));
    out.wrapped("  ", &format!("{}, {}", line.meeting.title, line.meeting.when));
}

/// `Cancelled: was scheduled`.
pub(super) fn sentence(line: &ChangeLine) -> String {
    let colon = if line.sentence.is_empty() { "" } else { ": " };
    format!("{}{colon}{}", line.headline, line.sentence)
}

fn meeting(out: &mut Lines, meeting: &MeetingDigest) {
    let line = &meeting.line;
    out.blank();
    out.wrapped("", &line.title);
    out.line(&"-".repeat(line.title.chars().count().min(WIDTH)));
    out.wrapped("", &line.when);
    if let Some(place) = &line.place {
        out.wrapped("", place);
    }
    if let Some(status) = &line.status {
        out.wrapped("", &status.to_uppercase());
    }
    for link in &meeting.links {
        out.point(&format!("{}: ", link.name), &link.url);
    }
    if !meeting.take_part.is_empty() {
        out.line("How to take part:");
        for fact in &meeting.take_part {
            let url = fact.url.as_deref().filter(|url| *url != fact.text && !url.starts_with("mailto:"));
            let url = url.map(|url| format!(" <{url}>")).unwrap_or_default();
            out.point("  ", &format!("{}: {}{url}", fact.name, fact.text));
        }
    }
    if let Some(summary) = &meeting.summary {
        out.blank();
        blocks(out, "", summary);
    }
    meeting.items.iter().for_each(|one| item(out, one));
    let notes = left_out(meeting);
    if !notes.is_empty() {
        out.blank();
        for note in &notes {
            out.wrapped("", note);
        }
    }
}

fn item(out: &mut Lines, item: &ItemDigest) {
    let number = item.number.as_deref().map(|number| format!("{}. ", number.trim_end_matches('.')));
    out.blank();
    out.point(&number.unwrap_or_else(|| "* ".to_owned()), &item.title);
    let marks = item.marks();
    if !marks.is_empty() {
        out.wrapped("   ", &format!("[{}]", marks.join("; ")));
    }
    if item.has_changed {
        out.wrapped("   ", "CHANGED since this summary was made");
    }
    if let Some(summary) = &item.summary {
        blocks(out, "   ", summary);
    }
    for (name, texts) in item.topics() {
        out.wrapped("   ", &format!("{name}: {}", texts.join("; ")));
    }
    for document in &item.documents {
        out.wrapped("   ", &format!("{}: {}", document.name, document.url));
    }
    if item.more_documents > 0 {
        out.wrapped("   ", &format!("and {} more documents", item.more_documents));
    }
}

fn matter(out: &mut Lines, matter: &MatterLine) {
    let file = matter.file.as_deref().map(|file| format!("{file}: ")).unwrap_or_default();
    out.blank();
    out.point("* ", &format!("{file}{}", matter.title));
    if !matter.why.is_empty() {
        out.wrapped("   ", &format!("[For: {}]", matter.why.join(", ")));
    }
    if let Some(status) = &matter.status {
        out.wrapped("   ", &format!("Status: {}", status.replace('_', " ")));
    }
    if let Some(summary) = &matter.summary {
        blocks(out, "   ", summary);
    }
    matter.timeline.iter().for_each(|place| out.point("   - ", place));
}

/// Markdown as text: addresses behind what leads to them.
fn blocks(out: &mut Lines, indent: &str, summary: &str) {
    for block in markdown::blocks(summary).iter().filter(|block| !is_label(block)) {
        let span = |span: &markdown::Span| match &span.link {
            Some(link) if *link != span.text => format!("{} <{link}>", span.text),
            _ => span.text.clone(),
        };
        let words: String = block.spans.iter().map(span).collect();
        match &block.point {
            Some(point) => {
                let mark = if point == "•" { "-" } else { point };
                let inner = if block.is_inner { "  " } else { "" };
                out.point(&format!("{indent}{inner}{mark} "), &words);
            }
            None => out.wrapped(indent, &words),
        }
    }
}

/// Lines that are put together.
#[derive(Debug, Default)]
pub(super) struct Lines(pub(super) String);

impl Lines {
    pub(super) fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    pub(super) fn blank(&mut self) {
        if !self.0.is_empty() && !self.0.ends_with("\n\n") {
            self.0.push('\n');
        }
    }

    fn heading(&mut self, text: &str) {
        self.blank();
        self.line(&format!("# {text}"));
    }

    /// A text with this before each of its lines.
    pub(super) fn wrapped(&mut self, indent: &str, text: &str) {
        self.broken(indent, indent, text);
    }

    /// A text with this before it, and as much room before its other lines.
    pub(super) fn point(&mut self, mark: &str, text: &str) {
        let room = " ".repeat(mark.chars().count().min(12));
        self.broken(mark, &room, text);
    }

    /// Words are never broken: an address that is longer than a line stays whole.
    fn broken(&mut self, first: &str, other: &str, text: &str) {
        let clean: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        let mut line = first.to_owned();
        let mut has_word = false;
        for word in clean.split_whitespace() {
            let room = line.chars().count() + usize::from(has_word) + word.chars().count();
            if has_word && room > WIDTH {
                self.line(&std::mem::replace(&mut line, other.to_owned()));
                has_word = false;
            }
            if has_word {
                line.push(' ');
            }
            line.push_str(word);
            has_word = true;
        }
        if has_word {
            self.line(&line);
        }
    }
}

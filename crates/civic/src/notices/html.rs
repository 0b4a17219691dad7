//! A digest as HTML for mail: styles on the elements, no scripts, nothing fetched, readable on a phone. Everything that
//! comes from elsewhere is escaped, and only addresses of the web and of mail are links.

use super::{
    digest::{ChangeLine, CityDigest, Digest, Fact, ItemDigest, Link, MatterLine, MeetingDigest, MeetingLine},
    markdown::{self, Block, safe_link},
    text::{footer, is_label, left_out},
};

const BODY: &str = "margin:0;padding:0;background:#ffffff;color:#1a1a1a;font-family:-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5";
const PAGE: &str = "max-width:640px;margin:0 auto;padding:16px";
const QUIET: &str = "color:#555555;font-size:14px";
const CARD: &str = "margin:0 0 20px 0;padding:12px 16px;border:1px solid #d0d7de;border-radius:6px";
const ITEM: &str = "margin:14px 0 0 0;padding:12px 0 0 0;border-top:1px solid #e4e8ec";
const LINK: &str = "color:#0b57a4";
const ALARM: &str = "color:#a40e26;font-weight:bold";

/// A whole page.
pub fn digest(digest: &Digest) -> String {
    let mut body =
        format!("<h1 style=\"font-size:22px;line-height:1.3;margin:0 0 4px 0\">{}</h1>", escape(&digest.title));
    body.push_str(&paragraph(QUIET, &escape(&format!("Meetings from {} to {}", digest.from, digest.until))));
    if let Some(caution) = digest.caution() {
        body.push_str(&paragraph(&format!("{QUIET};font-style:italic"), &escape(caution)));
    }
    for city in &digest.cities {
        body.push_str(&self::city(city, digest.cities.len() > 1));
    }
    if digest.is_empty() {
        body.push_str(&paragraph("margin:16px 0", "There is nothing new."));
    }
    if let Some(footer) = footer(digest.alert.as_ref()) {
        let style = format!("{QUIET};margin:24px 0 0 0;padding:12px 0 0 0;border-top:1px solid #d0d7de");
        body.push_str(&paragraph(&style, &escape(&footer)));
    }
    page(&digest.title, &body)
}

/// A page with a body that is escaped already.
pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light\">\n<title>{}</title>\n</head>\n\
         <body style=\"{BODY}\">\n<div style=\"{PAGE}\">\n{body}\n</div>\n</body>\n</html>\n",
        escape(title)
    )
}

fn city(city: &CityDigest, with_name: bool) -> String {
    let mut out = String::new();
    if city.is_empty() {
        return out;
    }
    if with_name {
        out.extend(["<h2 style=\"font-size:20px;margin:24px 0 8px 0\">", &*escape(&city.name), "</h2>\n"]);
    }
    if !city.changes.is_empty() {
        out.push_str(&heading("What has changed"));
        out.push_str(&list(city.changes.iter().map(change)));
    }
    if !city.meetings.is_empty() {
        out.push_str(&heading("Meetings"));
        out.extend(city.meetings.iter().map(meeting));
    }
    if !city.also.is_empty() {
        out.push_str(&heading(if city.meetings.is_empty() { "Meetings" } else { "Also on the calendar" }));
        out.push_str(&list(city.also.iter().map(brief)));
    }
    if !city.votes.is_empty() {
        out.push_str(&heading("Votes"));
        out.push_str(&list(city.votes.iter().map(change)));
    }
    if !city.matters.is_empty() {
        out.push_str(&heading("Matters that you follow"));
        out.extend(city.matters.iter().map(matter));
    }
    out
}

fn heading(text: &str) -> String {
    format!("<h3 style=\"font-size:17px;margin:20px 0 8px 0\">{text}</h3>\n")
}

fn paragraph(style: &str, html: &str) -> String {
    format!("<p style=\"margin:4px 0;{style}\">{html}</p>\n")
}

fn list(points: impl Iterator<Item = String>) -> String {
    let mut out = "<ul style=\"margin:4px 0 12px 0;padding:0 0 0 20px\">\n".to_owned();
    for point in points {
        out.extend(["<li style=\"margin:0 0 6px 0\">", &*point, "</li>\n"]);
    }
    out.push_str("</ul>\n");
    out
}

/// One change: what, of which meeting.
pub(super) fn change(line: &ChangeLine) -> String {
    let colon = if line.sentence.is_empty() { "" } else { ": " };
    let style =
        if matches!(line.kind.as_str(), "cancelled" | "moved" | "removed") { ALARM } else { "font-weight:bold" };
    let what = format!("<span style=\"{style}\">{}</span>{colon}{}", escape(&line.headline), escape(&line.sentence));
    let meeting = linked(&line.meeting.title, line.meeting.url.as_deref());
    format!("{what}<br><span style=\"{QUIET}\">{meeting}, {}</span>", escape(&line.meeting.when))
}

fn brief(line: &MeetingLine) -> String {
    let status = line.status.as_deref().map(|status| format!(" <span style=\"{ALARM}\">{}</span>", escape(status)));
    let place = line.place.as_deref().map(|place| format!(", {}", escape(place))).unwrap_or_default();
    let title = linked(&line.title, line.url.as_deref());
    format!("{}{place}: {title}{}", escape(&line.when), status.unwrap_or_default())
}

fn meeting(meeting: &MeetingDigest) -> String {
    let line = &meeting.line;
    let mut out =
        format!("<div style=\"{CARD}\">\n<h4 style=\"font-size:17px;margin:0\">{}</h4>\n", escape(&line.title));
    let mut when = format!("<strong>{}</strong>", escape(&line.when));
    if let Some(place) = &line.place {
        when.extend(["<br>", &*escape(place)]);
    }
    out.push_str(&paragraph("", &when));
    if let Some(status) = &line.status {
        out.push_str(&paragraph(ALARM, &escape(status)));
    }
    if !meeting.links.is_empty() {
        out.push_str(&paragraph("", &links(&meeting.links)));
    }
    if !meeting.take_part.is_empty() {
        let facts: Vec<String> = meeting.take_part.iter().map(fact).collect();
        out.push_str(&paragraph(
            "font-size:14px",
            &format!("<strong>How to take part</strong><br>{}", facts.join("<br>")),
        ));
    }
    if let Some(summary) = &meeting.summary {
        out.push_str(&blocks(summary));
    }
    out.extend(meeting.items.iter().map(item));
    for note in left_out(meeting) {
        out.push_str(&paragraph(&format!("{QUIET};margin:12px 0 0 0"), &escape(&note)));
    }
    out.push_str("</div>\n");
    out
}

fn fact(fact: &Fact) -> String {
    format!("{}: {}", escape(&fact.name), linked(&fact.text, fact.url.as_deref()))
}

fn item(item: &ItemDigest) -> String {
    let number = item.number.as_deref().map(|number| format!("{}. ", number.trim_end_matches('.'))).unwrap_or_default();
    let mut out = format!("<div style=\"{ITEM}\">\n");
    out.push_str(&paragraph("font-weight:bold", &escape(&format!("{number}{}", item.title))));
    let marks = item.marks();
    if !marks.is_empty() {
        out.push_str(&paragraph(QUIET, &escape(&marks.join(" · "))));
    }
    if item.has_changed {
        out.push_str(&paragraph(ALARM, "Changed since this summary was made"));
    }
    if let Some(summary) = &item.summary {
        out.push_str(&blocks(summary));
    }
    for (name, texts) in item.topics() {
        out.push_str(&paragraph("font-size:14px", &format!("<strong>{name}:</strong> {}", escape(&texts.join("; ")))));
    }
    if !item.documents.is_empty() {
        let more = if item.more_documents > 0 { format!(" and {} more", item.more_documents) } else { String::new() };
        out.push_str(&paragraph(
            "font-size:14px",
            &format!("<strong>Documents:</strong> {}{more}", links(&item.documents)),
        ));
    }
    out.push_str("</div>\n");
    out
}

fn matter(matter: &MatterLine) -> String {
    let file = matter.file.as_deref().map(|file| format!("{file}: ")).unwrap_or_default();
    let mut out = format!("<div style=\"{CARD}\">\n");
    out.push_str(&paragraph("font-weight:bold", &escape(&format!("{file}{}", matter.title))));
    let status = matter.status.iter().map(|status| format!("Status: {}", status.replace('_', " ")));
    let why = (!matter.why.is_empty()).then(|| format!("For: {}", matter.why.join(", ")));
    let marks: Vec<String> = why.into_iter().chain(status).collect();
    if !marks.is_empty() {
        out.push_str(&paragraph(QUIET, &escape(&marks.join(" · "))));
    }
    if let Some(summary) = &matter.summary {
        out.push_str(&blocks(summary));
    }
    if !matter.timeline.is_empty() {
        out.push_str(&list(matter.timeline.iter().map(|place| escape(place))));
    }
    out.push_str("</div>\n");
    out
}

fn links(links: &[Link]) -> String {
    let all: Vec<String> = links.iter().map(|link| linked(&link.name, Some(&link.url))).collect();
    all.join(" · ")
}

/// A text that leads to an address, where that is one that may be opened.
pub(super) fn linked(text: &str, url: Option<&str>) -> String {
    match url.and_then(safe_link) {
        Some(url) => format!("<a style=\"{LINK}\" href=\"{}\">{}</a>", escape(url), escape(text)),
        None => escape(text),
    }
}

/// Markdown as HTML. A label that says how a summary was made is said in our own words.
fn blocks(summary: &str) -> String {
    let mut out = String::new();
    let mut in_list = false;
    for block in markdown::blocks(summary).iter().filter(|block| !is_label(block)) {
        if block.point.is_some() != in_list {
            in_list = block.point.is_some();
            out.push_str(if in_list { "<ul style=\"margin:4px 0;padding:0 0 0 20px\">\n" } else { "</ul>\n" });
        }
        let words = spans(block);
        match &block.point {
            Some(point) => {
                let number = if point == "•" { String::new() } else { format!("{} ", escape(point)) };
                let margin = if block.is_inner { "0 0 4px 16px" } else { "0 0 4px 0" };
                out.extend(["<li style=\"margin:", margin, "\">", &*number, &*words, "</li>\n"]);
            }
            None => out.push_str(&paragraph("", &words)),
        }
    }
    if in_list {
        out.push_str("</ul>\n");
    }
    out
}

fn spans(block: &Block) -> String {
    let span = |span: &markdown::Span| {
        let text = linked(&span.text, span.link.as_deref());
        let text = if span.bold { format!("<strong>{text}</strong>") } else { text };
        if span.italic { format!("<em>{text}</em>") } else { text }
    };
    block.spans.iter().map(span).collect()
}

/// Text that stays text, in an element or in an attribute.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(' '),
            other if other.is_control() => {}
            // Marks that turn the direction of text could make it look like another one.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            other => out.push(other),
        }
    }
    out
}

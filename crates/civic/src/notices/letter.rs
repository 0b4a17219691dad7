//! A message as people read it: a subject, a text, a page.

use super::{
    digest::{AlertLine, ChangeLine, Digest},
    html, text,
};
use crate::records::Notification;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What is in a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// One line.
    pub subject: String,
    pub text: String,
    pub html: String,
}

impl Letter {
    pub fn of_digest(digest: &Digest) -> Self {
        Self { subject: digest.title.clone(), text: text::digest(digest), html: html::digest(digest) }
    }

    /// None where a message is of a form that is not known: stored by another version.
    pub fn from_message(message: &Notification) -> Option<Self> {
        match message.kind.as_str() {
            "digest" => Some(Self::of_digest(&part::<Digest>(&message.body["digest"])?)),
            "city_activated" => Some(activated(&message.body)),
            _ => changed(&message.body),
        }
    }
}

fn part<T: DeserializeOwned>(value: &Value) -> Option<T> {
    serde_json::from_value(value.clone()).ok()
}

/// What cannot wait: changes of one meeting.
fn changed(body: &Value) -> Option<Letter> {
    let lines: Vec<ChangeLine> = part(&body["changes"])?;
    let first = lines.first()?;
    let alert: Option<AlertLine> = part(&body["alert"]);
    let city = body["city"].as_str().unwrap_or_default();
    let meeting = &first.meeting;
    let subject = format!("{}: {}, {} ({city})", first.headline, meeting.title, meeting.when);
    let why: Vec<String> = part(&body["why"]).unwrap_or_default();
    let why = (!why.is_empty()).then(|| format!("You follow: {}", why.join(", ")));
    let footer = text::footer(alert.as_ref());

    let mut plain = text::Lines::default();
    plain.wrapped("", &format!("{city}: {}", meeting.title));
    plain.wrapped("", &meeting.when);
    plain.wrapped("", meeting.place.as_deref().unwrap_or_default());
    plain.blank();
    for line in &lines {
        plain.point("- ", &text::sentence(line));
    }
    if let Some(url) = &meeting.url {
        plain.blank();
        plain.wrapped("", url);
    }
    if let Some(note) = &why {
        plain.blank();
        plain.wrapped("", note);
    }
    if let Some(footer) = &footer {
        plain.blank();
        plain.line("-- ");
        plain.wrapped("", footer);
    }

    let mut page = format!(
        "<h1 style=\"font-size:20px;line-height:1.3;margin:0 0 8px 0\">{}</h1>\n",
        html::escape(&format!("{}: {}", first.headline, meeting.title))
    );
    let place = meeting.place.as_deref().map(|place| format!("<br>{}", html::escape(place))).unwrap_or_default();
    let (city, when) = (html::escape(city), html::escape(&meeting.when));
    page.extend(["<p>", &*city, "<br><strong>", &*when, "</strong>", &*place, "</p>\n<ul>\n"]);
    for line in &lines {
        page.extend(["<li>", &*html::escape(&text::sentence(line)), "</li>\n"]);
    }
    page.push_str("</ul>\n");
    if let Some(url) = &meeting.url {
        page.extend(["<p>", &*html::linked("See the meeting", Some(url)), "</p>\n"]);
    }
    for note in why.iter().chain(&footer) {
        page.extend(["<p style=\"color:#555555;font-size:14px\">", &*html::escape(note), "</p>\n"]);
    }
    Some(Letter { html: html::page(&subject, &page), text: plain.0, subject })
}

/// The first meeting of a city was found.
fn activated(body: &Value) -> Letter {
    let city = body["city"].as_str().unwrap_or("A city");
    let meeting = body["first_meeting"].as_str().unwrap_or_default();
    let subject = format!("{city}: its meetings are followed now");
    let told = format!("The meetings of {city} are followed now. The first that was found: {meeting}");
    let mut plain = text::Lines::default();
    plain.wrapped("", &told);
    Letter { html: html::page(&subject, &format!("<p>{}</p>", html::escape(&told))), text: plain.0, subject }
}

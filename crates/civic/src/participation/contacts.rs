//! E-mail addresses with their purposes; telephone numbers of offices, and those that join the meeting.

use super::{Email, Purpose};
use crate::pattern::pattern;
use regex::Regex;
use std::{ops::Range, sync::LazyLock};

static EMAIL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b"));
static PHONE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:\+?1[\s.-]{0,2})?\(?\b\d{3}\)?[\s.-]{0,2}\d{3}[\s.-]?\d{4}\b"));
/// Looked for around an address, in this order.
static PURPOSES: LazyLock<[(Regex, Purpose); 4]> = LazyLock::new(|| {
    [
        (r"written (?:public )?comment|public comment|submit(?:ting)? (?:\w+ )?comment|comments? (?:may|can|should|must) be", Purpose::WrittenComments),
        (r"powerpoint|\bvideo\b|\bmedia\b|presentation", Purpose::MediaSubmissions),
        (r"clerk", Purpose::CityClerk),
        (r"council", Purpose::CityCouncil),
    ]
    .map(|(words, purpose)| (pattern(&format!("(?i){words}")), purpose))
});
static JOINS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\bdial\b|dial[- ]in|call(?:ing)?[- ]in\b|join by (?:tele)?phone|by (?:tele)?phone\b|telephonically|teleconference|toll[- ]?free|\bus toll\b|webinar|meeting id|access code|entering code|conference (?:line|id|number)|one[- ]tap|can (?:also )?be heard|to listen",
    )
});
/// Numbers that nobody wants to talk to.
static NO_VOICE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b(?:fax|facsimile|tdd|tty|relay)\b[^.;\n]{0,25}$"));

#[derive(Debug, Default)]
pub(super) struct Contacts {
    pub(super) emails: Vec<Email>,
    pub(super) phone: Option<String>,
    pub(super) dial_in: Vec<String>,
}

/// `spent` are places that are known to be something else, such as meeting ids.
pub(super) fn find(text: &str, spent: &[Range<usize>]) -> Contacts {
    Contacts { emails: emails(text), ..phones(text, spent) }
}

fn emails(text: &str) -> Vec<Email> {
    let mut all: Vec<Email> = Vec::new();
    for found in EMAIL.find_iter(text) {
        let lowered = found.as_str().to_lowercase();
        let is_nobody = lowered.contains("example.com")
            || lowered.starts_with("test@")
            || lowered.contains("noreply")
            || lowered.contains("no-reply");
        if is_nobody || all.iter().any(|known| known.address.eq_ignore_ascii_case(found.as_str())) {
            continue;
        }
        let around = around(text, found.range(), 100, 100);
        let purpose = PURPOSES.iter().find(|(words, _)| words.is_match(around)).map(|(_, purpose)| *purpose);
        all.push(Email { address: found.as_str().to_owned(), purpose: purpose.unwrap_or(Purpose::GeneralContact) });
    }
    all
}

fn phones(text: &str, spent: &[Range<usize>]) -> Contacts {
    let mut contacts = Contacts::default();
    for found in PHONE.find_iter(text) {
        let is_spent = spent.iter().any(|range| found.start() < range.end && range.start < found.end());
        let before = text.get(..found.start()).unwrap_or_default();
        // A piece of a longer number is none.
        let is_piece = before.ends_with(|c: char| c.is_ascii_digit() || matches!(c, '/' | '=' | '-'))
            || text.get(found.end()..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let Some(number) = normalised(found.as_str()).filter(|_| !is_spent && !is_piece) else { continue };
        let near = around(text, found.range(), 30, 0);
        if NO_VOICE.is_match(near.trim_end_matches(['(', ' ', ':'])) {
            continue;
        }
        if JOINS.is_match(sentence_around(text, found.range())) {
            if !contacts.dial_in.contains(&number) {
                contacts.dial_in.push(number);
            }
        } else if contacts.phone.is_none() {
            contacts.phone = Some(number);
        }
    }
    contacts.phone = contacts.phone.filter(|phone| !contacts.dial_in.contains(phone));
    contacts
}

/// `+1` and ten digits.
fn normalised(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let ten = match digits.len() {
        10 => digits.as_str(),
        11 => digits.strip_prefix('1')?,
        _ => return None,
    };
    // No area and no exchange begins with 0 or 1.
    let begins = |at: usize| ten.get(at..).is_some_and(|rest| !rest.starts_with(['0', '1']));
    (begins(0) && begins(3)).then(|| format!("+1{ten}"))
}

/// So many characters on either side of a place, with it.
pub(super) fn around(text: &str, place: Range<usize>, before: usize, behind: usize) -> &str {
    let front = text.get(..place.start).unwrap_or_default();
    let from = front.char_indices().rev().take(before).last().map_or(place.start, |(at, _)| at);
    let back = text.get(place.end..).unwrap_or_default();
    let to = back.char_indices().nth(behind).map_or(text.len(), |(at, _)| place.end + at);
    text.get(from..to).unwrap_or_default()
}

/// What is said of a place: from the end of the sentence before it, up to the end of its own.
fn sentence_around(text: &str, place: Range<usize>) -> &str {
    let near = around(text, place.clone(), 130, 90);
    let offset = around(text, place.clone(), 130, 0).len().saturating_sub(place.len());
    let (front, back) = near.split_at_checked(offset).unwrap_or(("", near));
    let from = front.rfind(". ").or(front.rfind("\n\n")).map_or(0, |at| at + 2);
    let to = back.find(". ").or(back.find("\n\n")).unwrap_or(back.len());
    near.get(from..offset + to).unwrap_or(near)
}

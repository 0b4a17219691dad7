//! How people take part in a meeting, as its agenda tells it: where it is, how to join, whom to write to, until when.
//!
//! Only what stands in front of the items and behind them is read, and what stands below a heading about the public's
//! comments. Addresses deep in a packet belong to applicants and consultants.
//!
//! | module | what it owns |
//! |---|---|
//! | `matter` | which lines of an agenda are asked |
//! | `contacts` | e-mail addresses and telephone numbers |
//! | `online` | links to join and to watch, meeting ids, passcodes |
//! | `comments` | until when and where comments are taken |
//! | `presence` | the place; whether one has to be there |

mod comments;
mod contacts;
mod matter;
mod online;
mod presence;

use crate::lines::{self, Line};
use bindery_reader::Page;
use serde::{Deserialize, Serialize};

/// What an e-mail address is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    WrittenComments,
    MediaSubmissions,
    CityClerk,
    CityCouncil,
    GeneralContact,
}

/// An e-mail address with what it is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Email {
    pub address: String,
    pub purpose: Purpose,
}

/// Where a meeting can be watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streaming {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub url: Option<String>,
    /// `YouTube`, `Granicus`, `Cable TV`.
    pub platform: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub channel: Option<String>,
}

/// How to take part. What is not told is not there: nothing is ever written over with nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Participation {
    /// The first address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// All addresses, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub emails: Vec<Email>,
    /// An office's number: `+12135550100`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// Numbers that join the meeting.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dial_in: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_url: Option<String>,
    /// Digits only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meeting_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passcode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_hybrid: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_virtual_only: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub streaming_urls: Vec<Streaming>,
    /// As the agenda says it: `7:00 AM the day of the meeting`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_comment_deadline: Option<String>,
    /// Where speakers register.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign_up_url: Option<String>,
    /// The form for written comments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_address: Option<String>,
    /// The agenda's own sentence on how to comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

impl Participation {
    /// From an agenda as the reader gives it.
    pub fn of_pages(pages: &[Page]) -> Self {
        Self::of_lines(&lines::of_pages(pages))
    }

    /// From a text without pages: a vendor's note, the text of an item.
    pub fn of_text(text: &str) -> Self {
        Self::of_lines(&lines::of_text(text))
    }

    fn of_lines(lines: &[Line]) -> Self {
        let asked = matter::front_and_back(lines);
        let text = matter::text_with_links(asked.iter().copied());
        let online = online::find(&text);
        let contacts = contacts::find(&text, &online.spent);
        let (is_hybrid, is_virtual_only) = presence::kind(&text, online.virtual_url.is_some());
        let comments = comments::find(&text);
        Self {
            email: contacts.emails.first().map(|email| email.address.clone()),
            emails: if contacts.emails.len() > 1 { contacts.emails } else { Vec::new() },
            phone: contacts.phone,
            dial_in: contacts.dial_in,
            virtual_url: online.virtual_url,
            meeting_id: online.meeting_id,
            passcode: online.passcode,
            is_hybrid,
            is_virtual_only,
            streaming_urls: online.streaming,
            public_comment_deadline: comments.deadline,
            sign_up_url: comments.sign_up_url,
            comment_url: comments.form_url,
            physical_address: presence::address(&asked),
            instructions: comments.instructions,
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes in what another part of the agenda says: it counts, and what it is silent about stays.
    pub fn absorb(&mut self, other: Self) {
        fn prefer<T>(mine: &mut Option<T>, other: Option<T>) {
            if other.is_some() {
                *mine = other;
            }
        }
        let mut emails = self.known_emails();
        for email in other.known_emails() {
            match emails.iter_mut().find(|known| known.address.eq_ignore_ascii_case(&email.address)) {
                Some(known) if email.purpose != Purpose::GeneralContact => known.purpose = email.purpose,
                Some(_) => {}
                None => emails.push(email),
            }
        }
        prefer(&mut self.email, other.email);
        self.emails = if emails.len() > 1 { emails } else { Vec::new() };
        prefer(&mut self.phone, other.phone);
        prefer(&mut self.virtual_url, other.virtual_url);
        prefer(&mut self.meeting_id, other.meeting_id);
        prefer(&mut self.passcode, other.passcode);
        prefer(&mut self.is_hybrid, other.is_hybrid);
        prefer(&mut self.is_virtual_only, other.is_virtual_only);
        prefer(&mut self.public_comment_deadline, other.public_comment_deadline);
        prefer(&mut self.sign_up_url, other.sign_up_url);
        prefer(&mut self.comment_url, other.comment_url);
        prefer(&mut self.physical_address, other.physical_address);
        prefer(&mut self.instructions, other.instructions);
        for number in other.dial_in {
            if !self.dial_in.contains(&number) {
                self.dial_in.push(number);
            }
        }
        for stream in other.streaming_urls {
            if !self.streaming_urls.contains(&stream) {
                self.streaming_urls.push(stream);
            }
        }
    }

    /// What belongs to one meeting alone, for jurisdictions with settings of their own for everything else. A passcode
    /// and numbers to dial go with the meeting id.
    #[must_use]
    pub fn only_of_meeting(self) -> Self {
        Self {
            virtual_url: self.virtual_url,
            meeting_id: self.meeting_id,
            passcode: self.passcode,
            dial_in: self.dial_in,
            streaming_urls: self.streaming_urls,
            is_hybrid: self.is_hybrid,
            is_virtual_only: self.is_virtual_only,
            ..Self::default()
        }
    }

    /// All addresses; a single one is not listed with its purpose.
    fn known_emails(&self) -> Vec<Email> {
        let single =
            || self.email.iter().map(|address| Email { address: address.clone(), purpose: Purpose::GeneralContact });
        if self.emails.is_empty() { single().collect() } else { self.emails.clone() }
    }
}

#[cfg(test)]
mod tests;

//! Files that were replaced under the same address. An agenda that names the same addresses as before looks unchanged;
//! so the servers of documents that were read are asked, without fetching them, how long they are and how old.

use super::Conductor;
use crate::{
    client::{Arrived, Session},
    hash::canonical_url,
    records::{Civic as _, Jurisdiction, KnownDocument, Replacement, VendorPlace},
    vendor::{Attachment, VendorMeeting},
};
use bindery_engine::StopSignal;
use bindery_store::StoreResult;
use jiff::civil::Date;
use std::collections::HashMap;

/// So many are asked about in one visit, those of the next meetings first: each takes a turn of the vendor's.
const MOST_ASKED: usize = 40;

impl Conductor {
    /// Remembers of which documents of coming meetings another file was read than the one that stands there now.
    pub(super) async fn look_for_replaced_files(
        &self,
        city: &Jurisdiction,
        place: &VendorPlace,
        (today, meetings): (Date, &[VendorMeeting]),
        stop: &StopSignal,
    ) -> StoreResult<()> {
        let mut urls: Vec<String> = documents(meetings).map(|document| canonical_url(&document.url)).collect();
        urls.sort_unstable();
        urls.dedup();
        let civic = self.store.civic();
        let mut known: HashMap<String, KnownDocument> =
            civic.known_documents(&urls).await?.into_iter().map(|known| (known.url.clone(), known)).collect();
        let session = Session::new(&place.vendor, &city.city_key);
        for url in to_be_asked_about(today, meetings, &known) {
            // A server that does not say, or not in time, is not bothered any further; that is no news of its documents.
            let Ok(facts) = self.client.facts(&session, &url, stop).await else { break };
            let Some(document) = known.get_mut(&canonical_url(&url)) else { continue };
            if let Some(replaced) = replacement(document, &facts) {
                document.replaced = Some(replaced);
                civic.put_document(document.clone()).await?;
            }
        }
        Ok(())
    }
}

/// The addresses of documents that were read, those of the next meeting first.
fn to_be_asked_about(today: Date, meetings: &[VendorMeeting], known: &HashMap<String, KnownDocument>) -> Vec<String> {
    let day = |meeting: &&VendorMeeting| meeting.start.as_ref().map(|start| start.date);
    let mut coming: Vec<&VendorMeeting> =
        meetings.iter().filter(|meeting| day(meeting).is_some_and(|day| day >= today)).collect();
    coming.sort_by_key(day);
    let mut urls: Vec<String> = Vec::new();
    for document in documents(coming) {
        let is_read = known.get(&canonical_url(&document.url)).is_some_and(|known| known.content_sha256.is_some());
        if is_read && urls.len() < MOST_ASKED && !urls.contains(&document.url) {
            urls.push(document.url.clone());
        }
    }
    urls
}

fn documents<'m>(meetings: impl IntoIterator<Item = &'m VendorMeeting>) -> impl Iterator<Item = &'m Attachment> {
    meetings.into_iter().flat_map(|meeting| &meeting.items).flat_map(|item| &item.attachments)
}

/// What stands there now, if it is not what was fetched. Two lengths decide; dates are what some servers make up.
fn replacement(known: &KnownDocument, facts: &Arrived) -> Option<Replacement> {
    let is_other = match (known.bytes, facts.length) {
        (Some(before), Some(now)) => before != now,
        _ => {
            known.last_modified.is_some() && facts.last_modified.is_some() && known.last_modified != facts.last_modified
        }
    };
    let found = Replacement { content_length: facts.length, last_modified: facts.last_modified.clone() };
    (is_other && known.replaced.as_ref() != Some(&found)).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_length_is_another_file() {
        let known =
            KnownDocument { bytes: Some(7), last_modified: Some("Monday".to_owned()), ..KnownDocument::default() };
        let facts = |length, date: Option<&str>| Arrived {
            length,
            last_modified: date.map(str::to_owned),
            ..Arrived::default()
        };
        assert_eq!(replacement(&known, &facts(Some(7), Some("Tuesday"))), None, "a date that the server makes up");
        assert_eq!(replacement(&known, &facts(None, Some("Monday"))), None);
        assert_eq!(replacement(&known, &facts(None, None)), None, "the server does not say");
        let date = Some("Tuesday".to_owned());
        let longer = Replacement { content_length: Some(8), last_modified: None };
        assert_eq!(replacement(&known, &facts(Some(8), None)), Some(longer.clone()));
        assert_eq!(
            replacement(&known, &facts(None, Some("Tuesday"))),
            Some(Replacement { content_length: None, last_modified: date })
        );
        let told = KnownDocument { replaced: Some(longer), ..known };
        assert_eq!(replacement(&told, &facts(Some(8), None)), None, "it was seen before, and waits to be read");
    }
}

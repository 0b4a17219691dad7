//! The items of a packet as they are stored: the same packet gives the same items.

use super::{
    packet::{Packet, is_file},
    requests::Inside,
};
use crate::records::{AgendaItem, Appearance, Attachment, CivicChanges, Matter, Meeting};
use crate::{city_key::CityKey, filter, ids, sync::items as agenda};
use std::collections::HashSet;

/// What the packet says with what is known of the item already.
pub(super) fn with_known(known: &AgendaItem, told: &AgendaItem) -> AgendaItem {
    AgendaItem {
        title: told.title.clone(),
        sequence: told.sequence,
        agenda_number: told.agenda_number.clone(),
        section: told.section.clone(),
        matter_file: told.matter_file.clone(),
        matter_id: told.matter_id.clone(),
        body_text: told.body_text.clone(),
        attachments: told.attachments.clone(),
        attachment_hash: told.attachment_hash.clone(),
        latest_hash: told.latest_hash.clone(),
        filter_reason: told.filter_reason.clone(),
        filter_rule: told.filter_rule.clone(),
        removed_at: None,
        ..known.clone()
    }
}

pub(super) fn matter_of(meeting: &Meeting, item: &AgendaItem, changes: &mut CivicChanges) {
    let Some(matter_id) = &item.matter_id else { return };
    changes.matters.push(Matter {
        id: matter_id.clone(),
        city_key: meeting.city_key.clone(),
        matter_file: item.matter_file.clone(),
        title: item.title.clone(),
        status: Some("active".to_owned()),
        first_seen: meeting.starts_at,
        last_seen: meeting.starts_at,
        attachments: item.attachments.clone(),
        attachment_hash: item.attachment_hash.clone(),
        ..Matter::default()
    });
    changes.appearances.push(Appearance {
        matter_id: matter_id.clone(),
        meeting_id: meeting.id.clone(),
        item_id: item.id.clone(),
        appeared_at: meeting.starts_at,
        committee: meeting.body.clone(),
        committee_id: meeting.committee_id.clone(),
        sequence: item.sequence,
        ..Appearance::default()
    });
}

/// The items of a packet as they are stored, each with its pages.
pub(super) fn items_of(
    meeting: &Meeting,
    city_key: &CityKey,
    url: &str,
    packet: &Packet,
) -> Vec<(AgendaItem, Vec<Inside>)> {
    let mut taken = HashSet::new();
    let mut items = Vec::new();
    let file = url.split('#').next().unwrap_or_default();
    for (sequence, found) in (1_u32..).zip(&packet.items) {
        let base = ids::packet_item_key(found.number.as_deref(), &found.title);
        let mut key = base.clone();
        let mut again = 2;
        // A number that stands twice, such as in two sections, is two items.
        while !taken.insert(key.clone()) {
            key = format!("{base}-{again}");
            again += 1;
        }
        let link = |(name, url): &(String, String)| Attachment {
            name: name.clone(),
            url: url.clone(),
            kind: if is_file(url) { "pdf".to_owned() } else { "unknown".to_owned() },
            ..Attachment::default()
        };
        let part = |(name, first, last): &(String, usize, usize)| Attachment {
            name: name.clone(),
            url: format!("{file}#page={first}"),
            kind: "pdf".to_owned(),
            page_count: u32::try_from(last.saturating_sub(*first) + 1).ok(),
            extraction_method: Some("packet".to_owned()),
            ..Attachment::default()
        };
        let mut item = AgendaItem {
            id: ids::item_id(&meeting.id, Some(&key), sequence),
            meeting_id: meeting.id.clone(),
            vendor_item_id: Some(key),
            title: found.title.clone(),
            sequence: i64::from(sequence),
            agenda_number: found.number.clone(),
            section: found.section.clone(),
            matter_file: found.matter_file.clone(),
            matter_id: ids::matter_id(city_key, found.matter_file.as_deref(), None),
            body_text: Some(found.text.trim().to_owned()).filter(|text| !text.is_empty()),
            attachments: found.links.iter().map(link).chain(found.parts.iter().map(part)).collect(),
            ..AgendaItem::default()
        };
        item.attachment_hash = Some(agenda::hash(&item.attachments)).filter(|hash| !hash.is_empty());
        agenda::judge(&mut item);
        item.latest_hash = Some(agenda::latest_hash(&item));
        let decisions = filter::stored::of_documents(&item);
        let decisions = decisions.iter().skip(found.links.len());
        let worth = found.parts.iter().zip(decisions).filter(|(_, decision)| !decision.is_skipped());
        let inside = worth
            .map(|((name, first_page, last_page), _)| Inside {
                name: name.clone(),
                first_page: *first_page,
                last_page: *last_page,
            })
            .collect();
        items.push((item, inside));
    }
    items
}

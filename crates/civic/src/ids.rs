//! Ids of everything that is kept of a jurisdiction. The same input gives the same id, on every visit and machine;
//! adapters never build them.
//!
//! | entity | form | hashed |
//! |---|---|---|
//! | meeting | `{city_key}_{12 hex}` | jurisdiction, vendor, the vendor's id |
//! | item | `{meeting}_{vendor's id}`, or `{meeting}_seq{NNN}_{8 hex}` | meeting, place on the agenda |
//! | matter | `{city_key}_{16 hex}` | the public number, else the vendor's id |
//! | person | `{city_key}_cm_{16 hex}` | the vendor's id, else the folded name ([`crate::people`]) |
//! | committee | `{city_key}_comm_{16 hex}` | its name |
//!
//! A meeting's title and hour change and are no part of it: a renamed or moved meeting is the same meeting.

use crate::{city_key::CityKey, records::AgendaItem};
use bindery_core::ContentHash;

/// The first digits of the SHA-256 of a text.
pub(crate) fn digest(text: &str, digits: usize) -> String {
    let mut hash = ContentHash::of(text.as_bytes()).to_string();
    hash.truncate(digits);
    hash
}

const MEETING_DIGITS: usize = 12;
const LONG_DIGITS: usize = 16;

/// None without a vendor's id: such a meeting cannot be known again.
pub fn meeting_id(city_key: &CityKey, vendor: &str, vendor_id: &str) -> Option<String> {
    let vendor_id = vendor_id.trim();
    let hash = || digest(&format!("{city_key}:{vendor}:{vendor_id}"), MEETING_DIGITS);
    (!vendor_id.is_empty() && !vendor.is_empty()).then(|| format!("{city_key}_{}", hash()))
}

/// By the vendor's id, else by the place on the agenda, which counts from 1.
pub fn item_id(meeting_id: &str, vendor_item_id: Option<&str>, sequence: u32) -> String {
    let id: String = vendor_item_id.unwrap_or_default().split_whitespace().collect();
    if !id.is_empty() {
        return format!("{meeting_id}_{}", id.to_lowercase());
    }
    let sequence = sequence.max(1);
    format!("{meeting_id}_seq{sequence:03}_{}", digest(&format!("{meeting_id}:seq:{sequence}"), 8))
}

/// What the ids of items begin with that no vendor has listed: they were found in the meeting's packet.
const FROM_PACKET: &str = "packet-";

/// What an item is known by that was found in a packet: its number there, else its title.
pub(crate) fn packet_item_key(number: Option<&str>, title: &str) -> String {
    let number: String = number.unwrap_or_default().chars().filter(|c| c.is_alphanumeric() || *c == '.').collect();
    let number = number.trim_matches('.').to_lowercase();
    if number.is_empty() {
        format!("{FROM_PACKET}{}", digest(&normalized_name(title), 8))
    } else {
        format!("{FROM_PACKET}{number}")
    }
}

/// No vendor has listed it: it comes and goes with the packet that it was found in.
pub fn is_from_packet(item: &AgendaItem) -> bool {
    item.vendor_item_id.as_deref().is_some_and(|id| id.starts_with(FROM_PACKET))
}

/// What a matter is known by: its public number if it has one, else the vendor's id. Vendors give a new id each time a
/// matter appears, so the id counts only where there is no number.
pub fn matter_key<'a>(matter_file: Option<&'a str>, matter_id: Option<&'a str>) -> Option<&'a str> {
    [matter_file, matter_id].into_iter().flatten().map(str::trim).find(|key| !key.is_empty())
}

/// None where there is neither a number nor an id: titles alone make no matter in a sync.
pub fn matter_id(city_key: &CityKey, matter_file: Option<&str>, matter_id: Option<&str>) -> Option<String> {
    let kind = if matter_key(matter_file, None).is_some() { "file" } else { "id" };
    let key = matter_key(matter_file, matter_id)?.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(format!("{city_key}_{}", digest(&format!("{city_key}:{kind}:{key}"), LONG_DIGITS)))
}

/// `name` as [`crate::people::fold`] gives it.
pub fn person_id(city_key: &CityKey, vendor: &str, vendor_person_id: Option<&str>, folded_name: &str) -> String {
    let key = match vendor_person_id.map(str::trim).filter(|id| !id.is_empty()) {
        Some(id) => format!("{city_key}:council_member:{vendor}:{id}"),
        None => format!("{city_key}:council_member:{folded_name}"),
    };
    format!("{city_key}_cm_{}", digest(&key, LONG_DIGITS))
}

/// By the name, whatever its case and spaces.
pub fn committee_id(city_key: &CityKey, name: &str) -> String {
    let name = normalized_name(name);
    format!("{city_key}_comm_{}", digest(&format!("{city_key}:committee:{name}"), LONG_DIGITS))
}

/// Lower case, single spaces.
pub fn normalized_name(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// `{city_key}_{digits}`.
fn is_two_parts(id: &str, digits: usize) -> bool {
    let is_hex =
        |text: &str| text.len() == digits && text.bytes().all(|c| c.is_ascii_digit() || matches!(c, b'a'..=b'f'));
    id.split_once('_').is_some_and(|(city_key, hash)| CityKey::parse(city_key).is_ok() && is_hex(hash))
}

pub fn is_meeting_id(id: &str) -> bool {
    is_two_parts(id, MEETING_DIGITS)
}

pub fn is_matter_id(id: &str) -> bool {
    is_two_parts(id, LONG_DIGITS)
}

pub fn is_item_id(id: &str) -> bool {
    meeting_of_item(id).is_some()
}

/// The meeting that an item belongs to, read out of its id.
pub fn meeting_of_item(id: &str) -> Option<&str> {
    let second = id.match_indices('_').nth(1)?.0;
    let (meeting, own) = id.split_at_checked(second)?;
    (is_meeting_id(meeting) && own.len() > 1).then_some(meeting)
}

/// The jurisdiction that an id belongs to.
pub fn city_key_of(id: &str) -> Option<CityKey> {
    CityKey::parse(id.split_once('_')?.0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn city_key() -> CityKey {
        CityKey::parse("paloaltoCA").unwrap()
    }

    /// The seed hashes title and hour too; ▲ only who the vendor says it is.
    #[test]
    fn s001_20_ids_depend_on_nothing_but_their_input() {
        let meeting = meeting_id(&city_key(), "legistar", "1430").unwrap();
        assert_eq!(meeting_id(&city_key(), "legistar", " 1430 ").unwrap(), meeting);
        assert_eq!(meeting, "paloaltoCA_3c961ffe17f6");
        assert_ne!(meeting_id(&city_key(), "granicus", "1430").unwrap(), meeting);
        assert!(is_meeting_id(&meeting) && !is_matter_id(&meeting));
        assert_eq!(meeting_id(&city_key(), "legistar", " "), None);

        let item = item_id(&meeting, Some(" 17 864A"), 3);
        assert_eq!(item, format!("{meeting}_17864a"));
        let unnamed = item_id(&meeting, None, 7);
        assert!(unnamed.starts_with(&format!("{meeting}_seq007_")), "{unnamed}");
        assert_eq!(item_id(&meeting, Some(" "), 7), unnamed);
        assert!(is_item_id(&item) && is_item_id(&unnamed) && !is_item_id(&meeting));
        assert_eq!(meeting_of_item(&item), Some(meeting.as_str()));
        assert_eq!(meeting_of_item(&format!("{meeting}_a_b")), Some(meeting.as_str()));

        let matter = matter_id(&city_key(), Some("BL2025-1098"), Some("12345")).unwrap();
        assert_eq!(matter_id(&city_key(), Some("BL2025-1098"), Some("99999")).unwrap(), matter);
        assert!(is_matter_id(&matter));
        assert_eq!(city_key_of(&matter), Some(city_key()));
        assert!(!is_matter_id("palo-altoCA_0123456789abcdef") && !is_matter_id("paloaltoCA_0123456789ABCDEF"));
        assert_eq!(committee_id(&city_key(), "City  Council"), committee_id(&city_key(), "city council"));
    }

    #[test]
    fn s001_62_a_public_number_comes_before_the_vendors_id() {
        assert_eq!(matter_key(Some("BL2025-1098"), Some("12345")), Some("BL2025-1098"));
        assert_eq!(matter_key(Some("251041"), Some("uuid")), Some("251041"));
        assert_eq!(matter_key(None, Some("uuid-abc")), Some("uuid-abc"));
        assert_eq!(matter_key(Some(" "), Some("uuid-abc")), Some("uuid-abc"));
        assert_eq!((matter_key(None, None), matter_id(&city_key(), None, None)), (None, None));
        assert_ne!(matter_id(&city_key(), Some("7"), None), matter_id(&city_key(), None, Some("7")));
    }
}

//! What happened to a meeting, in words: a headline for each kind of change, and a sentence for each change.

use crate::records::{ChangeKind, MeetingChange};
use serde_json::Value;

/// What a follower reads first.
pub const fn headline(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "New meeting",
        ChangeKind::Renamed => "Renamed",
        ChangeKind::Moved => "Moved",
        ChangeKind::Cancelled => "Cancelled",
        ChangeKind::StatusChanged => "Status changed",
        ChangeKind::LocationChanged => "New place",
        ChangeKind::BodyChanged => "Another body",
        ChangeKind::AgendaPosted => "Agenda posted",
        ChangeKind::AgendaRevised => "Agenda revised",
        ChangeKind::PacketPosted => "Packet posted",
        ChangeKind::MinutesPosted => "Minutes posted",
        ChangeKind::VideoPosted => "Recording posted",
        ChangeKind::ItemAdded => "Item added",
        ChangeKind::ItemChanged => "Item changed",
        ChangeKind::ItemRemoved => "Item removed",
        ChangeKind::ItemReturned => "Item back on the agenda",
        ChangeKind::AttachmentsChanged => "Documents changed",
        ChangeKind::VoteRecorded => "Vote recorded",
        ChangeKind::VoteCorrected => "Vote corrected",
        ChangeKind::Removed => "No longer listed",
        ChangeKind::Returned => "Listed again",
    }
}

/// As it is stored and exported: `agenda_posted`.
pub fn name(kind: ChangeKind) -> String {
    serde_json::to_value(kind).ok().and_then(|name| Some(name.as_str()?.to_owned())).unwrap_or_default()
}

/// Of several changes that were found at once, the one with the greatest weight names them all.
pub const fn weight(kind: ChangeKind) -> u8 {
    match kind {
        ChangeKind::Cancelled => 9,
        ChangeKind::Removed | ChangeKind::Returned => 8,
        ChangeKind::Moved => 7,
        ChangeKind::Added => 6,
        ChangeKind::StatusChanged | ChangeKind::LocationChanged => 5,
        ChangeKind::VoteRecorded | ChangeKind::VoteCorrected => 4,
        ChangeKind::AgendaPosted | ChangeKind::MinutesPosted => 3,
        ChangeKind::AgendaRevised | ChangeKind::ItemAdded | ChangeKind::ItemRemoved | ChangeKind::ItemReturned => 2,
        ChangeKind::PacketPosted
        | ChangeKind::VideoPosted
        | ChangeKind::ItemChanged
        | ChangeKind::AttachmentsChanged
        | ChangeKind::Renamed
        | ChangeKind::BodyChanged => 1,
    }
}

/// What has changed, from what to what. `item` is the title of the item that it is about, where there is one.
pub fn sentence(change: &MeetingChange, item: Option<&str>) -> String {
    let (before, after) = (text(&change.before), text(&change.after));
    let from_to = || match (before.is_empty(), after.is_empty()) {
        (true, _) => after.clone(),
        (false, true) => format!("was {before}"),
        (false, false) => format!("{before} → {after}"),
    };
    let about_item = |what: String| match item {
        Some(item) if what.is_empty() => item.to_owned(),
        Some(item) => format!("{item}: {what}"),
        None => what,
    };
    match change.kind {
        ChangeKind::Added => {
            let begins = moment(&change.after["starts_at"]);
            let status = text(&change.after["status"]);
            [begins, status].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
        }
        ChangeKind::Moved => {
            let (before, after) = (moment(&change.before), moment(&change.after));
            let or_unknown = |moment: String| if moment.is_empty() { "no day".to_owned() } else { moment };
            format!("{} → {}", or_unknown(before), or_unknown(after))
        }
        ChangeKind::Cancelled => {
            if before.is_empty() {
                String::new()
            } else {
                format!("was {before}")
            }
        }
        ChangeKind::StatusChanged => {
            let or_announced = |status: String| if status.is_empty() { "as announced".to_owned() } else { status };
            format!("{} → {}", or_announced(before), or_announced(after))
        }
        ChangeKind::AgendaPosted => match change.after["items"].as_u64() {
            Some(items) => format!("{items} {}", if items == 1 { "item" } else { "items" }),
            None => after,
        },
        ChangeKind::Renamed | ChangeKind::LocationChanged | ChangeKind::BodyChanged | ChangeKind::ItemChanged => {
            from_to()
        }
        ChangeKind::AgendaRevised
        | ChangeKind::PacketPosted
        | ChangeKind::MinutesPosted
        | ChangeKind::VideoPosted
        | ChangeKind::ItemAdded
        | ChangeKind::ItemReturned => after,
        ChangeKind::ItemRemoved | ChangeKind::Removed => before,
        ChangeKind::AttachmentsChanged => about_item(documents(&change.before, &change.after)),
        ChangeKind::VoteRecorded => about_item(vote(&change.after)),
        ChangeKind::VoteCorrected => about_item(format!("{} → {}", vote(&change.before), vote(&change.after))),
        ChangeKind::Returned => String::new(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().map(str::to_owned).unwrap_or_default()
}

/// `2026-03-09T18:00:00` as people write it.
fn moment(value: &Value) -> String {
    let text = text(value);
    match text.split_once('T') {
        Some((day, time)) => format!("{day} {}", time.get(..5).unwrap_or(time)),
        None => text,
    }
}

/// Which documents came and went, by their names; the same names are new files.
fn documents(before: &Value, after: &Value) -> String {
    let names = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(|document| text(&document["name"])).collect()
    };
    let (before, after) = (names(before), names(after));
    let new = after.iter().filter(|name| !before.contains(name)).map(|name| format!("+ {name}"));
    let gone = before.iter().filter(|name| !after.contains(name)).map(|name| format!("− {name}"));
    let told: Vec<String> = new.chain(gone).collect();
    if told.is_empty() { "new files under the same names".to_owned() } else { told.join(", ") }
}

fn vote(value: &Value) -> String {
    let count = |key: &str| value["tally"][key].as_i64().unwrap_or(0);
    let result = value["result"].as_str().unwrap_or("no result").replace('_', " ");
    format!("{result} {}–{}", count("yes"), count("no"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_core::Timestamp;
    use serde_json::json;

    fn sentence_of(kind: ChangeKind, before: Value, after: Value, item: Option<&str>) -> String {
        let (meeting_id, city_key) = ("paloaltoCA_0".to_owned(), "paloaltoCA".to_owned());
        let at = Timestamp::from_millis(0);
        let change =
            MeetingChange { meeting_id, revision: 1, ordinal: 0, city_key, kind, item_id: None, before, after, at };
        sentence(&change, item)
    }

    #[test]
    fn changes_are_told_in_words() {
        let added = json!({"title": "Council", "starts_at": "2026-03-09T18:00:00", "status": null});
        assert_eq!(sentence_of(ChangeKind::Added, Value::Null, added, None), "2026-03-09 18:00");
        let moved = sentence_of(ChangeKind::Moved, json!("2026-03-09T18:00:00"), json!("2026-03-10"), None);
        assert_eq!(moved, "2026-03-09 18:00 → 2026-03-10");
        assert_eq!(
            sentence_of(ChangeKind::StatusChanged, json!("cancelled"), Value::Null, None),
            "cancelled → as announced"
        );
        assert_eq!(sentence_of(ChangeKind::AgendaPosted, Value::Null, json!({"items": 12}), None), "12 items");
        let files = (json!([{"name": "Report"}]), json!([{"name": "Report"}, {"name": "Map"}]));
        assert_eq!(sentence_of(ChangeKind::AttachmentsChanged, files.0, files.1, Some("Trees")), "Trees: + Map");
        let vote = json!({"result": "passed", "tally": {"yes": 5, "no": 2}});
        assert_eq!(sentence_of(ChangeKind::VoteRecorded, Value::Null, vote, Some("Trees")), "Trees: passed 5–2");
        // What an older program has stored in another form says less, and does no harm.
        assert_eq!(sentence_of(ChangeKind::VoteRecorded, Value::Null, Value::Null, None), "no result 0–0");
        assert_eq!(name(ChangeKind::AgendaPosted), "agenda_posted");
    }
}

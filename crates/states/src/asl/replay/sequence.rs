//! The second to fourth tier: one history laid beside the other.

use super::{
    case::{details, kind},
    compare::Wildcards,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The first difference of the types, ids and predecessors.
pub(super) fn difference_of_order(recorded: &[Value], ours: &[Value]) -> Option<String> {
    let direct = direct_difference(recorded, ours)?;
    if signatures(recorded).is_some_and(|recorded| Some(recorded) == signatures(ours)) { None } else { Some(direct) }
}

/// Event by event. Recorders hide the ids of events that run side by side, and leave some events out: those are only
/// counted.
fn direct_difference(recorded: &[Value], ours: &[Value]) -> Option<String> {
    let mut open: BTreeMap<u64, &Value> =
        ours.iter().filter_map(|event| Some((event["id"].as_u64()?, event))).collect();
    let mut hidden = Vec::new();
    for event in recorded {
        let Some(id) = event["id"].as_u64() else {
            hidden.push(event);
            continue;
        };
        let Some(own) = open.remove(&id) else { return Some(format!("event {id} {} is missing", kind(event))) };
        if kind(own) != kind(event) {
            return Some(format!("event {id} is {}, recorded is {}", kind(own), kind(event)));
        }
        let (previous, own) = (&event["previousEventId"], &own["previousEventId"]);
        if previous.is_u64() && previous != own {
            return Some(format!("event {id} {} follows {own}, recorded is {previous}", kind(event)));
        }
    }
    for event in hidden {
        let Some(id) = open.iter().find(|(_, own)| kind(own) == kind(event)).map(|(id, _)| *id) else {
            return Some(format!("an event {} is missing", kind(event)));
        };
        open.remove(&id);
    }
    let last = recorded.iter().filter_map(|event| event["id"].as_u64()).max();
    let beyond = open.iter().find(|(id, _)| last.is_none_or(|last| **id > last));
    beyond.map(|(id, own)| format!("event {id} {} is not recorded", kind(own)))
}

/// Each event with all that led to it, in any order: the same for runs that only interleave differently. None if an id
/// is hidden.
fn signatures(events: &[Value]) -> Option<Vec<String>> {
    let mut by_id: BTreeMap<u64, String> = BTreeMap::new();
    for event in events {
        let (id, previous) = (event["id"].as_u64()?, event["previousEventId"].as_u64()?);
        let details = details(event);
        let part = |key: &str| details.map_or(Value::Null, |details| details[key].clone());
        // The whole way would grow with its length; the three last events and the length tell enough.
        let before = by_id.get(&previous).map(String::as_str).unwrap_or_default();
        let depth = before.split('|').next().and_then(|depth| depth.parse::<usize>().ok()).unwrap_or(0);
        let tail: Vec<&str> = before.split('|').skip(1).take(2).collect();
        let own = format!("{} {} {}", kind(event), part("name"), part("index"));
        by_id.insert(id, format!("{}|{own}|{}", depth + 1, tail.join("|")));
    }
    let mut all: Vec<String> = by_id.into_values().collect();
    all.sort_unstable();
    Some(all)
}

/// The first difference of what events say; of causes alone, or of everything else.
pub(super) fn difference_of_details(
    recorded: &[Value],
    ours: &[Value],
    wildcards: &Wildcards,
    causes: bool,
) -> Option<String> {
    let by_id: BTreeMap<u64, &Value> = ours.iter().filter_map(|event| Some((event["id"].as_u64()?, event))).collect();
    for event in recorded {
        let fits = |own: &Value| difference(event, own, wildcards, causes).is_none();
        let own = event["id"].as_u64().and_then(|id| by_id.get(&id)).filter(|own| kind(own) == kind(event));
        let found = match own {
            Some(own) => difference(event, own, wildcards, causes),
            // Side by side: one of the same type has to fit.
            None if ours.iter().any(|own| kind(own) == kind(event) && fits(own)) => None,
            None => Some(format!(
                "{}: no event has what is recorded: {}",
                kind(event),
                short(details(event).unwrap_or(&Value::Null))
            )),
        };
        // Events that only interleave differently are found among all.
        if found.is_some() && !ours.iter().any(|own| kind(own) == kind(event) && fits(own)) {
            return found;
        }
    }
    None
}

fn difference(recorded: &Value, ours: &Value, wildcards: &Wildcards, causes: bool) -> Option<String> {
    let empty = Map::new();
    let of = |event: &Value| details(event).and_then(Value::as_object).cloned().unwrap_or_else(|| empty.clone());
    let (expected, own) = (of(recorded), of(ours));
    let mut keys: Vec<&String> =
        expected.keys().chain(own.keys()).filter(|key| (key.as_str() == "cause") == causes).collect();
    keys.dedup();
    for key in keys {
        let (expected, own) = (expected.get(key).unwrap_or(&Value::Null), own.get(key).unwrap_or(&Value::Null));
        if !wildcards.same(expected, own) {
            return Some(format!(
                "{} {}: `{key}` is {}, recorded is {}",
                recorded["id"],
                kind(recorded),
                short(own),
                short(expected)
            ));
        }
    }
    None
}

pub(super) fn short(value: &Value) -> String {
    let text = value.to_string();
    let shown: String = text.chars().take(300).collect();
    if shown.len() < text.len() { format!("{shown}...") } else { shown }
}

//! Digests: what waits for somebody, put together once a day or once a week.

use super::{
    compose::{Composer, alert_line, empty_city, is_shown_elsewhere, sort_changes, title},
    digest::{ChangeLine, Digest, MeetingDigest},
    follower::{Follower, Frequency, short_hash},
    matching::{Page, is_on},
    period::{period, today, zone},
    produce::{Pass, cities, to_each},
    shown,
};
use crate::export::between;
use crate::records::{ChangeKind, Civic as _, Jurisdiction, MatterFilter, MeetingFilter, Notification};
use bindery_store::StoreResult;
use jiff::{ToSpan as _, civil::Date};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Further meetings that are to come are named for so many days, and so many of a city at most.
const DAYS: i64 = 14;
const MOST_ALSO: usize = 10;

/// Stores the digests that are due. Returns how many.
pub(super) async fn digests(pass: &mut Pass<'_>) -> StoreResult<usize> {
    let mut waiting: BTreeMap<String, Vec<Notification>> = BTreeMap::new();
    for message in pass.store.civic().gathered_notifications().await? {
        waiting.entry(message.alert_id.clone().unwrap_or_default()).or_default().push(message);
    }
    let mut made = 0;
    for (id, messages) in waiting {
        let Some(follower) = pass.followers.iter().find(|follower| follower.id == id).cloned() else {
            give_up(pass, &messages, "nobody follows this any more").await?;
            continue;
        };
        let places = cities(pass.store, follower.cities()).await?;
        let zone = zone(places.first().and_then(|city| city.tz.as_deref()));
        let name = period(follower.frequency, &zone, pass.now).unwrap_or_else(|| {
            let keys: Vec<&str> = messages.iter().map(|message| message.key.as_str()).collect();
            short_hash(&keys.join("\n"))
        });
        let key = format!("digest:{id}:{name}");
        let is_made = follower.frequency != Frequency::Immediate
            && !pass.store.civic().known_notifications(std::slice::from_ref(&key)).await?.is_empty();
        if is_made {
            continue;
        }
        let digest = gathered(pass, &follower, &messages, today(&zone, pass.now)).await?;
        let Some(digest) = digest else {
            give_up(pass, &messages, "there was nothing left to tell").await?;
            continue;
        };
        let message = Notification {
            key,
            kind: "digest".to_owned(),
            alert_id: Some(id),
            body: json!({"digest": digest}),
            ..Notification::default()
        };
        let tells = messages.into_iter().map(|message| message.key).collect();
        let each = to_each(&follower.channels, &message);
        made += usize::from(pass.store.civic().add_digest(each, tells).await?);
    }
    Ok(made)
}

async fn give_up(pass: &Pass<'_>, messages: &[Notification], why: &str) -> StoreResult<()> {
    let keys = messages.iter().map(|message| message.key.clone()).collect();
    pass.store.civic().drop_gathered(keys, why).await
}

/// Everything that waits, as one digest. None where nothing of it is still to be told.
async fn gathered(
    pass: &mut Pass<'_>,
    follower: &Follower,
    messages: &[Notification],
    day: Date,
) -> StoreResult<Option<Digest>> {
    let mut city_keys: BTreeSet<String> = messages.iter().filter_map(|message| message.city_key.clone()).collect();
    city_keys.extend(follower.calendars().iter().cloned());
    let until = day.checked_add((DAYS - 1).days()).unwrap_or(Date::MAX);
    let mut digest = Digest {
        alert: Some(alert_line(follower)),
        from: day.to_string(),
        until: until.to_string(),
        ..Digest::default()
    };
    for city in cities(pass.store, city_keys.into_iter().collect()).await? {
        let of_city: Vec<&Notification> =
            messages.iter().filter(|message| message.city_key.as_ref() == Some(&city.city_key)).collect();
        let mut told = empty_city(&city);
        told.meetings = meetings(pass, &city, &of_city).await?;
        let lines = changes(&of_city, &told.meetings);
        sort_changes(lines, &mut told);
        told.matters = matters(pass, &city, &of_city, &told.meetings).await?;
        digest.cities.push(told);
    }
    if digest.is_empty() {
        return Ok(None);
    }
    digest.title = title(&digest);
    for told in digest.cities.iter_mut().filter(|told| follower.calendars().contains(&told.city_key)) {
        let Some(city) = pass.city(&told.city_key).await? else { continue };
        let (from, end) = between(&city, Some(day), Some(until));
        let filter = MeetingFilter { city_key: Some(city.city_key), from, until: end, ..MeetingFilter::default() };
        let shown: BTreeSet<&str> = told.meetings.iter().map(|meeting| meeting.line.id.as_str()).collect();
        let mut also = pass.store.civic().meetings(filter).await?;
        also.retain(|meeting| is_on(meeting) && !shown.contains(meeting.id.as_str()));
        told.also = also.iter().take(MOST_ALSO).map(shown::line).collect();
    }
    // A city of which only the calendar is known has no news.
    digest.cities.retain(|city| !city.is_empty());
    Ok(Some(digest))
}

fn reasons(message: &Notification) -> BTreeSet<String> {
    let why = message.body["why"].as_array().into_iter().flatten();
    why.filter_map(Value::as_str).filter(|why| !why.is_empty()).map(str::to_owned).collect()
}

/// The meetings that are told, as they are now: what does not take place any more is told as that.
async fn meetings(pass: &Pass<'_>, city: &Jurisdiction, messages: &[&Notification]) -> StoreResult<Vec<MeetingDigest>> {
    let mut wanted: HashMap<String, BTreeMap<String, BTreeSet<String>>> = HashMap::new();
    let mut whole: BTreeSet<String> = BTreeSet::new();
    for message in messages {
        let Some(meeting) = message.meeting_id.clone() else { continue };
        match message.kind.as_str() {
            "meeting_matched" => {
                wanted.entry(meeting.clone()).or_default();
                whole.insert(meeting);
            }
            "item_matched" => {
                let item = message.body["item_id"].as_str().unwrap_or_default().to_owned();
                wanted.entry(meeting).or_default().insert(item, reasons(message));
            }
            _ => {}
        }
    }
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let filter = MeetingFilter { ids: wanted.keys().cloned().collect(), ..MeetingFilter::default() };
    let mut found = pass.store.civic().meetings(filter).await?;
    found.retain(is_on);
    let mut told = Vec::new();
    for page in pass.composer.pages(found).await? {
        let items = wanted.get(&page.meeting.id).filter(|_| !whole.contains(&page.meeting.id));
        if let Some(meeting) = shown_meeting(&pass.composer, city, &page, items).await? {
            told.push(meeting);
        }
    }
    Ok(told)
}

/// None where the items that would be told are gone.
async fn shown_meeting(
    composer: &Composer<'_>,
    city: &Jurisdiction,
    page: &Page,
    items: Option<&BTreeMap<String, BTreeSet<String>>>,
) -> StoreResult<Option<MeetingDigest>> {
    let meeting = composer.meeting(city, page, items).await?;
    Ok(Some(meeting).filter(|meeting| items.is_none() || !meeting.items.is_empty()))
}

/// A new meeting that is shown with its agenda is not named again.
fn changes(messages: &[&Notification], meetings: &[MeetingDigest]) -> Vec<ChangeLine> {
    let shown: BTreeSet<&str> = meetings.iter().map(|meeting| meeting.line.id.as_str()).collect();
    let is_elsewhere = |line: &ChangeLine| {
        let kind = serde_json::from_value::<ChangeKind>(Value::String(line.kind.clone()));
        shown.contains(line.meeting.id.as_str()) && kind.is_ok_and(is_shown_elsewhere)
    };
    let lines = |message: &&Notification| {
        serde_json::from_value::<Vec<ChangeLine>>(message.body["changes"].clone()).unwrap_or_default()
    };
    messages.iter().flat_map(lines).filter(|line| !is_elsewhere(line)).collect()
}

/// Matters whose items are not shown already.
async fn matters(
    pass: &Pass<'_>,
    city: &Jurisdiction,
    messages: &[&Notification],
    meetings: &[MeetingDigest],
) -> StoreResult<Vec<super::digest::MatterLine>> {
    let items: BTreeSet<&str> =
        meetings.iter().flat_map(|meeting| &meeting.items).map(|item| item.id.as_str()).collect();
    let is_shown = |matter: &str| {
        let of_item =
            |message: &&&Notification| message.kind == "item_matched" && message.matter_id.as_deref() == Some(matter);
        messages
            .iter()
            .filter(of_item)
            .any(|message| message.body["item_id"].as_str().is_some_and(|id| items.contains(id)))
    };
    let mut told = Vec::new();
    for message in messages.iter().filter(|message| message.kind == "matter_matched") {
        let Some(id) = message.matter_id.clone().filter(|id| !is_shown(id)) else { continue };
        let filter = MatterFilter { ids: vec![id], ..MatterFilter::default() };
        for matter in pass.store.civic().matters(filter).await? {
            told.push(pass.composer.matter(city, matter, reasons(message).into_iter().collect()).await?);
        }
    }
    Ok(told)
}

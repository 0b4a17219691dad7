//! When a city is visited again, and which goes first.
//!
//! What counts is the last attempt, never the day of a meeting: a city whose agenda for next week is known is visited
//! all the same.

use bindery_core::Backoff;
use jiff::{SignedDuration, Timestamp};
use std::{cmp::Ordering, time::Duration};

/// What is known of the visits to a city.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CityVisits {
    pub city_key: String,
    pub vendor: String,
    pub last_attempt_at: Option<Timestamp>,
    pub last_success_at: Option<Timestamp>,
    pub consecutive_failures: u32,
    pub meetings_last_30_days: u32,
    /// The start of the next known meeting that has no agenda yet.
    pub next_without_agenda: Option<Timestamp>,
}

/// The longest that a city waits.
const LONGEST: SignedDuration = SignedDuration::from_hours(7 * 24);
/// While an agenda must soon be out.
const AGENDA_EXPECTED: SignedDuration = SignedDuration::from_hours(6);
const BEFORE_MEETING: SignedDuration = SignedDuration::from_hours(72);
/// Before a first success, as long as nothing is known of how often the city meets.
const NEVER_REACHED: SignedDuration = SignedDuration::from_hours(12);

/// How long a city with so many meetings in 30 days waits between visits.
pub fn interval(meetings_last_30_days: u32) -> SignedDuration {
    SignedDuration::from_hours(match meetings_last_30_days {
        8.. => 12,
        4..=7 => 24,
        _ => 7 * 24,
    })
}

/// When the city is due; none: it was never visited, and always is.
pub fn next_sync_at(city: &CityVisits) -> Option<Timestamp> {
    let last = city.last_attempt_at.max(city.last_success_at)?;
    let usual = if city.last_success_at.is_some() { interval(city.meetings_last_30_days) } else { NEVER_REACHED };
    let after = |wait| later(last, lengthened(wait, city.consecutive_failures));
    let soon = city.next_without_agenda.filter(|meeting| *meeting >= last).map(|meeting| {
        let opens = meeting.checked_sub(BEFORE_MEETING).unwrap_or(meeting);
        opens.max(after(AGENDA_EXPECTED))
    });
    Some(soon.map_or(after(usual), |soon| soon.min(after(usual))))
}

pub fn is_due(city: &CityVisits, now: Timestamp) -> bool {
    next_sync_at(city).is_none_or(|due| due <= now)
}

/// Twice as long with each failure, up to a week.
fn lengthened(wait: SignedDuration, failures: u32) -> SignedDuration {
    let longest = Duration::from_millis(LONGEST.as_millis() as u64);
    let backoff = Backoff::doubling(Duration::from_millis(wait.as_millis() as u64), longest).exact();
    SignedDuration::from_millis(backoff.delay(failures.saturating_add(1), 0.0).as_millis() as i64)
}

fn later(time: Timestamp, wait: SignedDuration) -> Timestamp {
    time.checked_add(wait).unwrap_or(Timestamp::MAX)
}

/// The higher, the earlier its turn: cities that were never visited first, then by how much happens there.
pub fn score(city: &CityVisits, now: Timestamp) -> f64 {
    let Some(last) = city.last_attempt_at.max(city.last_success_at) else { return 1000.0 };
    let days = now.duration_since(last).as_secs_f64() / 86_400.0;
    f64::from(city.meetings_last_30_days) * 10.0 + days.clamp(0.0, 10.0)
}

/// Which of two cities of a vendor goes first.
pub fn turn(one: &CityVisits, other: &CityVisits, now: Timestamp) -> Ordering {
    score(other, now).total_cmp(&score(one, now)).then_with(|| one.city_key.cmp(&other.city_key))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    fn hours(hours: i64) -> SignedDuration {
        SignedDuration::from_hours(hours)
    }

    fn city(city_key: &str, vendor: &str, meetings: u32, hours_ago: Option<i64>) -> CityVisits {
        let last = hours_ago.map(|ago| NOW - hours(ago));
        CityVisits {
            city_key: city_key.to_owned(),
            vendor: vendor.to_owned(),
            meetings_last_30_days: meetings,
            last_attempt_at: last,
            last_success_at: last,
            ..CityVisits::default()
        }
    }

    fn waits(city: &CityVisits) -> i64 {
        let last = city.last_attempt_at.max(city.last_success_at).unwrap();
        next_sync_at(city).unwrap().duration_since(last).as_hours()
    }

    #[test]
    fn s001_13_busy_cities_are_visited_more_often() {
        for (meetings, expected) in [(8, 12), (20, 12), (7, 24), (4, 24), (3, 168), (0, 168)] {
            assert_eq!(waits(&city("a", "x", meetings, Some(1))), expected);
        }
        assert!(is_due(&city("a", "x", 0, None), NOW));
        assert!(is_due(&city("a", "x", 8, Some(12)), NOW));
        assert!(!is_due(&city("a", "x", 8, Some(11)), NOW));
    }

    /// ▲ The seed takes the last meeting for the last visit, and knows neither of these.
    #[test]
    fn a_missing_agenda_shortens_and_failures_lengthen_the_wait() {
        let near = CityVisits { next_without_agenda: Some(NOW + hours(48)), ..city("a", "x", 0, Some(0)) };
        assert_eq!(waits(&near), 6);
        // Three days before the meeting the visits begin.
        let far = CityVisits { next_without_agenda: Some(NOW + hours(100)), ..near.clone() };
        assert_eq!(waits(&far), 28);
        let beyond = CityVisits { next_without_agenda: Some(NOW + hours(1000)), ..near.clone() };
        assert_eq!(waits(&beyond), 168);
        let failing =
            |failures, meetings| CityVisits { consecutive_failures: failures, ..city("a", "x", meetings, Some(0)) };
        assert_eq!([waits(&failing(1, 8)), waits(&failing(2, 8)), waits(&failing(9, 8))], [24, 48, 168]);
        assert_eq!(waits(&failing(u32::MAX, 0)), 168);
        assert_eq!(waits(&CityVisits { consecutive_failures: 1, ..near }), 12);
        // A city that never answered is asked again the next day, then less and less often.
        let never = |failures| CityVisits { last_success_at: None, ..failing(failures, 0) };
        assert_eq!([waits(&never(1)), waits(&never(2)), waits(&never(6))], [24, 48, 168]);
    }

    #[test]
    fn s001_12_cities_take_turns_by_activity() {
        let mut cities = [
            city("quietCA", "legistar", 1, Some(200)),
            city("busyCA", "legistar", 9, Some(13)),
            city("newCA", "legistar", 0, None),
            city("alsonewCA", "legistar", 0, None),
        ];
        cities.sort_by(|one, other| turn(one, other, NOW));
        let names: Vec<&str> = cities.iter().map(|city| city.city_key.as_str()).collect();
        assert_eq!(names, ["alsonewCA", "newCA", "busyCA", "quietCA"]);
    }
}

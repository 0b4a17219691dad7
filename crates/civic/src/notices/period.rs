//! When a digest is due: once a day or once a week, in the morning.

use super::follower::Frequency;
use bindery_core::Timestamp;
use jiff::{ToSpan as _, civil::Date, tz::TimeZone};

/// A day of digests begins at this hour.
const MORNING: i64 = 6;

/// The name of the period that a moment is in, by the clock of a zone: a day, or the Monday that its week begins with.
/// None where nothing is waited for.
pub(super) fn period(frequency: Frequency, zone: &TimeZone, now: Timestamp) -> Option<String> {
    let day = day(zone, now)?;
    match frequency {
        Frequency::Immediate => None,
        Frequency::Daily => Some(day.to_string()),
        Frequency::Weekly => {
            let since_monday = i64::from(day.weekday().to_monday_zero_offset());
            Some(format!("week-{}", day.checked_sub(since_monday.days()).ok()?))
        }
    }
}

fn day(zone: &TimeZone, now: Timestamp) -> Option<Date> {
    let moment = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?;
    let local = moment.to_zoned(zone.clone()).datetime();
    Some(local.checked_sub(MORNING.hours()).ok()?.date())
}

/// The day that it is in a zone.
pub(super) fn today(zone: &TimeZone, now: Timestamp) -> Date {
    let moment = jiff::Timestamp::from_millisecond(now.as_millis()).unwrap_or_default();
    moment.to_zoned(zone.clone()).date()
}

/// A zone by its name.
pub(super) fn zone(name: Option<&str>) -> TimeZone {
    name.and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_in_the_morning_and_a_week_on_monday() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let zone = zone(Some("America/Los_Angeles"));
        let daily = |text: &str| period(Frequency::Daily, &zone, at(text)).unwrap();
        assert_eq!(daily("2026-03-09T12:59:00Z"), "2026-03-08");
        assert_eq!(daily("2026-03-09T13:00:00Z"), "2026-03-09");
        let weekly = |text: &str| period(Frequency::Weekly, &zone, at(text)).unwrap();
        assert_eq!(weekly("2026-03-09T12:00:00Z"), "week-2026-03-02");
        assert_eq!(weekly("2026-03-15T20:00:00Z"), "week-2026-03-09");
        assert_eq!(period(Frequency::Immediate, &zone, at("2026-03-09T12:59:00Z")), None);
    }
}

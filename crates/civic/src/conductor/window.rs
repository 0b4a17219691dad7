//! The days that a visit asks about.

use crate::vendor::Window;
use bindery_core::Timestamp;
use jiff::{ToSpan as _, civil::Date, tz::TimeZone};

/// The day at a moment, as it is in the city.
pub(super) fn day_of(moment: Timestamp, zone: &TimeZone) -> Date {
    jiff::Timestamp::from_millisecond(moment.as_millis()).unwrap_or_default().to_zoned(zone.clone()).date()
}

/// Days around today, as it is in the city; or days that somebody has named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowRule {
    pub days_back: u16,
    pub days_forward: u16,
    /// In place of the days back, and of those forward.
    pub from: Option<Date>,
    pub to: Option<Date>,
}

impl Default for WindowRule {
    fn default() -> Self {
        Self { days_back: 14, days_forward: 45, from: None, to: None }
    }
}

impl WindowRule {
    /// The window of a city at a moment. Both ends are in it.
    pub fn at(&self, now: Timestamp, zone: &TimeZone) -> Window {
        let today = day_of(now, zone);
        let back = today.saturating_sub(i32::from(self.days_back).days());
        let forward = today.saturating_add(i32::from(self.days_forward).days());
        Window { from: self.from.unwrap_or(back), to: self.to.unwrap_or(forward) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn two_weeks_back_and_six_ahead_by_the_calendar_of_the_city() {
        // ▲ The seed looks two weeks ahead.
        let evening: Timestamp = "2026-03-03T02:00:00Z".parse().unwrap();
        let here = TimeZone::get("America/Los_Angeles").unwrap();
        let window = WindowRule::default().at(evening, &here);
        assert_eq!(window, Window { from: date(2026, 2, 16), to: date(2026, 4, 16) });
        assert_eq!(WindowRule::default().at(evening, &TimeZone::UTC).from, date(2026, 2, 17));
        let named = WindowRule { from: Some(date(2024, 1, 1)), to: Some(date(2024, 12, 31)), ..WindowRule::default() };
        assert_eq!(named.at(evening, &here), Window { from: date(2024, 1, 1), to: date(2024, 12, 31) });
    }
}

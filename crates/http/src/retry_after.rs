//! The header `Retry-After`: a number of seconds, or a date.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Longer waits are cut to this: a year, beyond which dates mean nothing.
pub const LONGEST_WAIT: Duration = Duration::from_secs(366 * 24 * 60 * 60);

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// How long to wait from now; none when the header says nothing that can be understood.
pub fn parse(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds).min(LONGEST_WAIT));
    }
    let until = UNIX_EPOCH + Duration::from_secs(seconds_of_date(value)?);
    // A date in the past means now.
    Some(until.duration_since(now).unwrap_or_default().min(LONGEST_WAIT))
}

/// The seconds since 1970 of a date such as `Wed, 21 Oct 2015 07:28:00 GMT`.
fn seconds_of_date(text: &str) -> Option<u64> {
    let (_, date) = text.split_once(", ")?;
    let words: Vec<&str> = date.split(' ').collect();
    let [day, month, year, time, "GMT"] = words[..] else { return None };
    let day: u64 = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let year: u64 = year.parse().ok().filter(|year| (1970..=9999).contains(year))?;
    let mut parts = time.split(':').map(|part| part.parse::<u64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    if hours > 23 || minutes > 59 || seconds > 60 || parts.next().is_some() {
        return None;
    }
    Some(((days_since_1970(year, month, day) * 24 + hours) * 60 + minutes) * 60 + seconds)
}

/// Years are counted from March, so that the day that some of them have more is the last one.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days_before_month = (153 * month + 2) / 5;
    let leap_days = year / 4 - year / 100 + year / 400;
    // 1 March of the year 0 lies 719 468 days before 1 January 1970.
    365 * year + leap_days + days_before_month + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_understood_and_nonsense_is_not() {
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        let now = at(1_445_412_480);
        assert_eq!(parse("120", now), Some(Duration::from_secs(120)));
        assert_eq!(parse("Wed, 21 Oct 2015 07:28:30 GMT", now), Some(Duration::from_secs(30)));
        assert_eq!(parse("Wed, 21 Oct 2015 07:27:00 GMT", now), Some(Duration::ZERO));
        assert_eq!(parse("99999999999", now), Some(LONGEST_WAIT));
        for nonsense in ["", "soon", "-5", "Wed, 21 Oct 2015", "Wed, 32 Oct 2015 07:28:00 GMT", "a, b c d e f"] {
            assert_eq!(parse(nonsense, now), None, "{nonsense}");
        }
    }

    #[test]
    fn leap_days_are_where_they_belong() {
        assert_eq!(days_since_1970(1970, 1, 1), 0);
        assert_eq!(days_since_1970(2000, 2, 29) + 1, days_since_1970(2000, 3, 1));
        assert_eq!(days_since_1970(2026, 1, 1), 20_454);
    }
}

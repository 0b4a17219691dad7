//! Dates and times, which spreadsheets keep as days since about 1900.

/// A moment as a calendar shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) year: i64,
    pub(super) month: u32,
    pub(super) day: u32,
    /// From 0 for Sunday.
    pub(super) weekday: usize,
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
    pub(super) millisecond: u32,
}

/// The last day that spreadsheets know, 31 December 9999.
const LAST_DAY: f64 = 2_958_466.0;

const MILLISECONDS_A_DAY: i64 = 86_400_000;

impl Moment {
    /// None for what is before the first day or after the last.
    pub(super) fn from_serial(serial: f64, from_1904: bool) -> Option<Self> {
        if !(0.0..LAST_DAY).contains(&serial) {
            return None;
        }
        let milliseconds = (serial * MILLISECONDS_A_DAY as f64).round() as i64;
        let (days, rest) = (milliseconds.div_euclid(MILLISECONDS_A_DAY), milliseconds.rem_euclid(MILLISECONDS_A_DAY));
        // Day 60 is 29 February 1900, which never was; days before it count from one day later.
        let since_1970 = match (from_1904, days) {
            (true, days) => days - 24_107,
            (false, days) if days < 60 => days - 25_568,
            (false, days) => days - 25_569,
        };
        let (year, month, day) = calendar(since_1970);
        Some(Self {
            year,
            month,
            day,
            weekday: (since_1970 + 4).rem_euclid(7) as usize,
            hour: (rest / 3_600_000) as u32,
            minute: (rest / 60_000 % 60) as u32,
            second: (rest / 1000 % 60) as u32,
            millisecond: (rest % 1000) as u32,
        })
    }
}

/// Year, month and day of a number of days since 1 January 1970, by counting years from March on.
fn calendar(since_1970: i64) -> (i64, u32, u32) {
    let days = since_1970 + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32;
    let month = (if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 }) as u32;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// A moment without a format: the date, the time, or both where both are there.
pub(in crate::office) fn plain_moment(serial: f64, from_1904: bool) -> Option<String> {
    let moment = Moment::from_serial(serial, from_1904)?;
    let date = format!("{:04}-{:02}-{:02}", moment.year, moment.month, moment.day);
    let time = format!("{:02}:{:02}:{:02}", moment.hour, moment.minute, moment.second);
    Some(match (serial < 1.0, serial.fract() == 0.0) {
        (true, false) => time,
        (_, true) => date,
        (false, false) => format!("{date} {time}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(plain_moment(1.0, false).as_deref(), Some("1900-01-01"));
        assert_eq!(plain_moment(61.0, false).as_deref(), Some("1900-03-01"));
        assert_eq!(plain_moment(45_351.5, false).as_deref(), Some("2024-02-29 12:00:00"));
        assert_eq!(plain_moment(0.25, false).as_deref(), Some("06:00:00"));
        assert_eq!(plain_moment(0.0, true).as_deref(), Some("1904-01-01"));
        assert_eq!(plain_moment(-1.0, false), None);
        assert_eq!(plain_moment(f64::INFINITY, false), None);
        assert_eq!(Moment::from_serial(45_351.0, false).unwrap().weekday, 4);
    }
}

//! Moments as Windows writes them.

/// Tenths of microseconds from 1601 to 1970.
const EPOCH: u64 = 116_444_736_000_000_000;

/// RFC 3339 in UTC; None for the zero that means "never", and for what no calendar has.
pub(crate) fn from_windows(ticks: u64) -> Option<String> {
    let seconds = ticks.checked_sub(EPOCH)? / 10_000_000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days are counted in eras of 400 years that begin in March, so that leap days come last.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    (year < 10_000).then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

#[cfg(test)]
mod tests {
    use super::from_windows;

    #[test]
    fn moments_are_dates() {
        assert_eq!(from_windows(125_911_550_460_000_000).as_deref(), Some("1999-12-31T23:04:06Z"));
        assert_eq!(from_windows(super::EPOCH + 951_782_400 * 10_000_000).as_deref(), Some("2000-02-29T00:00:00Z"));
        assert_eq!(from_windows(0), None);
        assert_eq!(from_windows(u64::MAX), None);
    }
}

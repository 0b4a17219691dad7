//! Moments as text.

use jiff::{Timestamp, tz::TimeZone};

/// Milliseconds since 1970 of an ISO 8601 moment with its offset, `2026-11-15T08:00:00Z` or `...+01:00`; none for
/// anything else.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let has_offset = text.ends_with('Z')
        || (bytes.len() > 6 && matches!(bytes[bytes.len() - 6], b'+' | b'-') && bytes[bytes.len() - 3] == b':');
    if bytes.get(10) != Some(&b'T') || !has_offset || !text.is_ascii() || text.contains(['[', ' ']) {
        return None;
    }
    text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// With milliseconds, in UTC.
pub(crate) fn show(milliseconds: i64) -> String {
    Timestamp::from_millisecond(milliseconds).map_or_else(
        |_| String::new(),
        |moment| moment.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_moments_with_an_offset_are_read() {
        for good in [
            "2016-12-05T21:29:29Z",
            "2016-12-05T21:29:29.123456789Z",
            "2016-12-05T21:29:29.00Z",
            "2016-12-05T21:29:29+01:00",
        ] {
            assert!(parse(good).is_some(), "{good}");
        }
        for bad in [
            "2016-12-05T21:29:29",
            "2016-13-05T21:29:29Z",
            "05-12-2016T21:29:29Z",
            "2016-12-05T25:29:29Z",
            "2016-12-05",
            "",
            "é",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
        assert_eq!(parse("1970-01-01T00:00:01.500Z"), Some(1_500));
        assert_eq!(show(1_500), "1970-01-01T00:00:01.500Z");
    }
}

//! An id for meetings to which their vendor gives none.

use jiff::civil::Date;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Twelve hexadecimal characters over title and date, the same on every visit. The hour is left out, as it moves more
/// often than the day; case and spacing of the title do not count.
pub fn fallback_id(title: &str, date: Option<Date>) -> String {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let date = date.map_or_else(|| "nodate".to_owned(), |date| date.to_string());
    let hash = Sha256::digest(format!("{title}\n{date}"));
    hash.iter().take(6).fold(String::new(), |mut id, byte| {
        let _ = write!(id, "{byte:02x}");
        id
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_meeting_gets_the_same_id() {
        let day = Date::new(2025, 11, 18).ok();
        let id = fallback_id("City  Council", day);
        assert_eq!((id.len(), id.as_str()), (12, fallback_id("city council ", day).as_str()));
        assert_ne!(id, fallback_id("City Council", Date::new(2025, 11, 19).ok()));
        assert_ne!(id, fallback_id("City Council", None));
    }
}

//! The number in front of a title, as agendas are printed.

use super::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// `1.1 Roll Call`, `A. Reports`, `IV.B Budget`, `5) Minutes`. A number alone is none: `5 Year Plan` begins with its words.
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^((?:\d{1,3}|[IVXLC]{1,6}|[A-Za-z])(?:[.)-](?:\d{1,3}|[IVXLC]{1,6}|[A-Za-z]))*[.)]?)\s+(\S.*)$")
});

/// The number of a line, without the mark behind it, and what the line says. The number is none where there is none.
pub(super) fn split(line: &str) -> (Option<String>, &str) {
    let line = line.trim();
    let found = NUMBERED.captures(line).and_then(|found| Some((found.get(1)?.as_str(), found.get(2)?.as_str())));
    match found {
        Some((number, title)) if number.contains(['.', ')']) => {
            (Some(number.trim_end_matches(['.', ')']).to_owned()), title)
        }
        _ => (None, line),
    }
}

/// Items below a heading like "Consent Calendar" are decided together.
pub(super) fn consent(section: &str) -> Option<bool> {
    let lowered = section.to_lowercase();
    // "Non-consent" names the others.
    (lowered.contains("consent") && !lowered.contains("non-consent") && !lowered.contains("nonconsent")).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_of_consent_is_no_consent() {
        assert_eq!(consent("CONSENT CALENDAR"), Some(true));
        assert_eq!((consent("NON-CONSENT"), consent("Reports")), (None, None));
    }

    #[test]
    fn numbers_stand_in_front_with_a_mark() {
        for (line, number, title) in [
            ("1.1 Roll Call", Some("1.1"), "Roll Call"),
            ("A. Reports of officers", Some("A"), "Reports of officers"),
            ("IV.B. Budget", Some("IV.B"), "Budget"),
            ("5) Minutes", Some("5"), "Minutes"),
            ("0.10 October", Some("0.10"), "October"),
            ("5 Year Plan", None, "5 Year Plan"),
            ("A Resolution on parks", None, "A Resolution on parks"),
            ("Adjourn.", None, "Adjourn."),
        ] {
            assert_eq!(split(line), (number.map(str::to_owned), title), "{line}");
        }
    }
}

//! The tier of matters: types that nobody decides about are stored and never queued.
//!
//! The value counts as a whole, or its short form in brackets: "Administrative Action" is not "Min".

use super::{Decision, Tier, Treatment, title};

/// Types that are not queued, in lower case.
pub const NOT_QUEUED: &[(&str, &str)] = &[
    ("matter.minutes", "minutes"),
    ("matter.minutes", "min"),
    ("matter.referral-calendar", "introduction & referral calendar"),
    ("matter.referral-calendar", "introduction and referral calendar"),
    ("matter.referral-calendar", "referral calendar"),
    ("matter.referral-calendar", "irc"),
    ("matter.information", "information item"),
    ("matter.information", "information only"),
    ("matter.information", "inf"),
];

pub fn decide(matter_type: &str) -> Decision {
    let lowered = title::lowered(matter_type);
    let (name, short) = match lowered.split_once('(') {
        Some((name, short)) => (name.trim(), short.trim_end_matches(')').trim()),
        None => (lowered.as_str(), ""),
    };
    let known = NOT_QUEUED.iter().find(|(_, word)| *word == name || (*word == short && !name.is_empty()));
    match known {
        Some((rule, _)) => Decision {
            tier: Tier::MatterType,
            treatment: Treatment::Skip,
            class: None,
            rule,
            reason: format!("matters of the type {matter_type} are stored and not read"),
        },
        None => Decision::keep(Tier::MatterType, "matter.kept", "matters of this type are read"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seed compares parts of words; ▲ whole values.
    #[test]
    fn s001_33_some_types_of_matters_are_stored_and_not_queued() {
        for kind in [
            "Minutes",
            "Minutes (Min)",
            "IRC",
            "Introduction & Referral Calendar (IRC)",
            "information item",
            "Information Item (Inf)",
            "Information Only",
        ] {
            assert!(decide(kind).is_skipped(), "{kind}");
        }
        for kind in [
            "Administrative Action",
            "Determination",
            "Nomination",
            "Termination",
            "Minor Variance",
            "Preliminary Plat",
            "Circular",
            "Informational Report",
            "Ordinance",
            "",
        ] {
            assert!(!decide(kind).is_skipped(), "{kind}");
        }
    }
}

//! The tier of meetings: trials of a vendor's software are no meetings.
//!
//! The existing rule drops every title with one of its words; here the whole title must read as a trial, so that a body
//! that is named by such a word ("Police Training Commission") is followed like any other.

use super::{Decision, Tier, Treatment, title};
use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// "Test Meeting 2", "Mock City Council Meeting", "Demo agenda".
static TRIAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:this is )?(?:a |the )?(?:mock|test(?:ing)?|demo|practice)",
        r"(?:[\s#:,.*-]+(?:mock|test(?:ing)?|demo|practice|city|town|county|village|council|board|commission|committee|meetings?|sessions?|agendas?",
        r"|events?|regular|special|run|call|zoom|webinar|only|hearing|items?|for|of|the|staff|clerk|training|please|ignore|do|not|use|delete|new|system|site|\d+|[a-z]))*$",
    ))
});
/// Not "Board Training", which is a meeting that the public may see.
static TRAINING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?:staff|clerks?|vendor|software|system|agenda|granicus|legistar|primegov|iqm2|novus\w*|civicclerk|test)\s+)*training(?:\s+(?:sessions?|meetings?|agendas?|only|test|class|\d+))*$",
    )
});
/// A part of the title, behind a dash or in brackets, that says it of the whole.
static MARKED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:mock|test|demo|practice)(?:\s+(?:meeting|session|agenda|run|only|event|\d+))*$"));

/// Skips what is only a trial.
pub fn decide(title: &str) -> Decision {
    let plain = title::plain(title);
    let whole = plain.trim_matches(|c: char| !c.is_alphanumeric());
    let marked = || {
        let lowered = title::lowered(title);
        let parts = lowered.split(['(', ')', '[', ']', '*', ':', '|']).flat_map(|part| part.split(" - "));
        parts.map(str::trim).any(|part| MARKED.is_match(part))
    };
    let skip = |rule, reason: &str| Decision {
        tier: Tier::Meeting,
        treatment: Treatment::Skip,
        class: None,
        rule,
        reason: reason.to_owned(),
    };
    if TRIAL.is_match(whole) {
        return skip("meeting.trial", "the title reads as a trial");
    }
    if TRAINING.is_match(whole) {
        return skip("meeting.training", "the title reads as a training in the software");
    }
    if marked() {
        return skip("meeting.marked", "the title is marked as a trial");
    }
    Decision::keep(Tier::Meeting, "meeting.kept", "the title reads as a meeting")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seed skips every title with one of the words; ▲ only whole titles that read as a trial.
    #[test]
    fn s001_46_trials_are_no_meetings() {
        for title in [
            "Test Meeting",
            "TEST",
            "test 2",
            "Mock City Council Meeting",
            "Demo Agenda",
            "Training Session",
            "Legistar Training",
            "Practice Run",
            "City Council - TEST",
            "Council Meeting (Demo)",
            "*** TEST ***",
        ] {
            assert!(decide(title).is_skipped(), "{title}");
        }
        for title in [
            "Police Training Commission",
            "Firefighter Training Board Meeting",
            "City Council",
            "Board of Supervisors - Training Session",
            "Mock Trial Committee",
            "Drug Testing Advisory Committee",
            "Best Practices Committee",
            "Demolition Review Board",
            "",
        ] {
            assert!(!decide(title).is_skipped(), "{title}");
        }
    }
}

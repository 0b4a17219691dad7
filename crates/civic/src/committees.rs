//! Which body meets, told by what the vendor says of a meeting.
//!
//! The vendor's name of the body counts; only where there is none does the title, up to a dash with spaces around it,
//! so that a "Sub-Committee" stays whole. Words that say what kind of meeting it is are taken off the end.

use crate::{banana::Banana, ids, pattern::pattern};
use regex::Regex;
use std::sync::LazyLock;

/// Names that are no body's.
const GENERIC: &[&str] = &[
    "meeting",
    "meetings",
    "agenda",
    "view meeting agenda",
    "view agenda packet",
    "minutes",
    "packet",
    "agenda packet",
    "regular meeting",
    "special meeting",
    "regular",
    "special",
    "notice",
    "calendar",
    "event",
    "public meeting",
    "public notice",
];

static KIND_AT_END: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)[\s,:/-]+(?:and\s+)?(?:(?:regular|special|adjourned|joint|emergency|organizational|annual|rescheduled|cancell?ed|virtual|hybrid|closed|work|study|executive)",
        r"|(?:work|study|closed|executive)\s*session|workshop|public\s+hearings?|meetings?|agenda(?:\s+packet)?|minutes|packet)\s*$",
    ))
});
/// A day at the end: `11/18/2025`, `November 18, 2025`.
static DAY_AT_END: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)[\s,:(-]+(?:on\s+)?(?:\d{1,2}[/-]\d{1,2}[/-]\d{2,4}|\d{4}-\d{2}-\d{2}|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4})\)?\s*$",
    )
});
static BODY_WORD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:council|commission|committee|sub-?committee|board|authority|agency|panel|task force|trustees|directors|supervisors|commissioners|selectmen|aldermen|assembly|legislature|cabinet|court|corporation|district)\b",
    )
});

/// The body's name out of a text about a meeting, or none if it names no body.
pub fn body_name(text: &str) -> Option<String> {
    let mut name = text.split_whitespace().collect::<Vec<_>>().join(" ");
    loop {
        let without_day = DAY_AT_END.replace(&name, "");
        let shorter = KIND_AT_END.replace(&without_day, "").trim_matches([' ', '-', ',', ':']).to_owned();
        if shorter.is_empty() || shorter == name {
            break;
        }
        name = shorter;
    }
    let is_generic = GENERIC.contains(&name.to_lowercase().as_str()) || !name.chars().any(char::is_alphabetic);
    let is_day = DAY_AT_END.is_match(&format!(" {name}"));
    (!is_generic && !is_day && !KIND_AT_END.is_match(&format!(" {name}"))).then_some(name)
}

/// The body that meets: by the vendor's name for it, else by the meeting's title.
pub fn committee_of(body: Option<&str>, title: Option<&str>) -> Option<String> {
    if let Some(name) = body.and_then(body_name) {
        return Some(name);
    }
    let title = title?;
    let mut parts = title.split(" - ").flat_map(|part| part.split(" – "));
    let first = parts.next().and_then(body_name);
    if parts.clone().next().is_none() {
        // Without a dash only what names a body is one: "Budget Retreat" is not.
        return first.filter(|name| BODY_WORD.is_match(name));
    }
    first.or_else(|| parts.filter_map(body_name).find(|name| BODY_WORD.is_match(name)))
}

/// A committee that is known already.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownCommittee {
    pub id: String,
    pub name: String,
    pub vendor_body_id: Option<String>,
}

/// Which committee a meeting is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedCommittee {
    pub id: String,
    pub name: String,
    pub is_new: bool,
    /// The vendor's id is new for a committee that is known by its name.
    pub gains_body_id: bool,
}

/// By the vendor's id of the body, else by name; one that is not known is made.
pub fn resolve(
    banana: &Banana,
    body_id: Option<&str>,
    body: Option<&str>,
    title: Option<&str>,
    known: &[KnownCommittee],
) -> Option<ResolvedCommittee> {
    let body_id = body_id.map(str::trim).filter(|id| !id.is_empty());
    let by_id = known.iter().find(|one| body_id.is_some() && one.vendor_body_id.as_deref() == body_id);
    if let Some(found) = by_id {
        let (id, name) = (found.id.clone(), found.name.clone());
        return Some(ResolvedCommittee { id, name, is_new: false, gains_body_id: false });
    }
    let name = committee_of(body, title)?;
    let same = |one: &&KnownCommittee| ids::normalized_name(&one.name) == ids::normalized_name(&name);
    if let Some(found) = known.iter().find(same) {
        let gains_body_id = body_id.is_some() && found.vendor_body_id.is_none();
        return Some(ResolvedCommittee {
            id: found.id.clone(),
            name: found.name.clone(),
            is_new: false,
            gains_body_id,
        });
    }
    Some(ResolvedCommittee { id: ids::committee_id(banana, &name), name, is_new: true, gains_body_id: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_told_by_vendor_or_title() {
        let by_title = |title: &str| committee_of(None, Some(title));
        for (title, expected) in [
            ("City Council - Regular Meeting", Some("City Council")),
            ("Finance Sub-Committee - CANCELLED", Some("Finance Sub-Committee")),
            ("Planning Commission Special Meeting", Some("Planning Commission")),
            ("City Council Work Session", Some("City Council")),
            ("City Council Adjourned Regular Meeting 11/18/2025", Some("City Council")),
            ("Board of Supervisors Public Hearing", Some("Board of Supervisors")),
            ("Special Meeting - City Council", Some("City Council")),
            ("Regular Meeting", None),
            ("Special Joint Meeting", None),
            ("View Agenda Packet", None),
            ("Agenda", None),
            ("Budget Retreat", None),
            ("November 18, 2025 - Regular Meeting", None),
            ("Meeting", None),
            ("", None),
        ] {
            assert_eq!(by_title(title).as_deref(), expected, "{title}");
        }
        // ▲ The vendor's body counts, not the title of the meeting.
        assert_eq!(committee_of(Some("Zoning Board"), Some("City Council - Meeting")).as_deref(), Some("Zoning Board"));
        assert_eq!(committee_of(Some("Meeting"), Some("City Council - Meeting")).as_deref(), Some("City Council"));
    }

    #[test]
    fn s001_21_a_committee_is_found_by_the_vendors_id_first() {
        let banana = Banana::parse("paloaltoCA").unwrap();
        let find = |id, body, title, known: &[KnownCommittee]| resolve(&banana, id, body, title, known);
        let made = find(Some("138"), Some("City Council"), None, &[]).unwrap();
        assert!(made.is_new);
        let known = [KnownCommittee { id: made.id.clone(), name: made.name, vendor_body_id: None }];
        let by_name = find(Some("138"), Some("CITY COUNCIL"), None, &known).unwrap();
        assert_eq!((by_name.id == made.id, by_name.is_new, by_name.gains_body_id), (true, false, true));
        let known = [KnownCommittee { vendor_body_id: Some("138".to_owned()), ..known[0].clone() }];
        let renamed = find(Some("138"), Some("Common Council"), None, &known).unwrap();
        assert_eq!((renamed.id == made.id, renamed.gains_body_id), (true, false));
        assert_eq!(find(None, None, Some("City Council - Meeting"), &known).unwrap().id, made.id);
        assert_eq!(find(Some("9"), None, Some("Regular Meeting"), &known), None);
    }
}

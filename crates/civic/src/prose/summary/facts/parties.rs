//! Who has to do with an item besides the body that decides it: firms by their legal form, and people by their part.

use crate::{pattern::pattern, prose::word_lists::word_set};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::{collections::HashSet, sync::LazyLock};

/// What somebody has to do with an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartyRole {
    Applicant,
    Appellant,
    Owner,
    /// The other side of a contract, an agreement or a lease.
    Contractor,
    Nominee,
    Other,
}

/// Words of a name. A comma may stand in front of its legal form.
const NAME: &str = r"(?:[A-Z][\w’'.&-]*|&)(?:\s(?:of|the|and|for|&|[A-Z][\w’'.&-]*)){0,6}";

static FIRM: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:[A-Z][\w’'&-]*\.?|&)(?:\s(?:of|and|for|&|[A-Z][\w’'.&-]*)){0,6},?\s(?:Inc|L\.?L\.?C|L\.?L\.?P|L\.?P|Ltd|Corp|Corporation|Company|Co|P\.C|N\.A|Foundation|Partners|Associates|Consultants|Contractors|Construction)\b\.?",
    )
});
static LABELLED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"(?:\b(?P<part>[Aa]pplicant|APPLICANT|[Aa]ppellant|APPELLANT|(?:[Pp]roperty )?[Oo]wner|OWNER|[Cc]ontractor|CONTRACTOR|[Vv]endor|VENDOR|[Nn]ominee|[Cc]onsultant|[Dd]eveloper)s?(?::|,|\sis)\s+)(?P<name>{NAME})"
    ))
});
static PAPER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:[Aa]greement|[Cc]ontract|[Ll]ease|[Aa]mendment|[Mm]emorandum of [Uu]nderstanding|MOU|[Aa]ddendum|[Pp]urchase [Oo]rder|[Ss]ettlement)\b",
    )
});
static WITH: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"\b(?:with|to|between)\s(?:the\s|The\s)?(?P<name>{NAME})")));
static SHORT_FORM: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:Inc|Ltd|Corp|Co|L\.?L\.?C|L\.?L\.?P|L\.?P|P\.C|N\.A)\.$"));
static APPEALS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"\b(?:The\s)?(?P<name>{NAME})\s(?:appeals|appealed|has appealed|have appealed|filed an appeal|has filed an appeal)\b"
    ))
});
/// How far behind a contract its other side stands, in bytes.
const FAR: usize = 160;

/// Bodies that decide are no parties, and neither is what only looks like a name.
static NO_PARTY: LazyLock<HashSet<&'static str>> = LazyLock::new(|| word_set(include_str!("no_parties.txt")));

/// The parties of a text, with the part that each has.
pub(crate) fn find(text: &str) -> Vec<(String, PartyRole)> {
    let mut all: Vec<(String, PartyRole)> = Vec::new();
    for found in LABELLED.captures_iter(text) {
        let (Some(part), Some(name)) = (found.name("part"), found.name("name")) else { continue };
        let part = part.as_str().to_lowercase();
        let role = match part.as_str() {
            "applicant" | "developer" => PartyRole::Applicant,
            "appellant" => PartyRole::Appellant,
            "contractor" | "vendor" | "consultant" => PartyRole::Contractor,
            "nominee" => PartyRole::Nominee,
            _ => PartyRole::Owner,
        };
        // A name that goes on with its legal form is found as a whole.
        let whole = FIRM.find_at(text, name.start()).filter(|firm| firm.start() == name.start());
        add(&mut all, whole.map_or(name.as_str(), |firm| firm.as_str()), role);
    }
    for found in APPEALS.captures_iter(text) {
        if let Some(name) = found.name("name") {
            add(&mut all, name.as_str(), PartyRole::Appellant);
        }
    }
    for paper in PAPER.find_iter(text) {
        // "Amendment to Contract 5 with Brook Steel": the first one that is somebody.
        let near = |start: usize| start >= paper.end() && start <= paper.end() + FAR;
        let names = WITH.captures_iter(text).filter_map(|found| found.name("name")).filter(|name| near(name.start()));
        for name in names {
            let whole = FIRM.find_at(text, name.start()).filter(|firm| firm.start() == name.start());
            let is_long = name.as_str().split(' ').count() >= 2;
            // Without a legal form, one word alone is more likely the beginning of something else.
            let named = whole.map(|firm| firm.as_str()).or(is_long.then_some(name.as_str()));
            if named.is_some_and(|named| add(&mut all, named, PartyRole::Contractor)) {
                break;
            }
        }
    }
    for firm in FIRM.find_iter(text) {
        add(&mut all, firm.as_str(), PartyRole::Other);
    }
    all
}

/// Whether it is somebody; known ones are not added again.
fn add(all: &mut Vec<(String, PartyRole)>, name: &str, role: PartyRole) -> bool {
    let mut name = name.trim_end_matches([',', ' ', '&']);
    // A full stop belongs to a shortened legal form; else it is the sentence's.
    if !SHORT_FORM.is_match(name) {
        name = name.trim_end_matches('.');
    }
    // A name does not end in a small word.
    while let Some((rest, last)) = name.rsplit_once(' ') {
        if !matches!(last, "of" | "the" | "and" | "for") {
            break;
        }
        name = rest;
    }
    let name = name.trim_start_matches("The ").trim_start_matches("& ");
    let lowered = name.to_lowercase();
    let is_body = [lowered.as_str(), lowered.trim_end_matches('.')].iter().any(|name| NO_PARTY.contains(name))
        || [
            "city of ",
            "county of ",
            "town of ",
            "no. ",
            "amendment no",
            "contract no",
            "agreement no",
            "city council",
        ]
        .iter()
        .any(|start| lowered.starts_with(start));
    // "The District and Contractor" are words of the contract itself.
    let speaks_of_paper =
        ["agreement", "memorandum", "contract", "amendment", "parties", "contractor", "consultant", "party"];
    let is_paper =
        lowered.split(' ').any(|word| speaks_of_paper.contains(&word.trim_end_matches('s')) || word == "parties");
    let is_shouted = name.chars().filter(|letter| letter.is_alphabetic()).all(char::is_uppercase) && name.contains(' ');
    let is_heading = is_shouted && name.split(' ').count() > 4;
    let is_somebody = name.len() >= 4 && !is_body && !is_paper && !is_heading;
    let is_known = all.iter().any(|(known, _)| known.to_lowercase().contains(&lowered));
    if is_somebody && !is_known {
        all.push((name.to_owned(), role));
    }
    is_somebody
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parties_come_with_their_part() {
        assert_eq!(
            find("Approval of Amendment No. 1 to Contract No. 01803 for metal with Brook Steel, Inc. The term ends."),
            [("Brook Steel, Inc.".to_owned(), PartyRole::Contractor)]
        );
        assert_eq!(find("Applicant: Jane Miller"), [("Jane Miller".to_owned(), PartyRole::Applicant)]);
        assert_eq!(
            find("an agreement with the Mill Creek Water District for water"),
            [("Mill Creek Water District".to_owned(), PartyRole::Contractor)]
        );
        assert!(find("an agreement with the City for water").is_empty());
        assert_eq!(
            find("The Old Ferry Association appeals the permit. The applicant is Brightcup Coffee Company."),
            [
                ("Brightcup Coffee Company".to_owned(), PartyRole::Applicant),
                ("Old Ferry Association".to_owned(), PartyRole::Appellant),
            ]
        );
    }
}

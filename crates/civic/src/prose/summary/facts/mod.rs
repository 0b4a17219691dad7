//! What the documents of an item state, each with the words that state it: amounts, dates, addresses, parties, and
//! what is asked for.
//!
//! | module | what it owns |
//! |---|---|
//! | `money` | amounts, and what each is for |
//! | `days` | dates, and what happens on each |
//! | `places` | addresses |
//! | `parties` | firms, bodies and applicants |

pub(crate) mod days;
pub(crate) mod money;
pub(crate) mod parties;
pub(crate) mod places;

pub use days::DateRole;
pub use parties::PartyRole;
pub use places::find as addresses_in;

use super::{
    Citation,
    cues::Read,
    rules::{ActionKind, Section},
};
use crate::pattern::pattern;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// No reader wants more, and a budget has thousands.
const MOST_AMOUNTS: usize = 12;
const MOST_DATES: usize = 10;
const MOST_ADDRESSES: usize = 6;
const MOST_PARTIES: usize = 8;
const MOST_ACTIONS: usize = 8;

/// An amount in dollars.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// Exact: `1974000`, `12.50`.
    pub value: String,
    /// As printed.
    pub text: String,
    /// In the document's words; none where it does not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub what_for: Option<String>,
    /// `not to exceed`, `per year`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub qualifier: Option<String>,
    #[serde(flatten)]
    pub citation: Citation,
}

/// A day that a document names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatedFact {
    /// `2026-03-05`.
    pub date: String,
    pub role: DateRole,
    /// The words around it.
    pub quote: String,
    #[serde(flatten)]
    pub citation: Citation,
}

/// A place that a document names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    pub text: String,
    #[serde(flatten)]
    pub citation: Citation,
}

/// Somebody other than the body that decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Party {
    pub name: String,
    pub role: PartyRole,
    #[serde(flatten)]
    pub citation: Citation,
}

/// Something that a body is asked to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionAsked {
    pub kind: ActionKind,
    pub quote: String,
    #[serde(flatten)]
    pub citation: Citation,
}

/// How far a decision has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It is told or talked about; nothing is decided.
    Information,
    FirstReading,
    Hearing,
    Final,
}

/// What the documents state. Each list is in the order of weight: what is asked for comes first, then the rest as it
/// stands in the documents.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KeyFacts {
    pub action_requested: Vec<ActionAsked>,
    pub amounts: Vec<Amount>,
    pub dates: Vec<DatedFact>,
    pub addresses: Vec<Address>,
    pub parties: Vec<Party>,
    /// None where nothing says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decision_stage: Option<Stage>,
}

/// Where a passage stands among those that state the same kind of fact.
fn rank(read: &Read) -> u8 {
    let by_section = match read.passage.section {
        _ if read.passage.is_row => 7,
        Section::Action => 0,
        _ if read.action.is_some() => 1,
        Section::Subject => 2,
        Section::Fiscal => 3,
        Section::Purpose | Section::Next => 4,
        Section::Body | Section::Other | Section::Affected => 5,
        Section::Discussion | Section::Background | Section::Dropped => 6,
    };
    // A second and third document (a contract, an old report) says less of this item than the first.
    by_section + if read.passage.document > 1 { 4 } else { 0 }
}

/// The facts of all passages.
pub(super) fn gather(read: &[Read]) -> KeyFacts {
    let mut ranked: Vec<&Read> = read.iter().collect();
    // Of two points of a recommendation the one that the title is about comes first: one report may serve two items.
    let of_title = |read: &Read| if read.asks { (read.of_title * 3.0).round() as i32 } else { 0 };
    ranked.sort_by_key(|read| (rank(read), -of_title(read), read.passage.document, read.passage.order));
    KeyFacts {
        action_requested: actions(&ranked),
        amounts: amounts(&ranked),
        dates: dates(&ranked),
        addresses: addresses(&ranked),
        parties: parties(&ranked),
        decision_stage: stage(read),
    }
}

/// What is asked for in so many words; without that, what the title or a line of an agenda names.
fn actions(ranked: &[&Read]) -> Vec<ActionAsked> {
    let is_early =
        |read: &&&Read| read.passage.document == 0 || (read.passage.document == 1 && read.passage.order < 12);
    let mut strong = ranked.iter().filter(|read| read.asks && read.passage.document <= 1).peekable();
    let mut found: Vec<ActionAsked> = Vec::new();
    if strong.peek().is_some() {
        strong.for_each(|read| add_action(&mut found, read));
    } else {
        ranked.iter().filter(is_early).for_each(|read| add_action(&mut found, read));
    }
    found
}

fn add_action(found: &mut Vec<ActionAsked>, read: &Read) {
    let Some(action) = read.action else { return };
    let quote = super::pick::shorten(&read.passage.text);
    let asked = ActionAsked { kind: action.kind, quote, citation: read.passage.citation.clone() };
    if found.iter().any(|known| super::pick::adds_nothing(&asked.quote, &known.quote)) {
        return;
    }
    let has_room = found.len() < MOST_ACTIONS;
    // The same at greater length counts instead.
    match found.iter_mut().find(|known| super::pick::adds_nothing(&known.quote, &asked.quote)) {
        Some(known) => *known = asked,
        None if has_room => found.push(asked),
        None => {}
    }
}

fn amounts(ranked: &[&Read]) -> Vec<Amount> {
    let mut all: Vec<Amount> = Vec::new();
    let largest = ranked.iter().flat_map(|read| &read.amounts).map(|amount| amount.cents).max().unwrap_or(0);
    for read in ranked {
        // Of a table the sums are of interest, and what stands below a heading about money.
        let is_sum = SUM.is_match(&read.lowered) || matches!(read.passage.section, Section::Fiscal | Section::Action);
        if read.passage.is_row && !is_sum {
            continue;
        }
        // In passing, small change is mentioned.
        let is_aside = rank(read) >= 5;
        for found in read.amounts.iter().filter(|amount| !is_aside || amount.cents >= largest / 200) {
            let text = read.passage.text.get(found.range.clone()).unwrap_or_default().to_owned();
            let what_for = if read.passage.is_row {
                read.passage.text.split(" | ").next().filter(|cell| !cell.contains('$')).map(str::to_owned)
            } else {
                money::purpose(&read.passage.text, found)
            };
            let qualifier = money::qualifier(&read.passage.text, found);
            let has_room = all.len() < MOST_AMOUNTS;
            match all.iter_mut().find(|known| known.value == found.value) {
                Some(known) => {
                    known.what_for = known.what_for.take().or(what_for);
                    known.qualifier = known.qualifier.take().or(qualifier);
                }
                None if has_room => {
                    let citation = read.passage.citation.clone();
                    all.push(Amount { value: found.value.clone(), text, what_for, qualifier, citation });
                }
                None => {}
            }
        }
    }
    all
}

static SUM: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:(?:grand |sub)?total|not to exceed|contract amount|cost|budget|award)\b"));

fn dates(ranked: &[&Read]) -> Vec<DatedFact> {
    let mut all: Vec<DatedFact> = Vec::new();
    for read in ranked {
        for found in &read.dates {
            let role = days::role(&read.passage.text, found);
            let has_room = all.len() < MOST_DATES;
            let known = all.iter_mut().find(|known| known.date == found.date);
            match known {
                // A deadline says more than a day that was only mentioned.
                Some(known) if known.role == DateRole::Mentioned && role != DateRole::Mentioned => {
                    known.role = role;
                    known.quote = days::around(&read.passage.text, found);
                    known.citation = read.passage.citation.clone();
                }
                None if has_room => all.push(DatedFact {
                    date: found.date.clone(),
                    role,
                    quote: days::around(&read.passage.text, found),
                    citation: read.passage.citation.clone(),
                }),
                Some(_) | None => {}
            }
        }
    }
    all
}

fn addresses(ranked: &[&Read]) -> Vec<Address> {
    let mut all: Vec<Address> = Vec::new();
    for read in ranked {
        for text in places::find(&read.passage.text) {
            let is_known = |known: &Address| {
                let (known, text) = (known.text.to_lowercase(), text.to_lowercase());
                known.contains(&text) || text.contains(&known)
            };
            if all.len() < MOST_ADDRESSES && !all.iter().any(is_known) {
                all.push(Address { text, citation: read.passage.citation.clone() });
            }
        }
    }
    all
}

fn parties(ranked: &[&Read]) -> Vec<Party> {
    let mut all: Vec<Party> = Vec::new();
    for read in ranked {
        for (name, role) in parties::find(&read.passage.text) {
            let key = name.to_lowercase();
            let has_room = all.len() < MOST_PARTIES;
            let known = all.iter_mut().find(|known| {
                let known = known.name.to_lowercase();
                known.contains(&key) || key.contains(&known)
            });
            match known {
                Some(known) => {
                    if known.name.len() < name.len() && role != PartyRole::Other {
                        known.name = name;
                    }
                    if known.role == PartyRole::Other {
                        known.role = role;
                    }
                }
                None if has_room => {
                    all.push(Party { name, role, citation: read.passage.citation.clone() });
                }
                None => {}
            }
        }
    }
    all
}

static FIRST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:first reading|introduc(?:e|tion of) (?:an? |the )?(?:interim |urgency )?ordinance|waive (?:full |further )?reading and introduce)\b",
    )
});
static LAST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:second reading|final reading|final passage|waive (?:full |further )?reading and adopt|third reading)\b",
    )
});
static HEARING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:conduct|hold|open|close) (?:a |the )?public hearing\b|^public hearing\b"));
static TOLD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\bno action (?:is |will be )?(?:required|requested|taken|needed|necessary)\b|\bfor information(?:al)?(?: purposes)? only\b|\binformation(?:al)? (?:item|only)\b",
    )
});

fn stage(read: &[Read]) -> Option<Stage> {
    // What contracts and old reports say of other readings does not count.
    let first = || read.iter().filter(|read| read.passage.document <= 1 && read.passage.order < 60);
    let says = |pattern: &regex::Regex| first().any(|read| pattern.is_match(&read.lowered));
    let rules: [(&regex::Regex, Stage); 4] =
        [(&FIRST, Stage::FirstReading), (&LAST, Stage::Final), (&HEARING, Stage::Hearing), (&TOLD, Stage::Information)];
    // A title names the reading that it is about; a report on the second one speaks of the first.
    let in_title = || read.iter().filter(|read| read.passage.document == 0);
    let titled = |pattern: &regex::Regex| in_title().any(|read| pattern.is_match(&read.lowered));
    if titled(&LAST) && !titled(&FIRST) {
        return Some(Stage::Final);
    }
    rules.into_iter().find(|(pattern, _)| says(pattern)).map(|(_, stage)| stage)
}

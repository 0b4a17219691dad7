//! Ballots, tallies, and how a vote ended.
//!
//! What the vendor says of the result counts first, then what was done with the matter (tabled, referred …), then the
//! vendor's tally, and the counted ballots last. Where more than a simple majority is needed, only the vendor knows.

pub mod matter;

use crate::{
    pattern::pattern,
    vendor::model::{Ballot, ItemVote},
};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

pub use matter::{MatterStatus, MatterStep, matter_step};

/// How one member voted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VoteValue {
    Yes,
    No,
    Abstain,
    Absent,
    Present,
    Recused,
    NotVoting,
}

impl VoteValue {
    /// Out of the vendor's word. None where there is no word: vendors list the members of a body beside items that
    /// nobody was called up for.
    pub fn parse(text: &str) -> Option<Self> {
        let word = text.trim().trim_matches(['.', '(', ')', '"']).trim().to_lowercase();
        Some(match word.as_str() {
            "" | "null" | "-" | "n/a" => return None,
            "yes" | "aye" | "ayes" | "yea" | "yeas" | "y" | "affirmative" | "in favor" | "in favour" | "favor"
            | "for" | "approve" | "approved" | "concur" => Self::Yes,
            "no" | "nay" | "nays" | "noes" | "n" | "negative" | "oppose" | "opposed" | "against" | "dissent" => {
                Self::No
            }
            "abstain" | "abstained" | "abstention" | "abstaining" => Self::Abstain,
            "absent" | "excused" | "not present" | "absent/excused" | "excused absence" | "unexcused" | "away" => {
                Self::Absent
            }
            "present" => Self::Present,
            "recused" | "recuse" | "recusal" | "conflict" | "conflict of interest" => Self::Recused,
            _ if ["bereavement", "medical", "jury", "parental", "paternity", "maternity", "sick", "vacation"]
                .iter()
                .any(|cause| word.contains(cause)) =>
            {
                Self::Absent
            }
            _ => Self::NotVoting,
        })
    }
}

/// How many voted how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    pub yes: u32,
    pub no: u32,
    pub abstain: u32,
    pub absent: u32,
    pub present: u32,
}

/// Counts ballots: who recuses is counted among those who abstain, who does not vote among those who are present.
pub fn compute_tally(votes: impl IntoIterator<Item = VoteValue>) -> Tally {
    let mut tally = Tally::default();
    for vote in votes {
        let count = match vote {
            VoteValue::Yes => &mut tally.yes,
            VoteValue::No => &mut tally.no,
            VoteValue::Abstain | VoteValue::Recused => &mut tally.abstain,
            VoteValue::Absent => &mut tally.absent,
            VoteValue::Present | VoteValue::NotVoting => &mut tally.present,
        };
        *count += 1;
    }
    tally
}

/// How a vote ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Passed,
    Failed,
    Tabled,
    Withdrawn,
    Referred,
    Amended,
    Unknown,
    NoVote,
}

/// By a simple majority: a tie fails.
pub fn determine_outcome(tally: &Tally) -> Outcome {
    match (tally.yes, tally.no) {
        (0, 0) => Outcome::NoVote,
        (yes, no) if yes > no => Outcome::Passed,
        _ => Outcome::Failed,
    }
}

/// How the body came to its decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Manner {
    /// Members were called up, or their votes are listed.
    RollCall,
    /// With the whole consent calendar; nobody voted on this alone.
    Consent,
    /// Nothing is said of single members.
    Unlisted,
}

/// What the outcome was told by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToldBy {
    Vendor,
    Action,
    Tally,
    Ballots,
}

/// A vote as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VoteRecord {
    pub outcome: Outcome,
    pub told_by: ToldBy,
    pub manner: Manner,
    pub tally: Tally,
    /// Each member once; a later ballot of the same member corrects an earlier one.
    pub ballots: Vec<CastBallot>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CastBallot {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person_id: Option<String>,
    pub vote: VoteValue,
}

static ACTIONS: LazyLock<Vec<(Regex, Outcome)>> = LazyLock::new(|| {
    [
        (r"(?i)\bwithdrawn?\b|\bwithdraw(?:s|al)\b|\bremoved from (?:the )?agenda\b|\bstricken\b", Outcome::Withdrawn),
        (r"(?i)\b(?:re-?)?refer(?:red|ral)?\b|\bremand(?:ed)?\b|\bsent (?:back )?to committee\b|\bassigned to\b", Outcome::Referred),
        (
            r"(?i)\btabled?\b|\blaid (?:over|on the table)\b|\bcontinued?\b|\bcontinuance\b|\bheld\b|\bhold\b|\bdefer(?:red)?\b|\bpostponed?\b|\bcarried over\b",
            Outcome::Tabled,
        ),
    ]
    .map(|(words, outcome)| (pattern(words), outcome))
    .into()
});
static NOT_PASSED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:fail(?:s|ed|ure)?|defeat(?:ed)?|rejected|denied|lost|not (?:approved|adopted|passed|carried)|disapproved|died?)\b",
    )
});
static PASSED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:pass(?:es|ed)?|carrie[sd]|adopted|approved|enacted|accepted|confirmed|granted|authorized|ratified|concurred|unanimous(?:ly)?|received and filed)\b",
    )
});
static AMENDED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\bamended\b"));
static MORE_THAN_HALF: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:two[ -]thirds|2/3|three[ -]fourths|3/4|four[ -]fifths|4/5|super-?majority|override|urgency)\b")
});
static COUNTS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(\d{1,3})\s*(?:[-–:]|to)\s*(\d{1,3})(?:\s*[-–:]\s*(\d{1,3}))?\b"));

/// What was done with a matter other than pass or fail it.
fn set_aside(text: &str) -> Option<Outcome> {
    ACTIONS.iter().find(|(words, _)| words.is_match(text)).map(|(_, outcome)| *outcome)
}

/// Pass or fail in the vendor's words.
fn decided(text: &str) -> Option<Outcome> {
    match () {
        () if NOT_PASSED.is_match(text) => Some(Outcome::Failed),
        () if PASSED.is_match(text) => Some(Outcome::Passed),
        () if AMENDED.is_match(text) => Some(Outcome::Amended),
        () => None,
    }
}

/// `9-0`, `5 to 2`, `7-1-1`.
fn tally_of_text(text: &str) -> Option<Tally> {
    let found = COUNTS.captures(text)?;
    let count = |at: usize| found.get(at).and_then(|digits| digits.as_str().parse().ok());
    Some(Tally { yes: count(1)?, no: count(2)?, abstain: count(3).unwrap_or(0), ..Tally::default() })
}

/// The ballots that were cast, each member's last.
fn cast(ballots: &[Ballot]) -> Vec<CastBallot> {
    let mut all: Vec<CastBallot> = Vec::new();
    for ballot in ballots {
        let Some(vote) = VoteValue::parse(&ballot.vote) else { continue };
        let name = ballot.name.trim();
        if name.is_empty() {
            continue;
        }
        let same = |one: &&mut CastBallot| match (&one.person_id, &ballot.person_id) {
            (Some(left), Some(right)) => left == right,
            _ => one.name.eq_ignore_ascii_case(name),
        };
        match all.iter_mut().find(same) {
            Some(earlier) => earlier.vote = vote,
            None => all.push(CastBallot { name: name.to_owned(), person_id: ballot.person_id.clone(), vote }),
        }
    }
    all
}

/// What is kept of a motion.
pub fn record(vote: &ItemVote, is_consent: bool) -> VoteRecord {
    let ballots = cast(&vote.ballots);
    let counted = compute_tally(ballots.iter().map(|ballot| ballot.vote));
    let written = vote.tally.as_deref().and_then(tally_of_text);
    let tally = if ballots.is_empty() { written.unwrap_or_default() } else { counted };
    let manner = match () {
        () if is_consent => Manner::Consent,
        () if ballots.is_empty() => Manner::Unlisted,
        () => Manner::RollCall,
    };
    let (result, action) = (vote.result.as_deref().unwrap_or_default(), vote.motion.as_deref().unwrap_or_default());
    let (outcome, told_by) = outcome_of(result, action, written.as_ref(), &counted);
    VoteRecord { outcome, told_by, manner, tally, ballots }
}

fn outcome_of(result: &str, action: &str, written: Option<&Tally>, counted: &Tally) -> (Outcome, ToldBy) {
    // A motion to refer that passes has referred the matter; one that fails has not.
    let by_result = set_aside(result).or_else(|| decided(result));
    match (by_result, set_aside(action)) {
        (Some(Outcome::Passed), Some(aside)) => return (aside, ToldBy::Vendor),
        (Some(outcome), _) => return (outcome, ToldBy::Vendor),
        (None, Some(aside)) => return (aside, ToldBy::Action),
        (None, None) => {}
    }
    if let Some(outcome) = decided(action).filter(|_| !is_still_to_come(action)) {
        return (outcome, ToldBy::Action);
    }
    if MORE_THAN_HALF.is_match(action) {
        return (Outcome::Unknown, ToldBy::Action);
    }
    match written {
        Some(tally) => (determine_outcome(tally), ToldBy::Tally),
        None => (determine_outcome(counted), ToldBy::Ballots),
    }
}

/// "Motion that the report be approved" says what is asked for, not what came of it.
fn is_still_to_come(action: &str) -> bool {
    let action = action.to_lowercase();
    ["motion", "move to", "moved", " to be ", " be "].iter().any(|words| action.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ballots(votes: &[(&str, &str)]) -> Vec<Ballot> {
        let ballot = |(name, vote): &(&str, &str)| Ballot {
            name: (*name).to_owned(),
            vote: (*vote).to_owned(),
            person_id: None,
        };
        votes.iter().map(ballot).collect()
    }

    fn outcome(motion: &str, result: &str, tally: &str) -> (Outcome, ToldBy) {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let vote = ItemVote { motion: some(motion), result: some(result), tally: some(tally), ..ItemVote::default() };
        let record = record(&vote, false);
        (record.outcome, record.told_by)
    }

    #[test]
    fn s001_25_tallies_and_outcomes_can_be_used_alone() {
        let votes =
            ["Aye", "yea", "Yes", "AYES", "in favor", "Nay", "Opposed"].map(|word| VoteValue::parse(word).unwrap());
        let tally = compute_tally(votes);
        assert_eq!((tally.yes, tally.no), (5, 2));
        assert_eq!(determine_outcome(&tally), Outcome::Passed);
        assert_eq!(determine_outcome(&Tally { yes: 2, no: 5, ..Tally::default() }), Outcome::Failed);
        // The seed takes a tie for tabled; ▲ it fails.
        assert_eq!(determine_outcome(&Tally { yes: 3, no: 3, ..Tally::default() }), Outcome::Failed);
        assert_eq!(determine_outcome(&Tally { absent: 3, ..Tally::default() }), Outcome::NoVote);
        for (word, expected) in [
            ("Recusal", VoteValue::Recused),
            ("Excused", VoteValue::Absent),
            ("Parental leave", VoteValue::Absent),
            ("Bereavement", VoteValue::Absent),
            ("Present", VoteValue::Present),
            ("Abstained", VoteValue::Abstain),
            ("something else", VoteValue::NotVoting),
        ] {
            assert_eq!(VoteValue::parse(word), Some(expected), "{word}");
        }
        let rest = compute_tally([VoteValue::Recused, VoteValue::NotVoting, VoteValue::Absent]);
        assert_eq!((rest.abstain, rest.present, rest.absent), (1, 1, 1));
        assert_eq!(serde_json::to_string(&tally).unwrap(), r#"{"yes":5,"no":2,"abstain":0,"absent":0,"present":0}"#);
    }

    /// ▲ The vendor's own result comes first.
    #[test]
    fn the_vendors_result_comes_first() {
        assert_eq!(outcome("", "Fail", "6-3"), (Outcome::Failed, ToldBy::Vendor));
        assert_eq!(outcome("", "Pass", ""), (Outcome::Passed, ToldBy::Vendor));
        assert_eq!(outcome("Adopted as Amended", "", "9-0"), (Outcome::Passed, ToldBy::Action));
        assert_eq!(outcome("Referred to Committee", "Pass", "9-0"), (Outcome::Referred, ToldBy::Vendor));
        assert_eq!(outcome("Motion to refer", "Fail", "2-7"), (Outcome::Failed, ToldBy::Vendor));
        assert_eq!(outcome("Continued to a date certain", "", ""), (Outcome::Tabled, ToldBy::Action));
        assert_eq!(outcome("Held in Committee", "", "5-0"), (Outcome::Tabled, ToldBy::Action));
        assert_eq!(outcome("Withdrawn", "", ""), (Outcome::Withdrawn, ToldBy::Action));
        assert_eq!(outcome("amended", "", ""), (Outcome::Amended, ToldBy::Action));
        assert_eq!(outcome("", "", "5 to 2"), (Outcome::Passed, ToldBy::Tally));
        assert_eq!(outcome("Override of the veto by two-thirds", "", "5-4"), (Outcome::Unknown, ToldBy::Action));
        assert_eq!(outcome("Motion that the report be approved", "", "2-5"), (Outcome::Failed, ToldBy::Tally));
        assert_eq!(outcome("", "", ""), (Outcome::NoVote, ToldBy::Ballots));
    }

    #[test]
    fn empty_votes_are_no_ballots_and_consent_is_no_roll_call() {
        let listed = ItemVote {
            result: Some("Pass".to_owned()),
            ballots: ballots(&[("A", ""), ("B", "null")]),
            ..ItemVote::default()
        };
        let consent = record(&listed, true);
        assert_eq!((consent.manner, consent.outcome, consent.ballots.len()), (Manner::Consent, Outcome::Passed, 0));
        assert_eq!(record(&listed, false).manner, Manner::Unlisted);
        let corrected =
            ItemVote { ballots: ballots(&[("A", "Aye"), ("B", "Nay"), ("a", "Nay")]), ..ItemVote::default() };
        let roll = record(&corrected, false);
        assert_eq!((roll.manner, roll.outcome, roll.tally.no), (Manner::RollCall, Outcome::Failed, 2));
    }
}

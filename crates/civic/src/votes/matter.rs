//! What a vote makes of the matter that it is about.

use super::Outcome;
use crate::pattern::pattern;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// How a matter stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatterStatus {
    Active,
    Passed,
    Failed,
    Tabled,
    Withdrawn,
    Referred,
    Amended,
    Vetoed,
    Enacted,
}

/// What a vote makes of a matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatterStep {
    pub status: MatterStatus,
    /// The day of the vote is the matter's final one.
    pub is_final: bool,
}

static NOT_FINAL_BODY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:sub-?)?committees?\b|\badvisory\b|\btask force\b|\bwork(?:ing)? group\b|\bsubcommittee\b")
});
static NOT_FINAL_READING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:first|1st|second of three) read(?:ing)?\b|\bintroduc(?:ed|tion)\b|\bset (?:for|a) (?:public )?hearing\b|\bforwarded\b|\brecommend(?:ed|ation)?\b|\badvanced\b",
    )
});
static VETOED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\bveto(?:ed)?\b"));
static OVERRIDDEN: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\boverrid(?:e|den)\b"));
static ENACTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(?:enacted|signed (?:by|into)|became law|effective)\b"));

/// The status that a matter has after a vote of a body; none where the vote says nothing of it. Only what a body other
/// than a committee passes or fails, and not in a first reading, is final.
pub fn matter_step(outcome: Outcome, action: Option<&str>, body: Option<&str>) -> Option<MatterStep> {
    let action = action.unwrap_or_default();
    let step = |status, is_final| Some(MatterStep { status, is_final });
    if VETOED.is_match(action) && !OVERRIDDEN.is_match(action) {
        return step(MatterStatus::Vetoed, true);
    }
    let is_final = !body.is_some_and(|body| NOT_FINAL_BODY.is_match(body)) && !NOT_FINAL_READING.is_match(action);
    match outcome {
        Outcome::Passed if is_final && ENACTED.is_match(action) => step(MatterStatus::Enacted, true),
        Outcome::Passed if is_final => step(MatterStatus::Passed, true),
        Outcome::Failed if is_final => step(MatterStatus::Failed, true),
        Outcome::Passed | Outcome::Failed => step(MatterStatus::Active, false),
        Outcome::Tabled => step(MatterStatus::Tabled, false),
        Outcome::Withdrawn => step(MatterStatus::Withdrawn, false),
        Outcome::Referred => step(MatterStatus::Referred, false),
        Outcome::Amended => step(MatterStatus::Amended, false),
        Outcome::Unknown | Outcome::NoVote => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_final_vote_settles_the_matter() {
        let step = |outcome, action, body| {
            matter_step(outcome, Some(action), Some(body)).map(|step| (step.status, step.is_final))
        };
        assert_eq!(step(Outcome::Passed, "Adopted", "City Council"), Some((MatterStatus::Passed, true)));
        assert_eq!(step(Outcome::Passed, "Enacted", "City Council"), Some((MatterStatus::Enacted, true)));
        assert_eq!(step(Outcome::Failed, "", "Board of Supervisors"), Some((MatterStatus::Failed, true)));
        assert_eq!(step(Outcome::Passed, "Recommended", "Finance Committee"), Some((MatterStatus::Active, false)));
        assert_eq!(
            step(Outcome::Passed, "Passed on First Reading", "City Council"),
            Some((MatterStatus::Active, false))
        );
        assert_eq!(step(Outcome::Tabled, "", "City Council"), Some((MatterStatus::Tabled, false)));
        assert_eq!(step(Outcome::Passed, "Vetoed by the Mayor", "City Council"), Some((MatterStatus::Vetoed, true)));
        assert_eq!(step(Outcome::NoVote, "", "City Council"), None);
    }
}

//! What of a council's agenda is worth reading, decided by rules that a person can read ([`rules`]).
//!
//! Nothing is thrown away: a filtered item is stored with its class, the id of the rule and the reason. The tiers are
//! asked in this order:
//!
//! ```text
//!  meeting ──► procedural items ──► ceremonial and administrative items ──► attachments ──► types of matters
//! ```
//!
//! A *substance guard* stands above every rule for items: what names an amount of money, an ordinance, a contract, a
//! numbered permit, carries a matter of a legislative type or a substantive document is read in full, whatever else its
//! title says. Ids of rules are stable, so that decisions of the past can be replayed; whoever changes what a rule
//! catches raises [`FILTER_VERSION`].

pub mod attachments;
pub mod compilation;
pub mod guard;
pub mod items;
pub mod matters;
pub mod meetings;
pub mod rules;
pub mod stored;
pub mod title;
pub mod versions;

use serde::{Deserialize, Serialize};

/// Changes with the rules. Hashes over attachments begin with it, so that a changed rule is not taken for a changed
/// document.
pub const FILTER_VERSION: u32 = 1;

/// Where in the order of tiers a decision was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// A whole meeting that is only a trial.
    Meeting,
    /// An item that only runs the meeting.
    Procedural,
    /// An item that honours somebody, or is routine administration.
    Subject,
    /// A document of an item.
    Attachment,
    /// A matter of a type that nobody decides about.
    MatterType,
}

/// Why an item is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Procedural,
    Ceremonial,
    Administrative,
}

impl Class {
    /// As stored in an item's `filter_reason`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Procedural => "procedural",
            Self::Ceremonial => "ceremonial",
            Self::Administrative => "administrative",
        }
    }
}

/// How much work something gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Treatment {
    /// Stored, and not read.
    Skip,
    /// One line, out of what is at hand.
    Brief,
    /// Read in full.
    Full,
}

/// What a tier says, and by which rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    pub tier: Tier,
    pub treatment: Treatment,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Stable, e.g. `item.procedural.roll-call`.
    pub rule: &'static str,
    /// A sentence for people.
    pub reason: String,
}

impl Decision {
    /// Nothing speaks against reading it.
    fn keep(tier: Tier, rule: &'static str, reason: impl Into<String>) -> Self {
        Self { tier, treatment: Treatment::Full, class: None, rule, reason: reason.into() }
    }

    /// What is stored in an item's `filter_reason`: only what is not read at all has one.
    pub fn filter_reason(&self) -> Option<&'static str> {
        self.class.filter(|_| self.treatment == Treatment::Skip).map(Class::as_str)
    }

    pub fn is_skipped(&self) -> bool {
        self.treatment == Treatment::Skip
    }
}

/// Everything that the tiers say about one item of a meeting, in their order: for people who ask why. The first tier
/// that skips is the last that is asked, as attachments and matters of what is not read do not matter.
pub fn explain(meeting_title: &str, item: &items::ItemFacts<'_>) -> Vec<Decision> {
    let mut decisions = vec![meetings::decide(meeting_title)];
    let skipped = |decisions: &[Decision]| decisions.last().is_some_and(Decision::is_skipped);
    if !skipped(&decisions) {
        decisions.push(items::decide(item));
    }
    if !skipped(&decisions) {
        decisions.extend(attachments::decide(item.attachments));
        decisions.extend(item.matter_type.map(matters::decide));
    }
    decisions
}

#[cfg(test)]
mod tests {
    use super::*;
    use items::ItemFacts;

    #[test]
    fn s001_69_the_tiers_are_asked_in_their_order() {
        let attachments = ["Public Comment", "Staff Report"];
        let item = |title| ItemFacts {
            title,
            attachments: &attachments,
            matter_type: Some("Contract"),
            ..ItemFacts::default()
        };
        let tiers =
            |meeting, item: &ItemFacts<'_>| explain(meeting, item).iter().map(|one| one.tier).collect::<Vec<_>>();

        assert_eq!(tiers("Mock Meeting", &item("Award of a contract")), [Tier::Meeting]);
        let bare = ItemFacts { title: "Roll Call", ..ItemFacts::default() };
        assert_eq!(tiers("City Council", &bare), [Tier::Meeting, Tier::Procedural]);
        let honour = ItemFacts { title: "Proclamation: Arbor Day", ..ItemFacts::default() };
        assert_eq!(tiers("City Council", &honour), [Tier::Meeting, Tier::Subject]);
        let all = tiers("City Council", &item("Award of a contract"));
        assert_eq!(all, [Tier::Meeting, Tier::Subject, Tier::Attachment, Tier::Attachment, Tier::MatterType]);
        assert!(all.is_sorted());
    }
}

//! The substance guard: what keeps an item from being filtered, whatever its title looks like.

use super::{attachments, items::ItemFacts};
use crate::pattern::pattern;
use regex::Regex;
use std::{borrow::Cow, sync::LazyLock};

/// Something with weight that an item shows.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    pub id: &'static str,
    /// Continues "The title names …".
    pub names: &'static str,
    pub pattern: &'static str,
}

/// In the order in which they are asked; all match anywhere in the title, in lower case.
pub const GUARDS: &[Guard] = &[
    Guard {
        id: "guard.money",
        names: "an amount of money",
        pattern: r"\$\s?\d|\b\d[\d,.]*\s*(?:million|billion|dollars)\b",
    },
    Guard {
        id: "guard.act",
        names: "an act, a contract or a decision about land",
        pattern: concat!(
            r"\b(?:ordinances?|resolutions?|bills?|local laws?|legislation|statutes?|contracts?|agreements?|leases?",
            r"|franchises?|zoning|rezon\w+|appeals?|variances?|easements?|annexations?|subdivisions?|plats?",
            r"|conditional use|special use|eminent domain|condemnation|moratoriums?|memorand(?:um|a) of understanding|mou)\b",
        ),
    },
    Guard {
        id: "guard.number",
        names: "a numbered permit, case or application",
        pattern: r"\b(?:permits?|licen[cs]es?|cases?|files?|applications?|petitions?|projects?|tracts?|parcels?|dockets?)\s*(?:nos?\b\.?|numbers?|#)\s*:?\s*[\w-]*\d",
    },
    Guard {
        id: "guard.rules",
        names: "rules or a plan of the jurisdiction",
        pattern: r"\b(?:polic(?:y|ies)|rules?|procedures?|guidelines?|by-?laws?|codes?|charters?|(?:general|master|comprehensive|strategic|specific) plans?|regulations?)\b",
    },
    Guard {
        id: "guard.finance",
        names: "spending, taxes or debt",
        pattern: concat!(
            r"\b(?:budgets?|appropriations?|grants?|funding|tax(?:es)?|lev(?:y|ies)|assessments?|bonds?|debts?|loans?",
            r"|fees?|rates?|purchas\w+|procurements?|bids?|rfps?|rfqs?|award of|warrants?|expenditures?|claims?",
            r"|settlements?|insurance|pensions?|salar(?:y|ies)|compensation|audits?|acquisitions?|surplus|conveyances?)\b",
        ),
    },
    Guard { id: "guard.emergency", names: "an emergency", pattern: r"\b(?:emergenc(?:y|ies)|disasters?)\b" },
    Guard {
        id: "guard.legal",
        names: "a dispute, or the rights of people",
        pattern: r"\b(?:litigation|lawsuits?|investigations?|disciplin\w+|terminations?|bargaining|unions?|labor|facial|surveillance|employment)\b",
    },
    Guard {
        id: "guard.works",
        names: "works or a network",
        pattern: r"\b(?:telecommunications?|cable|broadband|radio|antennas?|towers?|equipment|construction|street vacation|speed limits?|parking|traffic)\b",
    },
];

/// Names of bodies, whose words say nothing about the item: the minutes of the zoning board of appeals are minutes.
static BODIES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(?:board|commission|committee|panel) (?:of|on|for) (?:the )?(?:zoning|building|housing|tax|license|code|rules|budget|finance|audit)?",
        r"(?:,? (?:and|&) \w+)? ?(?:adjustments?|appeals?|assessments?|review|equalization|enforcement|rules|budget|finance|audit)?\b",
        r"|\b(?:zoning|budget|finance|audit|rules|policy|charter|labor|tax|parking|traffic|emergency|assessment|appeals|insurance|pension|bond|construction|cable|code|legislation|procurement|contracts?|grants?)",
        r"(?:,? (?:and|&) \w+| \w+)? (?:board|commission|committee|subcommittee|sub-committee|authority|council|panel|task force)\b(?: of (?:zoning )?(?:appeals|adjustments?|review))?",
    ))
});

static COMPILED: LazyLock<Vec<(&'static Guard, Regex)>> =
    LazyLock::new(|| GUARDS.iter().map(|guard| (guard, pattern(guard.pattern))).collect());

/// Types of matters that make law or bind the jurisdiction.
static LEGISLATIVE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:ordinances?|resolutions?|introductions?|local laws?|bills?|legislation|contracts?|agreements?|leases?|franchises?|motions?|public hearings?|appeals?|zoning|permits?)\b",
    )
});

/// What keeps an item from being filtered: the id of the guard, and a sentence. Guards that a rule stands above are
/// passed by.
pub fn find(item: &ItemFacts<'_>, lowered_title: &str, passed_by: &[&str]) -> Option<(&'static str, String)> {
    let title: Cow<'_, str> = BODIES.replace_all(lowered_title, " ");
    for (guard, found) in COMPILED.iter() {
        if !passed_by.contains(&guard.id) && found.is_match(&title) {
            return Some((guard.id, format!("the title names {}", guard.names)));
        }
    }
    let kind = item.matter_type.filter(|kind| item.matter_file.is_some() && LEGISLATIVE.is_match(&kind.to_lowercase()));
    if let Some(kind) = kind {
        return Some(("guard.matter", format!("it carries a matter of the type {kind}")));
    }
    let document = item.attachments.iter().find(|name| attachments::is_substantive(name))?;
    Some(("guard.document", format!("it carries the document {document}")))
}

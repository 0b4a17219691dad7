//! What a passage says, by the words in it.

use super::{
    facts::{
        days::{self, FoundDay},
        money::{self, FoundAmount},
    },
    lines::Passage,
    rules::{ACTIONS, AFFECTED, ASKING, ActionKind, GRAVE, NEXT, NO_COST, Section, objects, qualifiers},
};
use crate::{pattern::pattern, prose::word_lists::word_set};
use bindery_core::fold::tokens;
use regex::Regex;
use std::{collections::HashSet, sync::LazyLock};

/// An action, and how much it decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Action {
    pub(super) kind: ActionKind,
    pub(super) weight: u8,
}

/// A passage with what it says.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "a passage may say several things at once")]
pub(super) struct Read {
    pub(super) passage: Passage,
    /// In small letters with straight apostrophes.
    pub(super) lowered: String,
    pub(super) action: Option<Action>,
    /// It asks for the action in so many words, or as an order.
    pub(super) asks: bool,
    pub(super) amounts: Vec<FoundAmount>,
    pub(super) no_cost: bool,
    pub(super) dates: Vec<FoundDay>,
    pub(super) affected: bool,
    pub(super) next: bool,
    pub(super) grave: bool,
    /// Which share of the title's words it has, from 0 to 1.
    pub(super) of_title: f32,
}

/// One rule of [`ACTIONS`], made to patterns.
struct ActionPatterns {
    action: Action,
    /// It begins with the verb.
    order: Regex,
    /// It begins with the verb and goes on as an order does.
    clear_order: Regex,
    /// It begins with the verb as points of a list do: `AWARDING a contract`.
    doing: Regex,
    /// It begins with the verb as an agenda does that was filled in after the meeting: `AUTHORIZED THE CITY MANAGER`.
    done: Regex,
    /// It begins with the noun.
    noun: Regex,
    anywhere: Regex,
}

static PATTERNS: LazyLock<Vec<ActionPatterns>> = LazyLock::new(|| {
    let made = ACTIONS.iter().map(|rule| {
        let verbs = rule.verbs.join("|");
        let nouns = rule.nouns.join("|");
        let (objects, qualifiers) = (objects(), qualifiers());
        ActionPatterns {
            action: Action { kind: rule.kind, weight: rule.weight },
            order: pattern(&format!(r"^(?:{verbs})\b")),
            clear_order: pattern(&format!(r"^(?:{verbs})\s*(?:/|:|,|\b(?:{objects})\b)")),
            doing: pattern(&format!(r"^(?:{})\b", forms(&rule.verbs, "ing"))),
            done: pattern(&format!(r"^(?:{})\b", forms(&rule.verbs, "ed"))),
            noun: pattern(&format!(
                r"^(?:(?:first|second|third|fourth|fifth|final|proposed|annual|interim|urgency|\d+(?:st|nd|rd|th)) )*(?:{nouns})\b(?: (?:of|to|for|on|in|with|between|{qualifiers}|no\b|number|and|from|by)\b|:| [-–—])"
            )),
            anywhere: pattern(&format!(r"\b(?:{verbs}|{nouns})\b")),
        }
    });
    made.collect()
});

/// Verbs with another ending: `adopt` as `adopting` or `adopted`. Of several words the first one has it.
fn forms(verbs: &[&str], ending: &str) -> String {
    let form = |verb: &&str| {
        let (first, rest) = verb.split_once(' ').unwrap_or((verb, ""));
        let stem = match first.strip_suffix('e') {
            Some(stem) => stem.to_owned(),
            None if ending == "ed" && first.ends_with('y') => format!("{}i", first.trim_end_matches('y')),
            None => first.to_owned(),
        };
        format!("{stem}{ending} {rest}").trim_end().to_owned()
    };
    verbs.iter().map(form).collect::<Vec<_>>().join("|")
}

// What stands in front of an order: "That the City Council:", "Staff recommends that the board", "By motion,".
static LEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?:that|to|and|then|also|further|or|please|by (?:motion|resolution|ordinance|minute order|roll call vote)|(?:it is )?(?:recommended|requested) that|the|(?:city|town|county|village)? ?(?:council|board|commission|mayor)(?: of [a-z]+)?|(?:move|motion) to|should|shall|action)\b[,: ]*|resolution no\b[._ ]*[-–—:] +|consider: *(?:[a-h]|[1-9])[.)] +|(?:[a-h]|[1-9])[.)] +)+",
    )
});

// What was asked for before, and decided.
static DECIDED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:adopted|approved|passed|made|voted|seconded|carried|directed)\b.{0,30}\bmotion\b|\b(?:has|have|had) (?:\w+ )?recommended\b|\brequires that\b",
    )
});

/// Whether a text in small letters begins as an order does: `approve the agreement`.
pub(super) fn begins_with_order(lowered: &str) -> bool {
    PATTERNS.iter().any(|patterns| patterns.order.is_match(lowered))
}

/// Whether it goes on as an order does, too: `request for exception` is none.
pub(super) fn is_clear_order(lowered: &str) -> bool {
    PATTERNS.iter().any(|patterns| patterns.clear_order.is_match(lowered))
}

/// A text in small letters without what stands in front of an order.
pub(super) fn without_lead(lowered: &str) -> &str {
    LEAD.find(lowered).map_or(lowered, |lead| lowered.get(lead.end()..).unwrap_or(lowered))
}

pub(super) fn read(passage: Passage, title: &str) -> Read {
    let lowered = passage.text.to_lowercase().replace(['\u{2018}', '\u{2019}'], "'");
    let amounts = money::find(&passage.text);
    let dates = days::find(&passage.text);
    let (action, asks) = action_of(&passage, &lowered);
    let of_title = share_of_title(title, &lowered);
    Read {
        no_cost: NO_COST.is_match(&lowered),
        affected: AFFECTED.is_match(&lowered),
        next: NEXT.is_match(&lowered),
        grave: GRAVE.is_match(&lowered),
        passage,
        lowered,
        action,
        asks,
        amounts,
        dates,
        of_title,
    }
}

/// The action that a passage asks for, and whether it does so beyond doubt.
fn action_of(passage: &Passage, lowered: &str) -> (Option<Action>, bool) {
    if passage.is_row {
        return (None, false);
    }
    let is_recommendation = passage.section == Section::Action;
    // "To permit this, an amendment is needed" asks for nothing.
    let told = if !is_recommendation && lowered.starts_with("to ") { lowered } else { without_lead(lowered) };
    let is_title = passage.document == 0;
    let told = if is_title { told.strip_prefix("an ").or(told.strip_prefix("a ")).unwrap_or(told) } else { told };
    let first = passage.text.split_whitespace().next().unwrap_or_default();
    let is_shouted = first.chars().filter(|letter| letter.is_alphabetic()).count() >= 3
        && first.chars().filter(|letter| letter.is_alphabetic()).all(char::is_uppercase);
    // The second half of a sentence goes on with what the first one said.
    let is_half = !is_recommendation && passage.text.starts_with(char::is_lowercase);
    // The kind that is named first counts: "authorize the manager to execute" authorizes.
    let begins = PATTERNS.iter().find(|patterns| {
        let as_order = if is_recommendation || is_shouted { &patterns.order } else { &patterns.clear_order };
        as_order.is_match(told)
    });
    if let Some(patterns) = begins.filter(|_| !is_half) {
        return (Some(patterns.action), true);
    }
    let is_point = is_recommendation || is_shouted || is_title || passage.lead.is_some();
    if let Some(patterns) = PATTERNS.iter().find(|patterns| is_point && patterns.doing.is_match(told)) {
        return (Some(patterns.action), true);
    }
    if let Some(patterns) = PATTERNS.iter().find(|patterns| is_title && is_shouted && patterns.done.is_match(told)) {
        return (Some(patterns.action), false);
    }
    if let Some(patterns) = PATTERNS.iter().find(|patterns| !is_half && patterns.noun.is_match(told)) {
        return (Some(patterns.action), is_recommendation);
    }
    // A point of a list is what the order above it asks for.
    if let Some(lead) = &passage.lead {
        let above = PATTERNS.iter().find(|patterns| patterns.order.is_match(without_lead(lead)));
        return (above.map(|patterns| patterns.action), above.is_some());
    }
    let Some(asked) = ASKING.find(lowered).filter(|_| !DECIDED.is_match(lowered)) else { return (None, false) };
    let behind = lowered.get(asked.start()..).unwrap_or_default();
    let behind = behind.split_once(' ').map_or(behind, |(_, rest)| rest);
    let named = PATTERNS
        .iter()
        .filter_map(|patterns| patterns.anywhere.find(behind).map(|found| (found.start(), patterns.action)))
        // "Recommends that" is how it is asked, not what is asked for.
        .min_by_key(|(at, _)| *at);
    let action = named.map_or(Action { kind: ActionKind::Approve, weight: 1 }, |(_, action)| action);
    (Some(action), true)
}

/// Words that say nothing of a subject.
static EMPTY: LazyLock<HashSet<&'static str>> = LazyLock::new(|| word_set(include_str!("empty_words.txt")));

/// The words of a text that name things, without their endings.
pub(super) fn stems(text: &str) -> HashSet<String> {
    tokens(text)
        .into_iter()
        .map(|token| token.folded)
        .filter(|word| word.len() >= 3 && !EMPTY.contains(word.as_str()))
        .map(|word| {
            let stem = word.strip_suffix("ing").or(word.strip_suffix("ed")).or(word.strip_suffix('s')).unwrap_or(&word);
            if stem.len() >= 3 { stem.to_owned() } else { word }
        })
        .collect()
}

fn share_of_title(title: &str, lowered: &str) -> f32 {
    let wanted = stems(title);
    if wanted.is_empty() {
        return 0.0;
    }
    let found = stems(lowered);
    wanted.intersection(&found).count() as f32 / wanted.len() as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prose::summary::Citation;

    fn action(section: Section, text: &str) -> (Option<ActionKind>, bool) {
        let citation = Citation { document: "Report".into(), page: Some(1) };
        let passage =
            Passage { text: text.into(), section, citation, is_row: false, lead: None, document: 1, order: 0 };
        let read = read(passage, "");
        (read.action.map(|action| action.kind), read.asks)
    }

    #[test]
    fn titles_name_what_is_decided() {
        use ActionKind::*;
        for (text, kind) in [
            ("RESOLUTION NO.______ - APPROVE THE PERMIT", Some(Approve)),
            ("RESOLUTION NO. - Fifth Amendment to Contract DA-5190", Some(Award)),
            ("Resolution calling upon the Governor to act", Some(Adopt)),
            ("A Local Law to amend the code, in relation to bicycles", Some(Adopt)),
            ("AUTHORIZED THE CITY MANAGER to sign", Some(Authorize)),
            ("CONSIDER: A. AWARDING a contract to Brook Steel", Some(Award)),
            ("and B. AMENDING the budget by $5,000", Some(Amend)),
            ("Adopted budgets are kept in the library", None),
        ] {
            let citation = Citation { document: crate::prose::summary::TITLE.into(), page: None };
            let section = Section::Subject;
            let passage =
                Passage { text: text.into(), section, citation, is_row: false, lead: None, document: 0, order: 0 };
            assert_eq!(read(passage, "").action.map(|action| action.kind), kind, "{text}");
        }
    }

    #[test]
    fn actions_are_told_from_prose() {
        use ActionKind::*;
        for (text, kind, asks) in [
            ("AUTHORIZE the Chief Executive Officer to execute a lease.", Some(Authorize), true),
            ("RECEIVE AND FILE the quarterly report.", Some(Receive), true),
            ("Approval of Amendment No. 1 to Contract No. 18.", Some(Approve), false),
            ("Resolution approving findings to continue remote meetings.", Some(Adopt), false),
            ("Staff recommends that the Council adopt the ordinance.", Some(Adopt), true),
            ("That the City Council award a contract to the lowest bidder.", Some(Award), true),
            ("It is recommended that the Board deny the appeal.", Some(Deny), true),
            ("The Council approved the plan last year.", None, false),
            ("To permit the works, the agreement must be amended.", None, false),
            ("In 2017 the Board adopted a motion to approve a contract.", None, false),
            ("Fund balance stands at nine million.", None, false),
            ("Permit holders were told.", None, false),
        ] {
            assert_eq!(action(Section::Body, text), (kind, asks), "{text}");
        }
        assert_eq!(action(Section::Action, "Support bill 9."), (Some(Approve), true));
        assert_eq!(action(Section::Body, "AWARDING Contract No. 5 to Brook Steel."), (Some(Award), true));
        assert_eq!(action(Section::Body, "Awarding bodies met in May."), (None, false));
    }
}

//! The tiers of items: what only runs the meeting, honours somebody, or is routine.

use super::{Class, Decision, Tier, Treatment, guard, rules, title};
use crate::pattern::pattern;
use regex::Regex;
use rules::{Form, Rule};
use std::sync::LazyLock;

/// What is known of an item when it is to be decided about.
#[derive(Debug, Clone, Copy, Default)]
pub struct ItemFacts<'a> {
    pub title: &'a str,
    /// The heading that it stands under.
    pub section: Option<&'a str>,
    pub matter_file: Option<&'a str>,
    pub matter_type: Option<&'a str>,
    /// The names of its documents.
    pub attachments: &'a [&'a str],
}

struct Compiled {
    rule: &'static Rule,
    pattern: Regex,
    unless: Option<Regex>,
}

static RULES: LazyLock<Vec<Compiled>> = LazyLock::new(|| {
    let compile = |rule: &'static Rule| {
        let body = rule.pattern;
        let whole = match rule.form {
            Form::Exact => format!("^(?:{body})$"),
            Form::Short => format!(r"^(?:{body})(?:\s*[-–—:(,/&;].{{0,120}}|(?:\s+\S+){{0,4}})$"),
            Form::Start => format!(r"^(?:{body})\b"),
            Form::Anywhere => body.to_owned(),
        };
        Compiled { rule, pattern: pattern(&whole), unless: rule.unless.map(pattern) }
    };
    rules::ITEMS.iter().map(compile).collect()
});

/// What stands between two things that a title says.
static AND: LazyLock<Regex> = LazyLock::new(|| pattern(r"\s*(?:[/;,&]|\band\b)\s*"));

/// Only days, meetings and bodies, as they stand below a heading "Approval of minutes".
static ONLY_A_MEETING: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("^{}+$", rules::MEETING_WORD)));

/// Says how an item is treated. The first rule that fits counts, unless the guard speaks.
pub fn decide(item: &ItemFacts<'_>) -> Decision {
    let (lowered, plain) = (title::lowered(item.title), title::plain(item.title));
    let Some(rule) = rule_for(item, &lowered, &plain) else {
        return Decision::keep(Tier::Subject, "item.kept", "no rule speaks against it");
    };
    let tier = if rule.class == Class::Procedural { Tier::Procedural } else { Tier::Subject };
    if let Some((id, weight)) = guard::find(item, &lowered, rule.passes_by) {
        return Decision::keep(tier, id, format!("it {}, but {weight}", rule.says));
    }
    let reason = match rule.treatment {
        Treatment::Skip => format!("it {}", rule.says),
        Treatment::Brief | Treatment::Full => format!("it {}, which is worth one line", rule.says),
    };
    Decision { tier, treatment: rule.treatment, class: Some(rule.class), rule: rule.id, reason }
}

fn rule_for(item: &ItemFacts<'_>, lowered: &str, plain: &str) -> Option<&'static Rule> {
    if let Some(rule) = rule_in_table(item, lowered, plain) {
        return Some(rule);
    }
    let is_procedural = |part: &str| {
        rule_in_table(item, part, part)
            .is_some_and(|rule| rule.class == Class::Procedural && rule.form != Form::Anywhere)
    };
    let mut parts = AND.split(plain);
    if AND.is_match(plain) && parts.all(is_procedural) {
        return Some(&rules::SEVERAL);
    }
    let below_minutes = item.section.and_then(rule_for_heading).is_some_and(|rule| rule.id == rules::MINUTES);
    (below_minutes && ONLY_A_MEETING.is_match(plain)).then_some(&rules::MINUTES_BY_SECTION)
}

fn rule_in_table(item: &ItemFacts<'_>, lowered: &str, plain: &str) -> Option<&'static Rule> {
    let is_bare = item.attachments.is_empty() && item.matter_file.is_none();
    let fits = |one: &&Compiled| {
        let text = if one.rule.form == Form::Anywhere { lowered } else { plain };
        (is_bare || !one.rule.only_bare)
            && one.pattern.is_match(text)
            && !one.unless.as_ref().is_some_and(|unless| unless.is_match(lowered))
    };
    RULES.iter().find(fits).map(|found| found.rule)
}

fn rule_for_heading(heading: &str) -> Option<&'static Rule> {
    let item = ItemFacts { title: heading, ..ItemFacts::default() };
    rule_for(&item, &title::lowered(heading), &title::plain(heading))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide_title(title: &str) -> Decision {
        decide(&ItemFacts { title, ..ItemFacts::default() })
    }

    fn classes(titles: &[&str], class: Option<&str>) {
        for title in titles {
            let decision = decide_title(title);
            assert_eq!(decision.filter_reason(), class, "{title}: {} {}", decision.rule, decision.reason);
        }
    }

    #[test]
    fn every_rule_has_its_own_id() {
        let mut ids: Vec<_> =
            RULES.iter().map(|one| one.rule.id).chain(guard::GUARDS.iter().map(|one| one.id)).collect();
        ids.extend([rules::MINUTES_BY_SECTION.id, rules::SEVERAL.id]);
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all);
    }

    /// The seed discards these; ▲ they are stored and marked.
    #[test]
    fn s001_47_items_that_only_run_the_meeting_are_procedural() {
        classes(
            &[
                "Roll Call",
                "1. CALL TO ORDER",
                "Invocation",
                "Invocation - Pastor of a local church",
                "Pledge of Allegiance",
                "Flag Salute",
                "Approval of Minutes",
                "Approval of the Minutes of the Regular Meeting on January 17, 2019",
                "Approve the draft minutes of March 3, 2026",
                "Minutes of Regular Meeting on September 20, 2018",
                "Approval of the Minutes of the Zoning Board of Appeals",
                "Approval of Agenda",
                "Adjournment",
                "Adjourn to Closed Session",
                "Adjournment of the meeting of the Board of Selectmen",
                "Public Comment",
                "Public Comments on Non-Agenda Items",
                "Recess into Executive Session",
                "Moment of Silence",
                "New Business",
                "Time fixed for next meeting",
                "Report of the Auditor (No Report)",
                "Responses to Inquiries - NONE",
                "Call to Order / Roll Call / Pledge of Allegiance",
                "Announcements/Non-Agenda Public Comment",
                "Recommendation for approval of the minutes of the January 4 meeting",
            ],
            Some("procedural"),
        );
    }

    /// The seed and the code behind it skip appointments too; ▲ those keep one line.
    #[test]
    fn s001_48_honours_and_routine_are_stored_and_not_read() {
        classes(
            &[
                "Proclamation: Public Works Week",
                "Commendation of the fire department",
                "Oath of Office",
                "Happy birthday",
            ],
            Some("ceremonial"),
        );
        classes(
            &[
                "Liquor license for a restaurant at 12 Main Street",
                "Issuance of permits for sign(s) at 100 State Street",
                "Signboard permit",
            ],
            Some("administrative"),
        );
        for title in
            ["Appointment of a member of the Library Board", "Confirmation of the appointment of the police chief"]
        {
            let decision = decide_title(title);
            assert_eq!((decision.treatment, decision.filter_reason()), (Treatment::Brief, None), "{title}");
        }
    }

    /// ▲ False positives of the existing lists.
    #[test]
    fn what_has_legal_effect_is_read() {
        classes(
            &[
                "An ordinance regulating telecommunications facilities",
                "Franchise of Comcast Cable Communications LLC",
                "Purchase of a radio communications system",
                "Ordinance on facial recognition technology",
                "Recognition of the employees' union as bargaining agent",
                "Confirmation of special assessment",
                "Ordinance changing the rules of public comment",
                "Public comment policy",
                "Ratification of the Emergency Proclamation",
                "Roll call vote to approve the sale of the old library",
                "Roll Call: Approve the hiring of a clerk",
                "Public Comment - Authorize the closure of Main Street",
                "Reduce headways on line 4 to ten minutes",
                "Pledge of revenues for the water system",
                "Recess playground improvements",
                "Approval of the Consent Agenda",
                "Communications equipment",
                "Revocation of the liquor license of a tavern",
                "Adoption of a policy limiting speakers to three minutes",
                "Retirement of series 2014 notes",
                "Announcements and hiring of a clerk",
                "Communications and Marketing Department reorganization",
                "Public Comment and Parks Master Plan",
            ],
            None,
        );
    }

    #[test]
    fn the_guard_sees_matters_and_documents() {
        let title = "Proclamation";
        let skipped = ItemFacts { title, attachments: &["Proclamation"], ..ItemFacts::default() };
        assert!(decide(&skipped).is_skipped());
        let document = ItemFacts { title, attachments: &["Staff Report"], ..ItemFacts::default() };
        assert_eq!(decide(&document).rule, "guard.document");
        let matter = ItemFacts { title, matter_file: Some("2026-11"), matter_type: Some("Ordinance"), ..skipped };
        assert_eq!(decide(&matter).rule, "guard.matter");
        let bare = ItemFacts { title: "New Business", attachments: &["Slides"], ..ItemFacts::default() };
        assert_eq!(decide(&bare).rule, "item.kept");
    }

    #[test]
    fn days_below_the_heading_of_minutes_are_minutes() {
        let item = ItemFacts {
            title: "a. February 17, 2022 Regular Meeting",
            section: Some("VI. APPROVAL OF MINUTES"),
            ..ItemFacts::default()
        };
        assert_eq!(decide(&item).rule, "item.procedural.minutes-by-section");
        assert!(!decide(&ItemFacts { section: Some("New Business"), ..item }).is_skipped());
        assert!(!decide(&ItemFacts { title: "Hiring of a clerk", ..item }).is_skipped());
    }
}

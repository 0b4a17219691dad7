//! The tier of attachments: documents that add pages and no substance, told by their names.
//!
//! Filtered documents stay listed with the rule that caught them. A name that also says staff report, resolution,
//! ordinance, memo or transmittal is never filtered, a document without a name neither; and where nothing at all would
//! be left of an item, the likeliest of the filtered ones is kept: a "Master Agreement" can be the very thing that is
//! approved.

use super::{Decision, Tier, Treatment, title, versions};
use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// A kind of document that is not read.
#[derive(Debug)]
pub struct Rule {
    pub id: &'static str,
    /// Continues "it is …".
    pub is: &'static str,
    pub pattern: &'static str,
    /// Where nothing else is left, the document of the highest rank is read.
    pub rank: u8,
}

/// Patterns are in lower case and match anywhere in the name.
pub const RULES: &[Rule] = &[
    Rule {
        id: "attachment.public-comment",
        is: "correspondence of the public",
        pattern: concat!(
            r"\b(?:public|citizens?|written|public hearing) (?:comments?|correspondence|input|testimony)\b|\bcomment (?:letters?|ltrs?)\b|\b(?:correspondence|letters|petitions) received\b",
            r"|\bpetitions?\b|\bpu(?:b|bl|lb)(?:ic)? corr\w*|\bcommunications? from (?:the )?public\b|\bcommunity impact statements?\b|\bspeaker cards?\b",
            r"|\b(?:comm|cmte|committee|board) (?:pkt|packet)\b|\b(?:co-?)?sponsor(?:ship)?\s*(?:requests?|ltrs?|letters?)\b",
        ),
        rank: 0,
    },
    Rule {
        id: "attachment.routing-form",
        is: "a form that only sends the matter on",
        pattern: r"\bceqa det(?:ermination)?\b|\breferral (?:ceqa|fyi)\b|\breferral\b.*\bpc\b|\bmyr memo\b|\bmayor'?s? memo\b|\bcomm(?:ittee)? (?:rpt|report) (?:rqst|request)\b|\bhearing notice\b|\bnotice of (?:public )?hearing\b",
        rank: 1,
    },
    Rule {
        id: "attachment.environmental-report",
        is: "an environmental report",
        pattern: r"\b[fds]?eir\b|\benvironmental impact (?:report|statement)\b|\bceqa findings\b|\binitial study\b|\bnegative declaration\b|\bnotice of preparation\b",
        rank: 2,
    },
    Rule {
        id: "attachment.parcel-table",
        is: "a table of parcels",
        pattern: r"\b(?:tax )?parcel (?:tables?|lists?|maps?|numbers?)\b|\btax parcels?\b|\bproperty (?:lists?|tables?)\b|\bassessor(?:'?s)?\b.*\b(?:tables?|lists?|reports?|rolls?|data)\b|\bassessor(?:'?s)?$|\bapn lists?\b",
        rank: 3,
    },
    Rule {
        id: "attachment.boilerplate",
        is: "boilerplate of a contract",
        pattern: concat!(
            r"\bomnia partners\b|\bsourcewell\b|\bnaspo(?: valuepoint)?\b|\bu\.?s\.? communities\b|\bhgac.?buy\b|\bmaster agreements?\b|\bterms (?:and|&) conditions\b|\bgeneral conditions\b",
            r"|\binsurance certificates?\b|\bcertificates? of insurance\b|\bw-?9\b|\bbid tab(?:ulation)?s?\b",
        ),
        rank: 4,
    },
];

static COMPILED: LazyLock<Vec<(&'static Rule, Regex)>> =
    LazyLock::new(|| RULES.iter().map(|rule| (rule, pattern(rule.pattern))).collect());
/// The seed lists the mayor's memo among routing forms: that one name does not save itself by its own word.
static NEVER_FILTERED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:staff|agenda|council|board) reports?\b|\bresolutions?\b|\bordinances?\b|\bmemo(?:randum|randa|s)?\b|\btransmittals?\b",
    )
});
static MAYORS_MEMO: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:myr|mayor'?s?) memo\b"));
static SUBSTANTIVE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(?:staff|agenda|council|board) reports?\b|\b(?:resolutions?|ordinances?|memo(?:randum|randa|s)?|transmittals?|contracts?|agreements?|amendments?",
        r"|leases?|budgets?|bids?|permits?|appeals?|zoning|site plans?|exhibits?|applications?|scope of work|fiscal (?:note|impact)\w*)\b",
    ))
});

/// Separators between words that file names use in place of spaces.
fn words(name: &str) -> String {
    title::lowered(&name.replace(['_', '+'], " ").replace("%20", " "))
}

fn rule_for(name: &str) -> Option<&'static Rule> {
    let name = words(name);
    let is_saved = NEVER_FILTERED.is_match(&MAYORS_MEMO.replace_all(&name, " "));
    COMPILED.iter().find(|(_, found)| !is_saved && found.is_match(&name)).map(|(rule, _)| *rule)
}

/// The document is one that an item with weight carries.
pub fn is_substantive(name: &str) -> bool {
    rule_for(name).is_none() && SUBSTANTIVE.is_match(&words(name))
}

/// One decision per document, given as name and address: by their names, and of several versions the last is read.
pub fn decide_versions(documents: &[(&str, &str)]) -> Vec<Decision> {
    let names: Vec<&str> = documents.iter().map(|(name, _)| *name).collect();
    let is_old = versions::superseded(documents);
    let whole = decide(&names).into_iter().zip(is_old);
    let superseded = || Decision {
        tier: Tier::Attachment,
        treatment: Treatment::Skip,
        class: None,
        rule: "attachment.superseded",
        reason: "a later version of it is listed".to_owned(),
    };
    whole.map(|(decision, is_old)| if is_old && !decision.is_skipped() { superseded() } else { decision }).collect()
}

/// One decision per name, in their order. Where all would be skipped, the likeliest is kept.
pub fn decide(names: &[&str]) -> Vec<Decision> {
    let rules: Vec<_> = names.iter().map(|name| rule_for(name)).collect();
    // Of several of the same rank the first counts.
    let ranked = rules.iter().enumerate().rev().filter_map(|(at, rule)| rule.map(|rule| (rule.rank, at)));
    let likeliest = ranked.max_by_key(|(rank, _)| *rank).filter(|_| rules.iter().all(Option::is_some));
    let decision = |(at, rule): (usize, Option<&'static Rule>)| match rule {
        None => Decision::keep(Tier::Attachment, "attachment.kept", "no rule speaks against it"),
        Some(rule) if likeliest.is_some_and(|(_, kept)| kept == at) => {
            let reason = format!("it is {}, but without it nothing would be left", rule.is);
            Decision::keep(Tier::Attachment, "attachment.last", reason)
        }
        Some(rule) => Decision {
            tier: Tier::Attachment,
            treatment: Treatment::Skip,
            class: None,
            rule: rule.id,
            reason: format!("it is {}", rule.is),
        },
    };
    rules.iter().copied().enumerate().map(decision).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether each is skipped, beside something that is kept.
    fn skipped(name: &str) -> bool {
        decide(&[name, "Staff Report"]).first().unwrap().is_skipped()
    }

    #[test]
    fn s001_49_documents_without_substance_are_not_read() {
        for name in [
            "Public Comment",
            "Public Comments 3-4-26",
            "Correspondence Received",
            "Parcel Table",
            "Property List",
            "Assessor's Parcel List",
            "Assessor",
            "OMNIA Partners Contract",
            "Sourcewell_Contract",
            "Master Agreement",
            "CEQA Det 021626",
            "Myr Memo 021626",
            "Hearing Notice",
            "FEIR Volume 2",
            "Draft Environmental Impact Report",
            "DEIR",
            "W-9",
            "Pub Corr 021626",
        ] {
            assert!(skipped(name), "{name}");
        }
        for name in [
            "",
            "Staff Report",
            "Presentation",
            "Ordinance",
            "Raw9 data",
            "Eirene Street plans",
            "Transmittal of the Master Agreement",
            "Resolution certifying the FEIR",
            "Memo on public comment",
        ] {
            assert!(!skipped(name), "{name}");
        }
    }

    #[test]
    fn the_likeliest_is_kept_where_nothing_else_is_left() {
        let kept = |names: &[&str]| decide(names).iter().map(|one| !one.is_skipped()).collect::<Vec<_>>();
        assert_eq!(kept(&["Public Comment", "Master Agreement", "Parcel Map"]), [false, true, false]);
        assert_eq!(kept(&["Parcel Map", "Public Comment"]), [true, false]);
        assert_eq!(kept(&["Public Comment A", "Public Comment B"]), [true, false]);
        assert_eq!(kept(&["Master Agreement", "Slides"]), [false, true]);
        assert_eq!(decide(&["Parcel Map"]).first().unwrap().rule, "attachment.last");
        assert!(decide(&[]).is_empty());
    }
}

//! Amounts of money in a text, and what each is for.

use crate::pattern::pattern;
use regex::Regex;
use std::{ops::Range, sync::LazyLock};

static AMOUNT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:(?:us\s?|c)?\$\s?(?P<int>\d{1,3}(?:,\d{3})+|\d{1,15})(?P<frac>\.\d{1,4})?(?:\s?(?P<scale>million|billion|thousand|trillion)\b|(?P<letter>[mkb])\b)?|\b(?P<int2>\d{1,3}(?:,\d{3})+|\d{1,15})(?P<frac2>\.\d{1,4})?(?:\s(?P<scale2>million|billion|thousand))?\sdollars\b)",
    )
});
static QUALIFIED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(not[- ]to[- ]exceed|up to|at least|approximately|about|estimated(?: at)?|no more than|a maximum of|a minimum of)[a-z ]{0,30}(?:amount )?(?:of )?$",
    )
});
static PER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\s*(?:\([^)]{0,40}\)\s*)?(annually|per year|a year|per annum|each year|monthly|per month|a month|per hour|an hour|per day|per unit|per acre|per parcel)\b",
    )
});
static FOR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\s*(?:\([^)]{0,60}\)\s*)?(?:(?:annually|per year|a year|in total|plus tax),?\s*)?,?\s*(?:for|to fund|to pay for|to pay|toward|towards|to cover|to purchase|to be used for|in support of)\s+(?P<what>[^,;.()]{3,160})",
    )
});
static LEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)[\s,]*(?:\b(?:(?:for|at|in|with)\s+(?:an?\s|the\s)?(?:new\s|total\s|contract\s|additional\s|annual\s)*(?:costs?|amounts?|sum|price)|in|for|at|with|by|and|or|from|to|of|is|are|was|were|be|being|equals?|totals?|totaling|totalling|has|have|an|a|the|estimated|approximately|about|up|not[- ]to[- ]exceed|exceed|not|additional|amounting|will|would|shall|does|due|only)\b[\s,:]*)*$",
    )
});

/// An amount as a text prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundAmount {
    pub(crate) range: Range<usize>,
    /// In dollars: `1974000`, `12.50`.
    pub(crate) value: String,
    /// The same in cents, for comparisons.
    pub(crate) cents: u128,
}

/// Whether a text names an amount.
pub(crate) fn is_in(text: &str) -> bool {
    AMOUNT.is_match(text)
}

/// The amounts of a text, from left to right.
pub(crate) fn find(text: &str) -> Vec<FoundAmount> {
    AMOUNT
        .captures_iter(text)
        .filter_map(|found| {
            let whole = found.get(0)?;
            let digits = found.name("int").or(found.name("int2"))?.as_str().replace(',', "");
            let fraction = found.name("frac").or(found.name("frac2")).map_or("", |text| text.as_str());
            let scale = found.name("scale").or(found.name("scale2")).or(found.name("letter"));
            let zeros = match scale.map(|text| text.as_str().to_lowercase()).as_deref() {
                Some("thousand" | "k") => 3,
                Some("million" | "m") => 6,
                Some("billion" | "b") => 9,
                Some("trillion") => 12,
                _ => 0,
            };
            let cents = cents(&digits, fraction.trim_start_matches('.'), zeros)?;
            let value = match cents % 100 {
                0 => (cents / 100).to_string(),
                rest => format!("{}.{rest:02}", cents / 100),
            };
            Some(FoundAmount { range: whole.range(), value, cents })
        })
        .collect()
}

/// Parts of a cent are left out.
fn cents(digits: &str, fraction: &str, zeros: usize) -> Option<u128> {
    let places = zeros + 2;
    let shifted: String = fraction.chars().chain(std::iter::repeat('0')).take(places).collect();
    format!("{digits}{shifted}").parse().ok()
}

/// `not to exceed`, `up to`, `annually`: what the amount is without which it would be misread.
pub(crate) fn qualifier(text: &str, amount: &FoundAmount) -> Option<String> {
    let before = text.get(..amount.range.start).unwrap_or_default();
    let behind = text.get(amount.range.end..).unwrap_or_default();
    let said = QUALIFIED.captures(before).or_else(|| PER.captures(behind))?;
    Some(said.get(1)?.as_str().to_lowercase().replace("not-to-exceed", "not to exceed"))
}

/// What the amount is for, in the text's own words.
pub(crate) fn purpose(text: &str, amount: &FoundAmount) -> Option<String> {
    let behind = text.get(amount.range.end..).unwrap_or_default();
    if let Some(what) = FOR.captures(behind).and_then(|found| found.name("what")) {
        // "For $5, for a new total of $9" has the second for in front of another amount.
        if !what.as_str().contains('$') {
            return tidy(what.as_str(), true);
        }
    }
    let before = text.get(..amount.range.start).unwrap_or_default();
    // The clause in front of it: "Anticipated rent over the term is $5".
    let last_amount = AMOUNT.find_iter(before).last().map_or(0, |found| found.end());
    let is_open = |at: &usize| !before.get(*at..).is_some_and(|rest| rest.starts_with('(') && rest.contains(')'));
    let clause_at = before.rfind([';', ':', '(']).filter(is_open).map_or(0, |at| at + 1);
    let sentence_at = before.rfind(". ").map_or(0, |at| at + 2);
    let clause = before.get(clause_at.max(sentence_at).max(last_amount)..).unwrap_or_default();
    let lead = LEAD.find(clause).map_or(clause.len(), |found| found.start());
    let (said, lead) = clause.split_at_checked(lead).unwrap_or((clause, ""));
    // "$14,400 per year to the fund, $2,400 more": what stands between two amounts is the first one's.
    if last_amount > clause_at.max(sentence_at) && PER.is_match(clause) {
        return None;
    }
    // "Award the contract for the bridge to Brook Steel, the lowest bidder, in the amount of": not the bidder.
    let said = match said.rfind(", ") {
        Some(at) if said.get(at..).is_some_and(|piece| piece.contains("bidder")) => said.get(..at).unwrap_or(said),
        _ => said,
    };
    let last = said.rfind(", ").filter(|at| said.len() - at > 12).map_or(said, |at| said.get(at + 2..).unwrap_or(said));
    let of = |words: &str| tidy(FRONT.replace(words.trim(), "").trim(), false);
    of(last).or_else(|| of(SMALL.replace_all(lead, "").trim())).filter(|words| !SAYS_NOTHING.is_match(words))
}

static FRONT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^(?:(?:and|or|from|of|which|that|then|with|by|to|for)\s+)+"));
static SAYS_NOTHING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:from|to|by|currently|presently|increas\w+|decreas\w+|reduc\w+|amounts?|totals?|is|are|was|additional|approximately|about|or)$",
    )
});

static SMALL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^[\s,]*(?:(?:and|or|for|a|an|the|in|at|by|with|of)\s+)+|\s+(?:of|is|at)\s*$"));

/// At most twelve words: the first of what follows an amount, the last of what stands in front of it.
fn tidy(text: &str, from_front: bool) -> Option<String> {
    const MOST: usize = 12;
    let words: Vec<&str> = text.split_whitespace().collect();
    let skipped = if from_front { 0 } else { words.len().saturating_sub(MOST) };
    let kept = words.get(skipped..)?.iter().take(MOST).copied().collect::<Vec<_>>().join(" ");
    let kept =
        kept.trim_matches(|c: char| matches!(c, ',' | ';' | ':' | '.' | '|' | '–' | '—' | '-' | '"' | '“' | '”' | ' '));
    (kept.chars().filter(|letter| letter.is_alphabetic()).count() >= 3).then(|| kept.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_documents_print_them() {
        for (text, expected) in [
            ("costs $1,974,000.", "1974000"),
            ("$ 250 or more", "250"),
            ("$1.25 million", "1250000"),
            ("a $20K grant", "20000"),
            ("$12.50 per hour", "12.50"),
            ("two point 5 million dollars", "5000000"),
            ("US$3,000.75", "3000.75"),
            ("$5 Main Street", "5"),
        ] {
            assert_eq!(find(text).first().map(|found| found.value.as_str()), Some(expected), "{text}");
        }
        assert!(find("section 54956.9 of 2019").is_empty());
        assert_eq!(find(&format!("${}", "9".repeat(40))).len(), 1);
    }

    #[test]
    fn amounts_know_what_they_are_for() {
        for (text, expected, qualified) in [
            (
                "in an amount not to exceed $80,000 for repairs of the weir, from the water fund",
                "repairs of the weir",
                Some("not to exceed"),
            ),
            (
                "Anticipated total rent income over the 7-year lease term is $1,974,000.",
                "Anticipated total rent income over the 7-year lease term",
                None,
            ),
            ("The annual cost is $5,000 per year.", "The annual cost", Some("per year")),
            ("for cost of $5, for new total contract amount of $9,000", "new total contract amount", None),
            ("appropriate $9,000 to fund a crossing guard", "a crossing guard", None),
            (
                "Award the contract for the bridge to Brook Steel, the lowest bidder, in the amount of $9,000",
                "Award the contract for the bridge to Brook Steel",
                None,
            ),
            ("pays the rest, and from a state grant of $7,000", "a state grant", None),
        ] {
            let found = find(text).pop().unwrap();
            assert_eq!(purpose(text, &found).as_deref(), Some(expected), "{text}");
            assert_eq!(qualifier(text, &found).as_deref(), qualified, "{text}");
        }
    }
}

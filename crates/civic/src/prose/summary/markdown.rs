//! The summary as Markdown: what it is, the quotes with their places, the facts in short.

use super::{Citation, Extract, KeyFacts, Says, TITLE, facts::money};
use std::fmt::Write as _;

/// Stands above every extractive summary.
pub const LABEL: &str =
    "*Extracted from the item's documents, in their own words. No person and no model has written or checked it.*";

pub(super) fn markdown(extracts: &[Extract], facts: &KeyFacts) -> String {
    if extracts.is_empty() {
        return "*There is no text to take a summary from.*\n".to_owned();
    }
    let mut out = format!("{LABEL}\n\n");
    for extract in extracts {
        // Writing to a text cannot fail.
        let _ = writeln!(
            out,
            "- **{}:** “{}” ({})",
            word(extract.says),
            bold_amounts(&extract.quote),
            place(&extract.citation)
        );
    }
    let shown = |text: &str| extracts.iter().any(|extract| extract.quote.contains(text));
    let amounts: Vec<String> = facts
        .amounts
        .iter()
        .filter(|amount| !shown(&amount.text))
        .take(4)
        .map(|amount| {
            let qualifier =
                amount.qualifier.as_ref().map(|qualifier| format!(", {}", escape(qualifier))).unwrap_or_default();
            let what = amount.what_for.as_ref().map(|what| format!(": {}", escape(what))).unwrap_or_default();
            format!("**{}**{qualifier}{what} ({})", escape(&amount.text), place(&amount.citation))
        })
        .collect();
    if !amounts.is_empty() {
        let _ = writeln!(out, "- **Other amounts:** {}", amounts.join("; "));
    }
    out
}

fn word(says: Says) -> &'static str {
    match says {
        Says::Subject => "About",
        Says::Action => "Action asked for",
        Says::Money => "Money",
        Says::Affected => "Who and where",
        Says::Date => "Date",
        Says::NextStep => "Next step",
    }
}

fn place(citation: &Citation) -> String {
    match citation.page {
        _ if citation.document == TITLE => TITLE.to_owned(),
        Some(page) => format!("{}, p. {page}", escape(&citation.document)),
        None => escape(&citation.document),
    }
}

/// Text of others stays text: it makes no link, picture, heading or emphasis.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

fn bold_amounts(quote: &str) -> String {
    let mut out = String::with_capacity(quote.len() + 16);
    let mut at = 0;
    for amount in money::find(quote) {
        out.push_str(&escape(quote.get(at..amount.range.start).unwrap_or_default()));
        let _ = write!(out, "**{}**", escape(quote.get(amount.range.clone()).unwrap_or_default()));
        at = amount.range.end;
    }
    out.push_str(&escape(quote.get(at..).unwrap_or_default()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_stay_text_and_amounts_stand_out() {
        assert_eq!(bold_amounts("Pay $5,000 to [A](b) *now*"), r"Pay **$5,000** to \[A\](b) \*now\*");
        assert!(markdown(&[], &KeyFacts::default()).contains("no text"));
    }
}

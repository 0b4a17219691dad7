//! All documents of a submission: a table of what each is and says, then what a person should look at and why, what is
//! missing and why, and what was there twice.

use super::all_files;
use crate::output;
use bindery_app::results::{cell_text, pages_of};
use serde_json::{Map, Value};

/// What tells one document from the next, by the names that fields have in the shipped types. Of each line the first one
/// counts that the document has.
const TELLING: [&[&str]; 6] = [
    &["number", "document_number", "statement_number", "form_number"],
    &["seller", "merchant", "employer", "bank", "party_a", "surname", "sender", "name", "organisation"],
    &["employee", "party_b", "given_names"],
    &["subject", "title"],
    &["issue_date", "date", "statement_date", "payment_date", "period", "birth_date", "meeting_date"],
    &["grand_total", "net_pay", "closing_balance", "amount"],
];

/// Of a type of the user's own, so many fields are shown.
const MOST_OF_OTHERS: usize = 4;

/// What is longer tells nothing at a glance.
const LONGEST_VALUE: usize = 48;

pub(super) fn show(result: &Value, totals: &Map<String, Value>, documents: &[Value]) -> anyhow::Result<()> {
    let longest = output::stdout_width().map_or(usize::MAX, |width| if width < 100 { 22 } else { 40 });
    let rows = documents.iter().map(|document| {
        [
            cell_text(&document["document_id"]),
            output::short_in_the_middle(&cell_text(&document["file"]), longest),
            pages_of(document),
            cell_text(&document["doc_type"]),
            telling(document).join(", "),
        ]
    });
    output::fitted_table(&["ID", "FILE", "PAGES", "TYPE", "WHAT IT SAYS"], rows)?;
    to_look_at(documents)?;
    let gaps = gaps(result);
    for (reason, parts) in &gaps {
        output::line(format!("not read: {}: {reason}", parts.join(", ")))?;
    }
    let duplicates = result["duplicates"].as_array().map_or(&[][..], Vec::as_slice);
    for duplicate in duplicates {
        let (name, same_as) = (cell_text(&duplicate["name"]), cell_text(&duplicate["same_as"]));
        output::line(format!("read once: {name} has the same content as {same_as}"))?;
    }
    output::line("")?;
    let many = |noun: &str| output::count(totals.get(&format!("{noun}s")).and_then(Value::as_u64).unwrap_or(0), noun);
    let unread: usize = gaps.iter().map(|(_, parts)| parts.len()).sum();
    let review = totals.get("need_review").and_then(Value::as_u64).unwrap_or(0) as usize;
    let counted = [(review, "to look at"), (unread, "not read"), (duplicates.len(), "there twice")];
    let counted: Vec<String> =
        counted.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let counted = if counted.is_empty() { "nothing to look at".to_owned() } else { counted.join(", ") };
    output::line(format!("{}, {}, {}; {counted}", all_files(totals), many("page"), many("document")))?;
    Ok(())
}

/// A document in a few words: what it is, what tells it from others, and whether a person should look.
pub(crate) fn in_short(document: &Value) -> String {
    let what: Vec<String> = std::iter::once(cell_text(&document["doc_type"])).chain(telling(document)).collect();
    match reasons(document).first() {
        Some(reason) => format!("{}, to look at: {reason}", what.join(", ")),
        None => what.join(", "),
    }
}

fn telling(document: &Value) -> Vec<String> {
    let Some(fields) = document["extracted_data"].as_object() else { return Vec::new() };
    let fits = |value: &String| !value.is_empty() && value.chars().count() <= LONGEST_VALUE;
    let value = |name: &str| fields.get(name).map(cell_text).filter(fits);
    let said: Vec<String> = TELLING
        .iter()
        .filter_map(|names| names.iter().find_map(|name| Some((*name, value(name)?))))
        .map(|(name, said)| match value("currency") {
            Some(currency) if TELLING[5].contains(&name) && !said.contains(&currency) => format!("{said} {currency}"),
            _ => said,
        })
        .collect();
    if !said.is_empty() {
        return said;
    }
    fields.values().map(cell_text).filter(fits).take(MOST_OF_OTHERS).collect()
}

fn reasons(document: &Value) -> Vec<String> {
    if let Some(error) = document["error"].as_str() {
        return vec![error.to_owned()];
    }
    document["needs_review"].as_array().into_iter().flatten().map(cell_text).collect()
}

fn to_look_at(documents: &[Value]) -> anyhow::Result<()> {
    let mut is_first = true;
    for document in documents {
        let reasons = reasons(document);
        let Some(reason) = reasons.first() else { continue };
        if std::mem::take(&mut is_first) {
            output::line("")?;
        }
        let id = cell_text(&document["document_id"]);
        let more = match reasons.len() {
            1 => String::new(),
            many => format!(" (and {} more)", many - 1),
        };
        output::line(format!("to look at: {id}, {}: {reason}{more}", cell_text(&document["file"])))?;
    }
    Ok(())
}

/// What could not be read, by reason: what a machine lacks is one line for all pages, not one for each.
fn gaps(result: &Value) -> Vec<(String, Vec<String>)> {
    let mut gaps: Vec<(String, Vec<String>)> = Vec::new();
    for gap in result["failed"].as_array().into_iter().flatten() {
        let (file, reason) = (cell_text(&gap["file"]), cell_text(&gap["reason"]));
        let part = if gap["page"].is_null() { file } else { format!("{file} page {}", gap["page"]) };
        match gaps.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, parts)) => parts.push(part),
            None => gaps.push((reason, vec![part])),
        }
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_told_by_its_number_its_sender_its_date_and_its_sum() {
        let invoice = json!({"doc_type": "invoice", "extracted_data": {"grand_total": "119.00", "currency": "EUR",
            "seller": "Nordwind Papier GmbH", "buyer": "Somebody", "issue_date": "2026-01-15", "number": "7"}});
        assert_eq!(telling(&invoice), ["7", "Nordwind Papier GmbH", "2026-01-15", "119.00 EUR"]);
        assert_eq!(in_short(&invoice), "invoice, 7, Nordwind Papier GmbH, 2026-01-15, 119.00 EUR");
        let own = json!({"extracted_data": {"slip": "77", "colour": null, "weight": 5}});
        assert_eq!(telling(&own), ["77", "5"]);
        assert_eq!(telling(&json!({})), [] as [&str; 0]);
    }

    #[test]
    fn what_a_machine_lacks_is_said_once() {
        let result = json!({"failed": [
            {"file": "a.pdf", "page": 1, "reason": "no OCR"}, {"file": "b.pdf", "reason": "damaged"},
            {"file": "c.png", "page": 2, "reason": "no OCR"}]});
        let both = vec!["a.pdf page 1".to_owned(), "c.png page 2".to_owned()];
        assert_eq!(gaps(&result), [("no OCR".to_owned(), both), ("damaged".to_owned(), vec!["b.pdf".to_owned()])]);
    }

    #[test]
    fn why_to_look_is_the_review_or_the_failure() {
        assert_eq!(reasons(&json!({"needs_review": ["no date", "no sum"]})), ["no date", "no sum"]);
        assert_eq!(reasons(&json!({"error": "torn", "needs_review": ["x"]})), ["torn"]);
        assert!(in_short(&json!({"doc_type": "letter", "needs_review": ["no date"]})).ends_with("to look at: no date"));
    }
}

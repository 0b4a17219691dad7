//! A meeting in a few lines: the items with the greatest consequence, with what is asked and the money at stake. Made
//! from what was found out about each item; nobody is asked, and the same items give the same lines.

use super::requests::shorten;
use crate::{
    lines::one_line,
    prose::subject::{shared_stems, telling_stems},
    records::AgendaItem,
};
use serde_json::Value;

/// As many lines as a person takes in.
const MOST_LINES: usize = 6;
const LONGEST_TITLE: usize = 140;
const LONGEST_ACTION: usize = 160;

/// The lines, as a Markdown list; none where no item has a summary.
pub(super) fn build(items: &[AgendaItem]) -> Option<String> {
    let mut told: Vec<(u64, &AgendaItem)> = items
        .iter()
        .filter(|item| item.summary.is_some() && item.removed_at.is_none() && item.duplicate_of.is_none())
        .map(|item| (weight(item), item))
        .collect();
    // Of the heaviest, in the order of the agenda.
    told.sort_by_key(|(weight, item)| (std::cmp::Reverse(*weight), item.sequence));
    told.truncate(MOST_LINES);
    told.sort_by_key(|(_, item)| (item.sequence, item.id.as_str()));
    let lines: Vec<String> = told.into_iter().map(|(_, item)| line(item)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn line(item: &AgendaItem) -> String {
    let number = item.agenda_number.as_ref().map(|number| format!("{}: ", number.trim_end_matches('.')));
    let number = number.unwrap_or_default();
    let mut line = format!("- {number}{}", shorten(&one_line(&item.title), LONGEST_TITLE));
    if let Some(action) = action(item).filter(|action| !same(action, &item.title)) {
        line.extend([" — ", &*shorten(&one_line(&action), LONGEST_ACTION)]);
    }
    // An amount in the words themselves is the one that is decided on; of the others, the first.
    let amounts = amounts(item);
    if let Some((_, amount)) =
        amounts.first().filter(|_| !amounts.iter().any(|(_, known)| line.contains(known.as_str())))
    {
        line.extend([" (", amount, ")"]);
    }
    line
}

fn same(one: &str, other: &str) -> bool {
    let letters =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    letters(one) == letters(other)
}

/// Facts stand under `key_facts`, or beside everything else.
fn facts(item: &AgendaItem) -> &Value {
    const NONE: &Value = &Value::Null;
    let details = item.summary_of.as_ref().map_or(NONE, |of| &of.details);
    details.get("key_facts").unwrap_or(details)
}

fn text_of<'v>(value: &'v Value, names: &[&str]) -> Option<&'v str> {
    value.as_str().or_else(|| names.iter().find_map(|name| value.get(name)?.as_str()))
}

/// What the council is asked to do. Of several things, the one that speaks most of the title: a report for two items asks
/// for both.
fn action(item: &AgendaItem) -> Option<String> {
    let asked = facts(item).get("action_requested")?;
    let all = asked.as_array().map_or(std::slice::from_ref(asked), Vec::as_slice);
    let title = telling_stems(&item.title);
    let texts = all.iter().filter_map(|one| text_of(one, &["quote", "text", "action"])).map(str::trim);
    // The first of equals is the last of them turned round.
    let text = texts.filter(|text| !text.is_empty()).rev().max_by_key(|text| shared_stems(&title, text))?;
    Some(text.trim_end_matches('.').to_owned())
}

/// Amounts of money, in whole units, as they are written.
fn amounts(item: &AgendaItem) -> Vec<(u64, String)> {
    let all = facts(item).get("amounts").and_then(Value::as_array);
    let read = |amount: &Value| {
        let value = amount.get("value").unwrap_or(amount);
        let number = value.as_f64().or_else(|| value.as_str()?.replace([',', '$'], "").parse().ok())?;
        let written =
            text_of(amount, &["text", "written", "as_written"]).map_or_else(|| dollars(number as u64), str::to_owned);
        (number >= 1.0).then_some((number as u64, written))
    };
    all.into_iter().flatten().filter_map(read).collect()
}

fn dollars(amount: u64) -> String {
    let digits = amount.to_string();
    let mut out = String::from("$");
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// How much a decision weighs: what the analyst says of it, the money, and whether it is talked about at all.
fn weight(item: &AgendaItem) -> u64 {
    let consequence = item.summary_of.as_ref().and_then(|of| of.details.get("consequence")?.as_u64()).unwrap_or(0);
    let money = amounts(item).into_iter().map(|(value, _)| value).max().unwrap_or(0);
    let title = item.title.to_lowercase();
    let kind = item.matter_type.as_deref().unwrap_or_default().to_lowercase();
    let is_law = ["ordinance", "resolution", "hearing", "appeal", "budget"]
        .iter()
        .any(|word| title.contains(word) || kind.contains(word));
    let is_talked_about = item.is_consent != Some(true);
    // Ten times the money is one step more.
    consequence * 3
        + u64::from(money.checked_ilog10().unwrap_or(0)) * 2
        + u64::from(is_law) * 4
        + u64::from(is_talked_about) * 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::SummaryOf;
    use serde_json::json;

    fn item(sequence: i64, title: &str, details: Value) -> AgendaItem {
        AgendaItem {
            id: format!("m_{sequence}"),
            sequence,
            title: title.to_owned(),
            agenda_number: Some(format!("{sequence}.A")),
            summary: Some("Summary.".to_owned()),
            summary_of: Some(SummaryOf { details, ..SummaryOf::default() }),
            ..AgendaItem::default()
        }
    }

    #[test]
    fn the_heaviest_items_are_told_in_the_order_of_the_agenda() {
        let mut items: Vec<AgendaItem> = (1..=8).map(|at| item(at, &format!("Small thing {at}"), json!({}))).collect();
        items[6] = item(
            7,
            "Contract for sewer pumps",
            json!({"key_facts": {
                "action_requested": [{"quote": "Approve the contract with Brook Steel."}],
                "amounts": [{"value": "450000"}, {"value": 1200}],
            }}),
        );
        let digest = build(&items).unwrap();
        let lines: Vec<&str> = digest.lines().collect();
        assert_eq!(lines.len(), 6);
        assert_eq!(lines[5], "- 7.A: Contract for sewer pumps — Approve the contract with Brook Steel ($450,000)");
        assert_eq!(build(&items), Some(digest), "always the same");
    }

    #[test]
    fn of_several_actions_the_one_about_the_item_is_told() {
        let asked = json!({"key_facts": {"action_requested": [
            {"quote": "Accept a grant for the culvert."}, {"quote": "Execute the amendment with Brook Steel."},
        ]}});
        let both = [item(1, "Grant for the culvert", asked.clone()), item(2, "Amendment with Brook Steel", asked)];
        let digest = build(&both).unwrap();
        assert_eq!(
            digest,
            "- 1.A: Grant for the culvert — Accept a grant for the culvert\n\
             - 2.A: Amendment with Brook Steel — Execute the amendment with Brook Steel"
        );
    }

    #[test]
    fn without_summaries_there_is_nothing_to_tell() {
        assert_eq!(build(&[AgendaItem::default()]), None);
        assert_eq!(build(&[]), None);
        assert_eq!(dollars(1_234_567), "$1,234,567");
    }
}

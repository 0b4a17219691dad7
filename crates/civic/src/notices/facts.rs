//! What a summary's details say of an item: what is asked for, money, days, and how much is at stake.
//!
//! Details come from rules or from language models, and older ones stay as they were stored. So nothing is relied upon:
//! what is not understood is left out.

use crate::records::AgendaItem;
use serde_json::Value;

const MOST_AMOUNTS: usize = 4;
const MOST_DATES: usize = 3;

/// What a reader wants to know of an item at a glance.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Facts {
    pub(super) action: Option<String>,
    pub(super) money: Vec<String>,
    pub(super) dates: Vec<String>,
    /// From 0 to 4.
    pub(super) consequence: u8,
    /// The greatest amount, in whole dollars.
    pub(super) most_money: u64,
}

pub(super) fn from_item(item: &AgendaItem) -> Facts {
    let details = item.summary_of.as_ref().map_or(&Value::Null, |origin| &origin.details);
    let facts = details.get("key_facts").unwrap_or(details);
    let list = |key: &str| facts.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let amounts = list("amounts");
    let most_money = amounts.iter().filter_map(dollars).max().unwrap_or(0);
    let consequence = details.get("consequence").and_then(Value::as_u64).and_then(|number| u8::try_from(number).ok());
    Facts {
        action: action(facts),
        money: amounts.iter().filter_map(amount).take(MOST_AMOUNTS).collect(),
        dates: list("dates").iter().filter_map(date).take(MOST_DATES).collect(),
        consequence: consequence.unwrap_or_else(|| guess(item, most_money)).min(4),
        most_money,
    }
}

fn text(value: &Value) -> Option<String> {
    let text = value.as_str()?.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

fn first_text(value: &Value, keys: &[&str]) -> Option<String> {
    text(value).or_else(|| keys.iter().find_map(|key| value.get(key).and_then(text)))
}

fn action(facts: &Value) -> Option<String> {
    let asked = ["action_requested", "action"].iter().find_map(|key| facts.get(key))?;
    let keys = ["quote", "text", "what", "kind"];
    match asked {
        Value::Array(several) => several.iter().find_map(|one| first_text(one, &keys)),
        one => first_text(one, &keys),
    }
}

fn amount(amount: &Value) -> Option<String> {
    let text = first_text(amount, &["text", "amount", "value"])?;
    let qualifier = amount.get("qualifier").and_then(self::text).map(|said| format!(", {said}")).unwrap_or_default();
    let what = ["what_for", "purpose", "for"].iter().find_map(|key| amount.get(key).and_then(self::text));
    let what = what.map(|what| format!(" ({what})")).unwrap_or_default();
    Some(format!("{text}{qualifier}{what}"))
}

fn dollars(amount: &Value) -> Option<u64> {
    match amount.get("value")? {
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().map(|number| number.max(0.0) as u64)),
        Value::String(text) => {
            let whole = text.split('.').next().unwrap_or_default();
            let digits: String = whole.chars().filter(char::is_ascii_digit).collect();
            digits.parse().ok()
        }
        _ => None,
    }
}

/// Days that something happens on; not those that are merely mentioned.
fn date(date: &Value) -> Option<String> {
    let day = first_text(date, &["date", "day"])?;
    let role = ["role", "what", "meaning"].iter().find_map(|key| date.get(key).and_then(text)).unwrap_or_default();
    match role.as_str() {
        "past" | "mentioned" => None,
        "" => Some(day),
        role => Some(format!("{} {day}", role.replace('_', " "))),
    }
}

/// Where nobody has judged it: by money and by what kind of decision it is.
fn guess(item: &AgendaItem, most_money: u64) -> u8 {
    let by_money = match most_money {
        1_000_000.. => 2,
        50_000.. => 1,
        _ => 0,
    };
    let kind =
        format!("{} {}", item.matter_type.as_deref().unwrap_or_default(), item.section.as_deref().unwrap_or_default());
    let kind = kind.to_lowercase();
    let is_law = kind.contains("ordinance") || kind.contains("hearing") || kind.contains("bill");
    let is_apart = item.is_consent != Some(true);
    by_money + u8::from(is_law) + u8::from(is_apart && item.filter_reason.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::SummaryOf;
    use serde_json::json;

    fn item(details: Value) -> AgendaItem {
        AgendaItem { summary_of: Some(SummaryOf { details, ..SummaryOf::default() }), ..AgendaItem::default() }
    }

    #[test]
    fn facts_of_rules_and_of_models_are_read() {
        let facts = from_item(&item(json!({
            "consequence": 3,
            "key_facts": {
                "action_requested": [{"kind": "adopt", "quote": "Adopt the  ordinance"}],
                "amounts": [{"value": "1974000", "text": "$1,974,000", "qualifier": "not to exceed", "what_for": "paving"}],
                "dates": [{"date": "2026-03-05", "role": "deadline"}, {"date": "2020-01-01", "role": "past"}],
            },
        })));
        assert_eq!(facts.action.as_deref(), Some("Adopt the ordinance"));
        assert_eq!(facts.money, ["$1,974,000, not to exceed (paving)"]);
        assert_eq!(facts.dates, ["deadline 2026-03-05"]);
        assert_eq!((facts.consequence, facts.most_money), (3, 1_974_000));
        let facts =
            from_item(&item(json!({"action": "Approve", "amounts": ["$5"], "dates": ["June 1"], "consequence": 900})));
        assert_eq!(facts.action.as_deref(), Some("Approve"));
        assert_eq!((facts.money, facts.dates), (vec!["$5".to_owned()], vec!["June 1".to_owned()]));
    }

    #[test]
    fn details_of_any_shape_do_no_harm() {
        for details in
            [json!(null), json!([1]), json!("x"), json!({"amounts": {"a": 1}, "dates": [null, 3], "action": []})]
        {
            let facts = from_item(&item(details));
            assert!(facts.money.is_empty() && facts.dates.is_empty() && facts.action.is_none());
        }
    }
}

//! What was read of items, as terminals show it: the summary, how it was made, its facts, and what has changed since.

use super::shown::{self, fact};
use crate::output;
use bindery_app::councils::records::{AgendaItem, ItemRevision, SummaryOf};
use serde_json::Value;
use std::io;

/// So many facts of a kind are shown; --json has them all.
const MOST_FACTS: usize = 4;

/// What is long in a fact is cut.
const LONGEST_FACT: usize = 140;

/// An item with what was read of it.
pub(super) fn item(item: &AgendaItem, revisions: &[ItemRevision], zone: Option<&str>) -> io::Result<()> {
    let number = item.agenda_number.as_deref().map(|number| format!("{number}  ")).unwrap_or_default();
    output::line(format!("{number}{}", item.title))?;
    fact("item", Some(&item.id))?;
    fact("file", item.matter_file.as_deref())?;
    fact("type", item.matter_type.as_deref())?;
    fact("matter", item.matter_id.as_deref())?;
    fact("left out", item.filter_reason.as_deref())?;
    read(item.summary.as_deref(), &item.topics, item.summary_of.as_ref(), item.reading_error.as_deref(), zone)?;
    if item.revisions > 0 {
        let said = "the item has changed since this summary was made; what it became is below";
        fact("changed", Some(said).filter(|_| item.summary.is_some()))?;
    }
    for revision in revisions.iter().filter(|revision| revision.item_id == item.id) {
        let seen = revision.seen_at.map(|at| shown::moment(at, zone)).unwrap_or_default();
        output::line(format!("  revision {}, seen {seen}: {}", revision.revision, revision.title))?;
        let of = revision.summary_of.as_ref();
        read(revision.summary.as_deref(), &revision.topics, of, revision.reading_error.as_deref(), zone)?;
    }
    Ok(())
}

/// A summary with all that is known of it.
fn read(
    summary: Option<&str>,
    topics: &[String],
    of: Option<&SummaryOf>,
    error: Option<&str>,
    zone: Option<&str>,
) -> io::Result<()> {
    fact("topics", Some(&topics.join(", ")))?;
    fact("not read", error)?;
    if let Some(of) = of.filter(|_| summary.is_some()) {
        fact("read by", Some(&origin(of, zone)))?;
    }
    if let Some(summary) = summary {
        text(summary)?;
    }
    if let Some(of) = of {
        facts(&of.details)?;
        for note in &of.notes {
            fact("note", Some(note))?;
        }
    }
    Ok(())
}

/// `extractive/1, 2026-03-04 10:15, 12 pages`
fn origin(of: &SummaryOf, zone: Option<&str>) -> String {
    let method = if of.method == "matter" { "taken over from its matter" } else { of.method.as_str() };
    let at = of.at.map(|at| shown::moment(at, zone));
    let pages = (of.page_count > 0).then(|| output::count(u64::from(of.page_count), "page"));
    let cost = (of.cost_micros > 0).then(|| format!("cost {}", shown::money(of.cost_micros)));
    let parts = [Some(method.to_owned()), at, pages, cost];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Some lines of Markdown, moved in.
pub(super) fn text(markdown: &str) -> io::Result<()> {
    markdown.trim().lines().try_for_each(|line| output::line(format!("  {}", line.trim_end())))
}

/// Amounts, days, parties and places. What is not there, or is of another form, is left out.
fn facts(details: &Value) -> io::Result<()> {
    let known = &details["key_facts"];
    let first = |value: &Value, names: &[&str]| {
        names.iter().find_map(|name| value[*name].as_str()).map(str::trim).unwrap_or_default().to_owned()
    };
    let each = |name: &str, list: &Value, words: &dyn Fn(&Value) -> String| {
        let all = list.as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter().take(MOST_FACTS).try_for_each(|one| fact(name, Some(&output::short(&words(one), LONGEST_FACT))))
    };
    let with = |one: String, other: String| match (one.is_empty(), other.is_empty()) {
        (_, true) => one,
        (true, false) => other,
        (false, false) => format!("{one} ({other})"),
    };
    each("asked", &known["action_requested"], &|one| first(one, &["quote", "text", "kind"]))?;
    each("money", &known["amounts"], &|one| with(first(one, &["text", "value"]), first(one, &["what_for", "for"])))?;
    each("day", &known["dates"], &|one| with(first(one, &["date", "day", "text"]), first(one, &["quote", "role"])))?;
    each("place", &known["addresses"], &|one| first(one, &["text", "address"]))?;
    each("party", &known["parties"], &|one| with(first(one, &["name"]), first(one, &["role"])))?;
    fact("stage", known["decision_stage"].as_str().map(|stage| stage.replace('_', " ")).as_deref())
}

/// How people take part, as an agenda tells it: every text and list of texts, by its name.
pub(super) fn participation(told: Option<&Value>) -> io::Result<()> {
    let Some(Value::Object(told)) = told else { return Ok(()) };
    let lines: Vec<(String, String)> =
        told.iter().filter_map(|(name, value)| Some((name.replace('_', " "), words(value)?))).collect();
    if lines.is_empty() {
        return Ok(());
    }
    output::line("")?;
    output::line("to take part")?;
    lines.iter().try_for_each(|(name, value)| output::line(format!("  {name}: {value}")))
}

fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(values) => Some(values.iter().filter_map(words).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => Some(fields.values().filter_map(words).collect::<Vec<_>>().join(" ")),
        Value::Bool(false) | Value::Null => None,
    }
    .filter(|text| !text.is_empty())
}

//! Items of recorded agendas, what a reader of their summaries must find, and how much of it is there.
//!
//! The set holds facts only: a line names a file, some words of an item's title (or its number), and then what must be
//! found, separated by tabs: words of the subject, the kind of action, amounts and days, each list separated by `;`, `-`
//! for none.

use bindery_civic::{
    analyst::{Analyst as _, Extractive, ItemRequest, Reading},
    splitter,
    vendor::{FetchedPage, Site, Window, adapters},
};
use bindery_reader::{OcrMode, ReadOptions, Reader};
use jiff::{civil::Date, tz::TimeZone};
use serde_json::{Map, Value};
use std::{borrow::Cow, collections::BTreeMap, fs, path::Path};

/// An item as an agenda gives it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Item {
    pub(crate) number: String,
    pub(crate) title: String,
    pub(crate) matter_type: Option<String>,
    pub(crate) body: Option<String>,
}

impl Item {
    /// As the pipeline reads it without a model.
    pub(crate) fn read(&self) -> Reading {
        let request = ItemRequest {
            title: self.title.clone(),
            matter_type: self.matter_type.clone(),
            body: self.body.clone(),
            ..ItemRequest::default()
        };
        Extractive.read_item(&request, &|| false).unwrap_or_default()
    }
}

/// The items of a recorded file: an agenda in one PDF file, or a page of a vendor.
pub(crate) fn items(folder: &Path, file: &str) -> Result<Vec<Item>, String> {
    let bytes = fs::read(folder.join(file)).map_err(|fault| format!("{file}: {fault}"))?;
    if bytes.starts_with(b"%PDF-") { of_pdf(file, bytes) } else { of_page(file, bytes) }
}

fn of_pdf(file: &str, bytes: Vec<u8>) -> Result<Vec<Item>, String> {
    let reader = Reader::new(ReadOptions { ocr: OcrMode::Never, ..ReadOptions::default() }, None);
    let opened = reader.open(bytes, Some(file)).map_err(|fault| format!("{file}: {fault}"))?;
    let pages: Result<Vec<_>, _> = (0..opened.info().page_count).map(|at| reader.read_page(&*opened, at)).collect();
    let pages = pages.map_err(|fault| format!("{file}: {fault}"))?;
    let split = splitter::split(&pages, &opened.info().outline);
    let items = split.items.into_iter().map(|item| Item {
        number: item.number.unwrap_or_default(),
        title: item.title,
        matter_type: None,
        body: Some(item.text).filter(|text| !text.trim().is_empty()),
    });
    Ok(items.collect())
}

fn of_page(file: &str, bytes: Vec<u8>) -> Result<Vec<Item>, String> {
    let site = Site { slug: "example".to_owned(), zone: TimeZone::UTC, settings: Map::new() };
    let window = Window { from: Date::MIN, to: Date::MAX };
    let vendor = file.split('/').next().unwrap_or_default().trim_end_matches("_elms");
    let adapter = adapters().iter().find(|adapter| adapter.name() == vendor);
    let adapter = adapter.ok_or_else(|| format!("{file}: there is no vendor {vendor}"))?;
    let mut page =
        FetchedPage { url: file.to_owned(), content_type: None, bytes, purpose: Cow::Borrowed(""), about: Vec::new() };
    let Some(purpose) = adapter.recognise(&page) else { return Err(format!("{file}: is no page of {vendor}")) };
    page.purpose = Cow::Borrowed(purpose);
    let reading = adapter.read(&site, &window, &page).map_err(|fault| format!("{file}: {fault}"))?;
    let items = reading.meetings.into_iter().flat_map(|meeting| meeting.items);
    let items = items.map(|item| Item {
        number: item.agenda_number.unwrap_or_default(),
        title: item.title,
        matter_type: item.matter_type,
        body: item.body_text,
    });
    // What has no items tells of matters, whose titles are summarised alike.
    let matters = reading.matters.into_iter().filter_map(|matter| {
        Some(Item {
            number: matter.matter_file.unwrap_or_default(),
            title: matter.title?,
            matter_type: matter.matter_type,
            body: None,
        })
    });
    Ok(items.chain(matters).collect())
}

/// What a reader must find in the summary of one item.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) file: String,
    pub(crate) item: String,
    subject: Vec<String>,
    action: Option<String>,
    amounts: Vec<String>,
    days: Vec<String>,
}

/// Reads the set; lines that begin with `#` are comments.
pub(crate) fn parse(text: &str) -> Result<Vec<Wanted>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|(at, line)| {
            let fields: Vec<&str> = line.split('\t').collect();
            let [file, item, subject, action, amounts, days] = fields[..] else {
                return Err(format!(
                    "line {}: expected file, item, subject, action, amounts and days, separated by tabs, and found {} fields",
                    at + 1,
                    fields.len()
                ));
            };
            let list = |field: &str| -> Vec<String> {
                field.split(';').map(str::trim).filter(|word| !matches!(*word, "" | "-")).map(str::to_owned).collect()
            };
            Ok(Wanted {
                file: file.to_owned(),
                item: item.to_owned(),
                subject: list(subject),
                action: list(action).pop(),
                amounts: list(amounts),
                days: list(days),
            })
        })
        .collect()
}

/// What was found of what was wanted.
#[derive(Debug, Default)]
pub(crate) struct Score {
    pub(crate) items: usize,
    pub(crate) facts: usize,
    /// Each with its file and item.
    pub(crate) missing: Vec<String>,
}

impl Score {
    /// From 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        if self.facts == 0 { 0.0 } else { (self.facts - self.missing.len()) as f64 / self.facts as f64 }
    }
}

/// Reads every item of the set and looks for what is wanted. A file or an item that is not there is a fault.
pub(crate) fn score(folder: &Path, set: &[Wanted]) -> Result<Score, String> {
    let mut files: BTreeMap<&str, Vec<Item>> = BTreeMap::new();
    let mut score = Score::default();
    for wanted in set {
        if !files.contains_key(wanted.file.as_str()) {
            files.insert(&wanted.file, items(folder, &wanted.file)?);
        }
        let found = files.get(wanted.file.as_str()).and_then(|items| find(items, &wanted.item));
        let item = found.ok_or_else(|| format!("{} has no item with “{}”", wanted.file, wanted.item))?;
        score.items += 1;
        wanted.compare(&item.read(), &mut score);
    }
    Ok(score)
}

fn find<'i>(items: &'i [Item], words: &str) -> Option<&'i Item> {
    let has = |text: &str| text.to_lowercase().contains(&words.to_lowercase());
    let by_title = items.iter().find(|item| has(&item.title) || item.number == words);
    by_title.or_else(|| items.iter().find(|item| item.body.as_deref().is_some_and(has)))
}

impl Wanted {
    /// A quote or a fact must say it: the title, which stands above the summary anyway, does not count.
    fn compare(&self, reading: &Reading, score: &mut Score) {
        let facts = reading.details.get("key_facts").cloned().unwrap_or_default();
        let summary = reading.summary.to_lowercase().replace(['\\', '*'], "");
        let list = |name: &str, field: &str| -> Vec<String> {
            let entries = facts.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
            entries.iter().filter_map(|entry| entry.get(field)?.as_str().map(str::to_owned)).collect()
        };
        let mut look = |what: &str, wanted: &str, is_there: bool| {
            score.facts += 1;
            if !is_there {
                score.missing.push(format!("{} “{}”: {what} {wanted}", self.file, self.item));
            }
        };
        for word in &self.subject {
            look("subject", word, summary.contains(&word.to_lowercase()));
        }
        if let Some(kind) = &self.action {
            look("action", kind, list("action_requested", "kind").contains(kind));
        }
        for amount in &self.amounts {
            look("amount", amount, summary.contains(&amount.to_lowercase()));
        }
        for day in &self.days {
            look("day", day, list("dates", "date").contains(day));
        }
    }
}

//! Prints the extractive summary of a file, its key facts and topics:
//!
//! ```sh
//! cargo run -p bindery-civic --example summarise -- [--title TITLE] [--pages 1-3] [--json] FILE…
//! ```
//!
//! All files together are the documents of one item; the first is its report.

use bindery_civic::prose::{
    summary::{DocumentText, summarise},
    topics::Topics,
};
use bindery_reader::{OcrMode, ReadOptions, Reader};
use std::{
    env,
    error::Error,
    fs,
    io::{self, Write as _},
    path::Path,
};

#[derive(Debug, Default)]
struct Arguments {
    title: String,
    pages: Option<(usize, usize)>,
    json: bool,
    files: Vec<String>,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut found = Arguments::default();
    let mut given = env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--title" => found.title = given.next().ok_or("--title needs a title")?,
            "--pages" => {
                let range = given.next().ok_or("--pages needs a range such as 1-3")?;
                let (first, last) = range.split_once('-').unwrap_or((&range, &range));
                found.pages = Some((first.parse()?, last.parse()?));
            }
            "--json" => found.json = true,
            _ => found.files.push(argument),
        }
    }
    if found.files.is_empty() {
        return Err("expected at least one file".into());
    }
    Ok(found)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    let reader = Reader::new(ReadOptions { ocr: OcrMode::Never, ..ReadOptions::default() }, None);
    let mut documents = Vec::new();
    for name in &arguments.files {
        let opened = reader.open(fs::read(name)?, Some(name))?;
        let (first, last) = arguments.pages.unwrap_or((1, usize::MAX));
        let range = first.saturating_sub(1)..opened.info().page_count.min(last);
        let pages: Result<Vec<_>, _> = range.map(|at| reader.read_page(&*opened, at)).collect();
        let shown = Path::new(name).file_name().map_or_else(|| name.into(), |name| name.to_string_lossy());
        documents.push(DocumentText::of_pages(shown, &pages?));
    }
    let summary = summarise(&arguments.title, &documents);
    let mut out = io::stdout().lock();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&summary)?)?;
        return Ok(());
    }
    writeln!(out, "{}", summary.markdown)?;
    let facts = &summary.key_facts;
    writeln!(out, "consequence {}, stage {:?}", summary.consequence, facts.decision_stage)?;
    for action in &facts.action_requested {
        writeln!(out, "action   {:?}: {}", action.kind, action.quote)?;
    }
    for amount in &facts.amounts {
        writeln!(out, "amount   {} {:?} {:?}", amount.text, amount.qualifier, amount.what_for)?;
    }
    for day in &facts.dates {
        writeln!(out, "date     {} {:?}: {}", day.date, day.role, day.quote)?;
    }
    for address in &facts.addresses {
        writeln!(out, "address  {}", address.text)?;
    }
    for party in &facts.parties {
        writeln!(out, "party    {} {:?}", party.name, party.role)?;
    }
    let text: String = documents.iter().flat_map(|document| &document.pages).map(|page| page.text.as_str()).collect();
    for assigned in Topics::default().assign(&arguments.title, &text) {
        writeln!(out, "topic    {} {:.1}", assigned.topic, assigned.score)?;
    }
    Ok(())
}

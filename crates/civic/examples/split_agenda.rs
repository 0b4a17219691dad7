//! Prints the items of an agenda or packet that is one file, and how people take part in the meeting:
//!
//! ```sh
//! cargo run -p bindery-civic --example split_agenda -- FILE
//! ```

use bindery_civic::{
    participation::Participation,
    prose::{
        summary::{DocumentText, summarise},
        topics::Topics,
    },
    splitter,
};
use bindery_reader::{OcrMode, ReadOptions, Reader};
use std::{
    env,
    error::Error,
    fs,
    io::{self, Write as _},
};

fn main() -> Result<(), Box<dyn Error>> {
    let name = env::args().nth(1).ok_or("expected an agenda")?;
    let reader = Reader::new(ReadOptions { ocr: OcrMode::Never, ..ReadOptions::default() }, None);
    let opened = reader.open(fs::read(&name)?, Some(&name))?;
    let pages: Result<Vec<_>, _> = (0..opened.info().page_count).map(|at| reader.read_page(&*opened, at)).collect();
    let pages = pages?;
    let split = splitter::split(&pages, &opened.info().outline);
    let mut out = io::stdout().lock();
    for refused in &split.refused {
        writeln!(out, "not by {}: {}", refused.way.as_str(), refused.reason)?;
    }
    writeln!(out, "{} items by {}", split.items.len(), split.way.map_or("none", splitter::Way::as_str))?;
    let topics = Topics::default();
    for item in &split.items {
        writeln!(
            out,
            "\n## {} {} [{}] {}",
            item.number.as_deref().unwrap_or("-"),
            item.title,
            item.section.as_deref().unwrap_or("-"),
            item.matter_file.as_deref().unwrap_or_default()
        )?;
        for document in &item.attachments {
            writeln!(out, "   file {} {}", document.name, document.url)?;
        }
        for part in &item.parts {
            writeln!(out, "   pages {}-{} {}", part.first_page, part.last_page, part.name)?;
        }
        let summary = summarise(&item.title, &[DocumentText::plain("agenda", item.text.as_str())]);
        write!(out, "{}", summary.markdown)?;
        let found: Vec<String> = topics.assign(&item.title, &item.text).into_iter().map(|found| found.topic).collect();
        writeln!(out, "topics: {}", found.join(", "))?;
    }
    writeln!(out, "\n{}", serde_json::to_string_pretty(&Participation::of_pages(&pages))?)?;
    Ok(())
}

//! No word of a page's text is missing from its Markdown, but those of headers and footers, which are marked as such.
//!
//! All samples and all files of the shared fixtures are looked at, scans and receipts as Tesseract reads them; the fixtures
//! are skipped where they are not there.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[allow(dead_code, reason = "other tests need more of it")]
mod sample_files;

use bindery_reader::{
    BlockKind, OpenFile, Page, ReadOptions, Reader, model::Role, ocr::tesseract::Tesseract, pdf, render,
};
use sample_files::Sample;
use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// More pages of one file tell nothing new.
const MOST_PAGES: usize = 25;

/// No word of so many letters is by chance a part of others.
const LONG: usize = 7;

/// Words as people read them, without what Markdown adds.
fn words(markdown: &str) -> Vec<String> {
    let mut plain = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(at) = rest.find(['<', ']']) {
        let (before, after) = rest.split_at(at);
        plain.push_str(before);
        let tag = ["<br>", "<u>", "</u>", "<sup>", "</sup>", "<sub>", "</sub>"]
            .into_iter()
            .find(|tag| after.starts_with(tag));
        if let Some(tag) = tag {
            plain.push_str(if tag == "<br>" { " " } else { "" });
            rest = &after[tag.len()..];
        } else if after.starts_with("](") && !before.ends_with('\\') {
            rest = after.split_once(')').map_or("", |(_, behind)| behind);
        } else {
            rest = &after[1..];
        }
    }
    plain.push_str(rest);
    // References to notes stand in brackets, with or without a space before them.
    plain = plain.replace('[', " ");
    for (written, meant) in [("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] {
        plain = plain.replace(written, meant);
    }
    // Marks of notes stand beside words in one and not in the other, so letters and digits are looked at apart.
    let mut words: Vec<String> = Vec::new();
    for part in plain.split_whitespace() {
        let mut last = None;
        for sign in part.chars().filter(|sign| sign.is_alphanumeric()) {
            match words.last_mut() {
                Some(word) if last == Some(sign.is_numeric()) => word.extend(sign.to_lowercase()),
                _ => words.push(sign.to_lowercase().collect()),
            }
            last = Some(sign.is_numeric());
        }
    }
    words
}

/// Words of the text that the Markdown does not have, as often as they are there.
fn lost(page: &Page) -> Vec<String> {
    let mut body = page.clone();
    // A formula is LaTeX in Markdown and one line in the text.
    let is_formula =
        |kind: &BlockKind| matches!(kind, BlockKind::Paragraph { text } if text.0.iter().any(|span| span.style.math));
    body.blocks.retain(|block| !matches!(block.role, Role::Header | Role::Footer) && !is_formula(&block.kind));
    let mut there: HashMap<String, i64> = HashMap::new();
    for word in words(&render::markdown(page)) {
        *there.entry(word).or_default() += 1;
    }
    let mut lost = words(&render::text(&body));
    // Bold type within a word parts it in Markdown, for marks stand at the ends of words.
    let run_together = words(&render::markdown(page)).concat();
    lost.retain(|word| {
        let left = there.entry(word.clone()).or_default();
        *left -= 1;
        *left < 0 && !(word.chars().count() >= LONG && run_together.contains(word.as_str()))
    });
    lost
}

/// "1,234.50": an amount, which no header or footer has for one page alone.
fn amounts(text: &str) -> impl Iterator<Item = &str> {
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    text.split_whitespace().filter(move |word| {
        let bytes = word.as_bytes();
        let only = bytes.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'$'));
        let parted = (1..bytes.len())
            .any(|at| matches!(bytes[at], b'.' | b',') && digit(bytes.get(at - 1)) && digit(bytes.get(at + 1)));
        only && parted
    })
}

/// The amounts that are on one page alone and that its Markdown leaves out as a header or footer.
fn lost_amounts(pages: &[Page]) -> Vec<String> {
    let texts = pages.iter().map(render::text).collect::<Vec<_>>();
    let mut lost = Vec::new();
    for (at, page) in pages.iter().enumerate() {
        let mut edges = page.clone();
        edges.blocks.retain(|block| matches!(block.role, Role::Header | Role::Footer));
        let elsewhere = |amount: &&str| {
            let others = texts.iter().enumerate().filter(|(other, _)| *other != at);
            others.map(|(_, text)| text).any(|text| text.contains(amount))
        };
        let edges = render::text(&edges);
        lost.extend(amounts(&edges).filter(|amount| !elsewhere(amount)).map(str::to_owned));
    }
    lost
}

/// What is lost in a file, one line each.
fn faults(name: &str, pages: &[Page]) -> Vec<String> {
    let mut faults = lost_words(name, pages);
    let amounts = lost_amounts(pages);
    if !amounts.is_empty() {
        faults.push(format!("{name}: taken for headers or footers: {}", amounts.join(" ")));
    }
    faults
}

fn lost_words(name: &str, pages: &[Page]) -> Vec<String> {
    let mut faults = Vec::new();
    for page in pages {
        let lost = lost(page);
        if !lost.is_empty() {
            faults.push(format!("{name}, page {}: not in the Markdown: {}", page.number, lost.join(" ")));
        }
    }
    faults
}

#[test]
fn no_word_of_the_samples_is_lost() {
    let mut names: Vec<String> = fs::read_dir(sample_files::FOLDER)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    // What needs OCR has tests of its own.
    let pictures = ["png", "jpg", "tiff", "bmp", "webp", "gif"];
    names.retain(|name| name != "scan.pdf" && !pictures.iter().any(|picture| name.ends_with(picture)));
    let faults = names.iter().flat_map(|name| faults(name, &Sample::open(name).pages())).collect::<Vec<_>>();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The files of some folders of the shared fixtures.
fn fixtures(folders: &[&str], wanted: impl Fn(&str) -> bool) -> Option<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(bindery_testkit::shared(format!("fixtures/{folder}"))?).unwrap();
        files.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()));
    }
    files.retain(|file| wanted(file.extension().and_then(|ending| ending.to_str()).unwrap_or_default()));
    files.sort_unstable();
    Some(files)
}

fn is_pdf(ending: &str) -> bool {
    ending == "pdf"
}

/// What is lost in files of any kind. Damaged and locked files have tests of their own, and what other files than PDF call
/// a header is one, whatever it says.
fn no_word_is_lost_by(reader: &Reader, files: &[PathBuf]) {
    let mut read = 0;
    let mut all = Vec::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let Ok(opened) = reader.open(fs::read(file).unwrap(), Some(&name)) else { continue };
        let indexes = 0..opened.info().page_count.min(MOST_PAGES);
        let pages = indexes.filter_map(|index| reader.read_page(&*opened, index).ok()).collect::<Vec<_>>();
        all.extend(lost_words(&name, &pages));
        read += usize::from(!pages.is_empty());
    }
    assert!(read * 4 >= files.len() * 3, "only {read} of {} files can be read", files.len());
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn no_word_of_office_files_and_mail_is_lost() {
    let Some(files) = fixtures(&["documents/office"], |ending| !is_pdf(ending)) else { return };
    no_word_is_lost_by(&Reader::new(ReadOptions::default(), None), &files);
}

#[test]
fn no_word_of_web_pages_and_lists_is_lost() {
    let Some(root) = bindery_testkit::shared("fixtures/civic") else { return };
    let folder = |path: &Path| Some(format!("civic/{}", path.file_name()?.to_str()?));
    let folders = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let folders = folders.filter_map(|path| folder(&path)).collect::<Vec<_>>();
    let folders = folders.iter().map(String::as_str).collect::<Vec<_>>();
    let Some(files) = fixtures(&folders, |ending| !is_pdf(ending)) else { return };
    no_word_is_lost_by(&Reader::new(ReadOptions::default(), None), &files);
}

#[test]
fn no_word_that_ocr_reads_is_lost() {
    let engine = Tesseract::default();
    if let Err(error) = engine.check(&["eng".to_owned()]) {
        bindery_testkit::missing(error);
        return;
    }
    let pictures = |ending: &str| matches!(ending, "jpg" | "png" | "tif");
    let Some(files) = fixtures(&["documents/scans", "documents/receipts"], pictures) else { return };
    no_word_is_lost_by(&Reader::new(ReadOptions::default(), Some(Arc::new(engine))), &files);
}

fn no_word_is_lost_in(files: &[PathBuf]) {
    let mut read = HashSet::new();
    let mut all = Vec::new();
    for file in files {
        // Damaged and locked files have tests of their own.
        let Ok(pdf) = pdf::open(fs::read(file).unwrap(), &ReadOptions::default()) else { continue };
        let pages = (0..pdf.info().page_count.min(MOST_PAGES)).filter_map(|index| pdf.page(index).ok());
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        all.extend(faults(&name, &pages.collect::<Vec<_>>()));
        read.insert(file);
    }
    assert!(read.len() * 4 >= files.len() * 3, "only {} of {} files can be read", read.len(), files.len());
    assert!(all.is_empty(), "{}", all.join("\n"));
}

macro_rules! folders {
    ($($test:ident $folders:expr)*) => {
        $(#[test] fn $test() {
            let Some(files) = fixtures(&$folders, is_pdf) else { return };
            no_word_is_lost_in(&files);
        })*
    };
}

folders! {
    no_word_of_contracts_and_invoices_is_lost ["documents/ad-buys", "documents/contracts", "documents/einvoices"]
    no_word_of_tables_is_lost ["documents/tables", "documents/text"]
    no_word_of_meeting_papers_is_lost ["civic/pdf"]
    no_word_of_odd_files_is_lost ["documents/messy"]
}

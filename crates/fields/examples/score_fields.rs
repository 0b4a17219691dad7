//! Scores field extraction: `score_fields FOLDER [all|first|second] [-v] [-a]`.
//!
//! `-v` shows what is wrong, `-a` all that was found.
//!
//! A folder with a `truth.json` (see `bench/pipeline/invoices/make.py`) is scored against it. In any other folder the
//! truth of each PDF is the e-invoice attached to it, which the extractor does not get to see. `first` and `second`
//! are the halves by the hash of the file's name: rules are made on the first and measured on the second.
//!
//! A value is right if it equals the truth: numbers without spaces and case, amounts as amounts without their sign (a
//! credit note states them either way), names without their legal form, where one may be a part of the other if it has
//! at least half of its letters. F1 counts a wrong value against precision and recall, a missing one against recall.
//! Layouts are files with the same words in the same places: those whose first pages share half of such pairs.

use bindery_core::ContentHash;
use bindery_fields::{
    DocType, DocTypes,
    extract::{self, Extraction, FieldType, Sources, Templates, einvoice, value},
};
use bindery_reader::{OcrMode, OpenFile, Page, ReadOptions, pdf};
use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

const SCORED: [&str; 5] = ["number", "issue_date", "grand_total", "currency", "seller"];

type Problem = Box<dyn std::error::Error>;
type Truth = BTreeMap<String, String>;

/// What was counted for a field.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    right: usize,
    wrong: usize,
    missing: usize,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.right += other.right;
        self.wrong += other.wrong;
        self.missing += other.missing;
    }

    fn f1(self) -> f64 {
        let right = 2.0 * self.right as f64;
        let all = right + 2.0 * self.wrong as f64 + self.missing as f64;
        if all == 0.0 { 1.0 } else { right / all }
    }
}

struct Layout {
    words: BTreeSet<(String, i32)>,
    files: usize,
    count: Count,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(io::stderr(), "{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Problem> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let folder = PathBuf::from(arguments.first().ok_or("usage: score_fields FOLDER [all|first|second] [-v] [-a]")?);
    let half = arguments.get(1).map_or("all", String::as_str);
    let verbose = arguments.iter().any(|argument| argument == "-v");
    let types = DocTypes::shipped()?;
    let invoice = types.get("invoice").ok_or("no document type is named invoice")?;
    let truths = stored_truths(&folder)?;
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)?.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "pdf"));
    files.sort();
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let mut layouts: Vec<Layout> = Vec::new();
    let mut scored = 0;
    for file in files.iter().filter(|file| is_in(half, file)) {
        let Some((truth, pages)) = read(file, truths.as_ref())? else { continue };
        scored += 1;
        let found = extract(invoice, &pages);
        if arguments.iter().any(|argument| argument == "-a") {
            writeln!(io::stdout(), "{}: {}", name(file), serde_json::to_string_pretty(&found)?)?;
        }
        let mut own = Count::default();
        for field in SCORED {
            let count = compare(field, &truth, &found);
            own.add(count);
            counts.entry(field).or_default().add(count);
            if verbose && count.right == 0 && truth.contains_key(field) {
                let said = found.fields.get(field).map_or("nothing", |value| value.normalised.as_str());
                writeln!(io::stdout(), "{}: {field}: {:?} should be {:?}", name(file), said, truth[field])?;
            }
        }
        join_layout(&mut layouts, &pages, own);
    }
    report(scored, &counts, &layouts)?;
    Ok(())
}

fn report(scored: usize, counts: &BTreeMap<&str, Count>, layouts: &[Layout]) -> io::Result<()> {
    let mut out = io::stdout();
    let mut all = Count::default();
    for field in SCORED {
        let count = counts.get(field).copied().unwrap_or_default();
        all.add(count);
        writeln!(
            out,
            "{field:12} f1={:.3} right={} wrong={} missing={}",
            count.f1(),
            count.right,
            count.wrong,
            count.missing
        )?;
    }
    for (index, layout) in layouts.iter().enumerate() {
        writeln!(out, "layout {:2}: {:3} files f1={:.3}", index + 1, layout.files, layout.count.f1())?;
    }
    let by_layout = layouts.iter().map(|layout| layout.count.f1()).sum::<f64>() / layouts.len().max(1) as f64;
    writeln!(out, "SCORE files={scored} field_f1={:.3} layouts={} f1_by_layout={by_layout:.3}", all.f1(), layouts.len())
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_in(half: &str, file: &Path) -> bool {
    let is_first = ContentHash::of(name(file).as_bytes()).as_bytes()[0].is_multiple_of(2);
    match half {
        "first" => is_first,
        "second" => !is_first,
        _ => true,
    }
}

fn stored_truths(folder: &Path) -> Result<Option<Vec<Truth>>, Problem> {
    let file = folder.join("truth.json");
    if !file.exists() {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&fs::read(file)?)?))
}

/// The truth and the pages of a file; None if it has no truth.
fn read(file: &Path, truths: Option<&Vec<Truth>>) -> Result<Option<(Truth, Vec<Page>)>, Problem> {
    let options = ReadOptions { ocr: OcrMode::Never, ..ReadOptions::default() };
    let opened = pdf::open(fs::read(file)?, &options)?;
    let truth = match truths {
        Some(truths) => truths.iter().find(|truth| truth.get("file") == Some(&name(file))).cloned(),
        None => attached_truth(&opened)?,
    };
    let Some(truth) = truth else { return Ok(None) };
    let pages = (0..opened.info().page_count).map(|index| opened.page(index)).collect::<Result<Vec<_>, _>>()?;
    Ok(Some((truth, pages)))
}

fn attached_truth(file: &impl OpenFile) -> Result<Option<Truth>, Problem> {
    let attachments = file.attachments()?;
    let invoice = attachments.iter().filter_map(einvoice::read).find_map(Result::ok);
    Ok(invoice.map(|invoice| invoice.values.into_iter().map(|(name, stated)| (name.to_owned(), stated.text)).collect()))
}

fn extract(invoice: &DocType, pages: &[Page]) -> Extraction {
    let templates = Templates::default();
    extract::extract(invoice, pages, &Sources { attachments: &[], templates: &templates })
}

fn compare(field: &str, truth: &Truth, found: &Extraction) -> Count {
    let Some(truth) = truth.get(field) else { return Count::default() };
    match found.fields.get(field) {
        None => Count { missing: 1, ..Count::default() },
        Some(value) if is_right(field, truth, &value.normalised) => Count { right: 1, ..Count::default() },
        Some(_) => Count { wrong: 1, ..Count::default() },
    }
}

fn is_right(field: &str, truth: &str, found: &str) -> bool {
    let squeezed = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_lowercase();
    match field {
        "grand_total" => {
            let amount = |text: &str| value::Decimal::from_plain(text).map(value::Decimal::abs);
            amount(truth).is_some() && amount(truth) == amount(found)
        }
        "issue_date" => {
            let habits = value::Habits::default();
            extract::parse_as(FieldType::Date, truth, &habits).is_some_and(|truth| truth.normalised == found)
        }
        "seller" => {
            let (truth, found) = (value::address::name_key(truth), value::address::name_key(found));
            let (short, long) = if truth.len() < found.len() { (&truth, &found) } else { (&found, &truth) };
            !short.is_empty() && long.contains(short.as_str()) && short.len() * 2 >= long.len()
        }
        _ => squeezed(truth) == squeezed(found),
    }
}

/// Adds a file to the layout that its first page has.
fn join_layout(layouts: &mut Vec<Layout>, pages: &[Page], count: Count) {
    let words: BTreeSet<(String, i32)> = pages
        .first()
        .into_iter()
        .flat_map(|page| &page.words)
        .filter(|word| !word.text.contains(|c: char| c.is_ascii_digit()))
        .map(|word| (word.text.clone(), (word.bbox.x0 / 10.0).round() as i32))
        .collect();
    let similar = |layout: &&mut Layout| {
        let shared = layout.words.intersection(&words).count();
        shared * 2 >= layout.words.len().min(words.len()).max(1)
    };
    match layouts.iter_mut().find(similar) {
        Some(layout) => {
            layout.files += 1;
            layout.count.add(count);
        }
        None => layouts.push(Layout { words, files: 1, count }),
    }
}

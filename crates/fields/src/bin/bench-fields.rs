//! Reads sets of documents and writes what was found, for a scorer: `bench-fields SHARED OUT AD_BUY.yaml [--model FILE] [--pages FOLDER]`.
//!
//! SHARED holds `fixtures/documents`. OUT gets one JSON file for each set, in the shape of `bindery result --json`, and
//! `einvoices.json` with the truth of the attached XML, which the extractor does not get to see. Receipts are read three times:
//! as people typed them, by Tesseract, and by both engines together, as they are where the models of PP-OCR are installed.
//! FOLDER keeps the pages that OCR has read, so that the next run need not read them again.

use bindery_fields::{
    DocType, DocTypes,
    extract::{self, Extraction, Sources, Templates, einvoice},
};
use bindery_reader::{
    EngineChoice, OcrMode, OpenFile, Page, ReadOptions, Reader, Rect, Size, Word,
    model::ReadBy,
    ocr::{local::LocalEngines, ppocr::PpOcr},
    pdf,
};
use serde_json::{Value, json};
use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

type Problem = Box<dyn std::error::Error>;

/// As `workflows/documents.yaml` ships it: less is for a person.
const THRESHOLD: f32 = 0.75;

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
    let usage = "usage: bench-fields SHARED OUT AD_BUY.yaml [--model FILE] [--pages FOLDER]";
    let [shared, out, own_type, ..] = arguments.as_slice() else { return Err(usage.into()) };
    let option = |name: &str| {
        arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1)).map(PathBuf::from)
    };
    if let Some(file) = option("--model") {
        extract::use_models(&fs::read(file)?)?;
    }
    let pages = option("--pages");
    let documents = Path::new(shared).join("fixtures/documents");
    let out = PathBuf::from(out);
    fs::create_dir_all(&out)?;
    let types = DocTypes::shipped()?;
    let shipped = |name: &str| types.get(name).ok_or_else(|| format!("no document type is named {name}"));
    let mut clock = Clock::default();
    let receipt = shipped("receipt")?;
    let mut results = Vec::new();
    for file in files(&documents.join("receipts.boxes"), "csv")? {
        let name = file_name(&file).replace(".boxes.csv", ".jpg");
        let page = boxes_page(&fs::read(&file)?);
        results.push(result(&name, &clock.extract(receipt, &[page])));
    }
    write(&out.join("receipts.json"), &results)?;
    for (name, choice) in [("receipts-tesseract", EngineChoice::Tesseract), ("receipts-ocr", EngineChoice::Auto)] {
        if choice == EngineChoice::Auto && !PpOcr::default().is_installed() {
            writeln!(io::stdout(), "{name}: skipped: the models of PP-OCR are not installed")?;
            continue;
        }
        let kept = pages.as_ref().map(|folder| folder.join(name));
        let results = read_pictures(&documents.join("receipts"), receipt, choice, kept.as_deref())?;
        write(&out.join(name).with_extension("json"), &results)?;
    }
    let ad_buy = DocType::parse(&fs::read_to_string(own_type)?, own_type)?;
    read_set(&documents.join("ad-buys"), &ad_buy, &mut clock, &out.join("ad-buys.json"))?;
    read_set(&documents.join("contracts"), shipped("contract")?, &mut clock, &out.join("contracts.json"))?;
    read_einvoices(&documents.join("einvoices"), shipped("invoice")?, &mut clock, &out.join("einvoices.json"))?;
    let (each, pages) = clock.measure();
    writeln!(io::stdout(), "fields of a page take {each:.2} ms of processor time ({pages} pages)")?;
    Ok(())
}

/// All documents that were read, to be read once more against the clock.
#[derive(Default)]
struct Clock {
    read: Vec<(DocType, Vec<Page>)>,
}

impl Clock {
    fn extract(&mut self, doctype: &DocType, pages: &[Page]) -> Extraction {
        self.read.push((doctype.clone(), pages.to_vec()));
        extract(doctype, pages)
    }

    /// Milliseconds of a page, and how many pages there were. Processor time, because others may use the machine, too.
    fn measure(&self) -> (f64, usize) {
        let wall = Instant::now();
        let before = processor_time();
        for (doctype, pages) in &self.read {
            extract(doctype, pages);
        }
        let spent = match (before, processor_time()) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => wall.elapsed(),
        };
        let pages: usize = self.read.iter().map(|(_, pages)| pages.len()).sum();
        (spent.as_secs_f64() * 1000.0 / pages.max(1) as f64, pages)
    }
}

fn extract(doctype: &DocType, pages: &[Page]) -> Extraction {
    let templates = Templates::default();
    extract::extract(doctype, pages, &Sources { attachments: &[], templates: &templates })
}

/// What this process has used of the processor, where the system says so.
fn processor_time() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/schedstat").ok()?;
    stat.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

fn read_set(folder: &Path, doctype: &DocType, clock: &mut Clock, out: &Path) -> Result<(), Problem> {
    let mut results = Vec::new();
    for file in files(folder, "pdf")? {
        let (pages, _) = read_pdf(&file)?;
        results.push(result(&file_name(&file), &clock.extract(doctype, &pages)));
    }
    write(out, &results)
}

/// Fields of the pictures of a folder, each read by OCR.
fn read_pictures(
    folder: &Path,
    doctype: &DocType,
    choice: EngineChoice,
    kept: Option<&Path>,
) -> Result<Vec<Value>, Problem> {
    if let Some(kept) = kept {
        fs::create_dir_all(kept)?;
    }
    let engines = LocalEngines::default();
    let reader = Reader::new(ReadOptions::default(), Some(engines.choose(choice)));
    let mut results = Vec::new();
    for file in files(folder, "jpg")? {
        let name = file_name(&file);
        let kept = kept.map(|folder| folder.join(&name).with_extension("json"));
        let page: Page = match kept.as_ref().filter(|kept| kept.exists()) {
            Some(kept) => serde_json::from_slice(&fs::read(kept)?)?,
            None => reader.read_page(reader.open(fs::read(&file)?, Some(&name))?.as_ref(), 0)?,
        };
        if let Some(kept) = kept {
            fs::write(kept, serde_json::to_vec(&page)?)?;
        }
        results.push(result(&name, &extract(doctype, &[page])));
    }
    Ok(results)
}

fn read_einvoices(folder: &Path, invoice: &DocType, clock: &mut Clock, out: &Path) -> Result<(), Problem> {
    let mut results = Vec::new();
    for file in files(folder, "pdf")? {
        let (pages, opened) = read_pdf(&file)?;
        let attachments = opened.attachments()?;
        let Some(truth) = attachments.iter().filter_map(einvoice::read).find_map(Result::ok) else { continue };
        let mut entry = result(&file_name(&file), &clock.extract(invoice, &pages));
        entry["truth"] = truth
            .values
            .iter()
            .map(|(name, stated)| ((*name).to_owned(), json!(stated.text)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let columns = &invoice.fields.field("line_items").ok_or("an invoice has no line_items")?.columns;
        let amounts: Vec<Value> = truth
            .rows(columns)
            .iter()
            .filter_map(|row| row.cells.get("amount").map(|cell| json!(cell.normalised)))
            .collect();
        entry["truth_lines"] = amounts.into();
        results.push(entry);
    }
    write(out, &results)
}

fn read_pdf(file: &Path) -> Result<(Vec<Page>, impl OpenFile + use<>), Problem> {
    let options = ReadOptions { ocr: OcrMode::Never, ..ReadOptions::default() };
    let opened = pdf::open(fs::read(file)?, &options)?;
    let pages = (0..opened.info().page_count).map(|index| opened.page(index)).collect::<Result<Vec<_>, _>>()?;
    Ok((pages, opened))
}

fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Problem> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|own| own == extension));
    files.sort();
    Ok(files)
}

fn file_name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A page from lines of `x0,y0,x1,y1,x2,y2,x3,y3,text`, each split into words by their share of its width.
fn boxes_page(bytes: &[u8]) -> Page {
    let mut page = Page::converted(1);
    page.read_by = ReadBy::Embedded;
    let (mut width, mut height) = (0.0f32, 0.0f32);
    for line in String::from_utf8_lossy(bytes).lines() {
        let parts: Vec<&str> = line.splitn(9, ',').collect();
        let [coordinates @ .., text] = parts.as_slice() else { continue };
        let numbers: Vec<f32> = coordinates.iter().filter_map(|number| number.trim().parse().ok()).collect();
        let [x0, y0, _, _, x1, y1, ..] = numbers.as_slice() else { continue };
        (width, height) = (width.max(*x1), height.max(*y1));
        let letters = text.chars().count().max(1) as f32;
        let letter = (x1 - x0) / letters;
        let mut at = 0;
        for word in text.split(' ') {
            let count = word.chars().count();
            if count > 0 {
                let left = x0 + letter * at as f32;
                let bbox = Rect::new(left, *y0, left + letter * count as f32, *y1);
                page.words.push(Word { text: word.to_owned(), bbox, confidence: None });
            }
            at += count + 1;
        }
    }
    page.size = Some(Size { width, height });
    page
}

fn result(file: &str, found: &Extraction) -> Value {
    let data: serde_json::Map<String, Value> =
        found.fields.iter().map(|(name, value)| (name.clone(), json!(value.normalised))).collect();
    let evidence: serde_json::Map<String, Value> = found
        .fields
        .iter()
        .map(|(name, value)| {
            let doubts: Vec<&str> = value.doubts.iter().map(|doubt| doubt.text.as_str()).collect();
            (
                name.clone(),
                json!({"confidence": value.confidence, "because": value.because, "quote": value.quote,
                "source": value.source, "doubts": doubts}),
            )
        })
        .collect();
    let lines: Vec<&str> = found
        .rows
        .get("line_items")
        .into_iter()
        .flatten()
        .filter_map(|row| row.cells.get("amount").map(|cell| cell.normalised.as_str()))
        .collect();
    json!({
        "file": file, "doc_type": found.doctype, "extracted_data": data, "evidence": evidence, "lines": lines,
        "needs_review": !found.needs_review.is_empty() || found.confidence < THRESHOLD, "reasons": found.needs_review,
    })
}

fn write(file: &Path, documents: &[Value]) -> Result<(), Problem> {
    fs::write(file, serde_json::to_vec_pretty(&json!({ "documents": documents }))?)?;
    Ok(())
}

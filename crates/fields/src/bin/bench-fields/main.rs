//! Reads sets of documents and writes what was found, for a scorer: `bench-fields SHARED OUT AD_BUY.yaml [--model FILE] [--pages FOLDER] [--without-ocr] [--overlay FOLDER]`.
//!
//! SHARED holds `fixtures/documents`. OUT gets one JSON file for each set, in the shape of `bindery result --json`, and
//! `einvoices.json` with the truth of the attached XML, which the extractor does not get to see. Receipts are read three times:
//! as people typed them, by Tesseract, and by both engines together, as they are where the models of PP-OCR are installed.
//! `piles.json` is about documents of several sets put together.
//! `--overlay` draws where the values of twenty documents of each set were found, of those that may be tuned on.
//! `--without-ocr` reads no pictures. FOLDER keeps the pages that were read, so that the next run need not read them again.

mod overlay;
mod piles;

use bindery_fields::{
    DocType, DocTypes,
    extract::{self, Extraction, Sources, Templates, einvoice},
};
use bindery_reader::{
    Attachment, EngineChoice, OcrMode, OpenFile, Page, ReadOptions, Reader, Rect, Size, Word,
    model::ReadBy,
    ocr::{local::LocalEngines, ppocr::PpOcr},
    pdf,
};
use overlay::ContactSheets;
use piles::{PileDocument, is_held_out};
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
    let usage =
        "usage: bench-fields SHARED OUT AD_BUY.yaml [--model FILE] [--pages FOLDER] [--without-ocr] [--overlay FOLDER]";
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
    let mut piled = Vec::new();
    for file in files(&documents.join("receipts.boxes"), "csv")? {
        let name = file_name(&file).replace(".boxes.csv", ".jpg");
        let pages = vec![boxes_page(&fs::read(&file)?)];
        results.push(result(&name, &clock.extract(receipt, &pages)));
    }
    write(&out.join("receipts.json"), &results)?;
    let with_ocr = !arguments.iter().any(|argument| argument == "--without-ocr");
    let engines = [("receipts-tesseract", EngineChoice::Tesseract), ("receipts-ocr", EngineChoice::Auto)];
    for (name, choice) in engines.into_iter().filter(|_| with_ocr) {
        if choice == EngineChoice::Auto && !PpOcr::default().is_installed() {
            writeln!(io::stdout(), "{name}: skipped: the models of PP-OCR are not installed")?;
            continue;
        }
        let kept = pages.as_ref().map(|folder| folder.join(name));
        let read = read_pictures(&documents.join("receipts"), choice, kept.as_deref())?;
        let results: Vec<Value> = read.iter().map(|(file, pages)| result(file, &extract(receipt, pages))).collect();
        draw(option("--overlay").as_deref(), &documents.join("receipts"), name, receipt, &read)?;
        write(&out.join(name).with_extension("json"), &results)?;
        // Piles hold them as the best engine reads them.
        piled = read.into_iter().map(|(file, pages)| PileDocument::new(file, "receipt", pages)).collect();
    }
    let ad_buy = DocType::parse(&fs::read_to_string(own_type)?, own_type)?;
    for (name, doctype) in [("ad-buys", &ad_buy), ("contracts", shipped("contract")?)] {
        let kept = pages.as_ref().map(|folder| folder.join(name));
        let read = read_set(&documents.join(name), kept.as_deref())?;
        let results: Vec<Value> =
            read.iter().map(|(file, pages)| result(file, &clock.extract(doctype, pages))).collect();
        write(&out.join(name).with_extension("json"), &results)?;
        draw(option("--overlay").as_deref(), &documents.join(name), name, doctype, &read)?;
        if name == "contracts" {
            piled.extend(read.into_iter().map(|(file, pages)| PileDocument::new(file, "contract", pages)));
        }
    }
    let kept = pages.as_ref().map(|folder| folder.join("einvoices"));
    let invoices = documents.join("einvoices");
    let einvoices = out.join("einvoices.json");
    let read = read_einvoices(&invoices, shipped("invoice")?, &mut clock, kept.as_deref(), &einvoices)?;
    let drawn: Vec<(String, Vec<Page>)> = read.iter().map(|own| (own.file.clone(), own.pages.clone())).collect();
    draw(option("--overlay").as_deref(), &invoices, "einvoices", shipped("invoice")?, &drawn)?;
    piled.extend(read);
    let found = piles::read_piles(piled, &types);
    fs::write(out.join("piles.json"), serde_json::to_vec_pretty(&json!({ "piles": found }))?)?;
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
    extract_with(doctype, pages, &[])
}

fn extract_with(doctype: &DocType, pages: &[Page], attachments: &[Attachment]) -> Extraction {
    let templates = Templates::default();
    extract::extract(doctype, pages, &Sources { attachments, templates: &templates })
}

/// Whether a document goes to review, as `workflows/documents.yaml` has it.
fn is_flagged(found: &Extraction) -> bool {
    !found.needs_review.is_empty() || found.confidence < THRESHOLD
}

/// What this process has used of the processor, where the system says so.
fn processor_time() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/schedstat").ok()?;
    stat.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// The pages of all PDF files of a folder, by the names of the files.
fn read_set(folder: &Path, kept: Option<&Path>) -> Result<Vec<(String, Vec<Page>)>, Problem> {
    let read = |file: PathBuf| Ok((file_name(&file), read_once(&file, kept, || pages_of(&open_pdf(&file)?))?));
    files(folder, "pdf")?.into_iter().map(read).collect()
}

/// The pictures of a folder, each read by OCR.
fn read_pictures(
    folder: &Path,
    choice: EngineChoice,
    kept: Option<&Path>,
) -> Result<Vec<(String, Vec<Page>)>, Problem> {
    let engines = LocalEngines::default();
    let reader = Reader::new(ReadOptions::default(), Some(engines.choose(choice)));
    let read = |file: PathBuf| {
        let name = file_name(&file);
        let pages = read_once(&file, kept, || {
            Ok(vec![reader.read_page(reader.open(fs::read(&file)?, Some(&name))?.as_ref(), 0)?])
        })?;
        Ok((name, pages))
    };
    files(folder, "jpg")?.into_iter().map(read).collect()
}

fn read_einvoices(
    folder: &Path,
    invoice: &DocType,
    clock: &mut Clock,
    kept: Option<&Path>,
    out: &Path,
) -> Result<Vec<PileDocument>, Problem> {
    let mut results = Vec::new();
    let mut read = Vec::new();
    for file in files(folder, "pdf")? {
        let opened = open_pdf(&file)?;
        let attachments = opened.attachments()?;
        let Some(truth) = attachments.iter().filter_map(einvoice::read).find_map(Result::ok) else { continue };
        let pages = read_once(&file, kept, || pages_of(&opened))?;
        let mut entry = result(&file_name(&file), &clock.extract(invoice, &pages));
        let with_xml = extract_with(invoice, &pages, &attachments);
        entry["with_xml"] = json!({"needs_review": is_flagged(&with_xml), "reasons": with_xml.needs_review});
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
        read.push(PileDocument::new(file_name(&file), truth.doctype, pages));
    }
    write(out, &results)?;
    Ok(read)
}

/// How many documents of a set are drawn.
const DRAWN: usize = 20;

fn draw(
    out: Option<&Path>,
    folder: &Path,
    name: &str,
    doctype: &DocType,
    read: &[(String, Vec<Page>)],
) -> Result<(), Problem> {
    let Some(out) = out else { return Ok(()) };
    let mut sheets = ContactSheets::new(out, name);
    for (file, pages) in read.iter().filter(|(file, _)| !is_held_out(file)).take(DRAWN) {
        sheets.add(&folder.join(file), pages, &extract(doctype, pages))?;
    }
    sheets.finish()
}

fn open_pdf(file: &Path) -> Result<impl OpenFile + use<>, Problem> {
    let options = ReadOptions { ocr: OcrMode::Never, ..ReadOptions::default() };
    Ok(pdf::open(fs::read(file)?, &options)?)
}

fn pages_of(opened: &impl OpenFile) -> Result<Vec<Page>, Problem> {
    Ok((0..opened.info().page_count).map(|index| opened.page(index)).collect::<Result<Vec<_>, _>>()?)
}

/// The pages of a file: those that an earlier run kept, or else those that are read now, which are kept if there is a folder.
fn read_once(
    file: &Path,
    kept: Option<&Path>,
    read: impl FnOnce() -> Result<Vec<Page>, Problem>,
) -> Result<Vec<Page>, Problem> {
    let Some(folder) = kept else { return read() };
    let kept = folder.join(file_name(file)).with_extension("json");
    if kept.exists() {
        return Ok(serde_json::from_slice(&fs::read(kept)?)?);
    }
    let pages = read()?;
    fs::create_dir_all(folder)?;
    fs::write(kept, serde_json::to_vec(&pages)?)?;
    Ok(pages)
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
        "needs_review": is_flagged(found), "reasons": found.needs_review,
    })
}

fn write(file: &Path, documents: &[Value]) -> Result<(), Problem> {
    fs::write(file, serde_json::to_vec_pretty(&json!({ "documents": documents }))?)?;
    Ok(())
}

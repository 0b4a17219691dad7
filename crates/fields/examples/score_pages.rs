//! How well pages are recognised and put together: `score_pages PILE [--pages DIR] [--doctypes DIR] [--wrong] [--fit]`.
//!
//! PILE holds files and `truth.jsonl`, as `bench/pipeline/piles/make.py` writes them. `--pages DIR` takes the pages from
//! `DIR/FILE.json`, as `bindery read --format json --out DIR` writes them, which saves reading them again; without it the
//! files are read here. `--doctypes DIR` adds types, `--wrong` lists what went wrong and why, and `--fit` looks for the
//! calibration that makes the truth likeliest while half of every page's words are hidden.
//!
//! The last line is for programs.

use bindery_core::Name;
use bindery_fields::{
    DocTypes,
    classify::{ClassCalibration, Classifier, PageClass, group},
};
use bindery_reader::{
    Page, ReadOptions, Reader,
    model::{BlockKind, Inlines},
    ocr::tesseract::Tesseract,
};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    error::Error,
    fmt::Write as _,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

#[derive(Debug, Deserialize)]
struct Truth {
    file: String,
    page: usize,
    doctype: String,
    document: usize,
    #[serde(default)]
    language: String,
    #[serde(default)]
    layout: String,
    #[serde(default)]
    scan: bool,
}

#[derive(Debug, Deserialize)]
struct ReadFile {
    pages: Vec<Page>,
}

#[derive(Debug, Default)]
struct Arguments {
    pile: PathBuf,
    pages: Option<PathBuf>,
    doctypes: Option<PathBuf>,
    wrong: bool,
    fit: bool,
}

fn main() -> ExitCode {
    match run() {
        Ok(report) => {
            let written = io::stdout().write_all(report.as_bytes());
            if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            let _ = io::stderr().write_all(format!("{error}\n").as_bytes());
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, Box<dyn Error>> {
    let arguments = arguments()?;
    let mut doctypes = DocTypes::shipped()?;
    if let Some(folder) = &arguments.doctypes {
        doctypes = doctypes.with_folder(folder)?;
    }
    let classifier = Classifier::new(&doctypes);
    let mut by_file: BTreeMap<String, Vec<Truth>> = BTreeMap::new();
    for line in fs::read_to_string(arguments.pile.join("truth.jsonl"))?.lines() {
        let truth: Truth = serde_json::from_str(line)?;
        by_file.entry(truth.file.clone()).or_default().push(truth);
    }
    let mut score = Score::default();
    for (file, truths) in &by_file {
        let pages = pages_of(file, &arguments)?;
        if pages.len() != truths.len() {
            return Err(format!("{file} has {} pages, the truth {}", pages.len(), truths.len()).into());
        }
        if arguments.fit {
            score.keep_hidden(&classifier, &pages, truths);
        }
        score.add(&classifier, &pages, truths);
    }
    Ok(score.report(&arguments))
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut arguments = Arguments::default();
    let mut given = env::args().skip(1);
    while let Some(argument) = given.next() {
        let mut folder = || given.next().map(PathBuf::from).ok_or_else(|| format!("{argument} needs a folder"));
        match argument.as_str() {
            "--pages" => arguments.pages = Some(folder()?),
            "--doctypes" => arguments.doctypes = Some(folder()?),
            "--wrong" => arguments.wrong = true,
            "--fit" => arguments.fit = true,
            _ => arguments.pile = PathBuf::from(argument),
        }
    }
    if arguments.pile.as_os_str().is_empty() {
        return Err("usage: score_pages PILE [--pages DIR] [--doctypes DIR] [--wrong] [--fit]".into());
    }
    Ok(arguments)
}

fn pages_of(file: &str, arguments: &Arguments) -> Result<Vec<Page>, Box<dyn Error>> {
    match &arguments.pages {
        Some(folder) => {
            let read: ReadFile = serde_json::from_slice(&fs::read(folder.join(format!("{file}.json")))?)?;
            Ok(read.pages)
        }
        None => read(&arguments.pile.join(file)),
    }
}

fn read(file: &Path) -> Result<Vec<Page>, Box<dyn Error>> {
    let reader = Reader::new(ReadOptions::default(), Some(Arc::new(Tesseract::default())));
    let open = reader.open(fs::read(file)?, None)?;
    (0..open.info().page_count).map(|index| Ok(reader.read_page(&*open, index)?)).collect()
}

#[derive(Debug, Default)]
struct Score {
    pages: usize,
    right: usize,
    /// Of pages that are given the type of their document.
    right_in_documents: usize,
    /// By true type, then by what was said.
    confusion: BTreeMap<String, BTreeMap<String, usize>>,
    /// By what the truth says of a page: how many, and how many of them are right.
    slices: BTreeMap<String, (usize, usize)>,
    /// By tenths of confidence: how many, how many right, and the sum of confidence.
    bins: BTreeMap<usize, (usize, usize, f64)>,
    documents: usize,
    documents_right: usize,
    documents_typed: usize,
    wrong: Vec<String>,
    /// Scores of pages with hidden words, and their true type.
    hidden: Vec<(Vec<(Name, f64)>, String)>,
}

impl Score {
    fn add(&mut self, classifier: &Classifier, pages: &[Page], truths: &[Truth]) {
        let classes: Vec<PageClass> = pages.iter().map(|page| classifier.classify(page)).collect();
        for (class, truth) in classes.iter().zip(truths) {
            self.add_page(class, truth);
        }
        let pairs: Vec<(&Page, &PageClass)> = pages.iter().zip(&classes).collect();
        let found = group(&pairs);
        let spans: BTreeSet<(Vec<usize>, &str)> =
            found.iter().map(|document| (document.pages.clone(), &*document.doctype)).collect();
        let mut wanted: BTreeMap<usize, (Vec<usize>, &str)> = BTreeMap::new();
        for truth in truths {
            wanted.entry(truth.document).or_insert_with(|| (Vec::new(), &truth.doctype)).0.push(truth.page);
        }
        self.documents += wanted.len();
        for (span, doctype) in wanted.into_values() {
            let right = spans.iter().any(|(found, _)| *found == span);
            self.documents_right += usize::from(right);
            self.documents_typed += usize::from(spans.contains(&(span.clone(), doctype)));
            if !right {
                let truth = &truths[0];
                let near: Vec<String> = found
                    .iter()
                    .filter(|document| document.pages.iter().any(|page| span.contains(page)))
                    .map(|document| {
                        let reasons: Vec<String> = document
                            .because
                            .iter()
                            .take(6)
                            .map(|reason| format!("{} ({:+.1})", reason.text, reason.weight))
                            .collect();
                        format!("\n      {:?} {}: {}", document.pages, &*document.doctype, reasons.join("; "))
                    })
                    .collect();
                self.wrong.push(format!(
                    "document {} {span:?} ({doctype}) was grouped otherwise:{}",
                    truth.file,
                    near.join("")
                ));
            }
        }
        for document in &found {
            let of_type =
                |page: &&usize| truths.iter().any(|truth| truth.page == **page && truth.doctype == *document.doctype);
            self.right_in_documents += document.pages.iter().filter(of_type).count();
        }
    }

    fn add_page(&mut self, class: &PageClass, truth: &Truth) {
        let right = *class.doctype == *truth.doctype;
        self.pages += 1;
        self.right += usize::from(right);
        *self.confusion.entry(truth.doctype.clone()).or_default().entry(class.doctype.to_string()).or_default() += 1;
        let medium = if truth.scan { "scan" } else { "born digital" };
        for slice in [truth.language.as_str(), medium].into_iter().chain((!right).then_some(truth.layout.as_str())) {
            let entry = self.slices.entry(slice.to_owned()).or_default();
            entry.0 += 1;
            entry.1 += usize::from(right);
        }
        let bin = self.bins.entry(((class.confidence * 10.0) as usize).min(9)).or_default();
        bin.0 += 1;
        bin.1 += usize::from(right);
        bin.2 += class.confidence;
        if !right {
            let reasons: Vec<String> =
                class.because.iter().map(|reason| format!("{} ({:+.1})", reason.text, reason.weight)).collect();
            self.wrong.push(format!(
                "page {} {}: {} ({}, {}{}) was taken for {} ({:.2}), then {:?}: {}",
                truth.file,
                truth.page,
                truth.doctype,
                truth.layout,
                truth.language,
                if truth.scan { ", scan" } else { "" },
                &*class.doctype,
                class.confidence,
                class.runners_up.first(),
                reasons.join("; ")
            ));
        }
    }

    fn keep_hidden(&mut self, classifier: &Classifier, pages: &[Page], truths: &[Truth]) {
        for (page, truth) in pages.iter().zip(truths) {
            let key = format!("{} {}", truth.file, truth.page);
            self.hidden.push((classifier.scores(&hide(page, &key)), truth.doctype.clone()));
        }
    }

    fn report(&self, arguments: &Arguments) -> String {
        let mut out = String::new();
        // Writing to a text cannot fail.
        let _ = self.write(&mut out, arguments);
        out
    }

    fn write(&self, out: &mut String, arguments: &Arguments) -> std::fmt::Result {
        if arguments.wrong {
            for line in &self.wrong {
                writeln!(out, "{line}")?;
            }
        }
        writeln!(out, "\npages by their true type, and what they were taken for:")?;
        for (doctype, taken) in &self.confusion {
            let total: usize = taken.values().sum();
            let right = taken.get(doctype).copied().unwrap_or(0);
            write!(out, "  {doctype:15} {right:4} of {total:4}")?;
            for (name, count) in taken.iter().filter(|(name, _)| *name != doctype) {
                write!(out, "   {name} {count}")?;
            }
            writeln!(out)?;
        }
        writeln!(out, "\nslices: pages, share that is right")?;
        for (slice, (count, right)) in self.slices.iter().filter(|(_, (_, right))| *right > 0) {
            writeln!(out, "  {slice:15} {count:4} {:.3}", share(*right, *count))?;
        }
        writeln!(out, "\nconfidence: pages, mean confidence, share that is right")?;
        let mut error = 0.0;
        for (bin, (count, right, sum)) in &self.bins {
            let mean = sum / *count as f64;
            writeln!(out, "  0.{bin}  {count:4}  {mean:.3}  {:.3}", share(*right, *count))?;
            error += (mean - share(*right, *count)).abs() * *count as f64;
        }
        if arguments.fit {
            self.write_fit(out)?;
        }
        writeln!(
            out,
            "\nSCORE pages={} page_accuracy={:.4} page_accuracy_in_documents={:.4} documents={} grouping={:.4} grouping_and_type={:.4} calibration_error={:.4}",
            self.pages,
            share(self.right, self.pages),
            share(self.right_in_documents, self.pages),
            self.documents,
            share(self.documents_right, self.documents),
            share(self.documents_typed, self.documents),
            error / self.pages.max(1) as f64
        )
    }

    /// The calibrations under which the truth is likeliest.
    fn write_fit(&self, out: &mut String) -> std::fmt::Result {
        let mut tried = Vec::new();
        for other in 2..=24 {
            for heat in 2..=16 {
                let calibration =
                    ClassCalibration { other_score: f64::from(other) * 0.25, temperature: f64::from(heat) * 0.25 };
                let (mut loss, mut right) = (0.0, 0);
                for (scores, doctype) in &self.hidden {
                    let likelihoods = calibration.likelihoods(scores);
                    let most = likelihoods.iter().copied().fold(0.0, f64::max);
                    let of_truth = scores
                        .iter()
                        .zip(&likelihoods)
                        .find(|((name, _), _)| **name == **doctype)
                        .map_or(0.0, |(_, likelihood)| *likelihood);
                    loss -= of_truth.max(0.005).ln();
                    right += usize::from(of_truth >= most);
                }
                tried.push((loss / self.hidden.len().max(1) as f64, right, calibration));
            }
        }
        tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        writeln!(
            out,
            "\nwith half of the words hidden: mean -ln(likelihood of the truth), share that is right, calibration"
        )?;
        for (loss, right, calibration) in tried.iter().take(5) {
            writeln!(out, "  {loss:.4}  {:.3}  {calibration:?}", share(*right, self.hidden.len()))?;
        }
        Ok(())
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The page with half of its words replaced, the same ones wherever they stand on it.
fn hide(page: &Page, key: &str) -> Page {
    let mut page = page.clone();
    for word in &mut page.words {
        word.text = hidden_text(&word.text, key);
    }
    let hide_inlines = |text: &mut Inlines| {
        for span in &mut text.0 {
            span.text = hidden_text(&span.text, key);
        }
    };
    for block in &mut page.blocks {
        match &mut block.kind {
            BlockKind::Heading { text, .. }
            | BlockKind::Paragraph { text }
            | BlockKind::ListItem { text, .. }
            | BlockKind::Quote { text } => hide_inlines(text),
            BlockKind::Table { table } => table.cells.iter_mut().for_each(|cell| hide_inlines(&mut cell.text)),
            BlockKind::Code { text } => *text = hidden_text(text, key),
            BlockKind::Picture { .. } | BlockKind::Break => {}
        }
    }
    page
}

fn hidden_text(text: &str, key: &str) -> String {
    let hide_word = |word: &str| {
        let letters: String = word.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
        let seed = letters
            .bytes()
            .chain(key.bytes())
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        if letters.is_empty() || (seed >> 20) % 2 == 0 {
            word.to_owned()
        } else {
            word.chars().map(|c| if c.is_alphabetic() { 'x' } else { c }).collect()
        }
    };
    text.split_inclusive(char::is_whitespace).map(hide_word).collect()
}

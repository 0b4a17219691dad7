//! `bindery read`: files in, their text out. Nothing is stored; whatever cannot be read is said, and the rest goes on.

mod bar;
mod explain;
mod files;
mod output_file;
mod pages;

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings,
    reading::{EngineChoice, Form, HttpEngine, LocalEngines, OcrEngine, OcrMode, ReadOptions, Reader},
};
use files::Job;
use pages::PageRanges;
use std::{path::PathBuf, sync::Arc};

/// Read files: text, Markdown, words with their places
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery read report.pdf                          writes report.pdf.md beside it
  bindery read *.pdf *.docx --out texts            writes texts/report.pdf.md and so on
  bindery read report.pdf --out -                  prints it
  bindery read scan.pdf --format json --pages 1-3,7
  bindery read *.pdf --format md,json --out texts  writes both, and reads each file once
  bindery read scan.pdf --explain                  says how each page was read, and why
  bindery read scan.pdf --overlay pictures         draws what was seen over each page
  bindery read receipt.jpg --ocr-engine ppocr      after bindery ocr install
  bindery read report.pdf --split parts            writes parts/report.pdf.pages/page_001.pdf, page_001.md and so on
  curl -s https://example.org/ | bindery read -    reads what comes in, prints what it says
PDF, images, Office, OpenDocument, HTML, mail, RTF, EPUB, CSV, text, and archives of these. The content tells the type;
the name does not matter. Pages without usable text are read by Tesseract, if it is installed. A file that needs more
memory than --memory allows, or is over a limit (docs/reading.md), fails with one sentence; the others go on.")]
#[expect(clippy::struct_excessive_bools, reason = "flags")]
pub(crate) struct Args {
    /// The files; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// What to write; several are separated by commas
    #[arg(long, short, value_enum, value_delimiter = ',', default_values_t = [Format::Md], value_name = "FORMATS")]
    format: Vec<Format>,

    /// Only these pages, such as 1-3,7 or 5-
    #[arg(long, value_name = "PAGES")]
    pages: Option<PageRanges>,

    /// Where to write; - prints. Without it, beside each file
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,

    /// How many pages are read at once; without it, one for each core
    #[arg(long, short, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,

    /// How much memory reading a file may use, in a process of its own (default: `memory_mb` of bindery.toml, or 1024); 0: any,
    /// in this process
    #[arg(long, value_name = "MB", value_parser = memory())]
    memory: Option<u64>,

    /// What opens encrypted files
    #[arg(long, env = crate::env_vars::READ_PASSWORD, hide_env_values = true, value_name = "PASSWORD")]
    password: Option<String>,

    /// Which pages are read by OCR
    #[arg(long, value_enum, default_value_t = Ocr::Auto)]
    ocr: Ocr,

    /// What reads them
    #[arg(long, value_enum, default_value_t = Engine::Auto, conflicts_with = "ocr_url")]
    ocr_engine: Engine,

    /// The languages of scans, as Tesseract names them, joined by +
    #[arg(long, value_name = "NAMES", default_value = "eng")]
    languages: String,

    /// How finely pages are drawn for OCR, for --images and for --overlay
    #[arg(long, value_name = "NUMBER", default_value_t = 300, value_parser = clap::value_parser!(u16).range(30..=1200))]
    dpi: u16,

    /// Send pages that need OCR to this address instead of to Tesseract
    #[arg(long, value_name = "URL")]
    ocr_url: Option<String>,

    /// Write a picture of each page, too: NAME.EXT.page_001.png
    #[arg(long)]
    images: bool,

    /// Write files inside the files as well, into NAME.EXT.files, and read them
    #[arg(long)]
    attachments: bool,

    /// Say how each page was read, and why, instead of writing anything
    #[arg(long, conflicts_with_all = ["format", "images", "overlay"])]
    explain: bool,

    /// Write pictures of the pages with words, blocks, tables and reading order drawn on them into this folder
    #[arg(long, value_name = "DIR")]
    overlay: Option<PathBuf>,

    /// Write each page as files of its own into DIR/NAME.EXT.pages: PDF, Markdown and words; and all of them combined
    #[arg(long, value_name = "DIR", conflicts_with_all = ["format", "out", "explain"])]
    split: Option<PathBuf>,

    /// No progress bars
    #[arg(long)]
    no_progress: bool,

    /// With --explain: print JSON lines
    #[arg(long, requires = "explain")]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Markdown: headings, lists, tables, links
    Md,
    /// Plain text in reading order
    Text,
    /// Everything: blocks, words, boxes, tables, metadata
    Json,
    /// Words with their boxes, as OCR tools exchange them
    Hocr,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Ocr {
    /// Those without usable text
    Auto,
    /// All
    Force,
    /// None
    Never,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Engine {
    /// Tesseract; and PP-OCR for narrow and doubtful pages, if its models are installed
    Auto,
    Tesseract,
    /// PP-OCR; see bindery ocr --help
    Ppocr,
}

/// None at all, or so much that a child can start.
fn memory() -> impl clap::builder::TypedValueParser<Value = u64> {
    use clap::builder::TypedValueParser as _;
    clap::value_parser!(u64).try_map(|megabytes| match megabytes {
        0 | 64..=1_048_576 => Ok(megabytes),
        _ => Err("expected 0, or a number from 64 to 1048576"),
    })
}

impl Args {
    fn reader(&self, settings: &Settings) -> anyhow::Result<Reader> {
        let ocr = match self.ocr {
            Ocr::Auto => OcrMode::Auto,
            Ocr::Force => OcrMode::Force,
            Ocr::Never => OcrMode::Never,
        };
        let choice = match self.ocr_engine {
            Engine::Auto => EngineChoice::Auto,
            Engine::Tesseract => EngineChoice::Tesseract,
            Engine::Ppocr => EngineChoice::PpOcr,
        };
        let engine: Arc<dyn OcrEngine> = match &self.ocr_url {
            Some(url) => Arc::new(HttpEngine::new(url, None)),
            None => LocalEngines::default().choose(choice),
        };
        let options = ReadOptions {
            ocr,
            engine: choice,
            languages: self.languages.split('+').map(str::to_owned).collect(),
            dpi: f32::from(self.dpi),
            password: self.password.clone(),
            words: self.needs_pages() || self.forms().iter().any(|form| form.has_words()),
            forms: if self.needs_pages() { Vec::new() } else { self.forms() },
            ..ReadOptions::default()
        };
        let reader = Reader::new(options, Some(engine));
        let mut settings = settings.clone();
        match self.memory {
            Some(0) => return Ok(reader),
            Some(megabytes) => settings.reading.memory = megabytes << 20,
            None => {}
        }
        Ok(reader.with_opener(Arc::new(settings.isolated_reader(self.jobs())?)))
    }

    /// Whether anything that is asked for needs pages themselves, and not only what is written of them.
    fn needs_pages(&self) -> bool {
        self.explain || self.images || self.split.is_some() || self.overlay.is_some()
    }

    /// The forms in which pages are written, one for each format.
    fn forms(&self) -> Vec<Form> {
        self.format.iter().map(|format| format.form(f32::from(self.dpi))).collect()
    }

    fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(cores, usize::from)
    }
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    if args.split.as_deref().is_some_and(is_dash) {
        return Err(Failure::usage("--split needs a folder, and - is none").into());
    }
    let out = args.out.as_ref().filter(|out| !is_dash(out));
    for folder in [out, args.overlay.as_ref(), args.split.as_ref()].into_iter().flatten() {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::usage(format!("{}: cannot be made: {error}", folder.display())))?;
    }
    // Reading keeps its cores busy, and threads of the runtime must not be kept.
    let reader = args.reader(settings)?;
    tokio::task::spawn_blocking(move || read_all(&args, &reader)).await?
}

fn is_dash(path: &std::path::Path) -> bool {
    path.as_os_str() == "-"
}

fn read_all(args: &Args, reader: &Reader) -> anyhow::Result<Exit> {
    let job = Job::new(args, reader);
    job.read_all(&args.files)?;
    let (failed, files) = job.finish();
    if failed == 0 {
        return Ok(Exit::Ok);
    }
    if files > 1 {
        output::note(format!("{} of {} had parts that could not be read", failed, output::count(files, "file")));
    }
    Ok(Exit::SubmissionFailed)
}

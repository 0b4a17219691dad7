//! What is written: beside the file, into a folder, or to the terminal. A file appears whole or not at all.

use super::Format;
use crate::terminal::{self, DataForm};
use bindery_files::WholeFile;
use bindery_reader::{About, Page, combine, render};
use std::{
    io::{self, Write},
    path::PathBuf,
};

/// Pages on their way out, in order.
pub(super) struct Output {
    format: Format,
    dpi: f32,
    target: Target,
    pages: usize,
    /// hOCR is one document, and its head stands before the first page.
    for_hocr: Vec<Page>,
}

enum Target {
    Terminal(terminal::Stdout),
    File(WholeFile),
}

impl Format {
    pub(super) const fn extension(self) -> &'static str {
        match self {
            Self::Md => "md",
            Self::Text => "txt",
            Self::Json => "json",
            Self::Hocr => "hocr",
        }
    }
}

impl Output {
    /// Prints.
    pub(super) fn terminal(format: Format, dpi: f32, about: &About) -> io::Result<Self> {
        Self::begin(
            format,
            dpi,
            about,
            Target::Terminal(terminal::stdout(if format == Format::Json { DataForm::Json } else { DataForm::Text })),
        )
    }

    /// Writes a file.
    pub(super) fn file(format: Format, dpi: f32, about: &About, path: PathBuf) -> io::Result<Self> {
        Self::begin(format, dpi, about, Target::File(WholeFile::begin(path)?))
    }

    fn begin(format: Format, dpi: f32, about: &About, target: Target) -> io::Result<Self> {
        let mut output = Self { format, dpi, target, pages: 0, for_hocr: Vec::new() };
        if format == Format::Json {
            let head = format!("{{\"about\":{},\"pages\":[", serde_json::to_string(about)?);
            output.write(&head)?;
        }
        Ok(output)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        match &mut self.target {
            Target::Terminal(terminal) => terminal.write_all(text.as_bytes()),
            Target::File(file) => file.write_all(text.as_bytes()),
        }
    }

    /// The next page. Files of one page have no marks between pages.
    pub(super) fn page(&mut self, page: &Page, of_several: bool) -> io::Result<()> {
        let first = self.pages == 0;
        self.pages += 1;
        let text = match self.format {
            Format::Hocr => {
                self.for_hocr.push(page.clone());
                return Ok(());
            }
            Format::Json => {
                let comma = if first { "" } else { "," };
                format!("{comma}\n{}", serde_json::to_string(page)?)
            }
            Format::Md => {
                let text = render::markdown(page);
                let between = if first { "" } else { "\n" };
                let text = if of_several { combine::page_of_file(page.number, &text) } else { text };
                format!("{between}{text}")
            }
            // Pages of plain text are parted as printers part them.
            Format::Text => format!("{}{}", if first { "" } else { "\x0c" }, render::text(page)),
        };
        self.write(&text)
    }

    /// Everything is written, and there.
    pub(super) fn finish(mut self) -> io::Result<Option<PathBuf>> {
        match self.format {
            Format::Json => self.write("\n]}\n")?,
            Format::Hocr => {
                let html = render::hocr(&self.for_hocr, self.dpi);
                self.write(&html)?;
            }
            Format::Md | Format::Text => {}
        }
        match self.target {
            Target::Terminal(mut terminal) => terminal.flush().map(|()| None),
            Target::File(file) => file.finish().map(Some),
        }
    }
}

//! What is written: beside the file, into a folder, or to the terminal. A file appears whole or not at all.

use super::Format;
use crate::terminal::{self, DataForm};
use bindery_app::reading::{About, ContinuedTables, Form, HOCR_END, HOCR_HEAD, page_of_file};
use bindery_files::WholeFile;
use std::{
    io::{self, Write},
    path::PathBuf,
};

/// Pages on their way out, in order.
pub(super) struct Output {
    format: Format,
    target: Target,
    pages: usize,
    /// Files of one page have no marks between pages.
    of_several: bool,
    tables: ContinuedTables,
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

    /// The form in which each page is written.
    pub(super) const fn form(self, dpi: f32) -> Form {
        match self {
            Self::Md => Form::Markdown,
            Self::Text => Form::Text,
            Self::Json => Form::Json,
            Self::Hocr => Form::Hocr { dpi },
        }
    }
}

impl Output {
    /// Prints.
    pub(super) fn terminal(format: Format, about: &About) -> io::Result<Self> {
        let form = if format == Format::Json { DataForm::Json } else { DataForm::Text };
        Self::begin(format, about, Target::Terminal(terminal::stdout(form)))
    }

    /// Writes a file.
    pub(super) fn file(format: Format, about: &About, path: PathBuf) -> io::Result<Self> {
        Self::begin(format, about, Target::File(WholeFile::begin(path)?))
    }

    fn begin(format: Format, about: &About, target: Target) -> io::Result<Self> {
        let mut output =
            Self { format, target, pages: 0, of_several: about.page_count > 1, tables: ContinuedTables::default() };
        match format {
            Format::Json => output.write(&format!("{{\"about\":{},\"pages\":[", serde_json::to_string(about)?))?,
            Format::Hocr => output.write(HOCR_HEAD)?,
            Format::Md | Format::Text => {}
        }
        Ok(output)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        match &mut self.target {
            Target::Terminal(terminal) => terminal.write_all(text.as_bytes()),
            Target::File(file) => file.write_all(text.as_bytes()),
        }
    }

    /// The next page, in the form of this output.
    pub(super) fn page(&mut self, number: usize, text: &str) -> io::Result<()> {
        let first = self.pages == 0;
        self.pages += 1;
        let before = match self.format {
            Format::Json if first => "\n",
            Format::Json => ",\n",
            Format::Md if !first => "\n",
            // Pages of plain text are parted as printers part them.
            Format::Text if !first => "\x0c",
            _ => "",
        };
        self.write(before)?;
        match self.format {
            Format::Md if self.of_several => {
                let text = self.tables.page(number, text);
                self.write(&page_of_file(number, &text))
            }
            _ => self.write(text),
        }
    }

    /// Everything is written, and there.
    pub(super) fn finish(mut self) -> io::Result<Option<PathBuf>> {
        match self.format {
            Format::Json => self.write("\n]}\n")?,
            Format::Hocr => self.write(HOCR_END)?,
            Format::Md | Format::Text => {}
        }
        match self.target {
            Target::Terminal(mut terminal) => terminal.flush().map(|()| None),
            Target::File(file) => file.finish().map(Some),
        }
    }
}

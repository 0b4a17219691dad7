//! Files side by side, and the files inside them.

use super::{Args, bar::Bar, explain, is_dash, output_file::Output};
use crate::{failure::Failure, output};
use bindery_app::reading::{
    AttachmentName, COMBINED, FileType, Finished, Lanes, OpenFile, Page, PageFolder, ReadError, ReadPage, Reader,
    RenderedPage, Source as FileSource, UnpackBudget, overlay, page_name, to_png,
};
use std::{
    collections::HashMap,
    ffi::OsString,
    fs, io,
    io::Read as _,
    ops::{ControlFlow, Range},
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

/// What is to be done, and how it went.
pub(super) struct Job<'a> {
    args: &'a Args,
    reader: &'a Reader,
    /// Files side by side share what pages of one file have: at no moment are more pages read.
    lanes: Lanes,
    files: AtomicU64,
    failed: AtomicU64,
}

/// A file to be read: what it is called, and where what is written of it goes.
struct Source {
    name: String,
    /// Without folders.
    file_name: OsString,
    /// None: to the terminal.
    beside: Option<PathBuf>,
    nesting: usize,
}

/// Where pages go.
enum Sink {
    Explained,
    /// In one format or several.
    Written(Vec<Output>),
    Split(PageFolder),
}

impl Source {
    /// The path of something written of it.
    fn path(&self, ending: &str) -> Option<PathBuf> {
        self.beside.as_ref().map(|beside| {
            let mut path = OsString::from(beside);
            path.push(".");
            path.push(ending);
            path.into()
        })
    }
}

impl<'a> Job<'a> {
    pub(super) fn new(args: &'a Args, reader: &'a Reader) -> Self {
        Self { args, reader, lanes: Lanes::new(args.jobs()), files: AtomicU64::new(0), failed: AtomicU64::new(0) }
    }

    /// How many files had something that could not be read, and how many there were.
    pub(super) fn finish(self) -> (u64, u64) {
        (self.failed.into_inner(), self.files.into_inner())
    }

    /// Reads all, as many at once as there are lanes; but one after the other if they are printed.
    pub(super) fn read_all(&self, paths: &[PathBuf]) -> anyhow::Result<()> {
        self.check_targets(paths)?;
        let printed = paths.iter().any(|path| self.args.explain || self.source(path).beside.is_none());
        let at_once = if printed { 1 } else { self.lanes.count().min(paths.len()) };
        let next = AtomicUsize::new(0);
        let read_some = || {
            while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = self.read_file(path) {
                    // What keeps one from being written keeps the others, too.
                    next.store(paths.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
            Ok(())
        };
        thread::scope(|scope| {
            let others: Vec<_> = (1..at_once).map(|_| scope.spawn(read_some)).collect();
            let mine = read_some();
            let theirs = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            theirs.fold(mine, Result::and)
        })
    }

    /// What is written of one file must not take the place of what is written of another.
    fn check_targets(&self, paths: &[PathBuf]) -> anyhow::Result<()> {
        let mut taken: HashMap<PathBuf, &Path> = HashMap::new();
        for path in paths {
            let Some(beside) = self.source(path).beside else { continue };
            if let Some(other) = taken.insert(beside.clone(), path) {
                let message = format!(
                    "{} and {} would both be written as {}.*",
                    other.display(),
                    path.display(),
                    beside.display()
                );
                return Err(Failure::usage(message).hint("read them one by one, each with an --out of its own").into());
            }
        }
        Ok(())
    }

    fn read_file(&self, path: &Path) -> anyhow::Result<()> {
        let source = self.source(path);
        match self.content(path) {
            Ok(content) => self.read(&source, content, &mut UnpackBudget::new(&self.reader.options().limits)),
            Err(error) => {
                self.files.fetch_add(1, Ordering::Relaxed);
                self.failed.fetch_add(1, Ordering::Relaxed);
                output::error(&format!("{}: {error}", source.name), None);
                Ok(())
            }
        }
    }

    fn source(&self, path: &Path) -> Source {
        let standard_input = is_dash(path);
        let name = if standard_input { "standard input".to_owned() } else { path.display().to_string() };
        let file_name = path.file_name().filter(|_| !standard_input).unwrap_or("stdin".as_ref()).to_owned();
        let beside = match self.args.split.as_ref().or(self.args.out.as_ref()) {
            Some(out) if is_dash(out) => None,
            Some(out) => Some(out.join(&file_name)),
            None if standard_input => None,
            None => Some(path.to_owned()),
        };
        Source { name, file_name, beside, nesting: 0 }
    }

    /// Where the bytes are. What is no file on the disk, such as a pipe, is read here, and not further than may be read.
    fn content(&self, path: &Path) -> anyhow::Result<FileSource> {
        let most = self.reader.options().limits.file_bytes.saturating_add(1);
        let mut bytes = Vec::new();
        if is_dash(path) {
            io::stdin().lock().take(most).read_to_end(&mut bytes)?;
        } else {
            if path.is_dir() {
                anyhow::bail!("this is a folder; name the files in it, such as {}/*", path.display());
            }
            if fs::metadata(path)?.is_file() {
                return Ok(FileSource::Path(path.to_owned()));
            }
            fs::File::open(path)?.take(most).read_to_end(&mut bytes)?;
        }
        Ok(FileSource::Bytes(Arc::new(bytes)))
    }

    fn read(&self, source: &Source, content: FileSource, budget: &mut UnpackBudget) -> anyhow::Result<()> {
        self.files.fetch_add(1, Ordering::Relaxed);
        let lane = self.lanes.take();
        let opened = self.reader.open_source(content, Some(&source.name));
        drop(lane);
        let file = match opened {
            Ok(file) => file,
            Err(error) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                budget.note_failure(&error);
                output::error(&format!("{}: {error}", source.name), hint(&error));
                return Ok(());
            }
        };
        let complete = self.read_pages(source, &*file)?;
        self.failed.fetch_add(u64::from(!complete), Ordering::Relaxed);
        let about = file.info();
        let is_archive = matches!(about.file_type, FileType::Zip | FileType::Tar | FileType::Gzip);
        if is_archive || self.args.attachments {
            self.read_inside(source, &*file, budget)?;
        }
        Ok(())
    }

    /// Reads what is inside a file as files of their own.
    fn read_inside(&self, source: &Source, file: &dyn OpenFile, budget: &mut UnpackBudget) -> anyhow::Result<()> {
        let inside = match file.attachment_names() {
            Ok(inside) => inside,
            Err(error) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                output::error(&format!("{}: {error}", source.name), None);
                return Ok(());
            }
        };
        let most = self.reader.options().limits.nesting;
        if !inside.is_empty() && source.nesting >= most {
            self.failed.fetch_add(1, Ordering::Relaxed);
            let message = format!("{}: files are nested more than {most} deep; these are not read", source.name);
            output::error(&message, None);
            return Ok(());
        }
        for (index, AttachmentName { name, .. }) in inside.into_iter().enumerate() {
            let bytes = file.attachment(index).map(Option::unwrap_or_default);
            let bytes = match bytes.and_then(|bytes| budget.take(bytes.len() as u64).map(|()| bytes)) {
                Ok(bytes) => bytes,
                Err(error) => {
                    self.failed.fetch_add(1, Ordering::Relaxed);
                    output::error(&format!("{}/{name}: {error}", source.name), None);
                    continue;
                }
            };
            let beside = source.path("files").map(|folder| folder.join(&name));
            if let Some(folder) = beside.as_deref().and_then(Path::parent) {
                fs::create_dir_all(folder)?;
            }
            if let Some(path) = beside.as_deref().filter(|_| self.args.attachments) {
                bindery_files::write(path, &bytes).map_err(|error| cannot_write(path, &error))?;
            }
            let inner = Source {
                file_name: Path::new(&name).file_name().unwrap_or(name.as_ref()).to_owned(),
                name: format!("{}/{name}", source.name),
                beside,
                nesting: source.nesting + 1,
            };
            self.read(&inner, FileSource::Bytes(Arc::new(bytes)), budget)?;
        }
        Ok(())
    }

    /// Where the pages of a file go.
    fn sink(&self, source: &Source, file: &dyn OpenFile) -> anyhow::Result<Sink> {
        let about = file.info();
        if self.args.explain {
            explain::file(&source.name, about, self.args.json)?;
            return Ok(Sink::Explained);
        }
        let dpi = f32::from(self.args.dpi);
        if let (Some(_), Some(path)) = (&self.args.split, source.path("pages")) {
            let id = source.file_name.to_string_lossy();
            let opened = PageFolder::open(path.clone(), &id, about, self.args.pages.is_some(), dpi);
            return Ok(Sink::Split(opened.map_err(|error| cannot_write(&path, &error))?));
        }
        if source.beside.is_none() && self.args.format.len() > 1 {
            let message = "several formats would be printed one into the other; --out names a folder for them";
            return Err(Failure::usage(message).into());
        }
        let mut outputs = Vec::new();
        for format in &self.args.format {
            outputs.push(match source.path(format.extension()) {
                Some(path) => {
                    Output::file(*format, about, path.clone()).map_err(|error| cannot_write(&path, &error))?
                }
                None => Output::terminal(*format, about)?,
            });
        }
        Ok(Sink::Written(outputs))
    }

    /// False if some page could not be read.
    fn read_pages(&self, source: &Source, file: &dyn OpenFile) -> anyhow::Result<bool> {
        let about = file.info();
        let ranges: Vec<Range<usize>> = match &self.args.pages {
            Some(pages) => pages.ranges(about.page_count),
            None => Vec::from_iter((about.page_count > 0).then_some(0..about.page_count)),
        };
        if ranges.is_empty() {
            if about.page_count > 0 {
                let has = output::count(about.page_count as u64, "page");
                output::error(&format!("{}: none of these pages is there; the file has {has}", source.name), None);
            }
            return Ok(about.page_count == 0);
        }
        let wanted: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        let bar = Bar::new(!self.args.no_progress, &source.name, wanted);
        let (mut sink, mut complete) = (self.sink(source, file)?, true);
        let mut trouble = None;
        let mut deliver = |number: usize, error: Option<&ReadError>, written: anyhow::Result<bool>| {
            bar.step();
            if let Some(error) = error {
                complete = false;
                output::error(&format!("{}: page {number}: {error}", source.name), hint(error));
            }
            match written {
                Ok(whole) => {
                    complete &= whole;
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    trouble = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        for range in ranges {
            match &mut sink {
                Sink::Written(outputs) if !self.args.needs_pages() => {
                    self.reader.render_pages(file, range, &self.lanes, |read| {
                        let written = write_forms(outputs, &read.page).map_err(anyhow::Error::from);
                        deliver(read.page.number, read.error.as_ref(), written.map(|()| true))
                    });
                }
                sink => self.reader.read_pages(file, range, &self.lanes, |read| {
                    let written = self.page(source, file, &read, sink);
                    deliver(read.page.number, read.error.as_ref(), written)
                }),
            }
        }
        if let Some(error) = trouble {
            return Err(error);
        }
        drop(bar);
        let (paths, waiting) = match sink {
            Sink::Explained => (Vec::new(), None),
            Sink::Written(outputs) => {
                let finished: Vec<Option<PathBuf>> =
                    outputs.into_iter().map(Output::finish).collect::<Result<_, _>>()?;
                (finished.into_iter().flatten().collect(), None)
            }
            Sink::Split(folder) => {
                let Finished { folder, waiting } = folder.finish()?;
                (vec![folder], waiting)
            }
        };
        for path in paths {
            output::note(format!("{}: {} → {}", source.name, output::count(wanted as u64, "page"), path.display()));
        }
        if let Some(waiting) = waiting {
            output::note(format!("{}: {COMBINED} is not written: {waiting}", source.name));
        }
        Ok(complete)
    }

    /// False if something of the page could not be written, for a fault of the file.
    fn page(&self, source: &Source, file: &dyn OpenFile, read: &ReadPage, sink: &mut Sink) -> anyhow::Result<bool> {
        let page = &read.page;
        let mut troubles = Vec::from_iter(self.pictures(source, file, page, sink)?);
        match sink {
            Sink::Explained => explain::page(&source.name, page, self.args.json)?,
            Sink::Split(folder) => {
                troubles.extend(folder.page(file, read).map_err(|error| cannot_write(folder.folder(), &error))?);
            }
            Sink::Written(_) => {}
        }
        for error in &troubles {
            output::error(&format!("{}: page {}: {error}", source.name, page.number), None);
        }
        if let Sink::Written(outputs) = sink {
            write_forms(outputs, &RenderedPage::new(page, &self.args.forms()))?;
        }
        Ok(troubles.is_empty())
    }

    /// The pictures that are asked for; what keeps a page from being drawn is given back, and the others are drawn.
    fn pictures(
        &self,
        source: &Source,
        file: &dyn OpenFile,
        page: &Page,
        sink: &Sink,
    ) -> anyhow::Result<Option<ReadError>> {
        let base = page_name(page.number);
        let plain = match sink {
            Sink::Split(folder) => Some(folder.path(page.number, "png")),
            _ => source.path(&format!("{base}.png")),
        };
        let drawn_over = self.args.overlay.as_ref();
        let drawn_over = drawn_over.map(|folder| folder.join(format!("{}.{base}.png", source.file_name.display())));
        let dpi = f32::from(self.args.dpi);
        for (path, dpi, with_words) in
            [(plain.filter(|_| self.args.images), dpi, false), (drawn_over, dpi.min(150.0), true)]
        {
            let Some(path) = path else { continue };
            let picture = match self.reader.picture_of(file, page, dpi) {
                Ok(Some(picture)) => picture,
                Ok(None) => continue,
                Err(error) => return Ok(Some(error)),
            };
            let png = if with_words { overlay::png(&picture, page) } else { to_png(&picture) };
            bindery_files::write(&path, png.map_err(anyhow::Error::msg)?)
                .map_err(|error| cannot_write(&path, &error))?;
        }
        Ok(None)
    }
}

/// A page in the forms that are written, one for each output.
fn write_forms(outputs: &mut [Output], page: &RenderedPage) -> io::Result<()> {
    outputs.iter_mut().zip(&page.texts).try_for_each(|(output, text)| output.page(page.number, text))
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("{}: cannot be written: {error}", path.display()))
}

fn hint(error: &ReadError) -> Option<&'static str> {
    match error {
        ReadError::NeedsPassword => Some("--password opens it"),
        ReadError::NoOcr { .. } => Some("`--ocr never` leaves scans empty and goes on"),
        ReadError::OutOfMemory { .. } => Some("--memory allows more"),
        ReadError::UnknownType { .. } => Some("`bindery read --help` lists the types that can be read"),
        _ => None,
    }
}

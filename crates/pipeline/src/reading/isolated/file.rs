//! The parent's side: an open file whose bytes are parsed in a child process.

use super::{
    opened::{Ahead, Opened, SentPage, protocol_error},
    protocol::{AheadHead, Answer, Ask, FileRef, Give, PageFacts, Request, decode, encode},
    service::NAME,
};
use bindery_core::{ContentHash, StepError};
use bindery_engine::runner::{Limits, Processes, processes::Call};
use bindery_reader::{
    About, Attachment, OcrMode, OpenFile, Opener, Page, ReadError, ReadOptions, Rect, Source,
    error::ReadResult,
    model::{AttachmentName, FileType, PageImage},
    render::RenderedPage,
};
use std::{
    borrow::Cow,
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, UNIX_EPOCH},
};

/// What is told of a file that could not be read ahead: its pages are read without looking at the others.
const NO_HINTS: &str = "null";

/// A file as children know it.
#[derive(Debug, Clone)]
struct Remote {
    processes: Processes,
    limits: Limits,
    file: FileRef,
    /// Those of a file that only this process has.
    bytes: Option<Arc<Vec<u8>>>,
    name: Option<String>,
    key: u64,
}

impl Remote {
    fn new(
        processes: Processes,
        limits: Limits,
        file: FileRef,
        bytes: Option<Arc<Vec<u8>>>,
        name: Option<&str>,
    ) -> Self {
        let mut hasher = DefaultHasher::new();
        file.hash(&mut hasher);
        Self { processes, limits, file, bytes, name: name.map(str::to_owned), key: hasher.finish() }
    }

    /// How long a request may take where the caller sets no limit.
    fn usual_time(ask: Ask, options: &ReadOptions) -> Duration {
        let limits = &options.limits;
        match ask {
            Ask::Detect | Ask::Open | Ask::Attachments | Ask::Attachment(_) => limits.time_to_unpack,
            Ask::OpenAhead => limits.time_to_unpack + limits.time_per_page * 3,
            Ask::Read(_) => limits.time_per_page * 2 + limits.time_per_ocr_page * 2,
            Ask::Ahead | Ask::Page(_) | Ask::Pictures(_) | Ask::Image(..) | Ask::PageFile(_) => {
                limits.time_per_page * 3
            }
        }
    }

    /// The head of the answer, and its contents.
    fn ask(&self, ask: Ask, options: &ReadOptions, hints: Option<&str>, give: Give) -> ReadResult<(Answer, Vec<u8>)> {
        let time = self.limits.time.unwrap_or_else(|| Self::usual_time(ask, options));
        let limits = Limits { time: Some(time), ..self.limits };
        let request = |has_bytes: bool, hints: Option<&str>| {
            let request = Request {
                file: Cow::Borrowed(&self.file),
                name: self.name.as_deref().map(Cow::Borrowed),
                options: Cow::Borrowed(options),
                ask,
                hints: hints.map(Cow::Borrowed),
                has_bytes,
                give,
            };
            let contents = self.bytes.as_ref().filter(|_| has_bytes).map(|bytes| bytes.to_vec());
            // Where it cannot be written, the child says that it cannot be understood.
            encode(&request, contents.unwrap_or_default()).unwrap_or_default()
        };
        let has_bytes = self.bytes.is_some();
        // A child that has the file has found out what it needs to know, or was told.
        let first = |has_seen: bool| request(has_bytes && !has_seen, hints.filter(|_| !has_seen));
        let (head, contents) = match self.call(limits, &first)? {
            (Answer::UnknownFile, _) => self.call(limits, &|_| request(has_bytes, hints))?,
            answered => answered,
        };
        match head {
            Answer::Failed(error) => Err(error),
            Answer::UnknownFile => Err(garbled()),
            head => Ok((head, contents)),
        }
    }

    fn call(&self, limits: Limits, request: &dyn Fn(bool) -> Vec<u8>) -> ReadResult<(Answer, Vec<u8>)> {
        let call = Call { service: NAME, limits, key: self.key, request };
        let mut answer = self.processes.call(&call).map_err(|error| read_error(error, limits))?;
        let (head, contents) = decode(&answer).ok_or_else(garbled)?;
        answer.truncate(contents);
        Ok((head, answer))
    }
}

fn garbled() -> ReadError {
    ReadError::NoReader { what: "the process that read it gave no answer".to_owned() }
}

/// What the end of a child says about the file that it read.
fn read_error(error: StepError, limits: Limits) -> ReadError {
    match (error.kind.as_str(), limits) {
        ("MemoryLimit", Limits { memory: Some(limit), .. }) => ReadError::OutOfMemory { limit },
        ("Timeout", Limits { time: Some(time), .. }) => ReadError::OutOfTime { seconds: time.as_secs() },
        ("TooLarge", _) => ReadError::TooLarge { what: error.message },
        _ => ReadError::NoReader { what: error.message },
    }
}

/// What is asked for when a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// The pages of a short file come with it.
    WithPages,
    /// They are read when the first one is asked for.
    Alone,
}

/// A file that is open in child processes. Where a child is gone, the next one opens it again.
#[derive(Debug)]
pub(crate) struct IsolatedFile {
    remote: Remote,
    opened: Arc<Opened>,
    options: ReadOptions,
}

impl IsolatedFile {
    /// Opens a file of the blob store, unless that was done before.
    pub(crate) fn of_blob(
        processes: &Processes,
        limits: Limits,
        content: ContentHash,
        name: Option<&str>,
        known: Option<Arc<Opened>>,
        opening: Opening,
    ) -> ReadResult<Self> {
        let remote = Remote::new(processes.clone(), limits, FileRef::Blob(content), None, name);
        Self::open(remote, ReadOptions::default(), known, Give::Facts, opening)
    }

    /// `give`: how pages will be asked for; those which opening has read come with the answer.
    fn open(
        remote: Remote,
        options: ReadOptions,
        known: Option<Arc<Opened>>,
        give: Give,
        opening: Opening,
    ) -> ReadResult<Self> {
        if let Some(opened) = known {
            return Ok(Self { remote, opened, options });
        }
        let answered = match opening {
            Opening::WithPages => Self::ask_open(&remote, &options, give),
            Opening::Alone => remote.ask(Ask::Open, &options, None, give),
        };
        let (Answer::Opened { about, attachments, pages, ahead }, contents) = answered? else {
            return Err(protocol_error());
        };
        let mut rest = &*contents;
        let pages = pages.into_iter().map(|head| SentPage::cut_off(head, &mut rest)).collect::<ReadResult<_>>()?;
        let ahead = ahead.map(|head| Ahead::from_head(head, rest)).transpose()?;
        let opened = Opened { about: *about, attachments, pages, ahead: ahead.map(OnceLock::from).unwrap_or_default() };
        Ok(Self { remote, opened: Arc::new(opened), options })
    }

    /// In one request with the pages of a short file: most files are short. Where a child dies over that, a page may be at
    /// fault, and the file alone is opened.
    fn ask_open(remote: &Remote, options: &ReadOptions, give: Give) -> ReadResult<(Answer, Vec<u8>)> {
        match remote.ask(Ask::OpenAhead, options, None, give) {
            Err(ReadError::OutOfMemory { .. } | ReadError::OutOfTime { .. } | ReadError::NoReader { .. }) => {
                let mut answered = remote.ask(Ask::Open, options, None, give)?;
                if let (Answer::Opened { ahead, pages, .. }, contents) = &mut answered
                    && pages.is_empty()
                {
                    // A second child need not end over the same page.
                    *ahead = Some(AheadHead { hints: Some(NO_HINTS.len()), pages: Vec::new() });
                    *contents = NO_HINTS.into();
                }
                Ok(answered)
            }
            answered => answered,
        }
    }

    /// For those who open it again.
    pub(crate) fn shared(&self) -> &Arc<Opened> {
        &self.opened
    }

    /// Reads a page, and gives it as JSON with what people ask first; nothing is parsed here.
    pub(crate) fn read_json(&self, index: usize, options: &ReadOptions) -> ReadResult<(PageFacts, Vec<u8>)> {
        self.read_page(index, options, Give::Facts)?.with_facts()
    }

    fn read_page(&self, index: usize, options: &ReadOptions, give: Give) -> ReadResult<SentPage> {
        // Every other way of reading needs nothing more of a page that has its text.
        let known = if options.ocr == OcrMode::Force { None } else { self.cached_page(index, options, give) };
        known.map_or_else(|| self.ask_page(Ask::Read(index), options, give), Ok)
    }

    /// A page that needs no further request.
    fn cached_page(&self, index: usize, options: &ReadOptions, give: Give) -> Option<SentPage> {
        let serves = |page: &SentPage| (page.give == Give::Forms) == (give == Give::Forms);
        if let Some(page) = self.opened.pages.get(index) {
            return Some(page.clone()).filter(serves);
        }
        let mut pages = self.prefetch(options, give).pages.lock().unwrap_or_else(PoisonError::into_inner);
        let place = pages.iter().position(|(at, page)| *at == index && serves(page))?;
        Some(pages.swap_remove(place).1)
    }

    /// Requested once; other threads that want a page of the file block until the answer is here.
    fn prefetch(&self, options: &ReadOptions, give: Give) -> &Ahead {
        self.opened.ahead.get_or_init(|| {
            self.ask_ahead(options, give).unwrap_or_else(|error| {
                tracing::debug!(%error, "a file could not be read ahead; its pages are read one by one");
                // A page over which a child dies fails by itself, and is not looked at for the sake of the others.
                Ahead { hints: Some(NO_HINTS.to_owned()), pages: Mutex::default() }
            })
        })
    }

    fn ask_ahead(&self, options: &ReadOptions, give: Give) -> ReadResult<Ahead> {
        if !self.opened.pages.is_empty() {
            return Ok(Ahead { hints: None, pages: Mutex::default() });
        }
        match self.remote.ask(Ask::Ahead, &self.with_own(options), None, give)? {
            (Answer::Ahead(head), contents) => Ahead::from_head(head, &contents),
            _ => Err(protocol_error()),
        }
    }

    fn ask_page(&self, ask: Ask, options: &ReadOptions, give: Give) -> ReadResult<SentPage> {
        let hints = self.prefetch(options, give).hints.as_deref();
        match self.remote.ask(ask, &self.with_own(options), hints, give)? {
            (Answer::Page(head), contents) => SentPage::from_head(head, &contents),
            _ => Err(protocol_error()),
        }
    }

    fn ask(&self, ask: Ask) -> ReadResult<(Answer, Vec<u8>)> {
        self.remote.ask(ask, &self.options, None, Give::Page)
    }

    /// How a page is read is said when it is; what opens the file stays.
    fn with_own<'a>(&self, options: &'a ReadOptions) -> Cow<'a, ReadOptions> {
        if options.password == self.options.password {
            return Cow::Borrowed(options);
        }
        Cow::Owned(ReadOptions { password: self.options.password.clone(), ..options.clone() })
    }
}

impl OpenFile for IsolatedFile {
    fn info(&self) -> &About {
        &self.opened.about
    }

    fn page(&self, index: usize) -> ReadResult<Page> {
        // Who reads a page by OCR here has to know where its words are.
        let options = ReadOptions { words: true, ..self.options.clone() };
        let known = self.cached_page(index, &options, Give::Page);
        known.map_or_else(|| self.ask_page(Ask::Page(index), &options, Give::Page), Ok)?.parsed()
    }

    fn read(&self, index: usize, options: &ReadOptions) -> Option<ReadResult<Page>> {
        Some(self.read_page(index, options, Give::Page).and_then(SentPage::parsed))
    }

    fn render(&self, index: usize, options: &ReadOptions) -> Option<ReadResult<RenderedPage>> {
        Some(self.read_page(index, options, Give::Forms).map(|page| page.rendered(index + 1)))
    }

    fn is_converted(&self) -> bool {
        !self.opened.pages.is_empty()
    }

    fn page_file(&self, index: usize) -> ReadResult<Option<Vec<u8>>> {
        self.bytes(Ask::PageFile(index))
    }

    fn pictures(&self, index: usize) -> ReadResult<Vec<Rect>> {
        match self.ask(Ask::Pictures(index))? {
            (Answer::Pictures(pictures), ..) => Ok(pictures),
            _ => Err(protocol_error()),
        }
    }

    fn image(&self, index: usize, dpi: f32) -> ReadResult<Option<PageImage>> {
        match self.ask(Ask::Image(index, dpi))? {
            (Answer::Image { width, height, channels, dpi }, pixels) => {
                Ok(Some(PageImage { width, height, channels, pixels, dpi }))
            }
            (Answer::Nothing, ..) => Ok(None),
            _ => Err(protocol_error()),
        }
    }

    fn attachments(&self) -> ReadResult<Vec<Attachment>> {
        let mut all = Vec::new();
        for (index, AttachmentName { name, media_type }) in self.attachment_names()?.into_iter().enumerate() {
            let bytes = self.attachment(index)?.ok_or_else(protocol_error)?;
            all.push(Attachment { name, media_type, bytes });
        }
        Ok(all)
    }

    fn attachment_names(&self) -> ReadResult<Vec<AttachmentName>> {
        if let Some(names) = &self.opened.attachments {
            return Ok(names.clone());
        }
        match self.ask(Ask::Attachments)? {
            (Answer::Attachments(names), ..) => Ok(names),
            _ => Err(protocol_error()),
        }
    }

    fn attachment(&self, index: usize) -> ReadResult<Option<Vec<u8>>> {
        self.bytes(Ask::Attachment(index))
    }
}

impl IsolatedFile {
    fn bytes(&self, ask: Ask) -> ReadResult<Option<Vec<u8>>> {
        match self.ask(ask)? {
            (Answer::Bytes, contents) => Ok(Some(contents)),
            (Answer::Nothing, ..) => Ok(None),
            _ => Err(protocol_error()),
        }
    }
}

/// Opens files in child processes, for a [`Reader`](bindery_reader::Reader) outside of workflows.
#[derive(Debug, Clone)]
pub struct IsolatedReader {
    processes: Processes,
    memory: u64,
}

impl IsolatedReader {
    /// Children of this program, each of which may take as much memory as the processes say.
    pub fn new(processes: Processes) -> Self {
        let memory = processes.memory();
        Self { processes, memory }
    }
}

/// So that two files of this process have different numbers.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl IsolatedReader {
    fn remote(&self, source: Source, name: Option<&str>, options: &ReadOptions) -> ReadResult<Remote> {
        let (file, bytes) = match source {
            Source::Bytes(bytes) => {
                options.limits.check_file(bytes.len() as u64)?;
                (FileRef::Bytes(NEXT.fetch_add(1, Ordering::Relaxed)), Some(bytes))
            }
            Source::Path(path) => {
                let unreadable = |error: std::io::Error| ReadError::Unreadable { what: error.to_string() };
                // A child has its own idea of where it is.
                let path = std::path::absolute(path).map_err(unreadable)?;
                let metadata = fs::metadata(&path).map_err(unreadable)?;
                let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                let modified = since.map(|since| (since.as_secs(), since.subsec_nanos()));
                (FileRef::Path { path, size: metadata.len(), modified }, None)
            }
        };
        let limits = Limits { time: None, memory: Some(self.memory) };
        Ok(Remote::new(self.processes.clone(), limits, file, bytes, name))
    }
}

impl Opener for IsolatedReader {
    fn open(&self, source: Source, name: Option<&str>, options: &ReadOptions) -> ReadResult<Box<dyn OpenFile>> {
        let remote = self.remote(source, name, options)?;
        let give = if options.forms.is_empty() { Give::Page } else { Give::Forms };
        let file = IsolatedFile::open(remote, options.clone(), None, give, Opening::WithPages)?;
        // Now, while one thread has the file: those that will read its pages would all wait for it.
        if file.opened.about.page_count > 0 {
            file.prefetch(options, give);
        }
        Ok(Box::new(file))
    }

    fn detect(&self, source: Source, name: Option<&str>, options: &ReadOptions) -> ReadResult<FileType> {
        match self.remote(source, name, options)?.ask(Ask::Detect, options, None, Give::Page)? {
            (Answer::Type(found), ..) => Ok(found),
            _ => Err(protocol_error()),
        }
    }
}

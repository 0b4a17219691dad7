//! The parent's side: an open file whose bytes are parsed in a child process.

use super::{
    protocol::{Answer, Ask, FileRef, PageFacts, Request, decode, encode},
    service::NAME,
};
use bindery_core::{ContentHash, StepError};
use bindery_engine::runner::{Limits, Processes, processes::Call};
use bindery_reader::{
    About, Attachment, OpenFile, Opener, Page, ReadError, ReadOptions, Rect, Source,
    error::ReadResult,
    model::{AttachmentName, FileType, PageImage},
};
use std::{
    borrow::Cow,
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, UNIX_EPOCH},
};

/// What was learned by opening a file.
#[derive(Debug)]
pub(crate) struct Opened {
    about: About,
    hints: Option<String>,
    /// None where they cannot be listed.
    attachments: Option<Vec<AttachmentName>>,
    /// All of them, or none: each page with what people ask first, and as JSON.
    pages: Vec<(PageFacts, Vec<u8>)>,
}

impl Opened {
    /// About what it takes in memory.
    pub(crate) fn size(&self) -> u64 {
        self.pages.iter().map(|(facts, json)| (facts.markdown.len() + json.len()) as u64).sum()
    }
}

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
            Ask::Read(_) => limits.time_per_page * 2 + limits.time_per_ocr_page * 2,
            Ask::Page(_) | Ask::Pictures(_) | Ask::Image(..) | Ask::PageFile(_) => limits.time_per_page * 3,
        }
    }

    /// The answer's head, its bytes, and where in them lies what follows the head.
    fn ask(&self, ask: Ask, options: &ReadOptions, hints: Option<&str>) -> ReadResult<(Answer, Vec<u8>, usize)> {
        let time = self.limits.time.unwrap_or_else(|| Self::usual_time(ask, options));
        let limits = Limits { time: Some(time), ..self.limits };
        let request = |has_seen: bool, has_bytes: bool| {
            let request = Request {
                file: Cow::Borrowed(&self.file),
                name: self.name.as_deref().map(Cow::Borrowed),
                options: Cow::Borrowed(options),
                ask,
                hints: hints.filter(|_| !has_seen).map(Cow::Borrowed),
                has_bytes,
            };
            let follows = self.bytes.as_ref().filter(|_| has_bytes).map_or(&[][..], |bytes| bytes.as_slice());
            // Where it cannot be written, the child says that it cannot be understood.
            encode(&request, follows).unwrap_or_default()
        };
        let has_bytes = self.bytes.is_some();
        let (head, answer, begin) = match self.call(limits, &|has_seen| request(has_seen, has_bytes && !has_seen))? {
            (Answer::UnknownFile, ..) => self.call(limits, &|_| request(false, has_bytes))?,
            answered => answered,
        };
        match head {
            Answer::Failed(error) => Err(error),
            Answer::UnknownFile => Err(garbled()),
            head => Ok((head, answer, begin)),
        }
    }

    fn call(&self, limits: Limits, request: &dyn Fn(bool) -> Vec<u8>) -> ReadResult<(Answer, Vec<u8>, usize)> {
        let call = Call { service: NAME, limits, key: self.key, request };
        let answer = self.processes.call(&call).map_err(|error| read_error(error, limits))?;
        let (head, follows) = decode(&answer).ok_or_else(garbled)?;
        let begin = answer.len() - follows.len();
        Ok((head, answer, begin))
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
    ) -> ReadResult<Self> {
        let remote = Remote::new(processes.clone(), limits, FileRef::Blob(content), None, name);
        Self::open(remote, ReadOptions::default(), known)
    }

    fn open(remote: Remote, options: ReadOptions, known: Option<Arc<Opened>>) -> ReadResult<Self> {
        if let Some(opened) = known {
            return Ok(Self { remote, opened, options });
        }
        let (Answer::Opened { about, hints, attachments, pages }, mut answer, begin) =
            remote.ask(Ask::Open, &options, None)?
        else {
            return Err(unexpected());
        };
        answer.drain(..begin);
        let mut rest = answer.as_slice();
        let mut taken = Vec::with_capacity(pages.len());
        for (facts, length) in pages {
            let (json, behind) = rest.split_at_checked(length).ok_or_else(unexpected)?;
            taken.push((facts, json.to_vec()));
            rest = behind;
        }
        Ok(Self { remote, opened: Arc::new(Opened { about: *about, hints, attachments, pages: taken }), options })
    }

    /// For those who open it again.
    pub(crate) fn opened(&self) -> &Arc<Opened> {
        &self.opened
    }

    /// Reads a page, and gives it as JSON with what people ask first; nothing is parsed here.
    pub(crate) fn read_json(&self, index: usize, options: &ReadOptions) -> ReadResult<(PageFacts, Vec<u8>)> {
        match self.opened.pages.get(index) {
            Some(known) => Ok(known.clone()),
            None => self.ask_page(Ask::Read(index), options),
        }
    }

    fn ask_page(&self, ask: Ask, options: &ReadOptions) -> ReadResult<(PageFacts, Vec<u8>)> {
        match self.ask(ask, &self.with_own(options))? {
            (Answer::Page(facts), mut answer, begin) => {
                answer.drain(..begin);
                Ok((facts, answer))
            }
            _ => Err(unexpected()),
        }
    }

    fn ask(&self, ask: Ask, options: &ReadOptions) -> ReadResult<(Answer, Vec<u8>, usize)> {
        self.remote.ask(ask, options, self.opened.hints.as_deref())
    }

    /// How a page is read is said when it is; what opens the file stays.
    fn with_own<'a>(&self, options: &'a ReadOptions) -> Cow<'a, ReadOptions> {
        if options.password == self.options.password {
            return Cow::Borrowed(options);
        }
        Cow::Owned(ReadOptions { password: self.options.password.clone(), ..options.clone() })
    }
}

fn unexpected() -> ReadError {
    ReadError::NoReader { what: "the process that read it gave another answer".to_owned() }
}

fn parsed(json: &[u8]) -> ReadResult<Page> {
    serde_json::from_slice(json).map_err(|_| unexpected())
}

impl OpenFile for IsolatedFile {
    fn about(&self) -> &About {
        &self.opened.about
    }

    fn page(&self, index: usize) -> ReadResult<Page> {
        match self.opened.pages.get(index) {
            Some((_, json)) => parsed(json),
            None => parsed(&self.ask_page(Ask::Page(index), &self.options)?.1),
        }
    }

    fn read(&self, index: usize, options: &ReadOptions) -> Option<ReadResult<Page>> {
        Some(self.read_json(index, options).and_then(|(_, json)| parsed(&json)))
    }

    fn is_converted(&self) -> bool {
        !self.opened.pages.is_empty()
    }

    fn page_file(&self, index: usize) -> ReadResult<Option<Vec<u8>>> {
        self.bytes(Ask::PageFile(index))
    }

    fn pictures(&self, index: usize) -> ReadResult<Vec<Rect>> {
        match self.ask(Ask::Pictures(index), &self.options)? {
            (Answer::Pictures(pictures), ..) => Ok(pictures),
            _ => Err(unexpected()),
        }
    }

    fn image(&self, index: usize, dpi: f32) -> ReadResult<Option<PageImage>> {
        match self.ask(Ask::Image(index, dpi), &self.options)? {
            (Answer::Image { width, height, channels, dpi }, mut pixels, begin) => {
                pixels.drain(..begin);
                Ok(Some(PageImage { width, height, channels, pixels, dpi }))
            }
            (Answer::Nothing, ..) => Ok(None),
            _ => Err(unexpected()),
        }
    }

    fn attachments(&self) -> ReadResult<Vec<Attachment>> {
        let mut all = Vec::new();
        for (index, AttachmentName { name, media_type }) in self.attachment_names()?.into_iter().enumerate() {
            let bytes = self.attachment(index)?.ok_or_else(unexpected)?;
            all.push(Attachment { name, media_type, bytes });
        }
        Ok(all)
    }

    fn attachment_names(&self) -> ReadResult<Vec<AttachmentName>> {
        if let Some(names) = &self.opened.attachments {
            return Ok(names.clone());
        }
        match self.ask(Ask::Attachments, &self.options)? {
            (Answer::Attachments(names), ..) => Ok(names),
            _ => Err(unexpected()),
        }
    }

    fn attachment(&self, index: usize) -> ReadResult<Option<Vec<u8>>> {
        self.bytes(Ask::Attachment(index))
    }
}

impl IsolatedFile {
    fn bytes(&self, ask: Ask) -> ReadResult<Option<Vec<u8>>> {
        match self.ask(ask, &self.options)? {
            (Answer::Bytes, mut answer, begin) => {
                answer.drain(..begin);
                Ok(Some(answer))
            }
            (Answer::Nothing, ..) => Ok(None),
            _ => Err(unexpected()),
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
        Ok(Box::new(IsolatedFile::open(remote, options.clone(), None)?))
    }

    fn detect(&self, source: Source, name: Option<&str>, options: &ReadOptions) -> ReadResult<FileType> {
        match self.remote(source, name, options)?.ask(Ask::Detect, options, None)? {
            (Answer::Type(found), ..) => Ok(found),
            _ => Err(unexpected()),
        }
    }
}

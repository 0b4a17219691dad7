//! The child's side: opens files, keeps a few of them, and answers what is asked of them.

use super::protocol::{Answer, Ask, FileRef, PageFacts, PageHead, Request, decode, encode};
use bindery_engine::{context::BlobAccess, runner::processes::Service};
use bindery_reader::{
    OcrMode, OpenFile, Page, ReadError, ReadOptions, Reader, detect, error::bytes as shown, model::PageKind,
    ocr::local::LocalEngines, read_file,
};
use std::{
    borrow::Cow,
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The name that parents call.
pub(super) const NAME: &str = "files";

/// How many files stay open, and how many bytes they have; the one in hand stays whatever it has.
const OPEN_AT_MOST: usize = 200;
const BYTES_AT_MOST: usize = 32 << 20;

/// Pages that were read by opening the file are sent at once if they have no more than this.
const SENT_AT_ONCE: usize = 1 << 20;

/// A file of so many pages is read as a whole when its first page is: most files are short, and each request costs
/// something, as does opening the file in another child.
const SHORT: usize = 4;

/// A file that is open, and what it was opened with.
#[derive(Debug)]
struct Entry {
    file: FileRef,
    name: Option<String>,
    password: Option<String>,
    opened: Arc<dyn OpenFile>,
    size: usize,
}

/// Reads files for a parent process.
#[derive(Debug, Default)]
pub struct FileService {
    engines: LocalEngines,
    /// The one that was asked for last at the end.
    open: Mutex<VecDeque<Entry>>,
}

impl Service for FileService {
    fn name(&self) -> &'static str {
        NAME
    }

    fn answer(&self, request: &[u8], blobs: Option<&BlobAccess>) -> Vec<u8> {
        let Some((request, follows)) = decode::<Request<'_>>(request) else {
            return sent(&failed("the request cannot be understood"), &[]);
        };
        match self.serve(&request, follows, blobs) {
            Ok((answer, follows)) => sent(&answer, &follows),
            Err(error) => sent(&Answer::Failed(error), &[]),
        }
    }

    fn shrink(&self) {
        self.lock().clear();
    }
}

fn failed(what: &str) -> Answer {
    Answer::Failed(ReadError::NoReader { what: what.to_owned() })
}

fn sent(answer: &Answer, follows: &[u8]) -> Vec<u8> {
    let unsaid = |error: serde_json::Error| encode(&failed(&error.to_string()), &[]);
    encode(answer, follows).or_else(unsaid).unwrap_or_default()
}

impl FileService {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Entry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(
        &self,
        request: &Request<'_>,
        follows: &[u8],
        blobs: Option<&BlobAccess>,
    ) -> Result<(Answer, Vec<u8>), ReadError> {
        let options = &*request.options;
        let reader = Reader::new(options.clone(), Some(self.engines.choose(options.engine)));
        if request.ask == Ask::Detect {
            let Some(bytes) = bytes_of(request, follows, blobs)? else {
                return Ok((Answer::UnknownFile, Vec::new()));
            };
            return Ok((Answer::Type(detect(&bytes, request.name.as_deref())?), Vec::new()));
        }
        let Some(file) = self.file(&reader, request, follows, blobs)? else {
            return Ok((Answer::UnknownFile, Vec::new()));
        };
        let nothing = (Answer::Nothing, Vec::new());
        Ok(match request.ask {
            Ask::Detect => nothing,
            Ask::Open => opened(&*file, request.facts)?,
            Ask::Ahead => ahead(&*file, request),
            Ask::Page(index) => page(&file.page(index)?, request)?,
            Ask::Read(index) => page(&reader.read_page(&*file, index)?, request)?,
            Ask::Pictures(index) => (Answer::Pictures(file.pictures(index)?), Vec::new()),
            Ask::Image(index, dpi) => match file.image(index, dpi)? {
                Some(image) => {
                    let (width, height, channels, dpi) = (image.width, image.height, image.channels, image.dpi);
                    (Answer::Image { width, height, channels, dpi }, image.pixels)
                }
                None => nothing,
            },
            Ask::PageFile(index) => file.page_file(index)?.map_or(nothing, |bytes| (Answer::Bytes, bytes)),
            Ask::Attachments => (Answer::Attachments(file.attachment_names()?), Vec::new()),
            Ask::Attachment(index) => file.attachment(index)?.map_or(nothing, |bytes| (Answer::Bytes, bytes)),
        })
    }

    /// The file of a request, open; none where its bytes are not here.
    fn file(
        &self,
        reader: &Reader,
        request: &Request<'_>,
        follows: &[u8],
        blobs: Option<&BlobAccess>,
    ) -> Result<Option<Arc<dyn OpenFile>>, ReadError> {
        let (name, password) = (request.name.as_deref(), reader.options().password.as_deref());
        let mut open = self.lock();
        let is_it = |entry: &Entry| {
            entry.file == *request.file && entry.name.as_deref() == name && entry.password.as_deref() == password
        };
        if let Some(entry) = open.iter().position(is_it).and_then(|place| open.remove(place)) {
            let opened = Arc::clone(&entry.opened);
            open.push_back(entry);
            drop(open);
            take_hints(&*opened, request);
            return Ok(Some(opened));
        }
        let Some(bytes) = bytes_of(request, follows, blobs)? else { return Ok(None) };
        let size = bytes.len();
        // Room is made first: what is open counts against the limit that this file has for itself.
        let mut all: usize = open.iter().map(|entry| entry.size).sum::<usize>() + size;
        while !open.is_empty() && (open.len() >= OPEN_AT_MOST || all > BYTES_AT_MOST) {
            all -= open.pop_front().map_or(0, |closed| closed.size);
        }
        let opened: Arc<dyn OpenFile> = Arc::from(reader.open(bytes, name)?);
        take_hints(&*opened, request);
        open.push_back(Entry {
            file: request.file.clone().into_owned(),
            name: request.name.clone().map(Cow::into_owned),
            password: password.map(str::to_owned),
            opened: Arc::clone(&opened),
            size,
        });
        Ok(Some(opened))
    }
}

fn take_hints(file: &dyn OpenFile, request: &Request<'_>) {
    if let Some(hints) = &request.hints {
        file.take_hints(hints);
    }
}

/// The bytes of a request's file; none where they are not here.
fn bytes_of(request: &Request<'_>, follows: &[u8], blobs: Option<&BlobAccess>) -> Result<Option<Vec<u8>>, ReadError> {
    match &*request.file {
        FileRef::Blob(hash) => from_blobs(blobs, *hash, &request.options).map(Some),
        FileRef::Path { path, .. } => read_file(path, &request.options).map(Some),
        FileRef::Bytes(_) if request.has_bytes => Ok(Some(follows.to_vec())),
        FileRef::Bytes(_) => Ok(None),
    }
}

fn from_blobs(
    blobs: Option<&BlobAccess>,
    hash: bindery_core::ContentHash,
    options: &ReadOptions,
) -> Result<Vec<u8>, ReadError> {
    let Some(BlobAccess { blobs, runtime }) = blobs else {
        return Err(ReadError::NoReader { what: "the child process was given no blob store".to_owned() });
    };
    let unreadable = |error: bindery_store::blobs::BlobError| ReadError::NoReader { what: error.to_string() };
    runtime.block_on(async {
        let size = blobs.size(hash).await.map_err(unreadable)?;
        options.limits.check_file(size)?;
        blobs.get(hash).await.map_err(unreadable)
    })
}

/// A page as JSON; none if that has more than this many bytes.
fn json(page: &Page, most: usize) -> Option<Vec<u8>> {
    let mut bounded = Bounded { bytes: Vec::new(), most };
    // Nothing else can fail: a page has no keys but texts.
    serde_json::to_writer(&mut bounded, page).ok().map(|()| bounded.bytes)
}

/// Bytes up to a limit; writing more fails, so that a large page is not written to its end.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + more.len() > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn page(page: &Page, request: &Request<'_>) -> Result<(Answer, Vec<u8>), ReadError> {
    let most = request.options.limits.page_bytes;
    let bytes = json(page, usize::try_from(most).unwrap_or(usize::MAX)).ok_or_else(|| {
        ReadError::too_large(format!("page {} has more than {} once it is read", page.number, shown(most)))
    })?;
    Ok((Answer::Page(request.facts.then(|| PageFacts::of(page))), bytes))
}

/// Puts a page behind others; none if all together would have too many bytes.
fn put(page: &Page, facts: bool, follows: &mut Vec<u8>) -> Option<PageHead> {
    let bytes = json(page, SENT_AT_ONCE - follows.len())?;
    follows.extend_from_slice(&bytes);
    Some(PageHead { facts: facts.then(|| PageFacts::of(page)), length: bytes.len() })
}

/// What is known of a file, with its pages where they are all read already and not large.
fn opened(file: &dyn OpenFile, facts: bool) -> Result<(Answer, Vec<u8>), ReadError> {
    let (about, attachments) = (Box::new(file.about().clone()), file.attachment_names().ok());
    let (mut pages, mut follows) = (Vec::new(), Vec::new());
    for index in 0..if file.is_converted() { about.page_count } else { 0 } {
        let Some(head) = put(&file.page(index)?, facts, &mut follows) else {
            return Ok((Answer::Opened { about, attachments, pages: Vec::new() }, Vec::new()));
        };
        pages.push(head);
    }
    Ok((Answer::Opened { about, attachments, pages }, follows))
}

/// What the pages of a file have in common, and the pages of a short one. One that cannot be read is left out: who asks
/// for it is told why.
fn ahead(file: &dyn OpenFile, request: &Request<'_>) -> (Answer, Vec<u8>) {
    let (hints, count) = (file.hints(), file.about().page_count);
    let (mut pages, mut follows) = (Vec::new(), Vec::new());
    // Where all pages are read by OCR, their own text is of no use.
    let is_short = count <= SHORT && request.options.ocr != OcrMode::Force;
    for index in 0..if is_short { count } else { 0 } {
        let Ok(page) = file.page(index) else { continue };
        if matches!(page.kind, PageKind::Text | PageKind::Blank) {
            pages.extend(put(&page, request.facts, &mut follows).map(|head| (index, head)));
        }
    }
    (Answer::Ahead { hints, pages }, follows)
}

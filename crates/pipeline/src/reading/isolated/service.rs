//! The child's side: opens files, keeps a few of them, and answers what is asked of them.

use super::protocol::{AheadHead, Answer, Ask, FileRef, Give, PageFacts, PageHead, Request, decode, encode};
use bindery_engine::{context::BlobAccess, runner::processes::Service};
use bindery_reader::{
    OcrMode, OpenFile, Page, ReadError, ReadOptions, Reader, detect,
    error::bytes as shown,
    model::{FileType, PageKind},
    ocr::local::LocalEngines,
    read_file,
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
        let Some((head, contents)) = decode::<Request<'_>>(request) else {
            return sent(&failed("the request cannot be understood"), Vec::new());
        };
        match self.serve(&head, &request[..contents], blobs) {
            Ok((answer, contents)) => sent(&answer, contents),
            Err(error) => sent(&Answer::Failed(error), Vec::new()),
        }
    }

    fn shrink(&self) {
        self.lock().clear();
    }
}

fn failed(what: &str) -> Answer {
    Answer::Failed(ReadError::NoReader { what: what.to_owned() })
}

fn sent(answer: &Answer, contents: Vec<u8>) -> Vec<u8> {
    let unsaid = |error: serde_json::Error| encode(&failed(&error.to_string()), Vec::new());
    encode(answer, contents).or_else(unsaid).unwrap_or_default()
}

impl FileService {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Entry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(
        &self,
        request: &Request<'_>,
        contents: &[u8],
        blobs: Option<&BlobAccess>,
    ) -> Result<(Answer, Vec<u8>), ReadError> {
        let options = &*request.options;
        let reader = Reader::new(options.clone(), Some(self.engines.choose(options.engine)));
        if request.ask == Ask::Detect {
            let Some(bytes) = bytes_of(request, contents, blobs)? else {
                return Ok((Answer::UnknownFile, Vec::new()));
            };
            return Ok((Answer::Type(detect(&bytes, request.name.as_deref())?), Vec::new()));
        }
        let Some(file) = self.file(&reader, request, contents, blobs)? else {
            return Ok((Answer::UnknownFile, Vec::new()));
        };
        let nothing = (Answer::Nothing, Vec::new());
        Ok(match request.ask {
            Ask::Detect => nothing,
            Ask::Open | Ask::OpenAhead => answer_open(&*file, request)?,
            Ask::Ahead => {
                let (ahead, contents) = read_ahead(&*file, request);
                (Answer::Ahead(ahead), contents)
            }
            Ask::Page(index) => page(file.page(index)?, request)?,
            Ask::Read(index) => page(reader.read_page(&*file, index)?, request)?,
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
        contents: &[u8],
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
        let Some(bytes) = bytes_of(request, contents, blobs)? else { return Ok(None) };
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
fn bytes_of(request: &Request<'_>, contents: &[u8], blobs: Option<&BlobAccess>) -> Result<Option<Vec<u8>>, ReadError> {
    match &*request.file {
        FileRef::Blob(hash) => from_blobs(blobs, *hash, &request.options).map(Some),
        FileRef::Path { path, .. } => read_file(path, &request.options).map(Some),
        FileRef::Bytes(_) if request.has_bytes => Ok(Some(contents.to_vec())),
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

/// Puts a page behind others as it is asked for; none if all together would have more than this many bytes before the
/// Markdown.
fn put(mut page: Page, request: &Request<'_>, contents: &mut Vec<u8>, most: usize) -> Option<PageHead> {
    let give = request.give;
    if give == Give::Forms {
        return put_forms(&page, request, contents, most);
    }
    if !request.options.words {
        page.words.clear();
    }
    let begin = contents.len();
    let mut bounded = Bounded { bytes: contents, most };
    // Nothing else can fail: a page has no keys but texts.
    let is_written = serde_json::to_writer(&mut bounded, &page).is_ok();
    if !is_written {
        contents.truncate(begin);
        return None;
    }
    let mut texts = vec![contents.len() - begin];
    let facts = (give == Give::Facts).then(|| PageFacts::from_page(&page));
    if let Some(facts) = &facts {
        contents.extend_from_slice(facts.markdown.as_bytes());
        texts.push(facts.markdown.len());
    }
    Some(PageHead { give, facts, texts })
}

/// Puts the forms of a page behind others.
fn put_forms(page: &Page, request: &Request<'_>, contents: &mut Vec<u8>, most: usize) -> Option<PageHead> {
    let begin = contents.len();
    let mut texts = Vec::new();
    for form in &request.options.forms {
        let text = form.render(page);
        if contents.len() + text.len() > most {
            contents.truncate(begin);
            return None;
        }
        contents.extend_from_slice(text.as_bytes());
        texts.push(text.len());
    }
    Some(PageHead { give: Give::Forms, facts: None, texts })
}

/// Bytes up to a limit; writing more fails, so that a large page is not written to its end.
struct Bounded<'a> {
    bytes: &'a mut Vec<u8>,
    most: usize,
}

impl io::Write for Bounded<'_> {
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

fn page(page: Page, request: &Request<'_>) -> Result<(Answer, Vec<u8>), ReadError> {
    let (most, mut contents) = (request.options.limits.page_bytes, Vec::new());
    let number = page.number;
    let head = put(page, request, &mut contents, usize::try_from(most).unwrap_or(usize::MAX));
    let too_large = || ReadError::too_large(format!("page {} has more than {} once it is read", number, shown(most)));
    Ok((Answer::Page(head.ok_or_else(too_large)?), contents))
}

/// What is known of a file, with its pages where they are all read already and not large, or with what is read ahead.
fn answer_open(file: &dyn OpenFile, request: &Request<'_>) -> Result<(Answer, Vec<u8>), ReadError> {
    let (about, attachments) = (Box::new(file.info().clone()), file.attachment_names().ok());
    let (mut pages, mut contents) = (Vec::new(), Vec::new());
    for index in 0..if file.is_converted() { about.page_count } else { 0 } {
        let Some(head) = put(file.page(index)?, request, &mut contents, SENT_AT_ONCE) else {
            return Ok((Answer::Opened { about, attachments, pages: Vec::new(), ahead: None }, Vec::new()));
        };
        pages.push(head);
    }
    let mut ahead = None;
    if request.ask == Ask::OpenAhead && about.file_type == FileType::Pdf && about.page_count <= SHORT {
        let (head, read) = read_ahead(file, request);
        (ahead, contents) = (Some(head), read);
    }
    Ok((Answer::Opened { about, attachments, pages, ahead }, contents))
}

/// What the pages of a file have in common, and the pages of a short one, or those of a longer one that were looked at
/// for it: another child would have to take them apart again. One that cannot be read is left out: who asks for it is
/// told why.
fn read_ahead(file: &dyn OpenFile, request: &Request<'_>) -> (AheadHead, Vec<u8>) {
    let count = file.info().page_count;
    let (mut pages, mut contents) = (Vec::new(), Vec::new());
    let read_now = match count {
        // Where all pages are read by OCR, their own text is of no use.
        _ if request.options.ocr == OcrMode::Force => Vec::new(),
        0..=SHORT => (0..count).collect(),
        _ => file.at_hand(),
    };
    for index in read_now {
        let Ok(page) = file.page(index) else { continue };
        if matches!(page.kind, PageKind::Text | PageKind::Blank) {
            pages.extend(put(page, request, &mut contents, SENT_AT_ONCE).map(|head| (index, head)));
        }
    }
    // Where every page is sent, nobody needs them.
    let hints = if pages.len() < count { file.hints() } else { None };
    contents.extend_from_slice(hints.as_deref().unwrap_or_default().as_bytes());
    (AheadHead { hints: hints.map(|hints| hints.len()), pages }, contents)
}

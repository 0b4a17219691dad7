//! Documents that items name: each address asked once, each file read once ever.
//!
//! What is known of an address and of a file is stored ([`KnownDocument`], [`KnownText`]), the text itself as a blob. So a
//! document that ten items, three meetings and a matter name is fetched once and read once, by whoever comes first. An
//! address is asked again after a day, and then only whether it has changed; what a site does not have or does not give
//! is left alone for a week; what may pass is tried again by the next job.

use super::{ReadingLimits, Tally, Workshop, turns::Turns};
use crate::records::{Civic as _, KnownDocument, KnownText};
use crate::{
    analyst::Document,
    client::{Arrived, Condition, Fetched, Session},
    hash::canonical_url,
    text::{self, NoText, Why},
};
use bindery_core::{ContentHash, StepError, Timestamp};
use bindery_engine::{EngineError, StopSignal};
use bindery_reader::OcrMode;
use bindery_store::{StoreError, blobs::BlobError};
use futures_util::{StreamExt as _, stream};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};
use tokio::sync::{Semaphore, SemaphorePermit};

/// The rules that texts are made by. Raise it when they change, and every file is read anew.
const RULES: &str = "text/1";

/// What jobs share, so that they do not fetch, read or hold the same twice, nor too much at once.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) addresses: Turns,
    pub(super) files: Turns,
    /// A meeting's job and its matter's come at the same time; the second finds what the first has made.
    pub(super) matters: Turns,
    pub(super) documents: Semaphore,
    pub(super) large: Semaphore,
    /// Texts in use, by content and name.
    pub(super) loaded: Mutex<HashMap<(String, String), Weak<Document>>>,
}

impl Desk {
    pub(super) fn new(limits: &ReadingLimits) -> Self {
        Self {
            addresses: Turns::default(),
            files: Turns::default(),
            matters: Turns::default(),
            documents: Semaphore::new(limits.documents_at_once.max(1)),
            large: Semaphore::new(limits.large_at_once.max(1)),
            loaded: Mutex::default(),
        }
    }

    pub(super) fn texts_in_memory(&self) -> usize {
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.values().filter(|text| text.strong_count() > 0).count()
    }
}

/// A document with a text.
#[derive(Debug, Clone)]
pub(super) struct Paper {
    pub(super) facts: KnownDocument,
    pub(super) text: KnownText,
}

/// A document without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Missing {
    /// A sentence that names the document.
    pub(super) message: String,
    pub(super) may_pass: bool,
}

pub(super) type Obtained = Result<Arc<Paper>, Missing>;

/// For whom documents are fetched.
#[derive(Debug)]
pub(super) struct Errand<'a> {
    pub(super) session: Session,
    pub(super) stop: &'a StopSignal,
    pub(super) tally: &'a Mutex<Tally>,
}

impl Errand<'_> {
    fn count(&self, change: impl FnOnce(&mut Tally)) {
        change(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn fetched(&self) {
        self.count(|tally| tally.documents_fetched += 1);
    }

    pub(super) fn read(&self) {
        self.count(|tally| tally.documents_read += 1);
    }

    fn count_obtained(&self, answer: Obtained) -> Obtained {
        self.count(|tally| tally.documents_failed += u64::from(answer.is_err()));
        answer
    }
}

pub(crate) fn store_trouble(error: StoreError) -> StepError {
    EngineError::from(error).into()
}

pub(super) fn blob_trouble(error: BlobError) -> StepError {
    EngineError::from(error).into()
}

/// The program is stopping; another takes the job up.
pub(super) fn stopped() -> StepError {
    StepError::retry("the work was stopped before its end").named("Stopped")
}

/// A page that has just come, of an address whose turn it is.
pub(super) struct Fresh {
    pub(super) page: Arrived,
    pub(super) content_sha256: String,
}

impl Workshop {
    /// What files are read by; another way of reading makes other texts.
    pub(super) fn text_rules(&self) -> String {
        match self.reader.options().ocr {
            OcrMode::Auto => RULES.to_owned(),
            OcrMode::Force => format!("{RULES} ocr"),
            OcrMode::Never => format!("{RULES} no-ocr"),
        }
    }

    /// Each of these addresses, by its canonical form, a few at a time.
    pub(super) async fn obtain_all(
        &self,
        errand: &Errand<'_>,
        urls: &[String],
    ) -> Result<HashMap<String, Obtained>, StepError> {
        let mut wanted: Vec<&String> = urls.iter().collect();
        wanted.sort_unstable();
        wanted.dedup_by_key(|url| canonical_url(url));
        let each =
            wanted.into_iter().map(|url| async move { Ok((canonical_url(url), self.obtain(errand, url).await?)) });
        let all: Vec<Result<(String, Obtained), StepError>> =
            stream::iter(each).buffer_unordered(self.limits.documents_at_once.max(1)).collect().await;
        all.into_iter().collect()
    }

    /// One address.
    pub(super) async fn obtain(&self, errand: &Errand<'_>, url: &str) -> Result<Obtained, StepError> {
        let key = canonical_url(url);
        let _turn = self.desk.addresses.take(&key).await;
        let known = self.known_document(&key).await?;
        let text = self.known_text(known.content_sha256.as_deref()).await?;
        if let Some(answer) = self.without_asking(&known, text.as_ref()) {
            return Ok(errand.count_obtained(answer));
        }
        let _place = self.place().await?;
        let mut large = self.expecting(known.bytes).await?;
        let fetched = self.ask(errand, url, &known, text.is_some()).await;
        let answer = match fetched {
            Err(fault) => self.not_fetched(known, text, fault).await?,
            Ok(None) => {
                let known = self.remember(KnownDocument { why: None, message: None, failures: 0, ..known }).await?;
                answer(known, text)
            }
            Ok(Some(fresh)) => {
                errand.fetched();
                if large.is_none() {
                    large = self.expecting(Some(fresh.page.bytes.len() as u64)).await?;
                }
                self.take_in(errand, url, known, fresh).await?
            }
        };
        drop(large);
        Ok(errand.count_obtained(answer))
    }

    pub(super) async fn known_document(&self, key: &str) -> Result<KnownDocument, StepError> {
        let found = self.store.civic().known_documents(&[key.to_owned()]).await.map_err(store_trouble)?.pop();
        Ok(found.unwrap_or_else(|| KnownDocument { url: key.to_owned(), ..KnownDocument::default() }))
    }

    pub(super) async fn known_text(&self, content_sha256: Option<&str>) -> Result<Option<KnownText>, StepError> {
        let Some(hash) = content_sha256 else { return Ok(None) };
        let rules = self.text_rules();
        let mut found = self.store.civic().known_texts(&[hash.to_owned()], &rules).await.map_err(store_trouble)?;
        Ok(found.pop())
    }

    pub(super) async fn place(&self) -> Result<SemaphorePermit<'_>, StepError> {
        self.desk.documents.acquire().await.map_err(|_| stopped())
    }

    /// Waits until another file of this size may be in memory.
    pub(super) async fn expecting(&self, bytes: Option<u64>) -> Result<Option<SemaphorePermit<'_>>, StepError> {
        if bytes.is_none_or(|bytes| bytes < self.limits.large_file) {
            return Ok(None);
        }
        self.desk.large.acquire().await.map(Some).map_err(|_| stopped())
    }

    /// What is known well enough.
    pub(super) fn without_asking(&self, known: &KnownDocument, text: Option<&KnownText>) -> Option<Obtained> {
        let now = self.store.clock().now();
        let is_within = |time: Option<Timestamp>, most: Duration| time.is_some_and(|time| now.since(time) < most);
        if let Some(why) = &known.why {
            let is_refusal = !may_pass(why) && why != Why::NotRecorded.as_str() && why != Why::NoOcr.as_str();
            if !is_refusal || !is_within(known.checked_at, self.limits.refused_for) {
                return None;
            }
            return Some(answer(known.clone(), text.cloned()));
        }
        let text = text.filter(|_| is_within(known.checked_at, self.limits.fresh_for))?;
        Some(answer(known.clone(), Some(text.clone())))
    }

    /// Asks the site. None: it is as it was.
    pub(super) async fn ask(
        &self,
        errand: &Errand<'_>,
        url: &str,
        known: &KnownDocument,
        has_text: bool,
    ) -> Result<Option<Fresh>, NoText> {
        let condition = Condition { etag: known.etag.clone(), last_modified: known.last_modified.clone() };
        let condition = Some(condition).filter(|one| has_text && *one != Condition::default());
        match self.client.document(&errand.session, url, condition, errand.stop).await? {
            Fetched::Unchanged => Ok(None),
            Fetched::Page(page) => {
                let content_sha256 = ContentHash::of(&page.bytes).to_string();
                Ok(Some(Fresh { page, content_sha256 }))
            }
        }
    }

    pub(super) async fn not_fetched(
        &self,
        known: KnownDocument,
        text: Option<KnownText>,
        fault: NoText,
    ) -> Result<Obtained, StepError> {
        if fault.why == Why::Stopped {
            return Err(stopped());
        }
        let failures = known.failures.saturating_add(1);
        let (why, message) = (Some(fault.why.as_str().to_owned()), Some(fault.message));
        let known = self.remember(KnownDocument { why, message, failures, ..known }).await?;
        Ok(answer(known, text))
    }

    pub(super) async fn remember(&self, known: KnownDocument) -> Result<KnownDocument, StepError> {
        let known = KnownDocument { checked_at: Some(self.store.clock().now()), ..known };
        self.store.civic().put_document(known.clone()).await.map_err(store_trouble)?;
        Ok(known)
    }

    /// The address as it stands after this page has come.
    pub(super) fn now_known(&self, known: KnownDocument, fresh: &Fresh) -> KnownDocument {
        KnownDocument {
            content_sha256: Some(fresh.content_sha256.clone()),
            bytes: Some(fresh.page.bytes.len() as u64),
            etag: fresh.page.etag.clone(),
            last_modified: fresh.page.last_modified.clone(),
            fetched_at: Some(self.store.clock().now()),
            why: None,
            message: None,
            failures: 0,
            ..known
        }
    }

    /// Reads a file, unless somebody has read the same one before.
    async fn take_in(
        &self,
        errand: &Errand<'_>,
        url: &str,
        known: KnownDocument,
        fresh: Fresh,
    ) -> Result<Obtained, StepError> {
        let known = self.now_known(known, &fresh);
        let _turn = self.desk.files.take(&fresh.content_sha256).await;
        if let Some(text) = self.known_text(Some(&fresh.content_sha256)).await? {
            let known = self.remember(known).await?;
            return Ok(answer(known, Some(text)));
        }
        let (reader, asked) = (Arc::clone(&self.reader), url.to_owned());
        // Reading keeps a core busy, and threads of the runtime must not be kept.
        let read = tokio::task::spawn_blocking(move || text::read_file(&reader, &asked, fresh.page)).await;
        let read =
            read.unwrap_or_else(|_| Err(NoText::new(Why::Unreadable, format!("{} cannot be taken apart", known.url))));
        errand.read();
        let hash = known.content_sha256.clone().unwrap_or_default();
        match read {
            Ok(read) => {
                let text = self.keep_text(read).await?;
                let known = self.remember(known).await?;
                Ok(answer(known, Some(text)))
            }
            // A page that asks for a password says nothing of the file behind it.
            Err(fault) if matches!(fault.why, Why::Login | Why::NoOcr) => {
                self.not_fetched(KnownDocument { content_sha256: None, ..known }, None, fault).await
            }
            Err(fault) => {
                let (why, message) = (Some(fault.why.as_str().to_owned()), Some(fault.message));
                let text =
                    KnownText { content_sha256: hash, reader: self.text_rules(), why, message, ..KnownText::default() };
                self.store.civic().put_text(text.clone()).await.map_err(store_trouble)?;
                let known = self.remember(known).await?;
                Ok(answer(known, Some(text)))
            }
        }
    }
}

fn may_pass(why: &str) -> bool {
    [Why::Unreachable, Why::Stopped].iter().any(|passing| passing.as_str() == why)
}

/// What is known, however old; none where a site would have to be asked.
pub(super) fn if_known(known: KnownDocument, text: Option<KnownText>) -> Option<Obtained> {
    let is_known = text.is_some() || known.why.as_deref().is_some_and(|why| !may_pass(why));
    is_known.then(|| answer(known, text))
}

/// What comes of what is known. An earlier text counts more than that the document is gone now.
fn answer(known: KnownDocument, text: Option<KnownText>) -> Obtained {
    match text {
        Some(text) if text.text.is_some() => Ok(Arc::new(Paper { facts: known, text })),
        Some(text) => Err(Missing {
            message: text.message.unwrap_or_else(|| format!("{}: it has no text", known.url)),
            may_pass: false,
        }),
        None => Err(Missing {
            may_pass: known.why.as_deref().is_none_or(may_pass),
            message: known.message.unwrap_or_else(|| format!("{}: it did not come", known.url)),
        }),
    }
}

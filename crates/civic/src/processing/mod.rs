//! The jobs of the queue: a meeting or a matter is read, summarised and connected.
//!
//! ```text
//!  q.civic ──► meeting ──┬── items with documents or texts ──► each read, each stored as it is done
//!                        ├── else a packet ──► taken apart to items, or read as a whole
//!                        └── else nothing to do
//!          ──► matter ─────► one reading for all its appearances
//! ```
//!
//! It promises: each address is asked once, and each file read once ever, by whichever meeting names it first; what was
//! read is kept as it comes, so that a crash loses the item in hand and nothing else; nothing is stored by who has lost
//! the job, nor over what has changed meanwhile; a job of which some items failed is tried again for those alone; one bad
//! document never keeps another item from being read.
//!
//! | module | what it owns |
//! |---|---|
//! | `job` | a job while it runs: the processors of the engine's queue |
//! | `meeting`, `packet`, `packet_items`, `matter` | the three paths |
//! | `requests` | which items are to be read, and from what; pure |
//! | `reading` | one item, from its documents to what was made of it |
//! | `documents`, `texts`, `turns` | addresses and files: asked once, read once, few in memory |
//! | `saving` | what was made, stored |
//! | `digest` | a meeting in a few lines |
//! | [`events`] | what the log is told |
//! | [`estimate`] | what a city's jobs would read and cost |
//! | [`run`] | cities processed to their end |

mod digest;
mod documents;
pub mod estimate;
pub mod events;
mod job;
mod matter;
mod meeting;
mod packet;
mod packet_items;
mod reading;
mod requests;
pub mod run;
mod saving;
mod texts;
mod turns;

pub(crate) use documents::store_trouble;
pub use estimate::{CityEstimate, estimate_city};
pub use job::register;

use crate::{analyst::Analyst, client::Client, filter::compilation::CompilationLimits, text::usual_reader};
use bindery_reader::{OcrMode, Opener, Reader};
use bindery_store::{Store, blobs::Blobs};
use documents::Desk;
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc, time::Duration};

/// What one process allows itself, over all jobs that it runs.
#[derive(Debug, Clone)]
pub struct ReadingLimits {
    /// Documents that are fetched or read at the same time.
    pub documents_at_once: usize,
    /// Items that the analyst reads at the same time, in each job. None: 15 where a language model is asked, one for each
    /// core where rules read.
    pub items_at_once: Option<usize>,
    /// In characters; of a longer document the pages are chosen that say the most.
    pub longest_document: usize,
    /// A file of so many bytes is large …
    pub large_file: u64,
    /// … and so many large ones are in memory at once.
    pub large_at_once: usize,
    /// So long the last answer of a site counts without asking again.
    pub fresh_for: Duration,
    /// So long nobody asks again for what a site does not have or does not give.
    pub refused_for: Duration,
    pub compilations: CompilationLimits,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Default for ReadingLimits {
    fn default() -> Self {
        Self {
            documents_at_once: 6,
            items_at_once: None,
            longest_document: 500_000,
            large_file: 25_000_000,
            large_at_once: 2,
            fresh_for: DAY,
            refused_for: 7 * DAY,
            compilations: CompilationLimits::default(),
        }
    }
}

/// What a job has come to. Also the output of its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// Items with a summary that was stored by this job, wherever it came from.
    pub items_processed: u64,
    /// Those of them that were read for it, and did not take a summary over.
    pub items_new: u64,
    /// Not worth reading, without content, or done before.
    pub items_skipped: u64,
    /// Not read: worth another try, or with the reason on the item.
    pub items_failed: u64,
    /// Items that took over the summary of their matter.
    pub items_reused: u64,
    /// What was summarised of items that had changed after their summary.
    pub revisions: u64,
    pub matters_summarised: u64,
    /// Addresses that were asked.
    pub documents_fetched: u64,
    /// Files that were read for the first time.
    pub documents_read: u64,
    /// Documents without a text, for whatever reason.
    pub documents_failed: u64,
    pub cost_micros: i64,
}

impl Tally {
    pub fn add(&mut self, other: &Self) {
        self.items_processed += other.items_processed;
        self.items_new += other.items_new;
        self.items_skipped += other.items_skipped;
        self.items_failed += other.items_failed;
        self.items_reused += other.items_reused;
        self.revisions += other.revisions;
        self.matters_summarised += other.matters_summarised;
        self.documents_fetched += other.documents_fetched;
        self.documents_read += other.documents_read;
        self.documents_failed += other.documents_failed;
        self.cost_micros += other.cost_micros;
    }
}

/// A job that has ended, for now or for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobReport {
    #[serde(rename = "banana")]
    pub city_key: String,
    /// `meeting://…` or `matter://…`.
    pub source_url: String,
    /// Also of a job that failed: what was done before counts.
    pub tally: Tally,
    /// Why it has not ended well: a name such as `Partial`, and a sentence.
    pub error: Option<(String, String)>,
}

/// Is told what happens, from any thread and without being waited for: it should be quick.
pub trait ReadingObserver: Send + Sync + fmt::Debug {
    fn job_began(&self, _city_key: &str, _source_url: &str) {}

    /// An item has its summary.
    fn item_done(&self, _city_key: &str, _item_id: &str, _title: &str) {}

    fn job_ended(&self, _report: &JobReport) {}
}

/// Everything that reading needs. One serves all jobs of a process, and keeps what they share: who asks a site, and which
/// large files are in memory.
#[derive(Debug)]
pub struct Workshop {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) client: Arc<Client>,
    pub(crate) analyst: Arc<dyn Analyst>,
    pub(crate) reader: Arc<Reader>,
    pub(crate) limits: ReadingLimits,
    pub(crate) observer: Option<Arc<dyn ReadingObserver>>,
    desk: Desk,
}

impl Workshop {
    pub fn new(store: Arc<dyn Store>, blobs: Arc<dyn Blobs>, client: Arc<Client>, analyst: Arc<dyn Analyst>) -> Self {
        let limits = ReadingLimits::default();
        let desk = Desk::new(&limits);
        Self { store, blobs, client, analyst, reader: usual_reader(OcrMode::Auto), limits, observer: None, desk }
    }

    #[must_use]
    pub fn with_reader(mut self, reader: Arc<Reader>) -> Self {
        self.reader = reader;
        self
    }

    #[must_use]
    pub fn with_ocr(self, ocr: OcrMode) -> Self {
        self.with_reader(usual_reader(ocr))
    }

    /// Documents are opened and read elsewhere, such as in child processes.
    #[must_use]
    pub fn with_opener(mut self, opener: Arc<dyn Opener>) -> Self {
        self.reader = Arc::new(Reader::clone(&self.reader).with_opener(opener));
        self
    }

    #[must_use]
    pub fn with_limits(mut self, limits: ReadingLimits) -> Self {
        self.desk = Desk::new(&limits);
        self.limits = limits;
        self
    }

    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn ReadingObserver>) -> Self {
        self.observer = Some(observer);
        self
    }

    pub fn analyst(&self) -> &Arc<dyn Analyst> {
        &self.analyst
    }

    /// Texts of documents that are in memory now. None are once no job runs.
    pub fn texts_in_memory(&self) -> usize {
        self.desk.texts_in_memory()
    }

    fn items_at_once(&self) -> usize {
        /// As many questions as a model's service takes without trouble.
        const QUESTIONS: usize = 15;
        let by_rules = self.analyst.method().starts_with("extractive");
        let usual = if by_rules { std::thread::available_parallelism().map_or(2, usize::from) } else { QUESTIONS };
        self.limits.items_at_once.unwrap_or(usual).max(1)
    }
}

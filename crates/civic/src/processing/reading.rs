//! One item, from its documents to what was made of it.
//!
//! Only what one item needs is in memory while it is read; a text that several items share is there once.

use super::{
    Workshop,
    documents::Obtained,
    job::Running,
    packet::Packet,
    requests::{Inside, Unit, shorten, source_hash},
    texts::Loaded,
};
use crate::records::{Attachment, Matter, SummaryOf};
use crate::{
    analyst::{Analyst, Document, ItemRequest, PacketRequest, Reading},
    ids,
    prose::topics::Topics,
    text::{marked_pages, page_marker},
};
use bindery_core::{StepError, Timestamp};
use bindery_models::{Advice, ErrorKind, ModelError};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

/// The method of a summary that was taken over from the item's matter.
pub(super) const BY_MATTER: &str = "matter";
/// The method of one line for an item that is worth no more: its title.
const BY_TITLE: &str = "title/1";
/// Where a matter keeps how its summary was made.
pub(super) const SUMMARY_OF: &str = "summary_of";
/// Meetings further away than this, and those that are over, may wait for an answer that costs less.
const NEAR: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// What was made of an item.
#[derive(Debug, Clone, Default)]
pub(super) struct Made {
    pub(super) summary: Option<String>,
    pub(super) topics: Vec<String>,
    pub(super) summary_of: SummaryOf,
    /// The reason why there is no summary, and that another try would end the same way.
    pub(super) reading_error: Option<String>,
    /// With what was learned by fetching them.
    pub(super) attachments: Vec<Attachment>,
    pub(super) is_reused: bool,
    pub(super) unknown_topics: Vec<String>,
}

/// Why an item was not read.
#[derive(Debug, Clone)]
pub(super) enum NotRead {
    /// This item alone, and the next try may succeed.
    Later { reason: String, after: Option<Duration> },
    /// All of them: the job waits.
    Park(ModelError),
    /// The job ends.
    Broken(StepError),
}

impl From<StepError> for NotRead {
    fn from(error: StepError) -> Self {
        Self::Broken(error)
    }
}

/// What items of one meeting are read with.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) papers: HashMap<String, Obtained>,
    pub(super) shared: HashSet<String>,
    pub(super) packet: Option<Arc<Packet>>,
    pub(super) starts_at: Option<Timestamp>,
    /// Those that the jurisdiction knows.
    pub(super) topics: Arc<Topics>,
}

/// A request with what is to be said of it.
pub(super) struct Prepared {
    pub(super) request: ItemRequest,
    pub(super) source_hash: String,
    pub(super) page_count: u32,
    pub(super) notes: Vec<String>,
    pub(super) attachments: Vec<Attachment>,
}

/// A request, or why there is none.
pub(super) enum Preparing {
    Ready(Box<Prepared>),
    /// Every document failed, and may come another time.
    Later(String),
    /// There is nothing to read, now and later.
    Never {
        reason: String,
        attachments: Vec<Attachment>,
    },
}

impl Workshop {
    /// Puts together what an item is read from. `last_try`: what does not come now is not waited for.
    pub(super) async fn prepare(&self, unit: &Unit, sources: &Sources, last_try: bool) -> Result<Preparing, StepError> {
        let mut attachments = unit.item.attachments.clone();
        let (mut own, mut shared, mut contents) = (Vec::new(), Vec::new(), Vec::new());
        let (mut failed, mut may_pass) = (Vec::new(), false);
        let mut notes = Vec::new();
        for wanted in &unit.documents {
            let paper = match sources.papers.get(&wanted.key) {
                Some(Ok(paper)) => paper,
                Some(Err(missing)) => {
                    may_pass |= missing.may_pass;
                    failed.push(format!("{}: {}", wanted.name, missing.message));
                    continue;
                }
                None => continue,
            };
            if let Some(attachment) = attachments.get_mut(wanted.at) {
                learn(attachment, paper);
            }
            match self.load(paper, &wanted.name).await? {
                Loaded::Text { document, note } => {
                    notes.extend(note);
                    contents.push((wanted.name.clone(), paper.text.content_sha256.clone()));
                    let list = if sources.shared.contains(&wanted.key) { &mut shared } else { &mut own };
                    list.push(document);
                }
                Loaded::Compilation { rule, reason } => {
                    if let Some(attachment) = attachments.get_mut(wanted.at) {
                        attachment.filter_reason = Some(rule.to_owned());
                    }
                    let name = &wanted.name;
                    failed.push(format!("{name}: it is a compilation of letters and was not read: {reason}"));
                }
            }
        }
        if let Some(packet) = &sources.packet {
            for part in &unit.inside {
                let document = self.inside(packet, part).await?;
                contents.push((part.name.clone(), ids::digest(&document.text, 32)));
                own.push(Arc::new(document));
            }
        }
        let text = unit.item.body_text.clone().filter(|text| !text.trim().is_empty());
        if own.is_empty() && shared.is_empty() {
            if may_pass && !last_try {
                return Ok(Preparing::Later(failed.join("; ")));
            }
            if text.is_none() {
                let reason = if failed.is_empty() { "there is no text to read".to_owned() } else { failed.join("; ") };
                return Ok(Preparing::Never { reason, attachments });
            }
        }
        notes.extend(failed.into_iter().map(|failure| format!("not read: {failure}")));
        let hash = source_hash(&unit.item.title, text.as_deref(), &contents);
        // Where every document is shared with others, what is the item's own is how it is called.
        let body =
            if own.is_empty() && !shared.is_empty() { text.or_else(|| Some(unit.item.title.clone())) } else { text };
        let page_count = own.iter().chain(&shared).map(|document| document.page_count).sum();
        let request = ItemRequest {
            item_id: unit.item.id.clone(),
            title: unit.item.title.clone(),
            matter_type: unit.item.matter_type.clone(),
            is_consent: unit.item.is_consent == Some(true),
            numbers: unit.item.agenda_number.iter().chain(&unit.item.matter_file).cloned().collect(),
            body,
            documents: own,
            shared,
            may_wait: self.may_wait(sources.starts_at),
            topics: Arc::clone(&sources.topics),
        };
        Ok(Preparing::Ready(Box::new(Prepared { request, source_hash: hash, page_count, notes, attachments })))
    }

    async fn inside(&self, packet: &Packet, part: &Inside) -> Result<Document, StepError> {
        let whole = self.whole_text(&packet.text).await?;
        let pages = marked_pages(&whole).into_iter();
        let mut text = String::new();
        for (number, page) in pages.filter(|(number, _)| (part.first_page..=part.last_page).contains(number)) {
            text.extend([&*page_marker(number), "\n", page, "\n\n"]);
        }
        let text = self.shorten(text);
        let page_count = u32::try_from(part.last_page.saturating_sub(part.first_page) + 1).unwrap_or(u32::MAX);
        Ok(Document { name: part.name.clone(), text, page_count })
    }

    fn may_wait(&self, starts_at: Option<Timestamp>) -> bool {
        let now = self.store.clock().now();
        starts_at.is_some_and(|starts| starts < now || starts.since(now) > NEAR)
    }
}

/// What was learned of a document by fetching it.
fn learn(attachment: &mut Attachment, paper: &super::documents::Paper) {
    let (facts, text) = (&paper.facts, &paper.text);
    attachment.content_sha256.clone_from(&facts.content_sha256);
    attachment.bytes = facts.bytes;
    attachment.etag.clone_from(&facts.etag);
    attachment.last_modified.clone_from(&facts.last_modified);
    attachment.fetched_at = facts.fetched_at;
    attachment.page_count = Some(text.page_count);
    let by_ocr = if text.pages_by_ocr > 0 { "+ocr" } else { "" };
    attachment.extraction_method = Some(format!("{}{by_ocr}", text.file_type));
}

impl Running<'_> {
    /// Reads one item: by its title where that is enough, by its matter's summary where that is of the same documents,
    /// else by the analyst.
    pub(super) async fn read(&self, unit: &Unit, sources: &Sources, matter: Option<&Matter>) -> Result<Made, NotRead> {
        let now = self.workshop.store.clock().now();
        if unit.is_brief {
            return Ok(by_title(unit, &sources.topics, now));
        }
        if let Some(made) = matter.and_then(|matter| by_matter(unit, matter, now)) {
            return Ok(made);
        }
        let prepared = match self.workshop.prepare(unit, sources, self.is_last_try).await? {
            Preparing::Ready(prepared) => prepared,
            Preparing::Later(reason) => return Err(NotRead::Later { reason, after: None }),
            Preparing::Never { reason, attachments } => {
                return Ok(Made { reading_error: Some(reason), attachments, ..Made::default() });
            }
        };
        // The vendor has another address for the very same files.
        let same = unit
            .item
            .summary_of
            .as_ref()
            .filter(|of| unit.revision.is_some() && of.source_hash == prepared.source_hash);
        if let (Some(of), Some(summary)) = (same, &unit.item.summary) {
            return Ok(Made {
                summary: Some(summary.clone()),
                topics: unit.item.topics.clone(),
                summary_of: SummaryOf { cost_micros: 0, ..of.clone() },
                attachments: prepared.attachments,
                is_reused: true,
                ..Made::default()
            });
        }
        let Prepared { request, source_hash, page_count, notes, attachments } = *prepared;
        let answer = self.ask(move |analyst, cancelled| analyst.read_item(&request, cancelled)).await?;
        match answer {
            Ok(reading) => {
                self.count(|tally| tally.cost_micros += reading.cost_micros);
                Ok(Made { attachments, ..new_made(reading, source_hash, page_count, notes, now) })
            }
            Err(error) => refusal(error, attachments),
        }
    }

    /// Reads a packet as a whole.
    pub(super) async fn read_whole(&self, request: PacketRequest, hash: String) -> Result<Made, NotRead> {
        let now = self.workshop.store.clock().now();
        let page_count = request.packet.page_count;
        match self.ask(move |analyst, cancelled| analyst.read_packet(&request, cancelled)).await? {
            Ok(reading) => {
                self.count(|tally| tally.cost_micros += reading.cost_micros);
                Ok(new_made(reading, hash, page_count, Vec::new(), now))
            }
            Err(error) => refusal(error, Vec::new()),
        }
    }

    /// Asks the analyst on a thread that may wait.
    async fn ask(
        &self,
        question: impl FnOnce(&dyn Analyst, &dyn Fn() -> bool) -> Result<Reading, ModelError> + Send + 'static,
    ) -> Result<Result<Reading, ModelError>, NotRead> {
        let (analyst, cancelled) = (Arc::clone(&self.workshop.analyst), self.cancelled.clone());
        let work = move || question(analyst.as_ref(), &|| cancelled.is_set());
        let answer = tokio::task::spawn_blocking(work).await;
        answer.map_err(|_| {
            NotRead::Broken(StepError::bug(format!("{} stumbled over an item", self.workshop.analyst.method())))
        })
    }
}

fn new_made(reading: Reading, source_hash: String, page_count: u32, mut notes: Vec<String>, now: Timestamp) -> Made {
    notes.splice(0..0, reading.notes);
    Made {
        summary: Some(reading.summary),
        topics: reading.topics,
        unknown_topics: reading.unknown_topics,
        summary_of: SummaryOf {
            method: reading.method,
            source_hash,
            at: Some(now),
            details: reading.details,
            notes,
            page_count,
            cost_micros: reading.cost_micros,
        },
        ..Made::default()
    }
}

/// What becomes of an item that the analyst did not read.
fn refusal(error: ModelError, attachments: Vec<Attachment>) -> Result<Made, NotRead> {
    match error.advice {
        _ if error.kind == ErrorKind::Cancelled => Err(NotRead::Broken(super::documents::stopped())),
        Advice::Retry { after } => Err(NotRead::Later { reason: error.message, after }),
        Advice::Park { .. } => Err(NotRead::Park(error)),
        Advice::Final => Ok(Made { reading_error: Some(error.message), attachments, ..Made::default() }),
    }
}

/// One line, which is the title.
fn by_title(unit: &Unit, topics: &Topics, now: Timestamp) -> Made {
    const LONGEST: usize = 300;
    let title = unit.item.title.split_whitespace().collect::<Vec<_>>().join(" ");
    let topics = topics.assign(&title, "").into_iter().map(|assigned| assigned.topic).collect();
    Made {
        summary: Some(shorten(&title, LONGEST)),
        topics,
        summary_of: SummaryOf {
            method: BY_TITLE.to_owned(),
            source_hash: source_hash(&unit.item.title, None, &[]),
            at: Some(now),
            ..SummaryOf::default()
        },
        attachments: unit.item.attachments.clone(),
        ..Made::default()
    }
}

/// The matter's summary, where it was made from the very documents of the item.
fn by_matter(unit: &Unit, matter: &Matter, now: Timestamp) -> Option<Made> {
    let hash = unit.item.attachment_hash.as_deref().filter(|hash| !hash.is_empty())?;
    if matter.summary_hash.as_deref() != Some(hash) {
        return None;
    }
    let summary = matter.canonical_summary.clone()?;
    Some(Made {
        summary: Some(summary),
        topics: matter.canonical_topics.clone(),
        summary_of: taken_over(matter, now),
        attachments: unit.item.attachments.clone(),
        is_reused: true,
        ..Made::default()
    })
}

/// How a summary was made that comes from the matter.
pub(super) fn taken_over(matter: &Matter, now: Timestamp) -> SummaryOf {
    let made = matter.metadata.get(SUMMARY_OF).and_then(|of| serde_json::from_value::<SummaryOf>(of.clone()).ok());
    SummaryOf { method: BY_MATTER.to_owned(), at: Some(now), cost_micros: 0, ..made.unwrap_or_default() }
}

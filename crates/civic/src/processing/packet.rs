//! A meeting that a vendor publishes as one file: taken apart to items, or read as a whole.
//!
//! The items are stored like those that a vendor lists, under ids of their own ([`ids::is_from_packet`]): the same packet
//! gives the same items, however often it is read, and a sync neither doubles nor removes them, until the vendor lists
//! items itself.

use super::{
    Workshop,
    documents::{Errand, Fresh, Missing, blob_trouble, stopped, store_trouble},
    job::Running,
    meeting::Ended,
    packet_items::{items_of, matter_of, with_known},
    reading::{NotRead, Sources},
    requests::{self, Inside, Plan},
};
use crate::records::Civic as _;
use crate::records::{AgendaItem, CivicChanges, Jurisdiction, KnownDocument, KnownText, Meeting};
use crate::{
    analyst::{Document, PacketRequest, local_topics::topics_of},
    city_key::CityKey,
    client::Arrived,
    hash::canonical_url,
    ids,
    participation::Participation,
    splitter::{self, SplitItem},
    sync::items as agenda,
    text::{self, DocumentText, NoText, Why},
    vendor::Attachment as Linked,
};
use bindery_core::StepError;
use bindery_reader::{Page, Reader};
use serde::{Deserialize, Serialize};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// The rules that packets are taken apart by. Raise it when they change.
const RULES: &str = "packet/1";
/// Agendas are not longer: of what follows only the text is kept.
const AGENDA_PAGES: usize = 20;

/// A file that was taken apart.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Packet {
    pub(super) content_sha256: String,
    /// All of its pages.
    #[serde(skip)]
    pub(super) text: KnownText,
    /// None where it cannot be taken apart.
    pub(super) items: Vec<PacketItem>,
    pub(super) participation: Participation,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PacketItem {
    pub(super) number: Option<String>,
    pub(super) title: String,
    pub(super) section: Option<String>,
    pub(super) matter_file: Option<String>,
    pub(super) text: String,
    /// Names and addresses of other files.
    pub(super) links: Vec<(String, String)>,
    /// Name, first and last page.
    pub(super) parts: Vec<(String, usize, usize)>,
}

impl From<SplitItem> for PacketItem {
    fn from(item: SplitItem) -> Self {
        let link = |Linked { name, url, .. }: Linked| (name, url);
        Self {
            number: item.number,
            title: item.title,
            section: item.section,
            matter_file: item.matter_file,
            text: item.text,
            links: item.attachments.into_iter().map(link).collect(),
            parts: item.parts.into_iter().map(|part| (part.name, part.first_page, part.last_page)).collect(),
        }
    }
}

/// Whether an address is one of a file, and not of a page.
pub(super) fn is_file(url: &str) -> bool {
    let url = url.to_ascii_lowercase();
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "pdf" | "docx") || url.contains(".ashx")
}

/// The file that has everything in it, if there is one.
pub(super) fn address(meeting: &Meeting) -> Option<&str> {
    meeting.packet_url.as_deref().or_else(|| meeting.agenda_url.as_deref().filter(|url| is_file(url)))
}

impl Workshop {
    /// A file taken apart: fetched, read and taken apart once, whoever asks.
    pub(super) async fn packet(
        &self,
        errand: &Errand<'_>,
        url: &str,
    ) -> Result<Result<Arc<Packet>, Missing>, StepError> {
        let key = canonical_url(url);
        let _turn = self.desk.addresses.take(&key).await;
        let known = self.known_document(&key).await?;
        let packet = self.known_packet(known.content_sha256.as_deref()).await?;
        if known.why.is_none() || packet.is_none() {
            match self.without_asking(&known, packet.as_ref().map(|packet| &packet.text)) {
                Some(Err(missing)) => return Ok(Err(missing)),
                Some(Ok(_)) => return Ok(packet.ok_or_else(|| gone(&key))),
                None => {}
            }
        }
        let _place = self.place().await?;
        let mut large = self.expecting(known.bytes).await?;
        let answer = match self.ask(errand, url, &known, packet.is_some()).await {
            Err(fault) => match self.not_fetched(known, None, fault).await? {
                Err(missing) => packet.ok_or(missing),
                Ok(_) => Err(gone(&key)),
            },
            Ok(None) => {
                self.remember(KnownDocument { why: None, message: None, failures: 0, ..known }).await?;
                packet.ok_or_else(|| gone(&key))
            }
            Ok(Some(fresh)) => {
                errand.fetched();
                if large.is_none() {
                    large = self.expecting(Some(fresh.page.bytes.len() as u64)).await?;
                }
                self.take_apart(errand, url, known, fresh).await?
            }
        };
        drop(large);
        Ok(answer)
    }

    async fn known_packet(&self, content_sha256: Option<&str>) -> Result<Option<Arc<Packet>>, StepError> {
        let (Some(hash), Some(text)) = (content_sha256, self.known_text(content_sha256).await?) else {
            return Ok(None);
        };
        let rules = format!("{RULES} {}", self.text_rules());
        let found = self.store.civic().known_texts(&[hash.to_owned()], &rules).await.map_err(store_trouble)?.pop();
        let Some(kept) = found.filter(|_| text.text.is_some()) else { return Ok(None) };
        let packet: Option<Packet> = serde_json::from_str(&self.whole_text(&kept).await?).ok();
        Ok(packet.map(|packet| Arc::new(Packet { text, ..packet })))
    }

    async fn take_apart(
        &self,
        errand: &Errand<'_>,
        url: &str,
        known: KnownDocument,
        fresh: Fresh,
    ) -> Result<Result<Arc<Packet>, Missing>, StepError> {
        let known = self.now_known(known, &fresh);
        let _turn = self.desk.files.take(&fresh.content_sha256).await;
        if let Some(packet) = self.known_packet(Some(&fresh.content_sha256)).await? {
            self.remember(known).await?;
            return Ok(Ok(packet));
        }
        let (reader, asked) = (Arc::clone(&self.reader), url.to_owned());
        let read = tokio::task::spawn_blocking(move || taken_apart(&reader, &asked, fresh.page)).await;
        let read =
            read.unwrap_or_else(|_| Err(NoText::new(Why::Unreadable, format!("{} cannot be taken apart", known.url))));
        errand.read();
        match read {
            Ok((text, packet)) => {
                let lacks_ocr = text.lacks_ocr;
                let text = self.keep_text(text).await?;
                let packet = Packet { content_sha256: text.content_sha256.clone(), ..packet };
                if !lacks_ocr {
                    self.keep_packet(&packet).await?;
                }
                self.remember(known).await?;
                Ok(Ok(Arc::new(Packet { text, ..packet })))
            }
            Err(fault) => {
                let missing = self.not_fetched(KnownDocument { content_sha256: None, ..known }, None, fault).await?;
                Ok(Err(missing.err().unwrap_or_else(|| gone(url))))
            }
        }
    }

    async fn keep_packet(&self, packet: &Packet) -> Result<(), StepError> {
        let json =
            serde_json::to_vec(packet).map_err(|error| StepError::bug(format!("a packet is not JSON: {error}")))?;
        let stored = self.blobs.put(json).await.map_err(blob_trouble)?;
        let kept = KnownText {
            content_sha256: packet.content_sha256.clone(),
            reader: format!("{RULES} {}", self.text_rules()),
            text: Some(stored.hash),
            ..KnownText::default()
        };
        self.store.civic().put_text(kept).await.map_err(store_trouble)
    }
}

fn gone(url: &str) -> Missing {
    Missing { message: format!("{url}: it did not come"), may_pass: true }
}

/// Reads a file and takes it apart. Only the pages of an agenda are kept as pages.
fn taken_apart(reader: &Reader, asked: &str, page: Arrived) -> Result<(DocumentText, Packet), NoText> {
    let (mut pages, mut last): (Vec<Page>, Option<Page>) = (Vec::new(), None);
    let (text, outline) = text::read_seeing(reader, asked, page, |page| {
        if pages.len() < AGENDA_PAGES {
            pages.push(page);
        } else {
            last = Some(page);
        }
    })?;
    let participation = Participation::of_pages(&pages);
    // It says how many there are.
    pages.extend(last);
    let split = splitter::split(&pages, &outline);
    let items = split.items.into_iter().map(PacketItem::from).collect();
    Ok((text, Packet { items, participation, ..Packet::default() }))
}

impl Running<'_> {
    pub(super) async fn by_packet(&self, meeting: &Meeting, city: &Jurisdiction, url: &str) -> Result<(), StepError> {
        let errand = self.errand(&meeting.vendor);
        let packet = match self.workshop.packet(&errand, url).await? {
            Ok(packet) => packet,
            Err(missing) => {
                self.count(|tally| (tally.documents_failed, tally.items_failed) = (1, 1));
                return Err(if missing.may_pass {
                    StepError::retry(missing.message).named("PacketUnreachable")
                } else {
                    StepError::reject(missing.message).named("PacketUnreadable")
                });
            }
        };
        if packet.items.is_empty() {
            return self.as_a_whole(meeting, city, &packet).await;
        }
        let inside = self.store_items(meeting, url, &packet).await?;
        let civic = self.workshop.store.civic();
        let items = civic.agenda(&meeting.id).await.map_err(store_trouble)?;
        let items: Vec<AgendaItem> = items.into_iter().filter(ids::is_from_packet).collect();
        if !items.iter().any(|item| requests::is_live(item) && requests::has_content(item)) {
            // Titles alone: what they are about stands somewhere behind them.
            return self.as_a_whole(meeting, city, &packet).await;
        }
        let revisions = civic.item_revisions(&meeting.id).await.map_err(store_trouble)?;
        let Plan { mut units, skipped, .. } = requests::plan(&items, &revisions);
        let own = canonical_url(url);
        for unit in &mut units {
            unit.documents.retain(|document| document.key != own);
            unit.inside = inside.get(&unit.item.id).cloned().unwrap_or_default();
        }
        self.count(|tally| tally.items_skipped += skipped);
        let shared = requests::shared(&units);
        let urls: Vec<String> =
            units.iter().flat_map(|unit| unit.documents.iter().map(|document| document.url.clone())).collect();
        let papers = self.workshop.obtain_all(&errand, &urls).await?;
        let participation = packet.participation.clone();
        let sources =
            Sources { papers, shared, packet: Some(packet), starts_at: meeting.starts_at, topics: topics_of(city) };
        let all = units.len();
        let error = self.read_all(units, &sources).await.error(all);
        let method = format!("packet_{}_items", items.iter().filter(|item| requests::is_live(item)).count());
        self.finish(meeting, city, Ended { method, participation, error: error.clone(), ..Ended::default() }).await?;
        error.map_or(Ok(()), Err)
    }

    /// One reading of a file that cannot be taken apart.
    async fn as_a_whole(&self, meeting: &Meeting, city: &Jurisdiction, packet: &Packet) -> Result<(), StepError> {
        let whole = self.workshop.whole_text(&packet.text).await?;
        let text = self.workshop.shorten(whole);
        let document = Document { name: "Packet".to_owned(), text, page_count: packet.text.page_count };
        let request = PacketRequest {
            meeting_id: meeting.id.clone(),
            title: meeting.title.clone(),
            packet: Arc::new(document),
            topics: topics_of(city),
        };
        let failed = || self.count(|tally| tally.items_failed += 1);
        let made = match self.read_whole(request, packet.content_sha256.clone()).await {
            Ok(made) => made,
            Err(NotRead::Broken(error)) => return Err(error),
            Err(NotRead::Park(error)) => return Err(error.into()),
            Err(NotRead::Later { reason, after }) => {
                failed();
                let error =
                    after.map_or_else(|| StepError::retry(&reason), |after| StepError::retry_after(after, &reason));
                return Err(error.named("Partial"));
            }
        };
        if let Some(reason) = made.reading_error {
            failed();
            return Err(StepError::reject(reason).named("PacketRefused"));
        }
        self.count(|tally| (tally.items_processed, tally.items_new) = (tally.items_processed + 1, tally.items_new + 1));
        let ended = Ended {
            method: format!("packet_{}_pages", packet.text.page_count),
            summary: made.summary,
            topics: made.topics,
            participation: packet.participation.clone(),
            error: None,
        };
        self.finish(meeting, city, ended).await
    }

    /// Stores what was found as items of the meeting. Returns which pages belong to which.
    async fn store_items(
        &self,
        meeting: &Meeting,
        url: &str,
        packet: &Packet,
    ) -> Result<HashMap<String, Vec<Inside>>, StepError> {
        let Ok(city_key) = CityKey::parse(self.city_key) else { return Err(stopped()) };
        let told = items_of(meeting, &city_key, url, packet);
        let now = self.workshop.store.clock().now();
        self.change(&meeting.id, async |current: Meeting| {
            let before = self.workshop.store.civic().agenda(&meeting.id).await.map_err(store_trouble)?;
            let mut changes = CivicChanges::of_meeting(self.city_key, &meeting.id, current.revision);
            let ids: HashSet<&str> = told.iter().map(|(item, _)| item.id.as_str()).collect();
            for (item, _) in &told {
                let stored = match before.iter().find(|known| known.id == item.id) {
                    Some(known) => agenda::changed(known, with_known(known, item), &mut changes),
                    None => item.clone(),
                };
                changes.items.push(stored);
                matter_of(&current, item, &mut changes);
            }
            let gone = before.iter().filter(|item| ids::is_from_packet(item) && !ids.contains(item.id.as_str()));
            let gone = gone.filter(|item| requests::is_live(item));
            changes.items.extend(gone.map(|item| AgendaItem { removed_at: Some(now), ..item.clone() }));
            Ok(Some(changes))
        })
        .await?;
        Ok(told.into_iter().map(|(item, inside)| (item.id, inside)).collect())
    }
}

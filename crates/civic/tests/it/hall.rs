//! A store with a city in it, and what a vendor says of its meetings.

use crate::cities::put_cities;
use crate::stores::{self, Time};
use bindery_civic::records::{
    AgendaItem, ChangeFilter, ChangeKind, Civic as _, CivicChanges, DOMAINS, Jurisdiction, Meeting, MeetingFilter,
    QueueJob,
};
use bindery_civic::{
    sync::{Orchestrator, SyncStats, Visited},
    vendor::{Attachment, VendorItem, VendorMeeting, Window, model::Start},
};
use bindery_core::{Clock, EventSeq, Timestamp, time::ManualClock};
use bindery_store::{Store, query::EventFilter};
use jiff::civil::{Date, date, time};
use std::{path::Path, sync::Arc, time::Duration};
use tempfile::TempDir;

pub(crate) const CITY: &str = "paloaltoCA";

pub(crate) struct Hall {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) orchestrator: Orchestrator,
    pub(crate) city: Jurisdiction,
    dir: TempDir,
}

/// The tests' today.
pub(crate) fn today() -> Timestamp {
    Timestamp::from_millis(1_772_463_600_000) // 2026-03-02, 15:00 UTC
}

pub(crate) fn window() -> Window {
    Window { from: date(2026, 2, 16), to: date(2026, 4, 16) }
}

impl Hall {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(today()));
        let store = stores::open_with_domains(dir.path(), Time::Moved(Arc::clone(&clock) as Arc<dyn Clock>), DOMAINS);
        let city = Jurisdiction {
            city_key: CITY.to_owned(),
            name: "Palo Alto".to_owned(),
            state: "CA".to_owned(),
            vendor: "legistar".to_owned(),
            slug: "paloalto".to_owned(),
            tz: Some("America/Los_Angeles".to_owned()),
            ..Jurisdiction::default()
        };
        put_cities(&store.civic(), vec![city.clone()]).await.unwrap();
        Self { orchestrator: Orchestrator::new(Arc::clone(&store)), store, clock, city, dir }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) async fn visit(&self, meetings: Vec<VendorMeeting>) -> SyncStats {
        // No two visits are at the same moment.
        self.clock.advance(Duration::from_secs(60));
        let visited = Visited { vendor: "legistar".to_owned(), window: window(), meetings, is_complete: true };
        self.orchestrator.sync_visit(&self.city, visited).await.unwrap()
    }

    pub(crate) async fn meetings(&self) -> Vec<Meeting> {
        let filter = MeetingFilter { city_key: Some(CITY.to_owned()), with_removed: true, ..MeetingFilter::default() };
        self.store.civic().meetings(filter).await.unwrap()
    }

    pub(crate) async fn meeting(&self, vendor_id: &str) -> Meeting {
        self.meetings().await.into_iter().find(|meeting| meeting.vendor_id == vendor_id).unwrap()
    }

    pub(crate) async fn items(&self, vendor_id: &str) -> Vec<AgendaItem> {
        self.store.civic().agenda(&self.meeting(vendor_id).await.id).await.unwrap()
    }

    /// What happened, the oldest first.
    pub(crate) async fn changes(&self) -> Vec<(String, ChangeKind)> {
        let filter = ChangeFilter { city_key: Some(CITY.to_owned()), ..ChangeFilter::default() };
        let mut changes = self.store.civic().meeting_changes(filter).await.unwrap();
        changes.sort_by_key(|change| (change.at, change.revision, change.ordinal));
        let meetings = self.meetings().await;
        let vendor_id = |id: &str| meetings.iter().find(|meeting| meeting.id == id).unwrap().vendor_id.clone();
        changes.iter().map(|change| (vendor_id(&change.meeting_id), change.kind)).collect()
    }

    /// What reading an item comes to.
    pub(crate) async fn summarise(&self, item: &AgendaItem, summary: &str, topics: &[&str]) {
        let civic = self.store.civic();
        let mut item = civic.agenda_item(&item.id).await.unwrap().unwrap();
        let meeting = civic.meeting(&item.meeting_id).await.unwrap().unwrap();
        item.update_agenda_item(Some(summary.to_owned()), topics.iter().map(|topic| (*topic).to_owned()).collect());
        let mut changes = CivicChanges::of_meeting(CITY, &meeting.id, meeting.revision);
        changes.items.push(item);
        assert!(civic.apply(vec![changes]).await.unwrap()[0].is_stored());
    }

    pub(crate) async fn queue(&self) -> Vec<QueueJob> {
        self.store.civic().queue_jobs(Some(CITY), None).await.unwrap()
    }

    pub(crate) async fn events(&self) -> usize {
        self.store.read_events(EventSeq::START, EventFilter::default(), 10_000).await.unwrap().len()
    }
}

pub(crate) fn meeting(vendor_id: &str, title: &str, day: Date, hour: i8) -> VendorMeeting {
    VendorMeeting {
        title: Some(title.to_owned()),
        start: Some(Start { date: day, time: Some(time(hour, 0, 0, 0)), note: None }),
        ..VendorMeeting::new(vendor_id)
    }
}

pub(crate) fn item(vendor_item_id: &str, title: &str, sequence: u32) -> VendorItem {
    let vendor_item_id = Some(vendor_item_id.to_owned());
    VendorItem { vendor_item_id, title: title.to_owned(), sequence, ..VendorItem::default() }
}

pub(crate) fn document(name: &str) -> Attachment {
    let url = format!("https://example.com/{}.pdf", name.replace(' ', "-"));
    Attachment { name: name.to_owned(), url, ..Attachment::default() }
}

//! Cities whose sites are on a server in this process, or in a recording, and a conductor that visits them.

use crate::cities::put_cities;
use crate::{
    server::Server,
    stores::{self, Time},
    vendor::LINES,
};
use bindery_civic::records::{
    Civic as _, DOMAINS, Jurisdiction, Meeting, MeetingFilter, SyncRun, SyncRunFilter, VendorPlace,
};
use bindery_civic::{
    client::{Client, Settings},
    conductor::{Conductor, SyncResult, WindowRule},
    vendor::{Adapter, adapters},
};
use bindery_core::{Clock, Timestamp, time::ManualClock};
use bindery_engine::{StopHandle, StopSignal, stop_pair};
use bindery_store::Store;
use jiff::civil::date;
use std::{fs, sync::Arc};
use tempfile::TempDir;

/// The vendor whose pages are lines.
static ONLY_LINES: [&dyn Adapter; 1] = [&LINES];

pub(crate) struct Town {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) handle: StopHandle,
    pub(crate) stop: StopSignal,
    dir: TempDir,
}

impl Town {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at("2026-02-10T15:00:00Z".parse::<Timestamp>().unwrap()));
        let store = stores::open_with_domains(dir.path(), Time::Moved(Arc::clone(&clock) as Arc<dyn Clock>), DOMAINS);
        let (handle, stop) = stop_pair();
        Self { store, clock, handle, stop, dir }
    }

    /// Over the network of this machine, without sitting through its politeness. Sites are those of [`LINES`].
    pub(crate) fn conductor(&self) -> Conductor {
        self.conductor_with(&Settings::default())
    }

    pub(crate) fn conductor_with(&self, settings: &Settings) -> Conductor {
        let client = crate::vendor::client(settings);
        // February, whatever the client's clock says.
        let window = WindowRule { from: Some(date(2026, 2, 1)), to: Some(date(2026, 2, 28)), ..WindowRule::default() };
        Conductor::new(Arc::clone(&self.store), Arc::new(client), &ONLY_LINES).with_window(window)
    }

    /// Over a recording, with all vendors there are. `lines` are those of `recording.jsonl`.
    pub(crate) fn replaying(&self, lines: &str) -> Conductor {
        let folder = self.dir.path().join("recording");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("recording.jsonl"), lines).unwrap();
        let client = Client::replaying(&Settings::default(), &folder).unwrap();
        Conductor::new(Arc::clone(&self.store), Arc::new(client), adapters())
    }

    /// A city on a site of lines.
    pub(crate) async fn add(&self, city_key: &str, server: &Server) {
        self.put(city(city_key, "lines", &server.address)).await;
    }

    pub(crate) async fn put(&self, city: Jurisdiction) {
        put_cities(&self.store.civic(), vec![city]).await.unwrap();
    }

    pub(crate) async fn city(&self, city_key: &str) -> Jurisdiction {
        self.store.civic().jurisdiction(city_key).await.unwrap().unwrap()
    }

    pub(crate) async fn meetings(&self, city_key: &str) -> Vec<Meeting> {
        let filter =
            MeetingFilter { city_key: Some(city_key.to_owned()), with_removed: true, ..MeetingFilter::default() };
        self.store.civic().meetings(filter).await.unwrap()
    }

    /// The newest first.
    pub(crate) async fn runs(&self, city_key: &str) -> Vec<SyncRun> {
        let filter = SyncRunFilter { city_key: Some(city_key.to_owned()), ..SyncRunFilter::default() };
        self.store.civic().sync_runs(filter).await.unwrap()
    }
}

pub(crate) fn city(city_key: &str, vendor: &str, slug: &str) -> Jurisdiction {
    let (name, state) = city_key.split_at(city_key.len() - 2);
    Jurisdiction {
        city_key: city_key.to_owned(),
        name: name.to_owned(),
        state: state.to_owned(),
        vendor: vendor.to_owned(),
        slug: slug.to_owned(),
        ..Jurisdiction::default()
    }
}

pub(crate) fn place(vendor: &str, slug: &str) -> VendorPlace {
    VendorPlace { vendor: vendor.to_owned(), slug: slug.to_owned() }
}

pub(crate) fn city_keys(results: &[SyncResult]) -> Vec<&str> {
    results.iter().map(|result| result.city_key.as_str()).collect()
}

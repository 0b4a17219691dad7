//! The processors of meetings and matters of councils, as this program runs them.
//!
//! They store what they find by themselves, so they are made for one open store. What is listed without a store stands
//! in for them.

mod cities;
mod digests;
pub mod documents;
mod finding;
mod following;
mod queue;
mod room;
pub mod views;
pub mod visits;

pub use digests::{DigestMade, DigestQuery};
pub use finding::{CouncilRefused, parse_city_key};
pub use following::{AlertRequest, find_topic, new_watch};
pub use queue::QueuePreview;
pub use room::{
    city_key, client, conductor, detect, export, filter, history, ids, notices, processing, records, register, search,
    states, text, topics, vendor,
};

use bindery_civic::{
    analyst,
    processing::{Workshop, register as register_processors, run::Hearing},
};
use bindery_core::StepError;
use bindery_engine::{Kind, Processor, Registry, context::StepContext};
use bindery_models::Models;
use bindery_reader::{OcrMode, Opener};
use bindery_store::{Store, blobs::Blobs};
use client::Client;
use serde_json::Value;
use std::sync::Arc;

/// Their names, and what they do.
pub(crate) const PROCESSORS: [(&str, &str); 3] = [
    ("meeting", "Read the documents of a council's meeting and say what its items are about (jobs of `bindery civic`)"),
    ("matter", "Read the documents of a matter over all its appearances (jobs of `bindery civic`)"),
    ("notify", "Deliver a message to somebody who follows a council (jobs of `bindery civic notices`)"),
];

/// How councils' documents are fetched and read.
#[derive(Debug, Clone)]
pub struct Councils {
    pub client: Arc<Client>,
    pub ocr: OcrMode,
    pub hearing: Arc<Hearing>,
}

/// Asks nobody before there is something to read.
impl Default for Councils {
    fn default() -> Self {
        Self {
            client: Arc::new(Client::network(&client::Settings::default())),
            ocr: OcrMode::Auto,
            hearing: Arc::default(),
        }
    }
}

/// What reads councils' documents for an open store.
#[derive(Debug, Clone)]
pub struct CouncilParts {
    pub workshop: Arc<Workshop>,
    pub hearing: Arc<Hearing>,
}

impl Councils {
    /// Registers the processors for this store.
    pub(crate) fn register(
        self,
        models: Option<Arc<Models>>,
        store: &Arc<dyn Store>,
        blobs: &Arc<dyn Blobs>,
        registry: &mut Registry,
        opener: Arc<dyn Opener>,
    ) -> CouncilParts {
        let analyst = analyst::reading_with(models);
        let Self { client, ocr, hearing } = self;
        let workshop = Workshop::new(Arc::clone(store), Arc::clone(blobs), client, analyst)
            .with_ocr(ocr)
            .with_opener(opener)
            .with_observer(Arc::clone(&hearing) as _);
        let workshop = Arc::new(workshop);
        register_processors(registry, Arc::clone(&workshop));
        CouncilParts { workshop, hearing }
    }
}

/// Stands in for the processors where no store is open.
pub(crate) fn register_stand_ins(registry: &mut Registry) {
    for (name, _) in PROCESSORS {
        registry.register(StandIn(name));
    }
}

struct StandIn(&'static str);

impl Processor for StandIn {
    fn name(&self) -> &str {
        self.0
    }

    fn kind(&self) -> Kind {
        Kind::Io
    }

    fn process(&self, _: &StepContext, _: Value) -> Result<Value, StepError> {
        let message = format!("{} works on what waits in a store; `bindery civic process-cities` runs it", self.0);
        Err(StepError::reject(message).named("NoSubmission"))
    }
}

//! A hall whose documents are on a server in this process, an analyst who notes what it is asked, and a worker that
//! processes the queue through the real engine.

use crate::{
    hall::{CITY, Hall},
    server::{Reply, Seen, Server},
};
use bindery_civic::records::{CIVIC_QUEUE, Civic as _};
use bindery_civic::{
    analyst::{Analyst, CostEstimate, ItemRequest, PacketRequest, Reading},
    client::Settings,
    processing::{self, JobReport, ReadingLimits, ReadingObserver, Tally, Workshop},
    vendor::Attachment,
};
use bindery_core::{EventSeq, job::JobState};
use bindery_engine::{Engine, Parts, Registry, Worker, WorkerOptions, stop_pair};
use bindery_models::{Advice, ErrorKind, ModelError, timer::Cancelled};
use bindery_store::{
    blobs::{Blobs, LayeredBlobs, LocalBlobs},
    query::{EventFilter, JobFilter, JobView},
};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Arc, Mutex},
    time::Duration,
};

/// What to say to a question, given how many were asked before. None: a summary.
type Moods = dyn Fn(&ItemRequest, usize) -> Option<ModelError> + Send + Sync;

/// A real analyst in so far as its summaries say what they were made from.
pub(crate) struct Scribe {
    pub(crate) asked: Mutex<Vec<ItemRequest>>,
    pub(crate) packets: Mutex<Vec<PacketRequest>>,
    mood: Box<Moods>,
    /// How many texts the workshop held at each question.
    pub(crate) held: Mutex<Vec<usize>>,
    pub(crate) workshop: Mutex<Option<Arc<Workshop>>>,
    /// What happens while the next question is answered.
    pub(crate) meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl std::fmt::Debug for Scribe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scribe")
    }
}

impl Scribe {
    pub(crate) fn new(mood: impl Fn(&ItemRequest, usize) -> Option<ModelError> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            asked: Mutex::default(),
            packets: Mutex::default(),
            mood: Box::new(mood),
            held: Mutex::default(),
            workshop: Mutex::default(),
            meanwhile: Mutex::default(),
        })
    }

    pub(crate) fn willing() -> Arc<Self> {
        Self::new(|_, _| None)
    }

    /// The titles that it was asked about, sorted.
    pub(crate) fn titles(&self) -> Vec<String> {
        let mut titles: Vec<String> = self.asked.lock().unwrap().iter().map(|request| request.title.clone()).collect();
        titles.sort();
        titles
    }

    pub(crate) fn request(&self, title: &str) -> ItemRequest {
        let asked = self.asked.lock().unwrap();
        asked.iter().find(|request| request.title.starts_with(title)).expect("it was asked about").clone()
    }
}

impl Analyst for Scribe {
    fn method(&self) -> String {
        "scribe/1".to_owned()
    }

    fn read_item(&self, request: &ItemRequest, _: Cancelled<'_>) -> Result<Reading, ModelError> {
        if let Some(workshop) = &*self.workshop.lock().unwrap() {
            self.held.lock().unwrap().push(workshop.texts_in_memory());
        }
        let before = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(request.clone());
            asked.len() - 1
        };
        if let Some(meanwhile) = self.meanwhile.lock().unwrap().take() {
            meanwhile();
        }
        if let Some(error) = (self.mood)(request, before) {
            return Err(error);
        }
        let words = request.documents.iter().chain(&request.shared).map(|document| document.text.len()).sum::<usize>();
        let topics = request.topics.assign(&request.title, "").into_iter().map(|assigned| assigned.topic).collect();
        Ok(Reading {
            summary: format!("{}: {words} characters", request.title),
            topics,
            method: self.method(),
            cost_micros: 100,
            ..Reading::default()
        })
    }

    fn estimate(&self, request: &ItemRequest) -> Result<CostEstimate, ModelError> {
        let input_tokens = request.documents.iter().map(|document| document.text.len() as u64).sum();
        Ok(CostEstimate { input_tokens, most_micros: 100, is_kept: false })
    }

    fn read_packet(&self, request: &PacketRequest, _: Cancelled<'_>) -> Result<Reading, ModelError> {
        self.packets.lock().unwrap().push(request.clone());
        Ok(Reading {
            summary: format!("The packet of {}", request.title),
            topics: vec!["budget".to_owned()],
            method: self.method(),
            ..Reading::default()
        })
    }
}

pub(crate) fn passing(message: &str) -> ModelError {
    ModelError { kind: ErrorKind::Timeout, message: message.to_owned(), advice: Advice::Retry { after: None } }
}

pub(crate) fn lasting(message: &str) -> ModelError {
    ModelError { kind: ErrorKind::Refused, message: message.to_owned(), advice: Advice::Final }
}

/// Keeps what jobs have come to.
#[derive(Debug, Default)]
pub(crate) struct Reports(pub(crate) Mutex<Vec<JobReport>>);

impl ReadingObserver for Reports {
    fn job_ended(&self, report: &JobReport) {
        self.0.lock().unwrap().push(report.clone());
    }
}

pub(crate) struct Office {
    pub(crate) hall: Hall,
    pub(crate) server: Server,
    pub(crate) scribe: Arc<Scribe>,
    pub(crate) workshop: Arc<Workshop>,
    pub(crate) reports: Arc<Reports>,
    blobs: Arc<dyn Blobs>,
}

impl Office {
    /// Pages by their paths; everything else is not there.
    pub(crate) async fn new(pages: &[(&str, &str)], scribe: Arc<Scribe>) -> Self {
        let pages: BTreeMap<String, String> =
            pages.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Self::answering(scribe, move |seen, _| match pages.get(&seen.path) {
            Some(text) => Reply::text(text).header("ETag", "\"1\""),
            None => Reply::new(404),
        })
        .await
    }

    pub(crate) async fn answering(
        scribe: Arc<Scribe>,
        answers: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let hall = Hall::new().await;
        let files = Arc::new(LocalBlobs::open(hall.folder().join("blobs")).unwrap());
        let blobs = LayeredBlobs::of_store(&hall.store, files);
        let server = Server::start(answers);
        let reports = Arc::<Reports>::default();
        let office = |analyst: Arc<dyn Analyst>| {
            let client = Arc::new(crate::vendor::client(&Settings::default()));
            let workshop = Workshop::new(Arc::clone(&hall.store), Arc::clone(&blobs), client, analyst);
            Arc::new(workshop.with_observer(Arc::clone(&reports) as Arc<dyn ReadingObserver>))
        };
        let workshop = office(Arc::clone(&scribe) as Arc<dyn Analyst>);
        *scribe.workshop.lock().unwrap() = Some(Arc::clone(&workshop));
        Self { hall, server, scribe, workshop, reports, blobs }
    }

    /// The same with another analyst, or under other limits.
    pub(crate) fn workshop_with(&self, analyst: Arc<dyn Analyst>, limits: ReadingLimits) -> Arc<Workshop> {
        let client = Arc::new(crate::vendor::client(&Settings::default()));
        let workshop = Workshop::new(Arc::clone(&self.hall.store), Arc::clone(&self.blobs), client, analyst);
        let reports = Arc::clone(&self.reports) as Arc<dyn ReadingObserver>;
        Arc::new(workshop.with_limits(limits).with_observer(reports))
    }

    pub(crate) fn document(&self, name: &str, path: &str) -> Attachment {
        Attachment { name: name.to_owned(), url: self.server.url(path), ..Attachment::default() }
    }

    /// Processes the queue until nothing is ready. Returns what is left, with the reasons.
    pub(crate) async fn work(&self) -> Vec<JobView> {
        self.work_in(&self.workshop).await
    }

    pub(crate) async fn work_in(&self, workshop: &Arc<Workshop>) -> Vec<JobView> {
        let mut registry = Registry::default();
        processing::register(&mut registry, Arc::clone(workshop));
        let engine = Engine::new(Parts::new(Arc::clone(&self.hall.store), Arc::clone(&self.blobs), registry));
        let (handle, stop) = stop_pair();
        let queues = Some(vec![CIVIC_QUEUE.into()]);
        let worker = Worker::new(engine, WorkerOptions { name: "reader".into(), queues, ..WorkerOptions::default() });
        let running = tokio::spawn(async move { worker.run(stop).await });
        let store = &self.hall.store;
        let left = loop {
            let jobs = store.jobs(JobFilter::default()).await.unwrap();
            let now = store.clock().now();
            let is_left = |view: &JobView| match view.job.state {
                JobState::Ready | JobState::Running => true,
                // Its time has come, or a moment ago.
                JobState::Scheduled | JobState::Parked => view.job.run_at.is_some_and(|at| at <= now),
                _ => false,
            };
            if !jobs.iter().any(is_left) {
                break jobs;
            }
            store.changed(store.change_mark(), Duration::from_millis(5)).await;
        };
        handle.stop();
        running.await.unwrap().unwrap();
        left
    }

    /// What all jobs have come to so far.
    pub(crate) fn tally(&self) -> Tally {
        let mut all = Tally::default();
        self.reports.0.lock().unwrap().iter().for_each(|report| all.add(&report.tally));
        all
    }

    /// Of this kind, what each event says.
    pub(crate) async fn events(&self, kind: &str) -> Vec<serde_json::Value> {
        let events = self.hall.store.read_events(EventSeq::START, EventFilter::default(), 10_000).await.unwrap();
        let ours = events.iter().filter(|event| &*event.kind == kind);
        ours.map(|event| serde_json::from_str(&event.data).unwrap()).collect()
    }

    pub(crate) async fn item(&self, meeting: &str, title: &str) -> bindery_civic::records::AgendaItem {
        let items = self.hall.items(meeting).await;
        items.into_iter().find(|item| item.title.starts_with(title)).expect("it is on the agenda")
    }

    pub(crate) async fn matter(&self) -> bindery_civic::records::Matter {
        let filter = bindery_civic::records::MatterFilter { city_key: Some(CITY.to_owned()), ..Default::default() };
        self.hall.store.civic().matters(filter).await.unwrap().pop().expect("there is a matter")
    }
}

/// A PDF with these lines on its pages.
pub(crate) fn pdf(pages: &[&[&str]]) -> Vec<u8> {
    let mut objects: Vec<String> = vec!["<< /Type /Catalog /Pages 2 0 R >>".to_owned(), String::new()];
    objects.push("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned());
    let mut kids = Vec::new();
    for lines in pages {
        let mut drawn = String::from("BT /F1 11 Tf 16 TL 60 740 Td\n");
        for line in *lines {
            let line = line.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
            drawn.extend(["(", &*line, ") Tj T*\n"]);
        }
        drawn.push_str("ET");
        objects.push(format!("<< /Length {} >>\nstream\n{drawn}\nendstream", drawn.len()));
        let content = objects.len();
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
        ));
        kids.push(format!("{} 0 R", objects.len()));
    }
    objects[1] = format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), kids.len());
    let mut file = String::from("%PDF-1.4\n");
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(file.len());
        write!(file, "{} 0 obj\n{object}\nendobj\n", at + 1).unwrap();
    }
    let table = file.len();
    write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).unwrap();
    for place in places {
        writeln!(file, "{place:010} 00000 n ").unwrap();
    }
    write!(file, "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1).unwrap();
    file.into_bytes()
}

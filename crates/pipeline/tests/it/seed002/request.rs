//! One submission of the `default` workflow on a real engine.

use crate::{
    desk::Desk,
    stores::{self, Time},
};
use bindery_core::{
    Clock as _, Name, SubmissionId,
    item::{Item, ItemKind},
    job::{Job, JobState},
    outcome::Outcome,
    review::{Review, ReviewStatus},
    submission::SubmissionStatus,
    time::{ManualClock, SystemClock},
};
use bindery_engine::{
    Engine, Parts,
    intake::Intake,
    message::{PipelineMessage, Published},
    view,
};
use bindery_pipeline::{docproc, intake, registry};
use bindery_store::{
    blobs::{LayeredBlobs, LocalBlobs},
    query::{ItemFilter, JobFilter, ReviewFilter},
};
use serde_json::Value;
use std::{sync::Arc, time::Duration};

pub(super) fn default_yaml() -> String {
    include_str!("../../../../../workflows/default.yaml").to_owned()
}

/// The workflow with one thing changed.
pub(super) fn changed(from: &str, to: &str) -> String {
    let yaml = default_yaml();
    assert_eq!(yaml.matches(from).count(), 1, "{from:?} stands there once");
    yaml.replace(from, to)
}

/// The workflow with the work of a component done by a program outside.
pub(super) fn outside(component: &str) -> String {
    let line = format!("    component: {component}\n");
    changed(&line, &format!("{line}    processors: [{{name: {component}, external: true}}]\n"))
}

pub(super) struct Request {
    pub(super) desk: Desk,
    pub(super) clock: Option<Arc<ManualClock>>,
    pub(super) id: SubmissionId,
}

impl Request {
    /// Takes files in under the id `request-1`; nothing has run yet.
    pub(super) async fn received(yaml: &str, files: &[(&str, &[u8])]) -> Self {
        Self::on(None, yaml, files, Duration::ZERO).await
    }

    /// The same on a clock that the test moves, received some time ago.
    pub(super) async fn received_ago(ago: Duration, yaml: &str, files: &[(&str, &[u8])]) -> Self {
        Self::on(Some(Arc::default()), yaml, files, ago).await
    }

    /// Takes files in and works on them until nothing is left to do.
    pub(super) async fn worked_on(yaml: &str, files: &[(&str, &[u8])]) -> Self {
        let this = Self::received(yaml, files).await;
        this.work().await;
        this
    }

    async fn on(clock: Option<Arc<ManualClock>>, yaml: &str, files: &[(&str, &[u8])], ago: Duration) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let time = match &clock {
            Some(clock) => Time::Moved(Arc::clone(clock) as Arc<_>),
            None => Time::Own(Arc::new(SystemClock)),
        };
        let store = stores::open(dir.path(), time);
        let place = Arc::new(LocalBlobs::open(dir.path().join("blobs")).unwrap());
        let blobs = LayeredBlobs::of_store(&store, place);
        let engine = Engine::new(Parts::new(store, blobs, registry()));
        engine.register_workflow(yaml, None).await.unwrap();
        let desk = Desk { engine, dir };
        for (name, bytes) in files {
            desk.write(name, bytes);
        }
        let taken = intake::take_in(&desk.engine, &[desk.folder()]).await.unwrap();
        let mut intake = Intake::new("default", taken.files);
        intake.external_id = Some("request-1".to_owned());
        intake.received_at = clock.as_ref().map(|clock| clock.now() - ago);
        let id = desk.engine.submit(intake).await.unwrap().id();
        Self { desk, clock, id }
    }

    fn engine(&self) -> &Engine {
        &self.desk.engine
    }

    /// Works until nothing is ready or running; what is paused, or waits for others, stays.
    pub(super) async fn work(&self) {
        self.desk
            .work_until(async || {
                let states = vec![JobState::Ready, JobState::Running, JobState::Scheduled];
                let jobs = self.jobs(JobFilter { states, ..JobFilter::default() }).await;
                let queues = self.engine().store().queues().await.unwrap();
                let paused = |job: &Job| queues.iter().any(|queue| queue.paused && queue.queue == job.queue);
                jobs.iter().all(paused).then_some(())
            })
            .await;
    }

    async fn jobs(&self, filter: JobFilter) -> Vec<Job> {
        self.engine().store().jobs(filter).await.unwrap().into_iter().map(|view| view.job).collect()
    }

    pub(super) async fn queued(&self, queue: &str) -> Vec<Job> {
        self.jobs(JobFilter { queue: Some(Name::from(queue)), ..JobFilter::default() }).await
    }

    pub(super) async fn pause(&self, queue: &str) {
        assert!(self.engine().store().pause(&Name::from(queue), None).await.unwrap());
    }

    pub(super) async fn resume(&self, queue: &str) {
        assert!(self.engine().store().resume(&Name::from(queue)).await.unwrap());
    }

    pub(super) async fn items(&self, kind: ItemKind) -> Vec<Item> {
        let filter = ItemFilter { kind: Some(kind), ..ItemFilter::default() };
        self.engine().store().items(self.id, filter).await.unwrap()
    }

    pub(super) async fn outcomes(&self, stage: &str) -> Vec<Outcome> {
        self.engine().store().outcomes(self.id, Some(&Name::from(stage))).await.unwrap()
    }

    /// What the component of a stage has sent, once for each of its items.
    pub(super) async fn sent(&self, stage: &str) -> Vec<Value> {
        let mut sent = Vec::new();
        for outcome in self.outcomes(stage).await {
            sent.push(self.engine().read_payload(&outcome.output).await.unwrap());
        }
        sent
    }

    pub(super) async fn open_reviews(&self) -> Vec<Review> {
        let statuses = vec![ReviewStatus::Pending, ReviewStatus::Assigned];
        let filter = ReviewFilter { submission: Some(self.id), statuses, ..ReviewFilter::default() };
        let mut reviews = self.engine().store().reviews(filter).await.unwrap();
        reviews.sort_by_key(|review| review.id);
        reviews
    }

    /// A person decides.
    pub(super) async fn decide(&self, review: &Review, decided: Value) {
        self.engine().complete_review(review.id, None, decided).await.unwrap();
    }

    pub(super) async fn publish(&self, key: &str, message: Value) -> Published {
        let message: PipelineMessage = serde_json::from_value(message).unwrap();
        self.engine().publish(key, message).await.unwrap()
    }

    /// Received, expected, complete.
    pub(super) async fn counts(&self, stage: &str) -> (i64, i64, bool) {
        let states = view::AggregationStates::new(self.engine(), self.id).await.unwrap().next().await.unwrap();
        let row = states.iter().find(|state| state.stage == stage).expect("it has begun to wait");
        (row.received_count, row.expected_count, row.is_complete)
    }

    pub(super) async fn submission_status(&self) -> SubmissionStatus {
        self.engine().store().submission(self.id).await.unwrap().unwrap().status
    }

    pub(super) async fn status(&self) -> Value {
        docproc::status(self.engine(), self.id).await.unwrap()
    }

    pub(super) async fn tables(&self) -> docproc::Tables {
        docproc::tables(self.engine(), self.id).await.unwrap()
    }

    pub(super) async fn result(&self) -> Value {
        view::result(self.engine(), self.id).await.unwrap().expect("there is a result")
    }

    /// Type and pages of each document of the result.
    pub(super) async fn documents(&self) -> Vec<(String, Value)> {
        let result = self.result().await;
        let documents = result["documents"].as_array().unwrap().iter();
        documents.map(|one| (one["doc_type"].as_str().unwrap().to_owned(), one["page_indices"].clone())).collect()
    }
}

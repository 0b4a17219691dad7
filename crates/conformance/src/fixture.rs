//! What every test of the suite starts from: an empty store, a clock that stands still, and short ways to say things.

use bindery_core::{
    Clock, EventSeq, ItemId, JobId, JoinId, Name, Payload, SubmissionId, Timestamp,
    artifact::Artifact,
    error::ErrorClass,
    event::{Event, NewEvent},
    item::{Item, ItemKind},
    job::{ClaimedJob, ErrorRecord, Job, NewJob},
    join::{Arrival, Join, JoinChange, JoinStep, NewJoin},
    outcome::{Outcome, OutcomeStatus},
    review::{NewReview, Review},
    submission::{Deadline, NewSubmission, Submission, SubmissionStatus},
    time::ManualClock,
};
use bindery_store::{
    Changes, Commit, CommitResult, Guard, JobEnd, JoinProgress, Store, SubmissionChange,
    commit::Enqueued,
    query::{ClaimRequest, EventFilter, IdKind, ItemCounts, ItemFilter, JobFilter, JobView, JoinFilter, ReviewFilter},
};
use std::{any::Any, collections::BTreeMap, sync::Arc, time::Duration};

/// How long the claims of [`Fixture::claim`] hold.
pub const LEASE: Duration = Duration::from_secs(60);

/// An empty store under test, with the clock that it was opened with.
#[derive(Debug)]
pub struct Fixture {
    pub store: Arc<dyn Store>,
    pub clock: Arc<ManualClock>,
    pub ids: Ids,
    keep: Vec<Box<dyn Any + Send + Sync>>,
}

/// Draws ids from the store, one at a time.
#[derive(Debug, Clone)]
pub struct Ids(Arc<dyn Store>);

impl Ids {
    async fn next(&self, kind: IdKind) -> i64 {
        self.0.reserve_ids(kind, 1).await.unwrap().start
    }

    pub async fn submission(&self) -> SubmissionId {
        SubmissionId::from_raw(self.next(IdKind::Submission).await)
    }

    pub async fn item(&self) -> ItemId {
        ItemId::from_raw(self.next(IdKind::Item).await)
    }

    pub async fn join(&self) -> JoinId {
        JoinId::from_raw(self.next(IdKind::Join).await)
    }
}

/// Everything that a store shows of one submission, and the whole event log. Two equal ones mean: nothing happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    pub submission: Option<Submission>,
    pub items: Vec<Item>,
    pub artifacts: Vec<Artifact>,
    pub outcomes: Vec<Outcome>,
    pub reviews: Vec<Review>,
    pub jobs: Vec<JobView>,
    pub joins: Vec<Join>,
    pub events: Vec<Event>,
}

impl Fixture {
    pub fn new(store: Arc<dyn Store>, clock: Arc<ManualClock>) -> Self {
        Self { ids: Ids(Arc::clone(&store)), store, clock, keep: Vec::new() }
    }

    /// Keeps something alive as long as the fixture, for instance the directory that the store is in.
    #[must_use]
    pub fn with_guard(mut self, guard: impl Any + Send + Sync) -> Self {
        self.keep.push(Box::new(guard));
        self
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn after(&self, seconds: u64) -> Timestamp {
        self.now() + Duration::from_secs(seconds)
    }

    pub fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    // ---- building values -------------------------------------------------------------------------------------------

    /// A submission with nothing special about it, not stored yet.
    pub async fn new_submission(&self) -> NewSubmission {
        NewSubmission {
            id: self.ids.submission().await,
            external_id: None,
            owner: None,
            channel: "test".to_owned(),
            workflow: "flow".into(),
            workflow_version: 1,
            priority: 0,
            received_at: self.now(),
            deadline: Deadline::default(),
            metadata: "{}".to_owned(),
        }
    }

    /// A job with nothing special about it, not stored yet. Its stage has the name of its queue.
    pub fn job(&self, queue: &str, submission: SubmissionId) -> NewJob {
        NewJob::new(queue, submission, queue, "p")
    }

    /// A join of `expected` chains that goes on with a job on the queue `on_close`; not stored yet.
    pub async fn new_join(&self, submission: SubmissionId, expected: i64, on_close: &str) -> NewJoin {
        NewJoin {
            id: self.ids.join().await,
            submission,
            stage: on_close.into(),
            scope: None,
            expected,
            declared: true,
            outer: None,
            on_close: self.job(on_close, submission),
        }
    }

    /// A completed, failed, ... outcome of a job.
    pub fn outcome(&self, job: &Job, status: OutcomeStatus) -> Outcome {
        let failed = status == OutcomeStatus::Failed;
        Outcome {
            submission: job.submission,
            item: job.item,
            stage: job.stage.clone(),
            processor: job.processor.clone(),
            status,
            output: Payload::null(),
            confidence: None,
            error: failed.then(|| error("Broken", ErrorClass::Reject)),
            resume: None,
            input_hash: None,
            processor_version: 1,
            attempts: job.attempt,
            cost_micros: 0,
            finished_at: self.now(),
            reuse: None,
        }
    }

    /// A review with nothing special about it, not stored yet: a chain waits for it.
    pub fn new_review(&self, submission: SubmissionId, stage: &str) -> NewReview {
        NewReview {
            submission,
            item: None,
            stage: stage.into(),
            processor: "p".into(),
            join: None,
            goes_on: false,
            queue: "desk".into(),
            priority: 0,
            reasons: vec!["the date is unreadable".to_owned()],
            skills: Vec::new(),
            claim_ms: None,
            input: Payload::null(),
            subject: None,
            decided: None,
        }
    }

    // ---- writing ---------------------------------------------------------------------------------------------------

    /// Stores a plain submission.
    pub async fn submission(&self) -> SubmissionId {
        let new = self.new_submission().await;
        self.submit(new).await
    }

    pub async fn submit(&self, new: NewSubmission) -> SubmissionId {
        let id = new.id;
        let changes = Changes { submissions: vec![new], ..Changes::default() };
        self.apply(Commit { guard: Guard::NewSubmission, changes }).await;
        id
    }

    /// Says where a submission stands; a failed one says why.
    pub async fn set_status(&self, id: SubmissionId, status: SubmissionStatus) {
        let error = (status == SubmissionStatus::Failed).then(|| "no page could be read".to_owned());
        let submission_changes = vec![SubmissionChange { id, status, error }];
        self.change(Changes { submission_changes, ..Changes::default() }).await;
    }

    /// Stores an item at the end of its kind.
    pub async fn item(&self, submission: SubmissionId, kind: ItemKind) -> ItemId {
        let id = self.ids.item().await;
        let item = Item {
            id,
            submission,
            parent: None,
            kind,
            ordinal: id.raw(),
            key: None,
            label: None,
            content: None,
            data: "{}".to_owned(),
        };
        self.change(Changes { items: vec![item], ..Changes::default() }).await;
        id
    }

    /// Stores a join.
    pub async fn join(&self, new: NewJoin) -> JoinId {
        let id = new.id;
        self.change(Changes { joins: vec![new], ..Changes::default() }).await;
        id
    }

    /// Stores a review of a stage.
    pub async fn review(&self, submission: SubmissionId, stage: &str) -> Review {
        self.ask(self.new_review(submission, stage)).await
    }

    /// Stores a review.
    pub async fn ask(&self, new: NewReview) -> Review {
        let filter = ReviewFilter { submission: Some(new.submission), ..ReviewFilter::default() };
        self.change(Changes { reviews: vec![new], ..Changes::default() }).await;
        let reviews = self.store.reviews(filter).await.unwrap();
        reviews.into_iter().max_by_key(|review| review.id).expect("a stored review is listed")
    }

    /// Stores a job that must be new.
    pub async fn enqueue(&self, job: NewJob) -> JobId {
        match self.offer(job).await {
            Enqueued::New(id) => id,
            other => panic!("the job should have been new, not {other:?}"),
        }
    }

    /// Stores a job, or merges it.
    pub async fn offer(&self, job: NewJob) -> Enqueued {
        let results = self.store.enqueue(vec![job]).await.unwrap();
        assert_eq!(results.len(), 1, "one job gives one result");
        results[0]
    }

    /// Claims from every queue as `worker`.
    pub async fn claim(&self, max: usize) -> Vec<ClaimedJob> {
        self.claim_as("worker", max).await
    }

    pub async fn claim_as(&self, worker: &str, max: usize) -> Vec<ClaimedJob> {
        let request =
            ClaimRequest { worker: worker.into(), queues: None, submissions: None, max, lease: LEASE, counts: true };
        self.store.claim(request).await.unwrap()
    }

    /// Claims the one job that should come next.
    pub async fn claim_one(&self) -> ClaimedJob {
        self.claim(1).await.pop().expect("there is a job to claim, so a worker must be given it")
    }

    /// Claims the next group of suspects.
    pub async fn claim_suspects(&self, max: usize) -> Vec<ClaimedJob> {
        self.claim_suspects_as("worker", max).await
    }

    pub async fn claim_suspects_as(&self, worker: &str, max: usize) -> Vec<ClaimedJob> {
        let request =
            ClaimRequest { worker: worker.into(), queues: None, submissions: None, max, lease: LEASE, counts: true };
        self.store.claim_suspects(request).await.unwrap()
    }

    /// Claims the one suspect that should come next.
    pub async fn claim_suspect(&self) -> ClaimedJob {
        let group = self.claim_suspects(1).await;
        group.into_iter().next().expect("a suspect waits, so a worker must be given it")
    }

    /// Marks that the run of some suspects begins.
    pub async fn begin(&self, group: &[ClaimedJob]) {
        let leases: Vec<_> = group.iter().map(|claim| (claim.job.id, claim.token)).collect();
        assert_eq!(self.store.begin_suspects(leases).await.unwrap().len(), group.len(), "all of them are held");
    }

    /// Every worker stops answering, and its leases end. Returns how many jobs were given back.
    pub async fn lose_workers(&self) -> u64 {
        self.advance(LEASE.as_secs() + 1);
        self.store.sweep().await.unwrap().leases_expired
    }

    /// Asserts that no worker would be given anything now.
    pub async fn assert_nothing_to_claim(&self, why: &str) {
        let claims = self.claim(100).await;
        assert!(claims.is_empty(), "{why}, but these were claimed: {claims:#?}");
    }

    pub async fn commit(&self, commit: Commit) -> CommitResult {
        let mut results = self.store.commit(vec![commit]).await.unwrap();
        assert_eq!(results.len(), 1, "one commit gives one result");
        results.remove(0)
    }

    /// A commit that must be applied.
    pub async fn apply(&self, commit: Commit) -> Vec<JoinProgress> {
        match self.commit(commit).await {
            CommitResult::Applied { joins } => joins,
            CommitResult::Rejected(why) => panic!("the guard holds, so the work must be stored, but: {why}"),
        }
    }

    /// Changes without a condition.
    pub async fn change(&self, changes: Changes) -> Vec<JoinProgress> {
        self.apply(Commit::always(changes)).await
    }

    /// One step of one join, without a condition.
    pub async fn step(&self, join: JoinId, change: JoinChange) -> JoinProgress {
        let progress = self.change(Changes { join_steps: vec![JoinStep { join, change }], ..Changes::default() }).await;
        progress_of(&progress, join)
    }

    /// Ends a claimed job, with nothing else.
    pub async fn end(&self, claim: &ClaimedJob, end: JobEnd) {
        self.apply(ending(claim, end, Changes::default())).await;
    }

    /// Ends a claimed job as done, with nothing else.
    pub async fn done(&self, claim: &ClaimedJob) {
        self.end(claim, JobEnd::Done).await;
    }

    /// Ends a claimed job as a worker does that succeeded: outcome, and arrival at its join.
    pub async fn finish(&self, claim: &ClaimedJob) -> Vec<JoinProgress> {
        let changes = Changes {
            outcomes: vec![self.outcome(&claim.job, OutcomeStatus::Completed)],
            join_steps: claim.job.join.map(arrive).into_iter().collect(),
            ..Changes::default()
        };
        self.apply(ending(claim, JobEnd::Done, changes)).await
    }

    /// Ends a claimed job as a worker does that gave up: failed outcome, and failed arrival at its join.
    pub async fn fail(&self, claim: &ClaimedJob) -> Vec<JoinProgress> {
        let changes = Changes {
            outcomes: vec![self.outcome(&claim.job, OutcomeStatus::Failed)],
            join_steps: claim.job.join.map(arrive_failed).into_iter().collect(),
            ..Changes::default()
        };
        let end = JobEnd::Dead { error: error("Broken", ErrorClass::Reject), resume: None };
        self.apply(ending(claim, end, changes)).await
    }

    // ---- reading ---------------------------------------------------------------------------------------------------

    pub async fn view(&self, id: JobId) -> Option<JobView> {
        self.store.job(id).await.unwrap()
    }

    /// A job that must still be there.
    pub async fn stored(&self, id: JobId) -> Job {
        self.view(id).await.unwrap_or_else(|| panic!("{id} should still be there")).job
    }

    pub async fn join_now(&self, id: JoinId) -> Join {
        self.store.join(id).await.unwrap().unwrap_or_else(|| panic!("{id} should be there"))
    }

    pub async fn submission_now(&self, id: SubmissionId) -> Submission {
        self.store.submission(id).await.unwrap().unwrap_or_else(|| panic!("{id} should be there"))
    }

    /// Every job, in the order of ids.
    pub async fn jobs(&self, filter: JobFilter) -> Vec<Job> {
        let mut jobs: Vec<_> = self.store.jobs(filter).await.unwrap().into_iter().map(|view| view.job).collect();
        jobs.sort_by_key(|job| job.id);
        jobs
    }

    /// The jobs of one queue, in the order of ids.
    pub async fn jobs_on(&self, queue: &str) -> Vec<Job> {
        self.jobs(JobFilter { queue: Some(queue.into()), ..JobFilter::default() }).await
    }

    /// The whole event log.
    pub async fn events(&self) -> Vec<Event> {
        self.store.read_events(EventSeq::START, EventFilter::default(), 10_000).await.unwrap()
    }

    /// How many events of a kind are in the log.
    pub async fn count_events(&self, kind: &str) -> usize {
        self.events().await.iter().filter(|event| event.kind == kind).count()
    }

    /// Whether the kept counters say what a recount says.
    pub async fn assert_progress_is_true(&self, submission: SubmissionId, when: &str) {
        let mut counted: BTreeMap<Name, [u64; 4]> = BTreeMap::new();
        for outcome in self.store.outcomes(submission, None).await.unwrap() {
            let place = OutcomeStatus::ALL.iter().position(|status| *status == outcome.status).unwrap();
            counted.entry(outcome.stage).or_default()[place] += 1;
        }
        let kept = self.store.stage_counts(submission).await.unwrap().into_iter().map(|row| {
            let counts = row.counts;
            (row.stage, [counts.completed, counts.failed, counts.skipped, counts.review])
        });
        let kept: BTreeMap<Name, [u64; 4]> = kept.filter(|(_, counts)| *counts != [0; 4]).collect();
        assert_eq!(kept, counted, "completed, failed, skipped and review of {submission} {when}");
        let items = self.store.items(submission, ItemFilter::default()).await.unwrap();
        let of = |kind| items.iter().filter(|item| item.kind == kind).count() as u64;
        let counted =
            ItemCounts { files: of(ItemKind::File), pages: of(ItemKind::Page), documents: of(ItemKind::Document) };
        assert_eq!(self.store.item_counts(submission).await.unwrap(), counted, "the items of {submission} {when}");
    }

    pub async fn snapshot(&self, submission: SubmissionId) -> Snapshot {
        let store = &self.store;
        let mut artifacts = store.artifacts(submission, None, 1_000).await.unwrap();
        artifacts.sort_by(|a, b| a.key.cmp(&b.key));
        let by_submission = ReviewFilter { submission: Some(submission), ..ReviewFilter::default() };
        let mut reviews = store.reviews(by_submission).await.unwrap();
        reviews.sort_by_key(|review| review.id);
        let by_submission = JobFilter { submission: Some(submission), ..JobFilter::default() };
        let mut jobs = store.jobs(by_submission).await.unwrap();
        jobs.sort_by_key(|view| view.job.id);
        let mut joins = store.joins(submission, JoinFilter::default()).await.unwrap();
        joins.sort_by_key(|join| join.id);
        Snapshot {
            submission: store.submission(submission).await.unwrap(),
            items: store.items(submission, ItemFilter::default()).await.unwrap(),
            artifacts,
            outcomes: store.outcomes(submission, None).await.unwrap(),
            reviews,
            jobs,
            joins,
            events: self.events().await,
        }
    }
}

// ---- words ---------------------------------------------------------------------------------------------------------

/// The end of a claimed job, with what follows from it.
pub fn ending(claim: &ClaimedJob, end: JobEnd, changes: Changes) -> Commit {
    Commit { guard: Guard::Claim { job: claim.job.id, token: claim.token, end }, changes }
}

pub fn arrive(join: JoinId) -> JoinStep {
    JoinStep { join, change: JoinChange::Arrive(Arrival::Completed) }
}

pub fn arrive_failed(join: JoinId) -> JoinStep {
    JoinStep { join, change: JoinChange::Arrive(Arrival::Failed) }
}

/// An error whose message contains its kind.
pub fn error(kind: &str, class: ErrorClass) -> ErrorRecord {
    ErrorRecord { class, kind: kind.to_owned(), message: format!("the work met {kind}"), step: None }
}

pub fn text(payload: &str) -> Payload {
    Payload::Inline(format!("{payload:?}"))
}

/// An event of a kind with nothing to say.
pub fn event(kind: &str, submission: Option<SubmissionId>) -> NewEvent {
    NewEvent::new(kind, submission, "{}".to_owned())
}

pub fn names(names: &[&str]) -> Vec<Name> {
    names.iter().map(|name| Name::from(*name)).collect()
}

/// The ids of the claimed jobs, in their own order: the order inside a batch is nobody's business.
pub fn ids(claims: &[ClaimedJob]) -> Vec<JobId> {
    let mut ids: Vec<_> = claims.iter().map(|claim| claim.job.id).collect();
    ids.sort_unstable();
    ids
}

/// How a join stood after the one step that a commit did to it.
pub fn progress_of(progress: &[JoinProgress], join: JoinId) -> JoinProgress {
    let mut steps = progress.iter().filter(|progress| progress.join == join);
    let found = *steps.next().unwrap_or_else(|| panic!("the commit stepped {join}, so it reports how it stands"));
    assert!(steps.next().is_none(), "one step of {join} is reported once: {progress:?}");
    found
}

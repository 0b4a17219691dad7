//! Random sequences of operations, run on a store and on the [`Model`]; after each, both must look the same.
//!
//! What the traits leave open is not done: a join that is told to expect less than has arrived, the repair of a part whose
//! join has closed or whose key is in use again, a report while its overdue job is being decided about, the cancelling of
//! a job that was enqueued again while it ran. The suite's other files say what must hold there.

use super::{
    fixture::{Fixture, error, event, progress_of, text},
    model::{ClaimKey, JobKey, Model, ModelJob, Offered, Work},
    ops::{EndKind, EndSpec, JobKind, JobSpec, JoinSpec, Op},
};
use bindery_core::{
    JobId, JoinId, Name, SubmissionId,
    error::ErrorClass,
    event::NewEvent,
    job::{ClaimedJob, Job, JobState, Limit, NewJob, Token},
    join::{Arrival, JoinChange, JoinStep, NewJoin},
    outcome::{Outcome, OutcomeStatus},
};
use bindery_store::{
    Changes, Commit, CommitResult, Guard, JobEnd,
    commit::Enqueued,
    query::{ClaimRequest, JobFilter, JoinFilter},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

// Times end in half a second and the clock moves by whole ones: nothing falls due exactly now.
const LEASE: Duration = Duration::from_millis(10_500);
const BACK_OFF: Duration = Duration::from_millis(5_500);
const REPORT: Duration = Duration::from_millis(20_500);
const DELAY: Duration = Duration::from_millis(4_500);
const QUEUES: [&str; 2] = ["q0", "q1"];

/// Runs the operations on the store and on a model of it, and compares what both show after each.
pub async fn check_against_model(fixture: &Fixture, ops: &[Op]) {
    let submissions = [fixture.submission().await, fixture.submission().await];
    let model = Model::new(fixture.now());
    let mut pair =
        Pair { fixture, model, submissions, jobs: BTreeMap::new(), claims: Vec::new(), tokens: BTreeSet::new() };
    for (n, op) in ops.iter().enumerate() {
        pair.run(op).await;
        pair.compare(&format!("after operation {n}, {op:?}")).await;
    }
}

struct Pair<'f> {
    fixture: &'f Fixture,
    model: Model,
    submissions: [SubmissionId; 2],
    jobs: BTreeMap<JobKey, JobId>,
    claims: Vec<(JobId, Token)>,
    tokens: BTreeSet<(JobId, Token)>,
}

fn choose<T: Copy>(from: &[T], n: u8) -> Option<T> {
    (!from.is_empty()).then(|| from[n as usize % from.len()])
}

fn queue_name(n: u8) -> Name {
    QUEUES[n as usize % QUEUES.len()].into()
}

impl Pair<'_> {
    /// The newest claims are chosen most often; many are stale.
    fn recent_claim(&self, n: u8) -> Option<ClaimKey> {
        self.claims.len().checked_sub(1 + n as usize)
    }

    fn joins_of(&self, submission: SubmissionId) -> Vec<JoinId> {
        self.model.joins.iter().filter(|(_, join)| join.submission == submission).map(|(id, _)| *id).collect()
    }

    /// A step that keeps the join in the states that the traits speak of.
    fn is_sound(&self, step: JoinStep) -> bool {
        let mut join = self.model.joins[&step.join].clone();
        join.change(step.change);
        self.model.joins[&step.join].closed || (join.expected >= 0 && (!join.declared || join.arrived <= join.expected))
    }

    fn new_job(&self, spec: &JobSpec) -> Option<NewJob> {
        let submission = self.submissions[spec.queue as usize % 2];
        let plain = NewJob {
            payload: text(&format!("payload {}", spec.payload)),
            priority: spec.priority,
            not_before: spec.later.then(|| self.model.now + DELAY),
            processor: format!("p{}", spec.processor).into(),
            stage: "work".into(),
            ..self.fixture.job(&queue_name(spec.queue), submission)
        };
        let join = spec.join.and_then(|n| choose(&self.joins_of(submission), n));
        match spec.how {
            JobKind::Plain => Some(NewJob { join, ..plain }),
            JobKind::Limited => {
                let limit = Some(Limit { key: "few".into(), running: Some(2), per_minute: None });
                Some(NewJob { join, limit, ..plain })
            }
            JobKind::Keyed(key) => {
                let dedup_key = format!("key {key}");
                let runs = self.model.live_with_key(&dedup_key).is_some_and(|(_, job)| job.state == JobState::Running);
                Some(NewJob {
                    queue: queue_name(key),
                    submission: self.submissions[key as usize % 2],
                    processor: format!("p{}", key % 3).into(),
                    dedup_key: Some(dedup_key),
                    not_before: plain.not_before.filter(|_| !runs),
                    ..plain
                })
            }
            JobKind::Outside => {
                let dedup_key = format!("outside {}", spec.processor);
                let free = self.model.live_with_key(&dedup_key).is_none();
                free.then(|| NewJob {
                    submission: self.submissions[0],
                    stage: "outside".into(),
                    dedup_key: Some(dedup_key),
                    not_before: None,
                    await_report_ms: Some(REPORT.as_millis() as i64),
                    ..plain
                })
            }
        }
    }

    async fn run(&mut self, op: &Op) {
        let store = &self.fixture.store;
        match op {
            Op::Enqueue(specs) => self.enqueue(specs).await,
            Op::Claim { queue, submission, max } => self.claim(queue.map(queue_name), *submission, *max).await,
            Op::ClaimSuspects { queue, submission, max } => {
                self.claim_suspects(queue.map(queue_name), *submission, *max).await;
            }
            Op::Begin(claims) => self.begin(claims).await,
            Op::Commit(specs) => self.commit(specs).await,
            Op::Report { processor, event } => self.report(*processor, *event).await,
            Op::LateReport { submission, processor } => self.late_report(*submission, *processor).await,
            Op::Heartbeat(claims) => self.heartbeat(claims).await,
            Op::Release(claims) => self.release(claims).await,
            Op::Sweep => self.sweep().await,
            Op::Advance { seconds } => {
                self.fixture.advance(*seconds);
                self.model.now = self.fixture.now();
            }
            Op::Retry(n) => self.retry(*n).await,
            Op::CancelJob(n) => self.cancel_job(*n).await,
            Op::Unpark(n) => {
                let until = format!("dependency {n}");
                assert_eq!(store.unpark(&until).await.unwrap(), self.model.unpark(&until), "unparked jobs");
            }
            Op::Pause(n) => {
                let queue = queue_name(*n);
                assert_eq!(store.pause(&queue, None).await.unwrap(), self.model.paused.insert(queue), "was it paused?");
            }
            Op::Resume(n) => {
                let queue = queue_name(*n);
                assert_eq!(store.resume(&queue).await.unwrap(), self.model.paused.remove(&queue), "was it resumed?");
            }
        }
    }

    async fn enqueue(&mut self, specs: &[JobSpec]) {
        let mut jobs = Vec::new();
        let mut offered = Vec::new();
        for spec in specs {
            if let Some(job) = self.new_job(spec) {
                offered.push(self.model.enqueue(job.clone()));
                jobs.push(job);
            }
        }
        let enqueued = self.fixture.store.enqueue(jobs).await.unwrap();
        assert_eq!(enqueued.len(), offered.len(), "one result for each job");
        for (offered, enqueued) in offered.into_iter().zip(enqueued) {
            match (offered, enqueued) {
                (Offered::New(key), Enqueued::New(id)) => assert_eq!(self.jobs.insert(key, id), None),
                (Offered::Merged(key), Enqueued::Merged(id))
                | (Offered::MarkedDirty(key), Enqueued::MarkedDirty(id)) => {
                    assert_eq!(self.jobs[&key], id, "merged into another job");
                }
                other => panic!("the model and the store disagree about an enqueued job: {other:?}"),
            }
        }
    }

    async fn claim(&mut self, queue: Option<Name>, submission: Option<u8>, max: usize) {
        let submission = submission.map(|n| self.submissions[n as usize % 2]);
        let expected = self.model.claim(queue.as_ref(), submission, max, LEASE);
        let claimed = self.fixture.store.claim(request(queue, submission, max)).await.unwrap();
        self.compare_claims(&expected, claimed);
    }

    async fn claim_suspects(&mut self, queue: Option<Name>, submission: Option<u8>, max: usize) {
        let submission = submission.map(|n| self.submissions[n as usize % 2]);
        let expected = self.model.claim_suspects(queue.as_ref(), submission, max, LEASE);
        let claimed = self.fixture.store.claim_suspects(request(queue, submission, max)).await.unwrap();
        self.compare_claims(&expected, claimed);
    }

    async fn begin(&mut self, claims: &[u8]) {
        let claims: BTreeSet<ClaimKey> = claims.iter().filter_map(|n| self.recent_claim(*n)).collect();
        let leases: Vec<_> = claims.iter().map(|claim| self.claims[*claim]).collect();
        let expected: BTreeSet<JobId> = claims
            .iter()
            .filter(|claim| self.model.begin(**claim, leases.len() as i64))
            .map(|claim| self.claims[*claim].0)
            .collect();
        let begun = self.fixture.store.begin_suspects(leases).await.unwrap();
        assert_eq!(begun.into_iter().collect::<BTreeSet<_>>(), expected, "suspects that begin");
    }

    fn compare_claims(&mut self, expected: &[(JobKey, ClaimKey)], mut claimed: Vec<ClaimedJob>) {
        for (key, claim) in expected {
            let (job, id) = (&self.model.jobs[key], self.jobs[key]);
            let place = claimed.iter().position(|claimed| claimed.job.id == id);
            let place = place.unwrap_or_else(|| panic!("{id} should have been claimed: {claimed:#?}"));
            let claimed = claimed.swap_remove(place);
            let seen = (claimed.job.attempt, &claimed.job.payload, claimed.report_overdue);
            assert_eq!(seen, (job.shown_attempt(), &job.job.payload, job.overdue), "the claim of {id}");
            assert!(self.tokens.insert((id, claimed.token)), "a job was given the same token twice");
            assert_eq!(self.claims.len(), *claim);
            self.claims.push((id, claimed.token));
        }
        assert!(claimed.is_empty(), "these should not have been claimed: {claimed:#?}");
    }

    async fn commit(&mut self, specs: &[EndSpec]) {
        let mut commits = Vec::new();
        let mut expected = Vec::new();
        for spec in specs {
            let Some(claim) = self.recent_claim(spec.claim) else { continue };
            let (end, changes) = self.ending(claim, spec).await;
            expected.push(self.model.end(claim, &end, &changes));
            let (job, token) = self.claims[claim];
            commits.push(Commit { guard: Guard::Claim { job, token, end }, changes });
        }
        let steps: Vec<Vec<JoinStep>> = commits.iter().map(|commit| commit.changes.join_steps.clone()).collect();
        let results = self.fixture.store.commit(commits).await.unwrap();
        assert_eq!(results.len(), expected.len(), "one result for each commit");
        for ((result, expected), steps) in results.iter().zip(&expected).zip(&steps) {
            assert_same_result(result, expected, steps);
        }
    }

    /// What a worker would commit: the end is made one that the traits speak of, and arrivals belong to the job.
    async fn ending(&self, claim: ClaimKey, spec: &EndSpec) -> (JobEnd, Changes) {
        let holder = self.model.holder(claim).map(|(_, job)| job.clone());
        let own_join = holder.as_ref().and_then(|job| job.job.join);
        let own_step = |arrival| own_join.map(|join| JoinStep { join, change: JoinChange::Arrive(arrival) });
        let may_fail = own_step(Arrival::Failed).is_none_or(|step| self.is_sound(step));
        let overdue = holder.as_ref().is_some_and(|job| job.overdue);
        let kind = match spec.end {
            EndKind::Retry | EndKind::Park { .. } if overdue => EndKind::Await,
            EndKind::Dead if !may_fail => EndKind::Done,
            kind => kind,
        };
        let mut changes = Changes::default();
        let work = holder.as_ref().map_or_else(|| (self.submissions[0], "work".into(), "p0".into()), ModelJob::work);
        if let EndKind::Dead = kind {
            changes.outcomes.push(self.outcome(&work, OutcomeStatus::Failed, "gave up"));
            changes.join_steps.extend(own_step(Arrival::Failed));
        } else if let Some(output) = spec.output {
            changes.outcomes.push(self.outcome(&work, OutcomeStatus::Completed, &format!("output {output}")));
        }
        if let (EndKind::Done, true) = (kind, spec.arrive) {
            changes.join_steps.extend(own_step(Arrival::Completed).filter(|step| self.is_sound(*step)));
        }
        if let Some((n, change)) = spec.step {
            let all: Vec<JoinId> = self.model.joins.keys().copied().filter(|join| Some(*join) != own_join).collect();
            let step = choose(&all, n).map(|join| JoinStep { join, change });
            changes.join_steps.extend(step.filter(|step| self.is_sound(*step)));
        }
        if let Some(id) = spec.event {
            changes.events.push(numbered_event("Committed", id));
        }
        // Work under a key that runs now is left to `enqueue`: the running job may be the one that ends here.
        let runs = |key: &str| self.model.live_with_key(key).is_some_and(|(_, job)| job.state == JobState::Running);
        let follows = spec.job.as_ref().and_then(|spec| self.new_job(spec));
        changes.jobs.extend(follows.filter(|job| !job.dedup_key.as_deref().is_some_and(runs)));
        if let Some(spec) = spec.join {
            changes.joins.push(self.new_join(spec).await);
        }
        (self.end(kind), changes)
    }

    fn end(&self, kind: EndKind) -> JobEnd {
        let now = self.model.now;
        match kind {
            EndKind::Done => JobEnd::Done,
            EndKind::Retry => {
                JobEnd::Retry { after: BACK_OFF, error: error("Timeout", ErrorClass::Retry), resume: None }
            }
            EndKind::Park { until, timed } => JobEnd::Park {
                until: format!("dependency {until}"),
                after: timed.then_some(BACK_OFF),
                error: error("Unavailable", ErrorClass::Park),
                resume: None,
            },
            EndKind::Dead => JobEnd::Dead { error: error("Broken", ErrorClass::Reject), resume: None },
            EndKind::Continue => JobEnd::Continue { cursor: now.as_millis() % 1_000_000 },
            EndKind::Hold { has_advanced } => JobEnd::Hold { has_advanced },
            EndKind::Await => JobEnd::Await { within: REPORT, error: None },
        }
    }

    async fn new_join(&self, spec: JoinSpec) -> NewJoin {
        let submission = self.submissions[spec.submission as usize % 2];
        let outer = spec.outer.and_then(|n| choose(&self.joins_of(submission), n));
        let mut new = self.fixture.new_join(submission, spec.expected.unwrap_or(0), QUEUES[0]).await;
        new.declared = spec.expected.is_some();
        new.outer = outer;
        new.on_close.join = outer;
        new.on_close.stage = "close".into();
        new
    }

    fn outcome(&self, work: &Work, status: OutcomeStatus, output: &str) -> Outcome {
        Outcome {
            submission: work.0,
            item: None,
            stage: work.1.clone(),
            processor: work.2.clone(),
            status,
            output: text(output),
            confidence: None,
            error: None,
            resume: None,
            input_hash: None,
            processor_version: 1,
            attempts: 1,
            cost_micros: 0,
            finished_at: self.model.now,
            reuse: None,
        }
    }

    async fn report(&mut self, processor: u8, event: Option<u8>) {
        let work: Work = (self.submissions[0], "outside".into(), format!("p{processor}").into());
        if self.model.jobs.values().any(|job| job.work() == work && job.overdue && job.state.is_live()) {
            return;
        }
        let changes = Changes {
            outcomes: vec![self.outcome(&work, OutcomeStatus::Completed, "reported")],
            events: vec![numbered_event("Reported", event)],
            ..Changes::default()
        };
        let expected = self.model.report(&work, &changes);
        let (submission, stage, processor) = work;
        let guard = Guard::Report { submission, item: None, stage, processor };
        assert_same_result(&self.fixture.commit(Commit { guard, changes }).await, &expected, &[]);
    }

    async fn late_report(&mut self, submission: u8, processor: u8) {
        let submission = self.submissions[submission as usize % 2];
        let work: Work = (submission, "work".into(), format!("p{processor}").into());
        if self.model.jobs.values().any(|job| job.work() == work && job.state == JobState::Dead) {
            return;
        }
        let outcomes = vec![self.outcome(&work, OutcomeStatus::Completed, "late")];
        let changes = Changes { outcomes, ..Changes::default() };
        let expected = self.model.late_report(&work, &changes);
        let (submission, stage, processor) = work;
        let guard = Guard::LateReport { submission, item: None, stage, processor };
        assert_same_result(&self.fixture.commit(Commit { guard, changes }).await, &expected, &[]);
    }

    async fn heartbeat(&mut self, claims: &[u8]) {
        let claims: BTreeSet<ClaimKey> = claims.iter().filter_map(|n| self.recent_claim(*n)).collect();
        let leases = claims.iter().map(|claim| self.claims[*claim]).collect();
        let mut expected = BTreeSet::new();
        for claim in claims {
            if !self.model.heartbeat(claim, LEASE) {
                expected.insert(self.claims[claim].0);
            }
        }
        let lost = self.fixture.store.heartbeat(&"worker".into(), leases, LEASE, 0).await.unwrap();
        assert_eq!(lost.into_iter().collect::<BTreeSet<_>>(), expected, "lost leases");
    }

    async fn release(&mut self, claims: &[u8]) {
        let claims: BTreeSet<ClaimKey> = claims.iter().filter_map(|n| self.recent_claim(*n)).collect();
        let mut leases = Vec::new();
        for claim in claims {
            self.model.release(claim);
            leases.push(self.claims[claim]);
        }
        self.fixture.store.release(leases).await.unwrap();
    }

    async fn sweep(&mut self) {
        assert_eq!(self.fixture.store.sweep().await.unwrap(), self.model.sweep(), "what a sweep found");
    }

    /// Any job that there ever was.
    fn any_job(&self, n: u8) -> Option<(JobKey, JobId)> {
        let all: Vec<_> = self.jobs.iter().map(|(key, id)| (*key, *id)).collect();
        choose(&all, n)
    }

    /// Mostly a job that can be retried, sometimes any other.
    fn job_to_retry(&self, n: u8) -> Option<(JobKey, JobId)> {
        let stopped = |job: &ModelJob| matches!(job.state, JobState::Dead | JobState::Parked | JobState::Scheduled);
        let all = self.model.jobs.iter().filter(|(_, job)| stopped(job)).map(|(key, _)| (*key, self.jobs[key]));
        if n.is_multiple_of(4) { self.any_job(n / 4) } else { choose(&all.collect::<Vec<_>>(), n / 4) }
    }

    async fn retry(&mut self, n: u8) {
        let Some((key, id)) = self.job_to_retry(n) else { return };
        if let Some(job) = self.model.jobs.get(&key) {
            let due = job.state == JobState::Scheduled && job.state_at(self.model.now) == JobState::Ready;
            let closed = job.job.join.is_some_and(|join| self.model.joins[&join].closed);
            let dead = job.state == JobState::Dead;
            let holder = job.job.dedup_key.as_deref().and_then(|key| self.model.live_with_key(key));
            let outside = job.job.await_report_ms.is_some() || job.overdue;
            if due || (dead && (closed || holder.is_some() || outside)) {
                return;
            }
        }
        let expected = self.model.retry(key);
        let retried = self.fixture.store.retry(JobFilter { ids: vec![id], ..JobFilter::default() }).await.unwrap();
        assert_eq!((retried.jobs, retried.reopened), (u64::from(expected), 0), "the retry of {id}");
    }

    async fn cancel_job(&mut self, n: u8) {
        let Some((key, id)) = self.any_job(n) else { return };
        if let Some(job) = self.model.jobs.get(&key) {
            let change = JoinChange::Arrive(Arrival::Failed);
            let unsound = job.job.join.is_some_and(|join| !self.is_sound(JoinStep { join, change }));
            if job.dirty.is_some() || unsound {
                return;
            }
        }
        let expected = self.model.cancel_job(key);
        assert_eq!(self.fixture.store.cancel_job(id).await.unwrap(), expected, "was {id} cancelled?");
    }

    // ---- comparing -------------------------------------------------------------------------------------------------

    async fn compare(&mut self, when: &str) {
        self.compare_jobs(when).await;
        self.compare_joins(when).await;
        self.compare_outcomes(when).await;
        let kinds: Vec<_> = self.fixture.events().await.into_iter().map(|event| event.kind).collect();
        assert_eq!(kinds, self.model.events, "the event log {when}");
        self.compare_queues(when).await;
    }

    async fn compare_jobs(&mut self, when: &str) {
        let stored: BTreeMap<JobId, Job> =
            self.fixture.jobs(JobFilter::default()).await.into_iter().map(|job| (job.id, job)).collect();
        // Jobs that a commit or a closing join made are known by the order in which they were made.
        let known: BTreeSet<JobId> = self.jobs.values().copied().collect();
        let unknown_ids = stored.keys().copied().filter(|id| !known.contains(id));
        let unknown_keys: Vec<_> = self.model.jobs.keys().copied().filter(|key| !self.jobs.contains_key(key)).collect();
        self.jobs.extend(unknown_keys.into_iter().zip(unknown_ids));

        let there: BTreeSet<JobId> = stored.keys().copied().collect();
        let expected: BTreeSet<JobId> =
            self.model.jobs.keys().map(|key| self.jobs.get(key).copied().unwrap_or(JobId::from_raw(-1))).collect();
        assert_eq!(there, expected, "which jobs there are {when}\nmodel: {:#?}", self.model.jobs);
        for (key, model) in &self.model.jobs {
            let job = &stored[&self.jobs[key]];
            assert_same_job(job, model, self.model.now, when);
        }
    }

    async fn compare_joins(&self, when: &str) {
        let mut there = 0;
        for submission in self.submissions {
            there += self.fixture.store.joins(submission, JoinFilter::default()).await.unwrap().len();
        }
        assert_eq!(there, self.model.joins.len(), "the number of joins {when}");
        for (id, model) in &self.model.joins {
            let join = self.fixture.join_now(*id).await;
            assert_eq!(
                (join.expected, join.declared, join.arrived, join.failed, join.closed_at.is_some()),
                (model.expected, model.declared, model.arrived, model.failed, model.closed),
                "expected, declared, arrived, failed and closed of {id} {when}"
            );
        }
    }

    async fn compare_outcomes(&self, when: &str) {
        let mut there = BTreeMap::new();
        for submission in self.submissions {
            for outcome in self.fixture.store.outcomes(submission, None).await.unwrap() {
                let work = (submission, outcome.stage, outcome.processor);
                let output = self.model.outcomes.get(&work).and_then(|(_, output)| output.as_ref());
                let output = output.map(|_| outcome.output);
                assert_eq!(there.insert(work, (outcome.status, output)), None, "two results of one work {when}");
            }
        }
        assert_eq!(there, self.model.outcomes, "the outcomes {when}");
        for submission in self.submissions {
            self.fixture.assert_progress_is_true(submission, when).await;
        }
    }

    async fn compare_queues(&self, when: &str) {
        let views = self.fixture.store.queues().await.unwrap();
        for queue in QUEUES {
            let view = views.iter().find(|view| view.queue == queue);
            let count = |state| {
                let on_queue = self.model.jobs.values().filter(|job| job.job.queue == queue);
                on_queue.filter(|job| job.state_at(self.model.now) == state).count() as u64
            };
            let due = self.model.jobs.values().filter(|job| {
                job.job.queue == queue
                    && job.state != JobState::Ready
                    && job.state_at(self.model.now) == JobState::Ready
            });
            // A job whose time has come may be counted as scheduled until somebody moves it.
            let due = due.count() as u64;
            let (ready, scheduled) = (count(JobState::Ready), count(JobState::Scheduled));
            let seen = view.map_or((0, 0), |view| (view.ready, view.scheduled));
            assert_eq!(seen.0 + seen.1, ready + scheduled, "ready and scheduled on {queue} {when}");
            assert!(seen.0 <= ready && seen.0 + due >= ready, "{} ready on {queue}, not {ready}, {when}", seen.0);
            let seen = view
                .map_or((0, 0, 0, 0, false), |view| (view.running, view.parked, view.awaiting, view.dead, view.paused));
            let expected = (
                count(JobState::Running),
                count(JobState::Parked),
                count(JobState::Awaiting),
                count(JobState::Dead),
                self.model.paused.contains(queue),
            );
            assert_eq!(seen, expected, "running, parked, awaiting, dead and paused on {queue} {when}");
        }
    }
}

fn request(queue: Option<Name>, submission: Option<SubmissionId>, max: usize) -> ClaimRequest {
    let (queues, submissions) = (queue.map(|queue| vec![queue]), submission.map(|only| vec![only]));
    ClaimRequest { worker: "worker".into(), queues, submissions, max, lease: LEASE, counts: true }
}

fn numbered_event(kind: &str, id: Option<u8>) -> NewEvent {
    NewEvent { id: id.map(|id| format!("event {id}")), ..event(kind, None) }
}

fn assert_same_result(result: &CommitResult, expected: &CommitResult, steps: &[JoinStep]) {
    match (result, expected) {
        (CommitResult::Rejected(why), CommitResult::Rejected(expected)) => assert_eq!(why, expected),
        (CommitResult::Applied { joins }, CommitResult::Applied { joins: expected }) => {
            for step in steps {
                assert_eq!(progress_of(joins, step.join), progress_of(expected, step.join), "after {step:?}");
            }
        }
        _ => panic!("the store answered {result:?}, the model {expected:?}"),
    }
}

fn assert_same_job(job: &Job, model: &ModelJob, now: bindery_core::Timestamp, when: &str) {
    let state = match job.state {
        JobState::Scheduled if job.run_at.is_some_and(|at| at <= now) => JobState::Ready,
        state => state,
    };
    assert_eq!(
        (state, job.attempt, job.cursor, job.join, &job.queue, &job.dedup_key),
        (
            model.state_at(now),
            model.shown_attempt(),
            model.cursor,
            model.job.join,
            &model.job.queue,
            &model.job.dedup_key
        ),
        "state, attempt, cursor, join, queue and key of {} {when}",
        job.id
    );
    let blame = (model.held.suspect > 0, model.held.losses);
    assert_eq!((job.suspect, i64::from(job.losses)), blame, "suspicion and losses of {} {when}", job.id);
    // A running job may show what was enqueued meanwhile at once, or when it is run again.
    if model.dirty.is_none() {
        let expected = (model.job.priority, &model.job.payload);
        assert_eq!((job.priority, &job.payload), expected, "priority and payload of {} {when}", job.id);
    }
}

//! The queue, in memory and as simple as can be: what a store must look like from outside.
//!
//! It has ids of its own (the place in the order of creation) for jobs and claims; [`property`](super::property) maps
//! them to those of the store under test. What the traits leave open, the generator avoids; what they say, this does.

use bindery_core::{
    JoinId, Name, Payload, SubmissionId, Timestamp,
    event::{NewEvent, kind},
    job::{JobState, NewJob},
    join::{Arrival, JoinChange, JoinStep, NewJoin},
    outcome::OutcomeStatus,
};
use bindery_store::{Changes, CommitResult, JobEnd, JoinProgress, Rejection, query::Swept, suspects::LossRecord};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// A job's place in the order of creation.
pub type JobKey = usize;
/// A claim's place in the order of claims; plays the part of the token.
pub type ClaimKey = usize;
/// Submission, stage and processor: what an outcome is the outcome of (the model has no items).
pub type Work = (SubmissionId, Name, Name);

#[derive(Debug, Clone)]
pub struct ModelJob {
    /// As it was enqueued, with the payload and priority that it has now.
    pub job: NewJob,
    pub state: JobState,
    /// How many attempts have ended.
    pub attempt: u32,
    /// What it is suspected of.
    pub(crate) held: LossRecord,
    pub run_at: Option<Timestamp>,
    pub lease_until: Option<Timestamp>,
    pub claim: Option<ClaimKey>,
    pub cursor: i64,
    pub parked_until: Option<String>,
    /// Its report did not come in time, and nobody has decided about that yet.
    pub overdue: bool,
    /// What was enqueued under its key while it ran.
    pub dirty: Option<NewJob>,
}

#[derive(Debug, Clone)]
pub struct ModelJoin {
    pub submission: SubmissionId,
    pub expected: i64,
    pub declared: bool,
    pub arrived: i64,
    pub failed: i64,
    pub closed: bool,
    pub on_close: NewJob,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    New(JobKey),
    Merged(JobKey),
    MarkedDirty(JobKey),
}

/// Everything that the model knows.
#[derive(Debug, Clone)]
pub struct Model {
    pub now: Timestamp,
    pub jobs: BTreeMap<JobKey, ModelJob>,
    pub jobs_made: usize,
    pub claims_made: usize,
    pub joins: BTreeMap<JoinId, ModelJoin>,
    /// The output is none where the store wrote the outcome by itself.
    pub outcomes: BTreeMap<Work, (OutcomeStatus, Option<Payload>)>,
    pub events: Vec<Name>,
    event_ids: BTreeSet<String>,
    pub paused: BTreeSet<Name>,
}

impl ModelJob {
    pub fn work(&self) -> Work {
        (self.job.submission, self.job.stage.clone(), self.job.processor.clone())
    }

    /// The state that a claim at `now` would find.
    pub fn state_at(&self, now: Timestamp) -> JobState {
        match self.state {
            JobState::Scheduled if self.run_at.is_some_and(|at| at <= now) => JobState::Ready,
            state => state,
        }
    }

    /// The attempt under way comes on top of those that have ended.
    pub fn shown_attempt(&self) -> u32 {
        self.attempt + u32::from(self.state == JobState::Running)
    }

    /// What was enqueued while it ran takes the place of the older payload. One that was given up starts anew.
    fn take_newer(&mut self) {
        let Some(newer) = self.dirty.take() else { return };
        self.job.payload = newer.payload;
        self.job.priority = self.job.priority.max(newer.priority);
        self.cursor = 0;
        if self.state == JobState::Dead {
            self.state = JobState::Ready;
            self.attempt = 0;
            self.held = LossRecord::default();
        }
    }

    /// Nobody holds it, and nothing is asked of it.
    fn give_back(&mut self, state: JobState) {
        self.state = state;
        self.claim = None;
        self.lease_until = None;
        self.run_at = None;
    }
}

impl Model {
    pub fn new(now: Timestamp) -> Self {
        Self {
            now,
            jobs: BTreeMap::new(),
            jobs_made: 0,
            claims_made: 0,
            joins: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            events: Vec::new(),
            event_ids: BTreeSet::new(),
            paused: BTreeSet::new(),
        }
    }

    pub fn live_with_key(&self, key: &str) -> Option<(JobKey, &ModelJob)> {
        let holds = |job: &ModelJob| job.state.is_live() && job.job.dedup_key.as_deref() == Some(key);
        self.jobs.iter().find(|(_, job)| holds(job)).map(|(key, job)| (*key, job))
    }

    pub fn holder(&self, claim: ClaimKey) -> Option<(JobKey, &ModelJob)> {
        self.jobs.iter().find(|(_, job)| job.claim == Some(claim)).map(|(key, job)| (*key, job))
    }

    pub fn enqueue(&mut self, new: NewJob) -> Offered {
        let holder = new.dedup_key.as_deref().and_then(|key| self.live_with_key(key)).map(|(key, _)| key);
        let Some(key) = holder else {
            let key = self.jobs_made;
            self.jobs_made += 1;
            self.jobs.insert(key, self.fresh(new));
            return Offered::New(key);
        };
        let now = self.now;
        let job = self.jobs.get_mut(&key).expect("the holder is there");
        if job.state == JobState::Running {
            let before = job.dirty.take().map_or(job.job.priority, |dirty| dirty.priority);
            job.dirty = Some(NewJob { priority: before.max(new.priority), ..new });
            return Offered::MarkedDirty(key);
        }
        job.job.payload = new.payload;
        job.job.priority = job.job.priority.max(new.priority);
        if matches!(job.state, JobState::Ready | JobState::Scheduled) {
            let later = new.not_before.filter(|at| *at > now);
            job.run_at = later.and_then(|at| job.run_at.map(|known| known.min(at)));
            job.state = if job.run_at.is_some() { JobState::Scheduled } else { JobState::Ready };
        }
        Offered::Merged(key)
    }

    fn fresh(&self, new: NewJob) -> ModelJob {
        let later = new.not_before.filter(|at| *at > self.now);
        let report = new.await_report_ms.map(|ms| self.now + Duration::from_millis(ms as u64));
        let state = match (report, later) {
            (Some(_), _) => JobState::Awaiting,
            (None, Some(_)) => JobState::Scheduled,
            (None, None) => JobState::Ready,
        };
        ModelJob {
            job: new,
            state,
            attempt: 0,
            held: LossRecord::default(),
            run_at: later,
            lease_until: report,
            claim: None,
            cursor: 0,
            parked_until: None,
            overdue: false,
            dirty: None,
        }
    }

    /// Job and claim of each, in the order of urgency.
    pub fn claim(
        &mut self,
        queue: Option<&Name>,
        submission: Option<SubmissionId>,
        max: usize,
        lease: Duration,
    ) -> Vec<(JobKey, ClaimKey)> {
        let mut order: Vec<_> = self.jobs.iter().map(|(key, job)| (Reverse(job.job.priority), *key)).collect();
        order.sort_unstable();
        let mut claimed = Vec::new();
        for (_, key) in order {
            let job = &self.jobs[&key];
            let meant = queue.is_none_or(|queue| *queue == job.job.queue)
                && submission.is_none_or(|submission| submission == job.job.submission)
                && !self.paused.contains(&job.job.queue);
            let ready = job.state_at(self.now) == JobState::Ready && job.held.suspect == 0;
            if claimed.len() == max || !meant || !ready || self.is_limited(job) {
                continue;
            }
            claimed.push((key, self.take(key, lease)));
        }
        claimed
    }

    fn take(&mut self, key: JobKey, lease: Duration) -> ClaimKey {
        let claim = self.claims_made;
        self.claims_made += 1;
        let job = self.jobs.get_mut(&key).expect("it was just seen");
        job.state = JobState::Running;
        job.run_at = None;
        job.claim = Some(claim);
        job.lease_until = Some(self.now + lease);
        claim
    }

    /// The next group of suspects.
    pub fn claim_suspects(
        &mut self,
        queue: Option<&Name>,
        submission: Option<SubmissionId>,
        max: usize,
        lease: Duration,
    ) -> Vec<(JobKey, ClaimKey)> {
        let now = self.now;
        let waits = |job: &ModelJob| job.state_at(now) == JobState::Ready && job.held.suspect > 0;
        let suspects = self.jobs.iter().filter(|(_, job)| waits(job));
        let mut order: Vec<_> =
            suspects.map(|(key, job)| ((job.held.losses, Reverse(job.held.suspect)), *key)).collect();
        order.sort_unstable();
        let mut group = None;
        let mut claimed: Vec<(JobKey, ClaimKey)> = Vec::new();
        for (rank @ (_, Reverse(size)), key) in order {
            if claimed.len() == max || group.is_some_and(|group| group != rank || claimed.len() as i64 == size) {
                break;
            }
            let job = &self.jobs[&key];
            let meant = queue.is_none_or(|queue| *queue == job.job.queue)
                && submission.is_none_or(|submission| submission == job.job.submission)
                && !self.paused.contains(&job.job.queue);
            if meant && !self.is_limited(job) {
                group = Some(rank);
                claimed.push((key, self.take(key, lease)));
            }
        }
        claimed
    }

    /// A suspect begins to run with so many. True if the claim was held.
    pub fn begin(&mut self, claim: ClaimKey, with: i64) -> bool {
        let held = self.jobs.values_mut().find(|job| job.claim == Some(claim) && job.held.suspect > 0);
        held.map(|job| job.held.begun_with = with).is_some()
    }

    fn is_limited(&self, job: &ModelJob) -> bool {
        let Some(limit) = &job.job.limit else { return false };
        let shares = |other: &&ModelJob| other.job.limit.as_ref().is_some_and(|other| other.key == limit.key);
        let running = self.jobs.values().filter(shares).filter(|other| other.state == JobState::Running).count();
        limit.running.is_some_and(|most| running >= most as usize)
    }

    /// True if the claim was held.
    pub fn heartbeat(&mut self, claim: ClaimKey, lease: Duration) -> bool {
        let until = self.now + lease;
        let held = self.jobs.values_mut().find(|job| job.claim == Some(claim));
        held.map(|job| job.lease_until = Some(until)).is_some()
    }

    pub fn release(&mut self, claim: ClaimKey) {
        if let Some(job) = self.jobs.values_mut().find(|job| job.claim == Some(claim)) {
            job.give_back(JobState::Ready);
            job.held.begun_with = 0;
            job.take_newer();
        }
    }

    /// A commit under a claim.
    pub fn end(&mut self, claim: ClaimKey, end: &JobEnd, changes: &Changes) -> CommitResult {
        let Some((key, _)) = self.holder(claim) else {
            return CommitResult::Rejected(Rejection::LeaseLost);
        };
        let mut job = self.jobs.remove(&key).expect("the holder is there");
        if matches!(end, JobEnd::Continue { cursor } if *cursor <= job.cursor) {
            self.jobs.insert(key, job);
            return CommitResult::Rejected(Rejection::LeaseLost);
        }
        match end {
            JobEnd::Done => {
                if let Some(dirty) = job.dirty.take() {
                    let priority = job.job.priority.max(dirty.priority);
                    job = self.fresh(NewJob { payload: dirty.payload, priority, not_before: None, ..job.job });
                    self.jobs.insert(key, job);
                }
            }
            JobEnd::Continue { cursor } => {
                job.cursor = *cursor;
                job.held.losses = 0;
                self.jobs.insert(key, job);
            }
            JobEnd::Retry { after, .. } => {
                job.give_back(JobState::Scheduled);
                job.attempt += 1;
                job.run_at = Some(self.now + *after);
                self.jobs.insert(key, job);
            }
            JobEnd::Hold { has_advanced } => {
                if *has_advanced {
                    job.attempt = 0;
                    job.held.losses = 0;
                }
                self.jobs.insert(key, job);
            }
            JobEnd::Park { until, after, .. } => {
                job.give_back(JobState::Parked);
                job.run_at = after.map(|after| self.now + after);
                job.parked_until = Some(until.clone());
                self.jobs.insert(key, job);
            }
            JobEnd::Dead { .. } => {
                job.give_back(JobState::Dead);
                job.attempt += 1;
                self.jobs.insert(key, job);
            }
            JobEnd::Await { within, .. } => {
                job.give_back(JobState::Awaiting);
                job.attempt += 1;
                job.lease_until = Some(self.now + *within);
                job.overdue = false;
                self.jobs.insert(key, job);
            }
        }
        if let Some(job) = self.jobs.get_mut(&key).filter(|job| job.claim.is_none()) {
            if job.held.begun_with > 0 {
                job.held = LossRecord::default();
            }
            job.take_newer();
        }
        CommitResult::Applied { joins: self.apply(changes) }
    }

    /// A commit under a report.
    pub fn report(&mut self, work: &Work, changes: &Changes) -> CommitResult {
        let waits = |job: &ModelJob| job.state == JobState::Awaiting && job.work() == *work;
        let Some(key) = self.jobs.iter().find(|(_, job)| waits(job)).map(|(key, _)| *key) else {
            return CommitResult::Rejected(Rejection::NotAwaited);
        };
        self.jobs.remove(&key);
        CommitResult::Applied { joins: self.apply(changes) }
    }

    /// A commit under a late report.
    pub fn late_report(&mut self, work: &Work, changes: &Changes) -> CommitResult {
        if self.outcomes.get(work).is_none_or(|(status, _)| *status != OutcomeStatus::Failed) {
            return CommitResult::Rejected(Rejection::NotFailed);
        }
        CommitResult::Applied { joins: self.apply(changes) }
    }

    fn apply(&mut self, changes: &Changes) -> Vec<JoinProgress> {
        for outcome in &changes.outcomes {
            let work = (outcome.submission, outcome.stage.clone(), outcome.processor.clone());
            self.outcomes.insert(work, (outcome.status, Some(outcome.output.clone())));
        }
        for job in &changes.jobs {
            self.enqueue(job.clone());
        }
        for event in &changes.events {
            self.append(event);
        }
        for join in &changes.joins {
            self.make_join(join);
        }
        changes.join_steps.iter().map(|step| self.step(*step)).collect()
    }

    fn append(&mut self, event: &NewEvent) {
        if event.id.as_ref().is_none_or(|id| self.event_ids.insert(id.clone())) {
            self.events.push(event.kind.clone());
        }
    }

    fn make_join(&mut self, new: &NewJoin) {
        let join = ModelJoin {
            submission: new.submission,
            expected: new.expected,
            declared: new.declared,
            arrived: 0,
            failed: 0,
            closed: false,
            on_close: new.on_close.clone(),
        };
        self.joins.insert(new.id, join);
        self.close_if_full(new.id);
    }

    fn step(&mut self, step: JoinStep) -> JoinProgress {
        let join = self.joins.get_mut(&step.join).expect("steps are made on known joins");
        if !join.closed {
            join.change(step.change);
        }
        let closed = self.close_if_full(step.join);
        let join = &self.joins[&step.join];
        JoinProgress { join: step.join, received: join.arrived, expected: join.expected, closed }
    }

    fn close_if_full(&mut self, id: JoinId) -> bool {
        let join = self.joins.get_mut(&id).expect("it was just changed");
        if join.closed || !join.declared || join.arrived != join.expected {
            return false;
        }
        join.closed = true;
        let on_close = join.on_close.clone();
        self.enqueue(on_close);
        true
    }

    pub fn sweep(&mut self) -> Swept {
        let mut swept = Swept::default();
        let expired =
            |job: &&ModelJob| job.state == JobState::Running && job.lease_until.is_some_and(|until| until <= self.now);
        let together = self.jobs.values().filter(expired).count() as i64;
        for job in self.jobs.values_mut().filter(|job| job.lease_until.is_some_and(|until| until <= self.now)) {
            if job.state == JobState::Awaiting {
                swept.reports_overdue += 1;
                job.overdue = true;
            } else {
                swept.leases_expired += 1;
                job.held = job.held.after_loss(together);
            }
            job.give_back(JobState::Ready);
            job.take_newer();
        }
        let is_due = |job: &ModelJob| job.state == JobState::Parked && job.run_at.is_some_and(|at| at <= self.now);
        for job in self.jobs.values_mut().filter(|job| is_due(job)) {
            swept.parked_woken += 1;
            job.give_back(JobState::Ready);
        }
        swept
    }

    /// True if the job was made ready.
    pub fn retry(&mut self, key: JobKey) -> bool {
        let Some(job) = self.jobs.get_mut(&key) else { return false };
        if !matches!(job.state, JobState::Dead | JobState::Parked | JobState::Scheduled) {
            return false;
        }
        let was_dead = job.state == JobState::Dead;
        job.give_back(JobState::Ready);
        job.attempt = 0;
        job.held.losses = 0;
        let (work, join) = (job.work(), job.job.join);
        if was_dead {
            if self.outcomes.get(&work).is_some_and(|(status, _)| *status == OutcomeStatus::Failed) {
                self.outcomes.remove(&work);
            }
            if let Some(join) = join.and_then(|join| self.joins.get_mut(&join)) {
                join.arrived -= 1;
                join.failed -= 1;
            }
        }
        self.events.push(kind::JOB_RETRIED.into());
        true
    }

    /// True if the job was given up.
    pub fn cancel_job(&mut self, key: JobKey) -> bool {
        let Some(job) = self.jobs.get_mut(&key).filter(|job| job.state.is_live()) else { return false };
        job.attempt = job.shown_attempt();
        job.held.begun_with = 0;
        job.give_back(JobState::Dead);
        let (work, join) = (job.work(), job.job.join);
        self.outcomes.insert(work, (OutcomeStatus::Failed, None));
        self.events.push(kind::JOB_DEAD_LETTERED.into());
        if let Some(join) = join {
            self.step(JoinStep { join, change: JoinChange::Arrive(Arrival::Failed) });
        }
        true
    }

    pub fn unpark(&mut self, until: &str) -> u64 {
        let mut woken = 0;
        for job in self.jobs.values_mut().filter(|job| job.state == JobState::Parked) {
            if job.parked_until.as_deref() == Some(until) {
                job.give_back(JobState::Ready);
                woken += 1;
            }
        }
        woken
    }
}

impl ModelJoin {
    pub fn change(&mut self, change: JoinChange) {
        match change {
            JoinChange::Arrive(arrival) => {
                self.arrived += 1;
                self.failed += i64::from(arrival == Arrival::Failed);
            }
            JoinChange::Expect(more) => self.expected += more,
            JoinChange::Declare(count) if !self.declared => {
                self.declared = true;
                self.expected += count;
            }
            JoinChange::Declare(_) => {}
        }
    }
}

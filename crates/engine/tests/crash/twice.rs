//! A store to which one batch of commits in ten is sent twice, as when the answer to the first was lost.

use async_trait::async_trait;
use bindery_core::{
    Clock, ContentHash, EventSeq, ExecutionId, ItemId, JobId, JoinId, Name, ReviewId, SubmissionId, Timestamp,
    artifact::Artifact,
    event::{Event, NewEvent},
    item::Item,
    job::{ClaimedJob, Job, NewJob, Token},
    join::Join,
    outcome::Outcome,
    review::Review,
    submission::Submission,
};
use bindery_store::{
    Commit, CommitResult, Control, Executions, Feed, Guard, Queue, Records, Retention, RowStore, Search, Store,
    StoreResult,
    blobs::BlobRows,
    commit::{Enqueued, FeedCommit},
    executions::{
        DeletedExecutions, ExecutionCounts, ExecutionFilter, ExecutionSignal, HeldExecution, HistoryChunk,
        NewExecution, Started, Step, StoredExecution, StoredMachine,
    },
    portable::{Chunk, Load, Portable},
    query::{
        AnnounceRequest, Cancelled, ClaimRequest, ConsumerView, EventFilter, IdKind, ItemCounts, ItemFilter, JobFilter,
        JobView, JoinFilter, OutcomePage, QueueView, Retried, ReviewFilter, StageRow, StoredWorkflow, SubmissionFilter,
        Swept, Undelivered, WorkerView,
    },
    retention::{
        Candidates, Deletion, EventAge, Expiry, Extent, Hold, Marked, Reason, Reclaimed, Retained, RetentionFilter,
    },
    rows::{AnyUnitOfWork, Domain, Query, QueryRow, Table},
    search::{CollectionView, Hit, IndexedDocument, SearchRequest},
};
use std::{collections::HashMap, ops::Range, sync::Arc, time::Duration};
use tokio::sync::mpsc::{Receiver, Sender};

#[derive(Debug)]
pub(crate) struct Twice(pub(crate) Arc<dyn Store>);

#[async_trait]
impl Queue for Twice {
    async fn reserve_ids(&self, kind: IdKind, count: u32) -> StoreResult<Range<i64>> {
        self.0.reserve_ids(kind, count).await
    }
    async fn enqueue(&self, jobs: Vec<NewJob>) -> StoreResult<Vec<Enqueued>> {
        self.0.enqueue(jobs).await
    }
    async fn claim(&self, request: ClaimRequest) -> StoreResult<Vec<ClaimedJob>> {
        self.0.claim(request).await
    }
    async fn claim_suspects(&self, request: ClaimRequest) -> StoreResult<Vec<ClaimedJob>> {
        self.0.claim_suspects(request).await
    }
    async fn begin_suspects(&self, leases: Vec<(JobId, Token)>) -> StoreResult<Vec<JobId>> {
        self.0.begin_suspects(leases).await
    }
    async fn adopt(&self, worker: &Name, leases: Vec<(JobId, Token)>, lease: Duration) -> StoreResult<Vec<ClaimedJob>> {
        self.0.adopt(worker, leases, lease).await
    }
    async fn announce(&self, request: AnnounceRequest) -> StoreResult<Vec<Job>> {
        self.0.announce(request).await
    }
    async fn announced(&self, jobs: Vec<JobId>, again_after: Duration) -> StoreResult<()> {
        self.0.announced(jobs, again_after).await
    }
    async fn last_announced(&self, queue: &Name) -> StoreResult<Option<Timestamp>> {
        self.0.last_announced(queue).await
    }
    async fn hold_reports(&self, undelivered: Undelivered) -> StoreResult<u64> {
        self.0.hold_reports(undelivered).await
    }
    async fn heartbeat(
        &self,
        worker: &Name,
        leases: Vec<(JobId, Token)>,
        lease: Duration,
        finished: u64,
    ) -> StoreResult<Vec<JobId>> {
        self.0.heartbeat(worker, leases, lease, finished).await
    }
    async fn release_dead_workers(&self, workers: Vec<Name>) -> StoreResult<u64> {
        self.0.release_dead_workers(workers).await
    }
    async fn release(&self, leases: Vec<(JobId, Token)>) -> StoreResult<()> {
        self.0.release(leases).await
    }
    async fn commit(&self, commits: Vec<Commit>) -> StoreResult<Vec<CommitResult>> {
        // Without a guard there is nothing that could tell the second from the first; nobody acknowledges that way.
        let guarded = commits.iter().all(|commit| !matches!(commit.guard, Guard::Always));
        let again = (guarded && fastrand::u32(0..10) == 0).then(|| commits.clone());
        let results = self.0.commit(commits).await?;
        if let Some(again) = again {
            for (first, second) in results.iter().zip(self.0.commit(again).await?) {
                assert!(!(first.is_applied() && second.is_applied()), "a commit that was sent twice was stored twice");
            }
        }
        Ok(results)
    }
    async fn arrive(&self, worker: &Name) -> StoreResult<()> {
        self.0.arrive(worker).await
    }
    async fn leave(&self, worker: &Name, finished: u64) -> StoreResult<()> {
        self.0.leave(worker, finished).await
    }
    async fn sweep(&self) -> StoreResult<Swept> {
        self.0.sweep().await
    }
    fn clock(&self) -> Arc<dyn Clock> {
        self.0.clock()
    }
    fn change_mark(&self) -> u64 {
        self.0.change_mark()
    }
    async fn changed(&self, mark: u64, at_most: Duration) {
        self.0.changed(mark, at_most).await;
    }
}

#[async_trait]
impl Feed for Twice {
    async fn append_events(&self, events: Vec<NewEvent>) -> StoreResult<Vec<Option<EventSeq>>> {
        self.0.append_events(events).await
    }
    async fn read_events(&self, after: EventSeq, filter: EventFilter, limit: usize) -> StoreResult<Vec<Event>> {
        self.0.read_events(after, filter, limit).await
    }
    async fn last_event(&self) -> StoreResult<EventSeq> {
        self.0.last_event().await
    }
    async fn consumer_position(&self, consumer: &Name) -> StoreResult<EventSeq> {
        self.0.consumer_position(consumer).await
    }
    async fn commit_feed(
        &self,
        consumer: &Name,
        from: EventSeq,
        to: EventSeq,
        effects: Vec<Commit>,
    ) -> StoreResult<FeedCommit> {
        self.0.commit_feed(consumer, from, to, effects).await
    }
    async fn reset_consumer(&self, consumer: &Name, to: EventSeq) -> StoreResult<()> {
        self.0.reset_consumer(consumer, to).await
    }
}

#[async_trait]
impl Control for Twice {
    async fn pause(&self, queue: &Name, because: Option<String>) -> StoreResult<bool> {
        self.0.pause(queue, because).await
    }
    async fn resume(&self, queue: &Name) -> StoreResult<bool> {
        self.0.resume(queue).await
    }
    async fn retry(&self, filter: JobFilter) -> StoreResult<Retried> {
        self.0.retry(filter).await
    }
    async fn unpark(&self, until: &str) -> StoreResult<u64> {
        self.0.unpark(until).await
    }
    async fn cancel_submission(&self, id: SubmissionId) -> StoreResult<Cancelled> {
        self.0.cancel_submission(id).await
    }
    async fn cancel_job(&self, id: JobId) -> StoreResult<bool> {
        self.0.cancel_job(id).await
    }
    async fn raise_priorities(&self, jobs: Vec<(JobId, i32)>) -> StoreResult<u64> {
        self.0.raise_priorities(jobs).await
    }
    async fn assign_review(&self, id: ReviewId, to: &str) -> StoreResult<bool> {
        self.0.assign_review(id, to).await
    }
    async fn put_workflow(&self, name: &Name, version: i64, text: &str) -> StoreResult<()> {
        self.0.put_workflow(name, version, text).await
    }
}

#[async_trait]
impl Retention for Twice {
    async fn hold(&self, submissions: Vec<SubmissionId>, reason: &str) -> StoreResult<Vec<SubmissionId>> {
        self.0.hold(submissions, reason).await
    }
    async fn release_hold(&self, submissions: Vec<SubmissionId>) -> StoreResult<Vec<SubmissionId>> {
        self.0.release_hold(submissions).await
    }
    async fn holds(&self) -> StoreResult<Vec<Hold>> {
        self.0.holds().await
    }
    async fn list_retained(&self, filter: RetentionFilter) -> StoreResult<Vec<Retained>> {
        self.0.list_retained(filter).await
    }
    async fn extent(&self, submissions: Vec<SubmissionId>) -> StoreResult<Extent> {
        self.0.extent(submissions).await
    }
    async fn delete_submissions(
        &self,
        submissions: Vec<SubmissionId>,
        because: Reason,
        max_rows: usize,
    ) -> StoreResult<Vec<Deletion>> {
        self.0.delete_submissions(submissions, because, max_rows).await
    }
    async fn expire(
        &self,
        submissions: Vec<SubmissionId>,
        expiry: Expiry,
        max_rows: usize,
    ) -> StoreResult<Vec<Deletion>> {
        self.0.expire(submissions, expiry, max_rows).await
    }
    async fn delete_events(&self, age: EventAge, limit: usize) -> StoreResult<u64> {
        self.0.delete_events(age, limit).await
    }
    async fn delete_workers(&self, before: Timestamp) -> StoreResult<u64> {
        self.0.delete_workers(before).await
    }
    async fn delete_dead_letters(&self, queue: &Name, before: Timestamp) -> StoreResult<u64> {
        self.0.delete_dead_letters(queue, before).await
    }
    async fn claim_sweep(&self, name: &Name, every: Duration) -> StoreResult<bool> {
        self.0.claim_sweep(name, every).await
    }
    async fn blob_candidates(&self, before: Option<Timestamp>, limit: usize) -> StoreResult<Candidates> {
        self.0.blob_candidates(before, limit).await
    }
    async fn add_candidates(&self, candidates: Candidates) -> StoreResult<()> {
        self.0.add_candidates(candidates).await
    }
    async fn settle_candidates(&self, hashes: Vec<ContentHash>) -> StoreResult<()> {
        self.0.settle_candidates(hashes).await
    }
    async fn mark_blobs(&self, candidates: Arc<Candidates>) -> StoreResult<Marked> {
        self.0.mark_blobs(candidates).await
    }
    async fn cache_mentions(
        &self,
        read: HashMap<ContentHash, Vec<ContentHash>>,
        gone: Vec<ContentHash>,
    ) -> StoreResult<()> {
        self.0.cache_mentions(read, gone).await
    }
    async fn is_used_alone(&self) -> StoreResult<bool> {
        self.0.is_used_alone().await
    }
    async fn reclaim(&self, whole: bool) -> StoreResult<Reclaimed> {
        self.0.reclaim(whole).await
    }
}

#[async_trait]
impl Records for Twice {
    fn blob_rows(self: Arc<Self>) -> Option<Arc<dyn BlobRows>> {
        Arc::clone(&self.0).blob_rows()
    }
    async fn submission(&self, id: SubmissionId) -> StoreResult<Option<Submission>> {
        self.0.submission(id).await
    }
    async fn find_submission(&self, external_id: &str) -> StoreResult<Option<Submission>> {
        self.0.find_submission(external_id).await
    }
    async fn submissions(&self, filter: SubmissionFilter) -> StoreResult<Vec<Submission>> {
        self.0.submissions(filter).await
    }
    async fn item(&self, submission: SubmissionId, id: ItemId) -> StoreResult<Option<Item>> {
        self.0.item(submission, id).await
    }
    async fn find_item(&self, submission: SubmissionId, key: &str) -> StoreResult<Option<Item>> {
        self.0.find_item(submission, key).await
    }
    async fn items(&self, submission: SubmissionId, filter: ItemFilter) -> StoreResult<Vec<Item>> {
        self.0.items(submission, filter).await
    }
    async fn item_counts(&self, submission: SubmissionId) -> StoreResult<ItemCounts> {
        self.0.item_counts(submission).await
    }
    async fn outcomes(&self, submission: SubmissionId, stage: Option<&Name>) -> StoreResult<Vec<Outcome>> {
        self.0.outcomes(submission, stage).await
    }
    async fn reusable_outcome(&self, key: ContentHash) -> StoreResult<Option<Outcome>> {
        self.0.reusable_outcome(key).await
    }
    async fn outcome_page(&self, submission: SubmissionId, page: OutcomePage) -> StoreResult<Vec<Outcome>> {
        self.0.outcome_page(submission, page).await
    }
    async fn item_outcomes(
        &self,
        submission: SubmissionId,
        item: Option<ItemId>,
        stage: &Name,
    ) -> StoreResult<Vec<Outcome>> {
        self.0.item_outcomes(submission, item, stage).await
    }
    async fn join(&self, id: JoinId) -> StoreResult<Option<Join>> {
        self.0.join(id).await
    }
    async fn joins(&self, submission: SubmissionId, filter: JoinFilter) -> StoreResult<Vec<Join>> {
        self.0.joins(submission, filter).await
    }
    async fn artifact(&self, submission: SubmissionId, key: &str) -> StoreResult<Option<Artifact>> {
        self.0.artifact(submission, key).await
    }
    async fn artifacts(
        &self,
        submission: SubmissionId,
        after: Option<&str>,
        limit: usize,
    ) -> StoreResult<Vec<Artifact>> {
        self.0.artifacts(submission, after, limit).await
    }
    async fn job(&self, id: JobId) -> StoreResult<Option<JobView>> {
        self.0.job(id).await
    }
    async fn jobs(&self, filter: JobFilter) -> StoreResult<Vec<JobView>> {
        self.0.jobs(filter).await
    }
    async fn reviews(&self, filter: ReviewFilter) -> StoreResult<Vec<Review>> {
        self.0.reviews(filter).await
    }
    async fn review(&self, id: ReviewId) -> StoreResult<Option<Review>> {
        self.0.review(id).await
    }
    async fn stage_counts(&self, submission: SubmissionId) -> StoreResult<Vec<StageRow>> {
        self.0.stage_counts(submission).await
    }
    async fn queues(&self) -> StoreResult<Vec<QueueView>> {
        self.0.queues().await
    }
    async fn workers(&self) -> StoreResult<Vec<WorkerView>> {
        self.0.workers().await
    }
    async fn consumers(&self) -> StoreResult<Vec<ConsumerView>> {
        self.0.consumers().await
    }
    async fn workflow(&self, name: &Name, version: Option<i64>) -> StoreResult<Option<StoredWorkflow>> {
        self.0.workflow(name, version).await
    }
    async fn workflows(&self) -> StoreResult<Vec<StoredWorkflow>> {
        self.0.workflows().await
    }
}

#[async_trait]
impl Executions for Twice {
    async fn put_machine(&self, name: &Name, text: &str) -> StoreResult<i64> {
        self.0.put_machine(name, text).await
    }
    async fn machine(&self, name: &Name, version: Option<i64>) -> StoreResult<Option<StoredMachine>> {
        self.0.machine(name, version).await
    }
    async fn machines(&self) -> StoreResult<Vec<StoredMachine>> {
        self.0.machines().await
    }
    async fn start_executions(&self, new: Vec<NewExecution>) -> StoreResult<Vec<Started>> {
        self.0.start_executions(new).await
    }
    async fn hold_executions(&self, owner: &Name, max: usize, lease: Duration) -> StoreResult<Vec<HeldExecution>> {
        self.0.hold_executions(owner, max, lease).await
    }
    async fn extend_executions(
        &self,
        held: Vec<(ExecutionId, Token)>,
        lease: Duration,
    ) -> StoreResult<Vec<ExecutionId>> {
        self.0.extend_executions(held, lease).await
    }
    async fn signals(&self, owner: &Name) -> StoreResult<Vec<ExecutionSignal>> {
        self.0.signals(owner).await
    }
    async fn store_steps(&self, steps: Vec<Step>) -> StoreResult<Vec<bool>> {
        self.0.store_steps(steps).await
    }
    async fn send_signal(&self, to: ExecutionId, text: &str, token: Option<&str>) -> StoreResult<bool> {
        self.0.send_signal(to, text, token).await
    }
    async fn task_of_token(&self, token: &str) -> StoreResult<Option<(ExecutionId, u64)>> {
        self.0.task_of_token(token).await
    }
    async fn redrive_execution(&self, id: ExecutionId, text: &str) -> StoreResult<bool> {
        self.0.redrive_execution(id, text).await
    }
    async fn execution(&self, id: ExecutionId) -> StoreResult<Option<StoredExecution>> {
        self.0.execution(id).await
    }
    async fn find_execution(&self, machine: &Name, name: &str) -> StoreResult<Option<StoredExecution>> {
        self.0.find_execution(machine, name).await
    }
    async fn executions(&self, filter: ExecutionFilter) -> StoreResult<Vec<StoredExecution>> {
        self.0.executions(filter).await
    }
    async fn execution_history(&self, id: ExecutionId, after: u64, limit: u64) -> StoreResult<Vec<HistoryChunk>> {
        self.0.execution_history(id, after, limit).await
    }
    async fn count_executions(&self, which: DeletedExecutions) -> StoreResult<ExecutionCounts> {
        self.0.count_executions(which).await
    }
    async fn delete_executions(&self, which: DeletedExecutions, because: Reason, limit: usize) -> StoreResult<u64> {
        self.0.delete_executions(which, because, limit).await
    }
}

#[async_trait]
impl RowStore for Twice {
    fn domains(&self) -> &'static [&'static dyn Domain] {
        self.0.domains()
    }
    async fn query_rows(&self, queries: Vec<Query>) -> StoreResult<Vec<Vec<QueryRow>>> {
        self.0.query_rows(queries).await
    }
    async fn run_unit_of_work(&self, work: Box<dyn AnyUnitOfWork>) -> StoreResult<()> {
        self.0.run_unit_of_work(work).await
    }
}

#[async_trait]
impl Search for Twice {
    async fn index_document(&self, document: IndexedDocument) -> StoreResult<()> {
        self.0.index_document(document).await
    }
    async fn remove_document(&self, collection: &str, document_id: &str) -> StoreResult<bool> {
        self.0.remove_document(collection, document_id).await
    }
    async fn owned_documents(&self, owner: &str) -> StoreResult<u64> {
        self.0.owned_documents(owner).await
    }
    async fn remove_documents_of(&self, owner: &str, limit: usize) -> StoreResult<u64> {
        self.0.remove_documents_of(owner, limit).await
    }
    async fn search(&self, request: SearchRequest) -> StoreResult<Vec<Hit>> {
        self.0.search(request).await
    }
    async fn collections(&self) -> StoreResult<Vec<CollectionView>> {
        self.0.collections().await
    }
}

#[async_trait]
impl Portable for Twice {
    fn tables(&self) -> Vec<&'static Table> {
        self.0.tables()
    }
    async fn dump(&self, to: Sender<Chunk>) -> StoreResult<()> {
        self.0.dump(to).await
    }
    async fn load(&self, from: Receiver<Load>) -> StoreResult<u64> {
        self.0.load(from).await
    }
}

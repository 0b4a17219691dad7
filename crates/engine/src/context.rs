//! What a processor's step knows and may ask for.

use crate::{
    catalog::SubmissionInfo,
    engine::Engine,
    error::EngineError,
    machines::{Answer, Machines},
    runner::{Limits, Processes},
    work_id::WorkId,
    workflow::{Stage, StageRunner, Workflow},
};
use bindery_core::{
    AwakeInstant, ContentHash, ItemId, JobId, Name, Payload, StepError,
    artifact::Artifact,
    item::{Item, ItemKind},
    job::Token,
    outcome::Outcome,
    review::Review,
};
use bindery_files::ScratchFolder;
use bindery_store::{
    Store,
    blobs::{Blobs, BlobsExt, Draft, Stored},
    query::{ItemFilter, ReviewFilter},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{
    fs::File,
    future::Future,
    io::{self, Write},
    path::Path,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Set when a step should stop: its lease is lost, its time is over, or it was cancelled.
#[derive(Debug, Clone, Default)]
pub struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Money spent on a piece of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Who is paid, for instance `ocr.example.com`.
    pub service: String,
    /// For what, for instance `page`.
    pub operation: String,
    /// In millionths of the currency unit.
    pub micros: i64,
}

/// Where in a workflow a step runs.
#[derive(Debug)]
pub(crate) struct InWorkflow {
    pub(crate) engine: Engine,
    pub(crate) submission: Arc<SubmissionInfo>,
    pub(crate) stage: usize,
    pub(crate) item: Option<ItemId>,
    pub(crate) claim: (JobId, Token),
}

/// The blob store, and what waits for it.
#[derive(Debug, Clone)]
pub struct BlobAccess {
    pub blobs: Arc<dyn Blobs>,
    pub runtime: tokio::runtime::Handle,
}

/// One piece of work, as its processor sees it. A step may run in a stage of a workflow, or alone: in a run of its own,
/// or in a child process. Settings, attempt and costs are always there; the submission is there in a workflow only, and
/// the blob store wherever a store is open. Reads wait for the store; call them from a step only.
#[derive(Debug)]
pub struct StepContext {
    settings: Arc<Map<String, Value>>,
    attempt: u32,
    cancel: CancelFlag,
    deadline: Option<AwakeInstant>,
    blobs: Option<BlobAccess>,
    workflow: Option<InWorkflow>,
    costs: Mutex<Vec<Cost>>,
    /// What waits to become durable with the result; none where nobody would see to that.
    drafts: Option<Mutex<Vec<Draft>>>,
    /// Outside of a workflow, where somebody has said it.
    work: Option<WorkId>,
    /// The item that is worked on, once it was asked for. Nobody else changes it meanwhile.
    item: OnceLock<Item>,
}

impl StepContext {
    /// For work outside of a workflow.
    pub fn standalone(settings: Arc<Map<String, Value>>, attempt: u32, cancel: CancelFlag) -> Self {
        let costs = Mutex::default();
        Self {
            settings,
            attempt,
            cancel,
            deadline: None,
            blobs: None,
            workflow: None,
            costs,
            drafts: None,
            work: None,
            item: OnceLock::new(),
        }
    }

    /// For a stage of a workflow. Whoever stores what the steps come to must keep the [drafts](Self::take_drafts)
    /// before.
    pub(crate) fn in_workflow(
        workflow: InWorkflow,
        attempt: u32,
        cancel: CancelFlag,
        runtime: tokio::runtime::Handle,
    ) -> Self {
        let blobs = BlobAccess { blobs: Arc::clone(workflow.engine.blobs()), runtime };
        let drafts = Some(Mutex::default());
        Self {
            workflow: Some(workflow),
            blobs: Some(blobs),
            drafts,
            ..Self::standalone(Arc::default(), attempt, cancel)
        }
    }

    #[must_use]
    pub fn with_blobs(mut self, blobs: Option<BlobAccess>) -> Self {
        self.blobs = blobs;
        self
    }

    /// From then on the work counts as cancelled.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Option<AwakeInstant>) -> Self {
        self.deadline = deadline;
        self
    }

    /// The work that this is, outside of a workflow.
    #[must_use]
    pub fn with_work(mut self, work: Option<WorkId>) -> Self {
        self.work = work;
        self
    }

    /// Which work this is; none where nobody has said it. Submissions of different stores may have the same numbers, so
    /// the moment of reception is part of it.
    pub fn work(&self) -> Option<WorkId> {
        let Some(place) = &self.workflow else { return self.work.clone() };
        let InWorkflow { submission, stage, item, claim: (job, _), .. } = place;
        let item = item.map(|item| item.to_string()).unwrap_or_default();
        let stage = &submission.workflow.stages[*stage].name;
        let about = format!("{}/{}/{item}/{stage}", submission.id, submission.received_at.as_millis());
        Some(WorkId { job: job.to_string(), about })
    }

    /// What those outside may take for the same work: the same for every attempt of it. Where nobody has said which work
    /// this is, the processor and its input tell.
    pub fn idempotency_key(&self, processor: &str, input: &Value) -> String {
        let alone = || WorkId { job: String::new(), about: String::new() };
        self.work().unwrap_or_else(alone).key(processor, input)
    }

    fn place(&self) -> Result<&InWorkflow, StepError> {
        let outside = || StepError::reject("this processor works on a submission, and runs outside of one");
        self.workflow.as_ref().ok_or_else(|| outside().named("NoSubmission"))
    }

    pub fn submission(&self) -> Result<&SubmissionInfo, StepError> {
        Ok(&self.place()?.submission)
    }

    pub fn workflow(&self) -> Result<&Workflow, StepError> {
        Ok(&self.place()?.submission.workflow)
    }

    pub fn stage(&self) -> Result<&Stage, StepError> {
        let place = self.place()?;
        Ok(&place.submission.workflow.stages[place.stage])
    }

    /// The stage's `settings:`, or those of the run.
    pub fn settings(&self) -> &Map<String, Value> {
        self.workflow.as_ref().map_or(&*self.settings, |place| &place.submission.workflow.stages[place.stage].settings)
    }

    /// 1 for the first try.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Long steps should look now and then, and return early.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled() || self.deadline.is_some_and(|deadline| AwakeInstant::now() >= deadline)
    }

    /// When the work's time is over; a call to the outside should not take longer.
    pub fn deadline(&self) -> Option<AwakeInstant> {
        self.deadline
    }

    /// How much of the work's time is left; none where it has no limit.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(AwakeInstant::now()))
    }

    /// The id of the item that is worked on; none for the submission as a whole, and outside of a workflow.
    pub fn item_id(&self) -> Option<ItemId> {
        self.workflow.as_ref().and_then(|place| place.item)
    }

    /// The job that this work is, and the proof that it is ours. What a step stores by itself, it should store only while
    /// this claim is held ([`JobEnd::Hold`](bindery_store::JobEnd::Hold)): a worker that was taken for dead then writes
    /// nothing over what the next one has found out. None outside of a workflow.
    pub fn claim(&self) -> Option<(JobId, Token)> {
        self.workflow.as_ref().map(|place| place.claim)
    }

    /// The store that the submission is in.
    pub fn store(&self) -> Result<&Arc<dyn Store>, StepError> {
        Ok(self.place()?.engine.store())
    }

    /// Child processes for the part of a step that nobody can trust, such as parsing a file, and what one call to them
    /// may use. None with `runner: threads`, and where this program starts none.
    pub fn isolation(&self) -> Option<(&Processes, Limits)> {
        let place = self.workflow.as_ref()?;
        let stage = &place.submission.workflow.stages[place.stage];
        let processes = place.engine.isolation().filter(|_| stage.runner != StageRunner::Threads)?;
        let times = stage.processors.iter().map(|processor| stage.timeout_of(processor));
        let time = Some(times.max().unwrap_or(stage.timeout));
        Some((processes, Limits { time, memory: Some(stage.memory.unwrap_or(processes.memory())) }))
    }

    /// Notes money spent. It counts whether the step succeeds or not.
    pub fn charge(&self, service: impl Into<String>, operation: impl Into<String>, micros: i64) {
        self.charge_all([Cost { service: service.into(), operation: operation.into(), micros }]);
    }

    pub(crate) fn charge_all(&self, costs: impl IntoIterator<Item = Cost>) {
        self.costs.lock().unwrap_or_else(PoisonError::into_inner).extend(costs);
    }

    /// What was charged so far, once.
    pub fn take_costs(&self) -> Vec<Cost> {
        std::mem::take(&mut *self.costs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What the steps want to be durable when their result is stored, once. A result that names one of them, or a
    /// resume point that does, must not be stored before they are kept.
    pub(crate) fn take_drafts(&self) -> Vec<Draft> {
        let taken =
            |drafts: &Mutex<Vec<Draft>>| std::mem::take(&mut *drafts.lock().unwrap_or_else(PoisonError::into_inner));
        self.drafts.as_ref().map(taken).unwrap_or_default()
    }

    /// Waits for work that others do while this thread waits: requests, the store.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> Result<T, StepError> {
        Ok(self.access()?.runtime.block_on(work))
    }

    pub(crate) fn wait<T, E: Into<EngineError>>(
        &self,
        asked: impl Future<Output = Result<T, E>>,
    ) -> Result<T, StepError> {
        self.access()?.runtime.block_on(asked).map_err(|error| StepError::from(error.into()))
    }

    fn access(&self) -> Result<&BlobAccess, StepError> {
        let closed = || StepError::reject("this processor needs a store, and none is open here");
        self.blobs.as_ref().ok_or_else(|| closed().named("NoStore"))
    }

    /// The item that is worked on.
    pub fn item(&self) -> Result<Item, StepError> {
        if let Some(item) = self.item.get() {
            return Ok(item.clone());
        }
        let place = self.place()?;
        let id = place.item.ok_or_else(|| StepError::bug("this stage works on the submission, which is no item"))?;
        let item = self.wait(place.engine.store().item(place.submission.id, id))?;
        let item = item.ok_or_else(|| StepError::bug(format!("{id} is not in the store")))?;
        Ok(self.item.get_or_init(|| item).clone())
    }

    /// The submission's items of a kind, or the parts of one item.
    pub fn items(&self, kind: Option<ItemKind>, parent: Option<ItemId>) -> Result<Vec<Item>, StepError> {
        let place = self.place()?;
        self.wait(place.engine.store().items(place.submission.id, ItemFilter { kind, parent, ..ItemFilter::default() }))
    }

    /// The current results of a stage, in the order of its items.
    pub fn outcomes(&self, stage: &str) -> Result<Vec<Outcome>, StepError> {
        let place = self.place()?;
        let stage = Name::from(stage);
        self.wait(place.engine.store().outcomes(place.submission.id, Some(&stage)))
    }

    /// What people were asked about, open or decided.
    pub fn reviews(&self) -> Result<Vec<Review>, StepError> {
        let place = self.place()?;
        let of_submission = ReviewFilter { submission: Some(place.submission.id), ..ReviewFilter::default() };
        self.wait(place.engine.store().reviews(of_submission))
    }

    /// Opens a review of an item's last result, which an earlier stage has stored; it is durable once this returns. False
    /// where nobody is asked: a review of the item is open already, or its stage has no `backoffice_queue`.
    pub fn request_review(&self, item: ItemId, reasons: Vec<String>) -> Result<bool, StepError> {
        let place = self.place()?;
        self.wait(place.engine.request_review(&place.submission, place.claim, item, reasons))
    }

    /// The current results of a stage for one item, one of each processor.
    pub fn item_outcomes(&self, item: ItemId, stage: &Name) -> Result<Vec<Outcome>, StepError> {
        let place = self.place()?;
        self.wait(place.engine.store().item_outcomes(place.submission.id, Some(item), stage))
    }

    /// What the submission has stored under a readable key.
    pub fn artifact(&self, key: &str) -> Result<Option<Artifact>, StepError> {
        let place = self.place()?;
        self.wait(place.engine.store().artifact(place.submission.id, key))
    }

    /// Reports on the task of a state machine that waits for a token. False if nobody waits for it (any more): it was
    /// reported before, or its execution has gone on without it. So a step that runs twice reports once.
    pub fn report_task(&self, token: &str, answer: Answer) -> Result<bool, StepError> {
        let machines = Machines::new(Arc::clone(self.place()?.engine.store()));
        self.wait(async {
            match machines.report(token, answer).await {
                Ok(()) => Ok(true),
                Err(EngineError::NotFound(_)) => Ok(false),
                Err(error) => Err(error),
            }
        })
    }

    /// A payload's value, wherever it is kept.
    pub fn read(&self, payload: &Payload) -> Result<Value, StepError> {
        match payload {
            Payload::Inline(text) => serde_json::from_str(text)
                .map_err(|error| StepError::bug(format!("a stored value is not JSON: {error}"))),
            Payload::Blob(hash) => self.wait(self.access()?.blobs.get_json(*hash)),
        }
    }

    pub fn blob(&self, hash: ContentHash) -> Result<Vec<u8>, StepError> {
        self.wait(self.access()?.blobs.get(hash))
    }

    /// Says that this result will name a blob that is there already. False where it is gone.
    pub(crate) fn touch_blob(&self, hash: ContentHash) -> Result<bool, StepError> {
        self.wait(self.access()?.blobs.touch(hash))
    }

    /// Writes a verified copy of a blob to a file, in constant memory.
    pub fn fetch_blob(&self, hash: ContentHash, to: &Path) -> Result<u64, StepError> {
        self.wait(self.access()?.blobs.fetch_to(hash, to))
    }

    /// Keeps bytes that the step's result names. They are durable before that result is stored, and until then nobody
    /// can read them, this step and the next ones included; the wait for the disk is shared with other results.
    pub fn keep_blob(&self, bytes: Vec<u8>) -> Result<Stored, StepError> {
        self.keep_in(&*self.access()?.blobs, bytes)
    }

    /// The same as a file, or an object, of its own: for what others open by its location.
    pub fn keep_as_file(&self, bytes: Vec<u8>) -> Result<Stored, StepError> {
        self.keep_in(self.access()?.blobs.place(), bytes)
    }

    fn keep_in(&self, blobs: &dyn Blobs, bytes: Vec<u8>) -> Result<Stored, StepError> {
        let Some(drafts) = &self.drafts else { return self.wait(blobs.put(bytes)) };
        let draft = self.wait(blobs.draft(bytes))?;
        let stored = draft.stored();
        drafts.lock().unwrap_or_else(PoisonError::into_inner).push(draft);
        Ok(stored)
    }

    /// The same for a value.
    pub fn keep_json(&self, value: &Value) -> Result<Stored, StepError> {
        self.keep_blob(value.to_string().into_bytes())
    }

    /// Keeps what `write` writes, as [`keep_as_file`](Self::keep_as_file) does, in constant memory: it goes through a
    /// temporary file.
    pub fn keep_written(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Stored, StepError> {
        let full = |error: io::Error| {
            StepError::retry(format!("a temporary file cannot be written: {error}")).named("TemporaryFile")
        };
        let folder = ScratchFolder::new().map_err(full)?;
        let file = folder.join("written");
        let mut writer = io::BufWriter::new(File::create(&file).map_err(full)?);
        write(&mut writer).and_then(|()| writer.flush()).map_err(full)?;
        drop(writer);
        self.keep_file_in(self.access()?.blobs.place(), &file)
    }

    /// Keeps a copy of a file, as [`keep_blob`](Self::keep_blob) does.
    pub fn keep_file(&self, file: &Path) -> Result<Stored, StepError> {
        self.keep_file_in(&*self.access()?.blobs, file)
    }

    fn keep_file_in(&self, blobs: &dyn Blobs, file: &Path) -> Result<Stored, StepError> {
        let Some(drafts) = &self.drafts else { return self.wait(blobs.put_file(file)) };
        let draft = self.wait(blobs.draft_file(file))?;
        let stored = draft.stored();
        drafts.lock().unwrap_or_else(PoisonError::into_inner).push(draft);
        Ok(stored)
    }

    /// A page as PNG; none where it has no picture, or where nobody here draws pages.
    pub fn page_png(&self, page: &Item, dpi: u32) -> Result<Option<Vec<u8>>, StepError> {
        let Some(images) = self.place()?.engine.registry().page_images() else { return Ok(None) };
        images.png(self, page, dpi)
    }

    /// Durable once this returns, though nothing points to it yet, and can be read from then on.
    pub fn put_blob(&self, bytes: Vec<u8>) -> Result<Stored, StepError> {
        self.wait(self.access()?.blobs.put(bytes))
    }

    pub fn put_json(&self, value: &Value) -> Result<Stored, StepError> {
        self.wait(self.access()?.blobs.put_json(value))
    }

    /// A value as a payload of the result: inside the row when it is small, kept in the blob store when it is not.
    pub fn payload(&self, value: &Value) -> Result<Payload, StepError> {
        let text = value.to_string();
        if Payload::is_too_long(&text) {
            return Ok(Payload::Blob(self.keep_blob(text.into_bytes())?.hash));
        }
        Ok(Payload::Inline(text))
    }
}

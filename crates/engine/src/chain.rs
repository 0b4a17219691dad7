//! The rules of a chain: where work goes when a stage has done with an item.
//!
//! A chain walks an item through the stages and carries the join that it ends in. Taking an item apart exchanges its
//! chain for one per part, on a join of the item's own where the next aggregation collects per that item, on the join
//! the chain already has otherwise. Several processors on one stage are a join too: of their outcomes, on that item.
//! Everything collects into one [`Changes`], to be stored in one commit.

use crate::{
    catalog::SubmissionInfo,
    engine::Engine,
    error::{EngineError, EngineResult},
    workflow::{LimitPer, Over, Stage, StageProcessor, Workflow},
};
use bindery_core::{
    ItemId, JoinId, Name, Payload,
    event::NewEvent,
    job::{ENGINE_QUEUE, Limit, NewJob},
    join::{Arrival, JoinChange, JoinStep, NewJoin},
};
use bindery_store::{Changes, SubmissionChange};
use serde_json::{Value, json};

/// The stage name of the join that ends a submission.
pub const END: &str = "__end__";

/// The engine's own small jobs.
pub mod internal_processor {
    /// All processors of a stage have reported on an item: go on with it.
    pub const ADVANCE: &str = "advance";
    /// An aggregation is complete: begin its stage.
    pub const ENTER: &str = "enter";
    /// Every chain of the submission has ended.
    pub const FINISH: &str = "finish";
}

/// A point on a chain: a stage, the item it works on, the join that the chain ends in.
#[derive(Debug, Clone, Copy)]
pub struct At {
    pub stage: usize,
    pub item: Option<ItemId>,
    pub join: Option<JoinId>,
    pub priority: i32,
}

/// Collects what follows from a piece of work.
#[derive(Debug)]
pub struct Next<'a> {
    engine: &'a Engine,
    info: &'a SubmissionInfo,
    pub changes: Changes,
}

impl<'a> Next<'a> {
    pub fn new(engine: &'a Engine, info: &'a SubmissionInfo) -> Self {
        Self { engine, info, changes: Changes::default() }
    }

    /// The submission that this is about.
    pub fn info(&self) -> &'a SubmissionInfo {
        self.info
    }

    fn workflow(&self) -> &'a Workflow {
        &self.info.workflow
    }

    /// Adds an event about the submission.
    pub fn event(&mut self, kind: &str, item: Option<ItemId>, data: &Value) {
        let mut event = NewEvent::new(kind, Some(self.info.id), data.to_string());
        event.item = item;
        event.subject.clone_from(&self.info.subject);
        self.changes.events.push(event);
    }

    /// Adds an event that can happen only once; `milestone` says which.
    pub fn milestone(&mut self, kind: &str, item: Option<ItemId>, milestone: &str, data: &Value) {
        self.event(kind, item, data);
        if let Some(event) = self.changes.events.last_mut() {
            let about = item.map_or_else(|| self.info.id.to_string(), |item| item.to_string());
            event.id = Some(format!("{about}:{milestone}"));
        }
    }

    /// The chain ends here.
    pub fn arrive(&mut self, join: Option<JoinId>, arrival: Arrival) {
        if let Some(join) = join {
            self.changes.join_steps.push(JoinStep { join, change: JoinChange::Arrive(arrival) });
        }
    }

    /// The chain was exchanged for others: `more` is how many others, less one for itself.
    pub fn expect(&mut self, join: JoinId, more: i64) {
        if more != 0 {
            self.changes.join_steps.push(JoinStep { join, change: JoinChange::Expect(more) });
        }
    }

    /// The stage has done with the item: go on to the next one.
    pub async fn go_on(&mut self, at: At, output: Payload) -> EngineResult<()> {
        match self.workflow().next_after(at.stage) {
            None => {
                self.arrive(at.join, Arrival::Completed);
                Ok(())
            }
            Some((next, _)) => self.proceed_to(next, at, output).await,
        }
    }

    /// Goes on to a stage, which may be another than the next.
    pub async fn proceed_to(&mut self, target: usize, at: At, output: Payload) -> EngineResult<()> {
        let (here, there) = (self.stage(at.stage)?, self.stage(target)?);
        if there.over == here.over {
            // An aggregation over the very same item has one part, which is here.
            return self.enter(At { stage: target, ..at }, output).await;
        }
        // The chain ends in the join of the next aggregation, and in no other.
        let next_join = self.workflow().next_aggregation_after(at.stage).map(|(index, _)| index);
        if next_join == Some(target) && there.over < here.over {
            self.arrive(at.join, Arrival::Completed);
            return Ok(());
        }
        if there.over > here.over {
            // The files are those that were received. Anything finer should have been made by the stage, and was not:
            // there was nothing in it.
            let files =
                if there.over == Over::File { self.engine.received_files(self.info.id).await? } else { Vec::new() };
            let parts = files.len() as i64;
            let (join, nested) = self.open_scope(at, parts).await?;
            if !nested && let Some(join) = join {
                self.expect(join, parts - 1);
            }
            for file in files {
                let at = At { stage: target, item: Some(file.id), join, priority: at.priority };
                self.enter(at, Payload::Inline(file.data)).await?;
            }
            return Ok(());
        }
        Err(EngineError::Invalid(format!(
            "stage {} works on each {}, and the stage that collects those is {}, not {}",
            here.name,
            here.over,
            next_join.map_or(END, |index| self.workflow().stages[index].name.as_str()),
            there.name
        )))
    }

    /// The join for the parts of the item at `at`, of which `parts` are expected so far, and whether it is one of the
    /// item's own. If it is not, the caller changes what the present join expects.
    pub async fn open_scope(&mut self, at: At, parts: i64) -> EngineResult<(Option<JoinId>, bool)> {
        let over = self.stage(at.stage)?.over;
        let own = self
            .workflow()
            .next_collector_after(at.stage, over)
            .filter(|(_, stage)| stage.aggregation.is_some_and(|aggregation| aggregation.scope == over));
        let Some((index, stage)) = own else { return Ok((at.join, false)) };
        let id = self.engine.ids().joins(1).await?.remove(0);
        let on_close = self.job_behind_join(index, at.item, at.join, at.priority)?;
        self.changes.joins.push(NewJoin {
            id,
            submission: self.info.id,
            stage: stage.name.clone(),
            scope: at.item,
            expected: parts,
            declared: true,
            outer: at.join,
            on_close,
        });
        Ok((Some(id), true))
    }

    /// The job that a join enqueues when it closes: the aggregation's own, or one that begins its stage where that
    /// takes more than one job.
    pub fn job_behind_join(
        &self,
        stage: usize,
        item: Option<ItemId>,
        outer: Option<JoinId>,
        priority: i32,
    ) -> EngineResult<NewJob> {
        let at = At { stage, item, join: outer, priority };
        let before = stage.checked_sub(1).and_then(|before| self.workflow().stages.get(before));
        // The status is the engine's to move: a join only enqueues its job.
        let keeps_status =
            self.stage(stage)?.status.is_none_or(|status| before.is_some_and(|b| b.status == Some(status)));
        match self.stage(stage)?.processors.as_slice() {
            [only] if !only.external && keeps_status => self.job(at, only, Payload::null()),
            _ => Ok(self.internal_job(self.stage(stage)?.name.clone(), internal_processor::ENTER, at)),
        }
    }

    fn internal_job(&self, stage: Name, processor: &str, at: At) -> NewJob {
        let mut job = NewJob::new(ENGINE_QUEUE, self.info.id, stage, processor);
        job.item = at.item;
        job.join = at.join;
        job.priority = at.priority;
        job
    }

    /// Begins a stage on an item.
    pub async fn enter(&mut self, at: At, payload: Payload) -> EngineResult<()> {
        let stage = self.stage(at.stage)?;
        self.mark_status(at.stage);
        let join = if stage.processors.len() > 1 { Some(self.join_of_processors(at, stage).await?) } else { at.join };
        for processor in &stage.processors {
            let job = self.job(At { join, ..at }, processor, payload.clone())?;
            self.changes.jobs.push(job);
        }
        Ok(())
    }

    /// The submission's status moves with the stage that begins.
    pub fn mark_status(&mut self, stage: usize) {
        if let Some(status) = self.workflow().stages.get(stage).and_then(|stage| stage.status)
            && !self.changes.submission_changes.iter().any(|change| change.status == status)
        {
            self.changes.submission_changes.push(SubmissionChange { id: self.info.id, status, error: None });
        }
    }

    async fn join_of_processors(&mut self, at: At, stage: &Stage) -> EngineResult<JoinId> {
        let id = self.engine.ids().joins(1).await?.remove(0);
        self.changes.joins.push(NewJoin {
            id,
            submission: self.info.id,
            stage: stage.name.clone(),
            scope: at.item,
            expected: stage.processors.len() as i64,
            declared: true,
            outer: at.join,
            on_close: self.internal_job(stage.name.clone(), internal_processor::ADVANCE, at),
        });
        Ok(id)
    }

    /// The join that ends the submission when all its chains have.
    pub fn root_join(&self, id: JoinId, expected: i64, declared: bool, priority: i32) -> NewJoin {
        let at = At { stage: 0, item: None, join: None, priority };
        NewJoin {
            id,
            submission: self.info.id,
            stage: Name::from(END),
            scope: None,
            expected,
            declared,
            outer: None,
            on_close: self.internal_job(Name::from(END), internal_processor::FINISH, at),
        }
    }

    fn stage(&self, index: usize) -> EngineResult<&'a Stage> {
        let workflow = self.workflow();
        workflow.stages.get(index).ok_or_else(|| {
            EngineError::Invalid(format!("workflow {} has no stage number {}", workflow.name, index + 1))
        })
    }

    fn job(&self, at: At, processor: &StageProcessor, payload: Payload) -> EngineResult<NewJob> {
        let stage = self.stage(at.stage)?;
        Ok(NewJob {
            queue: stage.queue(),
            submission: self.info.id,
            item: at.item,
            stage: stage.name.clone(),
            processor: processor.name.clone(),
            join: at.join,
            priority: at.priority,
            not_before: None,
            dedup_key: None,
            limit: self.limit(stage),
            await_report_ms: processor
                .external
                .then(|| i64::try_from(stage.timeout_of(processor).as_millis()).unwrap_or(i64::MAX)),
            payload,
            resume: None,
        })
    }

    /// Who has to wait for whom at this stage.
    fn limit(&self, stage: &Stage) -> Option<Limit> {
        let Some(limits) = &stage.limits else {
            // A stage that is not parallel takes a submission's items one by one.
            let one_by_one = !stage.parallel && stage.over != Over::Submission;
            return one_by_one.then(|| Limit {
                key: Name::from(format!("{}/{}", self.info.id, stage.name)),
                running: Some(1),
                per_minute: None,
            });
        };
        let workflow = &self.workflow().name;
        let key = match limits.per {
            LimitPer::Stage => format!("{workflow}/{}", stage.name),
            LimitPer::Submission => format!("{}/{}", self.info.id, stage.name),
            LimitPer::Owner => format!("{workflow}/{}/{}", stage.name, self.info.owner.as_deref().unwrap_or("")),
        };
        Some(Limit { key: Name::from(key), running: limits.concurrency, per_minute: limits.rate_per_minute })
    }

    /// Ends with the changes in the order in which joins must be locked.
    pub fn into_changes(mut self) -> Changes {
        self.changes.join_steps.sort_by_key(|step| step.join);
        self.changes
    }
}

/// Whether the stage is where a file is read by its processors, whose results seed 000's events report.
pub fn is_document_stage(workflow: &Workflow, stage: usize) -> bool {
    let collects_files =
        |next: &Stage| next.aggregation.is_some_and(|a| a.counts == Over::File && a.scope == Over::Submission);
    workflow.stages.get(stage).is_some_and(|stage| stage.over == Over::File)
        && workflow.next_after(stage).is_some_and(|(_, next)| collects_files(next))
}

/// The data of the event that says a document has been read by all its processors.
pub fn fully_processed(document_id: &str, processors: &[String]) -> Value {
    json!({"documentId": document_id, "processorResults": processors, "allProcessorsComplete": true})
}

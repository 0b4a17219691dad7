//! Starting a run, and going on with one.

use super::{
    Runs,
    checks::check_is_same_work,
    conduct::{NewRun, RunProgress},
    id_after,
    plan::{Plan, entries_of},
    record::{RunDetails, RunRecord},
};
use crate::{
    error::{EngineError, EngineResult},
    execution::{Execution, ExecutionContext, ProcessingResult, ProcessorInput, new_run_id},
};

impl Runs {
    /// Runs the inputs and stores what happens. An error says that the run could not be stored or may not be; whatever
    /// goes wrong with the inputs is in the result.
    ///
    /// A context with a `previous_run_id` makes it a run of that one's lineage: it must be of the same processor and
    /// owner and have ended. The inputs then take the place of those with the same ids, and what is left of the
    /// lineage is done with them.
    pub async fn start(
        &self,
        execution: Execution,
        inputs: Vec<ProcessorInput>,
        context: Option<ExecutionContext>,
        on_progress: impl FnMut(RunProgress) + Send,
    ) -> EngineResult<ProcessingResult> {
        let given = context.unwrap_or_default();
        let refused = execution.check_owner(&inputs).err();
        let (run_id, context, plan) = match &given.previous_run_id {
            None => (new_run_id(), given, Plan::for_entries(entries_of(inputs))),
            Some(previous) => {
                let previous = self.find(previous).await?;
                self.check_can_be_followed(&previous).await?;
                check_is_same_work(&previous, &execution)?;
                let previous_id = previous.run_id.clone();
                let lineage = self.lineage(previous.clone()).await?;
                let context = context_after(&previous, lineage.last_error_step(), given)?;
                if refused.is_some() {
                    // It does nothing, so it does not take the place of one that does.
                    (new_run_id(), context, Plan::for_entries(entries_of(inputs)))
                } else {
                    let plan = lineage.plan(&self.engine, &execution, entries_of(inputs)).await?;
                    (id_after(&previous_id), context, plan)
                }
            }
        };
        let details = RunDetails {
            given: true,
            refused: refused.map(|error| error.message),
            ..RunDetails::new(&execution, context, self.engine.clock().now())
        };
        self.conduct(NewRun { run_id, execution, details, plan }, on_progress).await
    }

    /// Goes on with a run that failed, was cancelled or was interrupted: with everything of its lineage that is not
    /// done. `run_id` may be shortened, see [`find`](Self::find). The execution is made for what the run says of
    /// itself; its runner and settings may be others.
    pub async fn retry(
        &self,
        run_id: &str,
        make_execution: impl FnOnce(&RunRecord) -> EngineResult<Execution>,
        on_progress: impl FnMut(RunProgress) + Send,
    ) -> EngineResult<ProcessingResult> {
        let previous = self.find(run_id).await?;
        self.check_can_be_followed(&previous).await?;
        Self::check_can_be_retried(&previous)?;
        let execution = make_execution(&previous)?;
        check_is_same_work(&previous, &execution)?;
        let run_id = id_after(&previous.run_id);
        let lineage = self.lineage(previous.clone()).await?;
        let context = previous.context().for_retry(&previous.run_id, lineage.last_error_step());
        let plan = lineage.plan(&self.engine, &execution, Vec::new()).await?;
        let details = RunDetails::new(&execution, context, self.engine.clock().now());
        self.conduct(NewRun { run_id, execution, details, plan }, on_progress).await
    }
}

/// The context of a run after `previous`: what the caller says counts, except about the lineage, which the store knows.
fn context_after(
    previous: &RunRecord,
    last_error_step: Option<bindery_core::outcome::Step>,
    given: ExecutionContext,
) -> EngineResult<ExecutionContext> {
    let known = previous.context().for_retry(&previous.run_id, last_error_step);
    if let (Some(said), Some(first)) = (&given.parent_run_id, &known.parent_run_id)
        && said != first
    {
        let message = format!("parent_run_id {said}: the lineage of run {} began with {first}", previous.run_id);
        return Err(EngineError::Invalid(message));
    }
    Ok(known.merged(ExecutionContext { previous_run_id: None, ..given }))
}

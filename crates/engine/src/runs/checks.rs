//! May a run go on where another one stopped?

use super::{Runs, id_after, record::RunRecord};
use crate::{
    error::{EngineError, EngineResult},
    execution::Execution,
};
use bindery_core::submission::SubmissionStatus;

fn refuse<T>(why: String) -> EngineResult<T> {
    Err(EngineError::Invalid(why))
}

/// What the second of two people is told who retry the same run.
pub(super) fn already_followed(run_id: &str) -> EngineError {
    let next = id_after(run_id);
    EngineError::Invalid(format!("run {run_id} has been retried already as {next}; retry that one"))
}

impl Runs {
    /// Nothing is under way, nobody has gone on with it, and it has inputs.
    pub(super) async fn check_can_be_followed(&self, record: &RunRecord) -> EngineResult<()> {
        let run_id = &record.run_id;
        if self.record(&id_after(run_id)).await?.is_some() {
            return Err(already_followed(run_id));
        }
        let answered = record.status == SubmissionStatus::Cancelled && self.answer_of(record).await?.is_some();
        let seen = self.read_last_seen().await?;
        if let Some(ago) = self.under_way_since(record, &seen).filter(|_| !answered) {
            return refuse(format!("run {run_id} is still under way, seen {} s ago", ago.as_secs()));
        }
        if let Some(why) = &record.details.refused {
            return refuse(format!("run {run_id} was refused before any step ({why}); start another one"));
        }
        Ok(())
    }

    /// There is something to retry, and all of it is in the store.
    pub(super) fn check_can_be_retried(record: &RunRecord) -> EngineResult<()> {
        let run_id = &record.run_id;
        if record.status == SubmissionStatus::Completed {
            return refuse(format!("run {run_id} has succeeded; there is nothing to retry"));
        }
        // Its process ended before it had stored all that it was given.
        if record.status == SubmissionStatus::Received && record.details.given {
            let how = match &record.details.context.previous_run_id {
                Some(_) => format!("start a run with the same inputs and previous_run_id {run_id}"),
                None => "start another one".to_owned(),
            };
            return refuse(format!("run {run_id} stopped before all its inputs were stored; {how}"));
        }
        Ok(())
    }
}

/// A run goes on with the work of the same processor for the same owner only.
pub(super) fn check_is_same_work(record: &RunRecord, execution: &Execution) -> EngineResult<()> {
    let details = &record.details;
    let compared = [
        ("processor", details.processor.as_str(), execution.processor().name()),
        ("account", record.account_id.as_str(), execution.account_id()),
        ("underwriting", details.underwriting_id.as_str(), execution.underwriting_id()),
    ];
    match compared.into_iter().find(|(_, was, is)| was != is) {
        Some((what, was, is)) => refuse(format!("run {} is of the {what} {was}, not {is}", record.run_id)),
        None => Ok(()),
    }
}

//! Stand-alone runs that are stored: what an [`Execution`](crate::execution::Execution) does, kept as it happens.
//!
//! A run is recorded with the nouns that everything else has:
//!
//! | in the store | is |
//! |---|---|
//! | submission of the workflow `process`, channel `process` | the run; its external id is the run id, its owner the account |
//! | item | an input that the run executes, under its `input_id` |
//! | outcome of the stage `run` | what became of an input: factors or error, times, costs, resume point |
//! | artifact `runs/{run id}/result.json` | the answer, once the run has ended |
//! | events `RunStarted`, `RunCompleted`, `RunFailed` | when, and with which figures |
//!
//! **What is promised.** Every input is durable before the first step runs. Each result is durable a moment after it is
//! there, in groups. A crash loses at most the results that were not stored yet: their inputs run again when the run is
//! retried, and nothing is counted twice.
//!
//! **Lineage.** A run may go on where another one stopped, and then belongs to its lineage: a line, because each run is
//! followed by one other at most. The id of the next run is made from the id of the one before it, so that two people
//! who retry the same run at once make one run. A run of a lineage is about all inputs of the lineage, in the order of
//! the first run: those that are done (same data, same version of the processor) are skipped and their factors taken
//! over, those that failed resume at the step that failed, those that never ran begin at validation. Only what is
//! executed is stored again.
//!
//! **Heartbeat.** While it goes on, a run is a worker called `run-{run id}`. A run that has not ended and was not seen
//! for [`SILENT_AFTER`](crate::SILENT_AFTER) is interrupted and may be retried.

mod checks;
mod conduct;
mod find;
mod heartbeat;
mod item;
mod lineage;
mod outcome;
mod plan;
mod record;
mod show;
mod start;
mod stats;
mod summary;

pub use conduct::RunProgress;
pub use heartbeat::is_run;
pub use record::{RunDetails, RunRecord};
pub use show::{DataSource, InputStatus, InputView, RunView, StepState, StepView};
pub use stats::{RunStats, StepMean};
pub use summary::{RunFilter, RunStatus, RunSummary};

use crate::{
    engine::Engine,
    execution::{ExecutionContext, uuid},
};
use bindery_core::ContentHash;
use std::time::Duration;

/// How runs come in; also the name of their workflow.
pub const CHANNEL: &str = "process";

/// The one stage of that workflow.
pub(crate) const STAGE: &str = "run";

const WORKFLOW_VERSION: i64 = 1;

/// The usual one.
pub const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);

/// The stored runs of one engine. A cheap handle.
#[derive(Debug, Clone)]
pub struct Runs {
    engine: Engine,
    heartbeat_interval: Duration,
}

impl Runs {
    /// At each heartbeat, a run under way also looks whether it was cancelled.
    pub fn new(engine: Engine, heartbeat_interval: Duration) -> Self {
        Self { engine, heartbeat_interval }
    }
}

/// The id of the run that goes on where this one stopped: always the same one.
fn id_after(run_id: &str) -> String {
    let hash = ContentHash::of(format!("the run after {run_id}").as_bytes());
    let bits = hash.as_bytes().iter().take(16).fold(0_u128, |bits, byte| (bits << 8) | u128::from(*byte));
    uuid(bits, 8)
}

/// Whether resume points count in a run of this context.
fn is_retry(context: &ExecutionContext) -> bool {
    context.previous_run_id.is_some()
}

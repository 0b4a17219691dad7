//! External tasks: tasks of state machines that somebody else does, a person or a program behind a queue.
//!
//! An external task is a submission with one file, which says what is wanted. Its last stage but one waits for somebody's
//! answer; its last one, `task_answer`, reports that answer to the task that waits for it.
//!
//! **On a crash** an answer and its report do not come apart: the commit that stores the answer also enqueues the job
//! that reports it, and that job runs until it has. A token counts once, so reporting twice reports once. The same task
//! after a crash sends the same external task. An external task that nobody waits for any more is withdrawn, at the latest when an
//! executor begins.
//!
//! | module | what it owns |
//! |---|---|
//! | `question` | asking a person: the workflow `question` |
//! | `queue` | handing a task out on a queue: a workflow for each queue |
//! | `answer` | what was answered, and the report |

mod answer;
pub(crate) mod question;
pub(crate) mod queue;

pub use queue::{queue_component, queue_workflow};

use crate::{consolidate::Consolidator, stage::erased};
use answer::TaskAnswer;
use bindery_core::{ExecutionId, Name, StepError, SubmissionId, outcome::OutcomeStatus, submission::SubmissionStatus};
use bindery_engine::{
    Engine, EngineResult, Registry,
    context::StepContext,
    intake::{Intake, IntakeFile},
    machines::TaskCall,
    workflow::{Stage, Workflow},
};
use bindery_store::query::SubmissionFilter;
use question::Question;
use queue::HandOut;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Where in a submission's metadata it is said whose external task it is.
const METADATA: &str = "errand";

/// How external tasks come in.
const CHANNEL: &str = "errand";

pub(crate) fn register(registry: &mut Registry) {
    registry.register(erased(Question));
    registry.register(erased(HandOut));
    registry.register(erased(Consolidator(TaskAnswer)));
}

/// Whose external task it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Sender {
    execution: ExecutionId,
    task: u64,
    state: String,
    /// None: nobody waits for the answer.
    token: Option<String>,
}

impl Sender {
    /// The id that its submission is known by: the same after a crash, and never that of another task.
    fn key(execution: ExecutionId, task: u64) -> String {
        format!("{execution}/{task}")
    }

    fn from_context(context: &StepContext) -> Result<Self, StepError> {
        let wrong = || StepError::reject("this submission is not a task of a state machine").named("NoErrand");
        Self::read(&context.submission()?.metadata).ok_or_else(wrong)
    }

    fn read(metadata: &str) -> Option<Self> {
        let mut metadata: Map<String, Value> = serde_json::from_str(metadata).ok()?;
        serde_json::from_value(metadata.remove(METADATA)?).ok()
    }
}

/// Sends an external task, once however often the same task asks for it. `file` is what the submission's one file is called.
pub(crate) async fn send(
    engine: &Engine,
    workflow: impl Into<Name>,
    call: &TaskCall,
    file: &str,
    wanted: &Value,
    priority: i32,
) -> EngineResult<SubmissionId> {
    let stored = engine.blobs().put(wanted.to_string().into_bytes()).await?;
    let file = IntakeFile {
        name: file.to_owned(),
        content: stored.hash,
        size: stored.size,
        media_type: "application/json".to_owned(),
        key: None,
    };
    let sender =
        Sender { execution: call.execution, task: call.task, state: call.state.clone(), token: call.token.clone() };
    let mut intake = Intake::new(workflow, vec![file]);
    intake.external_id = Some(Sender::key(call.execution, call.task));
    CHANNEL.clone_into(&mut intake.channel);
    intake.priority = priority;
    intake.owner.clone_from(&call.owner);
    intake.metadata.insert(METADATA.to_owned(), json!(sender));
    Ok(engine.submit(intake).await?.id())
}

/// Nobody waits for the answer any more: an external task that is still open falls away. One that is answered goes to its end by
/// itself. Nothing happens if there is no such external task.
pub(crate) async fn withdraw(engine: &Engine, execution: ExecutionId, task: u64) -> EngineResult<()> {
    let Some(submission) = engine.store().find_submission(&Sender::key(execution, task)).await? else { return Ok(()) };
    if submission.channel == CHANNEL && !submission.status.is_final() {
        withdraw_open(engine, submission.id).await?;
    }
    Ok(())
}

/// The same for every external task whose token is gone: those of processes that died before they could withdraw them.
pub(crate) async fn withdraw_abandoned(engine: &Engine) -> EngineResult<()> {
    let statuses = SubmissionStatus::ALL.into_iter().filter(|status| !status.is_final()).collect();
    let open = SubmissionFilter { statuses, channel: Some(CHANNEL.to_owned()), limit: None };
    for submission in engine.store().submissions(open).await? {
        // A token is there before its errand is, so one that is not there is used up.
        if let Some(token) = Sender::read(&submission.metadata).and_then(|sender| sender.token)
            && engine.store().task_of_token(&token).await?.is_none()
        {
            withdraw_open(engine, submission.id).await?;
        }
    }
    Ok(())
}

async fn withdraw_open(engine: &Engine, id: SubmissionId) -> EngineResult<()> {
    let info = engine.catalog().submission(id).await?;
    let Some(asked) = reporting_stage(&info.workflow) else { return Ok(()) };
    let outcomes = engine.store().outcomes(id, Some(&asked.name)).await?;
    if outcomes.iter().all(|outcome| outcome.status == OutcomeStatus::Review) {
        engine.store().cancel_submission(id).await?;
    }
    Ok(())
}

/// The stage that waits for somebody: the last but one.
fn reporting_stage(workflow: &Workflow) -> Option<&Stage> {
    workflow.stages.iter().rev().nth(1)
}

/// What is wanted, as the submission's one file says.
fn request_of(context: &StepContext) -> Result<Value, StepError> {
    let missing = || StepError::reject("the file that says what is wanted is not there").named("NoErrand");
    let bytes = context.blob(context.item()?.content.ok_or_else(missing)?)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| StepError::reject(format!("the file that says what is wanted is not JSON: {error}")))
}

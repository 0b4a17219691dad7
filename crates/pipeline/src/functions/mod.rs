//! What the tasks of state machines can call.
//!
//! A resource is one of these:
//!
//! | resource | what is called, and with what |
//! |---|---|
//! | `arn:aws:states:::lambda:invoke` | the function `FunctionName` with `Payload`; the result has `Payload`, too |
//! | `arn:aws:lambda:REGION:ACCOUNT:function:NAME`, or just `NAME` | the function, with the state's input |
//! | `arn:aws:states:::http:invoke` | the URL `ApiEndpoint` |
//! | `arn:aws:states:::states:startExecution` | another machine; the executor does that itself |
//!
//! The function of a name is, in this order: what the configuration maps the name to (another name, a URL or a queue), a
//! function that comes with Bindery ([`BUILTIN`]), or a processor. With `.waitForTaskToken` the function is called the same way, and the task then waits
//! for its token.

mod builtin;
mod endpoint;
mod items;
mod resource;

pub use builtin::BUILTIN;

use crate::{
    external_tasks,
    idp::{IdpPlace, Places},
};
use async_trait::async_trait;
use bindery_core::{ExecutionId, StepError, outcome::Step};
use bindery_engine::{
    Engine,
    context::{CancelFlag, StepContext},
    machines::{ItemsRequest, ResultsRequest, TaskCall, TaskFailure, TaskResult, Tasks},
    steps::{StepTimes, run_from},
    work_id::WorkId,
};
use resource::{Target, target_of};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// The machines that come with Bindery: the files of the repository's `machines` folder, so what people read there is
/// what runs.
pub const MACHINES: [(&str, &str); 2] = [
    ("file_ingestion", include_str!("../../../../machines/file_ingestion.asl.json")),
    ("ingestion", include_str!("../../../../machines/ingestion.asl.json")),
];

/// Functions on an engine.
#[derive(Debug)]
pub struct Functions {
    engine: Engine,
    /// What names stand for, as the configuration says: another name, or the URL of an endpoint.
    names: BTreeMap<String, String>,
    /// Names that stand for queues, from which programs outside take tasks.
    queues: BTreeMap<String, String>,
    places: Arc<Places>,
    /// Where files are taken in for the document chain.
    place: Option<IdpPlace>,
}

impl Functions {
    pub fn new(engine: Engine) -> Self {
        Self { engine, names: BTreeMap::new(), queues: BTreeMap::new(), places: Arc::default(), place: None }
    }

    /// Names and ARNs of functions, each with the function or the URL that it stands for.
    #[must_use]
    pub fn with_names(mut self, names: BTreeMap<String, String>) -> Self {
        self.names = names;
        self
    }

    /// Names and ARNs of functions, each with the queue on which its tasks are handed out, such as `q.resize`.
    #[must_use]
    pub fn with_queues(mut self, queues: BTreeMap<String, String>) -> Self {
        self.queues = queues;
        self
    }

    /// The bucket or folder of the document chain, such as `s3://idp` or `file:///srv/idp`.
    pub fn with_place(mut self, url: &str) -> Result<Self, String> {
        let settings = Map::from_iter([("place".to_owned(), Value::from(url))]);
        self.place = Some(IdpPlace::from_settings(&settings, &self.places).map_err(|error| error.to_string())?);
        Ok(self)
    }

    /// Every name that a task can call.
    pub fn names(&self) -> Vec<String> {
        let builtin = BUILTIN.iter().map(|(name, _)| (*name).to_owned());
        let mut known: Vec<String> = self.names.keys().chain(self.queues.keys()).cloned().chain(builtin).collect();
        known.extend(self.engine.registry().names());
        known.sort_unstable();
        known.dedup();
        known
    }

    /// What the configuration says of a name or ARN; else the last part of an ARN.
    fn resolved<'a>(&'a self, name: &'a str) -> &'a str {
        configured(&self.names, name).unwrap_or_else(|| resource::function_name(name))
    }

    fn knows(&self, name: &str) -> bool {
        if configured(&self.queues, name).is_some() {
            return true;
        }
        let name = self.resolved(name);
        endpoint::is_url(name)
            || BUILTIN.iter().any(|(known, _)| *known == name)
            || self.engine.registry().get(name).is_some()
    }

    async fn call(&self, name: &str, payload: Value, call: &TaskCall) -> TaskResult {
        if let Some(queue) = configured(&self.queues, name) {
            return self.hand_out(queue, &payload, call).await;
        }
        let resolved = self.resolved(name);
        if endpoint::is_url(resolved) {
            return endpoint::post(resolved.to_owned(), payload, call).await;
        }
        if let Some(answer) = self.builtin(resolved, &payload, call).await {
            return answer;
        }
        if self.engine.registry().get(resolved).is_some() {
            return self.run_processor(resolved, payload, call).await;
        }
        Err(TaskFailure::unknown(name, &self.names()))
    }

    /// The three steps of a processor, on its own.
    async fn run_processor(&self, name: &str, payload: Value, call: &TaskCall) -> TaskResult {
        let unknown = || TaskFailure::unknown(name, &self.names());
        let processor = self.engine.registry().get(name).cloned().ok_or_else(unknown)?;
        let cancel = CancelOnDrop(CancelFlag::default());
        let (flag, attempt) = (cancel.0.clone(), call.attempt);
        let work = WorkId { job: format!("{}/{}", call.execution, call.task), about: call.idempotency_key.clone() };
        let run = move || {
            let context = StepContext::standalone(Arc::default(), attempt, flag).with_work(Some(work));
            run_from(&*processor, &context, Step::Validation, payload, &mut StepTimes::default())
                .map_err(|stopped| stopped.error)
        };
        let ran = tokio::task::spawn_blocking(run).await.map_err(|error| TaskFailure::new("States.Runtime", error))?;
        drop(cancel);
        ran.map(|extracted| extracted.output).map_err(failed)
    }
}

/// What the configuration says of a name, or of an ARN or the name in it.
fn configured<'a>(table: &'a BTreeMap<String, String>, name: &str) -> Option<&'a str> {
    table.get(name).or_else(|| table.get(resource::function_name(name))).map(String::as_str)
}

/// A step on a thread of its own is asked to stop when nobody waits for it any more.
struct CancelOnDrop(CancelFlag);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// What a step says of its failure; its name is what `Retry` and `Catch` go by.
fn failed(error: StepError) -> TaskFailure {
    TaskFailure::new(error.kind, error.message)
}

#[async_trait]
impl Tasks for Functions {
    fn check(&self, resource: &str) -> Result<(), String> {
        match target_of(resource) {
            Target::Invoke | Target::Http | Target::Start | Target::Items | Target::Results => Ok(()),
            Target::Function(name) if self.knows(name) => Ok(()),
            Target::Function(_) => {
                let known = self.names();
                Err(format!("there is no resource {resource:?}; known are {}", known.join(", ")))
            }
            Target::Other(service) => Err(format!(
                "there is no service {service:?} here; known are lambda:invoke, http:invoke and states:startExecution, \
                 and the functions {}",
                self.names().join(", ")
            )),
        }
    }

    async fn run(&self, call: TaskCall) -> TaskResult {
        match target_of(&call.resource) {
            Target::Invoke => {
                let name = call.input.get("FunctionName").and_then(Value::as_str).ok_or_else(|| {
                    TaskFailure::new("States.TaskFailed", "FunctionName: expected the name of a function")
                })?;
                let payload = call.input.get("Payload").cloned().unwrap_or_else(|| json!({}));
                let answer = self.call(name, payload, &call).await?;
                Ok(json!({"ExecutedVersion": "$LATEST", "Payload": answer, "StatusCode": 200}))
            }
            Target::Http => endpoint::invoke(&call).await,
            Target::Function(name) => self.call(name, call.input.clone(), &call).await,
            Target::Start | Target::Items | Target::Results | Target::Other(_) => {
                Err(TaskFailure::unknown(&call.resource, &self.names()))
            }
        }
    }

    async fn released(&self, execution: ExecutionId, task: u64) {
        if let Err(error) = external_tasks::withdraw(&self.engine, execution, task).await {
            tracing::warn!(%execution, task, error = %error, "what nobody waits for any more was not withdrawn");
        }
    }

    async fn on_start(&self) {
        if let Err(error) = external_tasks::withdraw_abandoned(&self.engine).await {
            tracing::warn!(error = %error, "what nobody waits for any more was not looked for");
        }
    }

    async fn read_items(&self, request: ItemsRequest) -> Result<Vec<Value>, TaskFailure> {
        items::read(&self.places, request).await
    }

    async fn write_results(&self, request: ResultsRequest) -> TaskResult {
        items::write(&self.places, request).await
    }
}

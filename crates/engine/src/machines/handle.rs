//! What people do with machines and executions.

use super::{execution_state::Message, tasks::Tasks};
use crate::{
    error::{EngineError, EngineResult},
    retention::delete_executions,
};
use bindery_core::{ExecutionId, Name, Timestamp};
use bindery_states::asl::{definition::Definition, stepper::Event};
use bindery_store::{
    Store,
    executions::{
        DeletedExecutions, ExecutionFilter, ExecutionStatus, NewExecution, Started, StoredExecution, StoredMachine,
    },
    retention::Reason,
};
use serde_json::Value;
use std::{sync::Arc, time::Duration};

/// The longest name of a machine or an execution.
const LONGEST_NAME: usize = 80;

/// Accounts and regions mean nothing here, but programs that take names apart expect them.
const PLACE: &str = "local:000000000000";

pub fn arn_of_machine(machine: &str) -> String {
    format!("arn:aws:states:{PLACE}:stateMachine:{}", machine_name(machine))
}

pub fn arn_of_execution(machine: &str, name: &str) -> String {
    format!("arn:aws:states:{PLACE}:execution:{}:{name}", machine_name(machine))
}

/// The machine that a name or an ARN means.
pub fn machine_name(text: &str) -> &str {
    text.split_once(":stateMachine:").map_or(text, |(_, rest)| rest.split(':').next().unwrap_or(rest))
}

/// How an execution is to be started.
#[derive(Debug, Clone)]
pub struct StartRequest {
    /// A name, or an ARN.
    pub machine: String,
    /// None: a name of its own.
    pub name: Option<String>,
    pub input: Value,
    /// Whose it is: so is what its tasks take in, and what executions it starts.
    pub owner: Option<String>,
}

/// What is reported for a task token.
#[derive(Debug, Clone)]
pub enum Answer {
    Succeeded(Value),
    Failed { error: Option<String>, cause: Option<String> },
    Heartbeat,
}

/// How an execution ended; none while it runs.
pub type Ended = Option<StoredExecution>;

/// A cheap handle on the machines of a store.
#[derive(Debug, Clone)]
pub struct Machines {
    store: Arc<dyn Store>,
}

impl Machines {
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Checks a definition and stores it: the newest version, if its text has changed. With `tasks`, every resource must
    /// be known.
    pub async fn put(&self, name: &str, text: &str, tasks: Option<&dyn Tasks>) -> EngineResult<i64> {
        check_name("machine", name)?;
        let definition = Definition::parse(text).map_err(|faults| EngineError::Invalid(faults.to_string()))?;
        if let Some(tasks) = tasks {
            for (state, resource) in definition.resources() {
                tasks.check(resource).map_err(|why| EngineError::Invalid(format!("state {state:?}: {why}")))?;
            }
        }
        Ok(self.store.put_machine(&Name::from(name), text).await?)
    }

    pub async fn machine(&self, name: &str, version: Option<i64>) -> EngineResult<StoredMachine> {
        let name = Name::from(machine_name(name));
        if let Some(machine) = self.store.machine(&name, version).await? {
            return Ok(machine);
        }
        let known: Vec<String> = self.store.machines().await?.iter().map(|machine| machine.name.to_string()).collect();
        let known =
            if known.is_empty() { "none is stored".to_owned() } else { format!("known are {}", known.join(", ")) };
        let version = version.map_or_else(String::new, |version| format!(" in version {version}"));
        Err(EngineError::NotFound(format!("machine {name:?}{version}; {known}")))
    }

    /// Starts an execution, or finds the one that was started under the same name with the same input. True: it is new.
    pub async fn start(&self, request: StartRequest) -> EngineResult<(ExecutionId, bool)> {
        let machine = self.machine(&request.machine, None).await?;
        let name = request.name.unwrap_or_else(|| format!("{:016x}", fastrand::u64(..)));
        check_name("execution", &name)?;
        let input = request.input.to_string();
        let new = NewExecution {
            machine: machine.name,
            version: machine.version,
            name: name.clone(),
            input: input.clone(),
            owner: request.owner.clone(),
            parent: None,
        };
        match self.store.start_executions(vec![new]).await?.pop() {
            Some(Started::New(id)) => Ok((id, true)),
            Some(Started::Existing(existing)) if existing.input == input && existing.owner == request.owner => {
                Ok((existing.id, false))
            }
            Some(Started::Existing(existing)) => {
                let differs = if existing.input == input { "for another owner" } else { "with another input" };
                Err(EngineError::Taken(format!(
                    "ExecutionAlreadyExists: {} was started under the name {name:?} {differs}; take another name",
                    existing.id
                )))
            }
            None => Err(EngineError::Invalid("nothing was started".to_owned())),
        }
    }

    /// By its id, by its ARN, or as `machine:name`.
    pub async fn find(&self, text: &str) -> EngineResult<StoredExecution> {
        let found = if let Ok(id) = text.parse::<ExecutionId>() {
            self.store.execution(id).await?
        } else {
            let names = text.split_once(":execution:").map_or(text, |(_, names)| names);
            match names.split_once(':') {
                Some((machine, name)) => self.store.find_execution(&Name::from(machine), name).await?,
                None => None,
            }
        };
        found.ok_or_else(|| {
            EngineError::NotFound(format!("execution {text:?}; expected an id like exec_12 or machine:name"))
        })
    }

    pub async fn executions(&self, filter: ExecutionFilter) -> EngineResult<Vec<StoredExecution>> {
        Ok(self.store.executions(filter).await?)
    }

    /// Asks a running execution to end; false if it has ended already.
    pub async fn stop(&self, id: ExecutionId, error: Option<String>, cause: Option<String>) -> EngineResult<bool> {
        let message = Message::Event(Event::Stopped { error, cause });
        Ok(self.store.send_signal(id, &message.to_text(), None).await?)
    }

    /// Starts an execution that ended without success again, from the state that it failed in.
    pub async fn redrive(&self, id: ExecutionId) -> EngineResult<()> {
        if self.store.redrive_execution(id, &Message::Event(Event::Redriven).to_text()).await? {
            return Ok(());
        }
        let execution = self.store.execution(id).await?;
        let execution = execution.ok_or_else(|| EngineError::NotFound(format!("execution {id}")))?;
        Err(EngineError::Invalid(format!(
            "{id} is {}; only executions that failed, timed out or were stopped can be started again",
            execution.status
        )))
    }

    /// Reports on a task that waits for its token.
    pub async fn report(&self, token: &str, answer: Answer) -> EngineResult<()> {
        let gone = || EngineError::NotFound(format!("task that waits for token {token:?}; it may have ended"));
        let (id, task) = self.store.task_of_token(token).await?.ok_or_else(gone)?;
        let (message, used) = match answer {
            Answer::Succeeded(output) => (Message::Event(Event::TaskSucceeded { task, output }), Some(token)),
            Answer::Failed { error, cause } => (Message::Event(Event::TaskFailed { task, error, cause }), Some(token)),
            Answer::Heartbeat => (Message::Heartbeat { task }, None),
        };
        if self.store.send_signal(id, &message.to_text(), used).await? { Ok(()) } else { Err(gone()) }
    }

    /// All events of an execution after one of them.
    pub async fn history(&self, id: ExecutionId, after: u64, limit: u64) -> EngineResult<Vec<Value>> {
        let mut events = Vec::new();
        for chunk in self.store.execution_history(id, after, limit).await? {
            let piece: Vec<Value> = serde_json::from_str(&chunk.events)
                .map_err(|error| EngineError::Invalid(format!("the stored history of {id}: {error}")))?;
            let skip = usize::try_from((after + 1).saturating_sub(chunk.first)).unwrap_or(usize::MAX);
            events.extend(piece.into_iter().skip(skip));
        }
        events.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(events)
    }

    /// Waits until the execution has ended, or the time is over.
    pub async fn wait(&self, id: ExecutionId, at_most: Duration) -> EngineResult<Ended> {
        let deadline = tokio::time::Instant::now() + at_most;
        loop {
            let mark = self.store.change_mark();
            let execution = self.store.execution(id).await?;
            let execution = execution.ok_or_else(|| EngineError::NotFound(format!("execution {id}")))?;
            if execution.status != ExecutionStatus::Running {
                return Ok(Some(execution));
            }
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.store.changed(mark, left.min(Duration::from_millis(500))).await;
        }
    }

    /// Deletes executions that ended before, with their histories.
    pub async fn prune(&self, before: Timestamp) -> EngineResult<u64> {
        delete_executions(&*self.store, DeletedExecutions::EndedBefore(before), Reason::Pruned).await
    }
}

/// Names as the service allows them.
fn check_name(what: &str, name: &str) -> EngineResult<()> {
    let allowed = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    if !name.is_empty() && name.chars().count() <= LONGEST_NAME && name.chars().all(allowed) {
        return Ok(());
    }
    Err(EngineError::Invalid(format!(
        "{name:?} is no name of {} {what}: 1 to {LONGEST_NAME} letters, digits, dots, dashes and underscores are",
        if what == "execution" { "an" } else { "a" }
    )))
}

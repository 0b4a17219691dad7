//! Machines in the store: definitions stored from files, executions started and described.

use super::{DefinitionError, DefinitionFile};
use crate::{app::App, error::AppResult};
use bindery_core::ExecutionId;
use bindery_engine::machines::{StartRequest, Tasks, arn_of_execution, arn_of_machine};
use bindery_store::executions::StoredExecution;
use serde_json::{Value, json};
use std::path::Path;

/// What an execution begins with.
#[derive(Debug)]
pub struct Start {
    /// The name of a stored machine, or a file with a definition, which is stored first.
    pub machine: String,
    pub input: Value,
    /// Starting again under the same name finds the execution instead.
    pub name: Option<String>,
    pub owner: Option<String>,
}

impl App {
    /// Stores a definition under the name of its file, or another one. Returns the name and the version.
    pub async fn put_machine(&self, file: &Path, name: Option<String>, tasks: &dyn Tasks) -> AppResult<(String, i64)> {
        let source = DefinitionFile::read(file)?;
        let node = source.node().map_err(|faults| source.refusal(&faults))?;
        source.definition().map_err(|faults| source.refusal(&faults))?;
        let name = name.unwrap_or_else(|| name_of(file));
        let text = serde_json::to_string_pretty(&node.to_value())?;
        let refused = |error| DefinitionError::NotStored { name: source.name.clone(), error };
        let version = self.machines().put(&name, &text, Some(tasks)).await.map_err(refused)?;
        Ok((name, version))
    }

    /// True: it is new.
    pub async fn start_machine(&self, start: Start, tasks: &dyn Tasks) -> AppResult<(ExecutionId, bool)> {
        let Start { machine, input, name, owner } = start;
        let machine = match Path::new(&machine) {
            file if file.is_file() => self.put_machine(file, None, tasks).await?.0,
            _ => machine,
        };
        Ok(self.machines().start(StartRequest { machine, name, input, owner }).await?)
    }
}

/// `file_ingestion.asl.json` is `file_ingestion`.
fn name_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    name.split('.').next().unwrap_or(&name).to_owned()
}

/// An execution as `DescribeExecution` answers.
pub fn describe_execution(execution: &StoredExecution) -> Value {
    let mut described = json!({
        "id": execution.id,
        "executionArn": arn_of_execution(&execution.machine, &execution.name),
        "stateMachineArn": arn_of_machine(&execution.machine),
        "version": execution.version,
        "name": execution.name,
        "status": execution.status,
        "startDate": execution.started_at.to_string(),
        "input": execution.input,
        "events": execution.events,
        "redriveCount": execution.redrives,
    });
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            described[name] = value;
        }
    };
    add("stopDate", execution.ended_at.map(|at| at.to_string().into()));
    add("owner", execution.owner.clone().map(Value::from));
    add("output", execution.output.clone().map(Value::from));
    add("error", execution.error.clone().map(Value::from));
    add("cause", execution.cause.clone().map(Value::from));
    add("parent", execution.parent.map(|(id, _)| json!(id)));
    described
}

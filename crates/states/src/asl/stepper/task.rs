//! Tasks: asked for, and answered.

use super::{
    event::{Command, Event, Nested},
    execution::{Activity, ThreadId},
    failure::{Failure, names},
    history::Details,
    machine::Stepper,
    resource::{Pattern, Resource},
    view::{View, invalid_path, type_failure},
};
use crate::asl::definition::{Setting, State, StateKind, Task};
use serde_json::Value;

/// Which event of a task's life.
#[derive(Clone, Copy)]
enum Moment {
    Succeeded,
    Failed,
    TimedOut,
}

impl<'a> Stepper<'a> {
    pub(super) fn task(&mut self, id: ThreadId, state: &'a State, task: &'a Task) -> Result<(), Failure> {
        let resource = Resource::parse(&task.resource);
        let token = (resource.pattern() == Pattern::Token).then(|| self.surroundings.uuid());
        let timeout = self.seconds(id, state, task.timeout.as_ref(), "TimeoutSeconds")?;
        let heartbeat = self.seconds(id, state, task.heartbeat.as_ref(), "HeartbeatSeconds")?;
        let input = self.arguments(id, state, token.as_deref())?;
        let credentials = match &task.credentials {
            None => None,
            Some(template) => {
                let selected = self.selected_input(id, state)?;
                Some(View { token: token.as_deref(), ..self.view(id, &selected) }.resolve(template)?)
            }
        };
        let text = self.checked(&input, &state.name)?;
        let number = self.next_wait(id);
        self.scheduled(id, &resource, text, timeout, heartbeat, credentials.as_ref());
        let (mut visit, mut retries) = ((id, 0), 0);
        if let Some(thread) = self.execution.threads.get_mut(&id) {
            thread.activity = Activity::Task { task: number };
            (visit.1, retries) = (thread.entered.event, thread.retries);
        }
        self.step.commands.push(Command::RunTask {
            task: number,
            state: state.name.clone(),
            resource: task.resource.clone(),
            nested: nested(&resource, &input),
            input,
            timeout_seconds: timeout,
            heartbeat_seconds: heartbeat,
            credentials,
            token,
            visit,
            retries,
        });
        Ok(())
    }

    fn seconds(
        &self,
        id: ThreadId,
        state: &State,
        setting: Option<&Setting>,
        field: &str,
    ) -> Result<Option<u64>, Failure> {
        let Some(setting) = setting else { return Ok(None) };
        let selected = self.selected_input(id, state)?;
        let value = self.view(id, &selected).setting(setting, invalid_path)?;
        let seconds = value.as_f64().filter(|seconds| seconds.fract() == 0.0 && (1.0..=99_999_999.0).contains(seconds));
        seconds.map(|seconds| Some(seconds as u64)).ok_or_else(|| type_failure(setting, field, "integer", &value))
    }

    fn scheduled(
        &mut self,
        id: ThreadId,
        resource: &Resource<'_>,
        input: String,
        timeout: Option<u64>,
        heartbeat: Option<u64>,
        credentials: Option<&Value>,
    ) {
        let limits = |details: Details| {
            details.with_some("timeoutInSeconds", timeout).with_some("heartbeatInSeconds", heartbeat)
        };
        // History tells the role alone.
        let role = credentials.and_then(|value| value.get("RoleArn")).map(|role| serde_json::json!({"roleArn": role}));
        match resource {
            Resource::Service { service, action, .. } => {
                let details = Details::new("taskScheduledEventDetails")
                    .with("resourceType", service.clone())
                    .with("resource", action.clone())
                    .with("region", self.region())
                    .with("parameters", input)
                    .with_some("taskCredentials", role);
                self.follow(id, "TaskScheduled", Some(limits(details)));
                let details = Details::new("taskStartedEventDetails");
                let details = details.with("resourceType", service.clone()).with("resource", action.clone());
                self.follow(id, "TaskStarted", Some(details));
            }
            Resource::Activity(arn) => {
                let details =
                    Details::new("activityScheduledEventDetails").with("resource", *arn).payload("input", input);
                self.follow(id, "ActivityScheduled", Some(limits(details)));
            }
            Resource::Function(name) => {
                let details = Details::new("lambdaFunctionScheduledEventDetails")
                    .with("resource", *name)
                    .payload("input", input)
                    .with_some("taskCredentials", role)
                    .with_some("timeoutInSeconds", timeout);
                self.follow(id, "LambdaFunctionScheduled", Some(details));
                self.follow(id, "LambdaFunctionStarted", None);
            }
        }
    }

    /// As the execution's own name has it.
    fn region(&self) -> String {
        self.execution.identity.id.split(':').nth(3).unwrap_or_default().to_owned()
    }

    pub(super) fn task_event(&mut self, event: Event) {
        let task = match &event {
            Event::TaskStarted { task, .. }
            | Event::TaskSubmitted { task, .. }
            | Event::TaskSucceeded { task, .. }
            | Event::TaskFailed { task, .. }
            | Event::TaskTimedOut { task }
            | Event::HeartbeatMissed { task }
            | Event::ItemsRead { task, .. } => *task,
            _ => return,
        };
        let goes_on = matches!(event, Event::TaskStarted { .. } | Event::TaskSubmitted { .. });
        let Some(id) = self.waiting_for(task, goes_on) else { return };
        let Some(state) = self.state_of(id) else { return };
        let StateKind::Task(definition) = &state.kind else { return self.transfer_event(id, state, event) };
        let resource = Resource::parse(&definition.resource);
        match event {
            Event::TaskStarted { worker, .. } => {
                if matches!(resource, Resource::Activity(_)) {
                    let details = Details::new("activityStartedEventDetails").with_some("workerName", worker);
                    self.follow(id, "ActivityStarted", Some(details));
                }
            }
            Event::TaskSubmitted { output, .. } => {
                if let Resource::Service { service, action, .. } = resource {
                    let details = Details::new("taskSubmittedEventDetails")
                        .with("resourceType", service)
                        .with("resource", action);
                    self.follow(id, "TaskSubmitted", Some(details.payload("output", output.to_string())));
                }
            }
            Event::TaskSucceeded { output, .. } => self.task_succeeded(id, state, &definition.resource, output),
            Event::TaskFailed { error, cause, .. } => {
                self.task_failed(id, &resource, Moment::Failed, Failure::from_parts(error, cause));
            }
            Event::TaskTimedOut { .. } => {
                self.task_failed(
                    id,
                    &resource,
                    Moment::TimedOut,
                    Failure::from_parts(Some(names::TIMEOUT.to_owned()), None),
                );
            }
            Event::HeartbeatMissed { .. } => {
                let failure = Failure {
                    also: Some(names::HEARTBEAT),
                    ..Failure::from_parts(Some(names::TIMEOUT.to_owned()), None)
                };
                self.task_failed(id, &resource, Moment::TimedOut, failure);
            }
            _ => {}
        }
    }

    fn task_succeeded(&mut self, id: ThreadId, state: &'a State, name: &str, output: Value) {
        let resource = Resource::parse(name);
        match self.checked(&output, name) {
            Ok(text) => {
                let (kind, details) = outcome(&resource, Moment::Succeeded);
                self.follow(id, kind, Some(details.payload("output", text)));
                if let Err(failure) = self.finish(id, state, Some(output)) {
                    self.fail(id, failure);
                }
            }
            Err(failure) => self.task_failed(id, &resource, Moment::Failed, failure),
        }
    }

    fn task_failed(&mut self, id: ThreadId, resource: &Resource<'_>, moment: Moment, failure: Failure) {
        let (kind, details) = outcome(resource, moment);
        let details = details.with_some("error", failure.error.clone()).with_some("cause", failure.cause.clone());
        self.follow(id, kind, Some(details));
        self.fail(id, failure);
    }
}

fn outcome(resource: &Resource<'_>, moment: Moment) -> (&'static str, Details) {
    let names = match (resource, moment) {
        (Resource::Service { .. }, Moment::Succeeded) => ("TaskSucceeded", "taskSucceededEventDetails"),
        (Resource::Service { .. }, Moment::Failed) => ("TaskFailed", "taskFailedEventDetails"),
        (Resource::Service { .. }, Moment::TimedOut) => ("TaskTimedOut", "taskTimedOutEventDetails"),
        (Resource::Activity(_), Moment::Succeeded) => ("ActivitySucceeded", "activitySucceededEventDetails"),
        (Resource::Activity(_), Moment::Failed) => ("ActivityFailed", "activityFailedEventDetails"),
        (Resource::Activity(_), Moment::TimedOut) => ("ActivityTimedOut", "activityTimedOutEventDetails"),
        (Resource::Function(_), Moment::Succeeded) => {
            ("LambdaFunctionSucceeded", "lambdaFunctionSucceededEventDetails")
        }
        (Resource::Function(_), Moment::Failed) => ("LambdaFunctionFailed", "lambdaFunctionFailedEventDetails"),
        (Resource::Function(_), Moment::TimedOut) => ("LambdaFunctionTimedOut", "lambdaFunctionTimedOutEventDetails"),
    };
    let details = Details::new(names.1);
    let details = match resource {
        Resource::Service { service, action, .. } => {
            details.with("resourceType", service.clone()).with("resource", action.clone())
        }
        _ => details,
    };
    (names.0, details)
}

/// A task that starts another machine, in a form that says so.
fn nested(resource: &Resource<'_>, input: &Value) -> Option<Nested> {
    let Resource::Service { service, action, pattern } = resource else { return None };
    if service != "states" || !action.starts_with("startExecution") {
        return None;
    }
    let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(Nested {
        machine: text("StateMachineArn")?,
        name: text("Name"),
        input: input.get("Input").cloned().unwrap_or_else(|| serde_json::json!({})),
        waits: matches!(pattern, Pattern::Job | Pattern::JobAsJson),
        output_as_json: *pattern == Pattern::JobAsJson,
    })
}

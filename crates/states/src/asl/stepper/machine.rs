//! The loop: events are handed to who waits for them, states are entered and left, failures find their handler.

use super::{
    Step,
    event::{Command, Event, Moment, StepLimits},
    execution::{Activity, Entered, Execution, ROOT, Status, Thread, ThreadId},
    failure::{Failure, delay, names},
    history::{self, Details, HistoryEvent},
};
use crate::{
    asl::definition::{Definition, State, StateKind},
    jsonata::{Prepared, Surroundings},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub(super) struct Stepper<'a> {
    pub(super) definition: &'a Definition,
    pub(super) execution: &'a mut Execution,
    pub(super) now: i64,
    pub(super) limits: StepLimits,
    pub(super) surroundings: Surroundings,
    /// What the context object says instead of what is so, when a state is tried alone.
    pub(super) given_context: Option<Value>,
    /// Who handled the last failure.
    pub(super) handled: Option<Handled>,
    /// The inputs of Maps under way, made ready once for all of their items.
    pub(super) prepared: BTreeMap<ThreadId, Prepared>,
    pub(super) step: Step,
}

/// What a state gives when it is left.
pub(super) struct Exit<'a> {
    pub(super) output: Value,
    pub(super) assigned: Map<String, Value>,
    /// The next state; none where the machine ends.
    pub(super) next: Option<&'a str>,
}

/// A failure that was not the end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Handled {
    pub(super) failure: Failure,
    pub(super) by: Handler,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Handler {
    /// The number of the retrier, and the seconds until the next attempt.
    Retrier(usize, f64),
    Catcher(usize),
}

impl<'a> Stepper<'a> {
    pub(super) fn new(definition: &'a Definition, execution: &'a mut Execution, moment: Moment) -> Self {
        let surroundings = Surroundings::new(moment.now, moment.seed);
        Self {
            definition,
            execution,
            now: moment.now,
            limits: moment.limits,
            surroundings,
            given_context: None,
            handled: None,
            prepared: BTreeMap::new(),
            step: Step::default(),
        }
    }

    pub(super) fn handle(mut self, event: Event) -> Step {
        match event {
            Event::Started => self.start(),
            Event::Redriven => self.redrive(),
            _ if self.execution.status != Status::Running => return self.step,
            Event::Continued => {}
            Event::TimerFired { timer } => self.timer_fired(timer),
            Event::Stopped { error, cause } => {
                let details = Details::new("executionAbortedEventDetails");
                let details = details.with_some("error", error.clone()).with_some("cause", cause.clone());
                self.end("ExecutionAborted", details, Status::Aborted { error, cause });
            }
            Event::ExecutionTimedOut => {
                let details = Details::new("executionTimedOutEventDetails").with("error", names::TIMEOUT);
                self.end("ExecutionTimedOut", details, Status::TimedOut);
            }
            of_task => self.task_event(of_task),
        }
        self.run();
        self.step
    }

    fn start(&mut self) {
        if self.execution.last_event > 0 {
            return;
        }
        self.execution.started_at = self.now;
        let details = Details::new("executionStartedEventDetails")
            .payload("input", self.execution.input.to_string())
            .with("roleArn", self.execution.identity.role.clone());
        self.note(0, "ExecutionStarted", Some(details));
        let root = self.definition.root();
        let thread = Thread::new(None, 0, 0, &root.start_at, self.execution.input.clone());
        self.execution.threads.insert(ROOT, thread);
        self.execution.ready.push_back(ROOT);
    }

    /// The outermost state starts anew, with the input and the variables it had.
    fn redrive(&mut self) {
        let Some(thread) = self.execution.broken.take() else { return };
        self.execution.redrives += 1;
        self.execution.status = Status::Running;
        let details = Details::new("executionRedrivenEventDetails").with("redriveCount", self.execution.redrives);
        let event = self.note(self.execution.last_event, "ExecutionRedriven", Some(details));
        let thread = Thread { previous: event, activity: Activity::Ready, ..*thread };
        self.execution.threads.insert(ROOT, thread);
        self.execution.ready.push_back(ROOT);
    }

    fn run(&mut self) {
        let mut left = self.limits.transitions.max(1);
        while self.execution.status == Status::Running {
            let Some(id) = self.execution.ready.pop_front() else { return };
            if left == 0 {
                self.execution.ready.push_front(id);
                self.step.commands.push(Command::Continue);
                return;
            }
            left -= 1;
            self.enter(id);
        }
    }

    /// An event of the history that belongs to the execution as a whole.
    fn note(&mut self, previous: u64, kind: &'static str, details: Option<Details>) -> u64 {
        self.execution.last_event += 1;
        let id = self.execution.last_event;
        self.step.history.push(HistoryEvent { id, previous, at: self.now, kind, details });
        id
    }

    /// An event of a thread, which need not be the one that its next event follows.
    pub(super) fn record(&mut self, id: ThreadId, previous: u64, kind: &'static str, details: Option<Details>) -> u64 {
        match self.execution.threads.get_mut(&id) {
            Some(thread) if thread.apart => {
                thread.apart_events += 1;
                previous
            }
            _ => self.note(previous, kind, details),
        }
    }

    /// An event that the next one of the thread follows.
    pub(super) fn follow(&mut self, id: ThreadId, kind: &'static str, details: Option<Details>) {
        let previous = self.execution.threads.get(&id).map_or(0, |thread| thread.previous);
        let event = self.record(id, previous, kind, details);
        if let Some(thread) = self.execution.threads.get_mut(&id) {
            thread.previous = event;
        }
    }

    pub(super) fn number(&mut self) -> u64 {
        self.execution.last_number += 1;
        self.execution.last_number
    }

    /// The number of a task or timer whose answer belongs to a thread.
    pub(super) fn next_wait(&mut self, id: ThreadId) -> u64 {
        let number = self.number();
        self.execution.awaited.insert(number, id);
        number
    }

    /// The thread that waits for an answer; none if nobody does any more.
    pub(super) fn waiting_for(&mut self, number: u64, goes_on: bool) -> Option<ThreadId> {
        let awaited = &mut self.execution.awaited;
        if goes_on { awaited.get(&number).copied() } else { awaited.remove(&number) }
    }

    pub(super) fn state_of(&self, id: ThreadId) -> Option<&'a State> {
        let thread = self.execution.threads.get(&id)?;
        self.definition.state(thread.machine, &thread.state)
    }

    pub(super) fn enter(&mut self, id: ThreadId) {
        let Some(thread) = self.execution.threads.get(&id).filter(|thread| thread.activity == Activity::Ready) else {
            return;
        };
        let Some(state) = self.state_of(id) else {
            let failure = Failure::named(names::RUNTIME, format!("the definition has no state '{}'", thread.state));
            return self.fail_thread(id, failure);
        };
        let events = if thread.apart { thread.apart_events } else { self.execution.last_event };
        if events >= self.limits.history {
            let cause =
                format!("The execution reached the maximum number of history events ({}).", self.limits.history);
            return self.fail_thread(id, Failure::named(names::RUNTIME, cause));
        }
        let (before, text) = (thread.previous, if thread.apart { String::new() } else { thread.input.to_string() });
        let details = Details::new("stateEnteredEventDetails").with("name", state.name.clone()).payload("input", text);
        let event = self.record(id, before, history::entered(state.kind.name()), Some(details));
        if let Some(thread) = self.execution.threads.get_mut(&id) {
            thread.previous = event;
            thread.entered = Entered { event, before, at: self.now };
            thread.attempts = vec![0; state.retry.len()];
            thread.retries = 0;
        }
        self.begin(id, state);
    }

    fn begin(&mut self, id: ThreadId, state: &'a State) {
        let begun = match &state.kind {
            StateKind::Pass { result } => self.pass(id, state, result.as_ref()),
            StateKind::Task(task) => self.task(id, state, task),
            StateKind::Choice { rules, default } => self.choice(id, state, rules, default.as_deref()),
            StateKind::Wait(until) => self.wait(id, state, until),
            StateKind::Succeed => self.succeed(id, state),
            StateKind::Fail { error, cause } => self.fail_state(id, error.as_ref(), cause.as_ref()),
            StateKind::Parallel { branches } => self.parallel(id, state, branches),
            StateKind::Map(map) => self.map(id, state, map),
        };
        if let Err(failure) = begun {
            self.fail(id, failure);
        }
    }

    pub(super) fn timer_fired(&mut self, timer: u64) {
        let Some(id) = self.waiting_for(timer, false) else { return };
        let Some(state) = self.state_of(id) else { return };
        let Some(thread) = self.execution.threads.get_mut(&id) else { return };
        let was = std::mem::replace(&mut thread.activity, Activity::Ready);
        if matches!(was, Activity::Retrying { .. }) {
            self.begin(id, state);
        } else if let Err(failure) = self.finish(id, state, None) {
            self.fail(id, failure);
        }
    }

    pub(super) fn leave(&mut self, id: ThreadId, state: &'a State, exit: Exit<'a>) -> Result<(), Failure> {
        let text = self.checked(&exit.output, &state.name)?;
        let mut details =
            Details::new("stateExitedEventDetails").with("name", state.name.clone()).payload("output", text);
        if !exit.assigned.is_empty() {
            let variables: Map<_, _> =
                exit.assigned.iter().map(|(name, value)| (name.clone(), value.to_string().into())).collect();
            details = details
                .with("assignedVariables", variables)
                .with("assignedVariablesDetails", json!({"truncated": false}));
        }
        self.follow(id, history::exited(state.kind.name()), Some(details));
        let Some(thread) = self.execution.threads.get_mut(&id) else { return Ok(()) };
        thread.variables.extend(exit.assigned);
        match exit.next {
            Some(next) => {
                next.clone_into(&mut thread.state);
                thread.input = exit.output;
                thread.activity = Activity::Ready;
                self.execution.ready.push_back(id);
            }
            None => self.done(id, exit.output),
        }
        Ok(())
    }

    /// The payload as text, if it is not too large.
    pub(super) fn checked(&self, value: &Value, what: &str) -> Result<String, Failure> {
        let text = value.to_string();
        if text.len() > self.limits.payload { Err(Failure::too_large(what)) } else { Ok(text) }
    }

    /// A thread has come to its end.
    fn done(&mut self, id: ThreadId, output: Value) {
        let Some(thread) = self.execution.threads.get(&id) else { return };
        if thread.parent.is_some() {
            self.child_done(id, output);
        } else {
            let details = Details::new("executionSucceededEventDetails").payload("output", output.to_string());
            self.end("ExecutionSucceeded", details, Status::Succeeded { output });
        }
    }

    /// Who retries, catches or fails.
    pub(super) fn fail(&mut self, id: ThreadId, failure: Failure) {
        self.fail_from(id, failure, false);
    }

    pub(super) fn fail_from(&mut self, id: ThreadId, failure: Failure, from_child: bool) {
        let (Some(thread), Some(state)) = (self.execution.threads.get(&id), self.state_of(id)) else { return };
        let mut failure = failure.at(&thread.state, thread.entered.event);
        if let Some(evaluation) = failure.evaluation.take() {
            // A Map that has not started yet has nothing to follow.
            let has_not_started =
                matches!(state.kind, StateKind::Map(_)) && !matches!(thread.activity, Activity::Composite(_));
            let previous = if has_not_started { thread.entered.before } else { thread.previous };
            let details = Details::new("evaluationFailedEventDetails")
                .with_some("error", failure.error.clone())
                .with_some("cause", failure.cause.clone())
                .with_some("location", evaluation.location)
                .with("state", state.name.clone());
            let event = self.record(id, previous, "EvaluationFailed", Some(details));
            if let Some(thread) = self.execution.threads.get_mut(&id) {
                thread.previous = event;
            }
        }
        self.drop_children(id);
        if self.retry(id, state, &failure) {
            return;
        }
        let is_composite = matches!(state.kind, StateKind::Map(_) | StateKind::Parallel { .. });
        if is_composite && (from_child || failure.error.as_deref() != Some(names::RUNTIME)) {
            self.follow(id, history::failed(state.kind.name()), None);
        }
        match self.catch(id, state, &failure) {
            Some(Ok(())) => {}
            Some(Err(failure)) => {
                let entered = self.execution.threads.get(&id).map_or(0, |thread| thread.entered.event);
                self.fail_thread(id, failure.at(&state.name, entered));
            }
            None => self.fail_thread(id, failure),
        }
    }

    /// Whether there is another attempt.
    fn retry(&mut self, id: ThreadId, state: &'a State, failure: &Failure) -> bool {
        let Some((number, retrier)) = failure.retrier(&state.retry) else { return false };
        let Some(thread) = self.execution.threads.get_mut(&id) else { return false };
        let Some(used) = thread.attempts.get_mut(number).filter(|used| **used < retrier.max_attempts) else {
            return false;
        };
        let seconds = delay(retrier, *used, if retrier.full_jitter { self.surroundings.fraction() } else { 1.0 });
        *used += 1;
        thread.retries += 1;
        self.handled = Some(Handled { failure: failure.clone(), by: Handler::Retrier(number, seconds) });
        let timer = self.next_wait(id);
        if let Some(thread) = self.execution.threads.get_mut(&id) {
            thread.activity = Activity::Retrying { timer };
        }
        let until = self.now.saturating_add((seconds * 1_000.0) as i64);
        self.step.commands.push(Command::StartTimer { timer, until });
        true
    }

    fn catch(&mut self, id: ThreadId, state: &'a State, failure: &Failure) -> Option<Result<(), Failure>> {
        let (number, catcher) = failure.catcher(&state.catch)?;
        self.handled = Some(Handled { failure: failure.clone(), by: Handler::Catcher(number) });
        let exit = self.exit_by(id, state, catcher, failure);
        Some(exit.and_then(|exit| self.leave(id, state, exit)))
    }

    /// Nobody handles it: the thread ends.
    fn fail_thread(&mut self, id: ThreadId, failure: Failure) {
        let Some(thread) = self.execution.threads.get(&id) else { return };
        if thread.parent.is_some() {
            return self.child_failed(id, failure);
        }
        let Failure { error, cause, .. } = failure;
        let details = Details::new("executionFailedEventDetails");
        let details = details.with_some("error", error.clone()).with_some("cause", cause.clone());
        self.end("ExecutionFailed", details, Status::Failed { error, cause });
    }

    fn end(&mut self, kind: &'static str, details: Details, status: Status) {
        let root = self.execution.threads.remove(&ROOT);
        let previous = root.as_ref().map_or(self.execution.last_event, |thread| thread.previous);
        self.note(previous, kind, Some(details));
        if !matches!(status, Status::Succeeded { .. }) {
            self.execution.broken = root.map(|thread| Box::new(Thread { activity: Activity::Ready, ..thread }));
        }
        self.execution.threads.clear();
        self.execution.ready.clear();
        self.execution.awaited.clear();
        self.execution.status = status;
        self.step.commands.push(Command::Finish);
    }
}

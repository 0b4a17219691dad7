//! One execution in memory: messages in, one step for the store out.

use super::{
    execution_state::{ExecutionState, Message, Pending},
    nested,
};
use bindery_core::{Timestamp, job::Token};
use bindery_states::asl::{
    definition::Definition,
    stepper::{self, Command, Event, HistoryEvent, Moment, Status, StepLimits},
};
use bindery_store::executions::{
    After, ExecutionEnd, ExecutionSignal, ExecutionStatus, HistoryChunk, Recipient, Step, StoredExecution,
};
use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};
use tokio::task::AbortHandle;

/// One step takes in no more messages once it has caused this many events: what is done should be stored.
const MANY_EVENTS: usize = 2_000;

/// Who has nothing to do for longer rests in the store, in milliseconds.
const WORTH_A_REST: i64 = 1_000;

#[derive(Debug)]
pub(super) struct MailboxEntry {
    /// Or why it cannot be read. Such a signal is told about and goes away like any other, so that it is told about once.
    pub(super) message: Result<Message, String>,
    /// The signal that it came with.
    pub(super) signal: Option<i64>,
}

impl MailboxEntry {
    pub(super) const fn event(event: Event) -> Self {
        Self { message: Ok(Message::Event(event)), signal: None }
    }

    pub(super) fn signal(signal: &ExecutionSignal) -> Self {
        let message = serde_json::from_str(&signal.text).map_err(|error| error.to_string());
        Self { message, signal: Some(signal.id) }
    }
}

#[derive(Debug)]
pub(super) struct LoadedExecution {
    pub(super) stored: StoredExecution,
    pub(super) token: Token,
    pub(super) definition: Arc<Definition>,
    pub(super) state: ExecutionState,
    pub(super) mailbox: VecDeque<MailboxEntry>,
    /// Signals that have come, so that one that is shown again is known.
    pub(super) seen: HashSet<i64>,
    /// Tasks under way in this process.
    pub(super) running: HashMap<u64, AbortHandle>,
}

/// What a step came to.
#[derive(Debug)]
pub(super) struct Advance {
    pub(super) step: Step,
    /// What is to be begun once the step is stored.
    pub(super) begin: Vec<u64>,
    /// Tasks whose tokens nobody waits for any more, once the step is stored.
    pub(super) released: Vec<u64>,
}

impl Advance {
    pub(super) const fn new(step: Step) -> Self {
        Self { step, begin: Vec::new(), released: Vec::new() }
    }

    pub(super) fn ends(&self) -> bool {
        self.step.end.is_some()
    }

    /// Whether nobody holds it after this step.
    pub(super) fn leaves(&self) -> bool {
        self.ends() || self.step.after != After::Hold
    }
}

impl LoadedExecution {
    /// What the last holder has left undone.
    pub(super) fn left_undone(&mut self) -> Vec<u64> {
        if self.state.execution.events() == 0 {
            self.mailbox.push_back(MailboxEntry::event(Event::Started));
        } else if self.state.goes_on {
            self.mailbox.push_back(MailboxEntry::event(Event::Continued));
        }
        self.state.pending.iter().filter(|(_, pending)| pending.is_ours()).map(|(number, _)| *number).collect()
    }

    /// Puts what is due by now into the mailbox.
    pub(super) fn fall_due(&mut self, now: i64) {
        let is_due = |at: &mut Option<i64>| at.take_if(|at| *at <= now).is_some();
        for (&number, pending) in &mut self.state.pending {
            let is_timer = matches!(pending.command, Command::StartTimer { .. });
            if is_due(&mut pending.until) {
                let event =
                    if is_timer { Event::TimerFired { timer: number } } else { Event::TaskTimedOut { task: number } };
                self.mailbox.push_back(MailboxEntry::event(event));
            } else if is_due(&mut pending.heartbeat) {
                self.mailbox.push_back(MailboxEntry::event(Event::HeartbeatMissed { task: number }));
            }
        }
        if is_due(&mut self.state.deadline) {
            self.mailbox.push_back(MailboxEntry::event(Event::ExecutionTimedOut));
        }
    }

    /// Takes in what is in the mailbox.
    pub(super) fn advance(&mut self, now: Timestamp, limits: StepLimits) -> Advance {
        let mut advance = Advance::new(Step::new(self.stored.id, self.token));
        let mut history = Vec::new();
        while let Some(MailboxEntry { message, signal }) = self.next_entry() {
            advance.step.read.extend(signal);
            let message = match message {
                Ok(message) => message,
                Err(why) => {
                    tracing::warn!(execution = %self.stored.id, signal, why, "a signal cannot be read and is dropped");
                    continue;
                }
            };
            let Some(event) = self.event_of(message, now, &mut advance) else { continue };
            let moment = Moment { now: now.as_millis(), seed: fastrand::u64(..), limits };
            let caused = stepper::step(&self.definition, &mut self.state.execution, event, moment);
            history.extend(caused.history);
            for command in caused.commands {
                self.obey(command, now, &mut advance);
            }
            if history.len() >= MANY_EVENTS || self.state.goes_on {
                break;
            }
        }
        advance.step.history = chunk(&history);
        self.conclude(now, &mut advance);
        advance
    }

    /// The end of a nested execution can be known before the answer to the request that started it, above all after a
    /// crash. The history tells both, in their order.
    fn next_entry(&mut self) -> Option<MailboxEntry> {
        if let Some(MailboxEntry { message: Ok(Message::ChildEnded { task, description, .. }), .. }) =
            self.mailbox.front()
            && let Some(Pending { command, elsewhere: false, .. }) = self.state.pending.get(task)
            && command_waits_for_child(command)
        {
            return Some(MailboxEntry::event(Event::TaskSubmitted {
                task: *task,
                output: nested::submitted(description),
            }));
        }
        self.mailbox.pop_front()
    }

    /// What a message means to the stepper; none if it concerns nobody any more.
    fn event_of(&mut self, message: Message, now: Timestamp, advance: &mut Advance) -> Option<Event> {
        match message {
            Message::Heartbeat { task } => {
                let pending = self.state.pending.get_mut(&task)?;
                if let Command::RunTask { heartbeat_seconds: Some(seconds), .. } = pending.command {
                    pending.heartbeat = Some(after_seconds(now, seconds));
                }
                None
            }
            Message::ChildEnded { task, succeeded, description } => {
                if !command_waits_for_child(&self.state.pending.get(&task)?.command) {
                    return None;
                }
                let Command::RunTask { nested: Some(nested), .. } = self.state.pending.remove(&task)?.command else {
                    return None;
                };
                Some(nested::answer(task, nested.output_as_json, succeeded, description))
            }
            Message::Event(event) => {
                match &event {
                    Event::Started | Event::Redriven => {
                        let seconds = self.definition.timeout_seconds;
                        self.state.deadline = seconds.map(|seconds| after_seconds(now, seconds));
                    }
                    Event::Continued => self.state.goes_on = false,
                    Event::TaskSubmitted { task, .. } => {
                        if std::mem::replace(&mut self.state.pending.get_mut(task)?.elsewhere, true) {
                            return None;
                        }
                    }
                    Event::TaskSucceeded { task, .. }
                    | Event::TaskFailed { task, .. }
                    | Event::ItemsRead { task, .. } => {
                        let pending = self.state.pending.remove(task)?;
                        if let Some(token) = token_of(pending.command) {
                            advance.step.dropped_tokens.push(token);
                            advance.released.push(*task);
                        }
                    }
                    // Whoever works on it has to be told.
                    Event::TaskTimedOut { task } | Event::HeartbeatMissed { task } => self.cancel(*task, advance)?,
                    Event::TimerFired { timer } => drop(self.state.pending.remove(timer)?),
                    Event::TaskStarted { .. } | Event::Stopped { .. } | Event::ExecutionTimedOut => {}
                }
                Some(event)
            }
        }
    }

    fn obey(&mut self, command: Command, now: Timestamp, advance: &mut Advance) {
        let mut pending = Pending { until: None, heartbeat: None, elsewhere: false, command };
        let number = match &pending.command {
            Command::RunTask { task, timeout_seconds, heartbeat_seconds, token, .. } => {
                pending.until = timeout_seconds.map(|seconds| after_seconds(now, seconds));
                pending.heartbeat = heartbeat_seconds.map(|seconds| after_seconds(now, seconds));
                advance.step.tokens.extend(token.clone().map(|token| (token, *task)));
                *task
            }
            Command::ReadItems { task, .. } | Command::WriteResults { task, .. } => *task,
            Command::StartTimer { timer, until } => {
                pending.until = Some(*until);
                self.state.pending.insert(*timer, pending);
                return;
            }
            Command::CancelTimer { timer } => {
                self.state.pending.remove(timer);
                return;
            }
            Command::CancelTask { task } => {
                let _ = self.cancel(*task, advance);
                return;
            }
            Command::Continue => {
                self.state.goes_on = true;
                return;
            }
            Command::Finish => {
                let all: Vec<u64> = self.state.pending.keys().copied().collect();
                for number in all {
                    let _ = self.cancel(number, advance);
                }
                self.state.goes_on = false;
                self.state.deadline = None;
                return;
            }
        };
        self.state.pending.insert(number, pending);
        advance.begin.push(number);
    }

    /// Nobody waits for it any more; none if nobody did.
    fn cancel(&mut self, number: u64, advance: &mut Advance) -> Option<()> {
        let pending = self.state.pending.remove(&number)?;
        advance.begin.retain(|begun| *begun != number);
        if let Some(running) = self.running.remove(&number) {
            running.abort();
        }
        if command_waits_for_child(&pending.command) {
            let cause = Some("The execution that started it does not wait for it any more.".to_owned());
            let stopped = Message::Event(Event::Stopped { error: None, cause });
            advance.step.signals.push((Recipient::Child(number), stopped.to_text()));
        }
        if let Some(token) = token_of(pending.command) {
            // One that came and went within this step was never stored.
            let before = advance.step.tokens.len();
            advance.step.tokens.retain(|(known, _)| *known != token);
            if advance.step.tokens.len() == before {
                advance.step.dropped_tokens.push(token);
                advance.released.push(number);
            }
        }
        Some(())
    }

    fn conclude(&mut self, now: Timestamp, advance: &mut Advance) {
        // One that is to be started again has ended before.
        if let Some(end) = end_of(self.state.execution.status()).filter(|_| advance.step.history.is_some()) {
            end_with(&mut advance.step, &self.stored, end, now);
        }
        let succeeded = matches!(self.state.execution.status(), Status::Succeeded { .. });
        if !succeeded {
            // What consists of texts, numbers and JSON can always be written.
            advance.step.state = Some(serde_json::to_string(&self.state).unwrap_or_default());
        }
        if self.state.is_busy() || !self.mailbox.is_empty() {
            return;
        }
        advance.step.after = match self.state.next_due() {
            Some(at) if at <= now.as_millis() + WORTH_A_REST => After::Hold,
            due => After::Rest(due.map(Timestamp::from_millis)),
        };
    }

    /// Stops what runs for it in this process.
    pub(super) fn abandon(&mut self) {
        for (_, running) in self.running.drain() {
            running.abort();
        }
    }
}

/// The end of an execution, with what its parent is told.
fn end_with(step: &mut Step, stored: &StoredExecution, end: ExecutionEnd, now: Timestamp) {
    if let Some((parent, task)) = stored.parent {
        let succeeded = end.status == ExecutionStatus::Succeeded;
        let description = nested::description(stored, &end, now);
        let told = Message::ChildEnded { task, succeeded, description };
        step.signals.push((Recipient::Execution(parent), told.to_text()));
    }
    step.end = Some(end);
}

/// The end of one that cannot go on for a reason that is ours.
pub(super) fn broken_step(stored: &StoredExecution, token: Token, why: String, now: Timestamp) -> Step {
    let error = Some(stepper::names::RUNTIME.to_owned());
    let end = ExecutionEnd { status: ExecutionStatus::Failed, output: None, error, cause: Some(why) };
    let mut step = Step::new(stored.id, token);
    end_with(&mut step, stored, end, now);
    step
}

fn command_waits_for_child(command: &Command) -> bool {
    matches!(command, Command::RunTask { nested: Some(nested), .. } if nested.waits)
}

fn after_seconds(now: Timestamp, seconds: u64) -> i64 {
    now.as_millis().saturating_add(i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000))
}

fn token_of(command: Command) -> Option<String> {
    if let Command::RunTask { token, .. } = command { token } else { None }
}

fn chunk(events: &[HistoryEvent]) -> Option<HistoryChunk> {
    let (first, last) = (events.first()?.id, events.last()?.id);
    Some(HistoryChunk { first, last, events: HistoryEvent::to_json_text(events) })
}

fn end_of(status: &Status) -> Option<ExecutionEnd> {
    let (status, output, error, cause) = match status {
        Status::Running => return None,
        Status::Succeeded { output } => (ExecutionStatus::Succeeded, Some(output.to_string()), None, None),
        Status::Failed { error, cause } => (ExecutionStatus::Failed, None, error.clone(), cause.clone()),
        Status::TimedOut => (ExecutionStatus::TimedOut, None, Some(stepper::names::TIMEOUT.to_owned()), None),
        Status::Aborted { error, cause } => (ExecutionStatus::Aborted, None, error.clone(), cause.clone()),
    };
    Some(ExecutionEnd { status, output, error, cause })
}

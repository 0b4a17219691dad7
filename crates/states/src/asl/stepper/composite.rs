//! What Parallel and Map have in common: threads of their own, whose results are gathered.

use super::{
    event::{Command, TaskId},
    execution::{Activity, Composite, Thread, ThreadId},
    failure::{Failure, names},
    history::{self, Details},
    machine::Stepper,
};
use crate::asl::definition::{MachineId, State, StateKind};
use serde_json::Value;

impl<'a> Stepper<'a> {
    pub(super) fn parallel(&mut self, id: ThreadId, state: &'a State, branches: &[MachineId]) -> Result<(), Failure> {
        let input = self.arguments(id, state, None)?;
        self.checked(&input, &state.name)?;
        self.follow(id, "ParallelStateStarted", None);
        let composite =
            Composite { results: vec![None; branches.len()], running: branches.len(), ..Composite::default() };
        self.set_composite(id, composite);
        let previous = self.execution.threads.get(&id).map_or(0, |thread| thread.previous);
        for (index, machine) in branches.iter().enumerate() {
            self.start_child(id, index, *machine, input.clone(), previous, false);
        }
        Ok(())
    }

    pub(super) fn set_composite(&mut self, id: ThreadId, composite: Composite) {
        self.prepared.remove(&id);
        if let Some(thread) = self.execution.threads.get_mut(&id) {
            thread.activity = Activity::Composite(Box::new(composite));
        }
    }

    pub(super) fn composite(&mut self, id: ThreadId) -> Option<&mut Composite> {
        match &mut self.execution.threads.get_mut(&id)?.activity {
            Activity::Composite(composite) => Some(composite),
            _ => None,
        }
    }

    pub(super) fn start_child(
        &mut self,
        parent: ThreadId,
        index: usize,
        machine: MachineId,
        input: Value,
        previous: u64,
        distributed: bool,
    ) {
        let start_at = self.definition.machine(machine).map_or("", |machine| machine.start_at.as_str());
        let mut thread = Thread::new(Some(parent), index, machine, start_at, input);
        thread.previous = previous;
        thread.apart = distributed || self.execution.threads.get(&parent).is_some_and(|parent| parent.apart);
        thread.isolated = distributed;
        let id = self.number();
        self.execution.threads.insert(id, thread);
        self.execution.ready.push_back(id);
    }

    pub(super) fn child_done(&mut self, id: ThreadId, output: Value) {
        let Some(child) = self.execution.threads.remove(&id) else { return };
        let Some(parent) = child.parent else { return };
        let Some(state) = self.state_of(parent) else { return };
        let Some(composite) = self.composite(parent) else { return };
        if let Some(place) = composite.results.get_mut(child.index) {
            *place = Some(output);
        }
        composite.running = composite.running.saturating_sub(1);
        let all_done = composite.running == 0;
        if let StateKind::Map(map) = &state.kind {
            return self.iteration_done(parent, state, map, &child);
        }
        if let Some(thread) = self.execution.threads.get_mut(&parent) {
            thread.previous = child.previous;
        }
        if all_done {
            self.gathered(parent, state);
        }
    }

    /// All results are there.
    pub(super) fn gathered(&mut self, id: ThreadId, state: &'a State) {
        let Some(composite) = self.composite(id) else { return };
        let results = std::mem::take(&mut composite.results).into_iter().flatten().collect();
        self.completed(id, state, Value::Array(results));
    }

    pub(super) fn completed(&mut self, id: ThreadId, state: &'a State, result: Value) {
        // What follows does not follow this event, but the one before.
        let previous = self.execution.threads.get(&id).map_or(0, |thread| thread.previous);
        self.record(id, previous, history::succeeded(state.kind.name()), None);
        let finished = self.checked(&result, &state.name).and_then(|_| self.finish(id, state, Some(result)));
        if let Err(failure) = finished {
            self.fail(id, failure);
        }
    }

    pub(super) fn child_failed(&mut self, id: ThreadId, failure: Failure) {
        let child_kind = self.state_of(id).map(|state| state.kind.name());
        let Some(child) = self.execution.threads.remove(&id) else { return };
        let Some(parent) = child.parent else { return };
        let Some(state) = self.state_of(parent) else { return };
        if let Some(composite) = self.composite(parent) {
            composite.running = composite.running.saturating_sub(1);
        }
        if let StateKind::Map(map) = &state.kind
            && map.distributed
        {
            return self.distributed_child_failed(parent, state, map);
        }
        if matches!(state.kind, StateKind::Map(_)) {
            let details = iteration("mapIterationFailedEventDetails", state, child.index);
            self.record(parent, child.previous, "MapIterationFailed", Some(details));
        } else if child_kind == Some("Task") {
            // The task has failed, and its state is left without an end.
            self.record(parent, child.previous, "TaskStateAborted", None);
        }
        self.abort_siblings(parent, state);
        if let Some(thread) = self.execution.threads.get_mut(&parent) {
            thread.previous = child.previous;
        }
        self.fail_from(parent, failure, true);
    }

    /// Tells of the branches and iterations that are still under way.
    fn abort_siblings(&mut self, parent: ThreadId, state: &'a State) {
        let under_way = |thread: &Thread| thread.parent == Some(parent) && thread.activity != Activity::Ready;
        let siblings: Vec<(ThreadId, usize, u64)> = self
            .execution
            .threads
            .iter()
            .filter(|(_, thread)| under_way(thread))
            .map(|(id, thread)| (*id, thread.index, thread.previous))
            .collect();
        for (id, index, previous) in siblings {
            if matches!(state.kind, StateKind::Map(_)) {
                let details = iteration("mapIterationAbortedEventDetails", state, index);
                self.record(parent, previous, "MapIterationAborted", Some(details));
            } else if let Some(own) = self.state_of(id) {
                self.record(id, previous, history::aborted(own.kind.name()), None);
            }
        }
    }

    /// Ends everything below a thread, without a word in the history.
    pub(super) fn drop_children(&mut self, id: ThreadId) {
        let Some(thread) = self.execution.threads.get_mut(&id) else { return };
        let Activity::Composite(composite) = std::mem::replace(&mut thread.activity, Activity::Ready) else { return };
        composite.transfer.into_iter().for_each(|task| self.cancel_task(task));
        // Children have higher numbers than their parents, so that one pass finds all.
        let mut gone = std::collections::BTreeSet::from([id]);
        for (child, thread) in &self.execution.threads {
            if thread.parent.is_some_and(|parent| gone.contains(&parent)) {
                gone.insert(*child);
            }
        }
        gone.remove(&id);
        for child in &gone {
            let Some(thread) = self.execution.threads.remove(child) else { continue };
            match thread.activity {
                Activity::Task { task } => self.cancel_task(task),
                Activity::Waiting { timer } | Activity::Retrying { timer } => {
                    self.execution.awaited.remove(&timer);
                    self.step.commands.push(Command::CancelTimer { timer });
                }
                Activity::Composite(composite) => {
                    composite.transfer.into_iter().for_each(|task| self.cancel_task(task));
                }
                Activity::Ready => {}
            }
        }
        self.execution.ready.retain(|ready| !gone.contains(ready));
    }

    fn cancel_task(&mut self, task: TaskId) {
        self.execution.awaited.remove(&task);
        self.step.commands.push(Command::CancelTask { task });
    }

    /// A distributed Map tolerates some failures.
    fn distributed_child_failed(&mut self, parent: ThreadId, state: &'a State, map: &'a crate::asl::definition::Map) {
        let Some(composite) = self.composite(parent) else { return };
        composite.failed += 1;
        let tolerated = composite.tolerated.unwrap_or_default();
        let share = composite.failed as f64 * 100.0 / composite.results.len().max(1) as f64;
        let within = match (tolerated.count, tolerated.percentage) {
            (None, None) => false,
            (count, percentage) => {
                count.is_none_or(|count| composite.failed as u64 <= count)
                    && percentage.is_none_or(|percentage| share <= percentage)
            }
        };
        if within {
            return self.next_iterations(parent, state, map);
        }
        let failure = Failure::named(names::THRESHOLD, "The specified tolerated failure threshold was exceeded");
        self.map_run_failed(parent, failure);
    }

    pub(super) fn map_run_failed(&mut self, id: ThreadId, failure: Failure) {
        let details = Details::new("mapRunFailedEventDetails");
        let details = details.with_some("error", failure.error.clone()).with_some("cause", failure.cause.clone());
        self.follow(id, "MapRunFailed", Some(details));
        self.fail_from(id, failure, true);
    }
}

pub(super) fn iteration(name: &'static str, state: &State, index: usize) -> Details {
    Details::new(name).with("name", state.name.clone()).with("index", index)
}

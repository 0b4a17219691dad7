//! The watcher: claims executions that are due, and reads the signals to those that are held.

use super::{
    execution_state::ExecutionState,
    handle::{arn_of_execution, arn_of_machine},
    leases::ExecutionLeases,
    loaded_execution::LoadedExecution,
    scheduler::SchedulerEvent,
};
use crate::{
    error::{EngineError, EngineResult},
    store_retry::STORE_BACKOFF,
};
use bindery_core::Name;
use bindery_states::asl::{
    definition::Definition,
    stepper::{Execution, Identity},
};
use bindery_store::{
    Store,
    executions::{HeldExecution, StoredExecution},
};
use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};
use tokio::sync::mpsc::UnboundedSender;

/// How long nothing may be heard before a look is taken anyway.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How soon a look that finds nothing is followed by another one.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Definitions that are state read; more are rare.
const MOST_DEFINITIONS: usize = 1_000;

/// What a look came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LookResult {
    Nothing,
    Some,
    /// There may be more at once.
    More,
}

#[derive(Debug)]
pub(super) struct Watcher {
    pub(super) store: Arc<dyn Store>,
    pub(super) owner: Name,
    pub(super) lease: Duration,
    pub(super) most: usize,
    /// Of all that the executor holds.
    pub(super) leases: Arc<ExecutionLeases>,
    pub(super) events: UnboundedSender<SchedulerEvent>,
    pub(super) definitions: HashMap<(Name, i64), Arc<Definition>>,
}

impl Watcher {
    /// Looks for ever; dropped when the executor stops.
    pub(super) async fn watch(mut self) {
        let mut trouble = STORE_BACKOFF.retries();
        loop {
            let mark = self.store.change_mark();
            match self.look().await {
                Ok(LookResult::More) => trouble.reset(),
                Ok(found) => {
                    trouble.reset();
                    if found == LookResult::Nothing {
                        // Most changes are of others: they are not worth a look each.
                        tokio::time::sleep(BETWEEN_LOOKS).await;
                    }
                    self.store.changed(mark, LOOK_EVERY).await;
                }
                Err(error) => {
                    let wait = trouble.next_delay();
                    if trouble.failures() == 1 {
                        tracing::warn!(%error, "executions could not be looked for; trying again");
                    }
                    tokio::time::sleep(wait).await;
                }
            }
        }
    }

    async fn look(&mut self) -> EngineResult<LookResult> {
        let room = self.most.saturating_sub(self.leases.len());
        let mut found = Vec::new();
        if room > 0 {
            found = self.store.hold_executions(&self.owner, room, self.lease).await?;
        }
        let full = room > 0 && found.len() == room;
        let mut events = Vec::with_capacity(found.len() + 1);
        let mut claims = Vec::with_capacity(found.len());
        for claimed in found {
            claims.push((claimed.execution.id, claimed.token));
            events.push(self.load(claimed).await?);
        }
        if claims.len() + self.leases.len() > 0 {
            let signals = self.store.signals(&self.owner).await?;
            if !signals.is_empty() {
                events.push(SchedulerEvent::Signals(signals));
            }
        }
        if events.is_empty() {
            return Ok(LookResult::Nothing);
        }
        // What was taken and did not get this far is taken again when its lease has expired.
        for (id, token) in claims {
            self.leases.insert(id, token);
        }
        // Together, because a signal may be what woke an execution. The executor is gone when it does not listen.
        let _ = self.events.send(SchedulerEvent::Several(events));
        Ok(if full { LookResult::More } else { LookResult::Some })
    }

    async fn load(&mut self, held: HeldExecution) -> EngineResult<SchedulerEvent> {
        let HeldExecution { execution: stored, token, state } = held;
        let definition = match self.definition(&stored).await {
            Ok(definition) => definition,
            Err(EngineError::Store(error)) => return Err(error.into()),
            Err(error) => {
                return Ok(SchedulerEvent::Unusable { stored: Box::new(stored), token, why: error.to_string() });
            }
        };
        let state = match state.map(|state| serde_json::from_str::<ExecutionState>(&state)) {
            None => first_state(&stored),
            Some(state) => state.map_err(|error| format!("its stored state cannot be read: {error}")),
        };
        Ok(match state {
            Ok(state) => SchedulerEvent::Loaded(Box::new(LoadedExecution {
                stored,
                token,
                definition,
                state,
                mailbox: VecDeque::new(),
                seen: HashSet::new(),
                running: HashMap::new(),
            })),
            Err(why) => SchedulerEvent::Unusable { stored: Box::new(stored), token, why },
        })
    }

    async fn definition(&mut self, stored: &StoredExecution) -> EngineResult<Arc<Definition>> {
        let key = (stored.machine.clone(), stored.version);
        if let Some(definition) = self.definitions.get(&key) {
            return Ok(Arc::clone(definition));
        }
        let machine = self.store.machine(&key.0, Some(key.1)).await?;
        let machine =
            machine.ok_or_else(|| EngineError::NotFound(format!("machine {:?} in version {}", key.0, key.1)))?;
        let definition = Definition::parse(&machine.text).map_err(|faults| EngineError::Invalid(faults.to_string()))?;
        let definition = Arc::new(definition);
        if self.definitions.len() >= MOST_DEFINITIONS {
            self.definitions.clear();
        }
        self.definitions.insert(key, Arc::clone(&definition));
        Ok(definition)
    }
}

fn first_state(stored: &StoredExecution) -> Result<ExecutionState, String> {
    let input = serde_json::from_str(&stored.input).map_err(|error| format!("its input is not JSON: {error}"))?;
    let identity = Identity {
        id: arn_of_execution(&stored.machine, &stored.name),
        name: stored.name.clone(),
        role: "arn:aws:iam::000000000000:role/bindery".to_owned(),
        machine_id: arn_of_machine(&stored.machine),
        machine_name: stored.machine.to_string(),
    };
    Ok(ExecutionState::new(Execution::new(identity, input)))
}

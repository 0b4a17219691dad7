//! Looking into the store for executions that are due, and for letters to those that are held.

use super::{
    desk::Note,
    handle::{arn_of_execution, arn_of_machine},
    held::Held,
    kept::Kept,
};
use crate::{
    engine::STORE_BACKOFF,
    error::{EngineError, EngineResult},
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
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::mpsc::UnboundedSender;

/// How long nothing may be heard before a look is taken anyway.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How soon a look that finds nothing is followed by another one.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Definitions that are kept read; more are rare.
const MOST_DEFINITIONS: usize = 1_000;

/// What a look came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
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
    /// How many the executor holds.
    pub(super) held: Arc<AtomicUsize>,
    pub(super) notes: UnboundedSender<Note>,
    pub(super) definitions: HashMap<(Name, i64), Arc<Definition>>,
}

impl Watcher {
    /// Looks for ever; dropped when the executor stops.
    pub(super) async fn watch(mut self) {
        let mut trouble = STORE_BACKOFF.retries();
        loop {
            let mark = self.store.change_mark();
            match self.look().await {
                Ok(Found::More) => trouble.reset(),
                Ok(found) => {
                    trouble.reset();
                    if found == Found::Nothing {
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

    async fn look(&mut self) -> EngineResult<Found> {
        let room = self.most.saturating_sub(self.held.load(Ordering::Relaxed));
        let mut found = Vec::new();
        if room > 0 {
            found = self.store.hold_executions(&self.owner, room, self.lease).await?;
        }
        let full = room > 0 && found.len() == room;
        let mut notes = Vec::with_capacity(found.len() + 1);
        for held in found {
            notes.push(self.taken(held).await?);
        }
        let taken = notes.len();
        if taken + self.held.load(Ordering::Relaxed) > 0 {
            let letters = self.store.letters(&self.owner).await?;
            if !letters.is_empty() {
                notes.push(Note::Letters(letters));
            }
        }
        if notes.is_empty() {
            return Ok(Found::Nothing);
        }
        // What was taken and did not get this far is taken again when its lease has expired.
        self.held.fetch_add(taken, Ordering::Relaxed);
        // Together, because a letter may be what woke an execution. The executor is gone when it does not listen.
        let _ = self.notes.send(Note::Several(notes));
        Ok(if full { Found::More } else { Found::Some })
    }

    async fn taken(&mut self, held: HeldExecution) -> EngineResult<Note> {
        let HeldExecution { execution: stored, token, state } = held;
        let definition = match self.definition(&stored).await {
            Ok(definition) => definition,
            Err(EngineError::Store(error)) => return Err(error.into()),
            Err(error) => return Ok(Note::Unusable { stored: Box::new(stored), token, why: error.to_string() }),
        };
        let kept = match state.map(|state| serde_json::from_str::<Kept>(&state)) {
            None => new(&stored),
            Some(kept) => kept.map_err(|error| format!("its stored state cannot be read: {error}")),
        };
        Ok(match kept {
            Ok(kept) => Note::Taken(Box::new(Held {
                stored,
                token,
                definition,
                kept,
                mailbox: VecDeque::new(),
                seen: HashSet::new(),
                running: HashMap::new(),
            })),
            Err(why) => Note::Unusable { stored: Box::new(stored), token, why },
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

fn new(stored: &StoredExecution) -> Result<Kept, String> {
    let input = serde_json::from_str(&stored.input).map_err(|error| format!("its input is not JSON: {error}"))?;
    let identity = Identity {
        id: arn_of_execution(&stored.machine, &stored.name),
        name: stored.name.clone(),
        role: "arn:aws:iam::000000000000:role/bindery".to_owned(),
        machine_id: arn_of_machine(&stored.machine),
        machine_name: stored.machine.to_string(),
    };
    Ok(Kept::new(Execution::new(identity, input)))
}

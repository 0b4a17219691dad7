//! Steps of many executions, made on a thread that may take its time, and stored together.

use super::loaded_execution::{Advance, LoadedExecution, broken_step};
use crate::engine::Engine;
use bindery_core::{Backoff, ExecutionId, Timestamp, fault::FaultPoint, job::Token};
use bindery_states::asl::stepper::StepLimits;
use bindery_store::{
    Store, StoreResult,
    executions::{After, Step},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

/// How soon executions whose steps were not stored are given back: not at once, because what ails the store may last.
const GIVE_BACK: Backoff = Backoff::doubling(Duration::from_secs(1), Duration::from_secs(16)).exact();

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Stored,
    /// The execution is somebody else's, or its step cannot be stored.
    Lost,
    /// The store was in trouble, and may or may not have stored it. Whoever takes the execution next goes on from what is
    /// there, which is right either way.
    Unknown,
}

/// Takes in what is in the mailboxes. Each comes back with what became of its step.
pub(super) async fn step_and_store(
    engine: &Engine,
    batch: Vec<LoadedExecution>,
    limits: StepLimits,
) -> Vec<(LoadedExecution, Advance, Fate)> {
    let clock = Arc::clone(engine.clock());
    let stepped = tokio::task::spawn_blocking(move || {
        let step = |mut held: LoadedExecution| {
            let advance = catch_unwind(AssertUnwindSafe(|| held.advance(clock.now(), limits)));
            let advance = advance.unwrap_or_else(|_| {
                Advance::new(broken_step(&held.stored, held.token, "the stepper panicked".to_owned(), clock.now()))
            });
            (held, advance)
        };
        batch.into_iter().map(step).collect::<Vec<_>>()
    });
    let Ok(stepped) = stepped.await else { return Vec::new() };
    engine.faults().hit(FaultPoint::AfterWorkBeforeCommit);
    let steps: Vec<Step> = stepped.iter().map(|(_, advance)| advance.step.clone()).collect();
    let stored = match store_all(&**engine.store(), steps).await {
        Ok(stored) => stored,
        Err(error) => {
            tracing::warn!(error = %error, executions = stepped.len(), "steps were not stored");
            // A step that the store refuses would be refused again at once: that one waits for its lease to expire.
            vec![if error.is_transient() { Fate::Unknown } else { Fate::Lost }; stepped.len()]
        }
    };
    stepped.into_iter().zip(stored).map(|((held, advance), fate)| (held, advance, fate)).collect()
}

/// All together; where one of them spoils it for the others, each by itself.
async fn store_all(store: &dyn Store, steps: Vec<Step>) -> StoreResult<Vec<Fate>> {
    let fate = |stored: bool| if stored { Fate::Stored } else { Fate::Lost };
    let error = match store.store_steps(steps.clone()).await {
        Ok(stored) => return Ok(stored.into_iter().map(fate).collect()),
        Err(error) => error,
    };
    if error.is_transient() || steps.len() == 1 {
        return Err(error);
    }
    let mut stored = Vec::with_capacity(steps.len());
    for step in steps {
        stored.push(fate(store.store_steps(vec![step]).await.is_ok_and(|stored| stored == [true])));
    }
    Ok(stored)
}

/// A step after which anybody may take the execution, at once.
pub(super) fn give_back_step(id: ExecutionId, token: Token, now: Timestamp) -> Step {
    Step { after: After::Rest(Some(now)), ..Step::new(id, token) }
}

/// Gives back what the store was in trouble with as soon as it answers again, instead of when the leases expire. Where a
/// step was stored after all and let go of the execution, or the lease did expire, nothing is changed.
pub(super) async fn give_back_later(store: Arc<dyn Store>, held: Vec<(ExecutionId, Token)>, lease: Duration) {
    let mut tries = GIVE_BACK.retries();
    let mut waited = Duration::ZERO;
    while waited < lease {
        let wait = tries.next_delay();
        tokio::time::sleep(wait).await;
        waited += wait;
        let now = store.clock().now();
        let steps = held.iter().map(|(id, token)| give_back_step(*id, *token, now)).collect();
        match store.store_steps(steps).await {
            Ok(_) => return,
            Err(error) => tracing::warn!(error = %error, executions = held.len(), "executions were not given back"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_core::Name;
    use bindery_store::{
        executions::NewExecution,
        sqlite::{Options, SqliteStore},
    };

    #[tokio::test]
    async fn what_is_given_back_can_be_taken_before_its_lease_expires() {
        let dir = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(Options::at(dir.path().join("s.db"))).unwrap());
        let (machine, long) = (Name::from("machine"), Duration::from_secs(3_600));
        let version = store.put_machine(&machine, "{}").await.unwrap();
        let new = |name: &str| NewExecution {
            machine: machine.clone(),
            version,
            name: name.to_owned(),
            input: "{}".to_owned(),
            owner: None,
            parent: None,
        };
        store.start_executions(vec![new("one"), new("other")]).await.unwrap();
        let held = store.hold_executions(&Name::from("first"), 10, long).await.unwrap();
        assert_eq!(held.len(), 2);
        let second = Name::from("second");
        assert_eq!(store.hold_executions(&second, 10, long).await.unwrap(), []);
        // Of the other one, somebody else's token is known.
        let claims = vec![(held[0].execution.id, held[0].token), (held[1].execution.id, Token(-1))];
        give_back_later(Arc::clone(&store), claims, long).await;
        let taken = store.hold_executions(&second, 10, long).await.unwrap();
        assert_eq!(taken.iter().map(|held| held.execution.name.as_str()).collect::<Vec<_>>(), ["one"]);
    }
}

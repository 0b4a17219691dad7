//! Steps of many executions, made on a thread that may take its time, and stored together.

use super::held::{Advance, Held, broken};
use crate::engine::Engine;
use bindery_core::fault::FaultPoint;
use bindery_states::asl::stepper::StepLimits;
use bindery_store::{Store, StoreResult, executions::Step};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

/// Takes in what is in the mailboxes. Each comes back with whether its step was stored.
pub(super) async fn step_and_store(
    engine: &Engine,
    batch: Vec<Held>,
    limits: StepLimits,
) -> Vec<(Held, Advance, bool)> {
    let clock = Arc::clone(engine.clock());
    let stepped = tokio::task::spawn_blocking(move || {
        let step = |mut held: Held| {
            let advance = catch_unwind(AssertUnwindSafe(|| held.advance(clock.now(), limits)));
            let advance = advance.unwrap_or_else(|_| Advance {
                step: broken(&held.stored, held.token, "the stepper panicked".to_owned(), clock.now()),
                begin: Vec::new(),
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
            // Whether it was stored is not known. They are taken up again, as they are, when their leases have expired.
            tracing::warn!(error = %error, executions = stepped.len(), "steps were not stored");
            vec![false; stepped.len()]
        }
    };
    stepped.into_iter().zip(stored).map(|((held, advance), stored)| (held, advance, stored)).collect()
}

/// All together; where one of them spoils it for the others, each by itself.
async fn store_all(store: &dyn Store, steps: Vec<Step>) -> StoreResult<Vec<bool>> {
    let error = match store.store_steps(steps.clone()).await {
        Ok(stored) => return Ok(stored),
        Err(error) => error,
    };
    if error.is_transient() || steps.len() == 1 {
        return Err(error);
    }
    let mut stored = Vec::with_capacity(steps.len());
    for step in steps {
        stored.push(store.store_steps(vec![step]).await.is_ok_and(|stored| stored == [true]));
    }
    Ok(stored)
}

//! Circuits of outside processors, kept in the event log: whoever asks sees what any process has found.

use crate::error::AppResult;
use bindery_core::{
    EventSeq, Name, Timestamp,
    event::{NewEvent, kind},
};
use bindery_processors::outside::{self, CircuitSnapshot, CircuitState};
use bindery_store::{Store, query::EventFilter};
use serde::Serialize;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// Writes down from now on when a circuit of this process opens or closes.
pub(crate) fn record(store: &Arc<dyn Store>) {
    let (store, runtime) = (Arc::clone(store), tokio::runtime::Handle::current());
    outside::observe(&Arc::new(move |circuit: &CircuitSnapshot| {
        let kind = match circuit.state {
            CircuitState::Open => kind::CIRCUIT_OPENED,
            CircuitState::Closed => kind::CIRCUIT_CLOSED,
            // One call is let through to see; it will open or close.
            CircuitState::HalfOpen => return,
        };
        let data = json!({"processor": circuit.name, "error": circuit.last_error, "retryInMs": circuit.retry_in_ms});
        let event = NewEvent::new(kind, None, data.to_string());
        // Steps run on threads of their own, which may wait: what a step's caller sees, everybody sees.
        if let Err(error) = runtime.block_on(store.append_events(vec![event])) {
            tracing::warn!(error = %error, "the state of a circuit was not written down");
        }
    }));
}

/// The last recorded state of a circuit.
#[derive(Debug, Clone, Serialize)]
pub struct OutageRecord {
    pub open: bool,
    pub since: Timestamp,
    pub error: Option<String>,
}

/// The circuits that have ever opened, by processor.
pub async fn recorded(store: &dyn Store) -> AppResult<BTreeMap<String, OutageRecord>> {
    let kinds: Vec<Name> = vec![kind::CIRCUIT_OPENED.into(), kind::CIRCUIT_CLOSED.into()];
    let filter = EventFilter { kinds, ..EventFilter::default() };
    let mut recorded = BTreeMap::new();
    for event in store.read_events(EventSeq::START, filter, usize::MAX).await? {
        let data: Value = serde_json::from_str(&event.data)?;
        let Some(processor) = data["processor"].as_str() else { continue };
        let error = data["error"].as_str().map(str::to_owned);
        let open = event.kind == *kind::CIRCUIT_OPENED;
        recorded.insert(processor.to_owned(), OutageRecord { open, since: event.at, error });
    }
    Ok(recorded)
}

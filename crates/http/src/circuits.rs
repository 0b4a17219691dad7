//! All circuits of this process, for display.

use crate::breaker::{Breaker, CircuitSnapshot};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Entries are weak: a breaker that is dropped leaves the registry.
static CIRCUITS: Mutex<Vec<Weak<Breaker>>> = Mutex::new(Vec::new());

/// Registers a breaker until it is dropped.
pub fn register(breaker: &Arc<Breaker>) {
    let mut circuits = CIRCUITS.lock().unwrap_or_else(PoisonError::into_inner);
    circuits.retain(|circuit| circuit.strong_count() > 0);
    circuits.push(Arc::downgrade(breaker));
}

/// Tells the observer of every change of the circuits that there are now, on the thread whose call changed them.
pub fn observe(observer: &Arc<impl Fn(&CircuitSnapshot) + Send + Sync + 'static>) {
    for breaker in breakers() {
        let observer = Arc::clone(observer);
        breaker.on_change(Box::new(move |circuit| observer(circuit)));
    }
}

/// A copy of the list, not under its lock: a breaker has a lock of its own, and its observers may come here.
fn breakers() -> Vec<Arc<Breaker>> {
    CIRCUITS.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade).collect()
}

/// The listed circuits of this process, by name.
pub fn circuits() -> Vec<CircuitSnapshot> {
    let mut snapshots: Vec<CircuitSnapshot> = breakers().iter().map(|breaker| breaker.state()).collect();
    snapshots.sort_by(|a, b| a.name.cmp(&b.name));
    snapshots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::BreakerConfig;

    #[test]
    fn a_circuit_is_listed_as_long_as_it_lives() {
        let listed = || circuits().iter().filter(|circuit| circuit.name == "listed").count();
        let breaker = Arc::new(Breaker::new("listed", BreakerConfig::default()));
        register(&breaker);
        assert_eq!(listed(), 1);
        drop(breaker);
        assert_eq!(listed(), 0);
    }
}

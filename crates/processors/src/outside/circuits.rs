//! All circuits of this process, for display.

use super::breaker::{Breaker, CircuitSnapshot};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A processor that is no longer used takes its breaker with it.
static CIRCUITS: Mutex<Vec<Weak<Breaker>>> = Mutex::new(Vec::new());

pub(super) fn register(breaker: &Arc<Breaker>) {
    let mut circuits = CIRCUITS.lock().unwrap_or_else(PoisonError::into_inner);
    circuits.retain(|circuit| circuit.strong_count() > 0);
    circuits.push(Arc::downgrade(breaker));
}

/// The circuits of all outside processors of this process, by name.
pub fn circuits() -> Vec<CircuitSnapshot> {
    // Not under the lock: a breaker has its own, and its observers may come here.
    let breakers: Vec<Arc<Breaker>> = {
        let circuits = CIRCUITS.lock().unwrap_or_else(PoisonError::into_inner);
        circuits.iter().filter_map(Weak::upgrade).collect()
    };
    let mut snapshots: Vec<CircuitSnapshot> = breakers.iter().map(|breaker| breaker.state()).collect();
    snapshots.sort_by(|a, b| a.name.cmp(&b.name));
    snapshots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::config::BreakerConfig;

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

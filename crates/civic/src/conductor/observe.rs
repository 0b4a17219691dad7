//! Whoever wants to know how visits go: metrics, progress on a terminal. Nobody has to.

use super::SyncResult;
use std::fmt;

/// Is told what happens, from any thread and without being waited for: it should be quick.
pub trait SyncObserver: Send + Sync + fmt::Debug {
    /// A city's visit begins.
    fn city_began(&self, _city_key: &str, _vendor: &str) {}

    /// It has ended, in whatever way. `vendor` is the city's first.
    fn city_ended(&self, _vendor: &str, _result: &SyncResult) {}
}

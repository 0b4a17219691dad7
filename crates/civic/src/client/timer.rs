//! Time that can be waited for. A replay does not wait: its clock leaps.

use async_trait::async_trait;
use bindery_core::time::{Clock, ManualClock, SystemClock, Timestamp};
use std::fmt;

/// A clock that can also be waited on.
#[async_trait]
pub trait Timer: Send + Sync + fmt::Debug {
    fn now(&self) -> Timestamp;

    /// Returns when the moment has come. May be dropped at any time.
    async fn wait_until(&self, moment: Timestamp);
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemTimer;

#[async_trait]
impl Timer for SystemTimer {
    fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    async fn wait_until(&self, moment: Timestamp) {
        tokio::time::sleep(moment.since(self.now())).await;
    }
}

/// A clock that stands still until somebody waits, and then is where they wanted it. Politeness and back-off are then as
/// they are on the network, except that nobody has to sit through them.
#[derive(Debug, Default)]
pub struct LeapingTimer(ManualClock);

impl LeapingTimer {
    pub fn at(start: Timestamp) -> Self {
        Self(ManualClock::at(start))
    }
}

#[async_trait]
impl Timer for LeapingTimer {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    async fn wait_until(&self, moment: Timestamp) {
        // Others may have work that is due before that.
        tokio::task::yield_now().await;
        self.0.advance(moment.since(self.0.now()));
    }
}

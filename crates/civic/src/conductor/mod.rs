//! Following councils: which city is visited when, and what a visit comes to.
//!
//! ```text
//!  list, watchlist, schedule ──► lanes, one per vendor ──► a city: visit each of its vendors' sites ──► sync ──► store
//! ```
//!
//! All vendors are visited at the same time, the cities of one vendor in the order of their turn, and no more of them
//! at once than the client lets begin. A city that fails is recorded with its reason while others go on. When a city
//! is due is stored with the end of its visit ([`Health::next_sync_at`]), so that a visit that was killed half-way is
//! simply made again; what it had stored is found unchanged.
//!
//! | module | what it owns |
//! |---|---|
//! | `city` | one city, from the beginning of its run to its end |
//! | `place` | one vendor's site of a city |
//! | `lanes` | many cities: lists, and all that are due |
//! | `follow` | going on until somebody says stop |
//! | `replaced` | files that were replaced under the same address |
//! | [`memory`] | what one visit learns for the next |
//! | [`observe`] | whoever wants to know how it goes |
//! | [`heartbeat`] | being seen at work, and visits that nobody is behind |
//! | [`result`] | what a visit came to |
//! | [`sync_status`] | how following stands |
//! | [`wanted`] | lists of cities and the watchlist |
//! | [`window`] | the days that are asked about |
//!
//! [`Health::next_sync_at`]: crate::records::Health::next_sync_at

mod city;
mod follow;
pub mod heartbeat;
mod lanes;
pub mod memory;
pub mod observe;
mod place;
mod replaced;
pub mod result;
pub mod sync_status;
pub mod wanted;
pub mod window;

pub(crate) use city::unknown;
pub use heartbeat::Heartbeat;
pub use lanes::Which;
pub use observe::SyncObserver;
pub use result::SyncResult;
pub use sync_status::{SyncStatusReport, get_sync_status};
pub use wanted::Watchlist;
pub use window::WindowRule;

use crate::{client::Client, sync::Orchestrator, vendor::Adapter, visit::VisitLimits};
use bindery_core::{Name, Timestamp};
use bindery_store::{Store, blobs::Blobs};
use std::{sync::Arc, time::Duration};

/// How often newly added cities are looked for while nothing else is due, unless somebody is in a hurry.
pub const LOOK_AROUND: Duration = Duration::from_secs(2);

/// Visits cities and stores what it finds. Clones share everything.
#[derive(Debug, Clone)]
pub struct Conductor {
    store: Arc<dyn Store>,
    client: Arc<Client>,
    orchestrator: Orchestrator,
    vendors: &'static [&'static dyn Adapter],
    /// Where the bodies of pages are kept, so that a site can answer "as you know it".
    pages: Option<Arc<dyn Blobs>>,
    observer: Option<Arc<dyn SyncObserver>>,
    window: WindowRule,
    limits: VisitLimits,
    name: Name,
}

impl Conductor {
    /// With these vendors and the usual window; nobody watches, and no page is kept.
    pub fn new(store: Arc<dyn Store>, client: Arc<Client>, vendors: &'static [&'static dyn Adapter]) -> Self {
        Self {
            orchestrator: Orchestrator::new(Arc::clone(&store)),
            store,
            client,
            vendors,
            pages: None,
            observer: None,
            window: WindowRule::default(),
            limits: VisitLimits::default(),
            name: Name::from("conductor"),
        }
    }

    /// Keeps pages here, and asks for them only if they have changed.
    #[must_use]
    pub fn with_pages(self, pages: Arc<dyn Blobs>) -> Self {
        Self { pages: Some(pages), ..self }
    }

    #[must_use]
    pub fn with_observer(self, observer: Arc<dyn SyncObserver>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    #[must_use]
    pub fn with_window(self, window: WindowRule) -> Self {
        Self { window, ..self }
    }

    #[must_use]
    pub fn with_limits(self, limits: VisitLimits) -> Self {
        Self { limits, ..self }
    }

    /// Is known to others by this name; no two that work on a store have the same.
    #[must_use]
    pub fn named(self, name: Name) -> Self {
        Self { name, ..self }
    }

    fn vendor(&self, name: &str) -> Option<&'static dyn Adapter> {
        self.vendors.iter().copied().find(|adapter| adapter.name() == name)
    }

    /// The moment as the schedule counts it.
    fn now(&self) -> Timestamp {
        self.store.clock().now()
    }
}

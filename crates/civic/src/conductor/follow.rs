//! Going on until somebody says stop: whatever is due is visited, and new cities as they are added.

use super::{Conductor, lanes::Which};
use bindery_engine::StopSignal;
use std::{collections::BTreeSet, time::Duration};
use tokio::task::JoinSet;

/// So many cities of a vendor are begun before it is looked which ones are due: one that was just added goes first.
const AT_A_TIME: usize = 8;

/// When the store cannot be read, it is left alone for so long.
const STORE_TROUBLE: Duration = Duration::from_secs(60);

impl Conductor {
    /// Visits cities when they are due, until it should stop. Then no city is begun any more, and those under way end
    /// with their next page. Every wait ends at once. Newly added cities are looked for as often as `look_around` says.
    ///
    /// ▲ There is no cycle of a fixed length: what counts is when each city is due.
    pub async fn run(&self, look_around: Duration, stop: &StopSignal) {
        let (mut lanes, mut busy) = (JoinSet::new(), BTreeSet::new());
        while !stop.is_stopping() {
            let pause = match self.lanes(Which::Due).await {
                Ok(due) => {
                    for (vendor, mut cities) in
                        due.into_iter().filter(|(vendor, _)| !busy.contains(vendor)).collect::<Vec<_>>()
                    {
                        cities.truncate(AT_A_TIME);
                        busy.insert(vendor.clone());
                        let (conductor, stop) = (self.clone(), stop.clone());
                        lanes.spawn(async move {
                            conductor.visit_lane(&vendor, cities, Which::Due, &stop).await;
                            vendor
                        });
                    }
                    look_around
                }
                Err(error) => {
                    tracing::error!(%error, "the cities that are due cannot be listed");
                    STORE_TROUBLE
                }
            };
            let until = self.client.timer().now() + pause;
            tokio::select! {
                Some(ended) = lanes.join_next(), if !lanes.is_empty() => match ended {
                    Ok(vendor) => drop(busy.remove(&vendor)),
                    Err(error) => tracing::error!(%error, "the cities of a vendor are not visited any further"),
                },
                _ = self.client.wait_until(until, stop) => {}
            }
        }
        // Those under way know that they should stop.
        while lanes.join_next().await.is_some() {}
    }
}

//! The robots.txt of each site: fetched once, and kept for a day.

use super::{
    AGENT, Client, Failure, Fetched, Kind, Session, Trouble, Want, address,
    robots::{LARGEST, Robots},
};
use bindery_core::Timestamp;
use bindery_engine::StopSignal;
use bindery_http::Uri;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::OnceCell;

const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// What is known, by origin. Several who ask at once wait for one answer.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<HashMap<String, Entry>>);

#[derive(Debug, Clone)]
struct Entry {
    until: Timestamp,
    rules: Arc<OnceCell<Robots>>,
}

impl Known {
    fn entry(&self, origin: &str, now: Timestamp) -> Arc<OnceCell<Robots>> {
        let fresh = || Entry { until: now + KEPT_FOR, rules: Arc::default() };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = known.entry(origin.to_owned()).or_insert_with(fresh);
        if entry.until <= now {
            *entry = fresh();
        }
        Arc::clone(&entry.rules)
    }
}

impl Client {
    /// Whether the site lets us have a page.
    pub(super) async fn minds_robots(&self, session: &Session, uri: &Uri, stop: &StopSignal) -> Result<(), Trouble> {
        let origin = address::origin(uri);
        let cell = self.robots.entry(&origin, self.timer.now());
        let rules = cell.get_or_try_init(|| self.read_robots(session, uri, &origin, stop)).await?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        rules.forbids(path).map_or(Ok(()), |rule| Err(Trouble::Robots(rule)))
    }

    async fn read_robots(
        &self,
        session: &Session,
        uri: &Uri,
        origin: &str,
        stop: &StopSignal,
    ) -> Result<Robots, Trouble> {
        let want = Want::new(format!("{origin}/robots.txt"), Kind::Page);
        // Boxed, because it is the fetching of a page that asks for this one.
        let text = match Box::pin(self.follow(session, &want, stop, false)).await {
            Ok(Fetched::Page(page)) => {
                let beginning = page.bytes.get(..LARGEST).unwrap_or(&page.bytes);
                String::from_utf8_lossy(beginning).into_owned()
            }
            // A recording that was made by hand need not have one.
            Ok(Fetched::Unchanged) | Err((_, Trouble::Exchange(Failure::NotRecorded { .. }))) => String::new(),
            Err((_, trouble @ (Trouble::Stopped | Trouble::HostDown { .. }))) => return Err(trouble),
            // A site that cannot say what it allows is not asked now; one that has no such file allows everything.
            Err((_, trouble)) if trouble.is_transient() => return Err(Trouble::RobotsUnread(Box::new(trouble))),
            Err(_) => String::new(),
        };
        let robots = Robots::parse(&text, AGENT);
        if let Some(delay) = robots.crawl_delay {
            self.turns.limiter().crawl_delay(&address::authority(uri), delay);
        }
        Ok(robots)
    }
}

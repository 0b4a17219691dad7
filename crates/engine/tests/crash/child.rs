//! A worker process: this binary, run again with orders in its environment.

use crate::{
    carrier,
    site::{self, Site},
    stores,
    workload::Shape,
};
use bindery_core::{
    Clock, Name,
    fault::{FaultPoint, Faults, NoFaults},
    review::ReviewStatus,
    time::{SkewedClock, SystemClock},
};
use bindery_engine::{Engine, WorkerOptions, stop_pair};
use bindery_store::query::ReviewFilter;
use bindery_testkit::POSTGRES_FOR_TESTS;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

const ORDERS: &str = "BINDERY_CRASH_ORDERS";

/// The name that libtest knows [`crate::worker_process`] by.
const TEST_NAME: &str = "worker_process";

/// What a worker process is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Orders {
    pub(crate) root: PathBuf,
    pub(crate) name: String,
    pub(crate) lease_ms: u64,
    pub(crate) clock_ahead_ms: i64,
    /// At the n-th time that this point is passed: end, or hold until told to go on.
    pub(crate) fault: Option<(String, i64, Then)>,
    /// The server as this worker reaches it, if that is another way than ours.
    pub(crate) server: Option<String>,
    /// The broker that carries its jobs.
    pub(crate) broker: Option<String>,
    /// Whether one batch of commits in ten is sent twice.
    pub(crate) twice: bool,
    /// Taken in before the work begins, each under a name of its own.
    pub(crate) submit: Vec<(String, Shape)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Then {
    Abort,
    Hold,
}

impl Orders {
    pub(crate) fn new(root: &Path, name: &str) -> Self {
        Self {
            root: root.to_owned(),
            name: name.to_owned(),
            lease_ms: 1_000,
            clock_ahead_ms: 0,
            fault: None,
            server: stores::postgres(),
            broker: None,
            twice: false,
            submit: Vec::new(),
        }
    }

    pub(crate) fn from_environment() -> Option<Self> {
        std::env::var(ORDERS).ok().map(|text| serde_json::from_str(&text).unwrap())
    }

    /// This binary again, with these orders. What it says goes to a file beside the store.
    pub(crate) fn command(&self) -> std::process::Command {
        let log = std::fs::File::create(self.root.join(format!("{}.log", self.name))).unwrap();
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command
            .args([TEST_NAME, "--exact", "--nocapture", "--test-threads=1"])
            .env(ORDERS, serde_json::to_string(self).unwrap())
            .stdin(std::process::Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        if let Some(url) = &self.server {
            command.env(POSTGRES_FOR_TESTS, url);
        }
        command
    }

    /// Appears when a worker holds at its fault point.
    pub(crate) fn holding(&self) -> PathBuf {
        self.root.join(format!("{}.holding", self.name))
    }

    /// Lets a worker that holds go on.
    pub(crate) fn go_on(&self) -> PathBuf {
        self.root.join(format!("{}.go", self.name))
    }

    /// Written when a worker has ended in good order: how many jobs it finished.
    pub(crate) fn finished(&self) -> PathBuf {
        self.root.join(format!("{}.finished", self.name))
    }
}

/// Ends or holds the process at a point.
#[derive(Debug)]
struct Fault {
    point: FaultPoint,
    left: AtomicI64,
    then: Then,
    orders: Orders,
}

impl Faults for Fault {
    fn hit(&self, point: FaultPoint) {
        if point != self.point || self.left.fetch_sub(1, Ordering::SeqCst) != 1 {
            return;
        }
        match self.then {
            Then::Abort => std::process::abort(),
            Then::Hold => {
                std::fs::write(self.orders.holding(), "").unwrap();
                while !self.orders.go_on().exists() {
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
        }
    }
}

fn faults(orders: &Orders) -> Arc<dyn Faults> {
    match &orders.fault {
        None => Arc::new(NoFaults),
        Some((point, hit, then)) => Arc::new(Fault {
            point: FaultPoint::from_name(point).unwrap(),
            left: AtomicI64::new(*hit),
            then: *then,
            orders: orders.clone(),
        }),
    }
}

/// Works until the site is closed, or until the process that gave the orders is gone.
pub(crate) fn work(orders: &Orders) {
    let clock: Arc<dyn Clock> = match orders.clock_ahead_ms {
        0 => Arc::new(SystemClock),
        millis_ahead => Arc::new(SkewedClock { millis_ahead }),
    };
    let site = Site::open_as(orders, clock, faults(orders));
    let runtime = site::runtime();
    runtime.block_on(async {
        for (external_id, shape) in &orders.submit {
            site.submit_now(external_id, *shape).await;
        }
        let options = WorkerOptions {
            name: Name::from(orders.name.as_str()),
            threads: 2,
            lease: Duration::from_millis(orders.lease_ms),
            sweep_every: Duration::from_millis(100),
            ..WorkerOptions::default()
        };
        let (handle, stop) = stop_pair();
        let (worker, _carrier) = carrier::hire(&site.engine, options, orders).await;
        let running = tokio::spawn(async move { worker.run(stop).await });
        let parent = std::os::unix::process::parent_id();
        while !site::closed(&orders.root) && std::os::unix::process::parent_id() == parent {
            decide_reviews(&site.engine).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        handle.stop();
        let finished = running.await.unwrap().unwrap();
        std::fs::write(orders.finished(), finished.to_string()).unwrap();
    });
}

/// The person who looks at what is doubtful, and always agrees. In several processes at once: one of them is counted.
async fn decide_reviews(engine: &Engine) {
    let open = ReviewFilter { statuses: vec![ReviewStatus::Pending], limit: Some(100), ..ReviewFilter::default() };
    let Ok(reviews) = engine.store().reviews(open).await else { return };
    for review in reviews {
        // Somebody else was faster, or the disk is full: the next look shows it.
        let _ = engine.complete_review(review.id, None, json!({"reviewed": true})).await;
    }
}

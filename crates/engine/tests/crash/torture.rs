//! Workers who are killed and frozen while there is always work to be interrupted in, and the count afterwards.

use crate::{
    audit::{self, Tally},
    child::Orders,
    site::{self, Site, WorkerProcess},
    workload::{Shape, assert_shipped_limits},
};
use bindery_core::SubmissionId;
use std::{fmt, time::Duration};
use tokio::runtime::Runtime;

const WORKERS: usize = 3;

/// `make torture` asks for more.
pub(crate) fn kills_wanted(usually: usize) -> usize {
    std::env::var("BINDERY_TORTURE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(usually)
}

/// Workers on one store.
pub(crate) struct Torture {
    site: Site,
    runtime: Runtime,
    shape: Shape,
    submissions: Vec<(SubmissionId, Shape)>,
    orders: Orders,
    crew: Vec<WorkerProcess>,
    started: usize,
    pub(crate) kills: usize,
    freezes: usize,
}

impl Torture {
    /// With these orders for every worker. `files`: how much work one submission is.
    pub(crate) fn begin(orders: Orders, files: usize) -> Self {
        assert_shipped_limits();
        let root = &orders.root.clone();
        let mut torture = Self {
            site: Site::undisturbed(root),
            runtime: site::runtime(),
            shape: Shape::Torture { files },
            submissions: Vec::new(),
            orders,
            crew: Vec::new(),
            started: 0,
            kills: 0,
            freezes: 0,
        };
        torture.crew = (0..WORKERS).map(|_| torture.start()).collect();
        torture
    }

    fn start(&mut self) -> WorkerProcess {
        self.started += 1;
        WorkerProcess::start(Orders { name: format!("worker-{}", self.started), ..self.orders.clone() })
    }

    /// Kills or freezes one of the workers.
    pub(crate) fn go_on(&mut self) {
        while self.runtime.block_on(self.site.counts()).1 < 2 {
            let external_id = format!("case-{}", self.submissions.len());
            let id = self.runtime.block_on(self.site.submit_now(&external_id, self.shape));
            self.submissions.push((id, self.shape));
        }
        // Not a wait for something: the moment of the kill is what is random.
        std::thread::sleep(Duration::from_millis(fastrand::u64(10..160)));
        let victim = fastrand::usize(0..WORKERS);
        if fastrand::u32(0..12) == 0 {
            // Frozen for longer than its lease: what it holds is others' when it wakes.
            self.crew[victim].freeze();
            std::thread::sleep(Duration::from_millis(700));
            self.crew[victim].thaw();
            self.freezes += 1;
            return;
        }
        let worker = &mut self.crew[victim];
        assert!(worker.is_alive(), "a worker ended by itself:\n{}", worker.log());
        worker.kill();
        self.crew[victim] = self.start();
        self.kills += 1;
    }

    /// Lets the work end in peace, and counts.
    pub(crate) fn end(self) -> Tortured {
        self.site.wait_for_all(&self.runtime, self.submissions.len());
        self.site.close();
        for worker in self.crew {
            worker.finish();
        }
        let tally = audit::check(&self.site, &self.runtime, &self.submissions);
        Tortured { kills: self.kills, freezes: self.freezes, tally }
    }
}

pub(crate) struct Tortured {
    kills: usize,
    freezes: usize,
    tally: Tally,
}

impl fmt::Display for Tortured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} kills, {} freezes, {}", self.kills, self.freezes, self.tally)
    }
}

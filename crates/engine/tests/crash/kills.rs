//! `kill -9` at random moments.

use crate::{
    audit,
    child::Orders,
    site::{self, Site, WorkerProcess},
    workload::Shape,
};
use std::time::Duration;

const WORKERS: usize = 3;

/// `make torture` asks for more.
fn kills_wanted() -> usize {
    std::env::var("BINDERY_TORTURE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

#[test]
fn workers_killed_at_random_moments_lose_and_repeat_nothing() {
    let wanted = kills_wanted();
    let dir = tempfile::tempdir().unwrap();
    let (site, runtime) = (Site::undisturbed(dir.path()), site::runtime());
    let shape = Shape::Torture { files: if wanted > 100 { 120 } else { 30 } };
    let mut submissions = Vec::new();
    let mut started = 0;
    let mut start = || {
        started += 1;
        WorkerProcess::start(Orders { lease_ms: 500, ..Orders::new(dir.path(), &format!("worker-{started}")) })
    };
    let mut crew: Vec<WorkerProcess> = (0..WORKERS).map(|_| start()).collect();
    let (mut kills, mut freezes) = (0, 0);
    while kills < wanted {
        // Always work to be interrupted in.
        while runtime.block_on(site.counts()).1 < 2 {
            let id = runtime.block_on(site.submit_now(&format!("case-{}", submissions.len()), shape));
            submissions.push((id, shape));
        }
        // Not a wait for something: the moment of the kill is what is random.
        std::thread::sleep(Duration::from_millis(fastrand::u64(10..160)));
        let victim = fastrand::usize(0..WORKERS);
        if fastrand::u32(0..12) == 0 {
            // Frozen for longer than its lease: what it holds is others' when it wakes.
            crew[victim].freeze();
            std::thread::sleep(Duration::from_millis(700));
            crew[victim].thaw();
            freezes += 1;
            continue;
        }
        assert!(crew[victim].is_alive(), "a worker ended by itself:\n{}", crew[victim].log());
        crew[victim].kill();
        crew[victim] = start();
        kills += 1;
    }
    site.wait_for_all(&runtime, submissions.len());
    site.close();
    for worker in crew {
        worker.finish();
    }
    let tally = audit::check(&site, &runtime, &submissions);
    println!("torture: {kills} kills, {freezes} freezes, {tally}");
}

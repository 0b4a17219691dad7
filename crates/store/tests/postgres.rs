//! The PostgreSQL backend passes the suite that every store passes, on a private server. `CONFORMANCE=joins` runs only
//! the functions whose names contain that.

mod postgres_server;

use bindery_conformance::Case;
use postgres_server::Server;
use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

/// So many functions of the suite run at once, each in a schema of its own.
const AT_ONCE: usize = 3;

/// Starting a server for each of them would take longer than the suite itself.
#[test]
fn the_suite_passes() {
    let Some(server) = Server::start() else { return };
    let cases: Vec<(&str, Case)> = bindery_conformance::conformance_suite!(@cases);
    let wanted = std::env::var("CONFORMANCE").unwrap_or_default();
    let cases: Vec<_> = cases.into_iter().filter(|(name, _)| name.contains(&wanted)).collect();
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((name, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let ran = std::thread::scope(|scope| scope.spawn(|| run(&server, *case)).join());
                    println!("{} {name}", if ran.is_ok() { "ok    " } else { "FAILED" });
                    if ran.is_err() {
                        failed.lock().unwrap().push(*name);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {} failed: {failed:#?}", failed.len(), cases.len());
}

fn run(server: &Server, case: Case) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let fixture = server.fixture().await;
        case(&fixture).await;
    });
}

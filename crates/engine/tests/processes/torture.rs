//! Everything at once: children are killed, frozen and swollen at random while they work.

use crate::run_all::run_all;
use crate::{
    child::{processes, signal, units},
    deeds::Sum,
};
use bindery_engine::runner::{Ran, Sequential, Task, processes::Options};
use rustix::process::Signal;
use serde_json::{Map, json};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

const WORKERS: usize = 3;

/// `make torture` asks for more.
fn inputs_wanted() -> usize {
    std::env::var("BINDERY_TORTURE_INPUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(500)
}

#[derive(Debug, Default)]
struct Struck {
    killed: usize,
    frozen: usize,
    swollen: usize,
}

/// Strikes at random until the work is done.
fn strike(runner: &bindery_engine::runner::Processes, orders: &Path, done: &AtomicBool) -> Struck {
    let mut struck = Struck::default();
    while !done.load(Ordering::SeqCst) {
        // Not a wait for something: the moment of the strike is what is random.
        std::thread::sleep(Duration::from_millis(fastrand::u64(1..30)));
        let pids = runner.pids();
        let Some(&pid) = pids.get(fastrand::usize(0..WORKERS)) else { continue };
        match fastrand::u32(0..20) {
            0 => {
                signal(pid, Signal::STOP);
                struck.frozen += 1;
            }
            1..6 => {
                std::fs::write(orders.join(format!("swell-{pid}")), "").unwrap();
                struck.swollen += 1;
            }
            _ => {
                signal(pid, Signal::KILL);
                struck.killed += 1;
            }
        }
    }
    struck
}

fn shown(ran: Option<&Ran>) -> String {
    ran.map_or_else(|| "none".to_owned(), |ran| format!("{:?} {:?}", ran.result, ran.costs))
}

#[test]
fn children_struck_at_random_lose_and_change_nothing() {
    let wanted = inputs_wanted();
    let orders = tempfile::tempdir().unwrap();
    let pile = || units((0..wanted).map(|number| json!({"number": number})));
    let (expected, _) = run_all(&Sequential, &Task::new(Arc::new(Sum)), pile());

    let mut task = Task::new(Arc::new(Sum));
    task.settings = Arc::new(Map::from_iter([("orders".to_owned(), json!(orders.path()))]));
    task.limits.memory = Some(300 << 20);
    // No input is at fault, so none may fail, however unlucky it is.
    let runner = processes(WORKERS).with_options(Options {
        tries: 1_000,
        silent_for: Duration::from_secs(1),
        ..Options::default()
    });
    let done = AtomicBool::new(false);
    let (results, report, struck) = std::thread::scope(|scope| {
        let striking = scope.spawn(|| strike(&runner, orders.path(), &done));
        let (results, report) = run_all(&runner, &task, pile());
        done.store(true, Ordering::SeqCst);
        (results, report, striking.join().unwrap())
    });
    let pairs = results.iter().zip(&expected);
    let different: Vec<_> = pairs
        .map(|(got, expected)| (shown(got.as_ref()), shown(expected.as_ref())))
        .filter(|(got, expected)| got != expected)
        .collect();
    let Struck { killed, frozen, swollen } = struck;
    println!(
        "processors torture: {wanted} inputs, {killed} killed, {frozen} frozen, {swollen} swollen, {} different",
        different.len()
    );
    assert!(different.is_empty(), "{} differ, such as {:?}", different.len(), different.first());
    assert_eq!(results.len(), wanted);
    assert!(report.replaced > 0, "nothing was struck");
}

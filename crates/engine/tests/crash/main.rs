//! The crash suite: worker processes that are killed, frozen, skewed or out of disk, and the count afterwards.
//!
//! Workers are processes of their own: this test binary, run again with orders in its environment. So nothing of it is
//! in the product, and a crash is a real one. Every test ends with the same audit: what was expected is what is counted.
//!
//! | file | what it does |
//! |---|---|
//! | `workload` | the work: pure processors, and what must come out of them |
//! | `child` | a worker process and its orders |
//! | `site` | a store in a folder, its workers, and waiting for them |
//! | `audit` | the count, by SQL of its own |
//! | `ledger` | that SQL on both databases |
//! | `torture` | workers who are killed and frozen |
//! | `twice` | a store to which some commits are sent twice |
//! | `faults`, `kills`, `guilty`, `restarts`, `fences`, `outside`, `disk` | the tests |

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(clippy::print_stdout, reason = "the summary of a torture is its result")]

mod audit;
mod carrier;
mod child;
mod disk;
mod faults;
mod fences;
mod guilty;
mod kills;
mod ledger;
mod outside;
mod restarts;
mod site;
#[path = "../stores/mod.rs"]
mod stores;
mod torture;
mod twice;
mod workload;

/// Not a test: what this binary does when it is run again as a worker.
#[test]
fn worker_process() {
    if let Some(orders) = child::Orders::from_environment() {
        child::work(&orders);
    }
}

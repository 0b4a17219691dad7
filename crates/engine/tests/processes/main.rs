//! The processes runner: the same results as everywhere, whatever happens to the children.
//!
//! Children are this test binary, run again with a mark in its environment, so a crash in here is a real one.
//!
//! | file | what it holds |
//! |---|---|
//! | `child` | the child, and the runner that starts it |
//! | `deeds` | a processor that does what its input says: good things and bad ones |
//! | `results` | what comes out is what comes out of [`Sequential`](bindery_engine::runner::Sequential) |
//! | `ends` | children that die, freeze or never end |
//! | `memory` | children that want too much |
//! | `services` | requests as bytes, and children that keep something |
//! | `life` | how many there are, and when they end |
//! | `torture` | all of it at random, and many inputs |

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "that printing does no harm is what is tested")]
#![allow(clippy::exit, reason = "a step that ends its process is what is tested")]
#![allow(clippy::zombie_processes, reason = "what a step leaves behind is what is tested")]

mod child;
mod deeds;
mod ends;
mod life;
mod memory;
mod results;
#[path = "../run_all/mod.rs"]
mod run_all;
mod services;
mod torture;

/// Not a test: what this binary does when it is run again as a child.
#[test]
fn child_main() {
    if child::is_child() {
        child::serve();
    }
}

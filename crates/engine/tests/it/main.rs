//! The engine's tests: real store, real files, real workers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod docproc;
mod kept_blobs;
mod machines;
mod resume;
mod retention;
mod runs;
mod seed000;
mod seed002;
mod smoke;
#[path = "../stores/mod.rs"]
mod stores;
mod support;
mod workflow_keys;

/// Not a test: what this binary does when it is run again as a child.
#[test]
fn child_main() {
    workflow_keys::isolation::serve_if_child();
}

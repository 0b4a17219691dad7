//! Fetching over real sockets, from a server in this process that can be as bad as those of vendors.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod client;
mod recordings;
mod server;
mod stopping;
mod vendor;
mod visits;

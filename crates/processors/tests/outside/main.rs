//! Outside processors against real programs and a real HTTP server.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod circuit;
mod examples;
mod http;
mod limits;
mod misbehaving;
mod parsing;
mod persistent;
mod server;
mod support;

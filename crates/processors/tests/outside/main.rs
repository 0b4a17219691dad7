//! Outside processors against real programs and a real HTTP server.

mod circuit;
mod examples;
mod http;
mod limits;
mod misbehaving;
mod parsing;
mod persistent;
mod server;
mod support;

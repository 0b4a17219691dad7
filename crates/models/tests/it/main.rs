//! Language models against a server on this machine that speaks both protocols, well and badly.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod answering;
mod failing;
mod long_texts;
mod spending;
mod support;

//! Language models against a server on this machine that speaks both protocols, well and badly.

mod answering;
mod batches;
mod failing;
mod long_texts;
mod server;
mod spending;
mod support;

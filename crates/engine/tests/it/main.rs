//! The engine's tests: real store, real files, real workers.

mod smoke;
mod support;

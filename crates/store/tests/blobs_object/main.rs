//! Object storage on a real S3 server and in a folder: the suite that every backend passes, and what only services do.
#![cfg(feature = "object-storage")]

mod faults;
mod promises;
mod server;
mod uploads;

//! placeholder

pub mod blobs;
#[cfg(feature = "conformance")]
pub mod conformance;

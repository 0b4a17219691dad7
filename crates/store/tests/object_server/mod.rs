//! The private S3 server, and what a test on it works with.

#![allow(dead_code, reason = "each test file uses a part of it")]

mod proxy;
mod stage;

pub(crate) use bindery_testkit::{
    ObjectServer as Server,
    object::{ACCESS_KEY, SECRET_KEY},
};
pub(crate) use proxy::Proxy;
pub(crate) use stage::Stage;

use bindery_store::blobs::ObjectOptions;
use std::time::Duration;

/// Options for an endpoint, with the right credentials and little patience.
pub(crate) fn options(endpoint: &str) -> ObjectOptions {
    let mut options = ObjectOptions::default()
        .with("AWS_ENDPOINT_URL", endpoint)
        .with("AWS_ACCESS_KEY_ID", ACCESS_KEY)
        .with("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
        .with("AWS_REGION", "us-east-1");
    options.backoff = Duration::from_millis(1);
    options.part_size = 5 << 20;
    options
}

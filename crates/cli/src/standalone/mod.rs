//! What `process` and `runs retry` share: choosing a runner, following a run until its end, and telling of it.

mod display;
mod follow;
mod report;
mod runner;

pub(crate) use follow::{Ended, follow};
pub(crate) use report::{conclude, money, short_id, step_time};
pub(crate) use runner::RunnerArgs;

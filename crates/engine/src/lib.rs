//! Bindery's engine: takes submissions through their workflows, durably.
//!
//! | module | what it owns |
//! |---|---|
//! | [`workflow`] | the YAML files: model, parser, checks, `__next__` and routing keys |
//! | [`processor`], [`context`], [`steps`] | what a stage runs: validate, process, extract, with resume |
//! | [`runner`] | the same steps on many inputs: one by one, on threads, in processes |
//! | [`execution`] | stand-alone runs: inputs in, factors out, retries that resume |
//! | [`runs`] | the same, stored: nothing is lost, retries go on where it stopped |
//! | [`intake`] | one transaction from files to a submission with its first jobs |
//! | [`intake_more`] | files for a submission that exists; a submission once more, with what it has |
//! | [`chain`], [`settle`], [`fan_out`] | the rules: what follows from a finished piece of work, as one commit |
//! | [`parts`], [`part_results`] | what a stage behind a join reads of the parts, page by page; the same as values for programs |
//! | [`worker`] | claims in batches, keeps the cores busy, commits in groups, drains |
//! | [`report`], [`message`] | results that programs outside hand in |
//! | [`decision`], `late_review` | what people decide: accept, correct, reject; what a later stage asks them |
//! | [`feed`], [`aggregator`] | named consumers of the event log; the one that follows outside processors |
//! | [`reuse`] | work that was done before is taken over, with what people have decided |
//! | [`machines`] | state machines, durably: executions, tasks, timers, nested ones |
//! | [`retention`] | deleting what nobody needs any more |
//! | [`view`] | progress, and the state documents of the source systems |
//!
//! **On a crash** nothing needs repair. The engine keeps no state of its own: whatever it knows it has read from the
//! store, and every effect of a piece of work is one [`Commit`](bindery_store::Commit). Work that was under way runs
//! again once its lease has expired; its effect counts once.
//!
//! **What wakes it**: the store's change signal, and a poll behind it.

pub mod aggregator;
pub mod catalog;
pub mod chain;
pub mod context;
pub mod decision;
pub mod engine;
pub mod error;
pub mod execution;
pub mod fan_out;
pub mod feed;
mod heartbeat;
pub mod ids;
pub mod intake;
pub mod intake_more;
pub mod internal;
mod late_review;
pub mod machines;
pub mod message;
pub mod part_results;
pub mod parts;
pub mod processor;
pub mod report;
pub mod retention;
pub mod reuse;
pub mod runner;
pub mod runs;
pub mod settle;
pub mod steps;
pub mod stop;
mod store_retry;
pub mod view;
pub mod work_id;
pub mod worker;
pub mod workflow;

pub use engine::{Engine, Parts};
pub use error::{EngineError, EngineResult};
pub use heartbeat::SILENT_AFTER;
pub use processor::{Announcement, Child, Children, Correction, Extracted, Kind, Processor, Registry};
pub use reuse::{Content, Reusable};
pub use stop::{StopHandle, StopSignal, stop_pair};
pub use worker::{Source, StoreHealth, Worker, WorkerMetrics, WorkerOptions, metrics};

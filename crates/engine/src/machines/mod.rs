//! State machines, durably: the stepper of `bindery-states` says what happens next, this module makes it happen.
//!
//! ```text
//!  start, stop, redrive, task tokens ──► signals ─┐
//!                                                  ▼
//!  store ──hold──► executor ──► step (pure) ──► one commit: state, history, end, signals ──► store
//!                     ▲                                       │
//!                     └── answers ◄── tasks, timers ◄─────────┘  only after the commit
//! ```
//!
//! An execution is held by one process at a time, which keeps it in memory while it has something to do, and otherwise
//! lets it rest in the store until its timer or a signal is due. States that need nobody are chained, and the steps of
//! many executions share a commit.
//!
//! **On a crash** an execution goes on from its last commit. What was asked for and not answered (tasks, timers, nested
//! executions) is part of what is stored, and asked for again: a task runs at least once, its answer counts once.
//!
//! | module | what it owns |
//! |---|---|
//! | [`Machines`] | what people do: store a machine, start, stop, redrive, report a token, look |
//! | [`Executor`] | the loop: looks, steps, stores, gives back |
//! | `watch` | looks into the store for what is due, and for signals |
//! | `scheduler` | the executions in memory, what has come for them, what is due |
//! | `leases` | the leases of those executions, extended by the heartbeat |
//! | `storing` | steps of many executions, stored together |
//! | `perform` | tasks under way |
//! | [`Tasks`] | what tasks run: given by whoever starts an executor |
//! | `execution_state` | what is stored between steps |
//! | `loaded_execution` | one execution in memory: events in, one step for the store out |
//! | `nested` | executions that tasks start |

mod execution_state;
mod executor;
mod handle;
mod leases;
mod loaded_execution;
#[cfg(test)]
mod loaded_execution_tests;
mod nested;
mod perform;
mod scheduler;
mod storing;
mod tasks;
mod watch;

pub use executor::{Executor, ExecutorOptions};
pub use handle::{Answer, Ended, Machines, StartRequest, arn_of_execution, arn_of_machine, machine_name};
pub use tasks::{ItemsRequest, ResultsRequest, TaskCall, TaskFailure, TaskResult, Tasks};

//! What a state machine does: an event goes in, commands and history come out.
//!
//! [`step`] is a function of its arguments. It reads no clock, draws no chance and does no I/O: the moment and the seed
//! of chance come in with each event, and what expressions drew is in the new state, never to be drawn again. The
//! [`Execution`] is plain data. It can be stored after any step and resumed by anyone who has the same definition.
//!
//! States that need nobody (Pass, Choice, Succeed, Fail, and the turns of Map and Parallel) are run one after the other
//! within one step, up to the next task or wait. Commands say what has to be done outside; the answer to each comes back
//! as an event. An answer that nobody waits for any more is ignored, so that it does not matter if one comes twice.
//!
//! | module | what it owns |
//! |---|---|
//! | `execution` | the state of an execution |
//! | `event` | events in, commands out |
//! | `history` | what happened, in the service's words |
//! | `failure` | what went wrong, and who handles it |
//! | `machine` | the loop, entering and leaving states |
//! | `data` | inputs and outputs |
//! | `view` | paths, templates, expressions, variables |
//! | `task`, `choice`, `wait`, `composite`, `map` | the states |
//! | `trial` | one state alone, with an answer made up |

mod choice;
mod composite;
mod data;
mod event;
mod execution;
mod failure;
mod history;
mod machine;
mod map;
mod resource;
mod task;
mod trial;
mod view;
mod wait;

pub use event::{Command, Event, Moment, Nested, StepLimits, TaskId, TimerId};
pub use execution::{Execution, Identity, Status};
pub use failure::names;
pub use history::HistoryEvent;
pub use resource::{Pattern, Resource};
pub use trial::{Answer, Detail, Trial, TrialError, TrialStatus, Tried, try_state};

use super::definition::Definition;

/// What a step brought about.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Step {
    pub commands: Vec<Command>,
    pub history: Vec<HistoryEvent>,
}

/// One event. The execution is changed in place; store it together with what is returned.
pub fn step(definition: &Definition, execution: &mut Execution, event: Event, moment: Moment) -> Step {
    machine::Stepper::new(definition, execution, moment).handle(event)
}

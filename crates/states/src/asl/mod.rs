//! State machines in Amazon States Language.
//!
//! | module | what it owns |
//! |---|---|
//! | [`definition`] | what a machine is: read from JSON text, with every fault told at once |
//! | [`graph`] | pictures of machines, and of the way an execution took |
//! | [`jsonpath`] | paths, and the functions of `States.*` |
//! | [`stepper`] | what a machine does: an event in, commands and history out |
//! | [`replay`] | recorded runs, fed back and compared |

pub mod definition;
pub(crate) mod functions;
pub mod graph;
pub mod jsonpath;
pub mod replay;
pub mod stepper;
pub(crate) mod time;

//! What a state machine is: the definition as data, read from JSON text, and everything that is wrong with it.
//!
//! Reading never stops at the first fault. [`Definition::parse`] gives either a definition that the stepper can run
//! without asking again (every path and expression is parsed, every target exists, every state can be reached), or all
//! [`Faults`] with their lines, columns, paths and hints.

mod choice;
mod diagnostic;
mod model;
mod read;
mod source;
mod template;

pub use choice::{Comparand, Comparison, Condition, Kind, Order, Rule, Test};
pub use diagnostic::{Diagnostic, Faults, Severity};
pub use model::{
    Catcher, Definition, ItemBatcher, ItemReader, Machine, MachineId, Map, QueryLanguage, ResultPath, ResultWriter,
    Retrier, Selected, State, StateKind, Task, Transition, WaitFor,
};
pub use source::{Data, Entry, MAX_BYTES, Node, Place};
pub use template::{JsonataField, Setting, Template};

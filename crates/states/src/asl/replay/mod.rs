//! Recorded runs, fed back and compared.
//!
//! A [`Case`] is a definition, an input and the history that somebody else's engine recorded for it. [`replay`] runs the
//! definition in our stepper, answers its tasks with what the record says they answered, and compares the two histories
//! in four tiers, each of which includes those before it:
//!
//! 1. how it ended: status, output, name of the error
//! 2. the sequence of events: types, ids and what each follows
//! 3. what the events say
//! 4. the text of causes
//!
//! Recorders hide what differs from run to run behind placeholders. [`Wildcards`](compare) are learned from the record
//! itself: whatever the recorded input has in another text than the input that was given is a placeholder. Branches that
//! run side by side may have their events in another order.

mod answers;
mod case;
mod compare;
mod runner;
mod sequence;

pub use case::{Case, CaseError};
pub use runner::{RECORDED_AT, Report, Summary, Tier, Verdict, replay, replay_all, replay_case};

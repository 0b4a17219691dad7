//! Stand-alone runs: one processor, many inputs, one result.
//!
//! ```text
//!  inputs ─► prevalidation ─► [validation ► processing ► extraction] per input, by a runner ─► one result
//!               │                   ▲ begins where an earlier run failed              all good: factors merged
//!               └ nothing has run   └ skipped where an earlier run succeeded          else: one result per input,
//!                                                                                           payloads for a retry
//! ```
//!
//! An [`Execution`] is a processor with its owner (account and underwriting), its runner and its context; what it is
//! asked to [`execute`](Execution::execute) it answers with a [`ProcessingResult`], whatever happens: bad input is a
//! result too. Nothing is kept between two calls. Everything here is in memory; `runs` stores what happens and finds
//! it again.

mod context;
mod execute;
mod input;
mod merge;
mod metrics;
mod prevalidate;
mod result;
mod resume;

pub use context::{ExecutionContext, Trigger};
pub use execute::{Execution, ExecutionError, Finished, FinishedInput, Observer, Silent};
pub use input::{InputError, ProcessorInput};
pub use merge::{Conflict, FactorPolicy, MergePolicy};
pub use metrics::{Metrics, StepMetrics};
pub use prevalidate::{Duplicates, INVALID_INPUT};
pub use result::{InputReport, InputResult, Output, Passed, ProcessingResult, RunError};
pub use resume::{Fingerprint, Payload};

/// What a processor is called in results: the seed systems put this before its name.
pub const NAME_PREFIX: &str = "p_";

/// A fresh id for a run, in the form of a random UUID.
pub fn new_run_id() -> String {
    uuid(fastrand::u128(..), 4)
}

/// A number in the form of a UUID of this version.
pub(crate) fn uuid(bits: u128, version: u8) -> String {
    let marks = (u128::from(version & 0xf) << 76) | (0b10 << 62);
    let bits = (bits & !(0xf << 76) & !(0b11 << 62)) | marks;
    let digits = format!("{bits:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

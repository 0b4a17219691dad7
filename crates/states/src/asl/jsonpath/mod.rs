//! Paths into JSON as Step Functions reads them, and its intrinsic functions.
//!
//! The dialect is wider than the standard one: `$.detail-type`, `$.[0]`, `$$.` for the context object and `$name` for a
//! variable are paths. A path that can only mean one value ([`JsonPath::is_definite`]) gives that value or fails; any
//! other gives a list, empty when nothing is there.

mod evaluate;
mod expression;
mod filter;
mod intrinsics;
mod parse;
mod reference;

pub use evaluate::{PathFault, Roots};
pub use expression::{EvaluationFault, PathExpression};
pub use parse::{JsonPath, PathError, Root, Step};
pub use reference::{ReferenceFault, ReferencePath};

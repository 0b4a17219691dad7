//! JSONata expressions, safe to run on what others send and others write.
//!
//! An [`Expression`] is parsed once and can then be evaluated on any thread. Whatever the text and whatever the input,
//! parsing and evaluating return: they do not panic, do not exhaust the stack, and keep within [`Limits`].
//!
//! ```
//! use bindery_states::jsonata::{Bindings, Expression, Limits};
//! use serde_json::json;
//!
//! let total = Expression::parse("$sum(lines.(price * quantity))")?;
//! let input = json!({"lines": [{"price": 2, "quantity": 3}, {"price": 4, "quantity": 1}]});
//! assert_eq!(total.evaluate(&input, &Bindings::default(), Limits::default())?, Some(json!(10)));
//! # Ok::<(), bindery_states::jsonata::JsonataError>(())
//! ```
//!
//! The language is that of the reference implementation, with these differences:
//!
//! - `$eval` is switched off, unless the limits allow it: it would run text that came with the input.
//! - Results nest at most [`Limits::MAX_NESTING`] levels, so that every JSON reader takes them.
//! - Numbers are 64-bit floats, as in the reference. Whole numbers beyond 2^53 are rounded.
//!
//! **The limits are exact in depth and near in time and memory.** Time is looked at between the steps of an
//! evaluation: one call of a built-in function on a large list runs to its end first. Sizes are checked on the way into
//! what could multiply them; `$replace` with a function for a replacement is the one that is not checked before it is
//! done.
//!
//! **What is written once is done once.** A regular expression that is written as a literal in a call of `$contains`,
//! `$split`, `$match` or `$replace` is compiled when the expression is parsed; one that comes as a value, or goes with a
//! function as the replacement, is compiled each time. Of values that are lent to a [`Scope`] only what the expression
//! looks at is made ready for it.

mod bare_calls;
mod convert;
mod error;
mod expression;
mod functions;
mod guard;
mod limits;
mod needs;
mod paths;
mod patterns;
mod position;
mod scope;
mod surroundings;

pub use error::JsonataError;
pub use expression::{Bindings, Expression};
pub use limits::Limits;
pub use scope::{Lent, Prepared, Scope};
pub use surroundings::Surroundings;

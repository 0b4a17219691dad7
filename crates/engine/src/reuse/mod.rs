//! Work that was done before is taken over.
//!
//! A result is known by everything it depends on: processor, version, settings, types of documents and templates (the
//! *recipe*), its owner, and the content of its input. All of that is one hash, the *key*, which is stored with the
//! outcome in the same commit. A worker that begins a piece of work looks its key up; what another submission of the same
//! owner, or an earlier run, has found is then stored as this work's result by a commit like any other.
//!
//! | module | what it owns |
//! |---|---|
//! | `key` | recipe, key and subject of a piece of work |
//! | `made` | what was found beside the output, kept with it |
//! | `take_over` | from an outcome of before to a result of now |
//! | `decisions` | what people have decided about the same content |
//! | [`changed`] | which results depend on something that is different now |
//!
//! **What lives how long.** There is no cache beside the outcomes: when a submission is deleted, nothing of it can be taken
//! over any more. Keys contain the owner, so nothing passes from one owner to another.
//!
//! **On a crash** there is nothing to repair: key and result are one row. Two workers that do the same content at the same
//! moment both store a result; the one of the newer submission is taken over from then on.

pub mod changed;
mod decisions;
mod key;
mod made;
mod take_over;

pub(crate) use decisions::Earlier;
pub use key::{OWN_KEY, rerun_of, state_anew, state_rerun};
pub(crate) use key::{Prepared, prepare, recipe_of};
pub(crate) use made::reuse_of;
pub(crate) use take_over::{REJECTED, TakenOver, take_over};

use crate::{context::StepContext, processor::Extracted, workflow::Stage};
use bindery_core::StepError;
use serde_json::Value;

/// What a piece of work depends on.
#[derive(Debug, Clone, Default)]
pub struct Content {
    /// All that the steps read of their input and of earlier results. No ids and no names of files: the same content
    /// elsewhere is the same.
    pub reads: Value,
    /// What a person's decision about the result is about, whatever was found: which pages of which bytes. None: decisions
    /// are not remembered.
    pub subject: Option<Value>,
    /// The item's type, where the recipe depends on it.
    pub label: Option<String>,
}

/// A processor whose results can be taken over: they depend on nothing but recipe and content.
pub trait Reusable: Send + Sync {
    /// What the result depends on beside version and settings, such as types of documents and templates. The same value
    /// whenever that is the same, in every process. `label` is the item's.
    fn recipe(&self, _stage: &Stage, _label: Option<&str>) -> Value {
        Value::Null
    }

    /// What it depends on of its input. An error means that this work cannot be taken over; the steps will tell why.
    fn content(&self, context: &StepContext, input: &Value) -> Result<Content, StepError>;

    /// Whether a result has ids, or names of files, of its submission in it, so that [`adopt`](Self::adopt) is needed.
    fn names_its_submission(&self) -> bool {
        false
    }

    /// A result of another submission as one of this: with the ids and names that it would have here.
    fn adopt(&self, _context: &StepContext, _input: &Value, found: Extracted) -> Result<Extracted, StepError> {
        Ok(found)
    }
}

//! Text files in, an index of their words out: the `words` workflow.
//!
//! | processor | works on | does |
//! |---|---|---|
//! | [`TextSplitter`] | each file | decodes it and splits it into pages |
//! | [`WordCounter`] | each page | counts its words |
//! | [`WordConsolidator`] | the submission | binds the pages into one result, in order, with what failed and why |

mod consolidator;
mod counter;
mod decode;
mod split;
mod splitter;
mod word_index;
mod words;

pub use consolidator::WordConsolidator;
pub use counter::WordCounter;
pub(crate) use decode::decode;
pub use splitter::TextSplitter;

use bindery_core::StepError;

/// What a step before this one of the same processor should have left.
fn missing(what: &str) -> StepError {
    StepError::bug(format!("the step before left no {what}"))
}

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
#[cfg(test)]
mod tests;
mod words;

pub use consolidator::WordConsolidator;
pub use counter::WordCounter;
pub use splitter::TextSplitter;

use bindery_core::StepError;
use bindery_engine::context::StepContext;

/// A whole number from the stage's settings.
fn setting(
    context: &StepContext,
    name: &str,
    default: u64,
    allowed: std::ops::RangeInclusive<u64>,
) -> Result<u64, StepError> {
    let Some(value) = context.settings().get(name) else { return Ok(default) };
    value.as_u64().filter(|number| allowed.contains(number)).ok_or_else(|| {
        let stage = context.stage().map(|stage| format!("stage {}: ", stage.name)).unwrap_or_default();
        let message = format!(
            "{stage}settings.{name}: expected a whole number from {} to {}, found {value}",
            allowed.start(),
            allowed.end()
        );
        StepError::reject(message).named("BadSettings")
    })
}

/// What a step before this one of the same processor should have left.
fn missing(what: &str) -> StepError {
    StepError::bug(format!("the step before left no {what}"))
}

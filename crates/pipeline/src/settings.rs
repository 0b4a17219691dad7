//! A stage's `settings:`, with one sentence for what is wrong with one.

use bindery_core::StepError;
use bindery_engine::context::StepContext;
use std::ops::RangeInclusive;

/// A whole number.
pub(crate) fn whole(
    context: &StepContext,
    name: &str,
    default: u64,
    allowed: RangeInclusive<u64>,
) -> Result<u64, StepError> {
    let Some(value) = context.settings().get(name) else { return Ok(default) };
    value
        .as_u64()
        .filter(|number| allowed.contains(number))
        .ok_or_else(|| wrong(context, name, &format!("a whole number from {} to {}", allowed.start(), allowed.end())))
}

/// True or false.
pub(crate) fn yes_or_no(context: &StepContext, name: &str, default: bool) -> Result<bool, StepError> {
    let Some(value) = context.settings().get(name) else { return Ok(default) };
    value.as_bool().ok_or_else(|| wrong(context, name, "true or false"))
}

/// A setting that is not what was expected.
pub(crate) fn wrong(context: &StepContext, name: &str, expected: &str) -> StepError {
    let stage = context.stage().map(|stage| format!("stage {}: ", stage.name)).unwrap_or_default();
    let found = context.settings().get(name).cloned().unwrap_or_default();
    StepError::reject(format!("{stage}settings.{name}: expected {expected}, found {found}")).named("BadSettings")
}

//! Recipe, key and subject of a piece of work.

use super::Reusable;
use crate::{catalog::SubmissionInfo, context::StepContext, processor::Processor, workflow::Stage};
use bindery_core::{ContentHash, SubmissionId};
use serde_json::{Map, Value, json};

/// What a piece of work is known by, before it has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prepared {
    pub(crate) key: ContentHash,
    pub(crate) recipe: ContentHash,
    pub(crate) subject: Option<ContentHash>,
    /// Whatever was done before, it is done again.
    pub(crate) is_anew: bool,
}

fn hash(value: &Value) -> ContentHash {
    ContentHash::of(value.to_string().as_bytes())
}

/// The hash of what a result depends on beside its input.
pub(crate) fn recipe_of(
    processor: &dyn Processor,
    reusable: &dyn Reusable,
    stage: &Stage,
    label: Option<&str>,
) -> ContentHash {
    let own = reusable.recipe(stage, label);
    hash(&json!(["recipe", processor.name(), processor.version(), stage.settings, own]))
}

/// What the work is known by; none where it can never be taken over.
pub(crate) fn prepare(processor: &dyn Processor, context: &StepContext, input: &Value) -> Option<Prepared> {
    let reusable = processor.reuse()?;
    let (stage, info) = (context.stage().ok()?, context.submission().ok()?);
    let content = match reusable.content(context, input) {
        Ok(content) => content,
        Err(error) => {
            tracing::debug!(processor = processor.name(), error = %error.message, "what this work reads is not known");
            return None;
        }
    };
    let recipe = recipe_of(processor, reusable, stage, content.label.as_deref());
    let owner = &info.owner;
    Some(Prepared {
        key: hash(&json!(["key", owner, recipe.to_string(), content.reads])),
        recipe,
        subject: content.subject.map(|subject| hash(&json!(["subject", owner, processor.name(), subject]))),
        is_anew: is_anew(info, processor.name()),
    })
}

/// What Bindery itself says about a submission stands in its metadata under this key, which senders cannot use.
pub const OWN_KEY: &str = "intake";
const ANEW: &str = "anew";
const RERUN_OF: &str = "rerun_of";

fn own(metadata: &mut Map<String, Value>) -> &mut Value {
    metadata.entry(OWN_KEY).or_insert_with(|| Value::Object(Map::new()))
}

/// Says that a submission takes the place of another one, whose files it has.
pub fn state_rerun(metadata: &mut Map<String, Value>, of: SubmissionId) {
    own(metadata)[RERUN_OF] = json!(of.to_string());
}

/// The submission whose place this one takes.
pub fn rerun_of(metadata: &str) -> Option<SubmissionId> {
    if !metadata.contains(RERUN_OF) {
        return None;
    }
    let said: Value = serde_json::from_str(metadata).ok()?;
    said.get(OWN_KEY)?.get(RERUN_OF)?.as_str()?.parse().ok()
}

/// Says that all work of a submission, or that of some processors, is done whatever was done before.
pub fn state_anew(metadata: &mut Map<String, Value>, processors: Option<&[String]>) {
    own(metadata)[ANEW] = processors.map_or(Value::Bool(true), |names| json!(names));
}

fn is_anew(info: &SubmissionInfo, processor: &str) -> bool {
    // Asked for all work, and hardly ever there.
    if !info.metadata.contains("\"anew\"") {
        return false;
    }
    let said: Value = serde_json::from_str(&info.metadata).unwrap_or_default();
    match &said[OWN_KEY][ANEW] {
        Value::Bool(all) => *all,
        Value::Array(names) => names.iter().any(|name| name == processor),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_anew_where_it_is_said() {
        let mut metadata = Map::new();
        state_anew(&mut metadata, Some(&["page_reader".to_owned()]));
        assert_eq!(Value::Object(metadata.clone()), json!({"intake": {"anew": ["page_reader"]}}));
        state_anew(&mut metadata, None);
        assert_eq!(Value::Object(metadata), json!({"intake": {"anew": true}}));
    }
}

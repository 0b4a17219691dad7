//! What was found beside the output, kept with the outcome so that it can be taken over with it.

use super::Prepared;
use crate::{
    processor::{Announcement, Children, Extracted, NewArtifact},
    runner::processes::wire::{ChildrenRef, WireArtifact, WireChildren, WireTarget},
    settle::Found,
    workflow::Target,
};
use bindery_core::{StepError, outcome::Reuse};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Larger fan-outs are made again: storing their parts twice would cost more than it saves.
const MOST_CHILDREN: usize = 20_000;
const LONGEST_TEXT: usize = 4 * 1024 * 1024;

/// As it is written. Most results have nothing beside their output.
#[derive(Debug, Serialize)]
struct MadeRef<'a> {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    decided: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    reasons: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<WireTarget>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    events: &'a [Announcement],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<WireArtifact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    children: Option<ChildrenRef<'a>>,
}

/// As it is read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Made {
    /// A person has decided about it.
    pub(super) decided: bool,
    reasons: Vec<String>,
    target: Option<WireTarget>,
    label: Option<String>,
    skipped: Option<String>,
    events: Vec<Announcement>,
    artifacts: Vec<WireArtifact>,
    children: Option<WireChildren>,
}

/// What is stored with the outcome of what was found; none where it cannot be taken over.
pub(crate) fn reuse_of(prepared: Prepared, found: &Found) -> Option<Reuse> {
    if found.children.as_ref().is_some_and(|children| children.count > MOST_CHILDREN) {
        return None;
    }
    let made = MadeRef {
        decided: found.is_decided,
        reasons: &found.reasons,
        target: (found.target != Target::Next).then(|| found.target.clone().into()),
        label: found.label.as_deref(),
        skipped: found.skipped.as_deref(),
        events: &found.events,
        artifacts: found.artifacts.iter().cloned().map(WireArtifact::from).collect(),
        children: found.children.as_ref().map(|list| ChildrenRef { kind: list.kind, list }),
    };
    let text = serde_json::to_string(&made).ok()?;
    if text.len() > LONGEST_TEXT {
        return None;
    }
    let made = (text != "{}").then_some(text);
    Some(Reuse { key: prepared.key, recipe: prepared.recipe, subject: prepared.subject, made })
}

impl Made {
    pub(super) fn read(text: Option<&str>) -> Result<Self, StepError> {
        let Some(text) = text else { return Ok(Self::default()) };
        serde_json::from_str(text).map_err(|error| StepError::bug(format!("a stored result is not JSON: {error}")))
    }

    /// As a processor would have returned it.
    pub(super) fn into_extracted(self, output: Value, confidence: Option<f64>) -> Extracted {
        Extracted {
            output,
            output_blob: None,
            confidence,
            children: self.children.map(Children::from),
            reasons: self.reasons,
            target: self.target.map(Target::from),
            artifacts: self.artifacts.into_iter().map(NewArtifact::from).collect(),
            label: self.label,
            skipped: self.skipped,
            events: self.events,
            cost_micros: 0,
        }
    }
}

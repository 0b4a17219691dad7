//! What the work of a definition has come to: between its second step and its third, and what the engine makes of it.

use bindery_core::{ContentHash, StepError};
use bindery_engine::{Child, Children, Extracted, context::StepContext, processor::NewArtifact, workflow::Target};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An output, with what a program may say beside it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Produced {
    pub output: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Why a person should look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub review: Vec<String>,
    /// Bytes that are kept already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<KeptFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children: Option<Vec<ProducedChild>>,
}

/// A file that is kept with the result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeptFile {
    /// With slashes, and nothing that leads elsewhere.
    pub path: String,
    pub hash: ContentHash,
    pub size: u64,
    pub media_type: String,
}

/// A part of the item.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProducedChild {
    pub label: Option<String>,
    pub key: Option<String>,
    pub content: Option<ContentHash>,
    #[serde(default)]
    pub data: Map<String, Value>,
}

impl Produced {
    pub fn new(output: Value) -> Self {
        Self { output, ..Self::default() }
    }

    pub(crate) fn into_value(self) -> Result<Value, StepError> {
        serde_json::to_value(self).map_err(|error| StepError::bug(format!("the result cannot be written: {error}")))
    }

    pub(crate) fn from_value(value: Value) -> Result<Self, StepError> {
        serde_json::from_value(value)
            .map_err(|error| StepError::bug(format!("the step before left no result: {error}")))
    }

    /// What the engine keeps, with the output that the definition's factors make of it.
    pub(crate) fn into_extracted(self, context: &StepContext, output: Value) -> Result<Extracted, StepError> {
        let mut extracted = Extracted { confidence: self.confidence, ..Extracted::new(output) };
        let folder = folder_of(context);
        let artifact = |file: KeptFile| NewArtifact {
            key: format!("{folder}/{}", file.path),
            hash: file.hash,
            size: file.size,
            media_type: file.media_type,
        };
        extracted.artifacts = self.files.into_iter().map(artifact).collect();
        if let Some(children) = self.children {
            extracted.children = Some(children_of(context, children)?);
        }
        if !self.review.is_empty() {
            extracted.target = asks_a_person(context)?;
            extracted.reasons = self.review;
        }
        Ok(extracted)
    }
}

/// Under which name files are kept: by stage and item.
fn folder_of(context: &StepContext) -> String {
    let Ok(stage) = context.stage() else { return FILES.to_owned() };
    let about = context.item_id().map_or_else(|| "submission".to_owned(), |item| item.to_string());
    format!("{FILES}/{}/{about}", stage.name)
}

/// How the keys of files that programs have returned begin.
pub(crate) const FILES: &str = "files";

fn children_of(context: &StepContext, children: Vec<ProducedChild>) -> Result<Children, StepError> {
    let (workflow, stage) = (context.workflow()?, context.stage()?);
    let next = workflow.index_of(&stage.name).and_then(|index| workflow.next_after(index));
    let kind = next.and_then(|(_, next)| next.over.item_kind()).ok_or_else(|| {
        StepError::reject(format!("stage {} has no stage behind it that works on parts", stage.name))
            .named("BadWorkflow")
    })?;
    let child = |child: ProducedChild| Child {
        label: child.label,
        key: child.key,
        content: child.content,
        data: child.data,
        ..Child::default()
    };
    Ok(Children::new(kind, children.into_iter().map(child).collect()))
}

/// To people, if the stage has some; a document says by itself what is doubtful about it.
fn asks_a_person(context: &StepContext) -> Result<Option<Target>, StepError> {
    let Ok(stage) = context.stage() else { return Ok(None) };
    let asked = stage.backoffice_queue.is_some();
    if !asked && stage.over != bindery_engine::workflow::Over::Document {
        let message = format!(
            "stage {}: `review` asks for a person, and the stage has nobody to ask; give it a `backoffice_queue`",
            stage.name
        );
        return Err(StepError::reject(message).named("NobodyToAsk"));
    }
    Ok(asked.then_some(Target::Backoffice))
}

//! What a parser made of a file, in one shape for all parsers.

use super::compare::words;
use crate::reading::content_of;
use bindery_core::{ContentHash, StepError, item::Item};
use bindery_engine::{Extracted, context::StepContext, processor::NewArtifact};
use serde_json::{Value, json};

/// The file that is worked on, with its bytes.
pub(super) fn received(context: &StepContext) -> Result<(Item, ContentHash), StepError> {
    let item = context.item()?;
    let content = item.content.ok_or_else(|| {
        StepError::reject("the file has no bytes here: it is known from outside only").named("NoContent")
    })?;
    Ok((item, content))
}

/// Puts a text into the blob store and says what is known of it. `about` has what only this parser knows.
pub(super) fn kept(context: &StepContext, markdown: &str, mut about: Value) -> Result<Value, StepError> {
    let stored = context.put_blob(markdown.as_bytes().to_vec())?;
    about["words"] = json!(words(markdown).count());
    about["characters"] = json!(markdown.chars().count());
    about["content"] = json!(stored.hash.to_string());
    about["bytes"] = json!(stored.size);
    Ok(about)
}

/// The result of a parser: what it says of the text, and the text under a readable key. Where there is a `raw`, that is
/// what a service said.
pub(super) fn finished(context: &StepContext, parser: &str, mut parsed: Value) -> Result<Extracted, StepError> {
    let item = context.item()?.id;
    let hash = content_of(&parsed).ok_or_else(|| StepError::bug("the step before left no text"))?;
    let artifact = |ending: &str, media_type: &str, hash: ContentHash, size: &Value| NewArtifact {
        key: format!("text-docs/{item}.{parser}.{ending}"),
        hash,
        size: size.as_u64().unwrap_or(0),
        media_type: media_type.to_owned(),
    };
    let mut artifacts = vec![artifact("md", "text/markdown", hash, &parsed["bytes"])];
    if let Some(hash) = content_of(&parsed["raw"]) {
        artifacts.push(artifact("json", "application/json", hash, &parsed["raw"]["bytes"]));
    }
    if let Some(fields) = parsed.as_object_mut() {
        fields.remove("raw");
        fields.insert("parser".to_owned(), json!(parser));
        for (name, artifact) in ["markdown", "json"].into_iter().zip(&artifacts) {
            fields.insert(name.to_owned(), json!(artifact.key));
        }
    }
    Ok(Extracted { artifacts, ..Extracted::new(parsed) })
}

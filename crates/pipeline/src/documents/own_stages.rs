//! Stages that users have added to the workflow: what they say is in the result, too.
//!
//! A stage over documents may state fields (`{"fields": {"risk": "high"}}`): they are fields of the document like any
//! other, in every list and table. Everything else is kept under the stage's name.

use crate::{
    borders::ExtractedDocument,
    results::{has_result, reason},
    stage::fit,
};
use bindery_core::{
    Name, StepError,
    item::{Item, ItemKind},
    outcome::{Outcome, OutcomeStatus},
};
use bindery_engine::{context::StepContext, workflow::Over};
use bindery_fields::extract::Extraction;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// What a stage says about one item.
#[derive(Debug, Serialize)]
pub(super) struct Said {
    stage: Name,
    /// `page` or `file`.
    kind: ItemKind,
    item: String,
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// A field as a program states it: its value, or its value and how sure it is.
struct StatedField {
    value: String,
    confidence: f32,
}

/// The long form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SureField {
    value: Value,
    #[serde(default)]
    confidence: Option<f32>,
}

/// The stages over a kind of item that none of the shipped processors do, in the order of the workflow.
pub(super) fn own_stages(context: &StepContext, kind: ItemKind, shipped: &[&str]) -> Result<Vec<Name>, StepError> {
    let over = match kind {
        ItemKind::File => Over::File,
        ItemKind::Page => Over::Page,
        ItemKind::Document => Over::Document,
    };
    let here = context.stage()?;
    let before = context.workflow()?.stages.iter().take_while(|stage| stage.name != here.name);
    let own = before.filter(|stage| stage.over == over && !shipped.iter().any(|name| stage.processor(name).is_some()));
    Ok(own.map(|stage| stage.name.clone()).collect())
}

/// Takes over what the user's stages have made of a document, in the order of the workflow. Most of them hand the whole
/// document on, changed; what several processors of one stage say is put together here. True if one of them waits for a
/// person.
pub(super) fn take_over(
    context: &StepContext,
    own: &[Vec<Outcome>],
    document: &mut ExtractedDocument,
) -> Result<bool, StepError> {
    let mut is_open = false;
    for outcome in own.iter().flatten() {
        if !has_result(outcome) {
            let why = reason(outcome);
            document.extraction.needs_review.push(format!("stage {} failed: {why}", outcome.stage));
            continue;
        }
        is_open |= outcome.status == OutcomeStatus::Review;
        let said = context.read(&outcome.output)?;
        if let Ok(changed) = fit::<ExtractedDocument>(&said) {
            // What failed before it is still to be told.
            let told = std::mem::take(&mut document.extraction.needs_review);
            *document = changed;
            let known: HashSet<String> = document.extraction.needs_review.iter().cloned().collect();
            let failed = told.into_iter().filter(|reason| reason.starts_with("stage ") && !known.contains(reason));
            document.extraction.needs_review.extend(failed);
            continue;
        }
        let (fields, rest) = fields_of_answer(said);
        state_fields(&mut document.extraction, &fields, outcome.confidence, &outcome.stage);
        if let Some(rest) = rest {
            let of_stage = document.more.entry(outcome.stage.clone()).or_insert(Value::Null);
            *of_stage = if of_stage.is_null() { rest } else { append_answer(of_stage.take(), rest) };
        }
    }
    Ok(is_open)
}

/// What several processors of one stage say: as a list.
fn append_answer(before: Value, next: Value) -> Value {
    match before {
        Value::Array(mut list) => {
            list.push(next);
            list.into()
        }
        before => Value::Array(vec![before, next]),
    }
}

/// The fields that an answer states, and the rest of it, if any.
pub(super) fn fields_of_answer(mut said: Value) -> (Map<String, Value>, Option<Value>) {
    let fields = said.as_object_mut().and_then(|said| said.shift_remove("fields"));
    let fields = match fields {
        Some(Value::Object(fields)) => fields,
        Some(other) => {
            keep_beside(&mut said, other);
            Map::new()
        }
        None => Map::new(),
    };
    let says_nothing = said.is_null() || said.as_object().is_some_and(Map::is_empty);
    (fields, (!says_nothing).then_some(said))
}

/// Why a program wants a person to look, as reasons of the document.
pub(super) fn doubts_of(stage: &Name, reasons: &[String]) -> Vec<String> {
    reasons.iter().map(|reason| format!("stage {stage}: {reason}")).collect()
}

/// `fields` that are no object are no fields.
fn keep_beside(said: &mut Value, fields: Value) {
    if let Some(said) = said.as_object_mut() {
        said.insert("fields".to_owned(), fields);
    }
}

pub(super) fn state_fields(
    extraction: &mut Extraction,
    fields: &Map<String, Value>,
    confidence: Option<f64>,
    stage: &Name,
) {
    let source = format!("stage {stage}");
    for (name, stated) in fields {
        match read_field(stated, confidence) {
            Ok(Some(field)) => extraction.add_stated(name, &field.value, field.confidence, &source),
            Ok(None) => {}
            Err(why) => extraction.needs_review.push(format!("{source} states no value for {name}: {why}")),
        }
    }
}

/// None where nothing is stated. What names no confidence has that of the whole result, and else is taken for certain.
fn read_field(stated: &Value, of_result: Option<f64>) -> Result<Option<StatedField>, String> {
    let (value, confidence) = match stated {
        Value::Object(_) => {
            let field = SureField::deserialize(stated)
                .map_err(|error| format!("expected a text, a number or {{\"value\", \"confidence\"}}: {error}"))?;
            (field.value, field.confidence)
        }
        value => (value.clone(), None),
    };
    let confidence = confidence.or(of_result.map(|of_result| of_result as f32)).unwrap_or(1.0);
    if !(0.0..=1.0).contains(&confidence) {
        return Err(format!("expected a confidence from 0 to 1, found {confidence}"));
    }
    let value = match value {
        Value::Null => return Ok(None),
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Array(_) | Value::Object(_) => return Err("expected one value, found a list or an object".to_owned()),
    };
    Ok(Some(StatedField { value, confidence }))
}

/// What the user's stages say about pages and files.
pub(super) fn said_of_others(context: &StepContext, shipped: &[&str]) -> Result<Vec<Said>, StepError> {
    let mut said = Vec::new();
    for kind in [ItemKind::File, ItemKind::Page] {
        let stages = own_stages(context, kind, shipped)?;
        if stages.is_empty() {
            continue;
        }
        context.visit_parts(None, kind, &stages, |item, found| {
            for outcome in found.iter().flatten() {
                said.push(entry_of(context, item, outcome)?);
            }
            Ok(())
        })?;
    }
    Ok(said)
}

fn entry_of(context: &StepContext, item: &Item, outcome: &Outcome) -> Result<Said, StepError> {
    let output = has_result(outcome).then(|| context.read(&outcome.output)).transpose()?;
    let is_part = item.kind != ItemKind::File;
    let file = if is_part { context.file_of(item)?.and_then(|file| file.label) } else { None };
    Ok(Said {
        stage: outcome.stage.clone(),
        kind: item.kind,
        item: item.public_id(),
        label: item.label.clone(),
        file,
        error: output.is_none().then(|| reason(outcome)),
        output,
    })
}

#[cfg(test)]
mod tests {
    use super::read_field;
    use serde_json::{Value, json};

    #[test]
    fn a_field_is_a_value_or_a_value_with_its_confidence() {
        let read = |value: Value| read_field(&value, Some(0.5)).map(|field| field.map(|f| (f.value, f.confidence)));
        assert_eq!(read(json!("high")), Ok(Some(("high".to_owned(), 0.5))));
        assert_eq!(read(json!({"value": 12.5, "confidence": 0.25})), Ok(Some(("12.5".to_owned(), 0.25))));
        assert_eq!(read(json!(null)), Ok(None));
        assert!(read(json!(["a"])).unwrap_err().contains("found a list or an object"));
        assert!(read(json!({"value": "x", "sure": 1})).unwrap_err().contains("unknown field `sure`"));
        assert!(read(json!({"value": "x", "confidence": 1.5})).unwrap_err().contains("from 0 to 1, found 1.5"));
    }
}

//! What stages have found about each part of a submission, as values that programs outside and collectors get.
//!
//! ```json
//! {"id": "item_7", "kind": "page", "ordinal": 0, "label": "page 1", "parent": "item_2",
//!  "results": {"read": {…}, "keywords": {…}}, "errors": [{"stage": "tone", "kind": "Busy", "message": "…"}]}
//! ```

use crate::{context::StepContext, workflow::Over};
use bindery_core::{
    ItemId, Name, StepError,
    item::{Item, ItemKind},
    outcome::{Outcome, OutcomeStatus},
};
use serde_json::{Map, Value, json};

/// The stages over one kind of item that come before the one that asks.
#[derive(Debug)]
pub struct PartResults<'c> {
    context: &'c StepContext,
    kind: ItemKind,
    stages: Vec<Name>,
    /// Whether several processors work on each item of the stage.
    has_many: Vec<bool>,
    /// Those whose results are wanted; of the others only what failed.
    is_wanted: Vec<bool>,
}

impl<'c> PartResults<'c> {
    /// None for the submission, which is no item.
    pub fn of_stages_before(context: &'c StepContext, over: Over) -> Result<Option<Self>, StepError> {
        let Some(kind) = over.item_kind() else { return Ok(None) };
        let here = &context.stage()?.name;
        let before = context.workflow()?.stages.iter().take_while(|stage| stage.name != *here);
        let before = before.filter(|stage| stage.over == over);
        let (stages, has_many): (Vec<Name>, Vec<bool>) =
            before.map(|stage| (stage.name.clone(), stage.processors.len() > 1)).unzip();
        let is_wanted = vec![true; stages.len()];
        Ok(Some(Self { context, kind, stages, has_many, is_wanted }))
    }

    /// The same with the results of some of the stages only, and the errors of all.
    #[must_use]
    pub fn retain_stages(mut self, is_wanted: impl Fn(&Name) -> bool) -> Self {
        self.is_wanted = self.stages.iter().map(is_wanted).collect();
        self
    }

    /// Whether no results are wanted.
    pub fn is_empty(&self) -> bool {
        !self.is_wanted.contains(&true)
    }

    /// What they have found about one item, by stage.
    pub fn of_item(&self, item: ItemId) -> Result<Map<String, Value>, StepError> {
        let found = self.stages.iter().map(|stage| self.context.item_outcomes(item, stage));
        self.by_stage(&found.collect::<Result<Vec<_>, _>>()?)
    }

    /// Hands over the parts of one item, or all of the submission, one by one.
    pub fn visit(
        &self,
        parent: Option<ItemId>,
        mut visit: impl FnMut(Value) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        self.context.visit_parts(parent, self.kind, &self.stages, |item, found| {
            let mut part = describe(item);
            part["results"] = Value::Object(self.by_stage(found)?);
            part["errors"] = found.iter().flatten().filter_map(error_of).collect();
            visit(part)
        })
    }

    fn by_stage(&self, found: &[Vec<Outcome>]) -> Result<Map<String, Value>, StepError> {
        let mut results = Map::new();
        let stages = self.stages.iter().zip(&self.has_many).zip(&self.is_wanted).zip(found);
        for (((stage, has_many), _), outcomes) in stages.filter(|((_, is_wanted), _)| **is_wanted) {
            if let Some(result) = self.result(outcomes, *has_many)? {
                results.insert(stage.to_string(), result);
            }
        }
        Ok(results)
    }

    /// The output of a stage's one processor, or that of each by name.
    fn result(&self, outcomes: &[Outcome], has_many: bool) -> Result<Option<Value>, StepError> {
        let mut by_processor = Map::new();
        for outcome in outcomes.iter().filter(|outcome| has_output(outcome)) {
            let output = self.context.read(&outcome.output)?;
            if !has_many {
                return Ok(Some(output));
            }
            by_processor.insert(outcome.processor.to_string(), output);
        }
        Ok((!by_processor.is_empty()).then_some(Value::Object(by_processor)))
    }
}

/// An item as programs outside know it.
pub fn describe(item: &Item) -> Value {
    json!({
        "id": item.public_id(), "kind": item.kind, "ordinal": item.ordinal, "label": item.label,
        "parent": item.parent.map(|parent| parent.to_string()),
    })
}

fn has_output(outcome: &Outcome) -> bool {
    matches!(outcome.status, OutcomeStatus::Completed | OutcomeStatus::Review)
}

fn error_of(outcome: &Outcome) -> Option<Value> {
    let error = outcome.error.as_ref()?;
    Some(json!({"stage": outcome.stage, "kind": error.kind, "message": error.message}))
}

//! Stages whose output nobody would ever see: the checks that need to know the processors.

use super::model::{Over, Stage, Workflow};
use crate::processor::Registry;
use bindery_core::Name;
use std::fmt;

/// A stage whose output goes nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadOutput {
    pub stage: Name,
    pub over: Over,
    /// It is the last one, so that the workflow has no result.
    pub is_last: bool,
}

impl fmt::Display for UnreadOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stage, over, is_last } = self;
        if *is_last {
            return write!(
                f,
                "the last stage {stage:?} runs over each {over}, so the workflow makes no result",
                stage = &**stage
            );
        }
        write!(f, "nobody reads what the stage {stage:?} finds about each {over}", stage = &**stage)
    }
}

impl UnreadOutput {
    /// What helps.
    pub fn hint(&self) -> String {
        let counted = self.over.as_str();
        format!(
            "add a last stage with `component: collector` and \
             `aggregation: {{collect_by: submission_id, expect_count_from: {counted}_count}}`, or a program of your own \
             that reads it from `work`"
        )
    }
}

/// The stages whose output no later stage reads, and the last one where it makes no result. A processor that this
/// program does not know may read everything.
pub fn unread_outputs(workflow: &Workflow, registry: &Registry) -> Vec<UnreadOutput> {
    let stages = &workflow.stages;
    let mut unread = Vec::new();
    for (index, stage) in stages.iter().enumerate() {
        // What programs outside report stands in their documents' states.
        if hands_on(stage, registry) || stage.has_outside_processor() {
            continue;
        }
        let is_last = index + 1 == stages.len();
        let is_seen = if is_last {
            stage.over == Over::Submission
        } else {
            is_input_of(stage, &stages[index + 1])
                || stages[index + 1..].iter().any(|later| reads(later, stage, registry))
        };
        if !is_seen {
            unread.push(UnreadOutput { stage: stage.name.clone(), over: stage.over, is_last });
        }
    }
    unread
}

/// Whether the next stage gets it as its input, or works on the parts that it has made.
fn is_input_of(stage: &Stage, next: &Stage) -> bool {
    next.over > stage.over || (next.over == stage.over && next.aggregation.is_none())
}

fn reads(later: &Stage, stage: &Stage, registry: &Registry) -> bool {
    later.processors.iter().any(|processor| {
        let known = registry.get(&processor.name).filter(|_| !processor.external);
        known.is_none_or(|known| known.reads(later, stage))
    })
}

/// What is done with it happens outside.
fn hands_on(stage: &Stage, registry: &Registry) -> bool {
    let known = |name: &Name| registry.get(name);
    stage.processors.iter().any(|processor| known(&processor.name).is_some_and(|known| known.hands_on()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Processor, context::StepContext};
    use bindery_core::StepError;
    use serde_json::Value;

    /// Reads what one stage says.
    struct Only(&'static str);

    impl Processor for Only {
        fn name(&self) -> &'static str {
            "only"
        }

        fn reads(&self, _here: &Stage, earlier: &Stage) -> bool {
            earlier.name == *self.0
        }

        fn process(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
            Ok(input)
        }
    }

    fn unread(stages: &str) -> Vec<String> {
        let workflow = Workflow::parse(&format!("name: w\nstages:\n{stages}"), None).unwrap();
        let mut registry = Registry::default();
        registry.register(Only("a"));
        unread_outputs(&workflow, &registry).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_output_that_no_stage_reads_is_found() {
        let end = "- {name: end, component: only, aggregation: {expect_count_from: file_count}}\n";
        let a = "- {name: a, over: file, parallel: true}\n";
        assert!(unread(&format!("{a}{end}")).is_empty());
        let b = "- {name: b, over: file, parallel: true}\n";
        assert_eq!(unread(&format!("{a}{b}{end}")), ["nobody reads what the stage \"b\" finds about each file"]);
        // What goes on as an input is read, and so is what somebody unknown may read.
        assert!(unread(&format!("{b}{a}{end}")).is_empty());
        assert!(unread(&format!("{a}{b}{}", end.replace("only", "theirs"))).is_empty());
    }

    #[test]
    fn a_workflow_that_ends_over_files_makes_no_result() {
        let said = unread("- {name: a, over: file, parallel: true}\n");
        assert_eq!(said, ["the last stage \"a\" runs over each file, so the workflow makes no result"]);
        assert!(unread("- {name: a}\n").is_empty());
    }
}

//! Routing keys that two stages claim for different queues: a broker would give each of them the other's messages.

use super::model::{Stage, Workflow};
use bindery_core::Name;
use std::{collections::HashMap, fmt};

/// Two stages of different workflows with one routing key and different queues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutingClash {
    pub key: Name,
    /// Workflow, stage and queue of each.
    pub first: (Name, Name, Name),
    pub second: (Name, Name, Name),
}

impl fmt::Display for RoutingClash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, first: (workflow, stage, queue), second: (other, other_stage, other_queue) } = self;
        write!(
            f,
            "the routing key {:?} leads to the stage {stage} of the workflow {workflow} (queue {queue}) and to the stage \
             {other_stage} of the workflow {other} (queue {other_queue})",
            &**key
        )
    }
}

/// The clashes between workflows. Two may share a key where they share the queue, too: its messages say whose they are.
/// Within one workflow keys are unique.
pub fn routing_clashes<'w>(workflows: impl IntoIterator<Item = &'w Workflow>) -> Vec<RoutingClash> {
    let mut first: HashMap<&Name, (&Workflow, &Stage)> = HashMap::new();
    let mut clashes = Vec::new();
    for workflow in workflows {
        for stage in &workflow.stages {
            let (known, known_stage) = *first.entry(&stage.routing_key).or_insert((workflow, stage));
            if known_stage.queue() == stage.queue() {
                continue;
            }
            clashes.push(RoutingClash {
                key: stage.routing_key.clone(),
                first: (known.name.clone(), known_stage.name.clone(), known_stage.queue()),
                second: (workflow.name.clone(), stage.name.clone(), stage.queue()),
            });
        }
    }
    clashes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::builtin;

    #[test]
    fn shipped_workflows_do_not_clash_and_a_copy_with_another_component_does() {
        let mut workflows: Vec<Workflow> =
            builtin::in_repository().iter().map(|text| Workflow::parse(text, None).unwrap()).collect();
        assert_eq!(routing_clashes(&workflows), []);
        let copy = builtin::WITH_REVIEWS.replace("name: default", "name: mine");
        workflows.push(Workflow::parse(&copy, None).unwrap());
        assert_eq!(routing_clashes(&workflows), [], "the same keys for the same queues are no clash");
        let other = copy.replace("component: ocr", "component: reader").replace("name: mine", "name: other");
        workflows.push(Workflow::parse(&other, None).unwrap());
        let said: Vec<String> = routing_clashes(&workflows).iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            ["the routing key \"page.ocr\" leads to the stage ocr of the workflow default (queue q.ocr) and to the \
              stage ocr of the workflow other (queue q.reader)"]
        );
    }
}

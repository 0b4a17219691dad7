//! Finding stages, and where work goes next.

use super::model::{Over, Stage, Workflow};
use bindery_core::Name;
use std::{convert::Infallible, fmt, str::FromStr};

/// Where a processor sends its result.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// `__next__`: the stage after the current one.
    Next,
    /// `__backoffice__`: the people who look after the current stage.
    Backoffice,
    /// `__end__`: nowhere. The chain ends here, whatever stages come behind.
    End,
    /// Anything else: the stage with this routing key.
    Key(Name),
}

impl Target {
    pub const NEXT: &'static str = "__next__";
    pub const BACKOFFICE: &'static str = "__backoffice__";
    pub const END: &'static str = "__end__";

    pub fn parse(text: &str) -> Self {
        match text {
            Self::NEXT => Self::Next,
            Self::BACKOFFICE => Self::Backoffice,
            Self::END => Self::End,
            key => Self::Key(Name::from(key)),
        }
    }
}

impl FromStr for Target {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::parse(text))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Next => Self::NEXT,
            Self::Backoffice => Self::BACKOFFICE,
            Self::End => Self::END,
            Self::Key(key) => key,
        })
    }
}

/// A target in a particular workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    Stage {
        index: usize,
    },
    Backoffice {
        queue: Name,
    },
    /// There is no stage after the last one, or the chain ends before it.
    End,
}

/// Why a target leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    #[error("the workflow {workflow:?} has no stage {stage:?}; its stages are {}", known.join(", "))]
    UnknownStage { workflow: String, stage: String, known: Vec<String> },
    #[error("the workflow {workflow:?} has no stage with the routing key {key:?}; its routing keys are {}", known.join(", "))]
    UnknownRoutingKey { workflow: String, key: String, known: Vec<String> },
    #[error("the stage {stage:?} of the workflow {workflow:?} has no backoffice_queue; {}", list_stages(known))]
    NoBackofficeQueue { workflow: String, stage: String, known: Vec<String> },
}

fn list_stages(stages: &[String]) -> String {
    match stages {
        [] => "no stage has one".to_owned(),
        [only] => format!("only {only} has one"),
        several => format!("only {} have one", several.join(", ")),
    }
}

impl Workflow {
    pub fn stage(&self, name: &str) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.name == *name)
    }

    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.stages.iter().position(|stage| stage.name == *name)
    }

    pub fn next_after(&self, index: usize) -> Option<(usize, &Stage)> {
        let next = index.checked_add(1)?;
        self.stages.get(next).map(|stage| (next, stage))
    }

    /// The stage that would take an item apart, or give it to several processors, between this stage and the next
    /// aggregation. Where there is none, an item goes on in one piece.
    pub fn taken_apart_after(&self, index: usize) -> Option<&Name> {
        let here = self.stages.get(index)?;
        let mut later = self.stages.iter().skip(index + 1).take_while(|later| later.aggregation.is_none());
        later.find(|later| later.takes_apart(here)).map(|later| &later.name)
    }

    pub fn by_routing_key(&self, key: &str) -> Option<(usize, &Stage)> {
        self.stages.iter().enumerate().find(|(_, stage)| stage.routing_key == *key)
    }

    /// The nearest later stage that waits for parts.
    pub fn next_aggregation_after(&self, index: usize) -> Option<(usize, &Stage)> {
        let first = index.checked_add(1)?;
        self.stages.iter().enumerate().skip(first).find(|(_, stage)| stage.aggregation.is_some())
    }

    /// The nearest later stage that completes each `over` or something larger: where chains that began inside an
    /// `over` end. Aggregations that complete something smaller are passed on the way.
    pub fn next_collector_after(&self, index: usize, over: Over) -> Option<(usize, &Stage)> {
        let first = index.checked_add(1)?;
        let collects = |stage: &Stage| stage.aggregation.is_some_and(|aggregation| aggregation.scope <= over);
        self.stages.iter().enumerate().skip(first).find(|(_, stage)| collects(stage))
    }

    /// Where a target leads from a stage. The stage is found by its name alone, as two may share a component.
    pub fn resolve(&self, current_stage: &str, target: &Target) -> Result<Resolved, ResolveError> {
        let Some(index) = self.index_of(current_stage) else {
            return Err(ResolveError::UnknownStage {
                workflow: self.name.to_string(),
                stage: current_stage.to_owned(),
                known: self.stages.iter().map(|stage| stage.name.to_string()).collect(),
            });
        };
        match target {
            Target::Next => Ok(self.next_after(index).map_or(Resolved::End, |(index, _)| Resolved::Stage { index })),
            Target::End => Ok(Resolved::End),
            Target::Backoffice => match &self.stages[index].backoffice_queue {
                Some(queue) => Ok(Resolved::Backoffice { queue: queue.clone() }),
                None => Err(ResolveError::NoBackofficeQueue {
                    workflow: self.name.to_string(),
                    stage: current_stage.to_owned(),
                    known: self
                        .stages
                        .iter()
                        .filter(|stage| stage.backoffice_queue.is_some())
                        .map(|stage| stage.name.to_string())
                        .collect(),
                }),
            },
            Target::Key(key) => match self.by_routing_key(key) {
                Some((index, _)) => Ok(Resolved::Stage { index }),
                None => Err(ResolveError::UnknownRoutingKey {
                    workflow: self.name.to_string(),
                    key: key.to_string(),
                    known: self.stages.iter().map(|stage| stage.routing_key.to_string()).collect(),
                }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::builtin;

    fn resolve(stage: &str, target: &str) -> Result<Resolved, String> {
        builtin::with_reviews().resolve(stage, &Target::parse(target)).map_err(|error| error.to_string())
    }

    #[test]
    fn next_walks_the_stages_to_the_end() {
        let workflow = builtin::with_reviews();
        let mut walked = vec!["split".to_owned()];
        loop {
            match workflow.resolve(&walked[walked.len() - 1], &Target::Next).unwrap() {
                Resolved::Stage { index } => walked.push(workflow.stages[index].name.to_string()),
                Resolved::End => break,
                Resolved::Backoffice { queue } => panic!("led to {queue}"),
            }
        }
        let expected = [
            "split",
            "ocr",
            "classify",
            "classification_aggregation",
            "extract",
            "extraction_aggregation",
            "consolidate",
        ];
        assert_eq!(walked, expected);
    }

    #[test]
    fn the_extraction_aggregator_leads_to_the_consolidator() {
        let workflow = builtin::with_reviews();
        assert_eq!(resolve("extraction_aggregation", "__next__"), Ok(Resolved::Stage { index: 6 }));
        assert_eq!(workflow.stages[6].routing_key, "request.consolidate");
        assert_eq!(workflow.stages[6].queue(), "q.consolidator");
    }

    #[test]
    fn people_and_routing_keys() {
        assert_eq!(
            resolve("classify", "__backoffice__"),
            Ok(Resolved::Backoffice { queue: "task.classification".into() })
        );
        assert_eq!(resolve("split", "doc.extract"), Ok(Resolved::Stage { index: 4 }));
    }

    #[test]
    fn errors_list_what_there_is() {
        assert_eq!(
            resolve("ocr", "__backoffice__").unwrap_err(),
            "the stage \"ocr\" of the workflow \"default\" has no backoffice_queue; only classify, extract have one"
        );
        assert_eq!(
            resolve("orc", "__next__").unwrap_err(),
            "the workflow \"default\" has no stage \"orc\"; its stages are split, ocr, classify, \
             classification_aggregation, extract, extraction_aggregation, consolidate"
        );
        assert_eq!(
            resolve("ocr", "page.ocrd").unwrap_err(),
            "the workflow \"default\" has no stage with the routing key \"page.ocrd\"; its routing keys are \
             request.split, page.ocr, page.classify, page.classified, doc.extract, doc.extracted, request.consolidate"
        );
    }

    #[test]
    fn targets_are_written_as_they_are_read() {
        for text in ["__next__", "__backoffice__", "page.ocr"] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn chains_pass_the_aggregations_of_smaller_things() {
        let yaml = "name: w\nstages:\n- {name: split, over: file, parallel: true}\n- {name: ocr, parallel: true}\n\
                    - {name: combine, aggregation: {collect_by: file_id, expect_count_from: page_count}}\n\
                    - {name: parse, parallel: true}\n- {name: done, aggregation: {expect_count_from: file_count}}\n";
        let workflow = Workflow::parse(yaml, None).unwrap();
        let collector = |index, over| workflow.next_collector_after(index, over).map(|(index, _)| index);
        assert_eq!(collector(0, Over::File), Some(2));
        assert_eq!(collector(0, Over::Submission), Some(4), "what a file's chain ends in is not its own aggregation");
        assert_eq!(collector(2, Over::File), Some(4));
        assert_eq!(collector(4, Over::Submission), None);
    }

    #[test]
    fn lookups_stop_at_the_edges() {
        let workflow = builtin::with_reviews();
        assert_eq!(workflow.next_aggregation_after(0).map(|(index, _)| index), Some(3));
        assert_eq!(workflow.next_aggregation_after(3).map(|(index, _)| index), Some(5));
        assert_eq!(workflow.next_aggregation_after(5), None);
        assert_eq!(workflow.next_after(6), None);
        assert_eq!(workflow.next_after(usize::MAX), None);
        assert_eq!(workflow.by_routing_key("page.classify").map(|(index, _)| index), Some(2));
        assert!(workflow.stage("nothing").is_none());
    }
}

//! The workflows of the engine itself: runs of one processor, and submissions that outside parsers report on. They are
//! files of the repository's `workflows` folder, so what people read there is what runs. Pipelines and domains register
//! theirs ([`Registry::register_workflow`](crate::Registry::register_workflow)).

/// Name and YAML of each.
pub const fn all() -> [(&'static str, &'static str); 2] {
    [
        ("process", include_str!("../../../../workflows/process.yaml")),
        ("submission-documents", include_str!("../../../../workflows/submission-documents.yaml")),
    ]
}

/// The YAML of the one with this name.
pub fn find(name: &str) -> Option<&'static str> {
    all().into_iter().find(|(known, _)| *known == name).map(|(_, yaml)| yaml)
}

/// A workflow with joins, thresholds and targets of every kind, for tests.
#[cfg(test)]
pub(super) const WITH_REVIEWS: &str = include_str!("../../../../workflows/default.yaml");

#[cfg(test)]
pub(super) fn with_reviews() -> super::Workflow {
    super::Workflow::parse(WITH_REVIEWS, Some("default.yaml")).unwrap()
}

/// The texts of all workflows in the repository, whoever registers them, for tests.
#[cfg(test)]
pub(super) fn in_repository() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows");
    let files = std::fs::read_dir(folder).unwrap();
    files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Aggregation, CompleteWhen, OnFailed, Over, Workflow};
    use std::time::Duration;

    #[test]
    fn each_has_the_name_it_is_listed_under() {
        for (name, yaml) in all() {
            let workflow = Workflow::parse(yaml, Some(name)).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(workflow.name, *name);
            assert!(workflow.version > 0);
            assert!(!workflow.description.is_empty());
        }
        assert_eq!(find("nothing"), None);
    }

    #[test]
    fn a_run_is_one_stage_over_each_input() {
        let workflow = Workflow::parse(find("process").unwrap(), None).unwrap();
        let stages: Vec<_> = workflow.stages.iter().map(|stage| (&*stage.name, stage.over)).collect();
        assert_eq!(stages, [("run", Over::File)]);
    }

    #[test]
    fn submission_documents_waits_for_two_outside_parsers() {
        let workflow = Workflow::parse(find("submission-documents").unwrap(), None).unwrap();
        let parse = workflow.stage("parse").unwrap();
        assert_eq!((parse.over, parse.parallel, parse.max_attempts), (Over::File, true, 3));
        assert_eq!((parse.timeout, parse.complete_when), (Duration::from_secs(300), CompleteWhen::Any));
        let processors: Vec<_> =
            parse.processors.iter().map(|processor| (&*processor.name, processor.external)).collect();
        assert_eq!(processors, [("markitdown", true), ("foundry", true)]);
        let complete = workflow.stage("documents_complete").unwrap();
        let expected = Aggregation { scope: Over::Submission, counts: Over::File, on_failed: OnFailed::Continue };
        assert_eq!(complete.aggregation, Some(expected));
        assert_eq!(complete.component, "docproc-aggregator");
    }
}

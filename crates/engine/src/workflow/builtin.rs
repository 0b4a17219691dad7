//! The workflows that come with the engine. They are the files of the repository's `workflows` folder, so what people
//! read there is what runs. Domains register theirs ([`Registry::register_workflow`](crate::Registry::register_workflow)).

/// Name and YAML of each.
pub const fn all() -> [(&'static str, &'static str); 11] {
    [
        ("checklist", include_str!("../../../../workflows/checklist.yaml")),
        ("default", include_str!("../../../../workflows/default.yaml")),
        ("documents", include_str!("../../../../workflows/documents.yaml")),
        ("idp", include_str!("../../../../workflows/idp.yaml")),
        ("parsers", include_str!("../../../../workflows/parsers.yaml")),
        ("parsers-foundry", include_str!("../../../../workflows/parsers-foundry.yaml")),
        ("process", include_str!("../../../../workflows/process.yaml")),
        ("question", include_str!("../../../../workflows/question.yaml")),
        ("read", include_str!("../../../../workflows/read.yaml")),
        ("submission-documents", include_str!("../../../../workflows/submission-documents.yaml")),
        ("words", include_str!("../../../../workflows/words.yaml")),
    ]
}

/// The YAML of the one with this name.
pub fn find(name: &str) -> Option<&'static str> {
    all().into_iter().find(|(known, _)| *known == name).map(|(_, yaml)| yaml)
}

#[cfg(test)]
pub(super) fn default() -> super::Workflow {
    super::Workflow::parse(find("default").unwrap(), Some("default.yaml")).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Aggregation, CompleteWhen, OnFailed, Over, Workflow};
    use bindery_core::submission::SubmissionStatus::{Consolidating, Extracting, Processing, Splitting};
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
    fn the_default_reads_pages_and_documents() {
        let workflow = default();
        let sla = workflow.sla.unwrap();
        assert_eq!(
            (sla.deadline, sla.warn_threshold_pct, sla.escalation_threshold_pct),
            (Duration::from_secs(60), 70, 90)
        );
        let rows: Vec<_> = workflow
            .stages
            .iter()
            .map(|stage| {
                (
                    stage.queue().to_string(),
                    stage.routing_key.to_string(),
                    stage.over,
                    stage.timeout.as_secs(),
                    stage.parallel,
                )
            })
            .collect();
        let row = |queue: &str, key: &str, over, seconds, parallel| {
            (queue.to_owned(), key.to_owned(), over, seconds, parallel)
        };
        assert_eq!(
            rows,
            [
                row("q.splitter", "request.split", Over::Submission, 10, false),
                row("q.ocr", "page.ocr", Over::Page, 15, true),
                row("q.classifier", "page.classify", Over::Page, 10, true),
                row("q.classification_aggregator", "page.classified", Over::Submission, 30, false),
                row("q.extractor", "doc.extract", Over::Document, 15, true),
                row("q.extraction_aggregator", "doc.extracted", Over::Submission, 30, false),
                row("q.consolidator", "request.consolidate", Over::Submission, 5, false),
            ]
        );
        let thresholds: Vec<_> = workflow
            .stages
            .iter()
            .filter_map(|stage| Some((stage.confidence_threshold?, stage.backoffice_queue.clone()?)))
            .collect();
        assert_eq!(thresholds, [(0.80, "task.classification".into()), (0.75, "task.extraction".into())]);
        let statuses: Vec<_> = workflow.stages.iter().filter_map(|stage| stage.status).collect();
        assert_eq!(statuses, [Splitting, Processing, Processing, Processing, Extracting, Extracting, Consolidating]);
        let required = |doc_type: &str| -> Vec<String> {
            let fields = &workflow.extraction_schemas[doc_type].fields;
            fields.iter().filter(|field| field.required).map(|field| field.name.clone()).collect()
        };
        assert_eq!(required("invoice"), ["invoice_number", "total_amount"]);
        assert_eq!(required("id_card"), ["full_name", "id_number"]);
        assert_eq!(required("payslip"), ["company_name", "employee_name"]);
        assert!(required("receipt").is_empty());
    }

    #[test]
    fn parsers_differ_in_who_parses_only() {
        let parsers = |name: &str| -> Vec<(String, u32)> {
            let workflow = Workflow::parse(find(name).unwrap(), None).unwrap();
            let stages: Vec<_> = workflow.stages.iter().map(|stage| &*stage.name).collect();
            assert_eq!(stages, ["parse", "documents_complete", "analyse"]);
            let parse = &workflow.stages[0];
            assert_eq!((parse.over, parse.complete_when), (Over::File, CompleteWhen::Any));
            parse.processors.iter().map(|one| (one.name.to_string(), parse.max_attempts_of(one))).collect()
        };
        assert_eq!(parsers("parsers"), [("markitdown".to_owned(), 3)]);
        assert_eq!(parsers("parsers-foundry"), [("markitdown".to_owned(), 3), ("foundry".to_owned(), 5)]);
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

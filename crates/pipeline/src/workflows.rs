//! The workflows that come with the pipeline. They are the files of the repository's `workflows` folder, so what people
//! read there is what runs.

use bindery_engine::Registry;

/// Name and YAML of each.
pub const SHIPPED: [(&str, &str); 9] = [
    ("checklist", include_str!("../../../workflows/checklist.yaml")),
    ("default", include_str!("../../../workflows/default.yaml")),
    ("documents", include_str!("../../../workflows/documents.yaml")),
    ("idp", include_str!("../../../workflows/idp.yaml")),
    ("parsers", include_str!("../../../workflows/parsers.yaml")),
    ("parsers-foundry", include_str!("../../../workflows/parsers-foundry.yaml")),
    ("question", include_str!("../../../workflows/question.yaml")),
    ("read", include_str!("../../../workflows/read.yaml")),
    ("words", include_str!("../../../workflows/words.yaml")),
];

pub(crate) fn register(registry: &mut Registry) {
    for workflow in SHIPPED {
        registry.register_workflow(workflow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_core::submission::SubmissionStatus::{Consolidating, Extracting, Processing, Splitting};
    use bindery_engine::workflow::{CompleteWhen, Over, Workflow};
    use std::time::Duration;

    fn shipped(name: &str) -> Workflow {
        let (_, yaml) = SHIPPED.into_iter().find(|(known, _)| *known == name).unwrap();
        Workflow::parse(yaml, Some(name)).unwrap()
    }

    #[test]
    fn each_has_the_name_it_is_listed_under() {
        for (name, yaml) in SHIPPED {
            let workflow = Workflow::parse(yaml, Some(name)).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(workflow.name, *name);
            assert!(workflow.version > 0);
            assert!(!workflow.description.is_empty());
        }
    }

    #[test]
    fn the_default_reads_pages_and_documents() {
        let workflow = shipped("default");
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
            let workflow = shipped(name);
            let stages: Vec<_> = workflow.stages.iter().map(|stage| &*stage.name).collect();
            assert_eq!(stages, ["parse", "documents_complete", "analyse"]);
            let parse = &workflow.stages[0];
            assert_eq!((parse.over, parse.complete_when), (Over::File, CompleteWhen::Any));
            parse.processors.iter().map(|one| (one.name.to_string(), parse.max_attempts_of(one))).collect()
        };
        assert_eq!(parsers("parsers"), [("markitdown".to_owned(), 3)]);
        assert_eq!(parsers("parsers-foundry"), [("markitdown".to_owned(), 3), ("foundry".to_owned(), 5)]);
    }
}

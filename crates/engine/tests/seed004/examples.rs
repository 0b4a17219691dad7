//! The four execution examples of the seed, word for word, on every runner.

use crate::support::{Desk, documents, story, with_failure};
use crate::{on_every_runner, retry_context};
use bindery_core::outcome::Step;
use bindery_engine::execution::{
    Fingerprint, Finished, FinishedInput, Output, Passed, ProcessingResult, ProcessorInput, Silent,
};

/// What a store would know of a run: the inputs that it has finished.
pub(crate) fn finished(desk: &Desk, result: &ProcessingResult, inputs: &[ProcessorInput]) -> Finished {
    let execution = desk.execution();
    let done = result.inputs.iter().zip(inputs).filter_map(|(report, input)| {
        let Passed::Succeeded { factors } = &report.passed else { return None };
        let fingerprint = Fingerprint::compute(execution.processor(), &input.data);
        let finished = FinishedInput {
            run_id: result.run_id.clone(),
            processor_version: fingerprint.version,
            input_hash: fingerprint.input,
            factors: factors.clone(),
        };
        Some((report.input_id.clone(), finished))
    });
    done.collect()
}

/// The inputs again, the failed ones with what they left behind.
pub(crate) fn again(result: &ProcessingResult, inputs: &[ProcessorInput]) -> Vec<ProcessorInput> {
    let payloads = result.payloads.clone().unwrap_or_default();
    let replaced = |input: &ProcessorInput| payloads.iter().find(|left| left.input_id == input.input_id).cloned();
    inputs.iter().map(|input| replaced(input).unwrap_or_else(|| input.clone())).collect()
}

fn retry(desk: &Desk, failed: &ProcessingResult, inputs: &[ProcessorInput]) -> ProcessingResult {
    let known = finished(desk, failed, inputs);
    let inputs = again(failed, inputs);
    let context = Some(retry_context(failed));
    desk.execution().execute_with("retry".to_owned(), inputs, context, &known, &mut Silent)
}

#[test]
fn s004_09_example_1_successful_execution() {
    on_every_runner(|desk| {
        let inputs = documents(["document.pdf", "statement.pdf", "license.pdf"]);
        let result = desk.execution().execute(inputs.clone(), None);
        assert_eq!(
            story(&result, &inputs),
            [
                "Input 1: document.pdf → validation → processing → extraction → SUCCESS",
                "Input 2: statement.pdf → validation → processing → extraction → SUCCESS",
                "Input 3: license.pdf → validation → processing → extraction → SUCCESS",
            ]
        );
        assert!(result.success);
        let Output::Factors(factors) = &result.output else { panic!("not aggregated: {result:?}") };
        let mut names: Vec<&str> = factors.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["document", "license", "statement"]);
        assert!(result.payloads.is_none() && result.error.is_none());
    });
}

#[test]
fn s004_22_example_2_partial_failure_with_retry() {
    on_every_runner(|desk| {
        let names = ["document.pdf", "statement.pdf", "license.pdf"];
        let inputs = with_failure(documents(names), Step::Extraction, "FactorError: Factor calculation failure");
        let failed = desk.execution().execute(inputs.clone(), None);
        assert_eq!(
            story(&failed, &inputs),
            [
                "Input 1: document.pdf → validation → processing → extraction → FAIL (extraction error)",
                "Input 2: statement.pdf → validation → processing → extraction → SUCCESS",
                "Input 3: license.pdf → validation → processing → extraction → SUCCESS",
            ]
        );
        desk.repair();
        desk.steps();
        let retried = retry(desk, &failed, &inputs);
        assert_eq!(
            story(&retried, &inputs),
            [
                "Input 1: document.pdf → SKIP validation → SKIP processing → extraction → SUCCESS",
                "Input 2: statement.pdf → SKIP (already successful)",
                "Input 3: license.pdf → SKIP (already successful)",
            ]
        );
        assert_eq!(desk.steps(), ["document.pdf extraction"]);
        let Output::Factors(factors) = &retried.output else { panic!("not aggregated: {retried:?}") };
        assert_eq!(factors.len(), 3, "the earlier successes are in the result: {factors:?}");
    });
}

#[test]
fn s004_23_example_3_processing_step_failure() {
    on_every_runner(|desk| {
        let inputs = documents(["document.pdf", "statement.pdf"]);
        let inputs = with_failure(inputs, Step::Processing, "retry: API timeout during processing");
        let failed = desk.execution().execute(inputs.clone(), None);
        assert_eq!(
            story(&failed, &inputs),
            [
                "Input 1: document.pdf → validation → processing → FAIL (processing error)",
                "Input 2: statement.pdf → validation → processing → extraction → SUCCESS",
            ]
        );
        let payload = failed.payloads.as_ref().unwrap()[0].payload.clone().unwrap();
        assert_eq!((payload["step"].as_str(), payload["retry_count"].as_u64()), (Some("processing"), Some(1)));
        desk.repair();
        desk.steps();
        let retried = retry(desk, &failed, &inputs);
        assert_eq!(
            story(&retried, &inputs),
            [
                "Input 1: document.pdf → SKIP validation → processing → extraction → SUCCESS",
                "Input 2: statement.pdf → SKIP (already successful)",
            ]
        );
        assert_eq!(desk.steps(), ["document.pdf processing extraction"]);
    });
}

#[test]
fn s004_24_example_4_validation_step_failure() {
    on_every_runner(|desk| {
        let inputs = documents(["document.pdf", "statement.pdf"]);
        let inputs = with_failure(inputs, Step::Validation, "ValidationError: Invalid document format");
        let failed = desk.execution().execute(inputs.clone(), None);
        assert_eq!(
            story(&failed, &inputs),
            [
                "Input 1: document.pdf → validation → FAIL (validation error)",
                "Input 2: statement.pdf → validation → processing → extraction → SUCCESS",
            ]
        );
        let payload = failed.payloads.as_ref().unwrap()[0].payload.clone().unwrap();
        assert_eq!((payload["step"].as_str(), payload["retry_count"].as_u64()), (Some("validation"), Some(1)));
        desk.repair();
        desk.steps();
        let retried = retry(desk, &failed, &inputs);
        assert_eq!(
            story(&retried, &inputs),
            [
                "Input 1: document.pdf → validation → processing → extraction → SUCCESS",
                "Input 2: statement.pdf → SKIP (already successful)",
            ]
        );
        assert_eq!(desk.steps(), ["document.pdf validation processing extraction"]);
    });
}

//! The processor that analyses a submission whose documents are complete.

use super::{ANALYZER, chosen::chosen, papers};
use crate::results::store_result;
use bindery_core::{StepError, event::kind};
use bindery_engine::{Announcement, Correction, Extracted, Processor, context::StepContext};
use bindery_fields::checklist::{Analysis, analyse};
use serde::Deserialize;
use serde_json::{Value, json};

/// Adds the analysis of the whole submission to its result, and announces it.
#[derive(Debug, Clone, Copy)]
pub struct SubmissionAnalyzer;

impl Processor for SubmissionAnalyzer {
    fn name(&self) -> &'static str {
        ANALYZER
    }

    /// Is there a result with documents, and a checklist that can be read?
    fn validate(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        chosen(&context.submission()?.metadata, context.settings())?;
        if papers::of_result(&input).is_none() {
            let message = "the stage before has no result with documents: put this stage behind one that \
                           consolidates documents, such as document_consolidator";
            return Err(StepError::reject(message).named("NoDocuments"));
        }
        Ok(input)
    }

    fn process(&self, context: &StepContext, mut input: Value) -> Result<Value, StepError> {
        let submission = context.submission()?;
        let checklist = chosen(&submission.metadata, context.settings())?;
        let papers = papers::of_result(&input).unwrap_or_default();
        let analysis = analyse(checklist.as_ref(), &papers, submission.received_at);
        input["analysis"] = json!(analysis);
        Ok(input)
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let events = announcement(&processed);
        let confidence = processed["analysis"]["confidence"].as_f64();
        Ok(Extracted { events, confidence, ..store_result(context, processed)? })
    }

    /// A reviewer has decided about the analysis; its event is appended again with the new value.
    fn correct(&self, found: Value, correction: &Correction) -> Result<Extracted, StepError> {
        let corrected = correction.laid_over(found);
        Ok(Extracted { events: announcement(&corrected), ..Extracted::new(corrected) })
    }
}

/// The event of an analysis, in the shape that consumers of the choreography know.
fn announcement(result: &Value) -> Vec<Announcement> {
    let Ok(analysis) = Analysis::deserialize(&result["analysis"]) else { return Vec::new() };
    let data = json!({
        "analysisResults": {
            "missingInformation": analysis.missing_information,
            "recommendations": analysis.recommendations,
            "confidence": analysis.confidence,
        },
        "status": "completed",
    });
    vec![Announcement { kind: kind::SUBMISSION_ANALYSIS_COMPLETE.to_owned(), data }]
}

//! The processor that analyses a submission whose documents are complete.

use super::{ANALYZER, chosen::chosen, papers::Listing};
use crate::{
    results::store_result,
    stage::{Carried, Stage, fit},
};
use bindery_core::{StepError, event::kind};
use bindery_engine::{Announcement, Correction, Extracted, context::StepContext};
use bindery_fields::checklist::{Analysis, analyse};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Adds the analysis of the whole submission to its result, and announces it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SubmissionAnalyzer;

/// The analysis, where a result has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Analysed {
    analysis: Analysis,
}

impl Stage for SubmissionAnalyzer {
    const NAME: &'static str = ANALYZER;
    const EXPECTS: &'static str = "a result with documents";
    type Input = Carried<Listing>;
    type Made = Carried<Analysed>;
    type Output = Value;

    /// Is there a result with documents, and a checklist that can be read?
    fn validate(&self, context: &StepContext, result: &Carried<Listing>) -> Result<(), StepError> {
        chosen(&context.submission()?.metadata, context.settings())?;
        if result.part.documents.is_none() {
            let message = "the stage before has no result with documents: put this stage behind one that \
                           consolidates documents, such as document_consolidator";
            return Err(StepError::reject(message).named("NoDocuments"));
        }
        Ok(())
    }

    fn process(&self, context: &StepContext, result: Carried<Listing>) -> Result<Carried<Analysed>, StepError> {
        let submission = context.submission()?;
        let checklist = chosen(&submission.metadata, context.settings())?;
        let papers = result.part.papers();
        let analysis = analyse(checklist.as_ref(), &papers, submission.received_at);
        Ok(result.with(Analysed { analysis }))
    }

    fn extract(&self, context: &StepContext, result: Carried<Analysed>) -> Result<Extracted, StepError> {
        let events = vec![announcement(&result.part.analysis)];
        let confidence = Some(result.part.analysis.confidence);
        let stored = store_result(context, Value::Object(result.into_message()))?;
        Ok(Extracted { events, confidence, ..stored })
    }

    /// A reviewer has decided about the analysis; its event is appended again with the new value.
    fn correct(&self, found: Value, correction: &Correction) -> Result<Extracted, StepError> {
        let corrected = correction.laid_over(found);
        let analysed = fit::<Analysed>(&corrected).ok();
        let events = analysed.map(|analysed| announcement(&analysed.analysis)).into_iter().collect();
        Ok(Extracted { events, ..Extracted::new(corrected) })
    }
}

/// The event of an analysis, in the shape that consumers of the choreography know.
fn announcement(analysis: &Analysis) -> Announcement {
    let data = json!({
        "analysisResults": {
            "missingInformation": analysis.missing_information,
            "recommendations": analysis.recommendations,
            "confidence": analysis.confidence,
        },
        "status": "completed",
    });
    Announcement { kind: kind::SUBMISSION_ANALYSIS_COMPLETE.to_owned(), data }
}

//! What the service says of an analysis, and what its errors mean.

pub(super) use bindery_http::text::beginning;

use bindery_core::{StepError, error::Disposition};
use bindery_http::text::one_line;
use serde::{Deserialize, de::IgnoredAny};
use std::time::Duration;

/// An answer about an analysis.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Analysis {
    status: Option<String>,
    error: Option<ServiceError>,
    analyze_result: Option<AnalyzeResult>,
}

/// What was found.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct AnalyzeResult {
    pub(super) content: Option<String>,
    pages: Option<Vec<IgnoredAny>>,
    tables: Option<Vec<IgnoredAny>>,
    pub(super) model_id: Option<String>,
    pub(super) api_version: Option<String>,
    warnings: Option<Vec<ServiceError>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ServiceError {
    code: Option<String>,
    message: Option<String>,
    innererror: Option<Box<ServiceError>>,
    details: Option<Vec<ServiceError>>,
}

/// How an analysis stands.
#[derive(Debug)]
pub(super) enum State {
    Running,
    Succeeded(AnalyzeResult),
    Failed(StepError),
}

impl Analysis {
    /// None where the answer is none that the protocol knows.
    pub(super) fn state(self, shown: &str) -> Option<State> {
        match self.status.as_deref()? {
            "notStarted" | "running" => Some(State::Running),
            "succeeded" => self.analyze_result.filter(|result| result.content.is_some()).map(State::Succeeded),
            "failed" | "canceled" | "skipped" => Some(State::Failed(failed_analysis(shown, self.error.as_ref()))),
            _ => None,
        }
    }
}

impl AnalyzeResult {
    pub(super) fn page_count(&self) -> usize {
        self.pages.as_ref().map_or(0, Vec::len)
    }

    pub(super) fn table_count(&self) -> usize {
        self.tables.as_ref().map_or(0, Vec::len)
    }

    /// What the service warns of, one sentence each.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.warnings.iter().flatten().filter_map(ServiceError::sentence).collect()
    }
}

/// An analysis that the service gave up. Its own faults pass; those of the file do not.
fn failed_analysis(shown: &str, error: Option<&ServiceError>) -> StepError {
    let why = error.and_then(ServiceError::sentence).unwrap_or_else(|| "it gave no reason".to_owned());
    let message = format!("{shown} could not analyse the file: {why}");
    if matches!(
        error.and_then(|error| error.code.as_deref()),
        Some("InternalServerError" | "ServiceUnavailable" | "Timeout" | "TooManyRequests")
    ) {
        return try_again(message, None);
    }
    StepError::reject(message).named("AnalysisFailed")
}

/// The end of a sentence that begins with a status.
pub(super) fn explanation(body: &[u8]) -> String {
    let said: Analysis = serde_json::from_slice(body).unwrap_or_default();
    let said = said.error.as_ref().and_then(ServiceError::sentence).unwrap_or_else(|| beginning(body));
    if said.is_empty() { said } else { format!(": {said}") }
}

impl ServiceError {
    /// In one line; the innermost says it best.
    fn sentence(&self) -> Option<String> {
        let outer = self.own()?;
        let inner = self.innererror.as_deref().and_then(Self::own).or_else(|| self.details.as_ref()?.first()?.own());
        Some(one_line(&inner.map_or(outer.clone(), |inner| format!("{outer} ({inner})"))))
    }

    fn own(&self) -> Option<String> {
        match (&self.code, &self.message) {
            (Some(code), Some(message)) => Some(format!("{code}: {message}")),
            (only, None) | (None, only) => only.clone(),
        }
    }
}

pub(super) fn try_again(message: String, after: Option<Duration>) -> StepError {
    StepError { disposition: Disposition::Retry { after }, ..StepError::retry(message) }.named("ServiceBusy")
}

pub(super) fn is_transient(error: &StepError) -> bool {
    matches!(error.disposition, Disposition::Retry { .. })
}

pub(super) fn wait_of(error: &StepError) -> Option<Duration> {
    match error.disposition {
        Disposition::Retry { after } => after,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_core::error::ErrorClass;
    use serde_json::{Value, json};

    #[test]
    fn an_analysis_without_content_is_none() {
        let state = |said: &Value| Analysis::deserialize(said).unwrap_or_default().state("x");
        assert!(matches!(state(&json!({"status": "notStarted"})), Some(State::Running)));
        let empty = json!({"status": "succeeded", "analyzeResult": {"content": ""}});
        assert!(matches!(state(&empty), Some(State::Succeeded(_))));
        for nonsense in [json!({"status": "succeeded"}), json!({"status": "merry"}), json!([]), json!(null)] {
            assert!(state(&nonsense).is_none(), "{nonsense}");
        }
    }

    #[test]
    fn the_innermost_error_is_told() {
        let body = json!({"error": {"code": "InvalidRequest", "message": "Invalid request.",
            "innererror": {"code": "InvalidContent", "message": "The file is corrupted."}}});
        let told = explanation(body.to_string().as_bytes());
        assert_eq!(told, ": InvalidRequest: Invalid request. (InvalidContent: The file is corrupted.)");
        assert_eq!(explanation(b"gateway\nsays no"), ": gateway says no");
        assert_eq!(explanation(b""), "");
    }

    #[test]
    fn the_services_own_faults_pass_and_those_of_the_file_do_not() {
        let error = |code: &str| ServiceError { code: Some(code.to_owned()), ..ServiceError::default() };
        let class = |code: &str| failed_analysis("x", Some(&error(code))).class();
        assert_eq!(class("InternalServerError"), ErrorClass::Retry);
        assert_eq!(class("InvalidContent"), ErrorClass::Reject);
    }
}

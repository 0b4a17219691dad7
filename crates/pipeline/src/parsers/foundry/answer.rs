//! What the service says of an analysis, and what its errors mean.

pub(super) use bindery_http::text::beginning;

use bindery_core::{StepError, error::Disposition};
use bindery_http::text::one_line;
use serde_json::Value;
use std::time::Duration;

/// How an analysis stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Running,
    Succeeded,
    Failed,
}

/// None where the answer is none that the protocol knows.
pub(super) fn state(said: &Value) -> Option<State> {
    match said["status"].as_str()? {
        "notStarted" | "running" => Some(State::Running),
        "succeeded" => said["analyzeResult"]["content"].is_string().then_some(State::Succeeded),
        "failed" | "canceled" | "skipped" => Some(State::Failed),
        _ => None,
    }
}

/// An analysis that the service gave up. Its own faults pass; those of the file do not.
pub(super) fn failed_analysis(shown: &str, said: &Value) -> StepError {
    let error = &said["error"];
    let why = sentence(error).unwrap_or_else(|| "it gave no reason".to_owned());
    let message = format!("{shown} could not analyse the file: {why}");
    if matches!(
        error["code"].as_str(),
        Some("InternalServerError" | "ServiceUnavailable" | "Timeout" | "TooManyRequests")
    ) {
        return try_again(message, None);
    }
    StepError::reject(message).named("AnalysisFailed")
}

/// The end of a sentence that begins with a status.
pub(super) fn explanation(body: &[u8]) -> String {
    let said: Value = serde_json::from_slice(body).unwrap_or_default();
    let said = sentence(&said["error"]).unwrap_or_else(|| beginning(body));
    if said.is_empty() { said } else { format!(": {said}") }
}

/// `{code, message, innererror: {code, message}}` in one line; the innermost says it best.
fn sentence(error: &Value) -> Option<String> {
    let one = |error: &Value| {
        let (code, message) = (error["code"].as_str(), error["message"].as_str());
        match (code, message) {
            (Some(code), Some(message)) => Some(format!("{code}: {message}")),
            (only, None) | (None, only) => only.map(str::to_owned),
        }
    };
    let outer = one(error)?;
    let inner = one(&error["innererror"]).or_else(|| one(&error["details"][0]));
    Some(one_line(&inner.map_or(outer.clone(), |inner| format!("{outer} ({inner})"))))
}

/// What the service warns of, one sentence each.
pub(super) fn warnings(said: &Value) -> Vec<String> {
    let warnings = said["analyzeResult"]["warnings"].as_array().into_iter().flatten();
    warnings.filter_map(sentence).collect()
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
    use serde_json::json;

    #[test]
    fn an_analysis_without_content_is_none() {
        assert_eq!(state(&json!({"status": "notStarted"})), Some(State::Running));
        assert_eq!(state(&json!({"status": "succeeded", "analyzeResult": {"content": ""}})), Some(State::Succeeded));
        for nonsense in [json!({"status": "succeeded"}), json!({"status": "merry"}), json!([]), json!(null)] {
            assert_eq!(state(&nonsense), None, "{nonsense}");
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
        let class = |code: &str| failed_analysis("x", &json!({"error": {"code": code, "message": "m"}})).class();
        assert_eq!(class("InternalServerError"), ErrorClass::Retry);
        assert_eq!(class("InvalidContent"), ErrorClass::Reject);
    }
}

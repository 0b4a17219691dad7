//! The layout model of Azure AI Document Intelligence: a file is posted, and its analysis asked for until it is there.

use super::answer::{self, Analysis, AnalyzeResult, State};
use crate::http::{self, Allowed, Answer, Client, Environment};
use bindery_core::StepError;
use bindery_engine::context::StepContext;
use bindery_http::{HeaderValue, Request, Uri, answer::is_transient, header, http::request::Builder};
use bindery_processors::outside::client::pause;
use serde::Deserialize as _;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The variable with the endpoint of the service.
pub const ENDPOINT_VARIABLE: &str = "BINDERY_FOUNDRY_ENDPOINT";
/// The variable with its key.
pub const KEY_VARIABLE: &str = "BINDERY_FOUNDRY_KEY";
const KEY_HEADER: &str = "Ocp-Apim-Subscription-Key";

const ANALYSE: &str = "documentintelligence/documentModels/prebuilt-layout:analyze\
    ?api-version=2024-11-30&outputContentFormat=markdown";

/// One request may take this long; the analysis takes longer, but nobody holds a line for it.
const ONE_REQUEST: Duration = Duration::from_secs(120);
/// An analysis of thousands of pages is large: each word has its place.
const ANSWER_BYTES: u64 = 512 * 1024 * 1024;
/// Between two looks, where the service does not say how long.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Never more often than this, whatever the service says.
const SHORTEST_WAIT: Duration = Duration::from_millis(20);
/// So many looks in a row may fail before the attempt has.
const FAILED_LOOKS: u32 = 5;

/// The service as it is configured. Holds the key, so it lives as long as one attempt.
pub(super) struct Service<'c> {
    client: &'c Client,
    endpoint: Uri,
    key: HeaderValue,
}

impl<'c> Service<'c> {
    /// Without endpoint and key the work waits for them, and says so.
    pub(super) fn configured(environment: &Environment, client: &'c Client) -> Result<Self, StepError> {
        let needs = "the processor foundry (Azure AI Document Intelligence)";
        let wrong = |name: &str, why: &str| {
            let message = format!("the environment variable {name}, which {needs} needs, {why}");
            StepError::park(format!("environment variable {name}"), message).named("BadVariable")
        };
        let endpoint = environment.require(ENDPOINT_VARIABLE, needs)?;
        let endpoint = http::checked(&endpoint).map_err(|why| wrong(ENDPOINT_VARIABLE, &why))?;
        let key = environment.require(KEY_VARIABLE, needs)?;
        let mut key =
            HeaderValue::from_str(&key).map_err(|_| wrong(KEY_VARIABLE, "holds characters that no key has"))?;
        key.set_sensitive(true);
        Ok(Self { client, endpoint, key })
    }

    fn redacted_url(&self) -> String {
        http::redact(&self.endpoint).trim_end_matches('/').to_owned()
    }

    /// What an analysis that has succeeded has found, and the whole answer as it came.
    pub(super) fn analyse(
        &self,
        context: &StepContext,
        bytes: Vec<u8>,
        media_type: &str,
        until: Instant,
    ) -> Result<(AnalyzeResult, Value), StepError> {
        let operation = self.begin(bytes, media_type, until)?;
        let mut failed_looks = 0;
        let mut wait = operation.wait;
        loop {
            if Instant::now() + wait >= until {
                let message =
                    format!("{} had not finished its analysis when the time for it was over", self.redacted_url());
                return Err(StepError::retry(message).named("Timeout"));
            }
            if !pause(context, wait.max(SHORTEST_WAIT)) {
                return Err(StepError::retry("this work was cancelled while the service analysed").named("Cancelled"));
            }
            // The analysis has been paid for: a look that fails is no reason to ask for another.
            match self.look(&operation.location, until) {
                Ok(Look::Done(found, whole)) => return Ok((*found, whole)),
                Ok(Look::Wait(asked_for)) => {
                    failed_looks = 0;
                    wait = asked_for;
                }
                Err(error) if answer::is_transient(&error) && failed_looks + 1 < FAILED_LOOKS => {
                    failed_looks += 1;
                    wait = answer::wait_of(&error).unwrap_or(LOOK_EVERY);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Hands the file over.
    fn begin(&self, bytes: Vec<u8>, media_type: &str, until: Instant) -> Result<Operation, StepError> {
        let base = self.endpoint.to_string();
        let url = format!("{}/{ANALYSE}", base.trim_end_matches('/'));
        let request = Request::post(url).header(header::CONTENT_TYPE, media_type);
        let answer = self.ask(request, bytes, until)?;
        if answer.status.as_u16() != 202 {
            return Err(self.refusal(&answer));
        }
        let location = answer.headers.get("operation-location").and_then(|location| location.to_str().ok());
        let location: Option<Uri> = location.and_then(|location| location.trim().parse().ok());
        let location = location.ok_or_else(|| {
            self.nonsense("took the file, but did not say in the header Operation-Location where its analysis will be")
        })?;
        // The key goes there, too.
        if location.scheme() != self.endpoint.scheme() || location.authority() != self.endpoint.authority() {
            let message = format!("says that its analysis will be at {}, another service", http::redact(&location));
            return Err(self.nonsense(&message));
        }
        Ok(Operation { location, wait: answer.retry_after().unwrap_or(LOOK_EVERY) })
    }

    /// Looks whether the analysis is there.
    fn look(&self, location: &Uri, until: Instant) -> Result<Look, StepError> {
        let answer = self.ask(Request::get(location), Vec::new(), until)?;
        if !answer.status.is_success() {
            return Err(self.refusal(&answer));
        }
        if answer.missing.is_some() {
            // It broke off, or is longer than anything we would keep.
            let message = format!("the answer of {} ended too early, or is too long", self.redacted_url());
            return Err(StepError::retry(message).named("Incomplete"));
        }
        let whole: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let said = Analysis::deserialize(&whole).unwrap_or_default();
        match said.state(&self.redacted_url()) {
            Some(State::Succeeded(found)) => Ok(Look::Done(Box::new(found), whole)),
            Some(State::Running) => Ok(Look::Wait(answer.retry_after().unwrap_or(LOOK_EVERY))),
            Some(State::Failed(error)) => Err(error),
            None => Err(self.nonsense(&format!("answered with no analysis: {}", answer::beginning(&answer.body)))),
        }
    }

    fn ask(&self, request: Builder, body: Vec<u8>, until: Instant) -> Result<Answer, StepError> {
        let request = request.header(KEY_HEADER, &self.key).header(header::ACCEPT, "application/json").body(body);
        let request = request.map_err(|error| {
            StepError::bug(format!("{} cannot be asked: {error}", self.redacted_url())).named("BadRequest")
        })?;
        let time = until.saturating_duration_since(Instant::now()).clamp(SHORTEST_WAIT, ONE_REQUEST);
        self.client.ask(request, &self.redacted_url(), Allowed { time, bytes: ANSWER_BYTES })
    }

    /// An answer that is no success.
    fn refusal(&self, answer: &Answer) -> StepError {
        let status = answer.status;
        let said = answer::explanation(&answer.body);
        let message = format!("{} answered with status {status}{said}", self.redacted_url());
        if matches!(status.as_u16(), 401 | 403) {
            // The key is at fault and not the file: once it is right, the same file will do.
            let message = format!("{message}; check {ENDPOINT_VARIABLE} and {KEY_VARIABLE}");
            return StepError::park(format!("access to {}", self.redacted_url()), message).named("NoAccess");
        }
        if is_transient(status) {
            return answer::try_again(message, answer.retry_after());
        }
        if matches!(status.as_u16(), 404 | 405) || status.is_redirection() {
            let message =
                format!("{message}; {ENDPOINT_VARIABLE} should be the endpoint of a Document Intelligence resource");
            return StepError::park(format!("environment variable {ENDPOINT_VARIABLE}"), message).named("BadEndpoint");
        }
        StepError::reject(message).named("HttpStatus")
    }

    /// An answer that breaks the protocol.
    fn nonsense(&self, what: &str) -> StepError {
        StepError::bug(format!("{} {what}", self.redacted_url())).named("BadAnswer")
    }
}

/// An analysis under way.
struct Operation {
    location: Uri,
    wait: Duration,
}

enum Look {
    Done(Box<AnalyzeResult>, Value),
    Wait(Duration),
}

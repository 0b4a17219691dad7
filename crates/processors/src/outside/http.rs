//! An HTTP endpoint: the request as the body of a POST, the answer as JSON.
//!
//! A redirect is never followed: a POST that becomes a GET on the way loses its body, and headers with secrets are for
//! the address that was configured. A call that is under way ends at its time limit, not at a cancellation.

use super::{
    config::{AnswerShape, HttpConfig, Method},
    envelope::{self, Request},
    failure::{Failed, megabytes},
    program::TimeLimit,
    template::environment,
};
use crate::produced::Produced;
use bindery_core::{AwakeInstant, StepError, address, error::Disposition};
use bindery_engine::context::StepContext;
use bindery_http::{
    Answer, Client, ClientOptions, HeaderName, HeaderValue, HttpError, Limits, StatusCode, answer::is_transient,
    header, http, text::beginning,
};

pub(super) struct Endpoint {
    config: HttpConfig,
    client: Client,
    /// Where it is, for sentences: without the query, which may hold a key.
    shown: String,
}

impl Endpoint {
    pub(super) fn new(config: HttpConfig) -> Self {
        let kept_connections = config.common.concurrency;
        let client = Client::new(ClientOptions { kept_connections, ..ClientOptions::default() });
        let shown = address::redact(&config.url);
        Self { config, client, shown }
    }

    pub(super) fn call(&self, context: &StepContext, request: &Request) -> Result<Produced, Failed> {
        let time = TimeLimit::new(self.config.timeout, context);
        let asked = self.request(request)?;
        let left = time.until.saturating_duration_since(AwakeInstant::now());
        let limits = Limits::new(left, self.config.max_response_bytes as u64);
        let answer = self.client.exchange(asked, &limits).map_err(|error| self.unreachable(error, &time))?;
        if !answer.status.is_success() {
            // The body only explains; when it cannot be read the status says enough.
            return Err(self.refusal(&answer));
        }
        let answer = answer.whole().map_err(|error| self.unreachable(error, &time))?;
        let read = match self.config.answer {
            AnswerShape::Bare => envelope::read_bare(&answer.body, &request.work),
            AnswerShape::Envelope => envelope::read(&answer.body, None, &request.work),
        };
        read.map_err(|complaint| Failed::bad_answer(format!("{} {complaint}", self.shown)))?.settle(
            context,
            &request.work,
            &self.shown,
        )
    }

    fn request(&self, asked: &Request) -> Result<http::Request<Vec<u8>>, Failed> {
        let method = match self.config.method {
            Method::Post => http::Method::POST,
            Method::Put => http::Method::PUT,
            Method::Patch => http::Method::PATCH,
        };
        let mut request = http::Request::builder()
            .method(method)
            .uri(&self.config.url)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json");
        for (name, value) in asked.sender.headers() {
            request = request.header(name, value);
        }
        for (name, template) in &self.config.headers {
            let value = template
                .fill(&environment)
                .map_err(|missing| Failed::no_variable(&missing, &format!("the header {name} of {}", self.shown)))?;
            // The sentence does not show the value: it may be a secret.
            let mut value = HeaderValue::from_str(value.trim()).map_err(|_| {
                let message = format!("the header {name} of {} would hold characters that no header may", self.shown);
                Failed::of_client(StepError::park(format!("header {name}"), message).named("BadHeader"))
            })?;
            value.set_sensitive(true);
            // Instead of, not beside: whoever writes `content-type` wants that one.
            if let (Some(headers), Ok(name)) = (request.headers_mut(), HeaderName::try_from(name)) {
                headers.insert(name, value);
            }
        }
        request.body(asked.text().into_bytes()).map_err(|error| {
            Failed::of_client(StepError::bug(format!("{} cannot be asked: {error}", self.shown)).named("BadRequest"))
        })
    }

    /// An answer that is no success.
    fn refusal(&self, answer: &Answer) -> Failed {
        let status = answer.status;
        let said = beginning(&answer.body);
        let said = if said.is_empty() { said } else { format!(": {said}") };
        let message = format!("{} answered with status {status}{said}", self.shown);
        if status.is_redirection() {
            let to = answer.redirect_target();
            let message =
                format!("{} redirects{to} (status {status}), which is not followed; correct `url`", self.shown);
            return Failed::of_service(StepError::bug(message).named("Redirected"));
        }
        if [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN, StatusCode::PROXY_AUTHENTICATION_REQUIRED]
            .contains(&status)
        {
            // The key is at fault and not the input: once it is right, the same input will do.
            let until = format!("access to {}", self.shown);
            return Failed::of_answer(StepError::park(until, message).named("NoAccess"));
        }
        if !is_transient(status) {
            return Failed::of_answer(StepError::reject(message).named("HttpStatus"));
        }
        let after = answer.retry_after();
        let error = StepError { disposition: Disposition::Retry { after }, ..StepError::retry(message) };
        Failed::of_service(error.named("HttpStatus"))
    }

    /// No answer at all, or only a part of one.
    fn unreachable(&self, error: HttpError, time: &TimeLimit) -> Failed {
        let shown = &self.shown;
        let step = match error {
            HttpError::Timeout(_) => StepError::retry(format!("{shown} {}", time.exceeded())).named("Timeout"),
            HttpError::TooLarge { limit, .. } => {
                let most = megabytes(limit);
                StepError::bug(format!("{shown} answered with more than the {most} allowed")).named("TooMuchOutput")
            }
            HttpError::Invalid(_) => {
                return Failed::of_client(StepError::bug(format!("{shown} {error}")).named("BadRequest"));
            }
            error => StepError::retry(format!("{shown} {error}")).named("Unreachable"),
        };
        Failed::of_service(step)
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Endpoint").field(&self.shown).finish()
    }
}

//! A call to the outside, whole: its turn, the circuit, the exchange itself, and further tries.

use super::{
    config::{CommandConfig, Common, HttpConfig, Mode},
    envelope::Request,
    failure::{Failed, Verdict},
    gate::Gate,
    http::Endpoint,
    per_input,
    persistent::Pool,
    retry,
    work::{Delivery, Work},
};
use crate::produced::Produced;
use bindery_core::StepError;
use bindery_engine::context::StepContext;
use bindery_http::{Breaker, circuit::Open, circuits};
use serde_json::Value;
use std::{sync::Arc, time::Instant};

/// Somebody else's code: a command or an HTTP endpoint. Shared by all threads; dropping it ends its programs.
#[derive(Debug)]
pub struct Outside {
    name: String,
    version: u32,
    body: Body,
    common: Common,
    gate: Gate,
    breaker: Option<Arc<Breaker>>,
}

#[derive(Debug)]
enum Body {
    PerInput(CommandConfig),
    Persistent(CommandConfig, Pool),
    Http(Endpoint),
}

impl Outside {
    /// `name` and `version` are the processor's.
    pub fn command(name: impl Into<String>, version: u32, config: CommandConfig) -> Self {
        let common = config.common.clone();
        let body = match config.mode {
            Mode::PerInput => Body::PerInput(config),
            Mode::Persistent => Body::Persistent(config, Pool::default()),
        };
        Self::new(name.into(), version, body, common)
    }

    pub fn http(name: impl Into<String>, version: u32, config: HttpConfig) -> Self {
        let common = config.common.clone();
        Self::new(name.into(), version, Body::Http(Endpoint::new(config)), common)
    }

    fn new(name: String, version: u32, body: Body, common: Common) -> Self {
        let breaker = common.breaker.map(|config| Arc::new(Breaker::new(&name, config)));
        if let Some(breaker) = &breaker {
            circuits::register(breaker);
        }
        Self { name, version, body, gate: Gate::new(common.concurrency), common, breaker }
    }

    /// None when it is switched off.
    pub fn breaker(&self) -> Option<&Arc<Breaker>> {
        self.breaker.as_ref()
    }

    /// Hands the input to the outside and returns its output. Blocks until then, within the limits of the
    /// configuration and of the context.
    pub fn call(&self, context: &StepContext, input: Value) -> Result<Produced, StepError> {
        let delivery = if matches!(self.body, Body::Http(_)) { Delivery::Requests } else { Delivery::Paths };
        let work = Work::look_up(context, delivery, self.common.wants)?;
        let request = Request::new(&self.name, self.version, context, &input, work);
        drop(input);
        let mut tries = 1;
        loop {
            let failed = match self.call_once(context, &request, tries) {
                Ok(output) => return Ok(output),
                Err(failed) => failed,
            };
            request.work.empty_returns()?;
            let wait = retry::wait_before_next(&self.common.retry, tries, &failed, context.time_left());
            match wait {
                Some(wait) if retry::pause(context, wait) => tries += 1,
                _ => return Err(self.located(failed.error, &request)),
            }
        }
    }

    /// Who it was that gave a wrong answer, for whoever wrote the workflow.
    fn located(&self, error: StepError, request: &Request) -> StepError {
        match request.work.stage() {
            Some(stage) if error.kind == "BadAnswer" => {
                StepError { message: format!("stage {stage}, processor {}: {}", self.name, error.message), ..error }
            }
            _ => error,
        }
    }

    /// One try. The place at the gate is free again when it returns, so nobody holds one while waiting.
    fn call_once(&self, context: &StepContext, request: &Request, tries: u32) -> Result<Produced, Failed> {
        let _place = self.gate.enter(context)?;
        let permit = self
            .breaker
            .as_ref()
            .map(|breaker| breaker.enter().map_err(|open| refusal(breaker.name(), &open)))
            .transpose()?;
        let span = tracing::debug_span!("outside", processor = self.name, attempt = context.attempt(), tries);
        let _entered = span.enter();
        let started = Instant::now();
        let result = match &self.body {
            Body::PerInput(config) => per_input::call(config, context, request),
            Body::Persistent(config, pool) => pool.call(config, context, request),
            Body::Http(endpoint) => endpoint.call(context, request),
        };
        let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        match &result {
            Ok(_) => tracing::debug!(processor = self.name, attempt = context.attempt(), duration_ms, "answered"),
            Err(Failed { error, .. }) => tracing::info!(
                processor = self.name,
                attempt = context.attempt(),
                duration_ms,
                kind = error.kind,
                class = error.class().as_str(),
                error = error.message,
                "failed"
            ),
        }
        match (permit, &result) {
            (Some(permit), Ok(_) | Err(Failed { verdict: Verdict::Works, .. })) => permit.succeeded(),
            (Some(permit), Err(Failed { verdict: Verdict::Broken, error })) => permit.failed(&error.message),
            _ => {}
        }
        result
    }
}

/// The circuit is open: the work comes back when a call may try.
fn refusal(name: &str, open: &Open) -> Failed {
    let message = format!(
        "the circuit of {name} is open since {:.1} s after {} failures: {}",
        open.open_for.as_secs_f64(),
        open.failures,
        open.last_error
    );
    Failed::of_client(StepError::retry_after(open.left, message).named("CircuitOpen"))
}

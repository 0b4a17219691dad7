//! Requests that come as messages: their files are taken in as those of `bindery submit` are.

use bindery_amqp::requests::{NewRequest, Refused, Requests};
use bindery_core::submission::BY_CONTENT;
use bindery_engine::{Engine, EngineError};
use bindery_pipeline::intake::{IntakeError, OWN_KEY, take_in};

/// The workflow of a request that names none, as in seed 002.
const WORKFLOW: &str = "default";

/// Marks submissions whose message names no channel of its own.
const CHANNEL: &str = "amqp";

/// Starts requests on an engine.
#[derive(Debug)]
pub(crate) struct Intake(Engine);

impl Intake {
    pub(crate) fn new(engine: Engine) -> Self {
        Self(engine)
    }
}

#[async_trait::async_trait]
impl Requests for Intake {
    async fn start(&self, request: NewRequest) -> Result<(), Refused> {
        let NewRequest { request_id, workflow, channel, file, original_filename, metadata } = request;
        if request_id.starts_with(BY_CONTENT) {
            let message = format!("request_id {request_id:?}: ids of that form are Bindery's own; choose another");
            return Err(Refused::Useless(message));
        }
        if metadata.contains_key(OWN_KEY) {
            let message = format!("payload.metadata: the key {OWN_KEY:?} is Bindery's own; choose another");
            return Err(Refused::Useless(message));
        }
        let workflow = workflow.unwrap_or_else(|| WORKFLOW.to_owned());
        // Before anything is copied.
        let known = self.0.catalog().workflow(&workflow.as_str().into(), None).await.map_err(refusal)?;
        self.0.check_processors(&known).map_err(refusal)?;
        let mut taken = take_in(&self.0, &[file]).await.map_err(|error| match error {
            IntakeError::Blob(error) => Refused::Later(error.to_string()),
            other => Refused::Useless(other.to_string()),
        })?;
        if let ([only], Some(name)) = (taken.files.as_mut_slice(), original_filename) {
            only.name = name;
        }
        let mut intake = taken.into_intake(&workflow);
        intake.metadata.extend(metadata);
        intake.external_id = Some(request_id);
        intake.channel = channel.unwrap_or_else(|| CHANNEL.to_owned());
        self.0.submit(intake).await.map_err(refusal)?;
        Ok(())
    }
}

fn refusal(error: EngineError) -> Refused {
    match error {
        EngineError::Store(error) if error.is_transient() => Refused::Later(error.to_string()),
        EngineError::Blob(error) => Refused::Later(error.to_string()),
        other => Refused::Useless(other.to_string()),
    }
}

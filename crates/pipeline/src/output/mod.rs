//! The last stage: what was found goes to a program outside, by HTTP.
//!
//! | module | what it owns |
//! |---|---|
//! | `delivery` | where to, with what, how long: the stage's `settings:`, and the secrets that they name |
//! | `reply` | what the receiver's answer means |
//!
//! It is signed as Standard Webhooks say ([`bindery_http::signature`]). A delivery has one id, however often it is tried: a receiver that knows the id has had it already. The result of the
//! submission is stored before; it is there whether or not anybody took it.

mod delivery;
mod reply;

use crate::{
    http::{Allowed, Client, Environment},
    stage::{Stage, erased},
};
use bindery_core::{ContentHash, StepError};
use bindery_engine::{Extracted, Kind, Processor, context::StepContext, processor::NewArtifact};
use bindery_http::{HeaderValue, Request, header, signature};
use bindery_processors::outside::Sender;
use delivery::{Delivery, What};
use reply::Reply;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    fmt::Write as _,
    time::{SystemTime, UNIX_EPOCH},
};

/// The name under which it is known.
const OUTPUT: &str = "output";

/// Posts the result of a submission, or what the stage's settings name, to a configured address.
#[derive(Debug)]
struct Output {
    environment: Environment,
    guarded: Client,
    open: Client,
}

/// The processor, with secrets from these variables.
pub fn output(environment: Environment) -> impl Processor {
    erased(Output { environment, guarded: Client::new_guarded(), open: Client::open() })
}

/// What was sent, and what the receiver said.
#[derive(Debug, Serialize, Deserialize)]
struct Delivered {
    url: String,
    webhook_id: String,
    sent_at: u64,
    bytes: usize,
    sha256: ContentHash,
    reply: Reply,
}

impl Stage for Output {
    const NAME: &'static str = OUTPUT;
    const KIND: Kind = Kind::Io;
    const HANDS_ON: bool = true;
    /// Whatever was found, as it is.
    type Input = Value;
    type Made = Delivered;
    type Output = Value;

    /// Are the settings right, and the secrets there?
    fn validate(&self, context: &StepContext, _input: &Value) -> Result<(), StepError> {
        Delivery::read(context, &self.environment).map(drop)
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Delivered, StepError> {
        // Read again: a secret may have been changed since an earlier attempt, and is stored nowhere.
        let delivery = Delivery::read(context, &self.environment)?;
        let (body, media_type) = body(context, &delivery.what, &input)?;
        let id = delivery_id(context, &body)?;
        let now = SystemTime::now();
        let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let work = context.work().map(|work| work.job);
        let sender = Sender { job: work, attempt: context.attempt(), idempotency_key: id.clone() };
        let request = request(&delivery, &sender, seconds, &media_type, body.clone())?;
        let client = if delivery.allow_private { &self.open } else { &self.guarded };
        let allowed = Allowed { time: delivery.time, bytes: reply::KEPT_BYTES };
        let answer = client.ask(request, &delivery.shown, allowed)?;
        let reply = reply::accepted(&delivery.shown, &answer)?;
        let (bytes, sha256) = (body.len(), ContentHash::of(&body));
        Ok(Delivered { url: delivery.shown, webhook_id: id, sent_at: seconds, bytes, sha256, reply })
    }

    /// Keeps what the receiver said.
    fn extract(&self, context: &StepContext, delivered: Delivered) -> Result<Extracted, StepError> {
        let delivered = json!(delivered);
        let stored = context.put_json(&delivered)?;
        // Beside the result, which is `output/SUBMISSION.json`.
        let about = context.item_id().map_or(context.submission()?.id.to_string(), |item| item.to_string());
        let (key, media_type) = (format!("output/{about}.reply.json"), "application/json".to_owned());
        let artifacts = vec![NewArtifact { key, hash: stored.hash, size: stored.size, media_type }];
        Ok(Extracted { artifacts, ..Extracted::new(delivered) })
    }
}

/// What is sent, and of which type it is. The same bytes at every attempt.
fn body(context: &StepContext, what: &What, input: &Value) -> Result<(Vec<u8>, String), StepError> {
    let key = match what {
        What::Found => {
            let bytes = serde_json::to_vec(input);
            let bytes = bytes.map_err(|error| StepError::bug(format!("the result cannot be written: {error}")))?;
            return Ok((bytes, "application/json".to_owned()));
        }
        What::Stored(key) => key,
    };
    let submission = context.submission()?.id.to_string();
    let item = context.item_id().map(|item| item.to_string());
    if item.is_none() && key.contains("{item}") {
        let message = format!("settings.send: {key} names an item, and this stage works on the submission as a whole");
        return Err(StepError::reject(message).named("BadSettings"));
    }
    let key = key.replace("{submission}", &submission).replace("{item}", &item.unwrap_or_default());
    let artifact = context.artifact(&key)?.ok_or_else(|| {
        StepError::reject(format!("settings.send: nothing is stored under {key}")).named("NothingToSend")
    })?;
    Ok((context.blob(artifact.hash)?, artifact.media_type))
}

/// One id for one delivery: of these bytes, by this stage, of this submission. Numbers of submissions begin anew in
/// another store, so the moment of its reception is in it, too.
fn delivery_id(context: &StepContext, body: &[u8]) -> Result<String, StepError> {
    let submission = context.submission()?;
    let item = context.item_id().map(|item| item.to_string()).unwrap_or_default();
    let (id, received, stage) = (submission.id, submission.received_at.as_millis(), &context.stage()?.name);
    let about = format!("{id}/{received}/{item}/{stage}/{}", ContentHash::of(body));
    let mut name = String::from("msg_");
    for byte in &ContentHash::of(about.as_bytes()).as_bytes()[..16] {
        let _ = write!(name, "{byte:02x}");
    }
    Ok(name)
}

fn request(
    delivery: &Delivery,
    sender: &Sender,
    seconds: u64,
    media_type: &str,
    body: Vec<u8>,
) -> Result<Request<Vec<u8>>, StepError> {
    let id = &sender.idempotency_key;
    let mut request = Request::post(&delivery.url)
        .header(header::CONTENT_TYPE, media_type)
        .header(header::ACCEPT, "application/json")
        .header(signature::ID, id)
        .header(signature::TIMESTAMP, seconds.to_string());
    for (name, value) in sender.headers() {
        request = request.header(name, value);
    }
    if !delivery.secrets.is_empty() {
        let signed = signature::sign(&delivery.secrets, id, seconds, &body);
        request = request.header(signature::SIGNATURE, signed);
    }
    if let Some(headers) = request.headers_mut() {
        for (name, value) in &delivery.headers {
            // Instead of, not beside: whoever writes `content-type` wants that one.
            headers.insert(name, HeaderValue::clone(value));
        }
    }
    let wrong = |error| StepError::bug(format!("{} cannot be asked: {error}", delivery.shown)).named("BadRequest");
    request.body(body).map_err(wrong)
}

//! Services: what a child does for its parent besides running the steps of processors. Bytes go in, bytes come out, so
//! that a caller chooses the form of both, and large contents are not written as JSON.

use super::{
    child::ChildProcess,
    death::{Death, cancelled},
    frame,
    pile::too_large,
    vitals::Rules,
};
use crate::{
    context::{BlobAccess, CancelFlag},
    runner::{Limits, Processes},
};
use bindery_core::StepError;
use bindery_store::blobs::BlobsPlace;
use serde::{Deserialize, Serialize};
use std::{fmt, time::Instant};

/// Code that answers requests in a child process. One serves all requests of its child, one at a time, and may keep
/// what it needs again.
pub trait Service: Send + Sync + fmt::Debug {
    fn name(&self) -> &'static str;

    /// Answers a request. A panic is answered for it.
    fn answer(&self, request: &[u8], blobs: Option<&BlobAccess>) -> Vec<u8>;

    /// Frees what is kept for later requests: the process has grown to a good part of its limit.
    fn shrink(&self) {}
}

/// What stands before the bytes of a request.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CallHead {
    pub(super) service: String,
    pub(super) memory: Option<u64>,
    pub(super) blobs: Option<BlobsPlace>,
}

/// The last byte of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Answered = 0,
    /// Answered, by a process that has grown so large that a fresh one should take its place.
    AnsweredLast = 1,
    /// The bytes are the error's text.
    Failed = 2,
}

impl Verdict {
    fn from_byte(byte: u8) -> Option<Self> {
        [Self::Answered, Self::AnsweredLast, Self::Failed].into_iter().find(|verdict| *verdict as u8 == byte)
    }
}

/// A request to a service.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub service: &'a str,
    pub limits: Limits,
    /// Requests of the same key go to the same child where it is idle, so that it can use again what it has kept.
    pub key: u64,
    /// The request; with `true` where the child has seen the key before.
    pub request: &'a dyn Fn(bool) -> Vec<u8>,
}

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { service, limits, key, .. } = self;
        f.debug_struct("Call")
            .field("service", service)
            .field("limits", limits)
            .field("key", key)
            .finish_non_exhaustive()
    }
}

/// How a call to a child ended.
enum Called {
    /// With the child, where it may be used again.
    Answered(Vec<u8>, Option<ChildProcess>),
    Failed(StepError, ChildProcess),
    Died(Death),
}

impl Processes {
    /// Asks a service in a child that is idle, or in a new one; waits while all are in use. For many threads at once.
    ///
    /// A request over which a child dies that had answered others before is repeated in a fresh one: what the child had
    /// kept may be the reason. Then it fails, with the errors that a processor's input has, and it alone.
    pub fn call(&self, call: &Call<'_>) -> Result<Vec<u8>, StepError> {
        let head = CallHead {
            service: call.service.to_owned(),
            memory: call.limits.memory,
            blobs: self.options.blobs.clone(),
        };
        let head = frame::encode(&head).map_err(|error| too_large(&error))?;
        let mut deaths = 0;
        loop {
            let Some(mut seat) = self.pool.seat_for(call.key) else { return Err(cancelled()) };
            let mut child = seat.started()?;
            let is_fresh = child.is_fresh();
            let has_seen = child.note_key(call.key);
            let frame = frame::raw(&head, &(call.request)(has_seen)).map_err(|error| too_large(&error))?;
            match self.exchange(child, call.limits, &frame) {
                Called::Answered(answer, kept) => {
                    if let Some(kept) = kept {
                        seat.keep(kept);
                    }
                    return Ok(answer);
                }
                Called::Failed(error, kept) => {
                    seat.keep(kept);
                    return Err(error);
                }
                Called::Died(death) => {
                    deaths += 1;
                    tracing::debug!(
                        service = call.service,
                        reason = %death.cause,
                        memory = death.peak_memory,
                        said = death.said.as_deref(),
                        "a child is gone; another takes its place"
                    );
                    if is_fresh || deaths > 1 {
                        return Err(death.error(call.limits, deaths));
                    }
                }
            }
        }
    }

    /// Sends a request and waits for its answer.
    fn exchange(&self, mut child: ChildProcess, limits: Limits, frame: &[u8]) -> Called {
        let super::Options { silent_for, cancel_grace, .. } = self.options;
        let rules = Rules { limits, silent_for, cancel: CancelFlag::default(), cancel_grace };
        let begun = Instant::now();
        self.pool.watch().begin(child.vitals(), rules);
        child.queue(frame);
        child.flush();
        let mut answer = loop {
            match child.receive_raw() {
                // A heartbeat.
                Ok(Some(message)) if message.is_empty() => child.vitals().record_output(),
                Ok(Some(message)) => break message,
                Ok(None) => return Called::Died(child.into_death(None, begun)),
                Err(why) => return Called::Died(child.into_death(Some(why), begun)),
            }
        };
        // One that was killed after it has answered is not kept.
        let (_, is_alive) = child.vitals().end_answer();
        match answer.pop().and_then(Verdict::from_byte) {
            Some(Verdict::Answered) => Called::Answered(answer, is_alive.then_some(child)),
            Some(Verdict::AnsweredLast) => Called::Answered(answer, None),
            Some(Verdict::Failed) => {
                let text = String::from_utf8_lossy(&answer).into_owned();
                Called::Failed(StepError::bug(text).named("Panic"), child)
            }
            None => Called::Died(child.into_death(Some("an answer of an unknown kind".to_owned()), begun)),
        }
    }
}

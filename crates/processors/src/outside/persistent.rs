//! A command that is started once and given one input after the other.
//!
//! The pool keeps the programs that are free. There are never more of them than calls at the same time, because only a
//! call takes one out or starts one. A program that dies, breaks the protocol or exceeds a limit is ended, its input
//! fails, and the next call starts a new one.

use super::{
    child::{Child, Talk, Turn},
    config::CommandConfig,
    envelope::{self, Request},
    failure::Failed,
    framing,
    program::{self, TimeLimit},
};
use crate::produced::Produced;
use bindery_core::StepError;
use bindery_engine::context::StepContext;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

#[derive(Debug, Default)]
pub(super) struct Pool {
    free: Mutex<Vec<Child>>,
    last_id: AtomicU64,
}

impl Pool {
    pub(super) fn call(
        &self,
        config: &CommandConfig,
        context: &StepContext,
        request: &Request,
    ) -> Result<Produced, Failed> {
        let time = TimeLimit::new(config.timeout, context);
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let message = framing::wrap(config.framing, request.with_id(id))
            .map_err(|message| Failed::of_client(StepError::reject(message).named("TooLarge")))?;
        let mut child = self.take(config)?;
        let cancelled = || context.is_cancelled();
        let limits = program::limits(config, &time, &cancelled);
        let is_whole = |bytes: &[u8], seen| framing::is_whole(config.framing, bytes, seen, config.max_output_bytes);
        let mut talk = Talk::until_whole(&message, &is_whole);
        let turn = child.talk(&mut talk, &limits);
        tracing::trace!(program = config.program, pid = child.id(), id, turn = ?turn, "a program was asked");
        match turn {
            Ok(Turn::Answered) => {
                let answer = framing::unwrap(config.framing, &talk.output, config.max_output_bytes)
                    .and_then(|message| envelope::read(message, Some(id), &request.work))
                    .map_err(|complaint| {
                        Failed::bad_answer(format!("the program {} {complaint}, and was ended", config.program))
                    })?;
                self.put_back(child, config);
                answer.settle(context, &request.work, &format!("the program {}", config.program))
            }
            Ok(Turn::Ended(status)) if status.success() => Err(Failed::of_service(
                StepError::retry(format!("the program {} ended instead of answering", config.program))
                    .named("ExitCode"),
            )),
            Ok(Turn::Ended(status)) => Err(program::ended_badly(&config.program, status, &child.last_message())),
            Err(trouble) => Err(program::explain(trouble, config, &time, context)),
        }
    }

    /// A program that is alive and silent, or a new one.
    fn take(&self, config: &CommandConfig) -> Result<Child, Failed> {
        while let Some(child) = self.pop() {
            if !child.has_ended() && !child.speaks_unasked() {
                return Ok(child);
            }
            // Whatever it did, it did between two inputs, so no input fails for it.
            tracing::warn!(program = config.program, pid = child.id(), "an idle program died or spoke: replaced");
        }
        let child = program::start(config, None)?;
        tracing::info!(program = config.program, pid = child.id(), "a persistent program was started");
        Ok(child)
    }

    fn pop(&self) -> Option<Child> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// One that has grown beyond its limit is not kept, although its answer counts.
    fn put_back(&self, child: Child, config: &CommandConfig) {
        let used = config.memory_bytes.and_then(|limit| child.memory().filter(|used| *used > limit));
        if let Some(used) = used {
            tracing::info!(program = config.program, pid = child.id(), used, "a program has grown too large: replaced");
            return;
        }
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(child);
    }
}

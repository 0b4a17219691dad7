//! A command that is started for each input: the request on its stdin, the answer on its stdout, then it ends.

use super::{
    child::{Talk, Turn},
    config::CommandConfig,
    envelope::{self, Request},
    failure::Failed,
    program::{self, TimeLimit},
    work::Work,
};
use crate::produced::Produced;
use bindery_engine::context::StepContext;
use std::process::ExitStatus;

pub(super) fn call(config: &CommandConfig, context: &StepContext, request: &Request) -> Result<Produced, Failed> {
    let time = TimeLimit::new(config.timeout, context);
    let mut child = program::start(config, Some(&request.sender))?;
    let cancelled = || context.is_cancelled();
    let limits = program::limits(config, &time, &cancelled);
    let mut said = request.text();
    said.push('\n');
    let mut talk = Talk::until_the_end(said.as_bytes());
    let turn = child.talk(&mut talk, &limits);
    tracing::debug!(program = config.program, pid = child.id(), exit = ?turn, "a program ended");
    match turn {
        // Without a test for wholeness a talk ends with its program.
        Ok(Turn::Answered) => Err(Failed::bad_answer("the program answered twice")),
        Ok(Turn::Ended(status)) => {
            let who = format!("the program {}", config.program);
            read(config, &talk.output, status, &child.last_message(), &request.work)
                .and_then(|answer| answer.settle(context, &request.work, &who))
        }
        Err(trouble) => Err(program::explain(trouble, config, &time, context)),
    }
}

/// An error that the program explains counts whatever its exit code; an output counts only if it ended well.
fn read(
    config: &CommandConfig,
    output: &[u8],
    status: ExitStatus,
    last_message: &str,
    work: &Work,
) -> Result<envelope::Answer, Failed> {
    match envelope::read(output, None, work) {
        Ok(answer) if status.success() || answer.result.is_err() => Ok(answer),
        Err(complaint) if status.success() => {
            Err(Failed::bad_answer(format!("the program {} {complaint}", config.program)))
        }
        Ok(_) | Err(_) => Err(program::ended_badly(&config.program, status, last_message)),
    }
}

//! The `bindery` binary: flags and what people see. What it shares with the server is in `bindery-app`, the work itself
//! in the crates below that.

mod cli;
mod commands;
mod confirm;
mod env_vars;
mod exit;
mod failure;
mod flags;
mod intake_args;
mod listening;
mod logging;
mod notices;
mod output;
mod pretty_json;
mod progress;
mod report;
mod result_tables;
mod standalone;
mod terminal;

use bindery_app::Settings;
use clap::Parser as _;
use exit::Exit;
use notices::Remarks;
use std::{process::ExitCode, sync::Arc, time::Duration};

fn main() -> ExitCode {
    // Wrong flags end here, with the same exit code as other bad input.
    let cli = cli::Cli::parse();
    finish(run(cli)).into()
}

fn run(cli: cli::Cli) -> anyhow::Result<Exit> {
    let settings = match cli.command {
        cli::Command::Child => Settings::of_child(cli.flags.into())?,
        _ => Settings::new(cli.flags.into(), Arc::new(Remarks))?,
    };
    logging::start(settings.log())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(commands::dispatch(&settings, cli.command));
    // Somebody who asks twice to stop does not want to wait for a step that does not end.
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

fn finish(result: anyhow::Result<Exit>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(error) => match failure::explain(&error) {
            Some(shown) => {
                output::error(&shown.message, shown.hint.as_deref());
                shown.exit
            }
            None => Exit::Ok,
        },
    }
}

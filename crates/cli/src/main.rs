//! The `bindery` binary: flags, wiring, and what people see. The work itself is in the crates below.

mod broker;
mod circuits;
mod cli;
mod commands;
mod config;
mod councils;
mod env_vars;
mod exit;
mod failure;
mod inputs;
mod items;
mod names;
mod output;
mod pretty_json;
mod processors;
mod progress;
mod receiving;
mod report;
#[cfg(feature = "amqp")]
mod requests;
mod result_tables;
mod standalone;
mod store_wait;
mod stored_result;
mod terminal;
mod work;
mod workbook;

use clap::Parser as _;
use config::Settings;
use exit::Exit;
use std::{process::ExitCode, time::Duration};

fn main() -> ExitCode {
    // Wrong flags end here, with the same exit code as other bad input.
    let cli = cli::Cli::parse();
    finish(run(cli)).into()
}

fn run(cli: cli::Cli) -> anyhow::Result<Exit> {
    let settings = match cli.command {
        cli::Command::Child => Settings::of_child(cli.flags),
        _ => Settings::new(cli.flags)?,
    };
    settings.start_logging()?;
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

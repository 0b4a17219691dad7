//! The commands and their flags. One module for each is in `commands`.

use crate::{commands, config::Flags, env_vars};
use clap::{Parser, Subcommand};

/// Takes piles of documents apart, works on the parts in parallel and binds the results.
#[derive(Debug, Parser)]
#[command(name = "bindery", version, after_help = env_vars::HELP, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) flags: Flags,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(commands::run::Args),
    Read(commands::read::Args),
    Process(commands::process::Args),
    Runs(commands::runs::Args),
    Submit(commands::submit::Args),
    Watch(commands::watch::Args),
    Intake(commands::intake::Args),
    Worker(commands::worker::Args),
    Workers(commands::workers::Args),
    Status(commands::status::Args),
    Result(commands::result::Args),
    Search(commands::search::Args),
    Jobs(commands::jobs::Args),
    DeadLetters(commands::dead_letters::Args),
    Retry(commands::retry::Args),
    Cancel(commands::cancel::Args),
    Delete(commands::retention::delete::Args),
    Prune(commands::retention::prune::Args),
    Hold(commands::retention::hold::HoldArgs),
    Release(commands::retention::hold::ReleaseArgs),
    Holds(commands::retention::hold::HoldsArgs),
    Queues(commands::queues::Args),
    Pause(commands::queues::PauseArgs),
    Resume(commands::queues::ResumeArgs),
    Events(commands::events::Args),
    #[command(alias = "reviews")]
    Review(commands::reviews::Args),
    Workflows(commands::workflows::Args),
    Processors(commands::processors::Args),
    Machine(commands::machine::Args),
    Civic(commands::civic::Args),
    Store(commands::store::Args),
    /// Run steps for another bindery, which talks to it over standard input and output
    #[command(hide = true)]
    Child,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_flags_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_examples() {
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("bindery "), "`bindery {} --help` has no example", command.get_name());
        }
    }

    #[test]
    fn every_command_is_documented() {
        let documentation = include_str!("../../../docs/cli.md");
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let heading = format!("`{}", command.get_name());
            assert!(documentation.contains(&heading), "{} is not in docs/cli.md", command.get_name());
        }
    }
}

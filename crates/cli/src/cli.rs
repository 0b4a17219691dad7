//! The commands and their flags. One module for each is in `commands`.

use crate::{commands, env_vars, flags::GlobalArgs};
use clap::{Parser, Subcommand};

/// Takes piles of documents apart, works on the parts in parallel and binds the results.
#[derive(Debug, Parser)]
#[command(name = "bindery", version, after_help = env_vars::HELP, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) flags: GlobalArgs,
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
    Add(commands::add::Args),
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
    Rerun(commands::rerun::Args),
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
    Doctypes(commands::doctypes::Args),
    Checklists(commands::checklists::Args),
    Processors(commands::processors::Args),
    Ocr(commands::ocr::Args),
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
    use clap::{Arg, CommandFactory as _};
    use std::{any::TypeId, collections::BTreeSet, path::PathBuf};

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

    /// Every argument that takes a path is listed in `tests/path_flags.tsv` as something that is read or written, and a
    /// test runs each that is written against devices and links.
    #[test]
    fn every_path_is_known_as_input_or_output() {
        let listed: BTreeSet<String> = include_str!("../tests/path_flags.tsv")
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| line.rsplit_once('\t').map_or(line, |(name, _)| name).to_owned())
            .collect();
        let mut found = BTreeSet::new();
        list_paths(&Cli::command(), "", &mut found);
        let missing: Vec<_> = found.difference(&listed).collect();
        assert!(missing.is_empty(), "add to crates/cli/tests/path_flags.tsv, with in, file or folder: {missing:#?}");
        let gone: Vec<_> = listed.difference(&found).collect();
        assert!(gone.is_empty(), "in crates/cli/tests/path_flags.tsv, and no argument any more: {gone:#?}");
    }

    fn list_paths(command: &clap::Command, name: &str, found: &mut BTreeSet<String>) {
        for argument in command.get_arguments().filter(|argument| takes_path(argument)) {
            found.insert(format!("{}\t{}", name.trim(), argument.get_id()));
        }
        for inner in command.get_subcommands() {
            list_paths(inner, &format!("{name} {}", inner.get_name()), found);
        }
    }

    /// By its type, or by the name of its value: a path may be taken as a text.
    fn takes_path(argument: &Arg) -> bool {
        let is_path = argument.get_value_parser().type_id() == TypeId::of::<PathBuf>();
        let names = argument.get_value_names().unwrap_or_default();
        is_path || names.iter().any(|name| ["FILE", "DIR", "FOLDER", "PATH", "PATHS"].contains(&name.as_str()))
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

//! `bindery machine`: state machines in Amazon States Language. One module for each word after it.
//!
//! | module | needs a store |
//! |---|---|
//! | `check`, `graph`, `test_state`, `replay` | no |
//!
//! `definition_file` reads what all of them are given: definitions in JSON or YAML.

mod check;
mod definition_file;
mod graph;
mod replay;
mod test_state;

use crate::exit::Exit;
use clap::Subcommand;

/// State machines in Amazon States Language: check, draw, test and replay them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine check machines                         every fault of every definition, with its line
  bindery machine graph machines/file_ingestion.asl.json --out machine.svg
  bindery machine test-state machine.asl.json --state Wait --input '{\"seconds\": 3}'
  bindery machine replay histories.jsonl                 recorded runs, compared with ours
docs/machines.md tells what is supported.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Check(check::Args),
    Graph(graph::Args),
    TestState(test_state::Args),
    Replay(replay::Args),
}

pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    match args.action {
        Action::Check(args) => check::run(args),
        Action::Graph(args) => graph::run(&args),
        Action::TestState(args) => test_state::run(args),
        Action::Replay(args) => replay::run(args),
    }
}

//! `bindery machine`: state machines in Amazon States Language. One module for each word after it.
//!
//! | module | needs a store |
//! |---|---|
//! | `check`, `test_state`, `replay` | no |
//! | `graph` | only to show an execution |
//! | `execute` (put, start, run), `show` (list, status, history), `control` (stop, redrive, report, prune) | yes |

mod check;
mod control;
mod execute;
mod graph;
mod replay;
mod show;
mod stored;
mod test_state;

use crate::exit::Exit;
use bindery_app::Settings;
use clap::Subcommand;

/// State machines in Amazon States Language: check, draw, test, replay and run them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine check machines                         every fault of every definition, with its line
  bindery machine graph machines/file_ingestion.asl.json --out machine.svg
  bindery machine test-state machine.asl.json --state Wait --input '{\"seconds\": 3}'
  bindery machine replay histories.jsonl                 recorded runs, compared with ours
  bindery machine run hello.asl.json --input '{\"name\": \"harbour\"}'
  bindery machine start file_ingestion --input @input.json; bindery worker
  bindery machine history exec_1
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
    Put(execute::PutArgs),
    Start(execute::StartArgs),
    Run(execute::RunArgs),
    List(show::ListArgs),
    Status(show::StatusArgs),
    History(show::HistoryArgs),
    Stop(control::StopArgs),
    Redrive(control::RedriveArgs),
    Report(control::ReportArgs),
    Prune(control::PruneArgs),
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action {
        Action::Check(args) => check::run(&args),
        Action::Graph(args) => graph::run(settings, &args).await,
        Action::TestState(args) => test_state::run(args),
        Action::Replay(args) => replay::run(args),
        Action::Put(args) => execute::put(settings, args).await,
        Action::Start(args) => execute::start(settings, args).await,
        Action::Run(args) => execute::run(settings, args).await,
        Action::List(args) => show::list(settings, args).await,
        Action::Status(args) => show::status(settings, args).await,
        Action::History(args) => show::history(settings, args).await,
        Action::Stop(args) => control::stop(settings, args).await,
        Action::Redrive(args) => control::redrive(settings, args).await,
        Action::Report(args) => control::report(settings, args).await,
        Action::Prune(args) => control::prune(settings, &args).await,
    }
}

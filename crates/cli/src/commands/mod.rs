//! One module for each command.

pub(crate) mod add;
pub(crate) mod cancel;
pub(crate) mod checklists;
pub(crate) mod child;
pub(crate) mod civic;
pub(crate) mod dead_letters;
pub(crate) mod doctypes;
pub(crate) mod events;
pub(crate) mod intake;
pub(crate) mod jobs;
pub(crate) mod machine;
pub(crate) mod ocr;
pub(crate) mod process;
pub(crate) mod processors;
pub(crate) mod queues;
pub(crate) mod read;
pub(crate) mod rerun;
pub(crate) mod result;
pub(crate) mod retention;
pub(crate) mod retry;
pub(crate) mod reviews;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod status;
pub(crate) mod store;
pub(crate) mod submit;
pub(crate) mod watch;
pub(crate) mod worker;
pub(crate) mod workers;
pub(crate) mod workflows;

use crate::{cli::Command, exit::Exit};
use bindery_app::Settings;

pub(crate) async fn dispatch(settings: &Settings, command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Run(args) => run::run(settings, args).await,
        Command::Read(args) => read::run(settings, args).await,
        Command::Ocr(args) => ocr::run(args).await,
        Command::Process(args) => process::run(settings, args).await,
        Command::Runs(args) => runs::run(settings, args).await,
        Command::Processors(args) => processors::run(settings, args).await,
        Command::Store(args) => store::run(settings, args).await,
        // Its steps wait for the blob store, which they must not do on a thread of the runtime.
        Command::Child => {
            let settings = settings.clone();
            tokio::task::spawn_blocking(move || child::run(&settings)).await?
        }
        Command::Submit(args) => submit::run(settings, args).await,
        Command::Add(args) => add::run(settings, args).await,
        Command::Watch(args) => watch::run(settings, args).await,
        Command::Intake(args) => intake::run(settings, args).await,
        Command::Worker(args) => worker::run(settings, args).await,
        Command::Workers(args) => workers::run(settings, args).await,
        Command::Status(args) => status::run(settings, args).await,
        Command::Result(args) => result::run(settings, args).await,
        Command::Search(args) => search::run(settings, args).await,
        Command::Jobs(args) => jobs::run(settings, args).await,
        Command::DeadLetters(args) => dead_letters::run(settings, args).await,
        Command::Rerun(args) => rerun::run(settings, args).await,
        Command::Retry(args) => retry::run(settings, args).await,
        Command::Cancel(args) => cancel::run(settings, args).await,
        Command::Delete(args) => retention::delete::run(settings, args).await,
        Command::Prune(args) => retention::prune::run(settings, args).await,
        Command::Hold(args) => retention::hold::hold(settings, args).await,
        Command::Release(args) => retention::hold::release(settings, args).await,
        Command::Holds(args) => retention::hold::holds(settings, args).await,
        Command::Queues(args) => queues::run(settings, args).await,
        Command::Pause(args) => queues::pause(settings, args).await,
        Command::Resume(args) => queues::resume(settings, args).await,
        Command::Events(args) => events::run(settings, args).await,
        Command::Review(args) => reviews::run(settings, args).await,
        Command::Workflows(args) => workflows::run(settings, args).await,
        Command::Doctypes(args) => doctypes::run(settings, args).await,
        Command::Checklists(args) => checklists::run(settings, args),
        Command::Machine(args) => machine::run(settings, args).await,
        Command::Civic(args) => civic::run(settings, args).await,
    }
}

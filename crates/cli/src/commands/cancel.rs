//! `bindery cancel`: stops a submission, or gives up one job.

use crate::{exit::Exit, output};
use bindery_app::{Settings, jobs::Target};

/// Stop a submission, or give up one job
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery cancel sub_3    stop everything of it; `bindery retry sub_3` takes it up again
  bindery cancel job_12   give this one up; the rest goes on without it
Nothing is deleted, so nothing is asked.")]
pub(crate) struct Args {
    /// sub_N, your own id of a submission, or job_N
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let mut meant = Vec::new();
    for id in &args.ids {
        meant.push(Target::find(&app, id).await?);
    }
    for target in meant {
        match target {
            Target::Submission(id) => {
                let cancelled = app.store().cancel_submission(id).await?;
                if cancelled.changed {
                    output::line(format!("cancelled {id}: {} stopped", output::count(cancelled.jobs, "job")))?;
                    output::note(format!("undo: bindery retry {id}"));
                } else {
                    output::note(format!("{id} is final already; nothing was changed"));
                }
            }
            Target::Job(id, ..) => {
                if app.store().cancel_job(id).await? {
                    output::line(format!("gave up {id}"))?;
                    output::note(format!("undo: bindery retry {id}"));
                } else {
                    output::note(format!("{id} is not waiting or running; nothing was changed"));
                }
            }
        }
    }
    Ok(Exit::Ok)
}

//! Notices of the library as remarks on stderr.

use crate::{intake_args::not_taken_in, output};
use bindery_app::{Notice, Observer, notice::Kept};

/// Shows notices on the terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Remarks;

impl Observer for Remarks {
    fn notice(&self, notice: &Notice) {
        output::note(sentence(notice));
    }
}

fn sentence(notice: &Notice) -> String {
    match notice {
        Notice::ReadableByOthers { what, folder, mode } => {
            let (what, closed) = match what {
                Kept::Store => ("store", "go-rwx"),
                Kept::Blobs => ("blobs", "o-rwx"),
            };
            let folder = folder.display();
            format!(
                "warning: other users of this machine can read the {what} in {folder} (mode {mode:04o}); \
                 `chmod -R {closed} {folder}` closes it to them"
            )
        }
        Notice::Retrying { error, pause } => format!("{error}; trying again in {}", output::duration(*pause)),
        Notice::WaitingForStore { reason, limit } => format!("{reason}; waiting up to {} s for it", limit.as_secs()),
        Notice::Restarting { what, why, pause } => {
            format!("{what} failed and goes on in {}: {why}", output::duration(*pause))
        }
        Notice::Draining => "finishing what is under way; a second signal stops at once".to_owned(),
        Notice::StoppingAtOnce => "stopping at once; work under way is done again later".to_owned(),
        Notice::Intake(note) => note.clone(),
        Notice::NotTakenIn { name, reason } => not_taken_in(name, reason),
        Notice::SameContent { name, same_as } => {
            format!("{name} has the same content as {same_as} and is worked on once")
        }
        Notice::LeftAlone { name, reason } => format!("{name} is left alone until it changes: {reason}"),
        Notice::NotMoved { name, to, reason } => {
            format!("{name} was taken in, and cannot be moved to {}: {reason}", to.display())
        }
        Notice::LookingAgain { error, every } => format!("{error}; looking again in {} s", every.as_secs()),
        Notice::StandingBy { for_whom } => {
            format!("{for_whom} visits the cities of this store; standing by until it stops")
        }
        Notice::VisitsEnd => "no city is begun any more; a second signal stops at once".to_owned(),
        Notice::VisitInterrupted { city } => format!("the last visit to {city} was interrupted"),
        Notice::JobsRecovered { jobs } => {
            format!("took up {} that a program has left behind", output::count(*jobs, "job"))
        }
    }
}

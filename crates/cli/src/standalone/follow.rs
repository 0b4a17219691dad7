//! A run from its start to its end, or until somebody asks twice to stop.

use super::display::Display;
use crate::output;
use bindery_app::{
    Signals,
    runs::{CancelFlag, ProcessingResult, RunProgress, RunResult},
};
use std::future::Future;
use tokio::sync::watch;

/// How it ended.
#[derive(Debug)]
pub(crate) enum Ended {
    Done {
        result: Box<ProcessingResult>,
        /// Somebody asked to stop before it was done.
        interrupted: bool,
    },
    /// Left while steps were running; none if it had not begun.
    Left { run_id: Option<String> },
}

/// Shows how far a run is. The first signal lets what is under way finish, the second waits for nothing.
pub(crate) async fn follow<R>(
    cancel: &CancelFlag,
    show_progress: bool,
    start: impl FnOnce(watch::Sender<Option<RunProgress>>) -> R,
) -> anyhow::Result<Ended>
where
    R: Future<Output = RunResult>,
{
    // Before the first step, so that no signal finds us unprepared.
    let mut signals = Signals::new()?;
    let mut display = Display::new(show_progress);
    let (tell, mut heard) = watch::channel(None);
    let run = start(tell);
    tokio::pin!(run);
    let mut interrupted = false;
    let ended = loop {
        tokio::select! {
            result = &mut run => {
                break result.map(|result| Ended::Done { result: Box::new(result), interrupted });
            }
            Ok(()) = heard.changed() => {
                if let Some(progress) = &*heard.borrow_and_update() {
                    display.update(progress);
                }
            }
            () = signals.next() => {
                if interrupted {
                    let run_id = heard.borrow().as_ref().map(|progress| progress.run_id.clone());
                    break Ok(Ended::Left { run_id });
                }
                interrupted = true;
                cancel.cancel();
                output::note("finishing what is under way; Ctrl-C again stops at once");
            }
        }
    };
    // The last change may have come together with the end.
    if let Some(progress) = &*heard.borrow() {
        display.update(progress);
    }
    display.finish();
    Ok(ended?)
}

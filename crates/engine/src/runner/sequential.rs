//! One input after the other, in the calling thread.

use super::{OnResult, Runner, RunnerKind, RunnerReport, Task, Unit};

/// Simple, predictable, easy to debug. A step that never ends is never left: it is asked to stop through its context
/// when its time is over, and has to look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sequential;

impl Runner for Sequential {
    fn kind(&self) -> RunnerKind {
        RunnerKind::Sequential
    }

    fn run(&self, task: &Task, units: Vec<Unit>, on_result: OnResult<'_>) -> RunnerReport {
        for (place, unit) in units.into_iter().enumerate() {
            if task.cancel.is_cancelled() {
                break;
            }
            on_result(place, task.run(unit));
        }
        RunnerReport { workers: 1, ..RunnerReport::default() }
    }
}

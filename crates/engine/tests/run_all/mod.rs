//! What a runner makes of a pile of inputs.

use bindery_engine::runner::{Ran, Runner, RunnerReport, Task, Unit};

/// Runs every unit and returns the results in the order of the units. None where the task was cancelled first.
pub(crate) fn run_all(runner: &dyn Runner, task: &Task, units: Vec<Unit>) -> (Vec<Option<Ran>>, RunnerReport) {
    let mut results: Vec<Option<Ran>> = Vec::new();
    results.resize_with(units.len(), || None);
    let report = runner.run(task, units, &mut |place, ran| results[place] = Some(ran));
    (results, report)
}

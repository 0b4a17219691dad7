//! `make bench-processors`: what a runner costs, what it gains, and whether a resume repeats anything.

mod processors;

use bindery_engine::{
    Processor,
    execution::{Execution, ProcessorInput},
    runner::{ChildCommand, Processes, Runner, Sequential, Threads, processes},
};
use processors::{Compute, Flaky, NoOp, registry};
use serde_json::json;
use std::{
    process::ExitCode,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

const CHILD: &str = "--child";

/// The best of so many runs counts: the others were disturbed.
const RUNS: usize = 5;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(CHILD) {
        return match processes::serve(&registry(), &processes::local_blobs) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    say(&format!("{cores} cores, {RUNS} runs each, the best one counts"));
    let sequential: Arc<dyn Runner> = Arc::new(Sequential);
    let threads: Arc<dyn Runner> = Arc::new(Threads::new(cores));
    let children: Arc<dyn Runner> = match ChildCommand::own([CHILD]) {
        Ok(command) => Arc::new(Processes::new(command, cores)),
        Err(error) => {
            say(&format!("the children cannot be started: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let overhead = |runner: &Arc<dyn Runner>, inputs| {
        let took = best(&(Arc::new(NoOp) as Arc<dyn Processor>), runner, inputs).as_secs_f64() * 1e6 / inputs as f64;
        say(&format!("{:<12} {inputs:>8} inputs that need nothing: {took:.2} µs each", runner.kind()));
        took
    };
    let (seq_us, thread_us) = (overhead(&sequential, 200_000), overhead(&threads, 200_000));
    let process_us = overhead(&children, 50_000);
    let computing = |runner: &Arc<dyn Runner>| {
        let took = best(&(Arc::new(Compute) as Arc<dyn Processor>), runner, 1_000);
        say(&format!("{:<12}     1000 inputs that compute: {:.3} s", runner.kind(), took.as_secs_f64()));
        took.as_secs_f64()
    };
    let alone = computing(&sequential);
    let (by_threads, by_processes) = (alone / computing(&threads), alone / computing(&children));
    let Some(reruns) = resume() else { return ExitCode::FAILURE };
    say(&format!(
        "BENCH seq_us={seq_us:.2} thread_us={thread_us:.2} process_us={process_us:.2} \
         cpu_speedup_threads={by_threads:.2} cpu_speedup_processes={by_processes:.2} resume_reruns={reruns}"
    ));
    ExitCode::SUCCESS
}

fn inputs(count: usize) -> Vec<ProcessorInput> {
    (0..count).map(|n| ProcessorInput::new(format!("doc_{n}"), "acc_1", "uw_1", json!({"n": n}))).collect()
}

fn execution(processor: Arc<dyn Processor>, runner: Arc<dyn Runner>) -> Option<Execution> {
    Some(Execution::new(processor, "acc_1", "uw_1").ok()?.with_runner(runner))
}

/// From the call to the result, inputs not counted.
fn best(processor: &Arc<dyn Processor>, runner: &Arc<dyn Runner>, count: usize) -> Duration {
    let Some(execution) = execution(Arc::clone(processor), Arc::clone(runner)) else { return Duration::MAX };
    let once = |_| {
        let inputs = inputs(count);
        let begun = Instant::now();
        let result = execution.execute(inputs, None);
        let took = begun.elapsed();
        if result.success { took } else { Duration::MAX }
    };
    (0..RUNS).map(once).min().unwrap_or(Duration::MAX)
}

/// How many steps a retry of 10,000 inputs with 1 % failed runs again. More or fewer than the failed ones is an error.
fn resume() -> Option<u64> {
    let flaky = Flaky::default();
    let execution = execution(Arc::new(flaky.clone()), Arc::new(Sequential))?;
    let failed = execution.execute(inputs(10_000), None);
    let before = flaky.steps_run();
    flaky.repaired.store(true, Ordering::Relaxed);
    let retried = execution
        .execute(failed.payloads.clone()?, Some(failed.context.for_retry(&failed.run_id, failed.last_error_step())));
    let after = flaky.steps_run();
    // Each input passes each step once; whatever ran beyond that ran again.
    let again: u64 = after.iter().map(|ran| ran - 10_000).sum();
    say(&format!(
        "10000 inputs, {} failed: first run {before:?} steps, with the retry {after:?}; run again: {again}",
        failed.metrics.failed
    ));
    if !retried.success || again != failed.metrics.failed as u64 {
        say("the retry has not run exactly the failed steps again");
        return None;
    }
    Some(again)
}

#[expect(clippy::print_stdout, reason = "a benchmark prints what it has measured")]
fn say(line: &str) {
    println!("{line}");
}

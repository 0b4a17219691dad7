//! Measures durable executions on SQLite: `make bench-states`, together with what needs no store.
//!
//! Every number is taken on a fresh store on disk, with the settings that everybody gets: each commit is synced, and
//! every event of every history is stored. The last line is for programs.

#![allow(clippy::print_stdout, reason = "the numbers are the result")]

#[path = "../bench_engine/bench.rs"]
#[allow(dead_code, reason = "each benchmark uses a part of it")]
mod bench;
mod peer;

use async_trait::async_trait;
use bench::{Measured, Outcome, Scratch, Stopwatch, runtime, thousands};
use bindery_core::ExecutionId;
use bindery_engine::{
    Registry,
    machines::{
        Executor, ExecutorOptions, ItemsRequest, Machines, ResultsRequest, StartRequest, TaskCall, TaskFailure,
        TaskResult, Tasks,
    },
    stop_pair,
};
use bindery_states::asl::stepper::StepLimits;
use bindery_store::executions::ExecutionStatus;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

const EXECUTIONS: usize = 200;
/// Each turn of a loop is a Pass and a Choice.
const TURNS: usize = 500;
const LONE_TURNS: usize = 10_000;
const ITEMS: usize = 10_000;
/// The best of them counts.
const ROUNDS: usize = 3;

fn main() -> Outcome<()> {
    let only = std::env::args().nth(1);
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let mut numbers = Vec::new();
    if wanted("transitions") {
        let many = best(|| run("loop", &counting(TURNS), EXECUTIONS, &json!({"n": 0}), EXECUTIONS * TURNS * 2))?;
        println!("{EXECUTIONS} executions at once, {} transitions each: {many}", TURNS * 2);
        numbers.push(format!("transitions_per_s={:.0}", many.per_second()));
    }
    if wanted("loop") {
        let ours = best(|| run("lone", &counting(LONE_TURNS), 1, &json!({"n": 0}), LONE_TURNS * 2))?;
        println!("one loop of {} transitions, durable: {ours}", LONE_TURNS * 2);
        if let Some(theirs) = peer::transitions_per_second(&counting(LONE_TURNS), LONE_TURNS * 2, ROUNDS)? {
            println!("the same by aws-local-stepfunctions, in memory: {} a second", thousands(theirs));
            numbers.push(format!("loop_ratio={:.2}", ours.per_second() / theirs));
        }
    }
    if wanted("map") {
        let items: Vec<Value> =
            (0..ITEMS).map(|number| json!({"id": number, "name": format!("page-{number}")})).collect();
        let map = json!({"StartAt": "Each", "States": {"Each": {"Type": "Map", "ItemsPath": "$.items", "End": true,
            "ItemProcessor": {"StartAt": "Note", "States": {"Note": {"Type": "Pass", "End": true}}}}}});
        let measured = best(|| run("map", &map, 1, &json!({"items": items}), ITEMS))?;
        println!("a Map of {ITEMS} items: {measured}");
        numbers.push(format!("map_items_per_s={:.0}", measured.per_second()));
    }
    println!("BENCH {}", numbers.join(" "));
    Ok(())
}

fn counting(turns: usize) -> Value {
    json!({"StartAt": "Count", "States": {
        "Count": {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($.n, 1)"}, "Next": "More"},
        "More": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericLessThan": turns, "Next": "Count"}],
                 "Default": "Done"},
        "Done": {"Type": "Succeed"}}})
}

fn best(measure: impl Fn() -> Outcome<Measured>) -> Outcome<Measured> {
    let mut best = measure()?;
    for _ in 1..ROUNDS {
        let next = measure()?;
        if next.seconds < best.seconds {
            best = next;
        }
    }
    Ok(best)
}

/// Starts executions before an executor, and waits for the last of them.
fn run(name: &str, machine: &Value, executions: usize, input: &Value, count: usize) -> Outcome<Measured> {
    let scratch = Scratch::new(name)?;
    runtime()?.block_on(async {
        let engine = scratch.engine(Registry::default())?;
        let machines = Machines::new(Arc::clone(engine.store()));
        machines.put(name, &machine.to_string(), None).await?;
        let mut started: Vec<ExecutionId> = Vec::with_capacity(executions);
        for _ in 0..executions {
            let request = StartRequest { machine: name.to_owned(), name: None, input: input.clone(), owner: None };
            started.push(machines.start(request).await?.0);
        }
        // Loops and payloads of this length are not for everyday.
        let limits = StepLimits { history: u64::MAX, payload: 4 << 20, ..StepLimits::default() };
        let executor =
            Executor::new(engine, Arc::new(NoTasks), ExecutorOptions { limits, ..ExecutorOptions::default() });
        let (handle, stop) = stop_pair();
        let watch = Stopwatch::start()?;
        let running = tokio::spawn(async move { executor.run(stop).await });
        for id in started {
            let ended = machines.wait(id, Duration::from_secs(600)).await?.ok_or("it took ten minutes")?;
            if ended.status != ExecutionStatus::Succeeded {
                return Err(format!("{id} is {}: {:?}", ended.status, ended.cause).into());
            }
        }
        let measured = watch.stop(count)?;
        handle.stop();
        running.await?;
        Ok(measured)
    })
}

/// The machines that are measured have no tasks.
#[derive(Debug)]
struct NoTasks;

#[async_trait]
impl Tasks for NoTasks {
    fn check(&self, resource: &str) -> Result<(), String> {
        Err(format!("there is no resource {resource:?}"))
    }

    async fn run(&self, call: TaskCall) -> TaskResult {
        Err(TaskFailure::unknown(&call.resource, &[]))
    }

    async fn read_items(&self, request: ItemsRequest) -> Result<Vec<Value>, TaskFailure> {
        Err(TaskFailure::unknown(&request.resource, &[]))
    }

    async fn write_results(&self, request: ResultsRequest) -> TaskResult {
        Err(TaskFailure::unknown(&request.resource, &[]))
    }
}

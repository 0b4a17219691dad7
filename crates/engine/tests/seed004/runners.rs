//! The same answers from every runner.

use crate::run_all::run_all;
use crate::{
    in_processes, on_every_runner, runners,
    support::{Desk, WHOIS, documents, input},
};
use bindery_core::{StepError, outcome::Step};
use bindery_engine::{
    Extracted, Kind, Processor,
    context::StepContext,
    execution::{Execution, InputReport, Observer, ProcessorInput},
    runner::{Limits, RunnerChoice, RunnerKind, Sequential, Task, Threads, Unit},
};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread::ThreadId,
    time::Duration,
};

/// Good ones, and one for every way to fail.
fn mixed_pile() -> Vec<ProcessorInput> {
    let mut pile: Vec<ProcessorInput> =
        (0..40).map(|number| input(&format!("doc_{number}"), json!({"doc": format!("{number}.pdf")}))).collect();
    for (number, step) in [(3, "validation"), (7, "processing"), (11, "extraction")] {
        pile[number].data["fail"] = json!({step: "ApiError: no answer"});
        pile[number + 1].data["fail"] = json!({step: "panic"});
        pile[number + 2].data["fail"] = json!({step: "retry: come back later"});
    }
    pile[20].data = json!("no document");
    pile[21].data = json!(null);
    pile
}

#[test]
fn s004_06_each_step_is_given_what_the_one_before_returned() {
    on_every_runner(|desk| {
        let result = desk.execution().execute(documents(["a.pdf"]), None);
        assert_eq!(desk.steps(), ["a.pdf validation processing extraction"]);
        let shown = serde_json::to_value(&result.output).unwrap();
        assert_eq!(shown, json!({"a": {"trail": ["validated", "processed"]}}));
    });
}

#[test]
fn s004_08_a_failure_stops_nobody_else() {
    on_every_runner(|desk| {
        let result = desk.execution().execute(mixed_pile(), None);
        assert_eq!((result.metrics.failed, result.metrics.succeeded), (11, 29));
        let shown = serde_json::to_value(&result.output).unwrap();
        for (place, step) in [(4, "validation"), (8, "processing"), (12, "extraction")] {
            assert_eq!((&shown[place]["exception"], &shown[place]["step"]), (&json!("Panic"), &json!(step)));
            let message = format!("the processor panicked: {place}.pdf has gone wrong at {step}");
            assert_eq!(shown[place]["message"], message);
        }
    });
}

#[test]
fn s004_11_results_come_in_the_order_of_the_inputs() {
    on_every_runner(|desk| {
        let inputs: Vec<ProcessorInput> =
            (0..200).map(|number| input(&format!("doc_{number}"), json!({"doc": format!("{number}.pdf")}))).collect();
        let result = desk.execution().execute(inputs, None);
        for (place, report) in result.inputs.iter().enumerate() {
            assert_eq!(report.input_id, format!("doc_{place}"));
            let factors = report.passed.factors().unwrap();
            assert!(factors.contains_key(&place.to_string()), "the result of another input is at {place}: {factors:?}");
        }
    });
}

/// Says who runs it, and how many run at once.
#[derive(Default)]
struct Crowd {
    threads: Mutex<Vec<ThreadId>>,
    now: AtomicUsize,
    most: AtomicUsize,
    together: Option<Barrier>,
}

impl Processor for Crowd {
    fn name(&self) -> &'static str {
        "crowd"
    }

    fn process(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        self.threads.lock().unwrap().push(std::thread::current().id());
        self.most.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        if let Some(barrier) = &self.together {
            // Nobody passes until so many are here: they do run at the same time.
            barrier.wait();
        }
        self.now.fetch_sub(1, Ordering::SeqCst);
        Ok(input)
    }
}

fn units(count: usize) -> Vec<Unit> {
    (0..count).map(|number| Unit::new(json!(number))).collect()
}

#[test]
fn s004_12_sequential_runs_one_by_one_in_the_calling_thread() {
    let crowd = Arc::new(Crowd::default());
    let (results, report) = run_all(&Sequential, &Task::new(crowd.clone()), units(50));
    assert_eq!((results.len(), report.workers), (50, 1));
    assert_eq!(crowd.most.load(Ordering::SeqCst), 1);
    assert!(crowd.threads.lock().unwrap().iter().all(|thread| *thread == std::thread::current().id()));
}

#[test]
fn s004_13_threads_run_at_once_and_no_more_than_allowed() {
    let crowd = Arc::new(Crowd { together: Some(Barrier::new(4)), ..Crowd::default() });
    let (results, report) = run_all(&Threads::new(4), &Task::new(crowd.clone()), units(40));
    assert!(results.iter().all(Option::is_some));
    assert_eq!((crowd.most.load(Ordering::SeqCst), report.workers), (4, 4));
    let mut threads = crowd.threads.lock().unwrap().clone();
    threads.sort_by_key(|thread| format!("{thread:?}"));
    threads.dedup();
    assert_eq!(threads.len(), 4);
    assert_eq!(run_all(&Threads::new(0), &Task::new(crowd), Vec::new()).1.workers, 0);
}

#[test]
fn s004_14_processes_run_at_once_in_processes_of_their_own() {
    let desk = Desk::new(Arc::new(in_processes(2)));
    let inputs = ["a.pdf", "b.pdf"].map(|doc| input(doc, json!({"doc": doc, "meet": 2})));
    let result = desk.execution_of(WHOIS).execute(inputs.to_vec(), None);
    assert!(result.success, "{result:?}");
    let shown = serde_json::to_value(&result.output).unwrap();
    let pids: Vec<u64> = ["a.pdf", "b.pdf"].map(|doc| shown[doc].as_u64().unwrap()).to_vec();
    assert_ne!(pids[0], pids[1], "both have run in the same process");
    assert!(!pids.contains(&u64::from(std::process::id())), "one has run in the test's own process");
    assert_eq!(result.metrics.workers, 2);
}

#[test]
fn s004_15_every_runner_gives_the_same_results() {
    let shown: Vec<Value> = runners()
        .into_iter()
        .map(|runner| serde_json::to_value(Desk::new(runner).execution().execute(mixed_pile(), None).output).unwrap())
        .collect();
    assert_eq!(shown.len(), 3);
    for other in &shown[1..] {
        assert_eq!(&shown[0], other);
    }
}

/// Waits to be told to stop.
struct Slow;

impl Processor for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        while input == json!("slow") && !context.is_cancelled() {
            std::thread::yield_now();
        }
        if context.is_cancelled() { Err(StepError::retry("asked to stop").named("Timeout")) } else { Ok(json!({})) }
    }
}

#[test]
fn a_step_that_takes_too_long_fails_alone() {
    let limits = Limits { time: Some(Duration::from_millis(300)), memory: None };
    for runner in [Arc::new(Sequential) as Arc<dyn bindery_engine::runner::Runner>, Arc::new(Threads::new(2))] {
        let task = Task { limits, ..Task::new(Arc::new(Slow)) };
        let units = ["fast", "slow", "fast", "slow", "fast"].map(|word| Unit::new(json!(word))).to_vec();
        let (results, _) = run_all(runner.as_ref(), &task, units);
        let failed: Vec<usize> = (0..5).filter(|place| results[*place].as_ref().unwrap().result.is_err()).collect();
        assert_eq!(failed, [1, 3]);
        let stopped = results[1].as_ref().unwrap().result.as_ref().unwrap_err();
        assert_eq!(stopped.error.kind, "Timeout");
    }
}

#[test]
fn s004_30_what_a_run_took_is_told() {
    on_every_runner(|desk| {
        let metrics = desk.execution().execute(mixed_pile(), None).metrics;
        assert_eq!(metrics.runner, desk.runner.kind());
        assert!((metrics.success_rate - 29.0 / 40.0).abs() < 1e-9);
        assert!(metrics.retry_rate.abs() < 1e-9);
        assert!(metrics.throughput_per_second > 0.0 && metrics.duration_ms > 0.0);
        let runs = |step: Step| metrics.steps[&step].runs;
        assert_eq!((runs(Step::Validation), runs(Step::Processing), runs(Step::Extraction)), (40, 35, 32));
        for step in metrics.steps.values() {
            assert!(step.total_ms > 0.0 && step.longest_ms <= step.total_ms);
        }
        assert!(metrics.workers >= 1);
        let result = desk.execution().execute(documents(["a.pdf"]), None);
        assert!(result.inputs[0].times.total() > Duration::ZERO && result.duration > 0.0);
        assert_eq!((result.inputs[0].cost_micros(), result.metrics.cost_micros), (30, 30));
        assert_eq!(result.inputs[0].costs[1].operation, "processing");
    });
}

#[test]
fn s004_31_the_guide_is_the_one_of_the_seed() {
    let auto = |kind, inputs| RunnerChoice::Auto.resolve(kind, inputs, 2).0;
    assert_eq!(auto(Kind::Cpu, 3), RunnerKind::Sequential, "small datasets");
    assert_eq!(auto(Kind::Io, 1), RunnerKind::Sequential, "small datasets");
    assert_eq!(auto(Kind::Io, 3), RunnerKind::Threads, "external APIs, file processing");
    assert_eq!(auto(Kind::Io, 100_000), RunnerKind::Threads, "external APIs, file processing");
    assert_eq!(auto(Kind::Cpu, 10_000), RunnerKind::Processes, "data transform, large datasets");
    assert_eq!(auto(Kind::Risky, 1), RunnerKind::Processes, "what may go wrong badly");
    for (written, kind, workers) in [
        ("sequential", RunnerKind::Sequential, 1),
        ("threads:4", RunnerKind::Threads, 4),
        ("threads", RunnerKind::Threads, 2),
        ("processes:3", RunnerKind::Processes, 3),
        ("processes", RunnerKind::Processes, 2),
    ] {
        let choice: RunnerChoice = written.parse().unwrap();
        assert_eq!(choice.resolve(Kind::Cpu, 1_000, 2), (kind, workers), "{written}");
        assert_eq!(choice.to_string(), written);
    }
    for bad in ["", "fast", "threads:", "threads:0", "threads:x", "sequential:2", "processes:99999", "auto:2"] {
        let said = bad.parse::<RunnerChoice>().unwrap_err().to_string();
        assert!(said.contains("expected auto, sequential, threads, threads:N"), "{said}");
    }
}

/// Keeps the order in which results come.
#[derive(Default)]
struct Seen(Vec<String>);

impl Observer for Seen {
    fn done(&mut self, input: &ProcessorInput, report: &InputReport) {
        assert_eq!(input.input_id, report.input_id);
        self.0.push(report.input_id.clone());
    }
}

#[test]
fn every_result_is_handed_over_once_as_soon_as_it_is_there() {
    on_every_runner(|desk| {
        let mut seen = Seen::default();
        let finished = bindery_engine::execution::Finished::new();
        desk.execution().execute_with("run".to_owned(), mixed_pile(), None, &finished, &mut seen);
        assert_eq!(seen.0.len(), 40);
        seen.0.sort();
        seen.0.dedup();
        assert_eq!(seen.0.len(), 40);
    });
}

/// Stops the run from inside, at its fifth input.
struct Stopper(std::sync::OnceLock<bindery_engine::context::CancelFlag>);

impl Processor for Stopper {
    fn name(&self) -> &'static str {
        "stopper"
    }

    fn process(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        if input["number"] == json!(4) {
            self.0.get().unwrap().cancel();
        }
        Ok(json!({}))
    }

    fn extract(&self, _context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        Ok(Extracted::new(processed))
    }
}

#[test]
fn a_cancelled_run_leaves_the_rest_for_a_retry() {
    for runner in [Arc::new(Sequential) as Arc<dyn bindery_engine::runner::Runner>, Arc::new(Threads::new(2))] {
        let stopper = Arc::new(Stopper(std::sync::OnceLock::new()));
        let mut execution = Execution::new(stopper.clone(), "acc_123", "uw_456").unwrap().with_runner(runner);
        stopper.0.set(execution.task_mut().cancel.clone()).unwrap();
        let inputs = (0..100).map(|number| input(&format!("doc_{number}"), json!({"number": number}))).collect();
        let result = execution.execute(inputs, None);
        assert!(!result.success && result.metrics.not_run > 0 && result.metrics.succeeded >= 4, "{:?}", result.metrics);
        assert_eq!(result.metrics.succeeded + result.metrics.not_run, 100);
        assert_eq!(result.payloads.unwrap().len(), result.metrics.not_run);
        let shown = serde_json::to_value(&result.output).unwrap();
        assert_eq!(shown[99]["exception"], "Cancelled");
    }
}

//! What somebody sees who looks for the reason.

use crate::{
    on_every_runner, retry_context,
    support::{Desk, documents, input, with_failure},
};
use bindery_core::outcome::Step;
use serde_json::json;
use std::{cell::RefCell, io::Write, sync::Once};

thread_local! {
    /// What the thread logs, while somebody wants to know.
    static LOG: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

struct ThreadLog;

impl Write for ThreadLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.with_borrow_mut(|log| log.iter_mut().for_each(|log| log.extend_from_slice(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// One subscriber for all threads: whether anybody listens is remembered for the whole process, and a test that runs
/// beside this one must not make it remember that nobody does.
static LISTENING: Once = Once::new();

fn logged(run: impl FnOnce()) -> String {
    LISTENING.call_once(|| tracing_subscriber::fmt().with_ansi(false).with_writer(|| ThreadLog).init());
    LOG.set(Some(Vec::new()));
    run();
    String::from_utf8(LOG.take().unwrap()).unwrap()
}

#[test]
fn s004_32_errors_are_structured_logged_and_the_same_each_time() {
    on_every_runner(|desk: &Desk| {
        let inputs = with_failure(documents(["a.pdf", "b.pdf"]), Step::Processing, "ApiError: no answer");
        let mut shown = Vec::new();
        let log = logged(|| {
            for _ in 0..2 {
                let result = desk.execution().execute(inputs.clone(), None);
                shown.push((result.run_id, serde_json::to_value(&result.output).unwrap()));
            }
        });
        assert_eq!(shown[0].1, shown[1].1, "the steps are safe to run twice");
        for (run_id, _) in &shown {
            let line = log.lines().find(|line| line.contains("an input failed") && line.contains(run_id)).unwrap();
            for field in [
                "processor=\"tracer\"",
                "input.id=\"Input 1\"",
                "step=processing",
                "exception=\"ApiError\"",
                "error=\"no answer\"",
                "class=reject",
                "attempt=1",
                "duration_ms=",
            ] {
                assert!(line.contains(field), "{field} is not in {line}");
            }
        }
        assert_eq!(log.matches("an input failed").count(), 2, "each failure is logged once: {log}");
    });
}

#[test]
fn s004_35_trouble_can_be_told_apart() {
    on_every_runner(|desk: &Desk| {
        // Partial failures: the payload and the log name the input, the step and the reason.
        let inputs = with_failure(documents(["a.pdf", "b.pdf"]), Step::Validation, "ValidationError: no date");
        let result = desk.execution().execute(inputs, None);
        let payload = result.payloads.clone().unwrap()[0].payload.clone().unwrap();
        assert_eq!((&payload["exception"], &payload["message"]), (&json!("ValidationError"), &json!("no date")));
        // A slow run: the time of each step, the longest one, and the throughput of the runner.
        let steps = &result.metrics.steps;
        assert!(steps.values().all(|step| step.longest_ms > 0.0) && result.metrics.throughput_per_second > 0.0);
        // A context that does not fit: a payload without a previous run is not used, and one that is set aside says why.
        let stale = input("doc", json!({"doc": "c.pdf"})).with_payload(json!({"step": "extraction"}));
        let retried = desk.execution().execute(vec![stale], Some(retry_context(&result)));
        assert_eq!(
            retried.warnings,
            ["input doc starts at validation: the payload has no data for the step extraction"]
        );
        // Memory: what the largest child took is in the figures.
        if desk.runner.kind() == bindery_engine::runner::RunnerKind::Processes {
            assert!(result.metrics.peak_memory.is_some_and(|bytes| bytes > 1_000_000), "{:?}", result.metrics);
        }
    });
}

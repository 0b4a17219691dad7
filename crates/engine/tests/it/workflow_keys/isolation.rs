//! Where a stage runs, and what it may take there.

use super::{Seen, workflow};
use crate::support::{Func, Rig};
use bindery_core::{StepError, job::JobState, submission::SubmissionStatus};
use bindery_engine::{
    Extracted, Kind, Processor, Registry,
    context::StepContext,
    runner::{ChildCommand, Processes, processes},
};
use serde_json::{Value, json};

/// Set in the environment of a child.
const CHILD: &str = "BINDERY_TEST_CHILD";

/// What this binary does when it is run again as a child.
pub(crate) fn serve_if_child() {
    if std::env::var_os(CHILD).is_some() {
        processes::serve(&registry(), &processes::local_blobs).unwrap();
    }
}

/// Says where it runs, and is declared risky.
struct Risky;

impl Processor for Risky {
    fn name(&self) -> &'static str {
        "risky"
    }

    fn kind(&self) -> Kind {
        Kind::Risky
    }

    fn process(&self, _context: &StepContext, _input: Value) -> Result<Value, StepError> {
        Ok(json!(std::process::id()))
    }
}

fn registry() -> Registry {
    let mut registry = Registry::with_builtin();
    registry.register(Risky);
    registry.register(Func::new("whois", |_, _| Ok(Extracted::new(json!(std::process::id())))));
    registry.register(Func::new("hangs", |context, _| {
        if context.attempt() == 1 {
            loop {
                std::thread::park();
            }
        }
        Ok(Extracted::new(json!(context.attempt())))
    }));
    registry.register(Func::new("ends", |context, _| {
        context.charge("example", "page", 7);
        if context.attempt() == 1 { std::process::abort() } else { Ok(Extracted::new(json!(context.attempt()))) }
    }));
    registry.register(Func::new("swells", |_, _| {
        let held = vec![1_u8; 300 << 20];
        Ok(Extracted::new(json!(held.iter().map(|byte| usize::from(*byte)).sum::<usize>())))
    }));
    registry
}

async fn run(stage: &str) -> Seen {
    let args = ["child_main", "--exact", "--nocapture", "--test-threads=1"];
    let command = ChildCommand { env: vec![(CHILD.into(), "1".into())], ..ChildCommand::own(args).unwrap() };
    let children = Processes::new(command, 2);
    let seen = Seen::received(Rig::with_isolation(registry(), children), &workflow(stage), 1).await;
    seen.rig.drain().await;
    seen
}

pub(super) async fn runner_says_where_it_runs() {
    let own = json!(std::process::id());
    for (processor, runner, elsewhere) in [
        ("whois", "", false),
        ("whois", ", runner: auto", false),
        ("whois", ", runner: threads", false),
        ("whois", ", runner: processes", true),
        ("risky", "", true),
        ("risky", ", runner: threads", false),
    ] {
        let seen = run(&format!("{{name: a, component: {processor}{runner}}}")).await;
        assert_eq!(seen.output("a").await != own, elsewhere, "{processor}{runner}");
    }
    // What ends its process, and what never ends, is tried again like any other attempt that failed.
    for processor in ["ends", "hangs"] {
        let retry = "timeout_seconds: 1, retry: {initial_seconds: 0}, runner: processes";
        let seen = run(&format!("{{name: a, component: {processor}, {retry}}}")).await;
        assert_eq!((seen.status().await, seen.output("a").await), (SubmissionStatus::Completed, json!(2)));
        assert_eq!(seen.outcomes("a").await[0].cost_micros, if processor == "ends" { 7 } else { 0 });
    }
    // A program that starts no processes leaves the work to one that does.
    let seen = Seen::run(registry(), &workflow("{name: a, component: whois, runner: processes}"), 1).await;
    let parked = seen.jobs(JobState::Parked).await;
    assert!(parked[0].error.as_ref().unwrap().message.contains("a worker with processes"), "{parked:?}");
}

pub(super) async fn memory_mb_ends_what_swells() {
    let stage = "{name: a, component: swells, max_attempts: 1, runner: processes";
    assert_eq!(run(&format!("{stage}}}")).await.output("a").await, json!(300 << 20));
    let seen = run(&format!("{stage}, memory_mb: 100}}")).await;
    let dead = seen.jobs(JobState::Dead).await;
    let error = dead[0].error.as_ref().unwrap();
    assert_eq!(error.kind, "MemoryLimit", "{error:?}");
}

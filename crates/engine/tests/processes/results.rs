//! The same results as everywhere.

use crate::child::{deeds, error, output, processes, units};
use crate::run_all::run_all;
use bindery_core::{ContentHash, outcome::Step};
use bindery_engine::runner::{Ran, Runner as _, Sequential, Task, Unit, processes::Options};
use bindery_store::blobs::{Blobs as _, BlobsPlace, LocalBlobs};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Everything but times and memory.
fn shown(results: &[Option<Ran>]) -> Vec<String> {
    let children = |ran: &Ran| {
        let extracted = ran.result.as_ref().ok()?;
        extracted.children.as_ref().map(|all| (0..all.count).map(|index| all.child(index)).collect::<Vec<_>>())
    };
    let show = |ran: &Ran| format!("{:?} {:?} {:?}", ran.result, children(ran), ran.costs);
    results.iter().map(|ran| ran.as_ref().map_or_else(|| "none".to_owned(), show)).collect()
}

/// Good ones and bad ones, and more good ones than a child gets at a time.
fn mixed_pile() -> Vec<Unit> {
    let bad = [
        json!(null),
        json!({"do": "panic first"}),
        json!({"do": "fail"}),
        json!({"do": "panic", "why": "ä\n\u{0}"}),
        json!({"do": "fail last"}),
        json!({"do": "panic last"}),
        json!({"do": "everything"}),
    ];
    let good = |number: usize| json!({"do": "nothing", "number": number, "float": 0.1 * number as f64});
    let mixed = |number: usize| if number % 5 == 3 { bad[number / 5 % bad.len()].clone() } else { good(number) };
    units((0..400).map(mixed))
}

#[test]
fn a_mixed_pile_comes_out_as_it_does_one_by_one() {
    let (expected, _) = run_all(&Sequential, &deeds(), mixed_pile());
    let (results, report) = run_all(&processes(2), &deeds(), mixed_pile());
    assert_eq!(shown(&results), shown(&expected));
    assert!((1..=2).contains(&report.workers));
    assert_eq!(report.replaced, 0);
    assert!(report.peak_memory > Some(1 << 20));
    assert!(results.iter().flatten().all(|ran| ran.peak_memory.is_some()));
}

#[test]
fn each_step_can_be_where_it_begins() {
    let runner = processes(1);
    let begin = |from| {
        let mut task = deeds();
        task.settings = Arc::new(Map::from_iter([("colour".to_owned(), json!("blue"))]));
        let unit = Unit { from, value: json!({"do": "attempt"}), attempt: 7, work: None };
        let (here, there) = (task.run(unit.clone()), runner.run_one(&task, unit));
        let steps = |ran: &Ran| Step::ALL.map(|step| ran.times.duration_of(step).is_some());
        assert_eq!(steps(&there), steps(&here));
        assert_eq!(shown(&[Some(there)]), shown(&[Some(here)]));
    };
    Step::ALL.into_iter().for_each(begin);
}

#[test]
fn a_task_that_changes_is_noticed() {
    let runner = processes(1);
    for colour in ["red", "green", "green", "red"] {
        let mut task = deeds();
        task.settings = Arc::new(Map::from_iter([("colour".to_owned(), json!(colour))]));
        let ran = runner.run_one(&task, Unit::new(json!({"do": "attempt"})));
        assert_eq!(output(ran)["settings"]["colour"], colour);
    }
}

#[test]
fn a_processor_that_the_child_does_not_know_is_named() {
    struct Stranger;
    impl bindery_engine::Processor for Stranger {
        fn name(&self) -> &'static str {
            "stranger"
        }
        fn process(
            &self,
            _: &bindery_engine::context::StepContext,
            input: Value,
        ) -> Result<Value, bindery_core::StepError> {
            Ok(input)
        }
    }
    let error = error(processes(1).run_one(&Task::new(Arc::new(Stranger)), Unit::new(json!(1))));
    assert_eq!(error.message, "the child process does not know the processor stranger in version 1");
}

#[test]
fn printing_and_reading_do_no_harm() {
    let pile = ["print", "read", "nothing", "print", "flood", "nothing"].map(|deed| json!({"do": deed}));
    let (results, report) = run_all(&processes(1), &deeds(), units(pile.clone()));
    let outputs: Vec<_> = results.into_iter().map(|ran| output(ran.unwrap())).collect();
    assert_eq!(outputs, pile);
    assert_eq!(report.replaced, 0);
}

#[test]
fn large_values_go_in_and_come_out() {
    let large = "ä".repeat(5 << 19);
    let pile = (0..6).map(|number| json!({"do": "nothing", "number": number, "text": large}));
    let (results, _) = run_all(&processes(2), &deeds(), units(pile.clone()));
    for (ran, expected) in results.into_iter().zip(pile) {
        assert!(output(ran.unwrap()) == expected);
    }
}

#[test]
fn children_that_cannot_be_made_are_an_error_of_their_input() {
    let runner = processes(1);
    let bad = error(runner.run_one(&deeds(), Unit::new(json!({"do": "panic among children"}))));
    assert_eq!(bad.kind, "Panic");
    let pids = runner.pids();
    assert_eq!(output(runner.run_one(&deeds(), Unit::new(json!({"do": "pid"})))), json!(pids[0]));
}

#[test]
fn blobs_are_read_and_written() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let blobs = LocalBlobs::open(dir.path()).unwrap();
    let stored = runtime.block_on(blobs.put(b"once".to_vec())).unwrap();
    let unit = || Unit::new(json!({"do": "copy blob", "hash": stored.hash}));
    let runner = processes(1);
    assert_eq!(error(runner.run_one(&deeds(), unit())).kind, "NoStore");
    let runner = runner.with_options(Options { blobs: Some(BlobsPlace::folder(dir.path())), ..Options::default() });
    let copy: ContentHash = serde_json::from_value(output(runner.run_one(&deeds(), unit()))["hash"].take()).unwrap();
    assert_eq!(runtime.block_on(blobs.get(copy)).unwrap(), b"once again");
}

#[test]
fn a_caller_that_panics_gets_its_panic_back() {
    let runner = processes(2);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        runner.run(&deeds(), mixed_pile(), &mut |_, _| panic!("enough"));
    }));
    assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "enough");
    assert!(output(runner.run_one(&deeds(), Unit::new(json!({"do": "pid"})))).is_u64());
}

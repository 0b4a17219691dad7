//! Children that die, freeze or never end.

use crate::child::{deeds, error, number_in, output, processes, signal, tried, units};
use crate::run_all::run_all;
use bindery_core::error::ErrorClass;
use bindery_engine::runner::{Processes, Ran, Runner as _, RunnerReport, Unit, processes::Options};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::Duration;

/// Children that may be silent for a second, no longer.
fn impatient(workers: usize) -> Processes {
    processes(workers).with_options(Options { silent_for: Duration::from_secs(1), ..Options::default() })
}

/// One bad input among many good ones. The good ones must all come out; returns what became of the bad one.
fn among_others(runner: &Processes, task: &bindery_engine::runner::Task, bad: Value) -> (Ran, RunnerReport) {
    const PLACE: usize = 25;
    let mut pile: Vec<Value> = (0..60).map(|number| json!({"do": "nothing", "number": number})).collect();
    pile[PLACE] = bad;
    let (mut results, report) = run_all(runner, task, units(pile.clone()));
    let bad = results[PLACE].take().unwrap();
    for (place, ran) in results.into_iter().enumerate().filter(|(place, _)| *place != PLACE) {
        assert_eq!(output(ran.unwrap()), pile[place]);
    }
    (bad, report)
}

#[test]
fn a_step_that_exits_fails_alone() {
    let (bad, report) = among_others(&processes(2), &deeds(), json!({"do": "exit"}));
    let error = error(bad);
    assert_eq!((error.kind.as_str(), error.class()), ("WorkerDied", ErrorClass::Retry));
    assert_eq!(
        error.message,
        "the child process that worked on it ended with exit code 3, 2 times in a row; the last it said: leaving now"
    );
    assert_eq!(report.replaced, 2);
}

#[test]
fn a_step_that_aborts_fails_alone() {
    let (bad, report) = among_others(&tried(2, 3), &deeds(), json!({"do": "abort"}));
    let error = error(bad);
    assert_eq!(error.kind, "WorkerDied");
    let expected = "the child process that worked on it was ended by signal 6 (SIGABRT), 3 times in a row";
    assert!(error.message.starts_with(expected), "{error}");
    assert_eq!(report.replaced, 3);
}

#[test]
fn a_step_that_ended_its_child_once_is_done_in_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let input = json!({"do": "exit once", "file": dir.path().join("mark")});
    let (bad, report) = among_others(&processes(2), &deeds(), input.clone());
    assert_eq!(output(bad), input);
    assert_eq!(report.replaced, 1);
}

/// Something happens to the first child that works on the input; the next one does it.
fn struck_once(runner: &Processes, task: &bindery_engine::runner::Task, strike: Signal) {
    let dir = tempfile::tempdir().unwrap();
    let input = json!({"do": "hold once", "mark": dir.path().join("mark"), "file": dir.path().join("pid")});
    let (bad, report) = std::thread::scope(|scope| {
        let running = scope.spawn(|| among_others(runner, task, input.clone()));
        signal(number_in(&dir.path().join("pid")), strike);
        running.join().unwrap()
    });
    assert_eq!(output(bad), input);
    assert_eq!(report.replaced, 1);
}

#[test]
fn a_child_that_somebody_kills_is_replaced() {
    struck_once(&processes(2), &deeds(), Signal::KILL);
}

#[test]
fn a_child_that_is_frozen_is_noticed_by_its_silence() {
    struck_once(&impatient(2), &deeds(), Signal::STOP);
}

#[test]
fn a_child_that_is_frozen_is_noticed_by_its_time_limit() {
    let mut task = deeds();
    task.limits.time = Some(Duration::from_secs(2));
    struck_once(&processes(2), &task, Signal::STOP);
}

#[test]
fn a_step_that_never_ends_is_too_slow() {
    let dir = tempfile::tempdir().unwrap();
    let mut task = deeds();
    task.limits.time = Some(Duration::from_millis(700));
    let input = json!({"do": "hold", "file": dir.path().join("pid")});
    let (bad, report) = among_others(&processes(2), &task, input);
    let error = error(bad);
    assert_eq!((error.kind.as_str(), error.message.as_str()), ("Timeout", "took longer than 0.7 s"));
    assert_eq!(report.replaced, 2);
}

#[test]
fn a_step_that_is_merely_long_is_not_silent() {
    let runner = impatient(1);
    let (results, report) = run_all(&runner, &deeds(), units([json!({"do": "spin", "ms": 2_500})]));
    assert_eq!(output(results.into_iter().next().unwrap().unwrap())["ms"], 2_500);
    assert_eq!(report.replaced, 0);
}

#[test]
fn only_the_poison_fails_where_there_are_several() {
    let poison = |number: usize| number % 10 == 4;
    let pile = (0..50).map(|number| json!({"do": if poison(number) { "exit" } else { "nothing" }}));
    let (results, report) = run_all(&processes(2), &deeds(), units(pile));
    for (number, ran) in results.into_iter().enumerate() {
        assert_eq!(ran.unwrap().result.is_err(), poison(number), "input {number}");
    }
    assert_eq!(report.replaced, 10);
}

#[test]
fn a_cancelled_step_may_return_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let (runner, task, file) = (processes(1), deeds(), dir.path().join("pid"));
    let mut pile = vec![json!({"do": "until cancelled", "file": file})];
    pile.extend((0..20).map(|_| json!({"do": "nothing"})));
    let (results, report) = std::thread::scope(|scope| {
        let running = scope.spawn(|| run_all(&runner, &task, units(pile)));
        number_in(&file);
        task.cancel.cancel();
        running.join().unwrap()
    });
    let mut results = results.into_iter();
    assert_eq!(output(results.next().unwrap().unwrap()), json!({"stopped": true}));
    assert!(results.all(|ran| ran.is_none()));
    assert_eq!(report.replaced, 0);
    // The child that was told to stop works on for others.
    assert_eq!(output(runner.run_one(&deeds(), Unit::new(json!({"do": "pid"})))), json!(runner.pids()[0]));
}

#[test]
fn a_cancelled_step_that_does_not_look_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let (runner, task, file) = (
        processes(1).with_options(Options { cancel_grace: Duration::ZERO, ..Options::default() }),
        deeds(),
        dir.path().join("pid"),
    );
    let pile = units([json!({"do": "hold", "file": file}), json!({"do": "nothing"})]);
    let (results, _) = std::thread::scope(|scope| {
        let running = scope.spawn(|| run_all(&runner, &task, pile));
        number_in(&file);
        task.cancel.cancel();
        running.join().unwrap()
    });
    let mut results = results.into_iter();
    assert_eq!(error(results.next().unwrap().unwrap()).kind, "Cancelled");
    assert!(results.next().unwrap().is_none());
    let late = runner.run_one(&task, Unit::new(json!({"do": "nothing"})));
    assert_eq!(error(late).kind, "Cancelled");
}

#[test]
fn a_program_that_is_missing_is_named_by_every_input() {
    let mut command = crate::child::command();
    command.program = "/nowhere/bindery".into();
    let runner = Processes::new(command, 2);
    let mut told = 0;
    let report = runner.run(&deeds(), units((0..5).map(|_| json!({"do": "nothing"}))), &mut |_, ran| {
        let error = error(ran);
        assert_eq!((error.kind.as_str(), error.class()), ("WorkerNotStarted", ErrorClass::Retry));
        assert!(error.message.starts_with("no child process could be started: /nowhere/bindery: "), "{error}");
        told += 1;
    });
    assert_eq!((told, report.workers), (5, 0));
}

#[test]
fn a_program_that_dies_at_once_is_not_started_for_ever() {
    let mut command = crate::child::command();
    command.program = "/bin/sh".into();
    command.args = ["-c", "echo no such mode >&2; exit 9"].map(Into::into).to_vec();
    let (results, _) = run_all(&Processes::new(command, 2), &deeds(), units((0..5).map(|_| json!({"do": "nothing"}))));
    for ran in results {
        assert_eq!(
            error(ran.unwrap()).message,
            "no child process could be started: /bin/sh ended with exit code 9 before it was ready; the last it said: \
             no such mode"
        );
    }
}

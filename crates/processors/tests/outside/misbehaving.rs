//! Programs that are started for each input, and what they can do wrong. Every one of these calls must return.

use crate::support::{OutputOf as _, call, context, eventually, exists, is_alive, python, read_pid, run, shell};
use bindery_core::error::{Disposition, ErrorClass};
use bindery_engine::{
    context::{CancelFlag, Cost, StepContext},
    work_id::WorkId,
};
use bindery_processors::outside::{CommandConfig, Outside};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

#[test]
fn a_program_finds_in_its_environment_which_work_it_is_started_for() {
    let script = r#"cat > /dev/null; printf '{"output": ["%s", "%s", "%s"]}' "$BINDERY_JOB" "$BINDERY_ATTEMPT" "$BINDERY_IDEMPOTENCY_KEY""#;
    let (_folder, config) = shell(script);
    let program = Outside::command("tested", 1, config);
    let ask = |attempt| {
        let work = WorkId { job: "job_7".to_owned(), about: "sub_1//read".to_owned() };
        let context = StepContext::standalone(Arc::default(), attempt, CancelFlag::default()).with_work(Some(work));
        (program.output_of(&context, json!("in")).unwrap(), context.idempotency_key("tested", &json!("in")))
    };
    let ((first, key), (second, same)) = (ask(1), ask(2));
    assert_eq!((first, second), (json!(["job_7", "1", key]), json!(["job_7", "2", same])));
    assert_eq!(key, same);
}

#[test]
fn a_program_is_given_the_whole_request_and_answers() {
    let Some((_folder, config)) = python(
        "import json, sys\nrequest = json.load(sys.stdin)\nprint(json.dumps({'output': request, 'cost': \
         {'service': 'us', 'operation': 'call', 'micros': 7}}))\n",
    ) else {
        return;
    };
    let settings = json!({"words": 3}).as_object().unwrap().clone();
    let context = StepContext::standalone(Arc::new(settings), 2, CancelFlag::default());
    let output = Outside::command("echo", 4, config).output_of(&context, json!({"text": "ä\n\"b\""})).unwrap();
    let key = context.idempotency_key("echo", &json!({"text": "ä\n\"b\""}));
    let expected = json!({
        "processor": "echo", "version": 4, "attempt": 2, "job": null, "idempotency_key": key,
        "settings": {"words": 3}, "input": {"text": "ä\n\"b\""}
    });
    assert_eq!(output, expected);
    assert_eq!(context.take_costs(), [Cost { service: "us".into(), operation: "call".into(), micros: 7 }]);
}

#[test]
fn garbage_nothing_and_half_an_answer_are_told() {
    let cases = [
        (
            "echo hello there",
            "the program /bin/sh answered with no JSON (expected value at line 1 column 1): hello there",
        ),
        ("exit 0", "the program /bin/sh answered nothing"),
        ("printf '\\377\\376'", "answered with no JSON"),
        ("printf '{\"output\": [1, '", "EOF while parsing"),
        ("echo 5", "answered with JSON that is no object: 5"),
    ];
    for (script, expected) in cases {
        let error = run(script).unwrap_err();
        assert_eq!((error.kind.as_str(), error.class()), ("BadAnswer", ErrorClass::Bug), "{script}");
        assert!(error.message.contains(expected), "{script}: {error}");
    }
}

#[test]
fn half_an_answer_and_then_silence_ends_at_the_time_limit() {
    let (folder, mut config) = shell("echo $$ > pid; printf '{\"output\": '; exec sleep 1000");
    config.timeout = Duration::from_millis(500);
    let error = call(&config, Value::Null).unwrap_err();
    assert_eq!(error.message, "the program /bin/sh took longer than 0.5 s and was ended");
    assert_eq!((error.kind.as_str(), error.class()), ("Timeout", ErrorClass::Retry));
    assert!(!exists(&read_pid(&folder, "pid")));
}

#[test]
fn the_time_that_is_left_for_the_work_counts_too() {
    let (_folder, config) = shell("exec sleep 1000");
    let deadline = bindery_core::AwakeInstant::now() + Duration::from_millis(300);
    let error = Outside::command("slow", 1, config)
        .output_of(&context().with_deadline(Some(deadline)), Value::Null)
        .unwrap_err();
    assert_eq!(error.kind, "Timeout");
    assert!(error.message.contains("that were left for this work") || error.message.contains("was over"), "{error}");
}

#[test]
fn a_cancelled_work_ends_its_program() {
    let (folder, config) = shell("echo $$ > pid; exec sleep 1000");
    let cancel = CancelFlag::default();
    let context = StepContext::standalone(Arc::default(), 1, cancel.clone());
    let outside = Outside::command("slow", 1, config);
    let error = std::thread::scope(|scope| {
        let called = scope.spawn(|| outside.output_of(&context, Value::Null).unwrap_err());
        let pid = read_pid(&folder, "pid");
        cancel.cancel();
        let error = called.join().unwrap();
        assert!(!exists(&pid));
        error
    });
    assert_eq!(error.kind, "Cancelled");
    assert_eq!(outside.breaker().unwrap().state().failures, 0);
}

#[test]
fn a_flood_of_messages_is_drained() {
    let flood = "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo the last words >&2";
    assert_eq!(run(&format!("{flood}; echo '{{\"output\": 1}}'")).unwrap(), json!(1));
    let error = run(&format!("{flood}; exit 7")).unwrap_err();
    assert_eq!(error.message, "the program /bin/sh ended with exit code 7: the last words");
    assert_eq!((error.kind.as_str(), error.class()), ("ExitCode", ErrorClass::Retry));
}

#[test]
fn a_flood_of_output_is_stopped() {
    let (_folder, mut config) = shell("exec yes");
    config.max_output_bytes = 1024 * 1024;
    let error = call(&config, Value::Null).unwrap_err();
    assert_eq!(error.message, "the program /bin/sh printed more than the 1 MB allowed and was ended");
    assert_eq!(error.kind, "TooMuchOutput");
}

#[test]
fn nobody_waits_for_somebody_who_waits() {
    let large = Value::from("x".repeat(4_000_000));
    // One that never reads, and one that first says more than a pipe holds.
    for script in
        ["echo '{\"output\": 1}'", "head -c 3000000 /dev/zero | tr '\\0' ' '; cat >/dev/null; echo '{\"output\": 1}'"]
    {
        let (_folder, config) = shell(script);
        assert_eq!(call(&config, large.clone()).unwrap(), json!(1), "{script}");
    }
    let (_folder, mut config) = shell("exec sleep 1000");
    config.timeout = Duration::from_millis(300);
    assert_eq!(call(&config, large).unwrap_err().kind, "Timeout");
}

#[test]
fn a_grandchild_that_holds_the_pipes_is_not_waited_for_and_ended() {
    let (folder, config) = shell("sleep 1000 & echo $! > pid; echo '{\"output\": 1}'");
    assert_eq!(call(&config, Value::Null).unwrap(), json!(1));
    let pid = read_pid(&folder, "pid");
    eventually("the end of the grandchild", || !is_alive(&pid));
}

#[test]
fn a_daemon_that_left_the_group_is_not_waited_for() {
    let Some((folder, config)) = python(
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    open('daemon', 'w').write(f'{os.getpid()}\\n')\n    \
         while not os.path.exists('done'): time.sleep(0.01)\n    os._exit(0)\n\
         while not os.path.exists('daemon'): time.sleep(0.01)\nprint('{\"output\": 1}', flush=True)\nos._exit(0)\n",
    ) else {
        return;
    };
    assert_eq!(call(&config, Value::Null).unwrap(), json!(1));
    let pid = read_pid(&folder, "daemon");
    assert!(is_alive(&pid));
    std::fs::write(folder.path().join("done"), "").unwrap();
    eventually("the end of the daemon", || !is_alive(&pid));
}

#[test]
fn exit_codes_and_signals_are_named() {
    assert_eq!(run("exit 3").unwrap_err().message, "the program /bin/sh ended with exit code 3");
    let killed = run("echo about to crash >&2; kill -SEGV $$").unwrap_err();
    assert_eq!(killed.message, "the program /bin/sh was killed by SIGSEGV (signal 11): about to crash");
    assert_eq!((killed.kind.as_str(), killed.class()), ("Killed", ErrorClass::Retry));
    // An output from a program that then failed is not trusted, an explained error is.
    assert_eq!(run("echo '{\"output\": 1}'; exit 1").unwrap_err().kind, "ExitCode");
    let explained =
        run("echo '{\"error\": {\"kind\": \"Empty\", \"message\": \"no text\", \"class\": \"reject\"}}'; exit 1");
    let explained = explained.unwrap_err();
    assert_eq!((explained.kind.as_str(), explained.message.as_str()), ("Empty", "no text"));
    assert_eq!(explained.disposition, Disposition::Reject);
}

#[test]
fn a_program_that_is_not_there_parks_the_work() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plain.txt"), "no program").unwrap();
    let cases = [
        ("no-such-program-here", "is in no folder of PATH ("),
        ("./missing.sh", "the program ./missing.sh is not in "),
        ("./plain.txt", "the program ./plain.txt may not be run; make it executable (chmod +x)"),
    ];
    for (program, expected) in cases {
        let error = call(&CommandConfig::new(program, Vec::new(), folder.path()), Value::Null).unwrap_err();
        assert!(error.message.contains(expected), "{error}");
        assert_eq!(error.disposition, Disposition::Park { until: format!("program {program}"), at: None });
    }
    let nowhere = CommandConfig::new("sh", Vec::new(), folder.path().join("gone"));
    assert!(call(&nowhere, Value::Null).unwrap_err().message.ends_with("does not exist"));
}

#[test]
fn programs_beside_the_file_are_found_there() {
    let (folder, mut config) = shell("echo \"{\\\"output\\\": \\\"$1 $(basename \"$PWD\")\\\"}\"");
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    config.arguments = vec!["../script.sh".into(), "two words".into()];
    config.folder = inner;
    assert_eq!(call(&config, Value::Null).unwrap(), "two words inner");
}

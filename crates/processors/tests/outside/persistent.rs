//! Programs that are started once and given one input after the other.

use crate::support::{LONG, OutputOf as _, context, eventually, exists, python, read_pid};
use bindery_core::error::ErrorClass;
use bindery_processors::outside::{
    Outside,
    config::{Framing, Mode},
};
use serde_json::{Value, json};
use std::{collections::HashSet, time::Duration};
use tempfile::TempDir;

/// Answers with its process id and the input, and misbehaves when the input says so.
const LINES: &str = r#"
import json, os, sys, time
open("pid", "w").write(f"{os.getpid()}\n")
for line in sys.stdin:
    request = json.loads(line)
    wanted = request["input"]
    answer = {"id": request["id"], "output": [os.getpid(), wanted]}
    if wanted == "die": os._exit(4)
    if wanted == "leave": os._exit(0)
    if wanted == "garbage": print("garbage", flush=True); continue
    if wanted == "wrong id": answer["id"] += 1
    if wanted == "twice": print(json.dumps(answer))
    if wanted == "flood":
        while True: print("x" * 100000, end="")
    if wanted == "shout": sys.stderr.write("x" * 1000000)
    if wanted == "hang": time.sleep(1000)
    if wanted == "close": os.close(1); time.sleep(1000)
    if wanted == "reject": answer = {"id": request["id"], "error": {"message": "no", "class": "reject"}}
    print(json.dumps(answer), flush=True)
    if wanted == "die later": os._exit(0)
    if wanted == "chatter":
        while not os.path.exists("speak"): time.sleep(0.01)
        print("unasked", flush=True)
        open("chattered", "w").close()
"#;

fn persistent(script: &str, timeout: Duration) -> Option<(TempDir, Outside)> {
    let (folder, mut config) = python(script)?;
    config.mode = Mode::Persistent;
    config.timeout = timeout;
    config.max_output_bytes = 1024 * 1024;
    config.common.concurrency = 3;
    config.common.breaker = None;
    Some((folder, Outside::command("lines", 1, config)))
}

fn ask(outside: &Outside, input: &str) -> Result<Value, bindery_core::StepError> {
    outside.output_of(&context(), Value::from(input))
}

fn pid_of(answer: &Value) -> u64 {
    answer[0].as_u64().unwrap()
}

#[test]
fn one_program_serves_many_inputs_and_ends_with_its_processor() {
    let Some((_folder, outside)) = persistent(LINES, LONG) else { return };
    let pids: HashSet<u64> = (0..20).map(|index| pid_of(&ask(&outside, &index.to_string()).unwrap())).collect();
    assert_eq!(pids.len(), 1);
    // A refused input and a loud program are no reason to start another.
    assert_eq!(ask(&outside, "reject").unwrap_err().class(), ErrorClass::Reject);
    assert_eq!(pid_of(&ask(&outside, "shout").unwrap()), *pids.iter().next().unwrap());
    drop(outside);
    assert!(!exists(&pids.into_iter().next().unwrap().to_string()));
}

#[test]
fn many_threads_share_as_many_programs_as_may_run_at_once() {
    let Some((_folder, outside)) = persistent(LINES, LONG) else { return };
    let answers: Vec<(usize, Value)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let outside = &outside;
                scope.spawn(move || {
                    let answer = |index: usize| (index, ask(outside, &index.to_string()).unwrap());
                    (0..25).map(|index| answer(thread * 100 + index)).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(answers.len(), 200);
    assert!(answers.iter().all(|(index, answer)| answer[1] == json!(index.to_string())));
    let pids: HashSet<u64> = answers.iter().map(|(_, answer)| pid_of(answer)).collect();
    assert!(pids.len() <= 3, "{pids:?}");
}

#[test]
fn a_program_that_breaks_the_protocol_is_replaced_and_only_its_input_fails() {
    let Some((folder, outside)) = persistent(LINES, Duration::from_secs(20)) else { return };
    let cases = [
        ("die", "ExitCode", "the program python3 ended with exit code 4"),
        ("leave", "ExitCode", "the program python3 ended instead of answering"),
        ("garbage", "BadAnswer", "answered with no JSON (expected value at line 1 column 1): garbage, and was ended"),
        ("wrong id", "BadAnswer", "to the request with the id"),
        ("twice", "BadAnswer", "said more than the one line of its answer"),
        ("flood", "TooMuchOutput", "printed more than the 1 MB allowed and was ended"),
        ("close", "BadAnswer", "closed its output without an answer and was ended"),
    ];
    for (input, kind, message) in cases {
        let before = pid_of(&ask(&outside, "fine").unwrap());
        let error = ask(&outside, input).unwrap_err();
        assert_eq!(error.kind, kind, "{input}: {error}");
        assert!(error.message.contains(message), "{input}: {error}");
        assert!(!exists(&before.to_string()), "{input}");
        assert_ne!(pid_of(&ask(&outside, "fine").unwrap()), before, "{input}");
    }
    // What happens between two inputs costs no input.
    let before = pid_of(&ask(&outside, "die later").unwrap());
    eventually("its end", || std::fs::read_to_string(format!("/proc/{before}/stat")).unwrap().contains(") Z "));
    assert_ne!(pid_of(&ask(&outside, "fine").unwrap()), before);
    let before = pid_of(&ask(&outside, "chatter").unwrap());
    std::fs::write(folder.path().join("speak"), "").unwrap();
    eventually("the chatter", || folder.path().join("chattered").exists());
    assert_ne!(pid_of(&ask(&outside, "fine").unwrap()), before);
}

#[test]
fn a_program_that_hangs_is_ended_at_the_time_limit() {
    let Some((folder, outside)) = persistent(LINES, Duration::from_secs(2)) else { return };
    let error = ask(&outside, "hang").unwrap_err();
    assert_eq!(error.message, "the program python3 took longer than 2 s and was ended");
    assert!(!exists(&read_pid(&folder, "pid")));
}

#[test]
fn messages_with_their_length_in_front_work_too() {
    let script = r#"
import json, struct, sys
pipe_in, pipe_out = sys.stdin.buffer, sys.stdout.buffer
while header := pipe_in.read(4):
    request = json.loads(pipe_in.read(struct.unpack(">I", header)[0]))
    answer = json.dumps({"id": request["id"], "output": request["input"]}, indent=2).encode()
    announced = 2 ** 31 if request["input"] == "boast" else len(answer)
    pipe_out.write(struct.pack(">I", announced) + answer)
    pipe_out.flush()
"#;
    let Some((_folder, mut config)) = python(script) else { return };
    (config.mode, config.framing) = (Mode::Persistent, Framing::Length);
    let outside = Outside::command("framed", 1, config);
    for input in ["a\nb".to_owned(), "x".repeat(500_000)] {
        assert_eq!(ask(&outside, &input).unwrap(), json!(input));
    }
    let error = ask(&outside, "boast").unwrap_err();
    assert!(error.message.contains("announced an answer of 2147483648 bytes, more than the"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_has_grown_is_replaced_after_its_answer() {
    let script = r#"
import json, os, sys
held = []
for line in sys.stdin:
    request = json.loads(line)
    held.append(bytearray(b"x" * request["input"]))
    print(json.dumps({"id": request["id"], "output": [os.getpid()]}), flush=True)
"#;
    let Some((_folder, mut config)) = python(script) else { return };
    config.mode = Mode::Persistent;
    config.memory_bytes = Some(100 * 1024 * 1024);
    let outside = Outside::command("growing", 1, config);
    let small = outside.output_of(&context(), json!(10)).unwrap();
    assert_eq!(outside.output_of(&context(), json!(10)).unwrap(), small);
    // Either it answers first and is not kept, or it is seen growing and ended.
    if let Err(error) = outside.output_of(&context(), json!(150 << 20)) {
        assert_eq!(error.kind, "MemoryLimit");
    }
    assert_ne!(outside.output_of(&context(), json!(10)).unwrap(), small);
}

//! Memory, numbers at the same time, and what a program sees of our environment.

use crate::support::{OutputOf as _, call, context, exists, python, read_pid, shell};
use bindery_core::error::{Disposition, ErrorClass};
use bindery_processors::outside::{Outside, Template};
use serde_json::{Value, json};

const MEGABYTE: u64 = 1024 * 1024;

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_swells_is_ended_and_both_numbers_are_named() {
    // Together, in two processes, they exceed what each alone would not.
    let script = "import os, time\nopen('pid', 'w').write(f'{os.getpid()}\\n')\nos.fork()\n\
                  held = bytearray(b'x' * (80 << 20))\ntime.sleep(1000)\n";
    let Some((folder, mut config)) = python(script) else { return };
    config.memory_bytes = Some(120 * MEGABYTE);
    let error = call(&config, Value::Null).unwrap_err();
    let used: f64 = error.message.split(' ').nth(4).unwrap().parse().unwrap();
    assert!(used > 120.0, "{error}");
    assert!(error.message.starts_with("the program python3 used "), "{error}");
    assert!(error.message.ends_with(" MB of memory, more than the 120 MB allowed, and was ended"), "{error}");
    assert_eq!((error.kind.as_str(), error.class()), ("MemoryLimit", ErrorClass::Retry));
    assert!(!exists(&read_pid(&folder, "pid")));
}

#[cfg(target_os = "linux")]
#[test]
fn what_grows_faster_than_we_look_is_refused_by_the_system() {
    let script = "try:\n    held = bytearray(20 << 30)\nexcept MemoryError:\n    print('{\"output\": \"refused\"}')\n";
    let Some((_folder, mut config)) = python(script) else { return };
    config.memory_bytes = Some(200 * MEGABYTE);
    assert_eq!(call(&config, Value::Null).unwrap(), "refused");
}

#[test]
fn only_so_many_run_at_the_same_time() {
    let (_folder, mut config) =
        shell("touch running.$$\nset -- running.*\nsleep 0.05\nrm running.$$\necho \"{\\\"output\\\": $#}\"");
    config.common.concurrency = 2;
    let outside = Outside::command("counted", 1, config);
    let seen: Vec<Value> = std::thread::scope(|scope| {
        let calls: Vec<_> =
            (0..8).map(|_| scope.spawn(|| outside.output_of(&context(), Value::Null).unwrap())).collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert!(seen.iter().all(|count| (1..=2).contains(&count.as_u64().unwrap())), "{seen:?}");
}

#[test]
fn a_program_sees_only_what_it_was_given() {
    // Set by cargo for every test, so it stands for any variable of ours.
    const OURS: &str = "CARGO_MANIFEST_DIR";
    assert!(std::env::var_os(OURS).is_some());
    let script =
        format!("echo \"{{\\\"output\\\": [\\\"${{{OURS}:-hidden}}\\\", \\\"$TONE\\\", \\\"${{PATH:+path}}\\\"]}}\"");
    let (_folder, mut config) = shell(&script);
    assert_eq!(call(&config, Value::Null).unwrap(), json!(["hidden", "", "path"]));

    let ours = std::env::var(OURS).unwrap();
    config.environment = vec![("TONE".into(), Template::parse(&format!("<${{{OURS}}}>")).unwrap())];
    assert_eq!(call(&config, Value::Null).unwrap(), json!(["hidden", format!("<{ours}>"), "path"]));

    config.inherit_environment = true;
    assert_eq!(call(&config, Value::Null).unwrap()[0], json!(ours));

    config.environment = vec![("TONE".into(), Template::parse("${NO_SUCH_VARIABLE_HERE}").unwrap())];
    let error = call(&config, Value::Null).unwrap_err();
    assert_eq!(
        error.message,
        "the environment variable NO_SUCH_VARIABLE_HERE, which the program /bin/sh needs, is not set"
    );
    let until = "environment variable NO_SUCH_VARIABLE_HERE".to_owned();
    assert_eq!(error.disposition, Disposition::Park { until, at: None });
}

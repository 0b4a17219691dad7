//! A processor that does what its input says.

use bindery_core::{ContentHash, Name, StepError, item::ItemKind};
use bindery_engine::{
    Child, Children, Extracted, Processor, context::StepContext, processor::NewArtifact, workflow::Target,
};
use serde_json::{Value, json};
use std::{
    io::Write as _,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

/// `{"do": what, …}`.
pub(crate) struct Deeds;

fn text<'a>(input: &'a Value, field: &str) -> &'a str {
    input[field].as_str().unwrap_or_else(|| panic!("{field} is missing in {input}"))
}

/// True once, and false for whoever comes later, in any process.
fn first_time(file: &str) -> bool {
    std::fs::File::options().write(true).create_new(true).open(file).is_ok()
}

fn write_number(file: &str, number: u32) {
    std::fs::write(file, format!("{number}\n")).unwrap();
}

/// Memory that is really used.
fn swell(bytes: usize) -> Vec<u8> {
    vec![1; bytes]
}

impl Processor for Deeds {
    fn name(&self) -> &'static str {
        "deeds"
    }

    fn validate(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        match input["do"].as_str() {
            None => Err(StepError::reject("nothing to do").named("Nothing")),
            Some("panic first") => panic!("in the first step"),
            Some(_) => Ok(input),
        }
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        context.charge("test", "deed", 3);
        match text(&input, "do") {
            "fail" => return Err(StepError::park("key", "no key")),
            "panic" => panic!("in the second step: {}", input["why"]),
            "print" => {
                println!("{}", "garbage ".repeat(1_000));
                std::io::stdout().write_all(&[255; 4_096]).unwrap();
                std::io::stdout().flush().unwrap();
            }
            "flood" => {
                let line = "x".repeat(99) + "\n";
                for _ in 0..100_000 {
                    std::io::stderr().write_all(line.as_bytes()).unwrap();
                }
            }
            "read" => {
                let mut line = String::new();
                assert_eq!(std::io::stdin().read_line(&mut line).unwrap(), 0);
            }
            "exit" => {
                eprintln!("leaving now");
                std::process::exit(3);
            }
            "abort" => std::process::abort(),
            "exit once" if first_time(text(&input, "file")) => std::process::exit(4),
            "hold" => {
                write_number(text(&input, "file"), std::process::id());
                loop {
                    std::thread::park();
                }
            }
            // Held in the first child that has it, and done in the next.
            "hold once" if first_time(text(&input, "mark")) => {
                write_number(text(&input, "file"), std::process::id());
                loop {
                    std::thread::park();
                }
            }
            "until cancelled" => {
                write_number(text(&input, "file"), std::process::id());
                while !context.is_cancelled() {
                    std::thread::sleep(Duration::from_millis(5));
                }
                return Ok(json!({"stopped": true}));
            }
            "want" => {
                let bytes = input["bytes"].as_u64().unwrap() as usize;
                return Ok(json!({"last": swell(bytes).last()}));
            }
            "swell" => {
                let mut held = Vec::new();
                loop {
                    held.push(swell(1 << 20));
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            "start another" => {
                let sleeping = Command::new("sleep").arg("1000").spawn().unwrap();
                write_number(text(&input, "file"), sleeping.id());
                if input["then"] == "exit" {
                    std::process::exit(5);
                }
            }
            "pid" => return Ok(json!(std::process::id())),
            "spin" => {
                let until = Instant::now() + Duration::from_millis(input["ms"].as_u64().unwrap());
                while Instant::now() < until {
                    std::hint::spin_loop();
                }
            }
            "attempt" => return Ok(json!({"attempt": context.attempt(), "settings": context.settings()})),
            "copy blob" => {
                let bytes = context.blob(text(&input, "hash").parse().unwrap())?;
                let copy = context.put_blob([&bytes[..], b" again"].concat())?;
                return Ok(json!({"hash": copy.hash}));
            }
            _ => {}
        }
        Ok(input)
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        match processed["do"].as_str() {
            Some("fail last") => Err(StepError::retry_after(Duration::from_millis(1_500), "come back later")),
            Some("panic last") => panic!("in the third step"),
            Some("panic among children") => {
                let children = Children::generate(ItemKind::Page, 3, |index| {
                    assert_ne!(index, 1, "no such child");
                    Child::default()
                });
                Ok(Extracted::new(processed).with_children(children))
            }
            Some("everything") => {
                context.charge("test", "extra", 4);
                let child = |index| Child { label: Some(format!("page {index}")), ..Child::default() };
                let mut extracted = Extracted::new(processed).with_confidence(0.1 + 0.2);
                extracted.children = Some(Children::generate(ItemKind::Page, 3, child));
                extracted.target = Some(Target::Key(Name::from("elsewhere")));
                extracted.artifacts.push(NewArtifact {
                    key: "a.txt".to_owned(),
                    hash: ContentHash::of(b"a"),
                    size: 1,
                    media_type: "text/plain".to_owned(),
                });
                extracted.label = Some("label".to_owned());
                extracted.skipped = Some("because".to_owned());
                extracted.cost_micros = 9;
                Ok(extracted)
            }
            _ => Ok(Extracted::new(processed)),
        }
    }
}

/// Computes something that can be checked. Where its settings name a folder, a file `swell-PID` in there makes the child
/// of that number grow until it is killed.
pub(crate) struct Sum;

impl Processor for Sum {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        let number = input["number"].as_u64().unwrap();
        if let Some(folder) = context.settings().get("orders").and_then(Value::as_str) {
            if number.is_multiple_of(4) {
                // Long enough for something to happen, and among short ones, so that some are sent ahead.
                std::thread::sleep(Duration::from_millis(6));
            }
            let order = Path::new(folder).join(format!("swell-{}", std::process::id()));
            if order.exists() {
                let mut held = Vec::new();
                loop {
                    held.push(swell(4 << 20));
                }
            }
        }
        match number % 50 {
            7 => return Err(StepError::reject(format!("{number} is not wanted"))),
            // A panic that does not print: the summary of the torture is to be found.
            13 => std::panic::resume_unwind(Box::new(format!("{number} is unlucky"))),
            _ => {}
        }
        let mut sum = number;
        for round in 0..2_000 + (number % 7) * 500 {
            sum = sum.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round);
        }
        Ok(json!({"number": number, "sum": sum}))
    }
}

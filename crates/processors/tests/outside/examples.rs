//! The examples that people copy, run for real.

use crate::support::has_python;
use bindery_engine::runner::{Task, Unit};
use bindery_processors::{Declared, Definition};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/processors").join(name)
}

fn processor(example: &str, file: &str, url: Option<&str>) -> Declared {
    let file = folder(example).join(file);
    let mut text = std::fs::read_to_string(&file).unwrap();
    if let Some(url) = url {
        text = text.replace("http://127.0.0.1:8700/language", url);
    }
    Declared::new(Definition::parse(&text, &file.display().to_string()).unwrap())
}

/// The output of each input, or its error.
fn run(processor: Declared, settings: &Value, inputs: &[Value]) -> Vec<Result<Value, String>> {
    let mut task = Task::new(Arc::new(processor));
    task.settings = Arc::new(settings.as_object().unwrap().clone());
    let results = inputs.iter().cloned().map(|input| task.run(Unit::new(input)));
    let output = |ran: bindery_engine::runner::Ran| match ran.result {
        Ok(extracted) => Ok(extracted.output),
        Err(stopped) => Err(stopped.error.message),
    };
    results.map(output).collect()
}

#[test]
fn sentiment_tells_the_tone() {
    if !has_python() {
        return;
    }
    let inputs = [
        json!({"text": "Thank you, the service was excellent."}),
        json!({"text": "The parcel is late, damaged, and nobody was helpful? Not good."}),
        json!({"text": "The meeting is on Monday."}),
        json!({"pages": 3}),
    ];
    let results = run(processor("sentiment", "sentiment.yaml", None), &json!({}), &inputs);
    let labels: Vec<&Value> = results[..3].iter().map(|result| &result.as_ref().unwrap()["label"]).collect();
    assert_eq!(labels, ["friendly", "unfriendly", "neutral"]);
    assert_eq!(results[3], Err("`input.text` is missing or no text".to_owned()));
}

#[test]
fn keywords_stay_alive_between_inputs() {
    if !has_python() {
        return;
    }
    let inputs = [
        json!({"text": "The council approved the budget. The budget grows."}),
        json!({"text": "The council discussed bridges."}),
        json!(null),
    ];
    let results = run(processor("keywords", "keywords.yaml", None), &json!({"most": 2}), &inputs);
    let budget = json!({"keywords": [{"word": "budget", "count": 2}, {"word": "approved", "count": 1}]});
    assert_eq!(results[0], Ok(budget));
    // It remembers the council from the text before, so other words are more typical.
    let bridges = json!({"keywords": [{"word": "bridges", "count": 1}, {"word": "discussed", "count": 1}]});
    assert_eq!(results[1], Ok(bridges));
    assert!(results[2].is_err());
}

/// A server that ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_endpoint_tells_languages() {
    if !has_python() {
        return;
    }
    let mut command = Command::new("python3");
    let child = command.args(["server.py", "0"]).current_dir(folder("http")).stdout(Stdio::piped()).spawn().unwrap();
    let mut served = Served(child);
    let mut url = String::new();
    BufReader::new(served.0.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let inputs = [
        json!({"text": "It is not the end of the world, and you are welcome to it."}),
        json!({"text": "Der Antrag ist nicht vollständig und wird mit der Post versandt."}),
        json!({}),
    ];
    let results = run(processor("http", "endpoint.yaml", Some(url.trim())), &json!({}), &inputs);
    assert_eq!(results[0].as_ref().unwrap()["language"], "en");
    assert_eq!(results[1].as_ref().unwrap()["language"], "de");
    assert_eq!(results[2], Err("`input.text` is missing".to_owned()));
}

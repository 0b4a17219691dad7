//! A processor that writes down every step it runs, and fails where its input says so. What it writes goes to a file, so
//! that it is the same on every runner, whichever thread or process a step runs in.

use bindery_core::{StepError, outcome::Step};
use bindery_engine::{
    Extracted, Kind, Processor, Registry,
    context::StepContext,
    execution::{Execution, InputReport, Passed, ProcessingResult, ProcessorInput},
    runner::Runner,
};
use serde_json::{Map, Value, json};
use std::{fs, io::Write as _, path::PathBuf, sync::Arc};
use tempfile::TempDir;

pub(crate) const ACCOUNT: &str = "acc_123";
pub(crate) const UNDERWRITING: &str = "uw_456";

/// Reads `{"doc": …, "fail": {step: message}, "value": …}`. A failure passes once the desk is repaired.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tracer {
    pub(crate) name: &'static str,
    pub(crate) version: u32,
}

impl Tracer {
    fn step(context: &StepContext, step: Step, data: &Value) -> Result<(), StepError> {
        let folder = PathBuf::from(context.settings()["folder"].as_str().unwrap());
        let doc = data["doc"].as_str().ok_or_else(|| StepError::reject("`doc` is missing").named("ValidationError"))?;
        let mut log = fs::OpenOptions::new().append(true).create(true).open(folder.join("steps.log")).unwrap();
        // One write of a short line is whole, whoever else writes.
        log.write_all(format!("{doc} {step}\n").as_bytes()).unwrap();
        context.charge("example", step.as_str(), 10);
        let failure = data["fail"].get(step.as_str()).filter(|_| !folder.join("repaired").exists());
        let Some(failure) = failure.and_then(Value::as_str) else { return Ok(()) };
        assert!(failure != "panic", "{doc} has gone wrong at {step}");
        Err(match failure.split_once(": ") {
            Some(("retry", message)) => StepError::retry(message),
            Some((name, message)) => StepError::reject(message).named(name),
            None => StepError::reject(failure),
        })
    }
}

impl Processor for Tracer {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> u32 {
        self.version
    }

    fn kind(&self) -> Kind {
        Kind::Cpu
    }

    fn validate(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        Self::step(context, Step::Validation, &input)?;
        Ok(with(input, "validated"))
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        Self::step(context, Step::Processing, &input)?;
        assert_eq!(input["trail"], json!(["validated"]), "processing is given what validation returned");
        Ok(with(input, "processed"))
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        Self::step(context, Step::Extraction, &processed)?;
        assert_eq!(
            processed["trail"],
            json!(["validated", "processed"]),
            "extraction is given what processing returned"
        );
        let mut factors = Map::new();
        factors.insert(processed["doc"].as_str().unwrap().replace(".pdf", ""), json!({"trail": processed["trail"]}));
        if let Value::Object(own) = &processed["value"] {
            factors.extend(own.clone());
        }
        Ok(Extracted::new(Value::Object(factors)))
    }
}

/// Says which process it runs in. Waits until as many as its input says are at it at the same time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whois;

pub(crate) const WHOIS: Whois = Whois;

impl Processor for Whois {
    fn name(&self) -> &'static str {
        "whois"
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        let folder = PathBuf::from(context.settings()["folder"].as_str().unwrap());
        let doc = input["doc"].as_str().unwrap();
        fs::write(folder.join(format!("here-{doc}")), "").unwrap();
        let here = || fs::read_dir(&folder).unwrap().count() as u64;
        let begun = std::time::Instant::now();
        while here() < input["meet"].as_u64().unwrap() {
            assert!(begun.elapsed().as_secs() < 30, "nobody else came");
            std::thread::yield_now();
        }
        Ok(json!({(doc): std::process::id()}))
    }
}

fn with(mut data: Value, mark: &str) -> Value {
    let mut trail = data["trail"].as_array().cloned().unwrap_or_default();
    trail.push(json!(mark));
    data["trail"] = Value::Array(trail);
    data
}

/// Every processor that these tests use, also for the children.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::default();
    registry.register(Tracer { name: "tracer", version: 1 });
    registry.register(Tracer { name: "other", version: 1 });
    registry.register(Whois);
    registry
}

/// A folder for the trace of one test on one runner.
pub(crate) struct Desk {
    folder: TempDir,
    pub(crate) runner: Arc<dyn Runner>,
}

impl Desk {
    pub(crate) fn new(runner: Arc<dyn Runner>) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), runner }
    }

    pub(crate) fn execution(&self) -> Execution {
        self.execution_of(Tracer { name: "tracer", version: 1 })
    }

    pub(crate) fn execution_of(&self, processor: impl Processor + 'static) -> Execution {
        let mut settings = Map::new();
        settings.insert("folder".to_owned(), json!(self.folder.path()));
        Execution::new(Arc::new(processor), ACCOUNT, UNDERWRITING)
            .unwrap()
            .with_runner(Arc::clone(&self.runner))
            .with_settings(settings)
    }

    /// What is wrong is repaired: from now on nothing fails.
    pub(crate) fn repair(&self) {
        fs::write(self.folder.path().join("repaired"), "").unwrap();
    }

    /// The steps that ran since the last look, by document: `document.pdf validation processing`.
    pub(crate) fn steps(&self) -> Vec<String> {
        let path = self.folder.path().join("steps.log");
        let log = fs::read_to_string(&path).unwrap_or_default();
        let _ = fs::remove_file(path);
        let mut by_document: Vec<(String, Vec<String>)> = Vec::new();
        for line in log.lines() {
            let (document, step) = line.split_once(' ').unwrap();
            match by_document.iter_mut().find(|(known, _)| known == document) {
                Some((_, steps)) => steps.push(step.to_owned()),
                None => by_document.push((document.to_owned(), vec![step.to_owned()])),
            }
        }
        by_document.sort();
        by_document.into_iter().map(|(document, steps)| format!("{document} {}", steps.join(" "))).collect()
    }
}

pub(crate) fn input(id: &str, data: Value) -> ProcessorInput {
    ProcessorInput::new(id, ACCOUNT, UNDERWRITING, data)
}

/// Inputs named after their documents.
pub(crate) fn documents<const N: usize>(names: [&str; N]) -> Vec<ProcessorInput> {
    names.iter().enumerate().map(|(place, doc)| input(&format!("Input {}", place + 1), json!({"doc": doc}))).collect()
}

/// The same with a failure in the first one.
pub(crate) fn with_failure(mut inputs: Vec<ProcessorInput>, step: Step, failure: &str) -> Vec<ProcessorInput> {
    inputs[0].data["fail"] = json!({step.as_str(): failure});
    inputs
}

/// A run in the words of the seed: `Input 1: document.pdf → SKIP validation → processing → FAIL (processing error)`.
pub(crate) fn story(result: &ProcessingResult, inputs: &[ProcessorInput]) -> Vec<String> {
    result.inputs.iter().zip(inputs).map(|(report, input)| line(report, input)).collect()
}

fn line(report: &InputReport, input: &ProcessorInput) -> String {
    let mut parts = vec![format!("{}: {}", report.input_id, input.data["doc"].as_str().unwrap())];
    if let Passed::Skipped { .. } = report.passed {
        parts.push("SKIP (already successful)".to_owned());
        return parts.join(" → ");
    }
    for step in Step::ALL {
        match report.times.duration_of(step) {
            Some(_) => parts.push(step.to_string()),
            None if step < report.from => parts.push(format!("SKIP {step}")),
            None => {}
        }
    }
    parts.push(match &report.passed {
        Passed::Failed { step, .. } => format!("FAIL ({step} error)"),
        _ => "SUCCESS".to_owned(),
    });
    parts.join(" → ")
}

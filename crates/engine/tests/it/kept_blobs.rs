//! Blobs that results name: durable before any row names them, and together with others.

use crate::support::{Func, Rig};
use bindery_core::{ContentHash, Name, StepError, outcome::OutcomeStatus};
use bindery_engine::{Extracted, Processor, Registry, context::StepContext, intake::Intake};
use serde_json::{Value, json};
use std::{
    fs,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

const WORKFLOW: &str = "
name: keeping
stages:
  - {name: keep, over: file, parallel: true, max_attempts: 2, retry: {initial_seconds: 0}}
  - {name: use, over: file, parallel: true}
";

fn registry(keep: impl Processor + 'static) -> Registry {
    let mut registry = Registry::with_builtin();
    registry.register(keep);
    // Whoever works behind it must find what its result names.
    registry.register(Func::new("use", |context, input| {
        let read = context.blob(hash_in(&input))?;
        Ok(Extracted::new(json!({"read": String::from_utf8_lossy(&read)})))
    }));
    registry
}

fn hash_in(value: &Value) -> ContentHash {
    value["kept"].as_str().unwrap().parse().unwrap()
}

fn keep(context: &StepContext, text: &str) -> Result<Value, StepError> {
    Ok(json!({"kept": context.keep_blob(text.as_bytes().to_vec())?.hash.to_string()}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_result_names_is_there_for_the_next_stage() {
    let rig = Rig::new(registry(Func::new("keep", |context, input| {
        let text = format!("of {}", input["name"]);
        Ok(Extracted::new(keep(context, &text)?))
    })));
    rig.workflow(WORKFLOW).await;
    let id = rig.submit(Intake::new("keeping", rig.files(60).await)).await;
    rig.drain().await;
    let used = rig.store.outcomes(id, Some(&Name::from("use"))).await.unwrap();
    assert_eq!(used.iter().filter(|outcome| outcome.status == OutcomeStatus::Completed).count(), 60);
    assert_eq!(fs::read_dir(rig.dir.path().join("blobs/tmp")).unwrap().count(), 0, "a draft was left");
}

/// Keeps a blob in its second step and fails in the third, once.
struct FailsBehindIt;

impl Processor for FailsBehindIt {
    fn name(&self) -> &'static str {
        "keep"
    }

    fn process(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        assert_eq!(context.attempt(), 1, "the second try begins behind this step");
        keep(context, "kept by the first try")
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        if context.attempt() == 1 {
            return Err(StepError::retry("the line was busy"));
        }
        assert_eq!(context.blob(hash_in(&processed))?, b"kept by the first try", "what a resume point names is there");
        Ok(Extracted::new(processed))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_resume_point_names_is_there_for_the_next_try() {
    let rig = Rig::new(registry(FailsBehindIt));
    rig.workflow(WORKFLOW).await;
    let id = rig.submit(Intake::new("keeping", rig.files(1).await)).await;
    rig.drain().await;
    let used = rig.store.outcomes(id, Some(&Name::from("use"))).await.unwrap();
    assert_eq!(used[0].status, OutcomeStatus::Completed, "{used:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_whose_blob_cannot_be_stored_is_not_stored_and_is_tried_again() {
    // Too large to be a row.
    let large = "in the way".repeat(30_000);
    let hash = ContentHash::of(large.as_bytes()).to_string();
    let place: Arc<OnceLock<PathBuf>> = Arc::default();
    let in_the_way = Arc::clone(&place);
    let rig = Rig::new(registry(Func::new("keep", move |context, _| {
        if context.attempt() > 1 {
            // Somebody has tidied up.
            fs::remove_dir(in_the_way.get().unwrap()).unwrap();
        }
        Ok(Extracted::new(keep(context, &large)?))
    })));
    // A folder where the blob should be: it can be written, but not put in its place.
    let path = rig.dir.path().join("blobs/sha256").join(&hash[..2]).join(&hash[2..]);
    fs::create_dir_all(&path).unwrap();
    place.set(path).unwrap();
    rig.workflow(WORKFLOW).await;
    let id = rig.submit(Intake::new("keeping", rig.files(1).await)).await;
    rig.drain().await;
    let kept = rig.store.outcomes(id, Some(&Name::from("keep"))).await.unwrap();
    assert_eq!((kept[0].status, kept[0].attempts), (OutcomeStatus::Completed, 2), "{kept:?}");
    let used = rig.store.outcomes(id, Some(&Name::from("use"))).await.unwrap();
    assert_eq!(used[0].status, OutcomeStatus::Completed, "{used:?}");
    assert_eq!(rig.events_of(bindery_core::event::kind::JOB_RETRIED).await.len(), 1);
}

//! Inputs and ids that cannot be used, each answered with a clear sentence.

use super::clerk::{ACCOUNT, Clerk, UNDERWRITING, after, factors, input, inputs, output, quiet, refusal, rig};
use crate::stores;
use bindery_core::{outcome::Step, submission::SubmissionStatus};
use bindery_engine::{
    execution::{Duplicates, ProcessorInput},
    runs::{RunFilter, RunStatus},
};
use bindery_store::query::ItemFilter;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inputs_of_several_owners_are_a_failed_run_without_items() {
    let (rig, runs) = rig();
    let clerk = Clerk::new();
    let mut given = inputs(3);
    given[1].account_id = "acc_9".to_owned();
    let result = runs.start(clerk.execution(), given, None, quiet).await.unwrap();
    let error = result.error.unwrap();
    assert_eq!(error.exception, "PrevalidationError");
    assert!(error.message.contains("input doc1 has account_id \"acc_9\", expected \"acc_123\""), "{}", error.message);
    assert_eq!(clerk.steps(), [0, 0, 0]);
    let stored = rig.store().find_submission(&result.run_id).await.unwrap().unwrap();
    assert_eq!(stored.status, SubmissionStatus::Failed);
    assert_eq!(stored.error, Some(format!("PrevalidationError: {}", error.message)));
    assert!(rig.store().items(stored.id, ItemFilter::default()).await.unwrap().is_empty());
    assert!(rig.store().outcomes(stored.id, None).await.unwrap().is_empty());
    let listed = runs.list(RunFilter::default()).await.unwrap();
    assert_eq!((listed[0].status, listed[0].not_run, listed[0].inputs), (RunStatus::Failed, 3, 3));
    let refused = refusal(runs.retry(&result.run_id, |record| clerk.again(record), quiet).await);
    assert!(refused.contains("was refused before any step (Input data is not for the same account"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_run_does_not_take_the_place_of_a_retry() {
    let (_rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.fail("doc0", Step::Processing);
    let failed = runs.start(clerk.execution(), inputs(2), None, quiet).await.unwrap();
    clerk.heal();
    let foreign = vec![ProcessorInput::new("doc0", ACCOUNT, "uw_9", json!({}))];
    let refused = runs.start(clerk.execution(), foreign, Some(after(&failed.run_id)), quiet).await.unwrap();
    assert_eq!(refused.error.unwrap().exception, "PrevalidationError");
    let result = runs.retry(&failed.run_id, |record| clerk.again(record), quiet).await.unwrap();
    assert_eq!(output(&result), factors(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_an_id_given_twice_the_last_one_counts_and_is_stored_once() {
    let (rig, runs) = rig();
    let clerk = Clerk::new();
    let given = vec![input("a", 1), input("b", 2), input("a", 3)];
    let result = runs.start(clerk.execution(), given, None, quiet).await.unwrap();
    assert_eq!(output(&result), json!({"a": 3, "b": 2}));
    assert_eq!(result.warnings, ["input a is given 2 times; the last one counts"]);
    let id = rig.store().find_submission(&result.run_id).await.unwrap().unwrap().id;
    let items = rig.store().items(id, ItemFilter::default()).await.unwrap();
    assert_eq!(items.iter().map(|item| item.key.as_deref().unwrap()).collect::<Vec<_>>(), ["a", "b"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_refused_for_being_given_twice_is_refused_again_by_a_retry() {
    let (_rig, runs) = rig();
    let clerk = Clerk::new();
    let strict = clerk.execution().with_duplicates(Duplicates::Refuse);
    let given = vec![input("a", 1), input("b", 2), input("a", 3)];
    let first = runs.start(strict, given, None, quiet).await.unwrap();
    assert_eq!((first.metrics.succeeded, first.metrics.failed), (1, 1));
    let again = |record: &_| Ok(clerk.again(record)?.with_duplicates(Duplicates::Refuse));
    let second = runs.retry(&first.run_id, again, quiet).await.unwrap();
    assert_eq!((second.metrics.skipped, second.metrics.failed), (1, 1));
    let view = runs.show(&second.run_id).await.unwrap();
    assert_eq!(view.details[0].error.as_ref().unwrap().message, "the input id a is given 2 times, expected once");
    let corrected = vec![input("a", 3)];
    let third = runs.start(clerk.execution(), corrected, Some(after(&second.run_id)), quiet).await.unwrap();
    assert_eq!(output(&third), json!({"a": 3, "b": 2}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_inputs_are_a_success() {
    let (rig, runs) = rig();
    let result = runs.start(Clerk::new().execution(), Vec::new(), None, quiet).await.unwrap();
    assert!(result.success);
    assert_eq!(output(&result), json!({}));
    let stored = rig.store().find_submission(&result.run_id).await.unwrap().unwrap();
    assert_eq!(stored.status, SubmissionStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_found_by_the_beginning_of_its_id_or_as_the_latest() {
    let (rig, runs) = rig();
    let clerk = Clerk::new();
    assert_eq!(refusal(runs.find("latest").await), "there is no run yet");
    let first = runs.start(clerk.execution(), inputs(1), None, quiet).await.unwrap();
    let second = runs.start(clerk.execution(), inputs(1), None, quiet).await.unwrap();
    assert_eq!(runs.find("latest").await.unwrap().run_id, second.run_id);
    assert_eq!(runs.find(&first.run_id).await.unwrap().run_id, first.run_id);
    assert_eq!(runs.find(&first.run_id[..6]).await.unwrap().run_id, first.run_id);
    let short = refusal(runs.find(&first.run_id[..5]).await);
    assert!(short.ends_with("give at least 6 characters of its id, or \"latest\""), "{short}");
    assert_eq!(refusal(runs.find("zzzzzz").await), "there is no run zzzzzz");
    assert_eq!(refusal(runs.show("ä💥äääääää").await), "there is no run ä💥äääääää");

    // Two ids that begin alike are rare, so one is made by hand.
    let twin = format!("{}-twin", &first.run_id[..8]);
    let rename = format!("UPDATE submission SET external_id = '{twin}' WHERE external_id = '{}'", second.run_id);
    stores::tamper(rig.dir.path(), &rename).await;
    let ambiguous = refusal(runs.find(&first.run_id[..8]).await);
    assert_eq!(ambiguous, format!("run {} may be any of {twin}, {}", &first.run_id[..8], first.run_id));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_submission_that_is_no_run_is_not_found_as_one() {
    let (rig, runs) = rig();
    rig.workflow("{name: plain, stages: [{name: words, component: clerk}]}").await;
    let new = bindery_core::submission::NewSubmission {
        id: rig.engine.ids().submission().await.unwrap(),
        external_id: Some("claim-2025-118".to_owned()),
        owner: Some(UNDERWRITING.to_owned()),
        channel: "api".to_owned(),
        workflow: "plain".into(),
        workflow_version: 1,
        priority: 0,
        received_at: rig.engine.clock().now(),
        deadline: bindery_core::submission::Deadline::default(),
        metadata: "{}".to_owned(),
    };
    let changes = bindery_store::Changes { submissions: vec![new], ..bindery_store::Changes::default() };
    rig.engine.store().commit(vec![bindery_store::Commit::always(changes)]).await.unwrap();
    assert_eq!(refusal(runs.find("claim-2025-118").await), "there is no run claim-2025-118");
    assert!(runs.list(RunFilter::default()).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_fails_in_every_run_until_something_better_comes() {
    let (_rig, runs) = rig();
    let clerk = Clerk::new();
    let why = "a.json, line 3: `data` is missing";
    let given = vec![input("doc0", 0), input("doc1", 1).unreadable_because(why)];
    let first = runs.start(clerk.execution(), given, None, quiet).await.unwrap();
    let failed = serde_json::to_value(&first.output).unwrap()[1].clone();
    assert_eq!((&failed["step"], &failed["exception"]), (&json!("validation"), &json!("InvalidInput")));
    assert_eq!((&failed["message"], clerk.steps()), (&json!(why), [1, 1, 1]), "it was not run");
    let handed = first.payloads.as_ref().map(|inputs| inputs[0].unreadable.as_deref());
    assert_eq!(handed, Some(Some(why)), "who hands it back does not make it readable");
    let second = runs.retry(&first.run_id, |record| clerk.again(record), quiet).await.unwrap();
    assert_eq!((second.metrics.failed, second.metrics.skipped, clerk.steps()), (1, 1, [1, 1, 1]));
    let better = vec![input("doc1", 1)];
    let third = runs.start(clerk.execution(), better, Some(after(&second.run_id)), quiet).await.unwrap();
    assert_eq!((output(&third), clerk.steps()), (factors(2), [2, 2, 2]));
}

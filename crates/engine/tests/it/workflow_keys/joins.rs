//! What an aggregation waits for, and for whom.

use super::{Seen, echo, fails, registry, workflow};
use bindery_core::{StepError, item::ItemKind, job::JobState, submission::SubmissionStatus};
use bindery_engine::{Child, Children, Extracted, Registry, context::StepContext, view, workflow::Workflow};
use serde_json::Value;

/// Takes an item apart into two; what kind of parts is in its settings.
fn halves(context: &StepContext, input: Value) -> Result<Extracted, StepError> {
    let kind = context.settings()["into"].as_str().and_then(ItemKind::from_name);
    let kind = kind.ok_or_else(|| StepError::bug("into what?"))?;
    Ok(Extracted::new(input).with_children(Children::new(kind, vec![Child::default(), Child::default()])))
}

/// Fails on the first part of each item.
fn fails_first(context: &StepContext, input: Value) -> Result<Extracted, StepError> {
    if context.item()?.ordinal == 0 { Err(StepError::reject("torn")) } else { Ok(Extracted::new(input)) }
}

fn processors() -> Registry {
    registry(&[
        ("split", halves),
        ("read", echo),
        ("join", echo),
        ("flaky", fails_first),
        ("bad", fails),
        ("end", echo),
    ])
}

const SPLIT: &str = "{name: split, over: file, settings: {into: page}}, {name: read, over: page}";

pub(super) async fn aggregation_waits_for_the_parts() {
    let collected = format!("{SPLIT}, {{name: join, aggregation: {{expect_count_from: page_count}}}}");
    let seen = Seen::run(processors(), &workflow(&collected), 3).await;
    assert_eq!((seen.completed("read").await, seen.completed("join").await), (6, 1));
    let seen = Seen::run(processors(), &workflow(&format!("{SPLIT}, {{name: join, over: page}}")), 3).await;
    assert_eq!((seen.completed("read").await, seen.completed("join").await), (6, 6));
}

pub(super) async fn aggregation_type_has_one_meaning() {
    let yaml = |kind: &str| {
        workflow(&format!("{SPLIT}, {{name: join, aggregation: {{type: {kind}, expect_count_from: page_count}}}}"))
    };
    assert_eq!(Seen::run(processors(), &yaml("fan_in"), 1).await.completed("join").await, 1);
    let refused = Workflow::parse(&yaml("fan_out"), None).unwrap_err().to_string();
    assert!(refused.contains("expected `fan_in`"), "{refused}");
}

pub(super) async fn collect_by_is_what_is_completed() {
    for (by, runs) in [("submission_id", 1), ("request_id", 1), ("file_id", 3)] {
        let stages =
            format!("{SPLIT}, {{name: join, aggregation: {{collect_by: {by}, expect_count_from: page_count}}}}");
        let seen = Seen::run(processors(), &workflow(&stages), 3).await;
        assert_eq!(seen.completed("join").await, runs, "{by}");
        assert_eq!(seen.status().await, SubmissionStatus::Completed);
        let rows = view::AggregationStates::new(&seen.rig.engine, seen.id).await.unwrap().next().await.unwrap();
        let counts: Vec<_> = rows.iter().map(|row| (row.received_count, row.expected_count)).collect();
        assert_eq!(counts, vec![(6 / runs as i64, 6 / runs as i64); runs]);
    }
}

pub(super) async fn expect_count_from_is_what_is_waited_for() {
    for (count, kind, expected) in [("page_count", "page", 6), ("document_count", "document", 6), ("file_count", "", 3)]
    {
        let split = if kind.is_empty() {
            "{name: read, over: file}".to_owned()
        } else {
            format!("{{name: split, over: file, settings: {{into: {kind}}}}}, {{name: read, parallel: true}}")
        };
        let stages = format!("{split}, {{name: join, aggregation: {{expect_count_from: {count}}}}}");
        let seen = Seen::run(processors(), &workflow(&stages), 3).await;
        assert_eq!((seen.completed("read").await, seen.completed("join").await), (expected, 1), "{count}");
        let rows = view::AggregationStates::new(&seen.rig.engine, seen.id).await.unwrap().next().await.unwrap();
        assert_eq!(rows[0].expected_count, expected as i64);
    }
}

pub(super) async fn on_failed_says_whether_it_runs_without_a_part() {
    for (on_failed, joined) in [("continue", 1), ("fail", 0)] {
        let stages = format!(
            "{{name: flaky, over: file}}, {{name: join, aggregation: {{expect_count_from: file_count, on_failed: {on_failed}}}}}, {{name: end}}"
        );
        let seen = Seen::run(processors(), &workflow(&stages), 3).await;
        assert_eq!((seen.completed("join").await, seen.completed("end").await), (joined, joined), "{on_failed}");
        assert_eq!(seen.status().await == SubmissionStatus::Completed, joined == 1);
    }
    // Each file by itself, whatever its parts are.
    for kind in ["page", "document"] {
        let stages = format!(
            "{{name: split, over: file, settings: {{into: {kind}}}}}, {{name: flaky, over: {kind}}}, \
             {{name: join, aggregation: {{collect_by: file_id, expect_count_from: {kind}_count, on_failed: fail}}}}"
        );
        let seen = Seen::run(processors(), &workflow(&stages), 2).await;
        let dead = seen.jobs(JobState::Dead).await;
        let said: Vec<_> =
            dead.iter().filter(|job| job.stage == "join").map(|job| &job.error.as_ref().unwrap().message).collect();
        assert_eq!(said, ["1 of the parts failed, and on_failed is fail"; 2], "{kind}");
    }
    // A part that its stage calls completed has not failed, though one of its processors has.
    for (when, joined) in [("any", 1), ("all", 0)] {
        let stages = format!(
            "{{name: read, over: file, max_attempts: 1, processors: [read, bad], complete_when: {when}}}, \
             {{name: join, aggregation: {{expect_count_from: file_count, on_failed: fail}}}}"
        );
        let seen = Seen::run(processors(), &workflow(&stages), 2).await;
        assert_eq!(seen.completed("join").await, joined, "{when}");
    }
}

//! A submission from files to a result, through every kind of step between stages.

use crate::support::{Func, Rig};
use bindery_core::{item::ItemKind, submission::SubmissionStatus};
use bindery_engine::{Child, Children, Extracted, Registry, intake::Intake, view};
use serde_json::json;

const WORKFLOW: &str = "
name: smoke
version: 1
stages:
  - {name: split, component: splitter, over: file, parallel: true}
  - {name: count, component: counter, over: page, parallel: true}
  - {name: pages_done, component: extraction_aggregator, aggregation: {type: fan_in, collect_by: request_id, expect_count_from: page_count}}
  - {name: consolidate, component: consolidator}
";

fn registry() -> Registry {
    let mut registry = Registry::with_builtin();
    registry.register(Func::new("splitter", |_, _| {
        let children =
            (0..3).map(|page| Child { data: json!({"page": page}).as_object().unwrap().clone(), ..Child::default() });
        Ok(Extracted::new(json!({"pages": 3})).with_children(Children::new(ItemKind::Page, children.collect())))
    }));
    registry.register(Func::new("counter", |_, input| Ok(Extracted::new(json!({"counted": input["page"]})))));
    registry.register(Func::new("consolidator", |context, _| {
        Ok(Extracted::new(json!({"pages": context.outcomes("count")?.len()})))
    }));
    registry
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_become_pages_and_pages_one_result() {
    let rig = Rig::new(registry());
    rig.workflow(WORKFLOW).await;
    let id = rig.submit(Intake::new("smoke", rig.files(4).await)).await;
    rig.drain().await;
    assert_eq!(rig.status(id).await, SubmissionStatus::Completed);
    assert_eq!(view::result(&rig.engine, id).await.unwrap(), Some(json!({"pages": 12})));
    let progress = view::progress(&rig.engine, id).await.unwrap();
    let shown: Vec<_> = progress.stages.iter().map(|stage| (stage.expected, stage.counts.completed)).collect();
    assert_eq!(shown, [(Some(4), 4), (Some(12), 12), (Some(1), 1), (Some(1), 1)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_in_is_an_empty_result_out() {
    let rig = Rig::new(registry());
    rig.workflow(WORKFLOW).await;
    let id = rig.submit(Intake::new("smoke", Vec::new())).await;
    rig.drain().await;
    assert_eq!(rig.status(id).await, SubmissionStatus::Completed);
    assert_eq!(view::result(&rig.engine, id).await.unwrap(), Some(json!({"pages": 0})));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_that_cannot_be_stored_are_a_dead_letter_with_the_reason() {
    let mut registry = registry();
    registry.register(Func::new("splitter", |_, _| {
        let twice = || Child { key: Some("the same".to_owned()), ..Child::default() };
        Ok(Extracted::new(json!({})).with_children(Children::new(ItemKind::Page, vec![twice(), twice()])))
    }));
    let rig = Rig::new(registry);
    rig.workflow(WORKFLOW).await;
    let id = rig.submit(Intake::new("smoke", rig.files(1).await)).await;
    rig.drain().await;
    let jobs = rig.jobs().await;
    assert_eq!(jobs.len(), 1, "{jobs:#?}");
    let reason = jobs[0].reason.to_string();
    assert!(reason.contains("its result could not be stored"), "{reason}");
    assert!(reason.contains("item.key") || reason.contains("item_key"), "{reason}");
    assert_eq!(rig.status(id).await, SubmissionStatus::Completed, "what waits for the file goes on without it");
    assert_eq!(view::result(&rig.engine, id).await.unwrap(), Some(json!({"pages": 0})), "nothing is half-stored");
}

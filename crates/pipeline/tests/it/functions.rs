//! Functions of state machines that are endpoints of programs outside.

use crate::{
    desk::Desk,
    service::{Asked, Reply, Service},
};
use bindery_core::Name;
use bindery_engine::{
    machines::{Executor, ExecutorOptions, Machines, StartRequest},
    stop_pair,
};
use bindery_pipeline::functions::Functions;
use bindery_store::executions::ExecutionStatus;
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc, time::Duration};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_can_tell_a_second_try_from_other_work() {
    // The first two calls fail, one of each iteration; everything after that is taken.
    let service = Service::start(|number, _| match number {
        0 | 1 => Reply::new(503, "restarting"),
        _ => Reply::new(200, "{}"),
    });
    let desk = Desk::new().await;
    let names = BTreeMap::from([("notify".to_owned(), service.url())]);
    let functions = Arc::new(Functions::new(desk.engine.clone()).with_names(names));
    let machines = Machines::new(Arc::clone(desk.engine.store()));
    let retry = json!([{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 3}]);
    let notify = json!({"Type": "Task", "Resource": "notify", "Retry": retry, "End": true});
    // The same state with the same input, twice: two tasks.
    let each = json!({"StartAt": "Notify", "States": {"Notify": notify}});
    let machine = json!({
        "StartAt": "Each",
        "States": {"Each": {"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": each, "End": true}},
    });
    machines.put("machine", &machine.to_string(), Some(&*functions)).await.unwrap();
    let (handle, stop) = stop_pair();
    let options = ExecutorOptions { name: Name::from("executor"), ..ExecutorOptions::default() };
    let executor = Executor::new(desk.engine.clone(), functions, options);
    let running = tokio::spawn(async move { executor.run(stop).await });
    let input = json!({"items": [{"page": 1}, {"page": 1}]});
    let request = StartRequest { machine: "machine".to_owned(), name: None, input, owner: None };
    let id = machines.start(request).await.unwrap().0;
    let ended = machines.wait(id, Duration::from_secs(60)).await.unwrap().expect("it ends");
    assert_eq!(ended.status, ExecutionStatus::Succeeded, "{ended:?}");
    handle.stop();
    running.await.unwrap();

    let asked = service.asked();
    assert_eq!(asked.len(), 4);
    let mut tries: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in &asked {
        assert_eq!(one.header("idempotency-key").len(), 32, "{one:?}");
        assert!(one.header("bindery-job").starts_with(&format!("{id}/")), "{one:?}");
        tries.entry(one.header("idempotency-key")).or_default().push(one.header("bindery-attempt"));
    }
    let attempts: Vec<_> = tries.into_values().collect();
    assert_eq!(attempts, [["1", "2"], ["1", "2"]], "two tasks, each tried twice under one key");
    let jobs: std::collections::BTreeSet<&str> = asked.iter().map(|one: &Asked| one.header("bindery-job")).collect();
    assert_eq!(jobs.len(), 4, "each attempt is a task of its own in the execution");
}

//! State machines under way: held by one, stepped whole, woken by signals.

use super::Fixture;
use bindery_core::{Clock as _, ContentHash, ExecutionId, Name, event::kind, job::Token, submission::NewSubmission};
use bindery_store::error::StoreError;
use bindery_store::executions::{
    After, DeletedExecutions, ExecutionCounts, ExecutionEnd, ExecutionFilter, ExecutionStatus, HeldExecution,
    HistoryChunk, NewExecution, Recipient, Started, Step,
};
use bindery_store::retention::Reason;
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(10);

fn new(name: &str) -> NewExecution {
    NewExecution {
        machine: Name::from("m"),
        version: 1,
        name: name.to_owned(),
        input: r#"{"a":1}"#.to_owned(),
        owner: None,
        parent: None,
    }
}

async fn start(f: &Fixture, new: NewExecution) -> ExecutionId {
    match f.store.start_executions(vec![new]).await.unwrap().pop() {
        Some(Started::New(id)) => id,
        other => panic!("{other:?}"),
    }
}

async fn hold(f: &Fixture, owner: &str) -> Vec<HeldExecution> {
    f.store.hold_executions(&Name::from(owner), 100, LEASE).await.unwrap()
}

async fn hold_one(f: &Fixture, owner: &str) -> HeldExecution {
    let mut held = hold(f, owner).await;
    assert_eq!(held.len(), 1);
    held.remove(0)
}

fn step(held: &HeldExecution) -> Step {
    Step::new(held.execution.id, held.token)
}

fn end(status: ExecutionStatus) -> ExecutionEnd {
    let failed = status != ExecutionStatus::Succeeded;
    ExecutionEnd {
        status,
        output: (!failed).then(|| "7".to_owned()),
        error: failed.then(|| "Broken".to_owned()),
        cause: failed.then(|| "because".to_owned()),
    }
}

async fn store(f: &Fixture, step: Step) -> bool {
    f.store.store_steps(vec![step]).await.unwrap()[0]
}

pub async fn a_machine_gets_a_new_version_when_its_text_changes(f: &Fixture) {
    let name = Name::from("m");
    assert_eq!(f.store.put_machine(&name, "one").await, Ok(1));
    assert_eq!(f.store.put_machine(&name, "one").await, Ok(1));
    assert_eq!(f.store.put_machine(&name, "two").await, Ok(2));
    assert_eq!(f.store.put_machine(&name, "one").await, Ok(3), "back to an older text is a change, too");
    assert_eq!(f.store.machine(&name, Some(2)).await.unwrap().unwrap().text, "two");
    assert_eq!(f.store.machine(&name, None).await.unwrap().unwrap().version, 3);
    assert_eq!(f.store.machine(&Name::from("none"), None).await, Ok(None));
    f.store.put_machine(&Name::from("a"), "text").await.unwrap();
    let all = f.store.machines().await.unwrap();
    let all: Vec<(&str, i64)> = all.iter().map(|machine| (machine.name.as_str(), machine.version)).collect();
    assert_eq!(all, [("a", 1), ("m", 3)]);
}

pub async fn a_name_is_started_once(f: &Fixture) {
    let id = start(f, new("one")).await;
    let again = f.store.start_executions(vec![new("one"), new("two")]).await.unwrap();
    let [Started::Existing(existing), Started::New(_)] = &again[..] else { panic!("{again:?}") };
    assert_eq!((existing.id, existing.input.as_str(), existing.status), (id, r#"{"a":1}"#, ExecutionStatus::Running));
    assert_eq!(f.store.find_execution(&Name::from("m"), "one").await.unwrap().map(|found| found.id), Some(id));
    let all = f.store.executions(ExecutionFilter::default()).await.unwrap();
    assert_eq!(all.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["two", "one"]);
}

pub async fn an_execution_has_one_holder(f: &Fixture) {
    start(f, new("one")).await;
    let held = hold_one(f, "a").await;
    assert_eq!(held.state, None);
    assert_eq!(hold(f, "b").await, [], "somebody has it");
    f.clock.advance(LEASE / 2);
    let mine = vec![(held.execution.id, held.token)];
    assert_eq!(f.store.extend_executions(mine.clone(), LEASE).await.unwrap(), []);
    f.clock.advance(LEASE / 2 + Duration::from_millis(1));
    assert_eq!(hold(f, "b").await, [], "the lease was extended");
    f.clock.advance(LEASE);
    let taken = hold_one(f, "b").await;
    assert!(!store(f, Step { state: Some("late".to_owned()), ..step(&held) }).await);
    assert_eq!(f.store.extend_executions(mine, LEASE).await.unwrap(), [held.execution.id]);
    assert!(store(f, Step { state: Some("mine".to_owned()), ..step(&taken) }).await);
    f.clock.advance(LEASE * 2);
    assert_eq!(hold_one(f, "c").await.state.as_deref(), Some("mine"));
}

pub async fn a_step_is_stored_whole(f: &Fixture) {
    start(f, new("one")).await;
    let held = hold_one(f, "a").await;
    let chunk = |first, last| HistoryChunk { first, last, events: format!("[{first},{last}]") };
    for (first, last) in [(1, 3), (4, 4), (5, 9)] {
        assert!(store(f, Step { history: Some(chunk(first, last)), ..step(&held) }).await);
    }
    let id = held.execution.id;
    assert_eq!(f.store.execution_history(id, 0, 1_000).await.unwrap(), [chunk(1, 3), chunk(4, 4), chunk(5, 9)]);
    assert_eq!(f.store.execution_history(id, 3, 1).await.unwrap(), [chunk(4, 4)]);
    assert!(store(f, Step { end: Some(end(ExecutionStatus::Succeeded)), ..step(&held) }).await);
    let ended = f.store.execution(id).await.unwrap().unwrap();
    assert_eq!((ended.status, ended.events, ended.output.as_deref()), (ExecutionStatus::Succeeded, 9, Some("7")));
    assert_eq!(ended.ended_at, Some(f.clock.now()));
    assert!(!store(f, step(&held)).await, "it has ended");
    let running = ExecutionFilter { status: Some(ExecutionStatus::Running), ..ExecutionFilter::default() };
    assert_eq!(f.store.executions(running).await.unwrap(), []);
}

pub async fn it_rests_until_its_time(f: &Fixture) {
    start(f, new("one")).await;
    let held = hold_one(f, "a").await;
    let at = f.clock.now() + Duration::from_secs(3_600);
    assert!(store(f, Step { after: After::Rest(Some(at)), ..step(&held) }).await);
    f.clock.advance(LEASE * 2);
    assert_eq!(hold(f, "a").await, []);
    f.clock.advance(Duration::from_secs(3_600));
    let held = hold_one(f, "a").await;
    assert!(store(f, Step { after: After::Rest(None), ..step(&held) }).await);
    f.clock.advance(Duration::from_secs(1_000_000));
    assert_eq!(hold(f, "a").await, []);
}

pub async fn a_signal_wakes_it_and_stays_until_it_was_taken_in(f: &Fixture) {
    let id = start(f, new("one")).await;
    let held = hold_one(f, "a").await;
    assert!(store(f, Step { after: After::Rest(None), ..step(&held) }).await);
    assert!(f.store.send_signal(id, "first", None).await.unwrap());
    let held = hold_one(f, "a").await;
    assert!(f.store.send_signal(id, "second", None).await.unwrap(), "also while somebody has it");
    assert_eq!(hold(f, "b").await, []);
    let owner = Name::from("a");
    let signals = f.store.signals(&owner).await.unwrap();
    assert_eq!(
        signals.iter().map(|signal| (signal.to, signal.text.as_str())).collect::<Vec<_>>(),
        [(id, "first"), (id, "second")]
    );
    assert_eq!(f.store.signals(&Name::from("b")).await.unwrap(), []);
    // One was read when it went to rest; the other one makes it due at once.
    assert!(store(f, Step { after: After::Rest(None), read: vec![signals[0].id], ..step(&held) }).await);
    let held = hold_one(f, "a").await;
    assert_eq!(f.store.signals(&owner).await.unwrap(), signals[1..]);
    assert!(store(f, Step { end: Some(end(ExecutionStatus::Failed)), ..step(&held) }).await);
    assert!(!f.store.send_signal(id, "third", None).await.unwrap(), "it has ended");
    assert!(!f.store.send_signal(ExecutionId::from_raw(9_999), "third", None).await.unwrap());
}

pub async fn a_token_is_used_once(f: &Fixture) {
    let id = start(f, new("one")).await;
    let held = hold_one(f, "a").await;
    let tokens = vec![("t1".to_owned(), 4), ("t2".to_owned(), 5)];
    assert!(store(f, Step { tokens, ..step(&held) }).await);
    assert_eq!(f.store.task_of_token("t1").await, Ok(Some((id, 4))));
    assert!(f.store.send_signal(id, "beat", None).await.unwrap());
    assert!(f.store.send_signal(id, "done", Some("t1")).await.unwrap());
    assert!(!f.store.send_signal(id, "done", Some("t1")).await.unwrap());
    assert_eq!(f.store.task_of_token("t1").await, Ok(None));
    assert!(store(f, Step { dropped_tokens: vec!["t2".to_owned()], ..step(&held) }).await);
    assert!(!f.store.send_signal(id, "done", Some("t2")).await.unwrap());
    let texts: Vec<String> =
        f.store.signals(&Name::from("a")).await.unwrap().into_iter().map(|signal| signal.text).collect();
    assert_eq!(texts, ["beat", "done"]);
}

pub async fn a_step_tells_parents_and_children(f: &Fixture) {
    let parent = start(f, new("parent")).await;
    let held = hold_one(f, "a").await;
    assert!(store(f, Step { after: After::Rest(None), ..step(&held) }).await);
    let child = start(f, NewExecution { parent: Some((parent, 3)), ..new("child") }).await;
    let held_child = hold_one(f, "a").await;
    assert_eq!(held_child.execution.parent, Some((parent, 3)));
    let told = vec![(Recipient::Execution(parent), "done".to_owned())];
    assert!(store(f, Step { signals: told, after: After::Rest(None), ..step(&held_child) }).await);
    let held = hold_one(f, "a").await;
    assert_eq!(f.store.signals(&Name::from("a")).await.unwrap()[0].text, "done");
    let told = vec![(Recipient::Child(3), "stop".to_owned()), (Recipient::Child(4), "stop".to_owned())];
    assert!(store(f, Step { signals: told, ..step(&held) }).await);
    assert_eq!(hold_one(f, "b").await.execution.id, child);
    assert_eq!(f.store.signals(&Name::from("b")).await.unwrap()[0].text, "stop");
}

pub async fn what_failed_can_be_run_again(f: &Fixture) {
    let id = start(f, new("one")).await;
    assert!(!f.store.redrive_execution(id, "again").await.unwrap(), "it runs");
    let held = hold_one(f, "a").await;
    let failed = Step { state: Some("broken".to_owned()), end: Some(end(ExecutionStatus::Failed)), ..step(&held) };
    assert!(store(f, failed).await);
    assert!(f.store.redrive_execution(id, "again").await.unwrap());
    let held = hold_one(f, "a").await;
    assert_eq!((held.state.as_deref(), held.execution.redrives), (Some("broken"), 1));
    assert_eq!((held.execution.error.as_deref(), held.execution.ended_at), (None, None));
    assert_eq!(f.store.signals(&Name::from("a")).await.unwrap()[0].text, "again");
    assert!(store(f, Step { end: Some(end(ExecutionStatus::Succeeded)), ..step(&held) }).await);
    assert!(!f.store.redrive_execution(id, "again").await.unwrap(), "there is nothing to repair");
}

pub async fn of_two_holders_at_once_one_has_it(f: &Fixture) {
    let all: Vec<NewExecution> = (0..50).map(|number| new(&format!("n{number}"))).collect();
    f.store.start_executions(all).await.unwrap();
    let (a, b) = (Name::from("a"), Name::from("b"));
    let (one, other) = tokio::join!(f.store.hold_executions(&a, 30, LEASE), f.store.hold_executions(&b, 30, LEASE));
    let mut ids: Vec<ExecutionId> =
        one.unwrap().into_iter().chain(other.unwrap()).map(|held| held.execution.id).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    assert!((30..=50).contains(&count), "{count}");
}

pub async fn old_executions_are_pruned(f: &Fixture) {
    let id = start(f, new("one")).await;
    start(f, new("two")).await;
    for held in hold(f, "a").await {
        let history = Some(HistoryChunk { first: 1, last: 1, events: "[]".to_owned() });
        let end = (held.execution.id == id).then(|| end(ExecutionStatus::Succeeded));
        assert!(store(f, Step { history, end, ..step(&held) }).await);
    }
    let prune = |limit| {
        let old = DeletedExecutions::EndedBefore(f.clock.now());
        f.store.delete_executions(old, Reason::Expired, limit)
    };
    assert_eq!(prune(10).await, Ok(0), "it has just ended");
    assert_eq!(f.count_events(kind::EXECUTIONS_DELETED).await, 0, "nothing is not reported");
    f.clock.advance(LEASE);
    assert_eq!(prune(10).await, Ok(1));
    assert_eq!(f.count_events(kind::EXECUTIONS_DELETED).await, 1);
    assert_eq!(f.store.execution(id).await, Ok(None));
    assert_eq!(f.store.execution_history(id, 0, 10).await.unwrap(), []);
    assert_eq!(f.store.executions(ExecutionFilter::default()).await.unwrap().len(), 1);
}

pub async fn what_a_person_has_is_deleted_whatever_it_does(f: &Fixture) {
    let owned = |name: &str, owner: &str| NewExecution { owner: Some(owner.to_owned()), ..new(name) };
    let hers = || DeletedExecutions::OwnedBy("ann".to_owned());
    let named = ContentHash::of(b"her file");
    let input = format!(r#"{{"file":"{named}"}}"#);
    let waiting = start(f, NewExecution { input, ..owned("waiting", "ann") }).await;
    let child = start(f, NewExecution { parent: Some((waiting, 1)), ..owned("child", "ann") }).await;
    let his = start(f, owned("his", "bob")).await;
    let nobodys = start(f, new("nobodys")).await;
    let held = hold(f, "worker").await.into_iter().find(|held| held.execution.id == waiting).unwrap();
    assert_eq!(held.execution.owner.as_deref(), Some("ann"));
    let history = Some(HistoryChunk { first: 1, last: 1, events: "[]".to_owned() });
    assert!(store(f, Step { history, tokens: vec![("t1".to_owned(), 1)], ..step(&held) }).await);
    assert!(f.store.send_signal(waiting, "a letter", None).await.unwrap());
    assert_eq!(f.store.count_executions(hers()).await, Ok(ExecutionCounts { all: 2, under_way: 2 }));
    assert_eq!(
        f.store.count_executions(DeletedExecutions::OwnedBy("nobody".to_owned())).await,
        Ok(ExecutionCounts::default())
    );

    assert_eq!(f.store.delete_executions(hers(), Reason::Asked, 1).await, Ok(1), "no more than asked for");
    assert_eq!(f.store.delete_executions(hers(), Reason::Asked, 10).await, Ok(1));
    assert_eq!(f.store.delete_executions(hers(), Reason::Asked, 10).await, Ok(0));
    assert_eq!(f.store.count_executions(hers()).await, Ok(ExecutionCounts::default()));
    assert_eq!((f.store.execution(waiting).await, f.store.execution(child).await), (Ok(None), Ok(None)));
    assert_eq!(f.store.execution_history(waiting, 0, 10).await, Ok(vec![]));
    assert_eq!(f.store.task_of_token("t1").await, Ok(None));
    assert!(f.store.execution(his).await.unwrap().is_some() && f.store.execution(nobodys).await.unwrap().is_some());
    // Who held it finds that it is gone, and so does who tells it something or starts another one for it.
    assert!(!store(f, Step { state: Some("late".to_owned()), ..step(&held) }).await);
    assert!(!f.store.send_signal(waiting, "late", None).await.unwrap());
    let late = NewExecution { parent: Some((waiting, 2)), ..owned("late", "ann") };
    assert!(matches!(f.store.start_executions(vec![late]).await, Err(StoreError::NotFound { .. })));
    assert_eq!(f.store.count_executions(hers()).await, Ok(ExecutionCounts::default()));
    // What it named may be unused now.
    let candidates = f.store.blob_candidates(None, 10).await.unwrap();
    assert!(candidates.0.keys().any(|candidate| *candidate == named), "{candidates:?}");
}

pub async fn executions_of_an_owner_with_a_hold_stay(f: &Fixture) {
    let owner = Some("ann".to_owned());
    let new_submission = NewSubmission { owner: owner.clone(), ..f.new_submission().await };
    let submission = f.submit(new_submission).await;
    let id = start(f, NewExecution { owner, ..new("hers") }).await;
    let held = hold_one(f, "worker").await;
    assert!(store(f, Step { end: Some(end(ExecutionStatus::Succeeded)), ..step(&held) }).await);
    f.store.hold(vec![submission], "case 12").await.unwrap();
    f.clock.advance(LEASE);
    let old = || DeletedExecutions::EndedBefore(f.clock.now());
    assert_eq!(f.store.count_executions(old()).await, Ok(ExecutionCounts::default()));
    assert_eq!(f.store.delete_executions(old(), Reason::Expired, 10).await, Ok(0));
    assert!(f.store.execution(id).await.unwrap().is_some());
    f.store.release_hold(vec![submission]).await.unwrap();
    assert_eq!(f.store.delete_executions(old(), Reason::Expired, 10).await, Ok(1));
}

pub async fn a_wrong_token_holds_nothing(f: &Fixture) {
    start(f, new("one")).await;
    let held = hold_one(f, "a").await;
    assert!(!store(f, Step { token: Token(held.token.0 + 1), state: Some("no".to_owned()), ..step(&held) }).await);
    f.clock.advance(LEASE * 2);
    assert_eq!(hold_one(f, "a").await.state, None);
}

//! What comes for an execution out of order is told in order.

use super::{
    execution_state::{ExecutionState, Message},
    loaded_execution::{Advance, LoadedExecution, MailboxEntry},
};
use bindery_core::{ExecutionId, Name, Timestamp, job::Token};
use bindery_states::asl::{
    definition::Definition,
    stepper::{Event, Execution, Identity, StepLimits},
};
use bindery_store::executions::{ExecutionStatus, StoredExecution};
use serde_json::{Value, json};
use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

/// An execution that has asked for a nested one, which has the number that is returned, and has heard nothing yet.
fn load_with_task(resource: &str) -> (LoadedExecution, u64) {
    let definition = json!({"StartAt": "Sub", "States": {"Sub": {"Type": "Task", "End": true,
        "Resource": format!("arn:aws:states:::states:startExecution{resource}"),
        "Parameters": {"StateMachineArn": "child", "Input": {}}}}});
    let identity = Identity {
        id: "arn".to_owned(),
        name: "one".to_owned(),
        role: "role".to_owned(),
        machine_id: "arn".to_owned(),
        machine_name: "machine".to_owned(),
    };
    let stored = StoredExecution {
        id: ExecutionId::from_raw(1),
        machine: Name::from("machine"),
        version: 1,
        name: "one".to_owned(),
        status: ExecutionStatus::Running,
        input: "{}".to_owned(),
        output: None,
        error: None,
        cause: None,
        started_at: Timestamp::from_millis(0),
        ended_at: None,
        events: 0,
        redrives: 0,
        owner: None,
        parent: None,
        is_held: true,
        due_at: None,
    };
    let mut held = LoadedExecution {
        stored,
        token: Token(1),
        definition: Arc::new(Definition::parse(&definition.to_string()).unwrap()),
        state: ExecutionState::new(Execution::new(identity, json!({}))),
        mailbox: VecDeque::from([MailboxEntry::event(Event::Started)]),
        seen: HashSet::new(),
        running: HashMap::new(),
    };
    let begun = held.advance(Timestamp::from_millis(1), StepLimits::default()).begin;
    (held, begun[0])
}

fn sent_signals(advance: &Advance) -> Vec<String> {
    let chunk = advance.step.history.as_ref().map_or("[]", |chunk| &chunk.events);
    let events: Vec<Value> = serde_json::from_str(chunk).unwrap();
    events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

fn child_ended(task: u64) -> MailboxEntry {
    let description = json!({"ExecutionArn": "child-arn", "StartDate": 5, "Output": "7", "Status": "SUCCEEDED"});
    MailboxEntry { message: Ok(Message::ChildEnded { task, succeeded: true, description }), signal: Some(9) }
}

#[test]
fn a_child_that_ends_before_its_start_is_answered_is_told_in_order() {
    let (mut held, task) = load_with_task(".sync:2");
    let started = json!({"ExecutionArn": "child-arn", "StartDate": 5});
    held.mailbox.push_back(child_ended(task));
    held.mailbox.push_back(MailboxEntry::event(Event::TaskSubmitted { task, output: started }));
    let advance = held.advance(Timestamp::from_millis(2), StepLimits::default());
    assert_eq!(sent_signals(&advance), ["TaskSubmitted", "TaskSucceeded", "TaskStateExited", "ExecutionSucceeded"]);
    assert_eq!(advance.step.read, [9]);
}

#[test]
fn the_end_of_a_child_that_is_not_waited_for_is_no_answer() {
    let (mut held, task) = load_with_task("");
    held.mailbox.push_back(child_ended(task));
    let advance = held.advance(Timestamp::from_millis(2), StepLimits::default());
    assert_eq!(sent_signals(&advance), [""; 0]);
    assert_eq!(advance.step.read, [9], "it is read all the same");
    held.mailbox
        .push_back(MailboxEntry::event(Event::TaskSucceeded { task, output: json!({"ExecutionArn": "child-arn"}) }));
    let advance = held.advance(Timestamp::from_millis(3), StepLimits::default());
    assert_eq!(advance.step.end.unwrap().output.unwrap(), r#"{"ExecutionArn":"child-arn"}"#);
}

//! The file ingestion machine as it ships, run event by event with the answers that its functions give.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use bindery_states::asl::{
    definition::{Definition, StateKind, Transition},
    stepper::{Command, Event, Execution, HistoryEvent, Identity, Moment, Nested, Status, step},
};
use serde_json::{Value, json};
use std::collections::VecDeque;

const FILE_INGESTION: &str = include_str!("../../../machines/file_ingestion.asl.json");
const INGESTION: &str = include_str!("../../../machines/ingestion.asl.json");

type Answer = Result<Value, &'static str>;

/// What a run asked for, in its order.
#[derive(Default)]
struct Run {
    /// The function and its payload, or the nested execution's whole request.
    tasks: Vec<(String, Value)>,
    nested: Vec<Nested>,
    /// Milliseconds of every wait and of every delay before another attempt.
    waits: Vec<i64>,
    history: Vec<HistoryEvent>,
    status: Option<Status>,
}

impl Run {
    /// The states in the order they were entered.
    fn states(&self) -> Vec<&str> {
        let entered = self.history.iter().filter(|event| event.kind.ends_with("StateEntered"));
        entered.map(|event| event.details.as_ref().unwrap().get("name").unwrap().as_str().unwrap()).collect()
    }

    fn payloads(&self, function: &str) -> Vec<&Value> {
        self.tasks.iter().filter(|(name, _)| name == function).map(|(_, payload)| payload).collect()
    }

    fn output(&self) -> &Value {
        match self.status.as_ref().unwrap() {
            Status::Succeeded { output } => output,
            other => panic!("{other:?}"),
        }
    }

    fn failure(&self) -> (&str, &str) {
        match self.status.as_ref().unwrap() {
            Status::Failed { error: Some(error), cause: Some(cause) } => (error, cause),
            other => panic!("{other:?}"),
        }
    }
}

/// Tasks are answered by their function's name, their payload, and how often that function was asked before.
fn run(definition: &str, input: Value, mut answer: impl FnMut(&str, &Value, usize) -> Answer) -> Run {
    let definition = Definition::parse(definition).unwrap_or_else(|faults| panic!("{faults}"));
    let mut execution = Execution::new(Identity::default(), input);
    let mut run = Run::default();
    let mut events = VecDeque::from([Event::Started]);
    let mut now = 1_000_000;
    while let Some(event) = events.pop_front() {
        let done = step(&definition, &mut execution, event, Moment::new(now, run.history.len() as u64));
        for command in done.commands {
            match command {
                Command::RunTask { task, resource, input, nested, .. } => {
                    let (function, payload) = match &nested {
                        Some(nested) => (nested.machine.clone(), nested.input.clone()),
                        None => (input["FunctionName"].as_str().unwrap().to_owned(), input["Payload"].clone()),
                    };
                    let asked = run.payloads(&function).len();
                    let invoked = resource == "arn:aws:states:::lambda:invoke";
                    events.push_back(match answer(&function, &payload, asked) {
                        Ok(output) if invoked => {
                            Event::TaskSucceeded { task, output: json!({"Payload": output, "StatusCode": 200}) }
                        }
                        Ok(output) => Event::TaskSucceeded { task, output },
                        Err(error) => Event::TaskFailed { task, error: Some(error.into()), cause: Some("why".into()) },
                    });
                    run.tasks.push((function, payload));
                    run.nested.extend(nested);
                }
                Command::StartTimer { timer, until } => {
                    run.waits.push(until - now);
                    now = until;
                    events.push_back(Event::TimerFired { timer });
                }
                Command::Continue => events.push_front(Event::Continued),
                _ => {}
            }
        }
        run.history.extend(done.history);
    }
    run.status = Some(execution.status().clone());
    run
}

fn start_event() -> Value {
    json!({
        "file": "s3://staging/reports/q3.pdf", "collection_name": "reports",
        "ingest_params": {"chunk_size": 800}, "requested_by": "claims",
    })
}

fn taken_in(event: &Value) -> Value {
    json!({"statusCode": 200, "body": {
        "document_id": "q3", "s3_location": "s3://idp/raw/q3.pdf", "file_name": "q3.pdf", "file_guid": "g-1",
        "collection_name": event["collection_name"], "ingest_params": event["ingest_params"],
    }})
}

/// A file whose text is there at the poll of this number, counted from 1.
fn complete_at(poll: usize) -> impl FnMut(&str, &Value, usize) -> Answer {
    move |function, payload, asked| match function {
        "file_processing" => Ok(taken_in(payload)),
        "file_processing_status" => {
            let status = if asked + 1 >= poll { "COMPLETE" } else { "PENDING" };
            Ok(json!({"statusCode": 200, "body": {"document_id": "q3", "fileupload_status": status}}))
        }
        "ingestion" => Ok(json!({"Status": "SUCCEEDED", "Output": "{\"chunks\":3}"})),
        other => panic!("{other} was asked"),
    }
}

#[test]
fn s003_01_the_states_come_in_their_order() {
    let run = run(FILE_INGESTION, start_event(), complete_at(1));
    assert_eq!(run.states(), ["file_processing", "Wait", "FileUploadStatus", "Choice", "start_ingestion"]);
    assert!(matches!(run.status, Some(Status::Succeeded { .. })));
}

#[test]
fn s003_02_file_processing_is_given_the_whole_start_event() {
    let run = run(FILE_INGESTION, start_event(), complete_at(1));
    assert_eq!(run.payloads("file_processing"), [&start_event()]);
}

#[test]
fn s003_04_transient_errors_are_tried_again_three_times() {
    for error in ["Lambda.ServiceException", "Lambda.TooManyRequestsException", "States.TaskFailed"] {
        let mut good = complete_at(1);
        let recovers = run(FILE_INGESTION, start_event(), |function, payload, asked| {
            if function == "file_processing" && asked < 3 { Err(error) } else { good(function, payload, asked) }
        });
        assert_eq!(recovers.payloads("file_processing").len(), 4);
        assert!(matches!(recovers.status, Some(Status::Succeeded { .. })));
        // Full jitter: anything up to 1, 2 and 4 seconds.
        for (delay, most) in recovers.waits.iter().zip([1_000, 2_000, 4_000]) {
            assert!((0..=most).contains(delay), "{delay} of {most}");
        }
        let never = run(FILE_INGESTION, start_event(), |_, _, _| Err(error));
        assert_eq!((never.tasks.len(), never.failure()), (4, (error, "why")));
    }
}

#[test]
fn s003_05_wait_lasts_as_long_as_said() {
    let usual = run(FILE_INGESTION, start_event(), complete_at(2));
    assert_eq!(usual.waits, [200_000, 200_000]);
    let mut event = start_event();
    event["StatusPollSeconds"] = json!(7);
    assert_eq!(run(FILE_INGESTION, event, complete_at(3)).waits, [7_000; 3]);
}

#[test]
fn s003_06_the_status_is_set_in_the_state_input_by_a_task_with_the_same_retry_policy() {
    let run = run(FILE_INGESTION, start_event(), complete_at(2));
    let choices = run.history.iter().filter(|event| event.kind == "ChoiceStateEntered");
    let bodies: Vec<Value> = choices
        .map(|event| event.details.as_ref().unwrap().get("input").unwrap().as_str().unwrap())
        .map(|input| serde_json::from_str::<Value>(input).unwrap()["body"].clone())
        .collect();
    let statuses: Vec<_> = bodies.iter().map(|body| &body["fileupload_status"]).collect();
    assert_eq!(statuses, ["PENDING", "COMPLETE"]);
    assert!(bodies.iter().all(|body| body["file_guid"] == "g-1" && body["document_id"] == "q3"), "{bodies:?}");
    assert_eq!(run.payloads("file_processing_status")[0]["body"]["document_id"], "q3");

    let definition = Definition::parse(FILE_INGESTION).unwrap();
    let retry = |name: &str| definition.state(0, name).unwrap().retry.last().cloned().unwrap();
    let policy = retry("file_processing");
    assert_eq!(policy, retry("FileUploadStatus"));
    assert_eq!((policy.interval_seconds, policy.max_attempts, policy.backoff_rate), (1.0, 3, 2.0));
    assert!(policy.full_jitter && policy.errors.len() == 5);
}

#[test]
fn s003_07_what_is_not_complete_waits_again() {
    let run = run(FILE_INGESTION, start_event(), complete_at(4));
    let states = run.states();
    let count = |name: &str| states.iter().filter(|state| **state == name).count();
    assert_eq!((count("Wait"), count("FileUploadStatus"), count("Choice")), (4, 4, 4));
    assert_eq!((count("file_processing"), states.last()), (1, Some(&"start_ingestion")));
}

#[test]
fn s003_07_polling_ends() {
    let mut event = start_event();
    event["MaxStatusPolls"] = json!(5);
    let bounded = run(FILE_INGESTION, event, complete_at(usize::MAX));
    let expected = ("StatusPollsExhausted", "the file q3.pdf is still PENDING after 5 polls, 200 s apart");
    assert_eq!(bounded.failure(), expected);
    assert_eq!(bounded.payloads("file_processing_status").len(), 5);
    let unsaid = run(FILE_INGESTION, start_event(), complete_at(usize::MAX));
    assert_eq!((unsaid.failure().0, unsaid.waits.iter().sum::<i64>()), ("StatusPollsExhausted", 24 * 3_600 * 1_000));
}

#[test]
fn s003_07_a_file_that_fails_ends_the_machine() {
    let mut good = complete_at(1);
    let failed = run(FILE_INGESTION, start_event(), |function, payload, asked| match function {
        "file_processing_status" => Ok(json!({"body": {"fileupload_status": "FAILED", "error": "the PDF is damaged"}})),
        _ => good(function, payload, asked),
    });
    assert_eq!(failed.failure(), ("FileFailed", "the file q3.pdf could not be read: the PDF is damaged"));
    assert_eq!(failed.payloads("file_processing_status").len(), 1);

    let rejected = run(FILE_INGESTION, start_event(), |_, _, _| {
        Ok(json!({"statusCode": 400, "body": {"error": "`file` is not an s3:// location"}}))
    });
    let (error, cause) = rejected.failure();
    assert_eq!((error, rejected.tasks.len()), ("FileRejected", 1));
    assert_eq!(cause, "{\"error\":\"`file` is not an s3:// location\"}");
}

#[test]
fn s003_08_the_condition_is_the_expression_as_written() {
    let definition = Definition::parse(FILE_INGESTION).unwrap();
    let StateKind::Choice { rules, default } = &definition.state(0, "Choice").unwrap().kind else { panic!() };
    let last = rules.last().unwrap();
    assert!(
        FILE_INGESTION.contains(r#""Condition": "{% not(($states.input.body.fileupload_status) = (\"COMPLETE\")) %}""#)
    );
    assert_eq!((last.next.as_str(), default.as_deref()), ("Wait", Some("start_ingestion")));
    let warnings: Vec<_> = definition.warnings().iter().map(|warning| warning.path.as_str()).collect();
    assert_eq!(warnings, ["$.States.Choice.Choices[2].Condition"], "it runs, and the clean form is told");
}

#[test]
fn s003_09_the_ingestion_machine_is_started_and_waited_for() {
    let run = run(FILE_INGESTION, start_event(), complete_at(1));
    let [nested] = &run.nested[..] else { panic!("{:?}", run.nested) };
    assert_eq!((nested.machine.as_str(), nested.waits, nested.output_as_json), ("ingestion", true, false));
    let definition = Definition::parse(FILE_INGESTION).unwrap();
    assert_eq!(definition.state(0, "start_ingestion").unwrap().transition, Some(Transition::End));
    // What the nested run came to is there before the outer one ends.
    assert_eq!(run.output()["Output"], "{\"chunks\":3}");
}

#[test]
fn s003_10_its_input_is_built_from_five_values() {
    let expected = json!({
        "documentId": "q3", "ingest_params": {"chunk_size": 800}, "collection_name": "reports",
        "file_guid": "g-1", "file_name": "q3.pdf",
    });
    let outer = run(FILE_INGESTION, start_event(), complete_at(1));
    assert_eq!(outer.nested[0].input, expected);
    // The machine behind it hands the same to the function that chunks and indexes.
    let inner = run(INGESTION, outer.nested[0].input.clone(), |_, payload, _| Ok(json!({"seen": payload})));
    assert_eq!(inner.payloads("ingest_document"), [&expected]);
    assert_eq!(inner.output(), &json!({"seen": expected}));
    // Parameters that nobody gave are empty.
    let mut event = start_event();
    event.as_object_mut().unwrap().remove("ingest_params");
    let mut good = complete_at(1);
    let without = run(FILE_INGESTION, event, |function, payload, asked| {
        let mut answer = good(function, payload, asked)?;
        if function == "file_processing" {
            answer["body"].as_object_mut().unwrap().remove("ingest_params");
        }
        Ok(answer)
    });
    assert_eq!(without.nested[0].input["ingest_params"], json!({}));
}

#[test]
fn s003_11_jsonata_is_declared_for_all_states() {
    for text in [FILE_INGESTION, INGESTION] {
        assert_eq!(serde_json::from_str::<Value>(text).unwrap()["QueryLanguage"], "JSONata");
        let definition = Definition::parse(text).unwrap();
        let states = definition.root().states.values();
        assert!(
            states.into_iter().all(|state| state.language == bindery_states::asl::definition::QueryLanguage::Jsonata)
        );
    }
    let run = run(
        INGESTION,
        json!({"documentId": 1, "ingest_params": {}, "collection_name": "c", "file_guid": "g",
        "file_name": "f"}),
        |_, _, _| Ok(json!({"chunks": 3})),
    );
    assert_eq!(run.output(), &json!({"chunks": 3}), "expressions in Arguments and Output");
}

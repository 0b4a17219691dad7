//! Many questions at once, whose keys are not trusted.

use crate::support::{Bench, gemini_config, good, openai_config, request};
use bindery_models::{
    Advice, ErrorKind, ModelsConfig, Request,
    ask::{Batch, BatchAnswers, BatchOutcome},
    error::BUDGET,
    ledger::{Ledger as _, Purpose},
    timer::Timer as _,
};
use bindery_testkit::model_server::{Reply, Seen, Server, gemini_answer};
use serde_json::{Value, json};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tempfile::TempDir;

/// A service that keeps the requests of a batch and answers them as `answer` wants.
fn service(answer: impl Fn(Vec<(String, Value)>) -> Value + Send + Sync + 'static) -> (Server, Arc<Mutex<String>>) {
    let state = Arc::new(Mutex::new("BATCH_STATE_RUNNING".to_owned()));
    let handed_in: Mutex<Vec<(String, Value)>> = Mutex::default();
    let server = Server::start({
        let state = Arc::clone(&state);
        move |seen, _| {
            if seen.path.ends_with(":batchGenerateContent") {
                let requests = seen.body.pointer("/batch/inputConfig/requests/requests").unwrap().as_array().unwrap();
                *handed_in.lock().unwrap() = requests
                    .iter()
                    .map(|entry| {
                        let asked = Seen { body: entry["request"].clone(), ..seen.clone() };
                        let answer = json!({"response": gemini_answer(&good(&asked.item()), "STOP")});
                        (entry["metadata"]["key"].as_str().unwrap().to_owned(), answer)
                    })
                    .collect();
                return Reply::json(200, &json!({"name": "batches/b1", "metadata": {"state": "BATCH_STATE_PENDING"}}));
            }
            if seen.path.starts_with("/download/v1beta/files/out-1:download") {
                let entries = handed_in.lock().unwrap().clone();
                let lines = entries
                    .into_iter()
                    .map(|(key, answer)| format!("{}\n", json!({"key": key, "response": answer["response"]})));
                return Reply::new(200, lines.collect::<String>() + "half a li");
            }
            let state = state.lock().unwrap().clone();
            let mut told = json!({"name": "batches/b1", "metadata": {"state": state}});
            if state.ends_with("SUCCEEDED") {
                told["done"] = json!(true);
                told["response"] = answer(handed_in.lock().unwrap().clone());
            }
            Reply::json(200, &told)
        }
    });
    (server, state)
}

fn inline(entries: Vec<(String, Value)>) -> Value {
    let answers: Vec<Value> = entries
        .into_iter()
        .map(|(key, mut answer)| {
            answer["metadata"] = json!({"key": key});
            answer
        })
        .collect();
    json!({"inlinedResponses": {"inlinedResponses": answers}})
}

fn config(server: &Server) -> (ModelsConfig, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, "k").unwrap();
    let mut config = gemini_config(server, &key);
    config.prices.values_mut().for_each(|price| price.batch_factor = 0.5);
    (config, folder)
}

fn requests() -> Vec<Request> {
    (1..=4).map(|n| request(&format!("item-{n}"))).collect()
}

fn begun(bench: &Bench) -> Batch {
    let mut begun = bench.models.begin_batch(&requests(), &|| false).unwrap();
    assert_eq!((begun.known.len(), begun.batches.len()), (0, 1));
    begun.batches.remove(0)
}

fn collected(bench: &Bench, batch: &Batch) -> BatchAnswers {
    match bench.models.collect_batch(batch, &requests(), &|| false).unwrap() {
        BatchOutcome::Done(answers) => answers,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_batch_is_handed_in_waited_for_and_read() {
    let (server, state) = service(inline);
    let (config, _folder) = config(&server);
    let bench = Bench::new(config);
    let batch = begun(&bench);
    assert_eq!(batch.name, "batches/b1");
    // It survives a restart as JSON.
    let batch: Batch = serde_json::from_str(&serde_json::to_string(&batch).unwrap()).unwrap();
    assert_eq!(bench.models.collect_batch(&batch, &requests(), &|| false), Ok(BatchOutcome::Running));
    "JOB_STATE_SUCCEEDED".clone_into(&mut state.lock().unwrap());
    let answers = collected(&bench, &batch);
    assert!(answers.strangers.is_empty());
    for (item, answer) in &answers.answers {
        let answer = answer.as_ref().unwrap();
        assert_eq!(answer.value["summary"], format!("A park, by {item}."));
        assert_eq!(answer.cost_micros, 250, "half the price");
    }
    assert!(bench.ledger.calls().iter().all(|call| call.purpose == Purpose::Batch));
    assert_eq!(bench.ledger.spent_micros(batch.money.day), Ok(1000));
    let again = bench.models.begin_batch(&requests(), &|| false).unwrap();
    assert_eq!((again.known.len(), again.batches.len()), (4, 0), "what is known is not asked again");
}

#[test]
fn rotated_keys_are_refused_one_by_one() {
    let (server, state) = service(|mut entries| {
        // The neighbour's answer under each key, but for the last item.
        let answers: Vec<Value> = entries.iter().map(|(_, answer)| answer.clone()).collect();
        for n in 0..3 {
            entries[n].1 = answers[(n + 1) % 3].clone();
        }
        inline(entries)
    });
    "BATCH_STATE_SUCCEEDED".clone_into(&mut state.lock().unwrap());
    let (config, _folder) = config(&server);
    let bench = Bench::new(config);
    let answers = collected(&bench, &begun(&bench)).answers;
    for (item, answer) in &answers[..3] {
        let error = answer.as_ref().unwrap_err();
        assert_eq!(error.kind, ErrorKind::WrongItem, "{item}");
    }
    assert!(
        answers[0].1.as_ref().unwrap_err().message.contains("was asked about item-1 and answered about \"item-2\"")
    );
    assert!(answers[3].1.is_ok());
    let again = bench.models.begin_batch(&requests(), &|| false).unwrap();
    assert_eq!((again.known.len(), again.batches[0].items.len()), (1, 3), "the refused ones can be asked for again");
}

#[test]
fn answers_without_keys_are_known_by_what_they_say() {
    let (server, state) = service(|mut entries| {
        entries.reverse();
        json!({"inlinedResponses": {"inlinedResponses": entries.into_iter().map(|(_, answer)| answer).collect::<Vec<_>>()}})
    });
    "BATCH_STATE_SUCCEEDED".clone_into(&mut state.lock().unwrap());
    let (config, _folder) = config(&server);
    let bench = Bench::new(config);
    for (item, answer) in collected(&bench, &begun(&bench)).answers {
        assert_eq!(answer.unwrap().value["summary"], format!("A park, by {item}."));
    }
}

#[test]
fn what_is_missing_twice_unknown_or_failed_is_told_for_itself() {
    let (server, state) = service(|mut entries| {
        entries[1].1 = json!({"error": {"code": 13, "message": "internal error"}});
        entries[2] = entries[0].clone();
        entries[3].0 = "item-99".to_owned();
        inline(entries)
    });
    "BATCH_STATE_SUCCEEDED".clone_into(&mut state.lock().unwrap());
    let (config, _folder) = config(&server);
    let bench = Bench::new(config);
    let BatchAnswers { answers, strangers } = collected(&bench, &begun(&bench));
    assert_eq!(strangers, ["item-1", "item-99"]);
    assert!(answers[0].1.is_ok());
    assert!(answers[1].1.as_ref().unwrap_err().message.contains("internal error"));
    assert!(answers[2].1.as_ref().unwrap_err().message.contains("has no answer about item-3"));
}

#[test]
fn answers_may_come_as_a_file_of_lines() {
    let (server, state) = service(|_| json!({"responsesFile": "files/out-1"}));
    "BATCH_STATE_SUCCEEDED".clone_into(&mut state.lock().unwrap());
    let (config, _folder) = config(&server);
    let bench = Bench::new(config);
    let BatchAnswers { answers, strangers } = collected(&bench, &begun(&bench));
    assert!(answers.iter().all(|(_, answer)| answer.is_ok()));
    assert_eq!(strangers, ["an answer without a name"], "the line that is none");
    assert!(server.seen().iter().all(|seen| seen.header("x-goog-api-key") == Some("k")));
}

#[test]
fn a_batch_that_ends_without_answers_gives_its_money_back() {
    let (server, state) = service(inline);
    "BATCH_STATE_EXPIRED".clone_into(&mut state.lock().unwrap());
    let (mut config, _folder) = config(&server);
    config.daily_cost_cap = Some(0.003);
    let bench = Bench::new(config);
    let batch = begun(&bench);
    let error = bench.ask("item-9").unwrap_err();
    assert_eq!(error.kind, ErrorKind::CostCap, "the batch has it all");
    let soon = bench.timer.wall_clock() + Duration::from_secs(60);
    assert_eq!(error.advice, Advice::Park { until: BUDGET, retry_at: Some(soon) }, "nothing is spent yet");
    let ended = bench.models.collect_batch(&batch, &requests(), &|| false).unwrap();
    assert_eq!(ended, BatchOutcome::Ended("batches/b1 has expired".to_owned()));
    assert_eq!(bench.models.estimate(&request("item-9")).unwrap().model, "small-model");
    assert_eq!(bench.ledger.spent_micros(batch.money.day), Ok(0));
    assert_eq!(bench.ask("item-9").unwrap_err().kind, ErrorKind::ServerFault, "it is asked now");
}

#[test]
fn a_batch_that_cannot_be_is_one_clear_error() {
    let (server, _state) = service(inline);
    let openai = Bench::new(openai_config(&server));
    let error = openai.models.begin_batch(&requests(), &|| false).unwrap_err();
    assert!(error.message.contains("openai has no batches"), "{error}");
    let (config, _folder) = config(&server);
    let twice = [request("item-1"), request("item-1")];
    let error = Bench::new(config).models.begin_batch(&twice, &|| false).unwrap_err();
    assert!(error.message.contains("item-1 is in the batch twice"), "{error}");
    assert!(server.seen().is_empty());
}

//! What is sent, and what is made of what comes back.

use crate::support::{Bench, gemini_config, good, openai_config, request};
use bindery_models::{ErrorKind, Request, SizeClass, Soundness, Usage, ledger::Purpose};
use bindery_testkit::model_server::{Reply, Server, gemini_answer};
use serde_json::json;

#[test]
fn an_openai_compatible_server_is_asked_with_the_schema_and_everything_is_recorded() {
    let server = Server::start(|seen, _| Reply::says(seen, &good(&seen.item())));
    let bench = Bench::openai(&server);
    let answer = bench.ask("item-7").unwrap();
    assert_eq!(answer.value, json!({"summary": "A park, by item-7.", "topics": ["parks"]}), "without the echo");
    assert_eq!((answer.model.as_str(), answer.soundness.clone()), ("test-model-1", Soundness::Whole));
    assert_eq!(answer.usage, Usage { input: 100, output: 200, cached: 10 });
    assert_eq!((answer.cost_micros, answer.from_cache), (500, false));
    let seen = &server.requests()[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(seen.header("authorization"), None, "no key is configured");
    assert_eq!(seen.body["model"], "small-model");
    assert_eq!((&seen.body["max_tokens"], &seen.body["temperature"]), (&json!(500), &json!(0.3)));
    let format = &seen.body["response_format"];
    assert_eq!((&format["type"], &format["json_schema"]["strict"]), (&json!("json_schema"), &json!(true)));
    assert_eq!(format["json_schema"]["schema"]["required"], json!(["item_id", "summary", "topics"]));
    assert!(seen.user().starts_with("The council") && seen.user().ends_with("\n\nitem_id: item-7\n"));
    let calls = bench.ledger.calls();
    let call = &calls[0];
    assert_eq!((call.model.as_str(), call.prompt_version.as_str()), ("small-model", "item-1"));
    assert_eq!((call.item.as_str(), call.purpose, call.cost_micros), ("item-7", Purpose::Question, 500));
}

#[test]
fn gemini_is_asked_with_a_response_schema_and_the_key_in_a_header() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, "s3cret\n").unwrap();
    let server = Server::start(|seen, _| Reply::says(seen, &good(&seen.item())));
    let mut config = gemini_config(&server, &key);
    config.large.as_mut().unwrap().thinking_budget = Some(0);
    let bench = Bench::new(config);
    let mut large = request("item-7");
    large.size = SizeClass::Large;
    let answer = bench.models.ask(&large, &|| false).unwrap();
    assert_eq!(answer.usage, Usage { input: 100, output: 200, cached: 10 }, "thoughts are paid for");
    assert_eq!(answer.cost_micros, 5_000);
    let seen = &server.requests()[0];
    assert_eq!(seen.path, "/v1beta/models/large-model:generateContent", "no key in the address");
    assert_eq!(seen.header("x-goog-api-key"), Some("s3cret"));
    let config = &seen.body["generationConfig"];
    assert_eq!((&config["responseMimeType"], &config["maxOutputTokens"]), (&json!("application/json"), &json!(500)));
    assert_eq!(config["thinkingConfig"], json!({"thinkingBudget": 0}));
    assert_eq!(config["responseSchema"]["properties"]["topics"]["items"]["type"], "STRING");
    assert_eq!(
        seen.body["systemInstruction"]["parts"][0]["text"].as_str().unwrap().lines().next(),
        Some("Summarise the agenda item.")
    );
}

#[test]
fn a_server_that_does_not_know_schemas_is_told_in_words_from_then_on() {
    let server = Server::start(|seen, _| match seen.body["response_format"]["type"].as_str() {
        Some("json_schema") => {
            Reply::json(400, &json!({"error": {"message": "response_format type json_schema is not supported"}}))
        }
        _ if seen.body.get("max_completion_tokens").is_none() => {
            let message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
            Reply::json(400, &json!({"error": {"message": message}}))
        }
        _ if seen.body.get("temperature").is_some() => {
            let message = "Unsupported value: 'temperature' does not support 0.3 with this model.";
            Reply::json(400, &json!({"error": {"message": message}}))
        }
        _ => Reply::says(seen, &good(&seen.item())),
    });
    let bench = Bench::openai(&server);
    bench.ask("item-1").unwrap();
    bench.ask("item-2").unwrap();
    let seen = server.requests();
    assert_eq!(seen.len(), 5, "each is learnt once");
    assert_eq!(seen[3].body["response_format"], json!({"type": "json_object"}));
    assert!(seen[3].body["messages"][0]["content"].as_str().unwrap().contains("\"enum\":[\"parks\",\"budget\"]"));
    assert_eq!(bench.outcomes(), ["answered", "answered"]);
}

#[test]
fn the_same_question_is_paid_for_once_whichever_item_it_is_about() {
    let server = Server::start(|seen, _| Reply::says(seen, &good(&seen.item())));
    let bench = Bench::openai(&server);
    let first = bench.ask("item-7").unwrap();
    let mut again = request("item-7");
    again.item = "item-8".to_owned();
    assert!(bench.models.estimate(&again).unwrap().is_kept);
    let second = bench.models.ask(&again, &|| false).unwrap();
    assert_eq!((second.value, second.from_cache, second.cost_micros), (first.value, true, 0));
    let changes: [fn(&mut Request); 3] = [
        |request| "item-2".clone_into(&mut request.prompt_version),
        |request| request.size = SizeClass::Large,
        |request| request.user.push('!'),
    ];
    for change in changes {
        let mut other = request("item-7");
        change(&mut other);
        assert!(!bench.models.ask(&other, &|| false).unwrap().from_cache);
    }
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn prose_is_repaired_once_with_the_faults_named() {
    let server = Server::start(|seen, before| match before {
        0 => Reply::says(seen, "The council will build a park."),
        _ => Reply::says(seen, &format!("Sorry! Here it is:\n```json\n{}\n```", good(&seen.item()))),
    });
    let bench = Bench::openai(&server);
    let answer = bench.ask("item-7").unwrap();
    assert_eq!((answer.soundness, answer.cost_micros), (Soundness::Repaired, 1000), "both calls are paid for");
    let seen = server.requests();
    let turns = seen[1].body["messages"].as_array().unwrap();
    assert_eq!(
        (&turns[2]["role"], &turns[2]["content"]),
        (&json!("assistant"), &json!("The council will build a park."))
    );
    assert!(seen[1].user().contains("- the answer holds no JSON object"), "{}", seen[1].user());
    assert_eq!(bench.ledger.calls()[1].purpose, Purpose::Repair);
}

#[test]
fn an_answer_that_never_fits_is_one_clear_error() {
    let server = Server::start(|seen, _| Reply::says(seen, r#"{"item_id": "item-7", "summary": 5}"#));
    let bench = Bench::openai(&server);
    let error = bench.ask("item-7").unwrap_err();
    assert_eq!(error.kind, ErrorKind::BadAnswer);
    assert_eq!(
        error.to_string(),
        "test-model-1 gave no usable answer about item-7, also after one repair: the answer lacks the field `topics`; `summary` has to be of the type string, and is 5"
    );
    assert_eq!(server.requests().len(), 2);
    let empty = Server::start(|seen, _| Reply::says(seen, ""));
    assert!(Bench::openai(&empty).ask("item-7").unwrap_err().message.ends_with("the answer is empty"));
}

#[test]
fn an_answer_about_another_item_is_refused() {
    let server = Server::start(|seen, before| Reply::says(seen, &good(if before == 0 { "item-8" } else { "item-7" })));
    let bench = Bench::openai(&server);
    assert_eq!(bench.ask("item-7").unwrap().soundness, Soundness::Repaired);
    let seen = server.requests();
    assert_eq!(seen[1].body["messages"].as_array().unwrap().len(), 2, "asked afresh, not told the name to use");
    let always = Server::start(|seen, _| Reply::says(seen, &good("item-8")));
    let error = Bench::openai(&always).ask("item-7").unwrap_err();
    assert_eq!(error.kind, ErrorKind::WrongItem);
    assert!(error.message.contains("was asked about item-7 and answered about \"item-8\""), "{error}");
}

#[test]
fn an_answer_that_broke_off_is_kept_and_marked() {
    let server =
        Server::start(|seen, _| Reply::is_cut_off(seen, r#"{"item_id": "item-7", "summary": "A park for $1,2"#));
    let bench = Bench::openai(&server);
    let answer = bench.ask("item-7").unwrap();
    assert_eq!(answer.value, json!({"summary": "A park for $1,2"}));
    assert_eq!(answer.soundness, Soundness::Salvaged { missing: vec!["topics".to_owned()] });
    assert_eq!(server.requests().len(), 2, "a shorter one was asked for first");
    assert!(server.requests()[1].user().contains("broke off"));
    let whole = Server::start(|seen, _| {
        Reply::is_cut_off(seen, r#"{"item_id": "item-7", "topics": ["parks"], "summary": "A park for a mil"#)
    });
    let answer = Bench::openai(&whole).ask("item-7").unwrap();
    assert_eq!(answer.soundness, Soundness::Salvaged { missing: Vec::new() });
    assert_eq!(whole.requests().len(), 1, "everything that is required is there");
}

#[test]
fn a_model_that_declines_is_not_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, "k").unwrap();
    let server = Server::start(|_, before| match before {
        0 => Reply::json(200, &json!({"promptFeedback": {"blockReason": "SAFETY"}})),
        _ => Reply::json(200, &gemini_answer("", "RECITATION")),
    });
    let bench = Bench::new(gemini_config(&server, &key));
    for expected in ["the question was blocked (SAFETY)", "the answer was withheld (RECITATION)"] {
        let error = bench.ask("item-7").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused);
        assert!(error.message.contains(expected), "{error}");
    }
    let refusing = Server::start(|_, _| {
        Reply::json(200, &json!({"choices": [{"message": {"refusal": "I would rather not"}, "finish_reason": "stop"}]}))
    });
    let error = Bench::new(openai_config(&refusing)).ask("item-7").unwrap_err();
    assert!(error.message.contains("I would rather not"), "{error}");
}

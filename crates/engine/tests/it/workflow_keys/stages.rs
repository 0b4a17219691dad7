//! What happens, where, by whom, and what people see of it.

use super::{Seen, echo, fails, registry, workflow};
use bindery_core::{Name, StepError, job::JobState, submission::SubmissionStatus};
use bindery_engine::{
    Extracted, Registry,
    context::StepContext,
    intake::Intake,
    report::{About, Reported},
    view,
    workflow::Target,
};
use bindery_store::query::ReviewFilter;
use serde_json::{Value, json};

fn echoing(names: &[&str]) -> Registry {
    registry(&names.iter().map(|name| (*name, echo as super::Work)).collect::<Vec<_>>())
}

pub(super) async fn name_is_what_submissions_ask_for() {
    for (written, asked) in [("w", "other"), ("other", "w")] {
        let rig = crate::support::Rig::new(echoing(&["a"]));
        rig.workflow(&format!("name: {written}\nstages: [{{name: a}}]\n")).await;
        rig.submit(Intake::new(written, Vec::new())).await;
        let refused = rig.engine.submit(Intake::new(asked, Vec::new())).await.unwrap_err();
        assert_eq!(refused.to_string(), format!("there is no workflow {asked:?}; known are {written}"));
    }
}

pub(super) async fn description_is_shown_with_the_workflow() {
    for text in ["Reads bills.", "Reads letters."] {
        let seen = Seen::run(echoing(&["a"]), &format!("{}description: {text}\n", workflow("{name: a}")), 0).await;
        let shown = seen.rig.engine.catalog().workflow(&Name::from("w"), None).await.unwrap();
        assert_eq!(shown.description, text);
    }
}

pub(super) async fn version_is_pinned_by_each_submission() {
    let rig = crate::support::Rig::new(echoing(&["old", "new", "end"]));
    let version = |number: u32, first: &str| {
        format!("{}version: {number}\n", workflow(&format!("{{name: {first}}}, {{name: end}}")))
    };
    let early = Seen::received(rig, &version(1, "old"), 1).await;
    // Edited while it is under way.
    let rig = &early.rig;
    rig.workflow(&version(2, "new")).await;
    let late = rig.submit(Intake::new("w", rig.files(1).await)).await;
    rig.drain().await;
    assert_eq!((early.completed("old").await, early.completed("new").await), (1, 0));
    // In the order of their names.
    let by_late = rig.store.outcomes(late, None).await.unwrap();
    assert_eq!(by_late.iter().map(|outcome| &*outcome.stage).collect::<Vec<_>>(), ["end", "new"]);
    let versions = [early.id, late].map(|id| async move { rig.store.submission(id).await.unwrap().unwrap() });
    let [first, second] = versions;
    assert_eq!((first.await.workflow_version, second.await.workflow_version), (1, 2));
    // Another text under a version that submissions are pinned to is refused.
    assert!(rig.engine.register_workflow(&version(1, "new"), None).await.is_err());
}

pub(super) async fn stages_are_what_happens() {
    for stages in [&["a"][..], &["a", "b"]] {
        let listed: Vec<String> = stages.iter().map(|name| format!("{{name: {name}}}")).collect();
        let seen = Seen::run(echoing(&["a", "b"]), &workflow(&listed.join(", ")), 1).await;
        let progress = view::progress(&seen.rig.engine, seen.id).await.unwrap();
        let shown: Vec<_> = progress.stages.iter().map(|stage| (&*stage.stage, stage.counts.completed)).collect();
        assert_eq!(shown, stages.iter().map(|name| (*name, 1)).collect::<Vec<_>>());
    }
}

pub(super) async fn stage_name_is_where_results_are_found() {
    for name in ["first", "second"] {
        let seen = Seen::run(echoing(&["a"]), &workflow(&format!("{{name: {name}, component: a}}")), 1).await;
        let found = [seen.completed("first").await, seen.completed("second").await];
        assert_eq!(found, if name == "first" { [1, 0] } else { [0, 1] });
    }
}

pub(super) async fn component_names_the_queue() {
    for component in ["left", "right"] {
        let yaml = workflow(&format!("{{name: a, component: {component}}}"));
        let seen = Seen::received(crate::support::Rig::new(echoing(&["left", "right"])), &yaml, 1).await;
        assert!(seen.rig.store.pause(&Name::from("q.left"), None).await.unwrap());
        seen.rig.drain().await;
        assert_eq!(seen.completed("a").await, usize::from(component == "right"));
    }
}

fn jumps(context: &StepContext, input: Value) -> Result<Extracted, StepError> {
    let key = context.settings()["to"].as_str().unwrap_or_default();
    Ok(Extracted { target: Some(Target::parse(key)), ..Extracted::new(input) })
}

pub(super) async fn routing_key_is_how_a_processor_gets_there() {
    for (key, skipped) in [("page.there", true), ("page.elsewhere", false)] {
        let stages = format!(
            "{{name: jump, settings: {{to: page.there}}}}, {{name: between{}}}, {{name: there, routing_key: {key}}}",
            if skipped { "" } else { ", routing_key: page.there" }
        );
        let seen =
            Seen::run(registry(&[("jump", jumps), ("between", echo), ("there", echo)]), &workflow(&stages), 1).await;
        assert_eq!(seen.completed("between").await, usize::from(!skipped));
        assert_eq!(seen.completed("there").await, 1);
    }
    // A key that leads nowhere is the processor's mistake, and said so.
    let seen = Seen::run(registry(&[("jump", jumps)]), &workflow("{name: jump, settings: {to: nowhere}}"), 1).await;
    let dead = seen.jobs(JobState::Dead).await;
    assert!(dead[0].error.as_ref().unwrap().message.contains("no stage with the routing key \"nowhere\""));
    // So is one that leads out of a part past the stage that collects the parts.
    let stages = "{name: jump, over: file, settings: {to: w.end}}, \
                  {name: all, component: extraction_aggregator, aggregation: {expect_count_from: file_count}}, {name: end}";
    let seen = Seen::run(registry(&[("jump", jumps), ("end", echo)]), &workflow(stages), 1).await;
    let said = seen.jobs(JobState::Dead).await[0].error.clone().unwrap().message;
    assert_eq!(said, "stage jump works on each file, and the stage that collects those is all, not end");
}

pub(super) async fn over_is_what_a_stage_runs_once_for() {
    for (over, runs) in [("submission", 1), ("file", 3)] {
        let seen = Seen::run(echoing(&["a"]), &workflow(&format!("{{name: a, over: {over}}}")), 3).await;
        assert_eq!(seen.completed("a").await, runs);
        // The received files are there for later stages, too.
        let seen =
            Seen::run(echoing(&["a", "b"]), &workflow(&format!("{{name: b}}, {{name: a, over: {over}}}")), 3).await;
        assert_eq!(seen.completed("a").await, runs);
        assert_eq!(seen.status().await, SubmissionStatus::Completed);
    }
}

pub(super) async fn processors_each_run_on_every_item() {
    for (listed, runs) in [("[p]", 2), ("[p, q]", 4), ("[p, q, r]", 6)] {
        let yaml = workflow(&format!("{{name: a, over: file, processors: {listed}}}, {{name: b, over: file}}"));
        let seen = Seen::run(echoing(&["p", "q", "r", "b"]), &yaml, 2).await;
        assert_eq!(seen.completed("a").await, runs);
        assert_eq!(seen.completed("b").await, 2, "what follows runs once for each item");
    }
}

pub(super) async fn processor_name_is_who_runs() {
    let who = |context: &StepContext, _: Value| Ok(Extracted::new(json!(context.stage()?.processors[0].name)));
    for name in ["p", "q"] {
        let yaml = workflow(&format!("{{name: a, processors: [{{name: {name}}}]}}"));
        let seen = Seen::run(registry(&[("p", who), ("q", who)]), &yaml, 1).await;
        assert_eq!(seen.outcomes("a").await[0].processor, name);
    }
    let rig = crate::support::Rig::new(registry(&[]));
    rig.workflow(&workflow("{name: a, processors: [{name: nobody}]}")).await;
    let refused = rig.engine.submit(Intake::new("w", Vec::new())).await.unwrap_err().to_string();
    assert!(refused.contains("no processor is registered under nobody"), "{refused}");
}

pub(super) async fn external_waits_for_a_report() {
    for external in [false, true] {
        let yaml = workflow(&format!("{{name: a, over: file, processors: [{{name: p, external: {external}}}]}}"));
        let seen = Seen::run(echoing(&["p"]), &yaml, 1).await;
        assert_eq!(seen.status().await == SubmissionStatus::Completed, !external);
        let awaiting = seen.jobs(JobState::Awaiting).await;
        assert_eq!(awaiting.len(), usize::from(external));
        let Some(job) = awaiting.first() else { continue };
        let about = About { submission: seen.id, item: job.item, stage: "a".into(), processor: "p".into() };
        let report = || Reported::Completed { output: json!({"said": "outside"}), confidence: None };
        assert!(seen.rig.engine.report(&about, report()).await.unwrap());
        assert!(!seen.rig.engine.report(&about, report()).await.unwrap(), "the second one is nobody's");
        seen.rig.drain().await;
        assert_eq!(seen.output("a").await, json!({"said": "outside"}));
        assert_eq!(seen.status().await, SubmissionStatus::Completed);
    }
}

pub(super) async fn result_is_what_an_outside_result_must_have() {
    for (result, text, counts) in [
        ("", "{}", true),
        (", result: {total: number}", "{}", false),
        (", result: any", "[7]", true),
        ("", "[7]", false),
    ] {
        let outside = "over: file, processors: [{name: p, external: true}]";
        let yaml = workflow(&format!("{{name: a, {outside}{result}}}, {{name: b, over: file}}"));
        let seen = Seen::run(echoing(&["b"]), &yaml, 1).await;
        let item = seen.jobs(JobState::Awaiting).await[0].item.unwrap();
        let message = format!("{{\"request_id\": \"{}\", \"document_id\": \"{item}\", \"payload\": {text}}}", seen.id);
        let published = seen.rig.engine.publish("w.b", serde_json::from_str(&message).unwrap()).await;
        assert_eq!(published.is_ok(), counts, "{result} {text}: {published:?}");
        seen.rig.drain().await;
        assert_eq!(seen.completed("b").await, usize::from(counts));
    }
}

fn fairly_sure(_context: &StepContext, input: Value) -> Result<Extracted, StepError> {
    Ok(Extracted::new(input).with_confidence(0.80))
}

async fn review_queues(seen: &Seen) -> Vec<String> {
    let reviews = seen.rig.store.reviews(ReviewFilter { submission: Some(seen.id), ..ReviewFilter::default() });
    reviews.await.unwrap().into_iter().map(|review| review.queue.to_string()).collect()
}

pub(super) async fn confidence_threshold_asks_a_person_below_it() {
    for (threshold, asked) in [("0.79", 0), ("0.80", 0), ("0.81", 1)] {
        let yaml = workflow(&format!("{{name: a, confidence_threshold: {threshold}, backoffice_queue: task.a}}"));
        let seen = Seen::run(registry(&[("a", fairly_sure)]), &yaml, 1).await;
        assert_eq!(review_queues(&seen).await.len(), asked, "{threshold}");
        assert_eq!(seen.status().await == SubmissionStatus::Completed, asked == 0);
    }
}

pub(super) async fn backoffice_queue_is_where_people_look() {
    for queue in ["task.left", "task.right"] {
        let yaml = workflow(&format!("{{name: a, confidence_threshold: 0.9, backoffice_queue: {queue}}}"));
        let seen = Seen::run(registry(&[("a", fairly_sure)]), &yaml, 1).await;
        assert_eq!(review_queues(&seen).await, [queue]);
    }
    let asks: super::Work = |_, input| Ok(Extracted { target: Some(Target::Backoffice), ..Extracted::new(input) });
    for (key, asked) in [(", backoffice_queue: task.a", 1), ("", 0)] {
        let seen = Seen::run(registry(&[("a", asks)]), &workflow(&format!("{{name: a{key}}}")), 1).await;
        assert_eq!(review_queues(&seen).await.len(), asked);
        assert_eq!(seen.jobs(JobState::Dead).await.len(), 1 - asked, "nobody to ask is an error");
    }
}

pub(super) async fn on_review_says_whether_a_person_is_waited_for() {
    for (key, goes_on) in [("wait", false), ("continue", true)] {
        let asks = format!("confidence_threshold: 0.9, backoffice_queue: task.a, on_review: {key}");
        let stages = format!("{{name: a, over: file, {asks}}}, {{name: b, over: file}}");
        let seen = Seen::run(registry(&[("a", fairly_sure), ("b", super::echo)]), &workflow(&stages), 2).await;
        assert_eq!(review_queues(&seen).await.len(), 2, "{key}");
        assert_eq!(seen.completed("b").await, if goes_on { 2 } else { 0 }, "{key}");
        assert_eq!(seen.status().await == SubmissionStatus::Completed, goes_on, "{key}");
    }
}

pub(super) async fn review_timeout_is_how_long_a_person_may_keep_it() {
    for (key, seconds) in [("", 120), (", review_timeout_seconds: 7", 7)] {
        let yaml = workflow(&format!("{{name: a, confidence_threshold: 0.9, backoffice_queue: task.a{key}}}"));
        let rig = crate::support::Rig::with_manual_clock(registry(&[("a", fairly_sure)]));
        let seen = Seen::received(rig, &yaml, 1).await;
        seen.rig.drain().await;
        let id = seen.rig.store.reviews(ReviewFilter::default()).await.unwrap().remove(0).id;
        seen.rig.engine.claim_review(id, "ana").await.unwrap();
        seen.rig.clock.advance(std::time::Duration::from_secs(seconds - 1));
        assert!(seen.rig.engine.claim_review(id, "bo").await.is_err(), "{seconds}");
        seen.rig.clock.advance(std::time::Duration::from_secs(1));
        seen.rig.engine.claim_review(id, "bo").await.unwrap();
    }
}

pub(super) async fn status_is_shown_from_its_stage_on() {
    for (key, expected) in
        [("status: processing", SubmissionStatus::Processing), ("parallel: true", SubmissionStatus::Splitting)]
    {
        let yaml = workflow(&format!("{{name: a, over: file, status: splitting}}, {{name: b, over: file, {key}}}"));
        let seen = Seen::received(crate::support::Rig::new(echoing(&["a", "b"])), &yaml, 1).await;
        assert_eq!(seen.status().await, SubmissionStatus::Splitting);
        assert!(seen.rig.store.pause(&Name::from("q.b"), None).await.unwrap());
        seen.rig.drain().await;
        assert_eq!(seen.status().await, expected);
    }
    // Also where the stage begins because its parts are complete.
    let stages = "{name: a, over: file, status: splitting}, \
                  {name: b, status: extracting, aggregation: {expect_count_from: file_count}}";
    let seen = Seen::received(crate::support::Rig::new(echoing(&["a", "b"])), &workflow(stages), 2).await;
    assert!(seen.rig.store.pause(&Name::from("q.b"), None).await.unwrap());
    seen.rig.drain().await;
    assert_eq!(seen.status().await, SubmissionStatus::Extracting);
}

pub(super) async fn complete_when_says_whether_one_is_enough() {
    for (when, reached) in [("any", 1), ("all", 0)] {
        let yaml = workflow(&format!(
            "{{name: a, over: file, max_attempts: 1, processors: [good, bad], complete_when: {when}}}, {{name: b, over: file}}"
        ));
        let seen = Seen::run(registry(&[("good", echo), ("bad", fails), ("b", echo)]), &yaml, 1).await;
        assert_eq!(seen.completed("b").await, reached, "{when}");
        assert_eq!(seen.status().await == SubmissionStatus::Completed, reached == 1);
    }
}

pub(super) async fn settings_reach_the_processor() {
    let tells: super::Work = |context, _| Ok(Extracted::new(Value::Object(context.settings().clone())));
    for language in ["nl", "es"] {
        let yaml = workflow(&format!("{{name: a, settings: {{language: {language}}}}}"));
        let seen = Seen::run(registry(&[("a", tells)]), &yaml, 1).await;
        assert_eq!(seen.output("a").await, json!({"language": language}));
    }
}

/// Lists the fields of a bill as its workflow describes them.
fn reads_schema(context: &StepContext, _input: Value) -> Result<Extracted, StepError> {
    let Some(schema) = context.workflow()?.extraction_schemas.get("bill") else {
        return Ok(Extracted::new(json!("no bills")));
    };
    let fields = schema.fields.iter();
    let told = fields.map(|field| json!([field.name, field.field_type.as_str(), field.required]));
    Ok(Extracted::new(told.collect()))
}

async fn told_of(schemas: &str) -> Value {
    let yaml = format!("{}extraction_schemas: {schemas}\n", workflow("{name: a}"));
    Seen::run(registry(&[("a", reads_schema)]), &yaml, 1).await.output("a").await
}

pub(super) async fn extraction_schemas_reach_the_processor() {
    assert_eq!(told_of("{letter: {fields: []}}").await, json!("no bills"));
    assert_eq!(told_of("{bill: {fields: []}}").await, json!([]));
}

pub(super) async fn schema_fields_are_what_is_read() {
    assert_eq!(told_of("{bill: {fields: [{name: a}, {name: b}]}}").await[1][0], "b");
    assert_eq!(told_of("{bill: {fields: [{name: b}]}}").await, json!([["b", "string", false]]));
}

pub(super) async fn field_name_is_what_is_looked_for() {
    for name in ["total", "sum"] {
        assert_eq!(told_of(&format!("{{bill: {{fields: [{{name: {name}}}]}}}}")).await[0][0], name);
    }
}

pub(super) async fn field_type_is_told() {
    for kind in ["decimal", "date"] {
        assert_eq!(told_of(&format!("{{bill: {{fields: [{{name: a, type: {kind}}}]}}}}")).await[0][1], kind);
    }
}

pub(super) async fn required_is_told() {
    for required in [true, false] {
        assert_eq!(
            told_of(&format!("{{bill: {{fields: [{{name: a, required: {required}}}]}}}}")).await[0][2],
            required
        );
    }
}

//! A key that is read by nobody is worse than an unknown one: every key has an effect, and is described.

use super::{Workflow, parse, retention, stage};

/// Where a key is written, the keys known there, and for each of them a value that is not the default.
type Level = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

/// `@` is where the key goes.
const LEVELS: &[Level] = &[
    (
        "{@}",
        parse::WORKFLOW_KEYS,
        &[
            ("name", "other"),
            ("description", "text"),
            ("version", "2"),
            ("sla", "{deadline_seconds: 5}"),
            ("retention", "{events_days: 5}"),
            ("stages", "[{name: other}]"),
            ("extraction_schemas", "{bill: {fields: []}}"),
        ],
    ),
    (
        "{sla: {deadline_seconds: 60, @}}",
        parse::SLA_KEYS,
        &[("deadline_seconds", "5"), ("warn_threshold_pct", "50"), ("escalation_threshold_pct", "95")],
    ),
    (
        "{retention: {@}}",
        retention::RETENTION_KEYS,
        &[
            ("raw_files_days", "0"),
            ("page_images_days", "7"),
            ("texts_days", "30"),
            ("results_days", "365"),
            ("events_days", "90"),
        ],
    ),
    ("{extraction_schemas: {bill: {fields: [], @}}}", parse::SCHEMA_KEYS, &[("fields", "[{name: total}]")]),
    (
        "{extraction_schemas: {bill: {fields: [{name: total, @}]}}}",
        parse::FIELD_KEYS,
        &[("name", "sum"), ("type", "decimal"), ("required", "true")],
    ),
    (
        "{stages: [{name: first}, {name: a, @}]}",
        stage::STAGE_KEYS,
        &[
            ("name", "b"),
            ("component", "c"),
            ("routing_key", "k"),
            ("over", "file"),
            ("processors", "[p]"),
            ("timeout_seconds", "7"),
            ("max_attempts", "7"),
            ("max_worker_losses", "7"),
            ("retry", "{factor: 3}"),
            ("parallel", "true"),
            ("limits", "{concurrency: 1}"),
            ("confidence_threshold", "0.5, backoffice_queue: q"),
            ("backoffice_queue", "q"),
            ("on_review", "continue, backoffice_queue: q"),
            ("review_timeout_seconds", "7, backoffice_queue: q"),
            ("aggregation", "{expect_count_from: file_count}"),
            ("status", "routing"),
            ("complete_when", "all"),
            ("runner", "processes"),
            ("memory_mb", "64"),
            ("result", "any"),
            ("settings", "{language: nl}"),
        ],
    ),
    (
        "{stages: [{name: a, processors: [{name: p, @}]}]}",
        stage::PROCESSOR_KEYS,
        &[("name", "other"), ("external", "true"), ("timeout_seconds", "7"), ("max_attempts", "7")],
    ),
    (
        "{stages: [{name: a, retry: {@}}]}",
        stage::RETRY_KEYS,
        &[("initial_seconds", "0.25"), ("factor", "3"), ("max_seconds", "7"), ("jitter", "1")],
    ),
    (
        "{stages: [{name: a, limits: {concurrency: 2, rate_per_minute: 3, @}}]}",
        stage::LIMIT_KEYS,
        &[("concurrency", "7"), ("rate_per_minute", "7"), ("per", "owner")],
    ),
    (
        "{stages: [{name: first}, {name: a, aggregation: {expect_count_from: page_count, @}}]}",
        stage::AGGREGATION_KEYS,
        &[("type", ""), ("collect_by", "file_id"), ("expect_count_from", "file_count"), ("on_failed", "fail")],
    ),
];

/// Puts `key: value` at the `@`, in place of the same key if the mapping around it has one already, and adds what a
/// workflow must have.
fn with(template: &str, key: &str, value: &str) -> String {
    let (before, after) = template.split_once('@').unwrap();
    let start = before.rfind('{').unwrap() + 1;
    let kept: Vec<&str> =
        split_top(&before[start..]).into_iter().filter(|part| !part.starts_with(&format!("{key}:"))).collect();
    let new = if key.is_empty() { String::new() } else { format!("{key}: {value}") };
    let inside = kept.into_iter().chain((!new.is_empty()).then_some(new.as_str())).collect::<Vec<_>>().join(", ");
    let body = format!("{}{inside}{after}", &before[..start]);
    let mut required = String::new();
    for (name, value) in [("name", "w"), ("stages", "[{name: a}]")] {
        if !body.starts_with(&format!("{{{name}:")) {
            required = format!("{required}{name}: {value}, ");
        }
    }
    format!("{{{required}{}", &body[1..])
}

fn split_top(text: &str) -> Vec<&str> {
    text.split(", ").map(str::trim).filter(|part| !part.is_empty()).collect()
}

#[test]
fn every_known_key_changes_the_model() {
    for (template, known, examples) in LEVELS {
        let listed: Vec<&str> = examples.iter().map(|(key, _)| *key).collect();
        assert_eq!(listed, *known, "every key of {template} needs an example");
        let plain = with(template, "", "");
        let plain = Workflow::parse(&plain, None).unwrap_or_else(|error| panic!("{plain}\n{error}"));
        for (key, value) in *examples {
            // There is only one type of aggregation, so naming it cannot change anything.
            if *key == "type" && value.is_empty() {
                continue;
            }
            let yaml = with(template, key, value);
            let changed = Workflow::parse(&yaml, None).unwrap_or_else(|error| panic!("{yaml}\n{error}"));
            assert_ne!(changed, plain, "{yaml}");
        }
    }
}

#[test]
fn the_reference_describes_every_key() {
    let reference = include_str!("../../../../docs/workflows.md");
    for (template, known, _) in LEVELS {
        for key in *known {
            assert!(reference.contains(&format!("| `{key}` |")), "docs/workflows.md lacks {key} of {template}");
        }
    }
    let examples = reference.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    for example in examples.filter(|example| example.contains("\nstages:")) {
        Workflow::parse(example, Some("docs/workflows.md")).unwrap_or_else(|error| panic!("{error}"));
    }
}

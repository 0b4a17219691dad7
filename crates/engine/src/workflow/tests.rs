//! The messages people see, and input that nobody would write.

use super::{Workflow, builtin};
use bindery_yaml::{self as yaml, Fields, Problems};
use proptest::prelude::*;

fn errors(yaml: &str) -> String {
    Workflow::parse(yaml, Some("w.yaml")).unwrap_err().to_string()
}

/// The messages for one stage, given as the lines of its mapping.
fn stage_errors(lines: &str) -> String {
    errors(&format!("name: w\nstages:\n  - name: one\n    {}\n", lines.replace('\n', "\n    ")))
}

#[test]
fn all_problems_come_at_once_in_reading_order() {
    let yaml = "\
name: my workflow
verison: 2
sla: {deadline_seconds: soon}
stages:
  - name: ocr
    timeout_secs: 5
    max_attempts: 0
  - name: ocr
    paralel: true
    confidence_threshold: 1.5
";
    assert_eq!(
        errors(yaml),
        "\
w.yaml:1:7: name: \"my workflow\" is not a name
  hint: use letters, digits, `.`, `_` and `-`, and begin with a letter or a digit
w.yaml:2:1: unknown key \"verison\"
  hint: did you mean `version`?
w.yaml:3:25: sla.deadline_seconds: expected a whole number of seconds, found the text \"soon\"
w.yaml:6:5: stages[0]: unknown key \"timeout_secs\"
  hint: did you mean `timeout_seconds`?
w.yaml:7:19: stages[0].max_attempts: expected at least 1, found 0
w.yaml:8:11: stages[1].name: the stage name \"ocr\" is already used on line 5
  hint: stages are found by name; two stages may share a component, but not a name
w.yaml:9:5: stages[1]: unknown key \"paralel\"
  hint: did you mean `parallel`?
w.yaml:10:27: stages[1].confidence_threshold: expected a number from 0 to 1, found 1.5
w.yaml:10:27: stages[1].confidence_threshold: results below the threshold have nowhere to go
  hint: add `backoffice_queue`, the queue where people find them, for example task.classification"
    );
}

#[test]
fn missing_and_empty_parts_are_named() {
    assert_eq!(
        errors("description: nothing else\n"),
        "\
w.yaml:1:1: `name` is missing
  hint: give the workflow the name that submissions ask for
w.yaml:1:1: `stages` is missing
  hint: a workflow has at least one stage"
    );
    assert_eq!(
        errors("name: w\nstages: []\n"),
        "w.yaml:2:9: stages: the list is empty\n  hint: a workflow has at least one stage"
    );
    assert_eq!(errors("- name: w\n"), "w.yaml:1:1: expected a mapping, found a list");
    assert_eq!(
        errors("name: 12\nstages: {}\n"),
        "\
w.yaml:1:7: name: expected a name, found the number 12
  hint: a number or a word like true is a name only in quotes
w.yaml:2:9: stages: expected a list, found a mapping"
    );
    assert_eq!(
        errors("name: w\nname: v\n2: x\nstages: [{name: a}]\n"),
        "\
w.yaml:2:1: the key \"name\" is already on line 1
  hint: keep one of the two
w.yaml:3:1: expected a text as key, found the number 2
  hint: put the key in quotes"
    );
    assert_eq!(
        errors("name: w\nstages: [{component: a}]\n"),
        "w.yaml:2:10: stages[0]: `name` is missing\n  hint: every stage has a name of its own"
    );
}

#[test]
fn versions_count_from_one() {
    for (written, version) in [("3", 3), ("1.0", 1), ("\"2.0\"", 2), ("\"4\"", 4)] {
        let workflow = Workflow::parse(&format!("name: w\nversion: {written}\nstages: [{{name: a}}]\n"), None).unwrap();
        assert_eq!(workflow.version, version);
    }
    for written in ["0", "-1", "1.5", "new", "[]", "1.0.0"] {
        let shown = errors(&format!("name: w\nversion: {written}\nstages: [{{name: a}}]\n"));
        assert!(shown.starts_with("w.yaml:2:10: version: expected a whole number from 1 on, found "), "{shown}");
    }
}

#[test]
fn thresholds_of_a_deadline_are_in_order() {
    let sla = |text: &str| errors(&format!("name: w\nstages: [{{name: a}}]\nsla: {{{text}}}\n"));
    assert_eq!(
        sla("deadline_seconds: 9, warn_threshold_pct: 95"),
        "\
w.yaml:3:48: sla.warn_threshold_pct: the warning at 95 % would come after the escalation at 90 %
  hint: keep warn_threshold_pct (default 70) at or below escalation_threshold_pct (default 90)"
    );
    assert_eq!(
        sla("deadline_seconds: 9, escalation_threshold_pct: 101"),
        "w.yaml:3:54: sla.escalation_threshold_pct: expected at most 100, found 101"
    );
    assert_eq!(
        sla("warn_threshold_pct: 5"),
        "w.yaml:3:6: sla: `deadline_seconds` is missing\n  hint: say how long a submission may take, for example 60"
    );
}

#[test]
fn a_stage_is_checked_by_itself() {
    let cases = [
        ("timeout_seconds: 0", "4:22: stages[0].timeout_seconds: expected at least 1, found 0"),
        (
            "timeout_seconds: 1.5",
            "4:22: stages[0].timeout_seconds: expected a whole number of seconds, found the number 1.5",
        ),
        (
            "timeout_seconds:",
            "4:20: stages[0].timeout_seconds: expected a whole number of seconds, found nothing\n  \
             hint: leave the key out to have its default",
        ),
        ("over: pages", "4:11: stages[0].over: expected submission, file, document or page, found the text \"pages\""),
        (
            "processors: []",
            "4:17: stages[0].processors: the list is empty\n  \
             hint: leave the key out to run the one processor that is named like the component",
        ),
        (
            "processors: [a, b, {name: a}]",
            "4:24: stages[0].processors[2]: the processor \"a\" is already on this stage\n  \
             hint: a processor runs once on an item; keep one of the two",
        ),
        (
            "parallel: false\nlimits: {concurrency: 2}",
            "4:15: stages[0].parallel: `parallel: false` already runs one item after the other, so `limits` would \
             have no effect\n  hint: remove `parallel: false` to have the limits, or remove `limits`",
        ),
        (
            "limits: {per: owner}",
            "4:13: stages[0].limits: nothing is limited here\n  hint: give `concurrency`, `rate_per_minute` or both",
        ),
        (
            "retry: {initial_seconds: 9, max_seconds: 3}",
            "4:46: stages[0].retry.max_seconds: the longest wait of 3s is shorter than the first of 9s\n  \
             hint: raise max_seconds or lower initial_seconds",
        ),
        ("retry: {jitter: .nan}", "4:21: stages[0].retry.jitter: expected a number from 0 to 1, found NaN"),
        (
            "status: completed",
            "4:13: stages[0].status: a stage cannot end the submission, which is what the status \"completed\" means\n  \
             hint: use one of received, routing, splitting, processing, extracting, consolidating",
        ),
        ("status: spliting", "4:13: stages[0].status: unknown status \"spliting\"\n  hint: did you mean `splitting`?"),
        ("settings: [1]", "4:15: stages[0].settings: expected a mapping, found a list"),
        ("settings: {a: {b: .inf}}", "4:23: stages[0].settings.a.b: expected a finite number, found inf"),
        (
            "component: ../etc",
            "4:16: stages[0].component: \"../etc\" is not a name\n  \
             hint: use letters, digits, `.`, `_` and `-`, and begin with a letter or a digit",
        ),
    ];
    for (lines, expected) in cases {
        assert_eq!(stage_errors(lines), format!("w.yaml:{expected}"), "{lines}");
    }
}

#[test]
fn joins_that_could_never_close_are_refused() {
    assert_eq!(
        stage_errors("aggregation: {expect_count_from: page_count}"),
        "w.yaml:4:18: stages[0].aggregation: the first stage has nothing to collect\n  \
         hint: put the stage that makes or works on the parts before it"
    );
    let second =
        |lines: &str| errors(&format!("name: w\nstages:\n  - {{name: a, over: file}}\n  - name: b\n    {lines}\n"));
    assert_eq!(
        second("aggregation: {collect_by: file_id, expect_count_from: file_count}"),
        "w.yaml:5:31: stages[1].aggregation.collect_by: a file is not made of files, so there is nothing to collect\n  \
         hint: collect by something larger than what is counted, for example collect_by: submission_id"
    );
    assert_eq!(
        second("aggregation: {expect_count_from: page_count}"),
        "w.yaml:3:21: stages[0].over: this stage runs over each file, but the aggregation \"b\" after it counts pages\n  \
         hint: write `over: page`, or change `expect_count_from`"
    );
    assert_eq!(
        second("aggregation: {type: fan_out, expect_count_from: file_count}"),
        "w.yaml:5:25: stages[1].aggregation.type: expected `fan_in`, found the text \"fan_out\""
    );
    assert_eq!(
        errors(
            "name: w\nstages:\n  - {name: a}\n  - {name: b, over: file, aggregation: {expect_count_from: file_count}}\n"
        ),
        "w.yaml:4:21: stages[1].over: an aggregation that completes each submission cannot run over each file\n  \
         hint: leave `over` out, or change `collect_by`"
    );
    assert_eq!(
        second("aggregation: {}"),
        "w.yaml:5:18: stages[1].aggregation: `expect_count_from` is missing\n  \
         hint: say what to wait for: page_count, document_count or file_count"
    );
}

#[test]
fn work_begins_with_what_was_received() {
    let pages = "{name: done, aggregation: {expect_count_from: page_count}}";
    assert_eq!(
        errors(&format!("name: w\nstages:\n  - {{name: ocr, over: page}}\n  - {pages}\n")),
        "w.yaml:3:23: stages[0].over: the first stage runs over each page, but nothing has made any page yet\n  \
         hint: begin with a stage over the submission or over each file that makes the pages"
    );
    // What follows from the aggregation is the same as what is written.
    let shown = errors(&format!("name: w\nstages:\n  - {{name: ocr, parallel: true}}\n  - {pages}\n"));
    assert!(shown.starts_with("w.yaml:3:5: stages[0].over: the first stage runs over each page"), "{shown}");
    for over in ["submission", "file"] {
        Workflow::parse(&format!("name: w\nstages: [{{name: a, over: {over}}}]\n"), None).unwrap();
    }
}

#[test]
fn only_an_aggregation_follows_with_something_coarser() {
    assert_eq!(
        errors("name: w\nstages:\n  - {name: read, over: file}\n  - {name: ocr, over: page}\n  - {name: sum}\n"),
        "w.yaml:5:5: stages[2].over: the stage \"sum\" runs over the submission and the stage \"ocr\" before it over \
         each page, but nothing collects the pages between them\n  \
         hint: put a stage with an `aggregation` between \"ocr\" and \"sum\", or write `over: page`"
    );
    // An aggregation for each file does not make the submission whole.
    assert_eq!(
        errors(
            "name: w\nstages:\n  - {name: split, over: file, parallel: true}\n  - {name: ocr, parallel: true}\n  \
             - {name: join, aggregation: {collect_by: file_id, expect_count_from: page_count}}\n  - {name: end}\n"
        ),
        "w.yaml:6:5: stages[3].over: the stage \"end\" runs over the submission and the stage \"join\" before it over \
         each file, but nothing collects the files between them\n  \
         hint: put a stage with an `aggregation` between \"join\" and \"end\", or write `over: file`"
    );
}

#[test]
fn stages_fit_together() {
    assert_eq!(
        errors("name: w\nstages:\n  - {name: a, routing_key: w.b}\n  - name: b\n"),
        "w.yaml:4:5: stages[1].routing_key: the routing key \"w.b\" already leads to the stage \"a\" on line 3\n  \
         hint: give every stage its own routing key"
    );
    assert_eq!(
        errors("name: w\nstages:\n  - {name: a, status: extracting}\n  - {name: b, status: splitting}\n"),
        "w.yaml:4:23: stages[1].status: the status cannot go back from extracting to splitting\n  \
         hint: leave `status` out to keep the one before"
    );
}

#[test]
fn schemas_are_checked() {
    let schema = |text: &str| errors(&format!("name: w\nstages: [{{name: a}}]\nextraction_schemas:\n  {text}\n"));
    assert_eq!(
        schema("bill: {fields: [{name: total, type: decimals}]}"),
        "w.yaml:4:39: extraction_schemas.bill.fields[0].type: unknown field type \"decimals\"\n  \
         hint: did you mean `decimal`?"
    );
    assert_eq!(
        schema("bill: {fields: [{name: total, type: money}]}"),
        "w.yaml:4:39: extraction_schemas.bill.fields[0].type: unknown field type \"money\"\n  \
         hint: known here: string, integer, decimal, boolean, date, datetime"
    );
    assert_eq!(
        schema("bill: {fields: [{name: a}, {name: a}]}"),
        "w.yaml:4:37: extraction_schemas.bill.fields[1].name: the field \"a\" is already listed\n  \
         hint: keep one of the two"
    );
    assert_eq!(
        schema("bill: {}"),
        "w.yaml:4:9: extraction_schemas.bill: `fields` is missing\n  hint: list the fields to read from such a document"
    );
}

#[test]
fn defaults_are_filled_in() {
    let workflow = Workflow::parse("name: w\nstages:\n- name: a\n", None).unwrap();
    let stage = &workflow.stages[0];
    assert_eq!((workflow.version, workflow.sla), (1, None));
    assert_eq!((&*stage.component, &*stage.routing_key, &*stage.queue()), ("a", "w.a", "q.a"));
    assert_eq!(stage.processors.len(), 1);
    assert_eq!(stage.processors[0].name, "a");
    assert_eq!((stage.timeout.as_secs(), stage.max_attempts, stage.parallel), (30, 3, false));
}

#[test]
fn keys_are_looked_up_where_they_are() {
    let mut problems = Problems::default();
    let root = yaml::read("a: 1\nb: {c: 2}\n", super::parse::WANTED, &mut problems).unwrap();
    let fields = Fields::open(&root, "", &["a", "b"], &mut problems).unwrap();
    assert_eq!((fields.place_of("b").line, fields.place_of("b").column), (2, 4));
    assert_eq!(fields.place_of("absent").line, 1);
}

proptest! {
    #[test]
    fn no_text_makes_parsing_panic(text in "\\PC{0,200}") {
        let _ = Workflow::parse(&text, None);
    }

    #[test]
    fn nor_does_text_made_of_yaml_signs(text in "([-?:,\\[\\]{}#&*!|>'\"%@` \n\ta-c0-9.]|name: |stages:\n|  - ){0,80}") {
        let _ = Workflow::parse(&text, None);
    }

    #[test]
    fn nor_does_a_damaged_workflow(from in 0_usize..4000, length in 0_usize..80, put in "[-:{}\\[\\]&*!| \n0a]{0,6}") {
        for yaml in builtin::in_repository() {
            let mut chars: Vec<char> = yaml.chars().collect();
            let start = from.min(chars.len());
            let end = (start + length).min(chars.len());
            chars.splice(start..end, put.chars());
            let damaged: String = chars.into_iter().collect();
            if let Err(error) = Workflow::parse(&damaged, None) {
                prop_assert!(!error.problems.is_empty());
            }
        }
    }
}

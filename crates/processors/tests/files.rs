//! Files that cannot be used, and what is said about them; definitions that can, and what their steps do.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use bindery_core::{StepError, error::ErrorClass, outcome::Step};
use bindery_engine::{
    Extracted, Kind, Processor,
    context::{CancelFlag, StepContext},
    steps::{StepTimes, run_from},
};
use bindery_processors::{Declared, Definition};
use serde_json::{Value, json};
use std::sync::Arc;

fn problems(text: &str) -> String {
    Definition::parse(text, "a.yaml").err().unwrap_or_else(|| panic!("this was read:\n{text}")).to_string()
}

#[test]
fn all_mistakes_of_a_file_are_told_at_once_each_with_its_line() {
    let text = r#"name: totals
versoin: 2
kind: fast
input:
  type: object
  properties:
    amount: {type: numbr}
declare:
  transform:
    total: $sum(amounts
    twice: "total * * 2 )"
  checks:
    - when: total < 0
      rejct: no
    - when: total > 1 big
      review: too much
    - {when: "true", reject: a, retry: b}
factors:
  total: {value: total, requird: true}
  list: [a, b]
  long: |
    (
      $a := 1;
      $a +
    )
confidence: "{'a': 1"
"#;
    assert_eq!(
        problems(text),
        "a.yaml:2:1: unknown key \"versoin\"\n  hint: did you mean `version`?\n\
         a.yaml:3:7: kind: expected cpu, io or risky, found the text \"fast\"\n\
         a.yaml:7:20: input.properties.amount.type: not a valid JSON Schema: \"numbr\" is not valid under any of the \
         schemas listed in the 'anyOf' keyword\n\
         a.yaml:10:24: declare.transform.total: not a JSONata expression: expected `)` before end of expression \
         (S0203)\n\
         a.yaml:11:23: declare.transform.twice: not a JSONata expression: syntax error: `2` (S0201)\n\
         a.yaml:13:7: declare.checks[0]: nothing follows from this check\n  \
         hint: give one of `reject`, `review` and `retry` with a message for people\n\
         a.yaml:14:7: declare.checks[0]: unknown key \"rejct\"\n  hint: did you mean `reject`?\n\
         a.yaml:15:23: declare.checks[1].when: not a JSONata expression: syntax error: `big` (S0201)\n\
         a.yaml:17:7: declare.checks[2]: a check has one ending\n  \
         hint: give one of `reject`, `review` and `retry` with a message for people\n\
         a.yaml:19:25: factors.total: unknown key \"requird\"\n  hint: did you mean `required`?\n\
         a.yaml:20:9: factors.list: expected an expression, found a list\n  \
         hint: an expression that begins with `{` or `[` goes in quotes, or on its own lines after `|`\n\
         a.yaml:25:5: factors.long: not a JSONata expression: the symbol `)` cannot be used as a unary operator \
         (S0211)\n\
         a.yaml:26:21: confidence: not a JSONata expression: expected `}` before end of expression (S0203)"
    );
}

#[test]
fn a_name_is_needed_and_must_not_be_blank() {
    let hint = "\n  hint: give the processor the name that workflows ask for";
    assert_eq!(problems("declare: {}"), format!("a.yaml:1:1: `name` is missing{hint}"));
    assert_eq!(problems("name: \"  \"\ndeclare: {}"), format!("a.yaml:1:7: name: the name is blank{hint}"));
    assert_eq!(problems("name: \"\"\ndeclare: {}"), format!("a.yaml:1:7: name: the name is blank{hint}"));
    assert!(problems("name:\ndeclare: {}").contains("name: expected a name, found nothing"));
    assert!(problems("name: no blanks\ndeclare: {}").contains("name: \"no blanks\" is not a name"));
}

#[test]
fn there_is_exactly_one_body() {
    assert_eq!(
        problems("name: a"),
        "a.yaml:1:1: nothing says how the work is done: one of `declare`, `command` and `http` is missing\n  \
         hint: `declare` for expressions, `command` for a program, `http` for a service"
    );
    assert_eq!(
        problems("name: a\ndeclare: {}\ncommand: {}"),
        "a.yaml:3:10: command: `command` cannot stand beside `declare`: a processor works in one way\n  \
         hint: make two processors, one stage after the other"
    );
}

#[test]
fn numbers_and_references_are_checked() {
    assert!(problems("name: a\nversion: 0\ndeclare: {}").contains("version: expected at least 1, found 0"));
    assert!(problems("name: a\nversion: 1.5\ndeclare: {}").contains("version: expected a whole number"));
    let remote = "name: a\ndeclare: {}\ninput:\n  $ref: https://example.com/schema.json\n";
    assert!(problems(remote).contains("input: not a valid JSON Schema"), "{}", problems(remote));
    assert!(problems("name: a\ndeclare: {}\ninput: text").contains("input: expected a JSON Schema, found the text"));
    assert!(problems("name: a\ndeclare: {}\nfactors: {}").contains("factors: no factors are listed"));
    let both = "name: a\ndeclare: {}\nfactors:\n  x: {value: y, required: true, default: 1}\n";
    assert!(problems(both).contains("keep one of `required` and `default`"));
}

fn run(text: &str, input: Value) -> Result<Extracted, (Step, StepError)> {
    let processor = Declared::new(Definition::parse(text, "a.yaml").unwrap_or_else(|error| panic!("{error}")));
    let settings = json!({"limit": 10}).as_object().cloned().unwrap();
    let context = StepContext::standalone(Arc::new(settings), 1, CancelFlag::default());
    let outcome = run_from(&processor, &context, Step::Validation, input, &mut StepTimes::default());
    outcome.map_err(|stopped| (stopped.step, stopped.error))
}

fn fails(text: &str, input: Value) -> (Step, String, ErrorClass, String) {
    let (step, error) = run(text, input).unwrap_err();
    (step, error.kind.clone(), error.class(), error.message)
}

#[test]
fn what_is_left_out_has_its_default() {
    let definition = Definition::parse("name: same\ndeclare: {}\n", "a.yaml").unwrap();
    assert_eq!((definition.version, definition.kind, definition.input.is_none()), (1, Kind::Cpu, true));
    assert_eq!(run("name: same\ndeclare: {}\n", json!({"a": [1]})).unwrap().output, json!({"a": [1]}));
    let risky = Declared::new(Definition::parse("name: r\nversion: 3\nkind: risky\ndeclare: {}", "a.yaml").unwrap());
    assert_eq!((risky.name(), risky.version(), risky.kind()), ("r", 3, Kind::Risky));
}

#[test]
fn a_mapping_makes_an_object_and_leaves_out_what_is_undefined() {
    let text =
        "name: a\ndeclare:\n  transform:\n    sum: a + b\n    gone: c\n    flag: true\n    limit: $settings.limit\n";
    let made = run(text, json!({"a": 1, "b": 2})).unwrap().output;
    assert_eq!(made, json!({"sum": 3, "flag": true, "limit": 10}));
}

#[test]
fn checks_end_the_work_in_order() {
    let text = "name: a\ndeclare:\n  transform:\n    sum: a + b\n  checks:\n    - {when: sum > 100, reject: too much}\n    \
                - {when: sum > $settings.limit, review: a person should look}\n    - {when: $input.later, retry: not yet}\n";
    assert_eq!(run(text, json!({"a": 1, "b": 2})).unwrap().output, json!({"sum": 3}));
    let error = |class, message: &str| (Step::Processing, "TransformationError".to_owned(), class, message.to_owned());
    assert_eq!(fails(text, json!({"a": 100, "b": 2})), error(ErrorClass::Reject, "too much"));
    assert_eq!(fails(text, json!({"a": 10, "b": 2})), error(ErrorClass::Review, "a person should look"));
    assert_eq!(fails(text, json!({"a": 1, "b": 2, "later": [0, 1]})), error(ErrorClass::Retry, "not yet"));
    let (step, kind, class, message) = fails(text, json!({"a": "x", "b": 2}));
    assert_eq!((step, &*kind, class), (Step::Processing, "TransformationError", ErrorClass::Reject));
    assert!(message.starts_with("declare.transform.sum: ") && message.ends_with("(T2001)"), "{message}");
}

#[test]
fn factors_may_be_required_or_have_a_default() {
    let text = "name: a\ndeclare: {}\nfactors:\n  name: {value: name, required: true}\n  tags: {value: tags, default: []}\n  \
                age: age\nconfidence: sure\n";
    let found = run(text, json!({"name": "x", "sure": 0.5})).unwrap();
    assert_eq!((found.output, found.confidence), (json!({"name": "x", "tags": []}), Some(0.5)));
    let error =
        |message: &str| (Step::Extraction, "FactorExtractionError".to_owned(), ErrorClass::Reject, message.to_owned());
    assert_eq!(fails(text, json!({})), error("the factor \"name\" is required and has no value"));
    let unsure = error("confidence: expected a number from 0 to 1, found 1.5");
    assert_eq!(fails(text, json!({"name": "x", "sure": 1.5})), unsure);
}

#[test]
fn an_expression_without_end_is_stopped() {
    let text = "name: a\ndeclare:\n  transform: |\n    ($f := function($n) { 1 + $f($n) }; $f(1))\n";
    let (_, kind, _, message) = fails(text, json!({}));
    assert_eq!(kind, "TransformationError");
    assert!(message.contains("nests too deep"), "{message}");
}
